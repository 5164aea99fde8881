"""The transcripts and recordings of the given folders; nothing else can be opened through the page.

The page names files by their number in this list, never by a path. A link that leads out of the given folders is left
out of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lsa_whisper.audio import AUDIO_SUFFIXES
from lsa_whisper.chat import read
from lsa_whisper.chat.files import is_transcript
from lsa_whisper.corpus.files import RecordingIndex
from lsa_whisper.errors import AudioError, ChatSyntaxError, CorpusError
from lsa_whisper.system.listing import list_files


@dataclass
class ReviewFile:
    """A transcript with its recording; one of the two may be missing."""

    name: str
    transcript: Path | None
    recording: Path | None
    problem: str = ""
    others: list[Path] = field(default_factory=list)
    """Further recordings of the session, such as those of a second microphone or of a camera."""


def list_review_files(path: Path, audio: Path | None) -> list[ReviewFile]:
    """Return the transcripts below ``path`` with their recordings, and the recordings without a transcript.

    Args:
        path: a CHAT file, a recording, or a folder.
        audio: another folder of recordings.

    Raises:
        CorpusError: a folder is missing, or there is neither a transcript nor a recording.
    """
    if not path.exists():
        raise CorpusError(f"{path}: no such file or folder; check the path")
    if audio is not None and not audio.is_dir():
        raise CorpusError(f"{audio}: no such folder of recordings; check the path")
    root = path if path.is_dir() else path.parent
    allowed = [root.resolve(), *([audio.resolve()] if audio else [])]
    files = _inside(list_files(root)[0] if path.is_dir() else sorted(root.iterdir()), allowed)
    recordings = [*files, *(_inside(list_files(audio)[0], allowed) if audio else [])]
    recordings = [each for each in recordings if each.suffix.lower() in AUDIO_SUFFIXES]
    index = RecordingIndex(recordings)
    transcripts = [each for each in files if is_transcript(each)] if path.is_dir() else [path]
    if path.is_file() and not is_transcript(path):
        own = path.with_suffix(".cha")
        transcripts = [own] if own.is_file() else []
        if not transcripts and path.suffix.lower() not in AUDIO_SUFFIXES:
            raise CorpusError(
                f"{path}: is neither a CHAT transcript (.cha) nor a recording; name one, or a folder of them"
            )
    found = [_with_recording(each, root, audio, index) for each in transcripts]
    spare = index.unused()
    for each in found:
        each.others += [other for other in spare if _is_of_session(other, each.recording)]
    if path.is_dir():
        found += [ReviewFile(_name(each, root, audio), None, each) for each in spare]
    elif not transcripts:
        found = [ReviewFile(path.name, None, path)]
    if not found:
        raise CorpusError(f"{path}: contains no transcript (*.cha) and no recording; name a folder that does")
    return found


def _is_of_session(other: Path, recording: Path | None) -> bool:
    """Return whether a recording without a transcript has the name of another and more: *visit-camera* and *visit*."""
    if recording is None or other.parent != recording.parent or other.with_suffix(".cha").is_file():
        return False
    rest = other.stem.removeprefix(recording.stem)
    return rest != other.stem and not rest[:1].isalnum()


def _inside(paths: list[Path], allowed: list[Path]) -> list[Path]:
    return [each for each in paths if any(each.resolve().is_relative_to(root) for root in allowed)]


def _with_recording(path: Path, root: Path, audio: Path | None, index: RecordingIndex) -> ReviewFile:
    name = _name(path, root, audio)
    try:
        media = read(path).media
        places = [path.parent.absolute(), *([audio.absolute()] if audio else [])]
        for each in (media, path.stem):
            if each and (hits := index.take(each, places)):
                return ReviewFile(name, path, hits[0], others=hits[1:])
    except (AudioError, ChatSyntaxError) as error:
        return ReviewFile(name, path, None, str(error))
    return ReviewFile(name, path, None, "no recording with this name was found; give its folder with --audio")


def _name(path: Path, root: Path, audio: Path | None) -> str:
    for base in (root, audio):
        if base and path.absolute().is_relative_to(base.absolute()):
            return path.absolute().relative_to(base.absolute()).as_posix()
    return path.name
