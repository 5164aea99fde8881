"""Edits of utterances: text, speaker, split, join, insert, delete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from lsa_whisper.chat import Line, Transcript, Utterance
from lsa_whisper.chat.lines import FOLD
from lsa_whisper.chat.main_tier import BULLET, REVIEWED_TIER, bullet
from lsa_whisper.chat.scan import Token, scan
from lsa_whisper.review.edits.change import EditError, block_of, line_end, put
from lsa_whisper.review.edits.times import WordSpans, carry_word_spans, set_span, with_word_spans
from lsa_whisper.review.edits.words import word_tokens
from lsa_whisper.timespan import TimeSpan

_HEAD = re.compile(r"\ufeff?\*[^:\s]+[ \t]*:[ \t]*")
_SPEAKER = re.compile(r"(\ufeff?\*)[^:\s]+")
_NEW_MS = 1000


def set_text(transcript: Transcript, number: int, text: str) -> Transcript:
    """Return the transcript with another text of utterance ``number``; bullet, speaker and other tiers stay.

    Word times are kept for the words that stay.
    """
    old = transcript.utterances[_known(transcript, number)]
    text = clean_text(text)
    if text == old.text:
        return transcript
    return put(transcript, number, [carry_word_spans(old, with_text(old, text))])


def set_texts(transcript: Transcript, texts: Mapping[int, str]) -> Transcript:
    """Return the transcript with other texts of many utterances, by number, as one edit."""
    new = {id(transcript.utterances[_known(transcript, number)]): clean_text(text) for number, text in texts.items()}
    pairs = ((old, new.get(id(old), old.text)) for old in transcript.utterances)
    return transcript.with_utterances(
        carry_word_spans(old, with_text(old, text)) if text != old.text else old for old, text in pairs
    )


def clean_text(text: str) -> str:
    """Return a text on one line, without characters that CHAT uses for bullets and line ends."""
    return FOLD.sub(" ", text.replace("\x15", " ")).strip()


def with_text(old: Utterance, text: str, span: TimeSpan | None = None) -> Utterance:
    """Return the utterance with another text; with ``span`` as its bullet, else with the bullet that it has."""
    head = _HEAD.match(old.main)
    bullets = BULLET.findall(old.main)
    span = span or old.span
    mark = bullets[0] if len(bullets) == 1 and span == old.span else bullet(span) if span else ""
    ends = line_end(old) if old.main.endswith(("\n", "\r")) or old.tiers else ""
    return replace(old, main=f"{head.group() if head else ''}{text}{f' {mark}' if mark else ''}{ends}")


def set_speaker(transcript: Transcript, number: int, speaker: str) -> Transcript:
    """Return the transcript with another speaker of utterance ``number``.

    Raises:
        EditError: The speaker is not in ``@Participants``.
    """
    old = transcript.utterances[_known(transcript, number)]
    if speaker not in transcript.participants:
        codes = ", ".join(transcript.participants) or "none"
        raise EditError(f"speaker {speaker!r} is not in @Participants ({codes}); choose one of them")
    if speaker == old.speaker:
        return transcript
    return put(transcript, number, [with_speaker(old, speaker)])


def with_speaker(old: Utterance, speaker: str) -> Utterance:
    """Return the utterance with another speaker."""
    return replace(old, speaker=speaker, main=_SPEAKER.sub(rf"\g<1>{speaker}", old.main, count=1))


def split_at_word(transcript: Transcript, number: int, word: int) -> Transcript:
    """Return the transcript with utterance ``number`` divided before its written word ``word``.

    The first part ends with a period and keeps the dependent tiers other than ``%wor``, which is divided.

    Raises:
        EditError: There are no words before or after that place.
    """
    old = transcript.utterances[_known(transcript, number)]
    words = word_tokens(old.text)
    if not 0 < word < len(words):
        raise EditError("choose a word inside the utterance: the second part begins with it")
    cut = _before_groups(old.text, words[word].offset)
    first = replace(with_text(old, f"{old.text[:cut].rstrip()} ."), tiers=old.tiers_but("%wor"))
    second = with_text(replace(old, tiers=()), old.text[cut:])
    spans, count = old.word_spans(), len(first.reading.verbatim)
    if old.span:
        ends = _cut_span(old.span, spans, count, len(old.reading.verbatim))
        first, second = with_text(first, first.text, ends[0]), with_text(second, second.text, ends[1])
    second = replace(second, main=second.main if second.main.endswith(("\n", "\r")) else second.main + line_end(old))
    first, second = with_word_spans(first, spans[:count]), with_word_spans(second, spans[count:])
    return put(transcript, number, [replace(first, main=first.main.rstrip("\r\n") + line_end(old)), second])


def join_utterances(transcript: Transcript, number: int) -> Transcript:
    """Return the transcript with utterance ``number`` and the next one as one utterance.

    Dependent tiers of the same name are joined. The result counts as reviewed if both are.

    Raises:
        EditError: The utterance is the last one, or another speaker has the next.
    """
    first = transcript.utterances[_known(transcript, number)]
    if number + 1 >= len(transcript.utterances):
        raise EditError("this is the last utterance; there is none to join it with")
    second = transcript.utterances[number + 1]
    if first.speaker != second.speaker:
        raise EditError(f"the next utterance is by {second.speaker}; change its speaker first")
    words, rest = _without_terminator(first.text)
    span = first.span | second.span if first.span and second.span else first.span or second.span
    text = " ".join(part for part in (words, second.text, rest) if part)
    spans: WordSpans = [*first.word_spans(), *second.word_spans()]
    whole = replace(with_text(replace(first, tiers=()), text, span), tiers=_joined_tiers(first, second))
    whole = replace(whole, main=whole.main.rstrip("\r\n") + line_end(first))
    if len(whole.reading.verbatim) == len(spans):
        whole = with_word_spans(whole, spans)
    return put(transcript, number, [whole], count=2)


def insert_utterance(transcript: Transcript, number: int, speaker: str, text: str = "xxx .") -> Transcript:
    """Return the transcript with a new utterance before utterance ``number``, in the gap between its neighbors.

    Raises:
        EditError: The speaker is not in ``@Participants``.
    """
    if speaker not in transcript.participants:
        raise EditError(f"speaker {speaker!r} is not in @Participants; choose one of them")
    before = transcript.utterances[number - 1] if number else None
    behind = transcript.utterances[number] if number < len(transcript.utterances) else None
    beside = before or behind
    end = line_end(beside) if beside else "\n"
    span = _gap(before, behind)
    mark = f" {bullet(span)}" if span else ""
    new = Utterance(speaker, f"*{speaker}:\t{clean_text(text)}{mark}{end}")
    at = block_of(transcript, number - 1) + 1 if before else _first_place(transcript)
    if before and not (before.tiers[-1].raw if before.tiers else before.main).endswith(("\n", "\r")):
        raise EditError("the file ends without a line end; add one in a text editor first")
    return replace(transcript, blocks=[*transcript.blocks[:at], new, *transcript.blocks[at:]])


def delete_utterance(transcript: Transcript, number: int) -> Transcript:
    """Return the transcript without utterance ``number`` and its dependent tiers."""
    return put(transcript, _known(transcript, number), [])


def _known(transcript: Transcript, number: int) -> int:
    block_of(transcript, number)
    return number


def _first_place(transcript: Transcript) -> int:
    """Return where the first utterance stands: above ``@End``."""
    blocks = transcript.blocks
    ends = (at for at, block in enumerate(blocks) if isinstance(block, Utterance) or block.name == "@End")
    return next(ends, len(blocks))


def _gap(before: Utterance | None, behind: Utterance | None) -> TimeSpan | None:
    start = before.span.end_ms if before and before.span else 0
    if before and not before.span:
        return None
    end = behind.span.start_ms if behind and behind.span else start + _NEW_MS
    return TimeSpan(start, end) if end > start else None


def _before_groups(text: str, offset: int) -> int:
    """Return the place before the opening ``<`` signs that stand directly before ``offset``."""
    while text[:offset].endswith("<"):
        offset -= 1
    return offset


def _cut_span(span: TimeSpan, words: WordSpans, count: int, total: int) -> tuple[TimeSpan, TimeSpan]:
    """Return the times of two parts: cut where the next word begins, else in proportion to the words."""
    next_span = words[count] if count < len(words) else None
    cut_ms = next_span.start_ms if next_span else span.start_ms + round(span.duration_ms * count / max(total, 1))
    cut_ms = min(max(cut_ms, span.start_ms + 1), span.end_ms - 1)
    return TimeSpan(span.start_ms, cut_ms), TimeSpan(cut_ms, span.end_ms)


def _without_terminator(text: str) -> tuple[str, str]:
    """Return the text before the last terminator, and what follows that."""
    ends: list[Token] = [token for token in scan(text) if token.kind == "terminator"]
    if not ends:
        return text, ""
    last = ends[-1]
    return text[: last.offset].rstrip(), text[last.offset + len(last.text) :].strip()


def _joined_tiers(first: Utterance, second: Utterance) -> tuple[Line, ...]:
    end = line_end(first)
    reviewed = first.reviewed and second.reviewed
    tiers = [tier for tier in first.tiers_but("%wor") if reviewed or tier.name != REVIEWED_TIER]
    for tier in second.tiers_but("%wor", REVIEWED_TIER):
        same = next((at for at, own in enumerate(tiers) if own.name == tier.name and tier.name), None)
        if same is None:
            tiers.append(tier)
        else:
            tiers[same] = Line(f"{tiers[same].raw.rstrip()} {tier.value}{end}", 0)
    return tuple(tier if tier.raw.endswith(("\n", "\r")) else Line(tier.raw + end, 0) for tier in tiers)


def take_utterance(transcript: Transcript, number: int, other: Utterance) -> Transcript:
    """Return the transcript with text and speaker of ``other`` in utterance ``number``; its time stays.

    A speaker who is not in ``@Participants`` is not taken.
    """
    result = set_text(transcript, number, other.text)
    return set_speaker(result, number, other.speaker) if other.speaker in transcript.participants else result


def insert_copy(transcript: Transcript, number: int, other: Utterance) -> Transcript:
    """Return the transcript with a copy of ``other``, with its time, before utterance ``number``.

    Raises:
        EditError: Its speaker is not in ``@Participants``.
    """
    result = insert_utterance(transcript, number, other.speaker, other.text)
    return set_span(result, number, other.span.start_ms, other.span.end_ms) if other.span else result
