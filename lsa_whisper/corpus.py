"""A folder of CHAT transcripts and recordings -> sessions; corpus cards; who is who.

A transcript's recording is looked for under the name in ``@Media``, then under the transcript's own name, without
regard to case, Unicode form or file ending: first beside the transcript, then at the same place below the media root,
then anywhere below either root if only one folder has it. Names are only ever looked up among the files found there,
so that no ``@Media`` line can reach outside.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper import chat, plain_yaml
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.chat import Participant, Transcript
from lsa_whisper.errors import AudioError, ChatSyntaxError, CorpusError
from lsa_whisper.manifest import SPLITS

CARD_NAME = "card.yaml"

_AGE_NAME = re.compile(r"\d{5,6}[a-z]?")  # CHILDES names a session by the child's age: 020304 is 2;03.04
_VISIT = re.compile(r"(?<=\d)[a-z]$")  # AphasiaBank's adler01a and adler01b are two visits of one person
_ROLE_WORDS = """
adult boy brother caller caretaker child clinician conversationalpartner doctor environment examiner experimenter
father female friend girl grandfather grandmother informant interviewer investigator justice leader male man media
member mother narrator nurse observer other parent participant partner patient player playmate sibling sister
speaker student subject targetadult targetchild teacher teenager therapist unidentified visitor woman uncertain
"""
_GENERIC_NAMES = frozenset(_ROLE_WORDS.split())


@dataclass(frozen=True)
class Card:
    """What is known about a corpus: facts, never its data.

    Attributes:
        name: The corpus name that rows and speaker ids carry.
        splits: Speaker ids (or participants' names) by ``train``, ``dev`` and ``test``.
        facts: Everything else the card says: link, licence, how to get it.
    """

    name: str
    language: str = ""
    link: str = ""
    licence: str = ""
    roles: Any = None
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def split_of(self) -> Mapping[str, str]:
        """The split of each listed id: a card may list thousands, and every speaker is looked for among them."""
        return {one: split for split, ids in self.splits.items() for one in ids}


@dataclass(frozen=True)
class Session:
    """One transcript and its recording.

    Attributes:
        name: Path of the transcript below the corpus folder, without its ending.
        corpus: Name of the corpus.
        path: The transcript.
        recording: Its audio.
        speakers: Speaker id by code of those who speak; the part before the last ``-`` is the person.
        split: The split the card fixes, or ``None``.
        language: The first language of the transcript (ISO 639-3).
    """

    name: str
    corpus: str
    path: Path
    recording: Recording
    speakers: Mapping[str, str]
    split: str | None = None
    language: str = "eng"

    @property
    def transcript(self) -> Transcript:
        """The transcript, read again at each use: thousands of sessions must not all stay in memory."""
        return chat.read(self.path)


@dataclass(frozen=True)
class Unpaired:
    """A transcript without a usable recording, or a recording without a transcript, and why."""

    path: Path
    reason: str


def read_card(path: Path | str) -> Card:
    """Return the corpus card at ``path``.

    Raises:
        CorpusError: It is no YAML mapping, has no name, or its splits are not disjoint lists of speakers.
    """
    path = Path(path)
    try:
        found = plain_yaml.load(plain_yaml.read(path))
    except (OSError, yaml.YAMLError) as error:
        problem = getattr(error, "problem", None) or getattr(error, "strerror", None) or str(error)
        raise CorpusError(f"{path}: cannot read this corpus card ({problem})") from error
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise CorpusError(f"{path}: a corpus card is a YAML mapping with at least 'name: ...'")
    known = ("name", "language", "link", "licence", "roles", "splits")
    for key in set(found) - set(known):
        if meant := get_close_matches(str(key), known, 1, 0.8):
            raise CorpusError(f"{path}: unknown entry {key!r}; did you mean {meant[0]!r}?")
    facts = {str(key): value for key, value in found.items() if key not in known}
    texts = {key: str(found[key] or "") for key in ("language", "link", "licence") if key in found}
    return Card(found["name"], **texts, roles=found.get("roles"), splits=_splits(found, path), facts=facts)


def _splits(found: dict[str, Any], path: Path) -> dict[str, tuple[str, ...]]:
    splits = found.get("splits") or {}
    if not isinstance(splits, dict) or not set(splits) <= set(SPLITS):
        raise CorpusError(f"{path}: 'splits' must map {', '.join(SPLITS)} to lists of speaker ids")
    if not all(isinstance(ids, list | None) for ids in splits.values()):
        raise CorpusError(f"{path}: each of 'splits' must be a list of speaker ids")
    lists = {split: tuple(str(one) for one in ids or ()) for split, ids in splits.items()}
    everyone = [one for ids in lists.values() for one in ids]
    twice = sorted(one for one, count in Counter(everyone).items() if count > 1)
    if twice:
        raise CorpusError(f"{path}: {', '.join(twice)} stands in 'splits' more than once; keep each speaker in one")
    return lists


def discover(
    folder: Path | str, *, media: Path | str | None = None, card: Path | str | None = None
) -> tuple[list[Session], list[Unpaired]]:
    """Return the sessions in ``folder``, ordered by name, and everything that found no partner.

    Args:
        folder: A corpus at any depth, or one ``.cha`` file.
        media: Another root where recordings lie.
        card: A corpus card; otherwise ``card.yaml`` in ``folder`` where there is one.

    Raises:
        CorpusError: There is no such folder, it holds no transcript, or the card is wrong.
    """
    folder, media = Path(folder), Path(media) if media is not None else None
    if not folder.exists():
        raise CorpusError(f"{folder}: no such corpus folder; check the path")
    if media is not None and not media.is_dir():
        raise CorpusError(f"{media}: no such media folder; check the path")
    root = folder.parent if folder.is_file() else folder
    files = sorted(_walk(folder)) if folder.is_dir() else [folder]
    transcripts = [path for path in files if path.suffix.lower() == ".cha"]
    if not transcripts:
        raise CorpusError(f"{folder}: holds no CHAT transcript (*.cha); name a folder of transcripts")
    facts = _card(root, card)
    candidates = files if folder.is_dir() else [path for path in root.iterdir() if path.is_file()]
    shelf = _Shelf([*candidates, *(_walk(media) if media else ())])
    sessions, unpaired = [], []
    for path in transcripts:
        try:
            sessions.append(_session(path, root, media, facts, shelf))
        except (AudioError, ChatSyntaxError) as error:
            unpaired.append(Unpaired(path, str(error)))
    if folder.is_dir():
        unpaired += [Unpaired(path, "no transcript goes with this recording") for path in shelf.unused()]
    return sessions, unpaired


def _card(root: Path, card: Path | str | None) -> Card:
    if card is not None:
        return read_card(card)
    beside = root / CARD_NAME
    return read_card(beside) if beside.is_file() else Card(root.resolve().name or "corpus")


def _walk(root: Path) -> Iterator[Path]:
    """Yield the files below ``root``, through links too, each folder once (links may run in circles)."""
    seen: set[str] = set()
    for place, folders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in files if not name.startswith("."))


def _fold(name: str) -> str:
    """Return ``name`` as it is compared: without folders, audio ending, case and Unicode form."""
    name = re.split(r"[\\/]", name)[-1]
    stem, dot, suffix = name.rpartition(".")
    if dot and "." + suffix.lower() in AUDIO_SUFFIXES:
        name = stem
    return unicodedata.normalize("NFC", name).casefold()


class _Shelf:
    """The recordings found, by folded name; remembers which ones were taken."""

    def __init__(self, paths: Iterable[Path]):
        self._by_name: dict[str, list[Path]] = {}
        self._taken: set[str] = set()
        for path in dict.fromkeys(path.absolute() for path in paths if path.suffix.lower() in AUDIO_SUFFIXES):
            self._by_name.setdefault(_fold(path.name), []).append(path)
        for paths_of_name in self._by_name.values():
            paths_of_name.sort(key=lambda path: (AUDIO_SUFFIXES.index(path.suffix.lower()), str(path)))

    def take(self, name: str, places: Iterable[Path]) -> list[Path]:
        """Return the recordings called ``name``, best first; empty without any.

        Raises:
            AudioError: Several folders have one and none of them is in ``places``.
        """
        found = self._by_name.get(_fold(name), [])
        here = next((hits for place in places if (hits := [path for path in found if path.parent == place])), found)
        if len({path.parent for path in here}) > 1:
            listed = ", ".join(str(path) for path in here[:3])
            raise AudioError(f"several recordings are called {name!r} ({listed}); put the right one beside it")
        self._taken.update(str(path) for path in found if path.parent in {hit.parent for hit in here})
        return here

    def unused(self) -> list[Path]:
        """Return the recordings that no transcript took, in order."""
        return sorted(path for paths in self._by_name.values() for path in paths if str(path) not in self._taken)


def _session(path: Path, root: Path, media: Path | None, card: Card, shelf: _Shelf) -> Session:
    transcript = chat.read(path)
    if not transcript.utterances:
        raise ChatSyntaxError("holds no utterance", path=str(path))
    within = path.parent.relative_to(root)
    places = [path.parent.absolute(), *([(media / within).absolute()] if media else [])]
    names = [name for name in (transcript.media, path.stem) if name]
    paths = next((hits for name in names if (hits := shelf.take(name, places))), [])
    if not paths:
        raise AudioError(_why_no_recording(transcript, names, media))
    name = (within / path.stem).as_posix()
    people, heard = transcript.participants, dict.fromkeys(one.speaker for one in transcript.utterances)
    speakers = {code: _speaker_id(people.get(code, Participant(code, "")), name, card) for code in heard}
    language = next(iter(transcript.languages), card.language or "eng")
    split = _fixed_split(path, speakers, people, card)
    return Session(name, card.name, path, _first_readable(paths), speakers, split, language)


def _first_readable(paths: list[Path]) -> Recording:
    """Return the first recording that opens: a damaged ``a.wav`` may stand beside a whole ``a.mp3``."""
    for path in paths[:-1]:
        try:
            return Recording.open(path)
        except AudioError:
            continue
    return Recording.open(paths[-1])


def _why_no_recording(transcript: Transcript, names: list[str], media: Path | None) -> str:
    header = transcript.header("@Media") or ""
    said = next((f", and @Media says {word!r}" for word in ("missing", "unlinked") if word in header), "")
    where = "beside the transcript" + (f" or in {media}" if media else "; name the media folder if it is elsewhere")
    called = " or ".join(repr(name) for name in dict.fromkeys(names))
    return f"no recording called {called} {where}{said}"


def _speaker_id(person: Participant, session: str, card: Card) -> str:
    """Return ``<corpus>/<person>-<CODE>``; the person by custom id, else by proper name, else by session.

    A name such as ``Mother`` names nobody, so the session stands in for it: two visits (``adler01a``, ``adler01b``) or
    all ages of a child (``Adam/020304``) count as one person, because it is better to merge two than to leak one.
    """
    plain = re.sub(r"[\W\d_]+", "", person.name).casefold()
    named = person.name in card.split_of or (plain and plain not in _GENERIC_NAMES and plain != person.code.casefold())
    folder, _, stem = session.rpartition("/")
    by_session = (folder or card.name) if _AGE_NAME.fullmatch(stem) else _VISIT.sub("", session)
    who = person.custom or (person.name if named else by_session)
    return f"{card.name}/{who}-{person.code}"


def _fixed_split(path: Path, speakers: Mapping[str, str], people: Mapping[str, Participant], card: Card) -> str | None:
    """Return the split the card lists these speakers under, by full id, id without corpus, person, or name."""
    found = {}
    for code, full in speakers.items():
        bare = full.removeprefix(f"{card.name}/")
        aliases = {full, bare, bare.rpartition("-")[0], full.rpartition("-")[0]}
        aliases |= {people[code].name, people[code].custom} - {""} if code in people else set()
        found.update({card.split_of[alias]: code for alias in aliases if alias in card.split_of})
    if len(found) > 1:
        where = ", ".join(f"{found[split]} in {split}" for split in SPLITS if split in found)
        raise CorpusError(f"{path}: the card puts speakers of this session in different splits ({where})")
    return next(iter(found), None)
