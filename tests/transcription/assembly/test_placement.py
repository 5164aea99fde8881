"""The parts of a segment between pauses, for models that write no timestamps."""

from __future__ import annotations

import pytest

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.labels import Labels
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.assemble import TranscriptHeader, assemble
from lsa_whisper.transcription.assembly.placement import between_pauses


def segment(*tokens):
    """A segment of tokens with their start and end in seconds."""
    timed = tuple(TimedToken(*token) for token in tokens)
    text = "".join(token.text for token in timed).strip()
    return DecodedSegment(text, 0.0, 30.0, -0.1, timed, tuple((token.text, -0.1) for token in timed), closed=False)


@pytest.mark.parametrize(
    "tokens, texts",
    [
        ([(" yes", 0, 0.4), (" well", 2.0, 2.3)], ["yes", "well"]),
        ([(" yes", 0, 0.4), (" well", 1.5, 1.8)], ["yes well"]),
        ([(" the", 0, 0.4), (" dog", 2.0, 2.3)], ["the dog"]),
        ([(" I", 0, 0.4), (" want", 0.4, 0.6), (" /", 0.6, 0.6), (" I", 2.0, 2.3)], ["I want / I"]),
        (
            [(" good", 0, 0.4), ("bye", 0.4, 0.6), (".", 0.6, 0.6), (" yes", 2.0, 2.3), (".", 2.3, 2.3)],
            ["goodbye.", "yes."],
        ),
        ([], [""]),
    ],
)
def test_a_segment_is_divided_at_pauses(tokens, texts):
    whole = segment(*tokens)
    parts = between_pauses(whole, "eng")
    assert [part.text for part in parts] == texts
    assert [token for part in parts for token in part.timed] == list(whole.timed)
    assert [token for part in parts for token in part.logprobs] == list(whole.logprobs)


@pytest.mark.parametrize("timestamps, spans", [(False, [(1000, 1400), (4000, 4600)]), (True, [(1000, 4600)])])
def test_a_model_without_timestamps_ends_utterances_at_pauses(timestamps, spans):
    said = segment((" yes", 1.0, 1.4), (" well", 4.0, 4.3), (" then", 4.3, 4.6), (".", 4.6, 4.6))
    made = assemble(
        [TimeSpan(0, 30_000)],
        [DecodedWindow((said,))],
        labels=Labels("chat", timestamps=timestamps),
        duration_ms=30_000,
        header=TranscriptHeader("visit"),
    ).transcript
    assert [(each.span.start_ms, each.span.end_ms) for each in made.utterances] == spans
