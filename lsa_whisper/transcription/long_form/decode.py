"""Decode a recording window by window: in batches of windows cut in silence, or one after another with a prompt.

Decoded windows are stored on disk at once (see ``partial``); windows that an earlier run stored are taken from there.
The language of a recording, or of each of its windows, can be detected.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech_energy import SpeechActivity
from lsa_whisper.audio.speech_windows import pack_windows, speech_spans
from lsa_whisper.decoding.decoder import DecodedWindow, Decoder, MultilingualDecoder, PromptedDecoder
from lsa_whisper.decoding.no_speech import NoSpeechRule
from lsa_whisper.decoding.partial import PartialDecoding, WindowResult
from lsa_whisper.languages import MIN_SOUND_S, other_language
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.long_form.borders import decode_across_borders
from lsa_whisper.transcription.long_form.loops import has_loop
from lsa_whisper.transcription.long_form.repair import Repair, Sound
from lsa_whisper.transcription.long_form.repairs import LOOPS
from lsa_whisper.transcription.long_form.sequential import sequential_windows
from lsa_whisper.transcription.long_form.skipped import without_token_times
from lsa_whisper.transcription.long_form.surplus_copies import without_surplus_copies
from lsa_whisper.transcription.long_form.unspoken import without_unspoken

Progress = Callable[[float], None]

DETECTION_WINDOWS = 5
"""Windows that vote for the language of a recording."""

_BATCHES_AT_ONCE = 8  # windows of several batches are loaded together, so that windows of like length share a batch,
_WINDOWS_AT_ONCE = 32  # but no more than these of the full context: their sound is held in memory
_BORDER_BATCHES_AT_ONCE = 2  # what is decoded across borders is longer than most windows, and little of a recording


@dataclass(frozen=True)
class LongFormDecoder:
    """Decodes whole recordings with the decoder of a loaded model.

    Attributes:
        decoder: Any engine.
        context_s: The model's context.
        window_s: The longest window that a recording is cut into.
        repairs: What is decoded again of each window.
        silence: When a window counts as silent.
        word_times: Whether token times are returned; the search for skipped speech needs them in any case.
        sequential: Whether each window starts where the text of the last one ends, with that text as prompt.
        by_window: Whether each window is decoded in its own language.
    """

    decoder: Decoder
    context_s: float
    window_s: float
    repairs: Sequence[Repair[Any]]
    silence: NoSpeechRule
    word_times: bool = True
    sequential: bool = False
    by_window: bool = False

    def decode(
        self,
        recording: Recording,
        speech: SpeechActivity,
        *,
        partial: PartialDecoding | None = None,
        progress: Progress | None = None,
    ) -> Sequence[WindowResult]:
        """Return the decoded windows of a recording.

        ``partial`` stores decoded windows, and has those of an earlier run; ``progress`` is called with the seconds of
        the recording that are decoded.
        """
        decoder = DetectedLanguageDecoder(cast(MultilingualDecoder, self.decoder)) if self.by_window else self.decoder
        if self.sequential and isinstance(decoder, PromptedDecoder):
            return self._spoken(self._sequentially(decoder, recording, speech, partial, progress), speech)
        windows = pack_windows(speech, context_s=self.window_s, duration_s=recording.duration_s)
        decoded = partial.read(windows) if partial else []
        _report(decoded, progress)
        at_once = self._windows_at_once()
        for first in range(len(decoded), len(windows), at_once):
            spans = windows[first : first + at_once]
            # The sounds are in memory only until these are decoded.
            results = decode_repaired(decoder, [_loaded(recording, span, speech) for span in spans], self.repairs)
            decoded += _stored(self._timed(list(zip(spans, results, strict=True))), partial)
            _report(decoded, progress)

        def decode_again(spans: Sequence[TimeSpan]) -> list[DecodedWindow]:
            results = decode_repaired(decoder, [_loaded(recording, span, speech) for span in spans], self.repairs)
            return [without_surplus_copies(*pair) for pair in zip(results, map(speech.within, spans), strict=True)]

        joined = decode_across_borders(
            self._spoken(decoded, speech),
            decode_again,
            context_s=self.context_s,
            at_once=_BORDER_BATCHES_AT_ONCE * decoder.batch_size,
        )
        return self._timed(joined)

    def other_language(self, recording: Recording, speech: SpeechActivity, language: str) -> str:
        """Return a recording's language (Whisper's code) if it is surely not ``language`` (ISO 639-3), else nothing.

        Only if the first window sounds like another language, further ones are heard.
        """
        spans = pack_windows(speech, context_s=self.context_s, duration_s=recording.duration_s)
        spans = [span for span in spans if span.duration_ms >= 1000 * MIN_SOUND_S]
        spans = spans[:: max(1, len(spans) // DETECTION_WINDOWS)][:DETECTION_WINDOWS]
        if not other_language(self._detected(recording, speech, spans[:1]), [language]):
            return ""
        return other_language(self._detected(recording, speech, spans), [language])

    def language_of(self, recording: Recording, speech: SpeechActivity) -> str:
        """Return the language of most windows at the start of a recording (Whisper's code); nothing without speech."""
        spans = pack_windows(speech, context_s=self.context_s, duration_s=recording.duration_s)[:DETECTION_WINDOWS]
        return most_frequent_language(self._detected(recording, speech, spans)) if spans else ""

    def _detected(
        self, recording: Recording, speech: SpeechActivity, spans: Sequence[TimeSpan]
    ) -> list[dict[str, float]]:
        decoder = cast(MultilingualDecoder, self.decoder)  # every engine is one
        return decoder.detect_languages([_loaded(recording, span, speech).samples for span in spans])

    def _windows_at_once(self) -> int:
        size = self.decoder.batch_size
        whole = min(_BATCHES_AT_ONCE * size, max(_WINDOWS_AT_ONCE, size))
        return round(whole * self.context_s / self.window_s)

    def _sequentially(
        self,
        decoder: PromptedDecoder,
        recording: Recording,
        speech: SpeechActivity,
        partial: PartialDecoding | None,
        progress: Progress | None,
    ) -> list[WindowResult]:
        """Return the windows decoded one by one, each with the previous text as prompt."""

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
        earlier = tuple(decoded)
        for window in sequential_windows(spans, context_s=self.context_s, decode=decode_after, before=earlier):
            decoded += _stored([window], partial)
            _report(decoded, progress)
        return decoded

    def _spoken(self, windows: Sequence[WindowResult], speech: SpeechActivity) -> Sequence[WindowResult]:
        """Return the windows without text that has no speech under it, too many copies, or that failed when louder."""
        if speech.gain != 1:
            windows = [(span, self.silence.apply_to_quiet(result)) for span, result in windows]
        windows = [(span, without_surplus_copies(result, speech.within(span))) for span, result in windows]
        return windows if self.silence.keeps_all else without_unspoken(windows, speech)

    def _timed(self, windows: Sequence[WindowResult]) -> Sequence[WindowResult]:
        """Return the windows without token times, which are needed to find skipped speech, unless they are wanted."""
        return windows if self.word_times else [(span, without_token_times(result)) for span, result in windows]


def decode_repaired(decoder: Decoder, sounds: Sequence[Sound], repairs: Sequence[Repair[Any]]) -> list[DecodedWindow]:
    """Return one result per sound, each repaired by one repair after the other.

    ``sounds`` are windows no longer than the decoder's context. Each repair works on the results of those before it.
    """
    results = decoder.decode([sound.samples for sound in sounds])
    for repair in repairs:
        spans = {at: repair.find(*pair) for at, pair in enumerate(zip(results, sounds, strict=True))}
        for _ in range(repair.rounds):
            parts = [sounds[at].part(span) for at, gaps in spans.items() for span in gaps]
            if not parts:
                break
            again = iter(decode_repaired(decoder, parts, repair.repairs))
            for at, gaps in spans.items():
                if gaps:
                    pairs = [(span, next(again)) for span in gaps]
                    results[at], spans[at] = repair.accept(results[at], sounds[at], pairs)
    return results


def _loaded(recording: Recording, span: TimeSpan, speech: SpeechActivity) -> Sound:
    samples, gain = recording.load(span), speech.gain
    return Sound(samples if gain == 1 else np.clip(samples * np.float32(gain), -1, 1), speech.within(span))


def _report(decoded: Sequence[WindowResult], progress: Progress | None) -> None:
    """Report where the last window ends, in seconds; first of all, what an earlier run decoded, which took no time."""
    if progress:
        progress(decoded[-1][0].end_ms / 1000 if decoded else 0.0)


def _stored(results: Sequence[WindowResult], partial: PartialDecoding | None) -> Sequence[WindowResult]:
    if partial:
        partial.append(results)
    return results


def most_frequent_language(probabilities: Sequence[Mapping[str, float]]) -> str:
    """Return the language that most windows are in; of several, the one with the highest summed probability.

    Of each window, of which there is at least one, the probability of each language (Whisper's code) is given.

    >>> most_frequent_language([{"en": 0.9, "es": 0.1}, {"en": 0.4, "es": 0.6}, {"en": 0.45, "es": 0.55}])
    'es'
    >>> most_frequent_language([{"en": 0.9, "es": 0.1}, {"en": 0.4, "es": 0.6}])
    'en'
    """
    votes = Counter(max(probability, key=probability.__getitem__) for probability in probabilities)
    return max(votes, key=lambda code: (votes[code], sum(probability[code] for probability in probabilities)))


class DetectedLanguageDecoder:
    """Decodes each window in its own language, and notes the language in each result."""

    def __init__(self, decoder: MultilingualDecoder):
        self._decoder = decoder
        self.batch_size, self.style = decoder.batch_size, decoder.style

    def decode(self, windows: Sequence[Any]) -> list[DecodedWindow]:
        """Return one result per window, in order."""
        languages = [most_frequent_language([scores]) for scores in self._decoder.detect_languages(windows)]
        places = defaultdict[str, list[int]](list)
        for place, language in enumerate(languages):
            places[language].append(place)
        results: dict[int, DecodedWindow] = {}
        for language, group in places.items():
            decoded = self._decoder.with_language(language).decode([windows[place] for place in group])
            results |= {place: replace(row, language=language) for place, row in zip(group, decoded, strict=True)}
        return [results[place] for place in range(len(windows))]
