"""A source as a CHAT transcript: texts to main tiers, speakers to participants, times as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lsa_whisper import chat
from lsa_whisper.chat import Line, Participant, Transcript, Utterance
from lsa_whisper.chat.model import participants
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.notation import looks_like_chat, with_terminator
from lsa_whisper.formats.reading.plain_utterances import PlainReader
from lsa_whisper.formats.reading.salt_text import salt_to_chat
from lsa_whisper.formats.reading.source import CHAT_CONTROLS, CONTROLS, Source, SpokenText, spoken_utterance
from lsa_whisper.formats.reading.speakers import participants_of
from lsa_whisper.languages import chat_code

_BEFORE_BEGIN = ("@PID", "@Font", "@Window", "@ColorWords")


def to_transcript(
    source: Source,
    *,
    language: str = "eng",
    speaker: str = "PAR",
    notation: str = "auto",
    conventions: Conventions | None = None,
    infer_marks: bool = True,
) -> Transcript:
    """Return ``source`` as a transcript; its utterances are in order of time, their times unchanged.

    Args:
        source: What a reader found.
        language: ISO 639-3 code, where the source names no language.
        speaker: Code of a speaker without a name.
        notation: Notation of the texts, where the source leaves it open.
        conventions: What the laboratory's marks mean.
        infer_marks: Whether fillers, cut-off words and repetitions in plain text are marked.
    """
    conventions = conventions or Conventions()
    language = chat_code(source.language) if source.language else language
    chosen = source.notation if source.notation != "auto" else notation
    if chosen == "auto":
        chosen = "chat" if looks_like_chat(each.text for each in source.spoken) else "plain"
    listed = participants([Line(f"{line}\n", 0) for line in source.headers])
    people = listed | participants_of(
        (each.speaker for each in source.spoken if each.speaker not in listed),
        roles=source.roles,
        known=conventions.speakers,
        language=language,
        speaker=speaker,
    )
    people = {name: replace(each, **source.people.get(name, {})) for name, each in people.items()}
    made: list[Utterance] = []
    plain = PlainReader(source, conventions, language, infer_marks) if chosen == "plain" else None
    for each in source.spoken:
        code = people[each.speaker].code
        if plain:
            made += plain.utterances(each, code)
        elif written := _written(each, code, salt=chosen == "salt"):
            made.append(written)
    if plain:
        plain.add_notes()
    return compose_source(made, source, list(people.values()), language)


def _written(each: SpokenText, code: str, *, salt: bool) -> Utterance | None:
    """Return the utterance of a text that is CHAT, or of SALT's notation."""
    text, tiers = " ".join(CHAT_CONTROLS.sub(" ", each.text).split()), each.tiers
    if salt:
        text, comments = salt_to_chat(text)
        tiers = (*tiers, *(("%com", comment) for comment in comments))
    return spoken_utterance(replace(each, tiers=tiers), code, with_terminator(text)) if text else None


def compose_source(
    utterances: Sequence[Utterance], source: Source, people: Sequence[Participant], language: str
) -> Transcript:
    """Return a transcript of ``utterances``, with the source's own headers where it has some."""
    headers = _headers(source, people, language, timed=any(each.span for each in utterances))
    body = "".join(each.main + "".join(tier.raw for tier in each.tiers) for each in _in_order(utterances))
    first = [line for line in headers if line.split(":")[0] in _BEFORE_BEGIN]
    lines = ["@UTF8", *first, "@Begin", *(line for line in headers if line not in first)]
    return chat.parse("".join(f"{line}\n" for line in lines) + body + "@End\n")


def _headers(source: Source, people: Sequence[Participant], language: str, *, timed: bool) -> list[str]:
    if source.headers:
        lines = [" ".join(CONTROLS.sub("\t", line).split(" ")) for line in source.headers if line.startswith("@")]
        return [line for line in lines if line.split(":")[0] not in ("@UTF8", "@Begin", "@End")]
    composed = chat.compose(languages=[language], participants=people, utterances=[], comments=source.comments)
    lines = [line.raw.rstrip("\n") for line in composed.headers if line.name not in ("@UTF8", "@Begin", "@End")]
    name = source.media or source.name
    if name:
        at = next((at for at, line in enumerate(lines) if line.startswith("@Comment")), len(lines))
        lines.insert(at, f"@Media:\t{name}, {source.media_kind}{'' if timed else ', unlinked'}")
    return lines


def _in_order(utterances: Iterable[Utterance]) -> list[Utterance]:
    """Return the utterances in order of time; one without times stays behind the one before it."""
    starts: list[int] = []
    spoken = list(utterances)
    for each in spoken:
        starts.append(each.span.start_ms if each.span else starts[-1] if starts else 0)
    return [spoken[at] for at in sorted(range(len(spoken)), key=starts.__getitem__)]
