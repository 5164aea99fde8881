"""A recording, window by window, through an engine: in batches between silences, or one after another.

Whatever is decoded is kept at once (see ``partial``); what an earlier run kept comes first and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.decoding.decoder import DecodedWindow, Decoder, PromptedDecoder
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.long_form.loops import decode_without_loops, has_loop
from lsa_whisper.transcribe.long_form.partial import PartialDecoding, WindowResult
from lsa_whisper.transcribe.long_form.sequential import sequential_windows
from lsa_whisper.transcribe.speech.energy import SpeechActivity
from lsa_whisper.transcribe.speech.windows import pack_windows, speech_spans


def decode_windows(
    decoder: Decoder,
    recording: Recording,
    speech: SpeechActivity,
    *,
    context_s: float,
    at_once: int,
    partial: PartialDecoding | None,
) -> Iterator[Sequence[WindowResult]]:
    """Yield the decoded windows of a recording, ``at_once`` together, cut in silence."""
    windows = pack_windows(speech, context_s=context_s, duration_s=recording.duration_s)
    done = partial.read(windows) if partial else []
    yield done
    for first in range(len(done), len(windows), at_once):
        spans = windows[first : first + at_once]
        sounds = [recording.load(span) for span in spans]
        spoken = [speech.within(span) for span in spans]
        decoded = decode_without_loops(decoder, sounds, SAMPLE_RATE_HZ, spoken=spoken)
        yield _kept(list(zip(spans, decoded, strict=True)), partial)


def decode_sequentially(
    decoder: PromptedDecoder,
    recording: Recording,
    speech: SpeechActivity,
    *,
    context_s: float,
    partial: PartialDecoding | None,
) -> Iterator[Sequence[WindowResult]]:
    """Yield the decoded windows of a recording one by one, each after the text of the one before."""

    def decode(span: TimeSpan, previous: str) -> DecodedWindow:
        sound, spoken = recording.load(span), speech.within(span)
        result = decoder.decode_with_prompt(sound, previous) if previous else None
        if result and not has_loop(result, spoken):
            return result
        # What repeats itself after a text is asked again without it: the text is where most loops come from.
        return decode_without_loops(decoder, [sound], SAMPLE_RATE_HZ, spoken=[spoken])[0]

    done = partial.read() if partial else []
    yield done
    spoken = speech_spans(speech, duration_s=recording.duration_s)
    for each in sequential_windows(spoken, context_s=context_s, decode=decode, done=done):
        yield _kept([each], partial)


def _kept(heard: Sequence[WindowResult], partial: PartialDecoding | None) -> Sequence[WindowResult]:
    if partial:
        partial.append(heard)
    return heard
