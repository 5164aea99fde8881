"""The greedy decoder writes what ``generate`` writes, keeps timestamps in order, and never forbids a repetition."""

from __future__ import annotations

import pytest
import torch
from tiny_whisper import CONTEXT_S, build_checkpoint, voice

from lsa_whisper import checkpoint
from lsa_whisper.decoding.decoder import parse_segments
from lsa_whisper.decoding.greedy import greedy_search
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.transformers_engine import TransformersDecoder


@pytest.fixture(scope="module")
def loaded(tiny):
    return checkpoint.load(tiny)


def test_greedy_equals_the_library_token_by_token(loaded):
    from transformers import GenerationMixin, SuppressTokensLogitsProcessor, WhisperTimeStampLogitsProcessor

    decoder = TransformersDecoder(loaded, batch_size=5)
    suppressed = [*decoder.rules._allowed.suppressed]
    processors = [
        SuppressTokensLogitsProcessor(suppressed),
        WhisperTimeStampLogitsProcessor(loaded.model.generation_config, begin_index=len(decoder.prompt)),
    ]
    prompt = torch.tensor([decoder.prompt] * 5)
    with torch.inference_mode():
        features = decoder.features([voice(CONTEXT_S, seed=seed) for seed in range(5)])
        hidden = loaded.model.get_encoder()(features)
        lengths_s = torch.full((5,), float(CONTEXT_S))
        ((tokens, *_),) = greedy_search(loaded.model, hidden.last_hidden_state, [decoder.search(5)], lengths_s)
        expected = GenerationMixin.generate(
            loaded.model,
            encoder_outputs=hidden,
            decoder_input_ids=prompt,
            logits_processor=processors,
            do_sample=False,
            max_new_tokens=120,
        )
    assert tokens.shape[1] > 100
    assert torch.equal(tokens[:, :120], expected[:, prompt.shape[1] :])


def test_batches_and_order_do_not_change_the_text(loaded):
    windows = [voice(length, seed=n) for n, length in enumerate((1.0, 8.0, 0.3, 5.0, 2.0))]
    alone = [TransformersDecoder(loaded, batch_size=1).decode([window])[0] for window in windows]
    together = TransformersDecoder(loaded, batch_size=3).decode(windows)
    assert [[p.text for p in each.segments] for each in together] == [[p.text for p in each.segments] for each in alone]
    assert all(abs(a.avg_logprob - b.avg_logprob) < 1e-3 for a, b in zip(alone, together, strict=True))


def test_timestamps_run_forward_inside_the_sound(loaded):
    for length in (0.5, 3.0, 8.0):
        (result,) = TransformersDecoder(loaded).decode([voice(length, seed=9)])
        times = [time for segment in result.segments for time in (segment.start_s, segment.end_s)]
        assert times == sorted(times) and times[-1] <= length + 1e-6


def test_rows_that_end_at_different_times_leave_the_batch_unharmed(scripted, loaded, monkeypatch):
    windows = [voice(4, seed=seed) for seed in range(4)]
    decoder = TransformersDecoder(checkpoint.load(scripted))
    expected = decoder.decode(windows)
    ends = iter([1, 5, 30, 200])
    forced = dict(zip(range(4), ends, strict=True))
    choose = DecodingRules.choose

    def ending(self, logits, tokens, durations_s):
        # The rows are told apart by their durations, which differ by a sample.
        chosen, logprobs = choose(self, logits, tokens, durations_s)
        for row, duration_s in enumerate(durations_s.tolist()):
            if tokens.shape[1] >= forced[round((duration_s - 4) * 16_000)]:
                chosen[row] = self.end
        return chosen, logprobs

    monkeypatch.setattr(DecodingRules, "choose", ending)
    longer = [voice(4 + extra / 16_000, seed=extra) for extra in range(4)]
    results = decoder.decode(longer)
    assert results[0].segments == ()
    assert len(results[1].segments) == 1 and len(results[1].segments[0].text) < len(expected[1].segments[0].text)
    assert [p.text for p in results[3].segments] == [p.text for p in expected[3].segments]


def test_repetitions_of_real_length_survive(scripted):
    (result,) = TransformersDecoder(checkpoint.load(scripted)).decode([voice(4)])
    assert [(segment.text, segment.start_s, segment.end_s) for segment in result.segments] == [
        ("&-um I [/] I [/] I [/] I want it .", 0.2, 1.6),
        ("the cat [//] the dog sat .", 1.8, 2.4),
    ]
    assert result.complete and result.avg_logprob > -0.2
    assert all(-0.2 < segment.avg_logprob <= 0 for segment in result.segments)


def test_a_model_that_never_ends_is_stopped_and_reported(loaded):
    (result,) = TransformersDecoder(loaded).decode([voice(1)])
    assert not result.complete
    assert sum(len(loaded.tokenizer.encode(p.text, add_special_tokens=False)) for p in result.segments) <= 54


def test_suppressed_and_special_tokens_are_never_written(loaded):
    rules = TransformersDecoder(loaded).rules
    added = loaded.tokenizer.get_added_vocab()
    for token in ("<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>", "<|0.00|>"):
        assert may_follow(rules, [added["<|0.00|>"], 5], added[token]) == -torch.inf
    for row in range(len(loaded.tokenizer), loaded.model.config.vocab_size):
        assert may_follow(rules, [added["<|0.00|>"], 5], row) == -torch.inf
    assert may_follow(rules, [added["<|0.00|>"], 5], added["<|0.02|>"]) > -0.1


def may_follow(rules, tokens, token):
    """Return the log-probability of a token that the model wants above all others, as far as it may be written."""
    logits = torch.zeros(1, rules._allowed.size)
    logits[0, token] = 20.0
    (chosen,), (logprob,) = rules.choose(logits, torch.tensor([tokens]), torch.tensor([8.0]))
    return float(logprob) if chosen == token else -torch.inf


def test_a_model_without_timestamps_gives_one_segment_for_the_window(scripted):
    model = checkpoint.load(scripted)
    model.model.generation_config.suppress_tokens = sorted(checkpoint.timestamp_tokens(model.tokenizer))
    decoder = TransformersDecoder(model)
    assert decoder.prompt[-1] == model.tokenizer.convert_tokens_to_ids("<|notimestamps|>")
    (result,) = decoder.decode([voice(3)])
    assert len(result.segments) <= 1
    assert all((segment.start_s, segment.end_s) == (0.0, 3.0) for segment in result.segments)


def test_a_multilingual_model_gets_its_language_token(tmp_path):
    folder = build_checkpoint(tmp_path, languages=("en", "es"), multilingual=True)
    model = checkpoint.load(folder)
    ids = model.tokenizer.get_added_vocab()
    decoder = TransformersDecoder(model, language="es")
    assert decoder.prompt == [ids["<|startoftranscript|>"], ids["<|es|>"], ids["<|transcribe|>"]]
    assert len(decoder.decode([voice(2)])) == 1


def test_segments_survive_missing_and_late_timestamps():
    timestamps = {90: 0.0, 91: 1.0, 92: 9.0}
    text = {1: " a", 2: " b", 3: " "}

    def segments(*tokens):
        made = parse_segments(tokens, [-0.5] * len(tokens), timestamps, 2.0, lambda ids: "".join(text[i] for i in ids))
        return [(segment.text, segment.start_s, segment.end_s) for segment in made]

    assert segments() == []
    assert segments(90, 3, 91) == []
    assert segments(1, 2) == [("a b", 0.0, 2.0)]
    assert segments(91, 1, 90, 2, 92) == [("a", 1.0, 1.0), ("b", 1.0, 2.0)]
