"""Speakers in brackets before the words of a cue, ``[MAN] Who is it?``, where sounds stand in brackets, too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Set

from lsa_whisper.formats.reading.names import PROPER_NAMES
from lsa_whisper.formats.reading.tags import chat_of

_LABEL = re.compile(
    r"^(\s*(?:(?:[-–—]|>{2,3})\s*)?)[\[(]([A-Za-z][\w .'#-]{0,30}?)\s*:?[\])]:?\s+(?=[^\s\[(])", re.MULTILINE
)
_ROLE = re.compile(
    r"(?:(?:young|old|older|little|male|female|the) )?"
    r"(?:(?:wo)?m[ae]n|boys?|girls?|(?:fe)?male|child(?:ren)?|kids?|baby|narrator|speaker|host|inter(?:viewer|viewee)|"
    r"reporter|announcer|teacher|students?|mother|father|mom|mum|dad|doctor|nurse|voice|both|all|together|participant|"
    r"examiner|investigator|clinician|therapist|patient|client|subject)(?: ?#?\d{1,2}| [a-z])?",
    re.IGNORECASE,
)
_SOUND = re.compile(r"(?:\w+ )*\w+(?:ing|ed|s|ter|music|noise|song|silence|applause)", re.IGNORECASE)
"""What descriptions of sounds end in; *James* and *Mr Jones* do, too, but are few."""
_SEVERAL = 2


def bracketed_speakers(texts: Iterable[str]) -> frozenset[str]:
    """Return what stands in brackets before words in ``texts`` and names who says them; nothing where one cue has it.

    >>> sorted(bracketed_speakers(["[MAN] Who is it?", "[WOMAN] Me.", "[laughs] No.", "[MUSIC] la", "[MUSIC] la"]))
    ['MAN', 'WOMAN']
    """
    found = Counter(match[2] for text in texts for match in _LABEL.finditer(text))
    speakers = {label for label, count in found.items() if _is_speaker(label, count)}
    return frozenset(speakers if sum(found[label] for label in speakers) >= _SEVERAL else ())


def _is_speaker(label: str, count: int) -> bool:
    if chat_of(label):
        return False
    if _ROLE.fullmatch(label) or label.title().split()[0] in PROPER_NAMES:
        return True
    return count >= _SEVERAL and label[0].isupper() and not _SOUND.fullmatch(label)


def with_colons(text: str, speakers: Set[str]) -> str:
    """Return the text of a cue with ``MAN: `` for ``[MAN] ``, for each of ``speakers``.

    >>> with_colons("- [MAN] Who is it? [laughs]", {"MAN"})
    '- MAN: Who is it? [laughs]'
    """
    return _LABEL.sub(lambda match: f"{match[1]}{match[2]}: " if match[2] in speakers else match[0], text)
