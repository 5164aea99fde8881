"""Corpora without CHAT files: Kaldi folders, manifests of NeMo and Lhotse, and folders of the library ``datasets``.

Each recording that they list becomes a session: its texts are written as a CHAT transcript, and audio that the data set
contains is written beside it, so that they can be read, checked and corrected like any others.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.corpus.card import Card, find_card
from lsa_whisper.corpus.session import Session, by_pattern
from lsa_whisper.errors import AudioError, CorpusError, FormatError
from lsa_whisper.formats.convert.files import OutputFolder
from lsa_whisper.formats.reading import ReadingOptions
from lsa_whisper.formats.reading.data_folders import dataset_rows, is_datasets_folder, is_kaldi, kaldi_sources
from lsa_whisper.formats.reading.files import decode_bytes, read_bytes
from lsa_whisper.formats.reading.manifests import manifest_rows, manifest_sources
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.speakers import participants_of
from lsa_whisper.formats.reading.to_transcript import to_transcript
from lsa_whisper.languages import chat_code
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.disk import convert_disk_errors
from lsa_whisper.system.files import FailedFile
from lsa_whisper.timespan import TimeSpan

_MANIFESTS = (".jsonl", ".json", ".jsonl.gz")
_MAX_BYTES = 1 << 31
_Listed = tuple[Source, str | None, bytes | None]
"""A recording with its texts, its split, and the bytes of its file, as far as they are known."""


def is_listed(path: Path) -> bool:
    """Return whether ``path`` is a corpus of this kind; a folder with CHAT files is none."""
    if path.is_file():
        return path.name.lower().endswith(_MANIFESTS)
    return path.is_dir() and (is_kaldi(path) or (is_datasets_folder(path) and not any(path.rglob("*.cha"))))


def discover_listed(
    path: Path, out: Path, *, media: Path | None = None, card: Path | None = None, speaker_from: str | None = None
) -> tuple[list[Session], list[FailedFile]]:
    """Return the sessions of the corpus at ``path``, and the recordings that are not used.

    The path is one for which :func:`is_listed` is true, and the transcripts are written to ``out``; what a person has
    corrected there is kept. For the others see :func:`~lsa_whisper.corpus.session.discover`.

    Raises:
        CorpusError: It is damaged, or a name does not match the pattern.
        LsaWhisperError: A transcript was corrected, and the list has another text for it than before.
    """
    root = path if path.is_dir() else path.parent
    facts = find_card(root, card)
    # Two manifests of one folder may have recordings of one name.
    within = Path(path.name.partition(".")[0] if path.is_file() else "")
    sounds, texts = (out / kind / facts.name / within for kind in ("recordings", "transcripts"))
    written = OutputFolder(texts)
    sessions: list[Session] = []
    skipped: list[FailedFile] = []
    try:
        for source, split, data in _listed(path):
            try:
                recording = _recording(source, data, root, media, sounds)
                sessions.append(_session(source, recording, split, facts, written, within))
            except AudioError as error:
                skipped.append(FailedFile(Path(source.recording or source.name), str(error)))
    except FormatError as error:
        raise CorpusError(str(error)) from error
    finally:
        written.save()
    return by_pattern(sessions, speaker_from), skipped


def _listed(path: Path) -> Iterator[_Listed]:
    if path.is_file():
        rows = manifest_rows(_text(path), str(path))
        sources = manifest_sources(rows, path.parent, recognized=False)
    elif is_kaldi(path):
        sources = kaldi_sources(path)
    else:
        yield from _of_dataset(path)
        return
    yield from ((source, None, None) for source in sources)


def _text(path: Path) -> str:
    data = read_bytes(path)
    if path.suffix.lower() == ".gz":
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            data = unpacker.decompress(data, _MAX_BYTES)
        except zlib.error as error:
            raise FormatError(f"{path}: is not a gzip file ({error}); copy it again") from error
        if not unpacker.eof:
            raise FormatError(f"{path}: is cut off, or larger than {_MAX_BYTES >> 30} GB; copy it again")
    return decode_bytes(data, str(path))


def _of_dataset(folder: Path) -> Iterator[_Listed]:
    for number, row in enumerate(dataset_rows(folder), 1):
        name = Path(row.path.replace("\\", "/")).stem
        # Names may be missing or the same in thousands of rows, which are not held in memory to tell them apart.
        source = Source(
            f"{number:06d}{'_' if name else ''}{name}", recording=row.path, language=row.language, shares_times=False
        )
        source.spoken.append(SpokenText(row.speaker, row.text, place=row.place))
        yield source, row.split, row.data


def _recording(source: Source, data: bytes | None, root: Path, media: Path | None, out: Path) -> Recording:
    """Return the recording of a source: the bytes, or the file that it names."""
    if data:
        suffix = Path(source.recording).suffix.lower()
        path = out / f"{source.name}{suffix if suffix in AUDIO_SUFFIXES else '.wav'}"
        if not path.exists() or path.stat().st_size != len(data):
            with convert_disk_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(data, path)
        return Recording.open(path)
    name = Path(source.recording.replace("\\", "/"))
    places = [root / name, *([media / name, media / name.name] if media else []), name]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        where = f" or below {media}" if media else "; name the folder of the recordings with `media`"
        raise AudioError(f"{source.spoken[0].place}: no recording at {places[0]}{where}")
    return Recording.open(file)


def _session(
    source: Source, recording: Recording, split: str | None, card: Card, folder: OutputFolder, within: Path
) -> Session:
    """Return the session of a source; its texts without times belong to the recording as a whole."""
    whole = TimeSpan(0, int(recording.duration_s * 1000))
    source.spoken = [replace(turn, span=turn.span or whole) for turn in source.spoken]
    source.media = source.media or recording.path.stem
    language = chat_code(source.language or card.language or "eng")
    transcript = to_transcript(source, ReadingOptions(language))
    if not transcript.utterances:
        raise AudioError(f"{source.spoken[0].place}: its text has no words")
    text = chat.serialize(transcript)
    path = folder.update(Path(f"{source.name}.cha"), text, source=Path(source.spoken[0].place))
    people = participants_of((turn.speaker for turn in source.spoken), roles={}, codes={}, language=language)
    own = (within / source.name).as_posix()
    speakers = {person.code: f"{card.name}/{name or own}-{person.code}" for name, person in people.items()}
    if path.read_bytes() != text.encode(errors="replace"):  # corrected, perhaps with a speaker that was not there
        speakers = {code: f"{card.name}/{own}-{code}" for code in chat.read(path).participants} | speakers
    has_names = all(turn.speaker for turn in source.spoken)
    return Session(own, card.name, path, recording, speakers, split, language, named=has_names)
