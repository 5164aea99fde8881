"""Pairing of hypothesis files with reference files, and their transcripts: CHAT, or the output of a recognizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.audio import AUDIO_SUFFIXES
from lsa_whisper.chat import Transcript
from lsa_whisper.errors import CorpusError, FormatError
from lsa_whisper.formats.reading import READABLE, FoundTranscript, ReadingOptions, is_readable, read_transcripts
from lsa_whisper.page.text import column_names, join_names
from lsa_whisper.system.files import list_files

_RARELY_PLAYABLE = {".aif", ".aiff", ".mov"}
"""Formats that few browsers play; another recording of the same name is preferred."""


@dataclass(frozen=True)
class PairedFiles:
    """The references by key (path below the reference folder, no suffix) and each system's files by the same keys.

    Paths are strings, because a :class:`Path` takes four times the memory.
    """

    references: dict[str, str]
    hypotheses: dict[str, dict[str, str]]
    unpaired: dict[str, list[Path]]
    """Per system, the files that match no reference."""


def pair_files(reference: Path, hypotheses: Sequence[Path], names: Sequence[str] = ()) -> PairedFiles:
    """Return the files of every system, paired with the references by their path, else by their stem.

    Two single files are paired regardless of their names.

    Raises:
        CorpusError: A path does not exist, has no transcript, shares no file name with the references, or the names do
            not fit the hypotheses.
    """
    if not hypotheses:
        raise CorpusError("evaluate needs at least one hypothesis: give a transcript or a folder of them")
    references = _transcript_files(reference, "reference")
    by_system: dict[str, dict[str, str]] = {}
    unpaired: dict[str, list[Path]] = {}
    for name, path in zip(column_names(hypotheses, names, noun="system", command="evaluate"), hypotheses, strict=True):
        files = _transcript_files(path, "hypothesis")
        if reference.is_file() and path.is_file() and len(files) == 1:
            by_system[name], unpaired[name] = {next(iter(references)): str(path)}, []
        else:
            by_system[name], unpaired[name] = _matched(references, files)
            if not by_system[name]:
                here, there = (join_names([Path(key).name for key in keys], limit=2) for keys in (references, files))
                raise CorpusError(
                    f"{path}: no file has the name of one in {reference} ({there}; the references are {here}); give "
                    "transcripts of the same recordings, or rename them"
                )
    return PairedFiles(references, by_system, unpaired)


def find_audio(folder: Path, keys: Iterable[str]) -> dict[str, Path]:
    """Return the recordings of the references ``keys`` in ``folder``: at the same path, or else directly inside."""
    by_folder = {"": _recordings(folder)}  # listed once per folder: a corpus has thousands of files
    audio = {}
    for key in keys:
        place, _, name = key.rpartition("/")
        if place not in by_folder:
            by_folder[place] = _recordings(folder / place)
        recording = by_folder[place].get(name) or by_folder[""].get(name)
        if recording is not None:
            audio[key] = recording
    return audio


def _recordings(folder: Path) -> dict[str, Path]:
    """Return the recordings directly in ``folder`` by stem; of several with one stem the most widely playable."""
    if not folder.is_dir():
        return {}
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in AUDIO_SUFFIXES and path.is_file())
    return {path.stem: path for path in sorted(paths, key=_preference, reverse=True)}


def _preference(recording: Path) -> tuple[bool, int]:
    suffix = recording.suffix.lower()
    return suffix in _RARELY_PLAYABLE, AUDIO_SUFFIXES.index(suffix)


def _transcript_files(path: Path, what: str) -> dict[str, str]:
    """Return the files by key; the CHAT files of a folder, or, if it has none, all transcripts of other formats.

    A CTM, STM or manifest that covers several recordings stands under the key of each.
    """
    if not path.exists():
        raise CorpusError(f"{path}: there is no such {what}; give a transcript or a folder of them")
    if path.is_file():
        if not is_readable(path):
            raise CorpusError(f"{path}: the {what} is not a transcript; give one of {', '.join(READABLE)}, or a folder")
        return {path.stem: str(path)} if path.suffix.lower() == ".cha" else _keys(path, "")
    inside = [source for source in list_files(path)[0] if is_readable(source) and source.is_file()]
    files = [source for source in inside if source.suffix.lower() == ".cha"]
    if files:
        return {source.relative_to(path).with_suffix("").as_posix(): str(source) for source in files}
    by_key: dict[str, str] = {}
    for source in inside:
        for key, file in _keys(source, source.parent.relative_to(path).as_posix()).items():
            if key in by_key and not file.lower().endswith(".words.xml"):
                raise CorpusError(f"{path}: {Path(by_key[key]).name} and {source.name} are both of {key}; keep one")
            by_key.setdefault(key, file)
    if not by_key:
        raise CorpusError(f"{path}: no CHAT file (.cha) or other transcript in this {what} folder; check the path")
    return by_key


def _keys(path: Path, place: str) -> dict[str, str]:
    """Return the keys of the recordings that a file covers, each with the file."""
    within = "" if place in ("", ".") else f"{place}/"
    names = [transcript.name for transcript in read_transcripts(path)]
    return {f"{within}{name}": str(path) for name in names}


def _matched(references: dict[str, str], files: dict[str, str]) -> tuple[dict[str, str], list[Path]]:
    """Return the files by reference key, and the unpaired ones; a stem that occurs twice is not paired."""
    by_stem: dict[str, list[str]] = {}
    for key in files:
        by_stem.setdefault(Path(key).name, []).append(key)
    stems = [Path(key).name for key in references]
    pairs = {}
    for key, stem in zip(references, stems, strict=True):
        same = by_stem.get(stem, [])
        if key in files:
            pairs[key] = files[key]
        elif len(same) == 1 and stems.count(stem) == 1:
            pairs[key] = files[same[0]]
    paths = set(pairs.values())
    return pairs, [Path(path) for path in files.values() if path not in paths]


def transcript_at(path: str, key: str) -> Transcript:
    """Return the transcript of the recording ``key`` in the file at ``path``; plain words get no marks here.

    Raises:
        FormatError: The file is damaged, or not a transcript: an empty one would count as a system that heard nothing.
    """
    if path.lower().endswith(".cha"):
        transcript = chat.read(path)
        if not (transcript.headers or transcript.utterances):
            raise FormatError(f"{path}: has no utterance and no header, so it is not CHAT; copy it again")
        return transcript
    documents = _found(path)
    name = Path(key).name
    return next((document.transcript for document in documents if document.name == name), documents[0].transcript)


@lru_cache(maxsize=2)
def _found(path: str) -> list[FoundTranscript]:
    """Return all transcripts of a file, which is parsed once for all recordings that it covers."""
    return read_transcripts(path, ReadingOptions(infer_marks=False))
