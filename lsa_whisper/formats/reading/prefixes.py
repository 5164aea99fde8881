"""Speakers before a colon, ``NAME: text``, and what else stands there within speech: *Note: ...*, *He said: ...*."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.cues import with_speakers_above
from lsa_whisper.formats.reading.source import SpokenText
from lsa_whisper.formats.reading.speakers import ROLE_WORDS

_PREFIX = re.compile(
    r"(?s)\s*[*\[]?([^\W_][\w .'-]{0,30}?(?:, [A-ZÀ-Þ][\w .'-]*?)?)\]?(?: (\([^()\n]{1,30}\)))?\s*(?::(?!\S)|：)\s*(.*)"
)
_NO_NAME_LIST = """
    note question answer example warning yes no non oui nein ja si sí sì sim não nie tak да нет ναι so well and but
    because first second third finally also however therefore plus okay ok then one two three remember look listen
    beispiel frage antwort also erstens zweitens donc alors exemple ejemplo pregunta respuesta primero bueno
"""
NO_NAMES = frozenset(_NO_NAME_LIST.split())
"""What stands before a colon within speech; a name that a file has more than once may be one of these."""
_PRONOUN_LIST = """
    i you he she it we they this that there ich du er sie es wir ihr man je tu il elle on nous vous ils elles yo él ella
    nosotros ellos ellas
"""
_PRONOUNS = frozenset(_PRONOUN_LIST.split())
_ROLES = frozenset(["speaker", "person", "participant", "student", "child", "man", "woman", "boy", "girl", "the"])
"""The first words of names of two that are not capital: *speaker one*."""
_PARTICLES = frozenset(["de", "del", "der", "den", "di", "da", "la", "le", "van", "von", "zu", "bin", "al", "y", "e"])
"""Words of names that are not capital."""
_MAX_NAMED = 5


def has_speaker_prefixes(texts: Sequence[str], conventions: Conventions) -> bool:
    """Return whether ``texts`` begin with speakers: most of them do, or the conventions name those that do.

    Where turns have several lines, few do: then the first does, and there are two speakers, of whom one has more turns.

    >>> has_speaker_prefixes(["A: hi", "B: hello there", "A: bye"], Conventions())
    True
    >>> has_speaker_prefixes(["he did this: he ran", "and then", "home"], Conventions())
    False
    >>> has_speaker_prefixes(["He said: go home."], Conventions()), has_speaker_prefixes(["Ann: go."], Conventions())
    (False, True)
    """
    names = [name for name in _names(texts) if not _is_clause(name)]
    if any(name in conventions.speakers for name in names):
        return True
    most, again = 2 * len(names) > len(texts), len(names) > len(set(names))
    is_dialog = again and len(set(names)) > 1 and 6 * len(names) > len(texts) and bool(_PREFIX.fullmatch(texts[0]))
    short = all(name.count(" ") < 2 and _looks_like_name(name) for name in names)
    return (most and again) or ((most or is_dialog) and short)


def speakers_before(texts: Iterable[str], conventions: Conventions, notes: list[str]) -> frozenset[str]:
    """Return the speakers before the colons in ``texts``, which begin with speakers.

    What stands there once only, and does not look like a name, is speech, and ``notes`` name it.

    >>> texts = ["Ann: Two.", "Note: twins.", "One thing: they fight.", "Bob: Oh.", "Ann's iPad: Yes.", "Ann: A."]
    >>> sorted(speakers_before(texts, Conventions(), notes := [])), notes
    (['Ann', "Ann's iPad", 'Bob'], ['words before a colon that are not taken for a speaker: 2 (Note, One thing)'])
    """
    counts = Counter(_names(texts))
    speech = [name for name, count in counts.items() if name not in conventions.speakers and _is_speech(name, count)]
    if speech:
        more = ", ..." if len(speech) > _MAX_NAMED else ""
        named = ", ".join(speech[:_MAX_NAMED])
        notes.append(f"words before a colon that are not taken for a speaker: {len(speech)} ({named}{more})")
    return frozenset(counts) - frozenset(speech)


def split_speaker(text: str, speakers: Set[str] | None = None) -> tuple[str, str]:
    """Return the speaker (empty without one) and the text behind it, with what stands in brackets before the colon.

    With ``speakers``, any other words before a colon belong to the text.

    >>> split_speaker("SPEAKER_00: hello"), split_speaker("hello"), split_speaker("Ann (laughs): Hi.")
    (('SPEAKER_00', 'hello'), ('', 'hello'), ('Ann', '(laughs) Hi.'))
    >>> split_speaker("Note: no.", {"Ann"})
    ('', 'Note: no.')
    """
    match = _PREFIX.fullmatch(text) if speakers is None or speakers else None
    if match is None or (speakers is not None and match[1].strip() not in speakers):
        return "", text.strip()
    return match[1].strip(), f"{match[2] or ''} {match[3]}".strip()


def with_prefixes(spoken: list[SpokenText], conventions: Conventions, notes: list[str]) -> list[SpokenText]:
    """Return turns whose texts begin with their speakers, if they do, with the speakers apart."""
    texts = [turn.text for turn in spoken]
    if not has_speaker_prefixes(texts, conventions):
        return spoken
    speakers = speakers_before(texts, conventions, notes)
    pairs = ((split_speaker(turn.text, speakers), turn) for turn in spoken)
    return with_speakers_above([replace(turn, speaker=name, text=text) for (name, text), turn in pairs], notes)


def _names(texts: Iterable[str]) -> list[str]:
    prefixes = (_PREFIX.fullmatch(text) for text in texts if ":" in text or "：" in text)
    return [match[1].strip() for match in prefixes if match]


def _is_speech(name: str, count: int) -> bool:
    return _is_clause(name) or (count == 1 and not _looks_like_name(name))


def _is_clause(name: str) -> bool:
    """Return whether ``name`` is the beginning of a sentence: *He said*."""
    first, *more = name.split()
    return bool(more) and first.casefold() in _PRONOUNS and more[0][0].islower()


def _looks_like_name(name: str) -> bool:
    """Return whether ``name``, which stands before a colon once only, is a speaker's: not *He said* or *Note*."""
    first, *more = words = name.split()
    if name.casefold() in NO_NAMES:
        return False
    if not more:
        return first.isascii() or first[0].isupper()
    if (len(more) == 1 and first.casefold() in _ROLES) or not ROLE_WORDS.isdisjoint(name.casefold().split()[1:]):
        return True
    return all(any(map(str.isupper, word)) or word[0].isdigit() or word in _PARTICLES for word in words)
