"""A source as a CHAT transcript: texts to main tiers, speakers to participants, times as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lsa_whisper import chat
from lsa_whisper.chat import Line, Participant, Transcript, Utterance, utterance
from lsa_whisper.chat.headers import participants
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.notation import looks_like_chat, plain_to_chat, with_terminator
from lsa_whisper.formats.reading.salt_text import salt_to_chat
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.speakers import participants_of
from lsa_whisper.languages import chat_code

_SENTENCE_END = re.compile(r"[.?!…]+[\"”’)\]]*$")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\x15]+")

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
    made = []
    for each in source.spoken:
        code = people[each.speaker].code
        if chosen == "plain":
            made += [
                _plain(part, code, conventions, language=language, infer_marks=infer_marks) for part in _sentences(each)
            ]
        else:
            made.append(_written(each, code, salt=chosen == "salt"))
    return compose_source([each for each in made if each], source, list(people.values()), language)


def _written(each: SpokenText, code: str, *, salt: bool) -> Utterance | None:
    """Return the utterance of a text that is CHAT, or of SALT's notation."""
    text, tiers = " ".join(_CONTROLS.sub(" ", each.text).split()), each.tiers
    if salt:
        text, comments = salt_to_chat(text)
        tiers = (*tiers, *(("%com", comment) for comment in comments))
    return _utterance(replace(each, tiers=tiers), code, with_terminator(text)) if text else None


def _plain(
    each: SpokenText, code: str, conventions: Conventions, *, language: str, infer_marks: bool
) -> Utterance | None:
    text = _CONTROLS.sub(" ", each.text)
    tier, comments = plain_to_chat(text, conventions, language=language, infer_marks=infer_marks)
    if not tier:
        return None
    return _utterance(replace(each, tiers=(*each.tiers, *(("%com", one) for one in comments))), code, tier)


def _utterance(each: SpokenText, code: str, text: str) -> Utterance:
    words = [(bare, at) for word, at in each.words if (bare := _bare_word(word))]
    made = utterance(code, text, each.span, words)
    values: dict[str, list[str]] = {}
    for name, value in each.tiers:
        if value.strip():
            values.setdefault(name, []).append(" ".join(_CONTROLS.sub(" ", value).split()))
    tiers = tuple(Line(f"{name}:\t{'; '.join(joined)}\n", 0) for name, joined in values.items())
    return replace(made, tiers=(*made.tiers, *tiers))


def _bare_word(word: str) -> str:
    return re.sub(r"[\s\x15]+", "_", word.strip().strip('.,?!;:"“”()[]')) if re.search(r"\w", word) else ""


def _sentences(each: SpokenText) -> list[SpokenText]:
    """Return the sentences of a text whose words have times, each with its own; any other text stays one."""
    if not each.words or len(each.text.split()) != len(each.words):
        return [each]
    parts, start = [], 0
    for at, (word, _) in enumerate(each.words):
        if at + 1 == len(each.words) or _SENTENCE_END.search(word):
            words = each.words[start : at + 1]
            timed = [at for _, at in words if at]
            span = timed[0] | timed[-1] if timed else None
            parts.append(replace(each, text=" ".join(word for word, _ in words), span=span, words=words))
            start = at + 1
    return parts


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
        lines = [" ".join(_CONTROLS.sub("\t", line).split(" ")) for line in source.headers if line.startswith("@")]
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
