"""Decode a recording window by window: in batches of windows cut in silence, or one after another with a prompt.

Decoded windows are stored on disk at once (see ``partial``); windows that an earlier run stored are yielded first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech.energy import SpeechActivity
from lsa_whisper.audio.speech.windows import pack_windows, speech_spans
from lsa_whisper.decoding.decoder import DecodedWindow, Decoder, MultilingualDecoder, PromptedDecoder
from lsa_whisper.decoding.no_speech import NoSpeechRule
from lsa_whisper.decoding.partial import PartialDecoding, WindowResult
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.long_form.borders import decode_across_borders
from lsa_whisper.transcription.long_form.languages import DETECTION_WINDOWS, most_frequent_language
from lsa_whisper.transcription.long_form.loops import has_loop
from lsa_whisper.transcription.long_form.repair import Repair, Sound, decode_repaired
from lsa_whisper.transcription.long_form.repairs import LOOPS
from lsa_whisper.transcription.long_form.sequential import sequential_windows
from lsa_whisper.transcription.long_form.skipped import without_token_times

Progress = Callable[[float], None]


def decode_windows(
    decoder: Decoder,
    recording: Recording,
    speech: SpeechActivity,
    *,
    context_s: float,
    at_once: int,
    partial: PartialDecoding | None,
    repairs: Sequence[Repair[Any]],
    word_times: bool,
    progress: Progress | None = None,
) -> list[WindowResult]:
    """Return the decoded windows of a recording that was cut in silence, decoded ``at_once`` windows at a time."""
    windows = pack_windows(speech, context_s=context_s, duration_s=recording.duration_s)
    decoded = partial.read(windows) if partial else []
    _report(decoded, progress)
    for first in range(len(decoded), len(windows), at_once):
        spans = windows[first : first + at_once]
        # The sounds are in memory only until these are decoded.
        results = decode_repaired(decoder, [_loaded(recording, span, speech) for span in spans], repairs)
        decoded += _stored(_timed(list(zip(spans, results, strict=True)), word_times), partial)
        _report(decoded, progress)
    return decoded


def join_cut_utterances(
    decoder: Decoder,
    recording: Recording,
    speech: SpeechActivity,
    windows: Sequence[WindowResult],
    *,
    context_s: float,
    at_once: int,
    repairs: Sequence[Repair[Any]],
    word_times: bool,
) -> Sequence[WindowResult]:
    """Return the windows of a recording that was cut in silence, with the utterances that this cut made whole again."""

    def load(span: TimeSpan) -> Sound:
        return _loaded(recording, span, speech)

    whole = decode_across_borders(decoder, windows, load, repairs, context_s=context_s, at_once=at_once)
    return _timed(whole, word_times)


def decode_sequentially(
    decoder: PromptedDecoder,
    recording: Recording,
    speech: SpeechActivity,
    *,
    context_s: float,
    partial: PartialDecoding | None,
    progress: Progress | None = None,
) -> list[WindowResult]:
    """Return the decoded windows of a recording, decoded one by one, each with the previous text as prompt."""

    def decode_after(span: TimeSpan, previous: str) -> DecodedWindow:
        sound = _loaded(recording, span, speech)
        result = decoder.decode_with_prompt(sound.samples, previous) if previous else None
        if result and not has_loop(result, sound.speech):
            return result
        # Most loops come from the prompt, so a window that loops is decoded again without it.
        return decode_repaired(decoder, [sound], (LOOPS,))[0]

    decoded = partial.read() if partial else []
    _report(decoded, progress)
    spans = speech_spans(speech, duration_s=recording.duration_s)
    for each in sequential_windows(spans, context_s=context_s, decode=decode_after, done=tuple(decoded)):
        decoded += _stored([each], partial)
        _report(decoded, progress)
    return decoded


def without_noise(
    windows: Sequence[WindowResult], speech: SpeechActivity, rule: NoSpeechRule
) -> Sequence[WindowResult]:
    """Return the windows of a recording; if it was made louder, those that failed are without text."""
    return windows if speech.gain == 1 else [(span, rule.apply_to_quiet(result)) for span, result in windows]


def detect_language(
    decoder: MultilingualDecoder,
    recording: Recording,
    speech: SpeechActivity,
    *,
    context_s: float,
    partial: PartialDecoding | None,
) -> str | None:
    """Return the language of a recording (Whisper's code), or that of an earlier run; ``None`` without speech."""
    done = partial.read() if partial else []
    if done and done[0][1].language:
        return done[0][1].language
    spans = pack_windows(speech, context_s=context_s, duration_s=recording.duration_s)[:DETECTION_WINDOWS]
    audio = [_loaded(recording, span, speech).samples for span in spans]
    return most_frequent_language(decoder.detect_languages(audio)) if audio else None


def _loaded(recording: Recording, span: TimeSpan, speech: SpeechActivity) -> Sound:
    samples, gain = recording.load(span), speech.gain
    return Sound(samples if gain == 1 else np.clip(samples * np.float32(gain), -1, 1), speech.within(span))


def _timed(windows: Sequence[WindowResult], word_times: bool) -> Sequence[WindowResult]:
    """Return the windows without token times, which are needed to find skipped speech, unless they are requested."""
    return windows if word_times else [(span, without_token_times(result)) for span, result in windows]


def _report(decoded: Sequence[WindowResult], progress: Progress | None) -> None:
    """Report where the last window ends, in seconds; first of all, what an earlier run decoded, which took no time."""
    if progress:
        progress(decoded[-1][0].end_ms / 1000 if decoded else 0.0)


def _stored(results: Sequence[WindowResult], partial: PartialDecoding | None) -> Sequence[WindowResult]:
    if partial:
        partial.append(results)
    return results
