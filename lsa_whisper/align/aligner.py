"""The alignment of one recording with its transcript.

Free transcription shows where the words that the model recognizes were spoken (``anchors``). These anchors and the
probability of the known text divide it among the windows (``ranges``), and the attention to the known text gives the
time of each word inside its window. So an error in one window does not move the words of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial as bind

import torch

from lsa_whisper.align.anchors import (
    AlignedSection,
    DecodedWord,
    Matches,
    find_sections,
    match_words,
    spoken_order,
)
from lsa_whisper.align.model import AlignmentHeads, AlignmentModel, spoken_places, token_spans
from lsa_whisper.align.ranges import SKIP, SKIP_UNRECOGNIZED, Scores, WordRange, borders, divide
from lsa_whisper.align.text import TextWord, TokenizedText, text_tokens, text_words, word_key
from lsa_whisper.audio import Recording, vad
from lsa_whisper.audio.speech_energy import SpeechActivity
from lsa_whisper.audio.speech_windows import pack_windows
from lsa_whisper.chat import Utterance
from lsa_whisper.decoding.cross_attention import shifted_mean
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.decoding.word_times import align_words
from lsa_whisper.labels import decode
from lsa_whisper.languages import MIN_SOUND_S
from lsa_whisper.timespan import TimeSpan

_WORDS_PER_S = 8  # no one speaks faster for long
_BATCHES_AT_ONCE = 4
_DETECTION_WINDOWS = 3


@dataclass(frozen=True)
class AlignedWord:
    """A word with its time, and the mean log-probability of its tokens."""

    word: TextWord
    span: TimeSpan
    logprob: float


@dataclass(frozen=True)
class AlignedText:
    """The result for one transcript.

    Attributes:
        words: All words of the transcript that can be aligned.
        by_word: Index of a word -> its time; the other words were not found.
        decoded: The words of free transcription.
        matches: Which words were recognized.
        languages: The probability of each language in the first windows, where most words were not recognized.
    """

    words: tuple[TextWord, ...]
    by_word: dict[int, AlignedWord]
    decoded: tuple[DecodedWord, ...]
    matches: Matches
    languages: Sequence[Mapping[str, float]] = ()


class Aligner:
    """Aligns transcripts with one loaded model."""

    def __init__(self, model: AlignmentModel, heads: AlignmentHeads, *, detector: str, batch_size: int = 8):
        """Take the model, its measured heads and the voice activity detector."""
        self._model, self._heads, self._detector, self._batch_size = model, heads, detector, batch_size

    def align(
        self,
        utterances: Sequence[Utterance],
        recording: Recording,
        *,
        partial: PartialDecoding | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> AlignedText:
        """Return the times of the words of all utterances.

        Those with a bullet are aligned inside it. ``partial`` stores decoded windows on disk, so that an interrupted
        run can resume; ``progress`` is called with the number of seconds that are done.
        """
        words = text_words(utterances)
        speech = vad.detect_speech(self._detector, recording.stream())
        sections = find_sections(utterances, words, int(recording.duration_s * 1000))
        windows = [self._windows(section, speech, recording.duration_s) for section in sections]
        # Inside a bullet the text is known; free transcription is needed to divide it among several windows only.
        to_decode = [
            span
            for section, spans in zip(sections, windows, strict=True)
            if len(spans) > 1 or not section.timed
            for span in spans
        ]
        decoded = [word for batch in self._decode(recording, to_decode, partial, progress) for word in batch]
        order = spoken_order(utterances, words, decoded, match_words(words, decoded))
        text = self._text([utterances[at] for at in order], order)
        matches = match_words(text.words, decoded)
        by_word: dict[int, AlignedWord] = {}
        for section, spans in zip(sections, windows, strict=True):
            for index, word in self._align_section(section, spans, text, decoded, matches, recording, speech):
                by_word[index] = word
            if progress:
                progress(section.span.end_ms / 1000)
        samples = [span for span in to_decode[:_DETECTION_WINDOWS] if span.duration_ms >= 1000 * MIN_SOUND_S]
        doubtful = () if matches.recognizes_most else samples
        languages = self._model.detect_languages([recording.load(span) for span in doubtful])
        return AlignedText(tuple(text.words), by_word, tuple(decoded), matches, languages)

    def _text(self, utterances: Sequence[Utterance], order: Sequence[int]) -> TokenizedText:
        words = text_words(utterances)
        tokens = text_tokens(utterances, words, self._model.checkpoint.tokenizer, self._heads.labels)
        words = [replace(word, utterance=order[word.utterance]) for word in words]  # as in the transcript
        return TokenizedText(words, tokens, self._model.max_tokens)

    def _windows(self, section: AlignedSection, speech: SpeechActivity, duration_s: float) -> list[TimeSpan]:
        context_s = self._model.checkpoint.context_s
        if section.timed and section.span.duration_ms <= 1000 * context_s:
            return [section.span]
        windows = pack_windows(speech.inside(section.span), context_s=context_s, duration_s=duration_s)
        inside = [part for window in windows if (part := window & section.span)]
        return _joined(inside, int(1000 * context_s))

    def _decode(
        self,
        recording: Recording,
        windows: Sequence[TimeSpan],
        partial: PartialDecoding | None,
        progress: Callable[[float], None] | None,
    ) -> Iterator[list[DecodedWord]]:
        """Yield the words of free transcription, and their windows by start."""
        earlier = partial.read(windows) if partial else []
        yield [word for span, result in earlier for word in self._words(span, result)]
        at_once = _BATCHES_AT_ONCE * self._batch_size
        for first in range(len(earlier), len(windows), at_once):
            spans = windows[first : first + at_once]
            results = list(zip(spans, self._model.decode([recording.load(span) for span in spans]), strict=True))
            if partial:
                partial.append(results)
            if progress:
                progress(spans[-1].end_ms / 1000)
            yield [word for span, result in results for word in self._words(span, result)]

    def _words(self, window: TimeSpan, result: DecodedWindow) -> list[DecodedWord]:
        decoded_words = []
        for segment in result.segments:
            utterances = decode(segment.text, self._model.checkpoint.labels).utterances
            for words in align_words(utterances, segment.timed, window.start_ms):
                decoded_words += [DecodedWord(word_key(word), word, span, window.start_ms) for word, span in words]
        return [word for word in decoded_words if word.key]

    def _align_section(
        self,
        section: AlignedSection,
        windows: Sequence[TimeSpan],
        text: TokenizedText,
        decoded: Sequence[DecodedWord],
        matches: Matches,
        recording: Recording,
        speech: SpeechActivity,
    ) -> Iterator[tuple[int, AlignedWord]]:
        if not windows:
            return
        number_of = {span.start_ms: at for at, span in enumerate(windows)}
        recognized = [
            (word, decoded[at])
            for word, at in sorted(matches.anchors.items())
            if word in section.words and decoded[at].window_ms in number_of
        ]
        anchors = [(word, number_of[found.window_ms]) for word, found in recognized]
        words = _possible(section, recognized) if recognized and not section.timed else section.words
        cache: dict[int, torch.Tensor] = {}

        def hidden(window: int) -> torch.Tensor:
            if window not in cache:
                cache.clear()
                cache[window] = self._model.encode(recording.load(windows[window]))
            return cache[window]

        def score(window: int, starts: Sequence[int], limit: int) -> list[Scores]:
            most = _most_words(windows[window].duration_ms)
            rows = [text.tokens_between(start, min(limit, start + most)) for start in starts]
            scores = self._model.text_scores(hidden(window), [[token.token for token in row] for row in rows])
            return [text.end_scores(start, row, *pair) for start, row, pair in zip(starts, rows, scores, strict=True)]

        skip = SKIP if matches.recognizes_most else SKIP_UNRECOGNIZED
        ranges = divide(borders(anchors, len(windows), words), score, text.utterance_starts, skip=skip)
        for window, own in enumerate(ranges):
            if own.start < own.end:
                yield from self._align_window(windows[window], own, text, bind(hidden, window), speech)

    def _align_window(
        self,
        window: TimeSpan,
        own: WordRange,
        text: TokenizedText,
        hidden: Callable[[], torch.Tensor],
        speech: SpeechActivity,
    ) -> Iterator[tuple[int, AlignedWord]]:
        row = text.tokens_between(own.start, own.end)
        ids = [token.token for token in row]
        if not ids:
            return
        ((logprobs, _),) = self._model.text_scores(hidden(), [ids])
        step_ms = 1000 * self._model.checkpoint.time_precision_s
        frames = max(1, round(window.duration_ms / step_ms))
        heads = self._heads.heads
        weights = self._model.attention(hidden(), ids, [head.pair for head in heads])
        weights = shifted_mean(weights, [head.lag for head in heads])[:, :frames]
        times = token_spans(weights, row, speech.silence(window), step_ms)
        for index, places in spoken_places(row).items():
            start = window.start_ms + round(times[places[0]][0] * step_ms)
            end = min(window.start_ms + round(times[places[-1]][1] * step_ms), window.end_ms)
            span = TimeSpan(start, max(end, start + 1))
            yield index, AlignedWord(text.words[index], span, float(logprobs[places].mean()))


def _most_words(duration_ms: int) -> int:
    return int(duration_ms / 1000 * _WORDS_PER_S) + 8


def _possible(section: AlignedSection, recognized: Sequence[tuple[int, DecodedWord]]) -> range:
    """Return the words of a section without those before or after all recognized ones that have no room in the sound.

    A transcript may be of more than its recording; squeezed into the end, the rest would shift what was spoken there.
    """
    words, (first, early), (last, late) = section.words, recognized[0], recognized[-1]
    before, after = early.span.start_ms - section.span.start_ms, section.span.end_ms - late.span.end_ms
    start = first if first - words.start > _most_words(before) else words.start
    return range(start, last + 1 if words.stop - last - 1 > _most_words(after) else words.stop)


def _joined(windows: Sequence[TimeSpan], longest_ms: int) -> list[TimeSpan]:
    """Return the windows with neighbors joined while they fit the context.

    Known text is found in a long silence no less than elsewhere, and fewer windows leave fewer doubts about the text.
    """
    spans: list[TimeSpan] = []
    for window in windows:
        if spans and (spans[-1] | window).duration_ms <= longest_ms:
            spans[-1] |= window
        else:
            spans.append(window)
    return spans
