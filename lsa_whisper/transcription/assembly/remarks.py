"""What a reader of a transcript should know of its recording, its text, its languages if detected, and missed speech.

A missed word leaves no trace in a transcript, and has no confidence that could be low. But the detector has found it:
speech that no word covers, or an utterance with far less text than its speech takes at this recording's rate.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech_energy import FRAME_S, SpeechActivity
from lsa_whisper.chat import Utterance
from lsa_whisper.chat.files import media_name
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.partial import WindowResult
from lsa_whisper.errors import printable
from lsa_whisper.languages import chat_code
from lsa_whisper.timespan import TimeSpan

_MIN_WORDLESS_S = 30.0
_MIN_WORDLESS_SHARE = 0.2
_LEAST_WORDLESS_S = 5.0
"""Less sound than this without words is common: laughter, pauses with noise, a door. In a short recording less than 30
seconds is much, such as all speech in another language."""
_MAX_PLACES = 5
_MAX_TEXTS = 3


def recording_remarks(recording: Recording, speech: SpeechActivity) -> list[str]:
    """Return what a reader should know of the recording itself."""
    remarks = [f"the recording is incomplete: {recording.remark}"] if recording.remark else []
    if recording.cancels:
        remarks.append(
            f"the two channels cancel each other (opposite phase), so only channel {(recording.channel or 0) + 1} was "
            "used"
        )
    if speech.gain != 1:
        remarks.append(
            f"the recording is very quiet (speech at {speech.speech_db:.0f} dB) and was made louder before decoding: "
            "check that no words are missing"
        )
    stem = recording.path.stem
    if (name := media_name(stem)) != stem:
        plays = f"to play it in CLAN, copy it to {name}{recording.path.suffix}"
        remarks.append(
            f"the recording is called {' '.join(printable(stem).split())}, which @Media cannot hold: {plays}"
        )
    return remarks


def window_remarks(windows: Sequence[TimeSpan], decoded: Sequence[DecodedWindow], any_words: bool) -> Iterator[str]:
    """Yield where the model repeated itself or was stopped, and whether there are no words at all."""
    if not windows:
        yield "no speech was found in the recording"
    elif not any_words:
        yield "the model recognized no words in the speech that was found"
    pairs = list(zip(windows, decoded, strict=True))
    if retried := [window for window, result in pairs if result.retried and not result.truncated]:
        yield f"the model repeated itself at {places(retried)}, which was decoded again: check these passages first"
    if truncated := [pair for pair in pairs if pair[1].truncated]:
        yield (
            f"the model repeated itself at {places([window for window, _ in truncated])}, also when decoded again, and "
            f"surplus copies were removed{_copies(truncated)}: check these passages first"
        )
    if surplus := [pair for pair in pairs if pair[1].removed and not pair[1].truncated]:
        yield (
            f"the model wrote more copies of a phrase than there is time for at "
            f"{places([window for window, _ in surplus])}, and the surplus was removed{_copies(surplus)}: "
            f"check these passages"
        )
    if incomplete := [window for window, result in pairs if not result.complete]:
        yield f"the length limit stopped the model at {places(incomplete)}: check these passages first"


def _copies(pairs: Sequence[WindowResult]) -> str:
    """Return examples of the copies that were removed, in parentheses."""
    copies = [text for _, result in pairs for text in result.removed]
    return f" ({', '.join(copies[:5])}{' and more' if len(copies) > 5 else ''})" if copies else ""


def text_remarks(windows: Sequence[WindowResult], speech: SpeechActivity, duration_ms: int) -> Iterator[str]:
    """Yield where text was left out, and where there is much sound without words.

    >>> import numpy as np
    >>> from lsa_whisper.decoding.decoder import DecodedSegment
    >>> said = DecodedWindow((DecodedSegment("yes .", 0, 2),))
    >>> windows = [(TimeSpan(0, 2000), said), (TimeSpan(2000, 60_000), DecodedWindow((), unspoken=("Thank you.",)))]
    >>> for remark in text_remarks(windows, SpeechActivity(np.zeros(3000, np.float32), ((0, 3000),)), 60_000):
    ...     print(remark)
    text was left out at 2.0 to 60.0 s ("Thank you."), because there is probably no speech
    58 s of sound are without words at 2.0 to 60.0 s: listen whether there is speech
    """
    if emptied := [(span, result) for span, result in windows if result.unspoken]:
        texts = [f'"{" ".join(printable(text).split())}"' for _, result in emptied for text in result.unspoken]
        more = " and more" if len(texts) > _MAX_TEXTS else ""
        yield (
            f"text was left out at {places([span for span, _ in emptied])} ({', '.join(texts[:_MAX_TEXTS])}{more}), "
            "because there is probably no speech"
        )
    if wordless := list(_wordless(windows, speech, duration_ms)):
        sound_s = sum(seconds for _, seconds in wordless)
        yield (
            f"{sound_s:.0f} s of sound are without words at {places([gap for gap, _ in wordless])}: listen whether "
            "there is speech"
        )


def _wordless(
    windows: Sequence[WindowResult], speech: SpeechActivity, duration_ms: int
) -> Iterator[tuple[TimeSpan, float]]:
    """Yield the long stretches without text, each with its seconds of sound; nothing without any text."""
    texts = [
        (span.start_ms + round(1000 * segment.start_s), span.start_ms + round(1000 * segment.end_s))
        for span, result in windows
        for segment in result.segments
    ]
    least_s = min(_MIN_WORDLESS_S, max(_LEAST_WORDLESS_S, _MIN_WORDLESS_SHARE * duration_ms / 1000))
    at_ms = 0
    for start_ms, end_ms in [*texts, (duration_ms, duration_ms)] if texts else ():
        if start_ms > at_ms:
            sounds = speech.within(gap := TimeSpan(at_ms, start_ms))
            if (sound_s := sum(end - start for start, end in sounds)) >= least_s:
                yield gap, sound_s
        at_ms = max(at_ms, end_ms)


def places(spans: Sequence[TimeSpan]) -> str:
    """Return the times of some spans, the first of many.

    >>> places([TimeSpan(0, 1500), TimeSpan(2000, 60_000)])
    '0.0 to 1.5 s, 2.0 to 60.0 s'
    """
    text = ", ".join(f"{span.start_ms / 1000:.1f} to {span.end_ms / 1000:.1f} s" for span in spans[:_MAX_PLACES])
    return text + (f" and {len(spans) - _MAX_PLACES} more" if len(spans) > _MAX_PLACES else "")


def spoken_languages(decoded: Sequence[DecodedWindow]) -> list[str]:
    """Return the detected languages in ISO 639-3, that of most text first; those of no text come last or not at all.

    >>> from lsa_whisper.decoding.decoder import DecodedSegment
    >>> said = [("en", "hi ."), ("es", "quiero el cuento ."), ("fr", "")]
    >>> spoken_languages([DecodedWindow((DecodedSegment(text, 0, 1),), language=code) for code, text in said])
    ['spa', 'eng']
    """
    letters = Counter[str]()
    for window in decoded:
        if window.language:
            letters[chat_code(window.language)] += sum(len(segment.text) for segment in window.segments)
    main = [code for code, length in letters.most_common() if length]
    return main or list(letters)[:1]


def language_remarks(decoded: Sequence[DecodedWindow]) -> Iterator[str]:
    """Yield which languages were detected.

    >>> list(language_remarks([DecodedWindow((), language="en"), DecodedWindow((), language="es")]))
    ['languages were detected: eng in 1 of 2 windows, spa in 1 of 2 windows']
    """
    languages = Counter(chat_code(window.language) for window in decoded if window.language)
    if len(languages) == 1:
        yield f"the language was detected: {next(iter(languages))}"
    elif languages:
        parts = (f"{code} in {count} of {languages.total()} windows" for code, count in languages.most_common())
        yield f"languages were detected: {', '.join(parts)}"


_MIN_DURATION_MS = 450  # of speech without words: shorter is a breath, or the error of a time
_WIDER_MS = 120  # a word's time misses part of its first and last sound
_SLOW = 1.5  # an utterance may take this many times as long as usual
_SURPLUS_MS = 300  # and this much more


def missed_speech(utterances: Sequence[Utterance], speech: SpeechActivity, duration_ms: int) -> list[TimeSpan]:
    """Return the stretches of speech for which words seem to be missing, in order.

    Word times make the result more exact.

    >>> import numpy as np
    >>> from lsa_whisper.chat import utterance
    >>> said = [utterance("PAR", "one two .", TimeSpan(0, 1000)), utterance("PAR", "six .", TimeSpan(4000, 5000))]
    >>> missed_speech(said, SpeechActivity(np.zeros(250, np.float32), ((0, 250),)), 5000)
    [TimeSpan(start_ms=1120, end_ms=3880)]
    """
    whole = TimeSpan(0, duration_ms)
    regions = [span for region in speech.regions if (span := _span(region) & whole)]
    covered = _merged(_covered(utterances))
    bare = [part for span in regions for part in _without(span, covered) if part.duration_ms >= _MIN_DURATION_MS]
    return _merged([*bare, *_sparse(utterances, regions)])


def _span(region: tuple[int, int]) -> TimeSpan:
    return TimeSpan(round(region[0] * FRAME_S * 1000), round(region[1] * FRAME_S * 1000))


def _covered(utterances: Iterable[Utterance]) -> Iterable[TimeSpan]:
    for utterance in utterances:
        spans = [span for span in utterance.word_spans() if span] or ([utterance.span] if utterance.span else [])
        yield from (TimeSpan(max(0, span.start_ms - _WIDER_MS), span.end_ms + _WIDER_MS) for span in spans)


def _overlapping(span: TimeSpan, spans: Sequence[TimeSpan]) -> Sequence[TimeSpan]:
    """Return those of the others, which are in order and disjoint, that overlap a span."""
    first = bisect_right(spans, span.start_ms, key=lambda other: other.end_ms)
    return spans[first : bisect_left(spans, span.end_ms, lo=first, key=lambda other: other.start_ms)]


def _without(span: TimeSpan, covered: Sequence[TimeSpan]) -> list[TimeSpan]:
    """Return the parts of a span that none of the others covers, which are in order and disjoint."""
    parts, at_ms = [], span.start_ms
    for cover in _overlapping(span, covered):
        if cover.start_ms > at_ms:
            parts.append(TimeSpan(at_ms, cover.start_ms))
        at_ms = max(at_ms, cover.end_ms)
    return parts + ([TimeSpan(at_ms, span.end_ms)] if at_ms < span.end_ms else [])


def _sparse(utterances: Sequence[Utterance], regions: Sequence[TimeSpan]) -> list[TimeSpan]:
    """Return the utterances without word times whose speech is far longer than their letters take here."""
    rates = []
    for utterance in utterances:
        if utterance.span and not any(utterance.word_spans()):
            speech_ms = sum(
                part.duration_ms for span in _overlapping(utterance.span, regions) if (part := span & utterance.span)
            )
            rates.append((utterance.span, speech_ms, sum(map(len, utterance.verbatim())) + 1))
    if len(rates) < 3:  # too few to know the rate
        return []
    usual_ms = median(speech_ms / letters for _, speech_ms, letters in rates)
    return [span for span, speech_ms, letters in rates if speech_ms > _SLOW * usual_ms * letters + _SURPLUS_MS]


def _merged(spans: Iterable[TimeSpan]) -> list[TimeSpan]:
    union: list[TimeSpan] = []
    for span in sorted(spans):
        if union and span.start_ms <= union[-1].end_ms:
            union[-1] |= span
        else:
            union.append(span)
    return union
