"""Words have times that run forward, lie in their utterance, and are near the truth where it is known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import torch

from benchmarks.word_times import errors_ms
from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.chat import utterance
from lsa_whisper.decoding.cross_attention import alignment_heads, cross_attention, mean_in_step
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.decoding.token_times import spoken_spans, viterbi_spans
from lsa_whisper.decoding.word_times import align_words, fit_words
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber, transcribe
from lsa_whisper.transcription.assembly.placement import place_utterances
from lsa_whisper.transcription.long_form.repair import join_windows

ROOT = Path(__file__).resolve().parents[2]
SESSION = ROOT / "corpora" / "storybook" / "test" / "test01"


@pytest.fixture(scope="module")
def half_minute(tmp_path_factory):
    """The first 30 s of a session of storybook."""
    path = tmp_path_factory.mktemp("session") / "test01.wav"
    sound, rate_hz = soundfile.read(SESSION.with_suffix(".flac"), frames=30 * 16_000)
    soundfile.write(path, sound, rate_hz)
    return Recording.open(path)


@pytest.fixture(scope="module")
def written(half_minute):
    return Transcriber(ROOT / "models" / "nano", vad="energy", word_times=True).transcribe(half_minute).transcript


def test_word_onsets_are_accurate(written):
    """Measured over the whole sessions by benchmarks/word_times.py; here only that the way is right."""
    errors = np.array(errors_ms(SESSION.with_suffix(".cha"), written).starts)
    assert len(errors) > 25
    assert abs(np.median(errors)) < 60 and (np.abs(errors) <= 200).mean() > 0.6


def test_every_word_is_timed_in_order_and_inside_its_utterance(written):
    assert chat.check(written) == []
    for each in written.utterances:
        assert [word for word, _ in each.word_times] == each.verbatim()
        edges = [edge for _, at in each.word_times for edge in (at.start_ms, at.end_ms)]
        assert edges == sorted(edges) and all(at.duration_ms > 0 for _, at in each.word_times)
        assert each.span.start_ms <= edges[0] and edges[-1] <= each.span.end_ms


def test_the_text_is_the_same_without_word_times(written, half_minute):
    plain = Transcriber(ROOT / "models" / "nano").transcribe(half_minute).transcript
    assert [u.text for u in plain.utterances] == [u.text for u in written.utterances]
    assert not any(u.word_times for u in plain.utterances)


def test_the_command_keeps_runs_with_and_without_apart(scripted, visit, tmp_path):
    transcribe([visit], model=scripted, out=tmp_path)
    assert "%wor" not in (tmp_path / "visit.cha").read_text()
    assert not transcribe([visit], model=scripted, out=tmp_path, word_times=True).done[0].skipped
    assert "%wor:\tum " in (tmp_path / "visit.cha").read_text()


def test_a_half_of_a_loop_has_its_times_where_it_lies():
    half = DecodedWindow((DecodedSegment("no .", 0.1, 0.9, timed=(TimedToken("no", 0.2, 0.4),)),))
    joined = join_windows(half, half, 2.0)
    assert [segment.timed[0].start_s for segment in joined.segments] == [0.2, 2.2]


def whisper(heads=None):
    config = SimpleNamespace(decoder_layers=4, decoder_attention_heads=2)
    return SimpleNamespace(config=config, generation_config=SimpleNamespace(alignment_heads=heads))


@pytest.mark.parametrize(
    ("named", "taken"),
    [
        ([[1, 0], [3, 1]], [(1, 0), (3, 1)]),
        (None, [(2, 0), (2, 1), (3, 0), (3, 1)]),
        ([], [(2, 0), (2, 1), (3, 0), (3, 1)]),
        ([[9, 0]], [(2, 0), (2, 1), (3, 0), (3, 1)]),  # copied from a larger model
    ],
)
def test_heads_are_those_of_the_checkpoint_or_of_the_last_half(named, taken):
    assert alignment_heads(whisper(named)) == taken


def test_codes_roles_and_numbers_do_not_shift_the_words():
    texts = ("*CHI:", " I", " [", "//", "]", " we", " &=laughs", " saw", " 3", " b", "ears", " .")
    timed = [TimedToken(text, at / 10, at / 10 + 0.1) for at, text in enumerate(texts)]
    (words,) = align_words([utterance("CHI", "I [//] we &=laughs saw three bears .")], timed, 1000)
    assert [(word, at.start_ms) for word, at in words] == [("I", 1100), ("we", 1500), ("saw", 1700), ("bears", 1900)]
    assert words[-1][1] == TimeSpan(1900, 2100)


def test_words_move_with_their_utterance_and_vanish_without_room():
    words = [("no", TimeSpan(100, 500)), ("way", TimeSpan(500, 900))]
    moved = place_utterances([utterance("PAR", "no way .", TimeSpan(0, 900), words)], 600)[0]
    assert moved.word_times[-1][1].end_ms <= moved.span.end_ms == 600
    assert fit_words(words, TimeSpan(0, 1)) == []


def test_odd_windows_do_not_stop_the_alignment(scripted):
    """One token, or sound of a single frame, has no rows or columns to warp."""
    from lsa_whisper import checkpoint
    from lsa_whisper.decoding.token_times import token_times

    model = checkpoint.load(scripted).model
    hidden = torch.randn(1, 400, model.config.d_model)
    for tokens, duration_s in (([5], 8.0), ([5, 6, 7], 0.01), ([5] * 60, 0.1)):
        with torch.inference_mode():
            (weights,) = cross_attention(model, hidden, [1, 2], [tokens], alignment_heads(model))
        times = token_times(
            mean_in_step(weights), duration_s, 0.02, texts=[" a"] * len(tokens), silence=np.zeros(1, np.float32)
        )
        edges = [edge for span in times for edge in span]
        assert len(times) == len(tokens) and edges == sorted(edges) and edges[0] >= 0 and edges[-1] <= duration_s


def test_the_attention_is_the_models_own_however_many_rows_are_computed_together(scripted):
    from lsa_whisper import checkpoint

    model = checkpoint.load(scripted).model
    heads = [
        (layer, head)
        for layer in range(model.config.decoder_layers)
        for head in range(model.config.decoder_attention_heads)
    ][::-1]
    prompt, rows = [1, 2, 3], [[5, 6, 7], [], [8], *([at] * 20 for at in range(4, 12))]
    hidden = torch.randn(len(rows), 40, model.config.d_model)
    with torch.inference_mode():
        found = list(cross_attention(model, hidden, prompt, rows, heads))
        assert not any(module._forward_hooks for module in model.modules())
        model.set_attn_implementation("eager")
        for at, row in enumerate(rows):
            output = model.model.decoder(
                input_ids=torch.tensor([[*prompt, *row]]),
                encoder_hidden_states=hidden[at : at + 1],
                output_attentions=True,
                use_cache=False,
            )
            layers = output.cross_attentions
            wanted = np.stack([layers[layer][0, head, 2 : 2 + len(row)].numpy() for layer, head in heads])
            np.testing.assert_allclose(found[at], wanted, atol=1e-5)
        model.set_attn_implementation("sdpa")


def test_a_word_does_not_begin_in_silence():
    """Attention that spreads over a pause leaves it to nobody, and a repeated word is not squeezed into one frame."""
    weights = np.full((3, 60), 0.01, np.float32)
    weights[0, :15] = weights[1, 15:58] = weights[2, 58:] = 0.5
    weights /= weights.sum(axis=1, keepdims=True)
    silence = np.zeros(60, np.float32)
    silence[15:40] = 1.0
    texts = [" the", " dog", " dog"]
    (_, first), second, third = spoken_spans(weights, texts, silence, 20.0)
    assert first == 15 and second[0] == 40 and third[1] - third[0] >= 4
    assert spoken_spans(weights, texts, np.zeros(60, np.float32), 20.0)[1][0] == 15


def test_a_word_lasts_until_its_sound_ends_or_the_next_word_begins():
    """Attention leaves a word early. Behind a mark, sound is followed for a shorter time than inside a phrase."""
    weights = np.full((4, 100), 0.001, np.float32)
    weights[0, :10] = weights[1, 20:30] = weights[3, 80:90] = 0.5
    weights[2, 30:31] = 0.5
    texts, silence = [" the", " dog", ".", " ran"], np.zeros(100, np.float32)
    the, dog, stop, ran = spoken_spans(weights, texts, silence, 20.0)
    assert the == (0, 20) and dog == (20, 40) and stop[0] == 40 and ran == (80, 100)
    silence[12:18] = silence[32:78] = 1.0
    the, dog, stop, ran = spoken_spans(weights, texts, silence, 20.0)
    assert the == (0, 12) and dog == (20, 32) and stop[0] == 32 and ran[0] == 80


@pytest.mark.parametrize("seed", range(50))
def test_words_that_last_longer_are_in_order_and_inside_the_window(seed):
    rng = np.random.default_rng(seed)
    tokens, frames = rng.integers(1, 40, 2)
    texts = rng.choice([" a", " dog", "s", ".", ",", "", " *", "CHI", ":"], tokens).tolist()
    silence = (rng.random(frames) > 0.7).astype(np.float32)
    spans = spoken_spans(rng.random((tokens, frames)).astype(np.float32), texts, silence, 20.0)
    times = [time for span in spans for time in span]
    assert times == sorted(times) and times[0] >= 0 and times[-1] <= frames


@pytest.mark.parametrize("lags", [(-2, 0, 3), (0, 4), (1, -3, 0, 2), (0, 0)])
def test_heads_that_are_late_or_early_are_put_in_step(lags):
    """The words stand out as much as in one head alone, and stay where the heads are in the mean or the median."""
    places, frames = np.arange(15, 95, 10)[:, None], np.arange(110)
    weights = np.array([np.exp(-(((frames - places - lag) / 3) ** 2)) for lag in lags], np.float32)
    mean = mean_in_step(weights)
    assert np.abs(mean.argmax(axis=1) - places[:, 0] - np.median(lags)).max() <= 1
    assert mean.max() > 0.96
    assert np.array_equal(mean_in_step(weights[:1]), weights[0])
    assert np.allclose(mean_in_step(weights[:, :2]), weights[:, :2].mean(axis=0)), "two words do not tell"


@pytest.mark.parametrize("seed", range(50))
def test_every_token_has_a_time_however_long_tokens_should_be_and_however_short_the_sound(seed):
    rng = np.random.default_rng(seed)
    tokens, frames = rng.integers(1, 40, 2)
    least = rng.choice([1, 1, 1, 16, 40], tokens)
    spans = viterbi_spans(rng.random((tokens, frames)), least=least.tolist())
    times = [time for span in spans for time in span]
    assert times == sorted(times) and times[0] >= 0 and times[-1] <= frames
    assert all(start < end for start, end in spans)


def test_a_speaker_code_takes_no_time_from_the_first_word():
    """Models attend to a voice when they name its speaker: that is no part of the word before or after."""
    texts, frames = ["", " *", "CHI", ":", " dog", " ran", "."], 40
    weights = np.full((len(texts), frames), 0.001, np.float32)
    for row, first in enumerate([0, 2, 5, 8, 4, 20, 39]):
        weights[row, first : first + 10] = 0.1
    silence = np.zeros(frames, np.float32)
    spans = spoken_spans(weights, texts, silence, 20.0)
    without = spoken_spans(np.delete(weights, [1, 2, 3], axis=0), ["", *texts[4:]], silence, 20.0)
    assert spans[1] == spans[2] == spans[3] == (4.0, 4.0) and spans[4][0] == 4.0
    assert [spans[0], *spans[4:]] == without
    assert spoken_spans(weights[1:4], texts[1:4], silence, 20.0) == [(40.0, 40.0)] * 3


def test_a_word_with_a_block_begins_at_its_sign():
    times = [(" =", 0.1, 0.4), (" can", 0.4, 0.7), (" you", 0.7, 0.9), ("?", 0.9, 0.9)]
    timed = [TimedToken(*each) for each in times]
    (words,) = align_words([utterance("PAR", "≠can you ?")], timed)
    assert words == [("can", TimeSpan(100, 700)), ("you", TimeSpan(700, 900))]
