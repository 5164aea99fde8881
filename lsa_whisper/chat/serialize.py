"""``Transcript`` -> text and files; and new transcripts from utterances."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsa_whisper.chat.headers import Participant
from lsa_whisper.chat.lines import Line
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.model import Transcript
from lsa_whisper.chat.parse import parse


def serialize(transcript: Transcript) -> str:
    r"""Return the text of ``transcript``; for a parsed one, the very text it was parsed from.

    >>> text = "*PAR:\thello .\r\n no header"
    >>> serialize(parse(text)) == text
    True
    """
    parts: list[str] = []
    for block in transcript.blocks:
        if isinstance(block, Line):
            parts.append(block.raw)
        else:
            parts.append(block.main)
            parts.extend(tier.raw for tier in block.tiers)
    return "".join(parts)


def write(transcript: Transcript, path: str | Path) -> None:
    """Write ``transcript`` to ``path`` in its own encoding, all at once or not at all."""
    data = serialize(transcript).encode(transcript.encoding, "surrogatepass")
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def compose(
    *,
    languages: Sequence[str],
    participants: Sequence[Participant],
    utterances: Iterable[Utterance],
    media: str | None = None,
    media_kind: str = "audio",
    comments: Sequence[str] = (),
) -> Transcript:
    """Return a new transcript with the headers CHAT asks for.

    Args:
        languages: ISO 639-3 codes, the main language first.
        participants: everyone who may speak.
        utterances: in order of time.
        media: the name of the recording without its ending; it should equal the stem of the file that is written.
        media_kind: ``audio`` or ``video``.
        comments: one ``@Comment`` line each.
    """
    spoken = list(utterances)
    lines = ["@UTF8", "@Begin", f"@Languages:\t{', '.join(languages)}"]
    names = (" ".join(part for part in (p.code, p.name.replace(" ", "_"), p.role) if part) for p in participants)
    lines.append(f"@Participants:\t{', '.join(names)}")
    lines.extend(_identity(person) for person in participants)
    if media:
        unlinked = "" if any(utterance.span for utterance in spoken) else ", unlinked"
        lines.append(f"@Media:\t{media}, {media_kind}{unlinked}")
    lines.extend(f"@Comment:\t{' '.join(comment.split())}" for comment in comments)
    body = "".join(u.main + "".join(tier.raw for tier in u.tiers) for u in spoken)
    return parse("".join(f"{line}\n" for line in lines) + body + "@End\n")


def _identity(person: Participant) -> str:
    fields = (
        person.language,
        person.corpus,
        person.code,
        person.age,
        person.sex,
        person.group,
        person.ses,
        person.role,
        person.education,
        person.custom,
    )
    return f"@ID:\t{'|'.join(fields)}|"
