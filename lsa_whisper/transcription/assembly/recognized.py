"""The text of a model that never learned labels: segments that end anywhere become utterances.

A stock Whisper writes what every speech recognizer writes, so its text is read as ``convert`` reads that of other
programs, and joined and divided by the same rules (:mod:`lsa_whisper.labels.segments`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice

from lsa_whisper.chat import Line, Utterance, utterance
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.names import names_in
from lsa_whisper.formats.reading.notation import PlainText, all_plain_to_chat
from lsa_whisper.formats.reading.source import CONTROLS, Words
from lsa_whisper.labels import letters_of
from lsa_whisper.labels.segments import groups_of_segments, joined, part_spans, runs_between_pauses
from lsa_whisper.languages import chat_code
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True)
class Stretch:
    """Segments that belong together as one, with the utterances in them.

    Attributes:
        segment: The joined segments; its times count from the beginning of the recording.
        utterances: Without times; each has what CHAT has no mark for as ``%com``.
        spans: Their times, by the lengths of their words.
        language: ISO 639-3.
    """

    segment: DecodedSegment
    utterances: tuple[Utterance, ...]
    spans: tuple[TimeSpan, ...]
    language: str


def stretches(
    windows: Sequence[TimeSpan],
    decoded: Sequence[DecodedWindow],
    *,
    speaker: str,
    language: str,
    speaker_in: Callable[[TimeSpan], str] | None = None,
) -> Iterator[Stretch]:
    """Yield the stretches of text of a recording.

    Each decoded window has its span in the recording, in order. ``language`` (ISO 639-3) is that of windows whose
    language was not detected. ``speaker_in`` tells who speaks in a span, where turns are known: stretches end where the
    speaker changes.
    """
    by_code = [
        (segment.shifted(window.start_ms / 1000), chat_code(result.language) if result.language else language)
        for window, result in zip(windows, decoded, strict=True)
        for segment in result.segments
    ]
    names = {code: names_in([segment.text for segment, own in by_code if own == code], code) for _, code in by_code}
    for code, pairs in groupby(by_code, key=lambda pair: pair[1]):
        segments = [segment for segment, _ in pairs]
        spans = [_span(segment) for segment in segments]
        speakers = [speaker_in(span) if speaker_in else "" for span in spans]
        runs = groups_of_segments([segment.text for segment in segments], spans, speakers, code)
        groups = [segments[run.start : run.stop] for run in runs]
        wholes = [_joined(parts) for parts in groups]
        texts = [_texts(whole.text, _words(parts), code) for whole, parts in zip(wholes, groups, strict=True)]
        # All at once, which takes a third of the time that one after another would.
        chats = iter(all_plain_to_chat([*chain(*texts)], Conventions(), language=code, names=names[code]))
        for whole, parts, own in zip(wholes, groups, texts, strict=True):
            turns = tuple(turn for chat in islice(chats, len(own)) for turn in _utterances(chat, speaker))
            yield Stretch(whole, turns, tuple(_places(turns, parts)), code)


def _places(turns: Sequence[Utterance], parts: Sequence[DecodedSegment]) -> list[TimeSpan]:
    """Return the times of the utterances in joined segments, by the lengths of their words."""
    lengths = [max(1, sum(map(len, turn.verbatim()))) for turn in turns]
    return part_spans(lengths, [(max(1, len(letters_of(part.text))), _span(part)) for part in parts])


def _span(segment: DecodedSegment) -> TimeSpan:
    return TimeSpan(round(segment.start_s * 1000), round(segment.end_s * 1000))


def _joined(parts: Sequence[DecodedSegment]) -> DecodedSegment:
    tokens = [max(1, len(part.logprobs)) for part in parts]
    weighted = sum(count * part.avg_logprob for count, part in zip(tokens, parts, strict=True))
    return DecodedSegment(
        joined([part.text.strip() for part in parts]),
        parts[0].start_s,
        parts[-1].end_s,
        weighted / sum(tokens),
        tuple(token for part in parts for token in part.timed),
        tuple(token for part in parts for token in part.logprobs),
        all(part.closed for part in parts),
    )


def _texts(text: str, words: Words, language: str) -> list[str]:
    """Return a text in parts, divided at pauses between its ``words``, as far as these have times."""
    runs = runs_between_pauses(words, language)
    texts = [" ".join(word for word, _ in words[run.start : run.stop]) for run in runs] if len(runs) > 1 else [text]
    return [CONTROLS.sub(" ", part) for part in texts]


def _utterances(chat: PlainText, speaker: str) -> Iterator[Utterance]:
    """Yield the utterances of a text, the comments on all of it at the first."""
    for at, (tier, remarks) in enumerate(zip(chat.tiers, chat.remarks, strict=True)):
        comments = (*(chat.comments if at == 0 else ()), *remarks)
        lines = (Line(f"%com:\t{'; '.join(comments)}\n", 0),) if comments else ()
        yield replace(utterance(speaker, tier), tiers=lines)


def _words(parts: Sequence[DecodedSegment]) -> Words:
    """Return the words of joined segments with their times; none if the tokens of one have no times."""
    words: list[tuple[str, TimeSpan | None]] = []
    if not all(part.timed for part in parts):
        return ()
    for number, part in enumerate(parts):
        for at, token in enumerate(part.timed):
            span = TimeSpan(round(1000 * token.start_s), round(1000 * token.end_s))
            if words and at and not token.text.startswith(" "):
                before = words[-1][1]
                is_word = any(sign.isalnum() for sign in token.text)
                words[-1] = (words[-1][0] + token.text, before | span if before and is_word else before)
            elif token.text.strip():
                text = token.text.strip()
                words.append((text.lstrip(" .…") if number and not at else text, span))
    return tuple(words)
