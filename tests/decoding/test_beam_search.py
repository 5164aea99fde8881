"""Texts searched together are those found alone; beam search finds what ``generate`` finds, and one beam is greedy."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace

import pytest
import torch
from tiny_whisper import CONTEXT_S, voice

from lsa_whisper import chat, checkpoint
from lsa_whisper.decoding.beam_search import beam_search, guarded_search
from lsa_whisper.decoding.greedy import Search, greedy_search
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.text_limits import is_nearly_right, token_limit
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription import Transcriber, TranscriptionOptions
from lsa_whisper.transcription.files.provenance import RecordingIdentity
from lsa_whisper.transcription.files.spec import TranscriberSpec

LENGTHS_S = (2.0, 1.0, 3.0, 0.5)
BONUS = 7.0


@pytest.fixture
def ending(tiny):
    """A model of random weights to which the end of text is always rather probable."""
    loaded = checkpoint.load(tiny)
    return _ending(loaded)


@pytest.fixture
def untimed(tiny):
    """The same, without timestamps."""
    loaded = checkpoint.load(tiny)
    loaded.model.generation_config.no_timestamps_token_id = None
    loaded.model.generation_config.suppress_tokens = [
        *(loaded.model.generation_config.suppress_tokens or []),
        *checkpoint.timestamp_tokens(loaded.tokenizer, loaded.model.generation_config),
    ]
    return _ending(loaded)


def _ending(loaded):
    model, end = loaded.model, int(loaded.model.generation_config.eos_token_id)
    rows = torch.empty_like(model.proj_out.weight).normal_(std=0.5, generator=torch.Generator().manual_seed(0))
    model.proj_out.weight = torch.nn.Parameter(rows)  # its own: with the embedding's, a token predicts itself
    with torch.no_grad():
        model.model.decoder.layer_norm.bias += BONUS * rows[end] / rows[end].square().sum()
    return loaded


def searched(decoder, lengths_s, search, **options):
    """Return what an encoder might have heard, and what the search writes for it."""
    config = decoder.model.config
    shape = (len(lengths_s), config.max_source_positions, config.d_model)
    hidden = torch.randn(shape, generator=torch.Generator().manual_seed(1)).cumsum(dim=1) / 20
    with torch.inference_mode():
        asked = Search(torch.tensor([decoder.prompt] * len(hidden)), decoder.rules)
        return hidden, search(decoder.model, hidden, asked, torch.tensor(lengths_s), **options)


def greedy_texts(model, hidden, search, durations_s):
    return greedy_search(model, hidden, [search], durations_s)[0]


def text(row, end):
    """The tokens before the end of text."""
    return row[: row.index(end)] if end in row else row


def test_texts_that_are_searched_together_are_those_of_each_search_alone(ending):
    decoder = TransformersDecoder(ending)
    plain = TransformersDecoder(ending, style=DecodingStyle(ending.labels, timestamps=False)).search(len(LENGTHS_S))
    asked = replace(plain, prompts=torch.cat([torch.full((len(LENGTHS_S), 9), 7), plain.prompts], dim=1))
    several = [decoder.search(len(LENGTHS_S)), asked, plain]
    hidden, _ = searched(decoder, LENGTHS_S, greedy_texts)
    with torch.inference_mode():
        together = greedy_search(ending.model, hidden, several, torch.tensor(LENGTHS_S))
    for search, (tokens, logprobs, silent) in zip(several, together, strict=True):
        with torch.inference_mode():
            alone, scores, no_speech = greedy_texts(ending.model, hidden, search, torch.tensor(LENGTHS_S))
        size = min(tokens.shape[1], alone.shape[1])
        assert tokens[:, :size].tolist() == alone[:, :size].tolist() and len(set(alone.flatten().tolist())) > 15
        assert (tokens[:, size:] == search.rules.end).all() and (alone[:, size:] == search.rules.end).all()
        torch.testing.assert_close(logprobs[:, :size], scores[:, :size], atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(silent, no_speech, atol=1e-5, rtol=1e-3)
    assert len({text(tokens[0].tolist(), decoder.rules.end)[0] for tokens, *_ in together}) > 1


@pytest.mark.parametrize("name", ["ending", "untimed"])
def test_one_beam_is_greedy(name, request):
    decoder = TransformersDecoder(request.getfixturevalue(name))
    _, (greedy, *_) = searched(decoder, LENGTHS_S, greedy_texts)
    _, (tokens, *_) = searched(decoder, LENGTHS_S, beam_search, beams=1)
    assert greedy[:, : tokens.shape[1]].tolist() == tokens.tolist()
    assert (greedy[:, tokens.shape[1] :] == decoder.rules.end).all() and tokens.shape[1] > 5


@pytest.mark.parametrize("beams", [2, 5])
def test_the_best_text_is_the_library_s(untimed, beams):
    from transformers import GenerationMixin, SuppressTokensLogitsProcessor
    from transformers.modeling_outputs import BaseModelOutput

    decoder = TransformersDecoder(untimed)
    assert not decoder.rules.timestamps_s
    hidden, (tokens, _, _) = searched(decoder, [CONTEXT_S] * 4, beam_search, beams=beams)
    prompt = torch.tensor([decoder.prompt] * 4)
    with torch.inference_mode():
        there = GenerationMixin.generate(
            untimed.model,
            encoder_outputs=BaseModelOutput(hidden),
            decoder_input_ids=prompt,
            logits_processor=[SuppressTokensLogitsProcessor([*decoder.rules.suppressed])],
            do_sample=False,
            num_beams=beams,
            num_return_sequences=beams,
            return_dict_in_generate=True,
            output_scores=True,
            early_stopping=True,
            renormalize_logits=True,  # as here: without it, suppressed tokens lower the scores of all others
            max_new_tokens=token_limit(CONTEXT_S, prompt.shape[1], untimed.model.config.max_target_positions),
        )
    found = [text(row, decoder.rules.end) for row in tokens.tolist()]
    rows = [text(row, decoder.rules.end) for row in there.sequences[:, prompt.shape[1] :].tolist()]
    # The library divides by the number of tokens with the end.
    scores = [score * (1 + 1 / len(row)) for row, score in zip(rows, there.sequences_scores.tolist(), strict=True)]
    best = [max(range(at, at + beams), key=scores.__getitem__) for at in range(0, len(rows), beams)]
    assert found == [rows[at] for at in best]
    assert best != [*range(0, len(rows), beams)]
    assert len(set(map(len, found))) > 1


def test_the_log_probabilities_are_those_of_the_whole_text(untimed):
    decoder = TransformersDecoder(untimed)
    hidden, (tokens, logprobs, _) = searched(decoder, LENGTHS_S, beam_search, beams=4)
    positions = untimed.model.config.max_target_positions
    for row, scores, window, seconds in zip(tokens.tolist(), logprobs, hidden, LENGTHS_S, strict=True):
        length = min(len(text(row, decoder.rules.end)) + 1, token_limit(seconds, len(decoder.prompt), positions))
        inputs = torch.tensor([[*decoder.prompt, *row[: length - 1]]])
        with torch.inference_mode():
            logits = untimed.model(encoder_outputs=(window[None],), decoder_input_ids=inputs).logits[0]
            logits[:, [*decoder.rules.suppressed]] = -torch.inf
        wanted = logits[len(decoder.prompt) - 1 :].log_softmax(dim=-1)[range(length), row[:length]]
        assert torch.allclose(wanted, scores[:length], atol=1e-4)


def test_more_beams_find_more_probable_texts(untimed):
    decoder = TransformersDecoder(untimed)
    lengths_s = [CONTEXT_S] * 8
    means = []
    for beams in (1, 8):
        _, (_, logprobs, _) = searched(decoder, lengths_s, beam_search, beams=beams)
        lengths = (logprobs != 0).sum(dim=1)
        means.append(logprobs.sum(dim=1) / lengths)
    assert (means[1] > means[0] + 1e-4).any() and means[1].mean() > means[0].mean()


def test_the_text_of_several_beams_is_taken_where_it_is_nearly_right(ending, monkeypatch):
    decoder = TransformersDecoder(ending)
    end = decoder.rules.end
    _, (greedy, logprobs, _) = searched(decoder, LENGTHS_S, greedy_texts)
    _, (beams, beam_logprobs, _) = searched(decoder, LENGTHS_S, beam_search, beams=4)
    is_word = ~torch.isin(beams, torch.tensor([*decoder.rules.timestamps_s]))
    of_all = beam_logprobs.sum(dim=1) / (1 + (beams != end).sum(dim=1))
    means = (beam_logprobs * is_word).sum(dim=1) / (1 + (is_word & (beams != end)).sum(dim=1))
    limits = [token_limit(s, len(decoder.prompt), ending.model.config.max_target_positions) for s in LENGTHS_S]
    apart = (means - of_all).abs().argmax()
    for least in (-torch.inf, (means + of_all)[apart].item() / 2, torch.inf):
        monkeypatch.setattr("lsa_whisper.decoding.text_limits.NEARLY_RIGHT_LOGPROB", least)
        _, (tokens, scores, _) = searched(decoder, LENGTHS_S, guarded_search, beams=4)
        for row, mean in enumerate(means.tolist()):
            found = text(beams[row].tolist(), end)
            found += [end] * (len(found) < limits[row])
            wanted, wanted_scores = (beams, beam_logprobs) if is_nearly_right(found, mean, end) else (greedy, logprobs)
            assert text(tokens[row].tolist(), end) == text(wanted[row].tolist(), end)
            assert torch.isclose(scores[row].sum(), wanted_scores[row].sum(), atol=1e-4)
    assert len(set(means.tolist())) > 1
    texts = [[text(row, end) for row in found.tolist()] for found in (greedy, beams)]
    assert texts[0] != texts[1]


def test_a_text_that_repeats_itself_or_has_no_end_is_not_nearly_right():
    assert is_nearly_right([5, 6, 0], -0.5, 0)
    assert not is_nearly_right([5, 6, 0], -0.9, 0)
    assert not is_nearly_right([5, 6], -0.5, 0)
    assert not is_nearly_right([*[5, 6] * 4, 0], -0.1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("least", [-math.inf, math.inf])
def test_both_engines_follow_the_same_texts(ending, tmp_path, monkeypatch, least):
    from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

    monkeypatch.setattr("lsa_whisper.decoding.text_limits.NEARLY_RIGHT_LOGPROB", least)
    ending.model.save_pretrained(shutil.copytree(ending.path, tmp_path / "ending"))
    loaded = checkpoint.load(tmp_path / "ending")
    converted = checkpoint.load_converted(checkpoint.export(loaded.path, tmp_path / "ct2", to="ct2"))
    windows = [voice(length, seed=n) for n, length in enumerate((1.0, 4.0, 0.3, 2.0))]
    style = DecodingStyle(loaded.labels, timestamps=False, beams=3)
    ours, theirs = (
        make(model, style=style, word_times=True).decode(windows)
        for make, model in ((TransformersDecoder, loaded), (CTranslate2Decoder, converted))
    )
    for one, other in zip(ours, theirs, strict=True):
        assert one.text == other.text
        scores = [[score for part in each.segments for _, score in part.logprobs] for each in (one, other)]
        assert scores[0] == pytest.approx(scores[1], abs=0.1)  # the latter may be computed in bfloat16
        assert one.avg_logprob == pytest.approx(other.avg_logprob, abs=0.05)
    greedy = TransformersDecoder(loaded, style=replace(style, beams=1), word_times=True).decode(windows)
    assert ([each.text for each in ours] == [each.text for each in greedy]) is (least > 0)


def test_timestamps_run_forward_and_batches_do_not_matter(ending):
    windows = [voice(length, seed=n) for n, length in enumerate((1.0, 8.0, 0.3, 5.0, 2.0))]
    style = DecodingStyle(ending.labels, beams=4)
    together = TransformersDecoder(ending, style=style, batch_size=3).decode(windows)
    alone = [TransformersDecoder(ending, style=style).decode([window])[0] for window in windows]
    assert [[p.text for p in each.segments] for each in together] == [[p.text for p in each.segments] for each in alone]
    for window, result in zip(windows, together, strict=True):
        times = [time for segment in result.segments for time in (segment.start_s, segment.end_s)]
        assert times == sorted(times) and max(times, default=0.0) <= len(window) / 16_000 + 1e-6
    assert any(result.segments for result in together)


def test_a_recording_with_beams(visit, scripted):
    greedy, beams = (Transcriber(scripted, beams=count).transcribe(visit) for count in (1, 5))
    assert [each.text for each in beams.utterances] == [each.text for each in greedy.utterances] != []
    # Word times are computed to find what was skipped, but not written without a request.
    assert not any(any(each.word_spans()) for each in beams.transcript.utterances)
    written = [chat.serialize(each.transcript) for each in (greedy, beams)]
    assert "beams" not in written[0] and "beams 5, voice activity" in written[1].replace("\n\t", " ")


def test_what_beams_cannot_be_combined_with():
    with pytest.raises(LsaWhisperError, match="beams 0: give 1 to 50 texts"):
        TranscriptionOptions(beams=0)
    with pytest.raises(LsaWhisperError, match="the engine ct2 takes no number of beams"):
        TranscriptionOptions(beams=5, engine="ct2")
    with pytest.raises(LsaWhisperError, match="speeds up greedy decoding"):
        TranscriptionOptions(beams=5, draft="small")


def test_one_beam_is_greedy_decoding_which_every_engine_does():
    for beams in (None, 1):
        TranscriptionOptions(beams=beams, engine="ct2")
        TranscriptionOptions(beams=beams, draft="small")


def test_skipped_speech_is_looked_for_with_beams_or_on_request():
    for beams, windows, expected in ((None, "speech", False), (1, "speech", False), (2, "speech", True)):
        assert TranscriptionOptions(beams=beams, windows=windows).finds_skipped == expected
    assert not TranscriptionOptions(beams=2, windows="sequential").finds_skipped
    assert TranscriptionOptions(find_skipped=True, engine="ct2").finds_skipped
    assert not TranscriptionOptions(find_skipped=False, beams=2).finds_skipped
    with pytest.raises(LsaWhisperError, match="`find_skipped=True`: sequential windows are not searched"):
        TranscriptionOptions(find_skipped=True, windows="sequential")


def test_a_finished_transcript_is_known_by_what_changes_it(visit, scripted, tmp_path):
    def digest(model=scripted, **choice):
        spec = TranscriberSpec(model, TranscriptionOptions(**choice))
        return spec.digest(visit, RecordingIdentity.of(visit))

    assert digest() == digest(find_skipped=False) and digest(beams=1) == digest(draft="small")
    assert digest(beams=2) == digest(beams=2, find_skipped=True)
    changes = ({}, {"beams": 1}, {"beams": 2}, {"find_skipped": True}, {"beams": 2, "find_skipped": False})
    assert len({digest(**change) for change in changes}) == 5
    stock = shutil.copytree(scripted, tmp_path / "stock", ignore=shutil.ignore_patterns("lsa_whisper.json"))
    assert digest() == digest(second_text=False)
    assert len({digest(stock), digest(stock, second_text=False), digest(stock, find_skipped=False)}) == 3


def test_words_that_may_be_spoken_are_looked_for_in_one_text_unless_more_are_asked_for(scripted):
    style = DecodingStyle(checkpoint.load(scripted).labels, beams=3)
    assert style.given("", ()).beams == 3
    assert style.given("", ("Ann",)).beams == 1 and style.given("", ("Ann",), 5).beams == 5


def test_the_header_says_what_differs_from_the_default(visit, scripted):
    choices = ({}, {"beams": 1}, {"find_skipped": True}, {"beams": 2, "find_skipped": False})
    default, one, searched, beams = (
        chat.serialize(Transcriber(scripted, **choice).transcribe(visit).transcript).replace("\n\t", " ")
        for choice in choices
    )
    assert default == one and "beams" not in default and "skipped" not in default
    assert "windows speech, searched for skipped speech, voice" in searched
    assert "beams 2, not searched for skipped speech, voice" in beams
