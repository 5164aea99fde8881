"""A source as a CHAT transcript: texts to main tiers, speakers to participants, times as they are.

Plain text becomes an utterance for each sentence, each with its share of the times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Line, Participant, Transcript, Utterance
from lsa_whisper.chat.codes import TONE_LANGUAGES
from lsa_whisper.chat.model import participants
from lsa_whisper.chat.serialize import in_order
from lsa_whisper.formats.reading.brackets import with_overlaps
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.names import names_in
from lsa_whisper.formats.reading.notation import (
    PlainText,
    all_plain_to_chat,
    looks_like_chat,
    with_terminator,
    without_end,
)
from lsa_whisper.formats.reading.salt_text import salt_to_chat, with_overlap_codes
from lsa_whisper.formats.reading.source import CHAT_CONTROLS, CONTROLS, Source, SpokenText, spoken_utterance
from lsa_whisper.formats.reading.speakers import participants_of
from lsa_whisper.labels import letters_of
from lsa_whisper.labels.characters import ordinary_characters
from lsa_whisper.labels.numbers import can_spell_numbers
from lsa_whisper.labels.segments import groups_of_segments, joined, part_spans, runs_between_pauses, sentences_of
from lsa_whisper.languages import chat_code
from lsa_whisper.timespan import TimeSpan

_NO_WORDS = ("0.", "0 .")
"""CHAT's sign for an utterance without words, as transcribers of daylong recordings write it."""
_AT_ONCE, _MAX_KNOWN = 1 << 12, 1 << 16
"""Texts that are read together, and kept: many take less time, and more memory."""


class PlainReader:
    """Makes utterances of the plain texts of one source, and counts what a note must say."""

    def __init__(self, source: Source, conventions: Conventions, language: str, infer_marks: bool):
        """Read the names in the texts of ``source``; ``language`` is an ISO 639-3 code."""
        self._source = source
        self._read = partial(
            all_plain_to_chat,
            conventions=with_overlaps(conventions, (turn.text for turn in source.spoken)),
            language=language,
            infer_marks=infer_marks,
            names=names_in((turn.text for turn in source.spoken), language),
        )
        self._cache: dict[str, PlainText] = {}  # "yes" and "mhm" are half of many conversations
        self._language = language
        self._tags: Counter[str] = Counter()
        self._shared = 0

    def utterances(self, spoken: Sequence[SpokenText], people: Mapping[str, Participant]) -> Iterator[Utterance]:
        """Yield the utterances of the texts in ``spoken``, by ``people``."""
        for at in range(0, len(spoken), _AT_ONCE):
            parts = [part for turn in spoken[at : at + _AT_ONCE] for part in _timed_sentences(turn, self._language)]
            texts = [part.text if part.text.isprintable() else CONTROLS.sub(" ", part.text) for part in parts]
            new = [text for text in dict.fromkeys(texts) if text not in self._cache]
            self._cache |= zip(new, self._read(new), strict=True)
            for part, text in zip(parts, texts, strict=True):
                yield from self._utterances_of(part, self._cache[text], people[part.speaker].code)
            if len(self._cache) > _MAX_KNOWN:
                self._cache.clear()

    def _utterances_of(self, part: SpokenText, plain: PlainText, code: str) -> Iterator[Utterance]:
        if part.text.strip() in _NO_WORDS and not self._source.has_segments:  # a recognizer means the number
            yield spoken_utterance(part, code, "0 .")
            return
        if len(plain.tiers) == 1 and not plain.comments and not plain.remarks[0]:
            yield spoken_utterance(part, code, plain.tiers[0])
            return
        self._tags.update(plain.tags)
        tiers = plain.tiers or (("0 .",) if plain.comments or part.tiers else ())
        first = (*part.tiers, *(("%com", comment) for comment in plain.comments))
        for number, (tier, share, remarks) in enumerate(self._shares(part, tiers, plain.remarks or ((),))):
            own = (*(first if number == 0 else ()), *(("%com", remark) for remark in remarks))
            yield spoken_utterance(share if share.tiers == own else replace(share, tiers=own), code, tier)

    def _shares(
        self, part: SpokenText, tiers: Sequence[str], remarks: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[str, SpokenText, tuple[str, ...]]]:
        """Yield each tier with its part of the times, words and remarks; several of one text share times by length."""
        if len(tiers) < 2:
            yield from zip(tiers, [part] * len(tiers), remarks, strict=False)
            return
        sentences = [_words(tier) for tier in tiers]
        if (part.words and sum(map(len, sentences)) != len(part.words)) or not self._source.shares_times:
            yield " ".join([*(without_end(tier) for tier in tiers[:-1]), tiers[-1]]), part, sum(remarks, ())
            return
        self._shared += part.span is not None
        spans = _spans(part, [max(1, sum(map(len, words))) for words in sentences])
        at = 0
        for tier, words, span, own in zip(tiers, sentences, spans, remarks, strict=True):
            times = part.words[at : at + len(words)] if part.words else ()
            yield tier, replace(part, span=span, words=times), own
            at += len(words)

    def add_notes(self) -> None:
        """Note unknown tags, and sentences whose times are estimated."""
        if self._tags:
            tags = ", ".join(f"{tag} ({count})" for tag, count in self._tags.most_common(10))
            more = f" and {len(self._tags) - 10} others" if len(self._tags) > 10 else ""
            self._source.notes.append(f"tags that are not known stand in comments: {tags}{more}")
        if self._shared:
            self._source.notes.append(
                f"texts of several sentences: {self._shared}; each sentence has a share of the time by its length, "
                "which `align` corrects"
            )


@lru_cache(maxsize=1 << 15)
def _words(tier: str) -> tuple[str, ...]:
    return tuple(chat.utterance("", tier).verbatim())


def _spans(part: SpokenText, lengths: Sequence[int]) -> list[TimeSpan | None]:
    """Return the times of the sentences of a text by their lengths in letters."""
    if part.span is None:
        return [None] * len(lengths)
    return list(part_spans(lengths, part.parts or [(sum(lengths), part.span)]))


def _timed_sentences(turn: SpokenText, language: str) -> list[SpokenText]:
    """Return the sentences of a text whose words have times, each with its own; any other text stays one."""
    tokens = turn.text.split()  # with the marks that some recognizers list beside the words
    if not turn.words or len(tokens) != len(turn.words):
        return [turn]
    turn = replace(turn, words=tuple((word, at) for word, (_, at) in zip(tokens, turn.words, strict=True)))
    parts = []
    for run in runs_between_pauses(turn.words, language):
        for sentence in sentences_of([word for word, _ in turn.words[run.start : run.stop]], language):
            words = turn.words[run.start + sentence.start : run.start + sentence.stop]
            times = [at for _, at in words if at]
            if turn.span and words[0] == turn.words[0] and not words[0][1]:
                times.insert(0, TimeSpan(turn.span.start_ms, turn.span.start_ms))
            if turn.span and words[-1] is turn.words[-1] and not words[-1][1]:
                times.append(TimeSpan(turn.span.end_ms, turn.span.end_ms))
            span = times[0] | times[-1] if times else None
            parts.append(replace(turn, text=" ".join(word for word, _ in words), span=span, words=words))
    return parts


def joined_segments(source: Source, language: str) -> list[SpokenText]:
    """Return the texts of a source whose segments end anywhere, those that belong together as one, and note it.

    ``language`` is an ISO 639-3 code.
    """
    spoken = source.spoken
    texts, spans = [turn.text for turn in spoken], [turn.span for turn in spoken]
    turns = list(zip((turn.speaker for turn in spoken), accumulate(turn.opens for turn in spoken), strict=True))
    runs = groups_of_segments(texts, spans, turns, language)
    if len(runs) < len(spoken):
        source.notes.append(f"texts without a final mark, which go on in the next one: {len(spoken) - len(runs)}")
    return [_as_one(spoken[run.start : run.stop]) for run in runs]


def _as_one(parts: Sequence[SpokenText]) -> SpokenText:
    if len(parts) == 1:
        return parts[0]
    times = [part.span for part in parts if part.span]  # segments without times are never joined
    return replace(
        parts[0],
        text=joined([part.text for part in parts]),
        span=times[0] | times[-1],
        words=tuple(word for part in parts for word in part.words) if all(part.words for part in parts) else (),
        tiers=tuple(tier for part in parts for tier in part.tiers),
        parts=tuple((max(1, len(letters_of(part.text))), span) for part, span in zip(parts, times, strict=True)),
    )


_BEFORE_BEGIN = ("@PID", "@Font", "@Window", "@ColorWords")


@dataclass(frozen=True)
class ReadingOptions:
    """How texts that are not CHAT become CHAT.

    Attributes:
        language: ISO 639-3 code of files that name none.
        speaker: Code of a speaker without a name.
        notation: Notation of the texts: ``chat``, ``plain``, ``salt``, or ``auto`` to find out.
        conventions: The laboratory's own marks.
        infer_marks: Whether fillers, cut-off words and repetitions in plain text are marked.
        headers: A CHAT file, or a folder of them by the names of the recordings, whose headers are taken.
    """

    language: str = "eng"
    speaker: str = "PAR"
    notation: str = "auto"
    conventions: Conventions = field(default_factory=Conventions)
    infer_marks: bool = True
    headers: Path | None = None


def to_transcript(source: Source, options: ReadingOptions) -> Transcript:
    """Return ``source`` as a transcript; its utterances are in order of time, their times unchanged."""
    language = chat_code(source.language) if source.language else options.language
    notation = source.notation if source.notation != "auto" else options.notation
    if notation == "auto":
        notation = "chat" if looks_like_chat((turn.text for turn in source.spoken), language) else "plain"
    header_people = participants([Line(f"{line}\n", 0) for line in source.headers])
    people = header_people | participants_of(
        (turn.speaker for turn in source.spoken if turn.speaker not in header_people),
        roles=source.roles,
        codes=options.conventions.speakers,
        language=language,
        speaker=options.speaker,
    )
    people = {name: replace(person, **source.people.get(name, {})) for name, person in people.items()}
    unnamed = sum(not turn.speaker for turn in source.spoken)
    if 0 < 2 * unnamed < len(source.spoken):
        source.notes.append(f"texts whose speaker the file does not name, which {people[''].code} says: {unnamed}")
    if empty := sum(turn.span is not None and not turn.span.duration_ms for turn in source.spoken):
        source.notes.append(f"texts that end when they begin, which have no times: {empty}")
    if notation == "plain":
        source.spoken = list(map(_in_ordinary_characters, source.spoken))
        plain = PlainReader(source, options.conventions, language, options.infer_marks)
        spoken = joined_segments(source, language) if source.has_segments else source.spoken
        utterances = list(plain.utterances(spoken, people))
        plain.add_notes()
        if language not in TONE_LANGUAGES and not can_spell_numbers(language):
            digits = sum(any(map(str.isdigit, word)) for each in utterances for word in each.verbatim())
            if digits:
                source.notes.append(f"numbers in digits, which CHAT forbids, so write them in words: {digits}")
    else:
        drafts = (_written(turn, people[turn.speaker].code, source, salt=notation == "salt") for turn in source.spoken)
        utterances = [draft for draft in drafts if draft]
    if notation == "salt":
        mains = with_overlap_codes((utterance.speaker, utterance.main) for utterance in utterances)
        utterances = [replace(utterance, main=main) for utterance, main in zip(utterances, mains, strict=True)]
    return _composed(utterances, source, list(people.values()), language)


def _in_ordinary_characters(turn: SpokenText) -> SpokenText:
    text = ordinary_characters(turn.text)
    return turn if text == turn.text else replace(turn, text=text)


def _written(turn: SpokenText, code: str, source: Source, *, salt: bool) -> Utterance | None:
    """Return the utterance of a text that is CHAT, or of SALT's notation; conversation analysis needs no terminator."""
    text, tiers = " ".join(CHAT_CONTROLS.sub(" ", turn.text).split()), turn.tiers
    if salt:
        text, comments = salt_to_chat(text)
        tiers = (*tiers, *(("%com", comment) for comment in comments))
    conversation = any(re.match(r"@Options:.*\bCA\b", line) for line in source.headers)
    main = text if conversation else with_terminator(text)
    return spoken_utterance(replace(turn, tiers=tiers), code, main) if text else None


def _composed(utterances: list[Utterance], source: Source, people: Sequence[Participant], language: str) -> Transcript:
    """Return a transcript of ``utterances``, with the source's own headers where it has some."""
    headers = _headers(source, people, language, timed=any(utterance.span for utterance in utterances))
    first = [line for line in headers if line.split(":")[0] in _BEFORE_BEGIN]
    lines = ["@UTF8", *first, "@Begin", *(line for line in headers if line not in first)]
    blocks: list[Line | Utterance] = [Line(f"{line}\n", number) for number, line in enumerate(lines, start=1)]
    number = len(blocks) + 1
    for utterance in in_order(utterances):
        blocks.append(utterance.numbered(number))
        number += 1 + len(utterance.tiers)
    return Transcript([*blocks, Line("@End\n", number)])


def _headers(source: Source, people: Sequence[Participant], language: str, *, timed: bool) -> list[str]:
    if source.headers:
        values = (line.split("\t", 1) for line in source.headers if line.startswith("@"))
        lines = ["\t".join(CONTROLS.sub(" ", part) for part in line) for line in values]
        return [line for line in lines if line.split(":")[0] not in ("@UTF8", "@Begin", "@End")]
    transcript = chat.compose(languages=[language], participants=people, utterances=[], comments=source.comments)
    lines = [line.raw.rstrip("\n") for line in transcript.headers if line.name not in ("@UTF8", "@Begin", "@End")]
    name = source.media or source.name
    if name:
        at = next((at for at, line in enumerate(lines) if line.startswith("@Comment")), len(lines))
        name = f'"{name}"' if "," in name and '"' not in name else name  # kind and state stand behind commas
        lines.insert(at, f"@Media:\t{name}, {source.media_kind}{'' if timed else ', unlinked'}")
    return lines
