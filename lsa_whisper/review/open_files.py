"""The files of one server: those that are open, and what the page may see of the others.

Only transcripts and recordings of the given folders can be opened through the page. The page names files by their
number, never by a path. A link that leads out of the given folders is left out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper.audio import AUDIO_SUFFIXES
from lsa_whisper.chat import Transcript, read
from lsa_whisper.chat.files import is_transcript
from lsa_whisper.corpus.files import RecordingIndex
from lsa_whisper.decoding.confidences import Calibration
from lsa_whisper.errors import AudioError, ChatSyntaxError, CorpusError, LsaWhisperError
from lsa_whisper.review.agreement import compare_transcripts
from lsa_whisper.review.saved import SavedTranscript
from lsa_whisper.review.settings import read_review_settings
from lsa_whisper.review.sounds import SessionSound, list_sounds
from lsa_whisper.review.transcription import TranscriptionJob
from lsa_whisper.review.view import TranscriptView
from lsa_whisper.system.files import list_files
from lsa_whisper.system.process import without_collector


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

    Raises:
        CorpusError: A folder is missing, or there is neither a transcript nor a recording.
    """
    if not path.exists():
        raise CorpusError(f"{path}: no such file or folder; check the path")
    if audio is not None and not audio.is_dir():
        raise CorpusError(f"{audio}: no such folder of recordings; check the path")
    root = path if path.is_dir() else path.parent
    folders = [root.resolve(), *([audio.resolve()] if audio else [])]
    files = _inside(list_files(root)[0] if path.is_dir() else sorted(root.iterdir()), folders)
    recordings = [*files, *(_inside(list_files(audio)[0], folders) if audio else [])]
    recordings = [recording for recording in recordings if recording.suffix.lower() in AUDIO_SUFFIXES]
    index = RecordingIndex(recordings)
    transcripts = [file for file in files if is_transcript(file)] if path.is_dir() else [path]
    if path.is_file() and not is_transcript(path):
        own = path.with_suffix(".cha")
        transcripts = [own] if own.is_file() else []
        if not transcripts and path.suffix.lower() not in AUDIO_SUFFIXES:
            raise CorpusError(
                f"{path}: is neither a CHAT transcript (.cha) nor a recording; name one, or a folder of them"
            )
    sessions = [_with_recording(transcript, root, audio, index) for transcript in transcripts]
    spare = index.unused()
    for file in sessions:
        file.others += [other for other in spare if _is_of_session(other, file.recording)]
    if path.is_dir():
        sessions += [ReviewFile(_name(recording, root, audio), None, recording) for recording in spare]
    elif not transcripts:
        sessions = [ReviewFile(path.name, None, path)]
    if not sessions:
        raise CorpusError(f"{path}: contains no transcript (*.cha) and no recording; name a folder that does")
    return sessions


def _is_of_session(other: Path, recording: Path | None) -> bool:
    """Return whether a recording without a transcript has the name of another and more: *visit-camera* and *visit*."""
    if recording is None or other.parent != recording.parent or other.with_suffix(".cha").is_file():
        return False
    rest = other.stem.removeprefix(recording.stem)
    return rest != other.stem and not rest[:1].isalnum()


def _inside(paths: list[Path], folders: list[Path]) -> list[Path]:
    return [path for path in paths if any(Path(os.path.realpath(path)).is_relative_to(folder) for folder in folders)]


def _with_recording(path: Path, root: Path, audio: Path | None, index: RecordingIndex) -> ReviewFile:
    name = _name(path, root, audio)
    try:
        media = read(path).media
        places = [path.parent.absolute(), *([audio.absolute()] if audio else [])]
        for stem in (media, path.stem):
            if stem and (hits := index.take(stem, places)):
                return ReviewFile(name, path, hits[0], others=hits[1:])
    except (AudioError, ChatSyntaxError) as error:
        return ReviewFile(name, path, None, str(error))
    return ReviewFile(name, path, None)


def _name(path: Path, root: Path, audio: Path | None) -> str:
    for base in (root, audio):
        if base and path.absolute().is_relative_to(base.absolute()):
            return path.absolute().relative_to(base.absolute()).as_posix()
    return path.name


class OpenFiles:
    """The transcripts and recordings that one server offers."""

    def __init__(
        self,
        path: Path,
        *,
        audio: Path | None = None,
        compare: Path | None = None,
        calibration: Calibration | None = None,
        flag: float = 0.1,
        job: TranscriptionJob | None = None,
    ):
        """List the files; nothing is opened yet.

        Raises:
            CorpusError: There are none.
        """
        self._path, self._compare, self._calibration = path, compare, calibration
        self._flag = flag
        self.files: list[ReviewFile] = list_review_files(path, audio)
        self.job = job or TranscriptionJob(None)
        self._open: dict[int, tuple[SavedTranscript, TranscriptView]] = {}
        self._sounds: dict[int, list[SessionSound]] = {}

    def listing(self) -> dict[str, Any]:
        """Return names and states of the files, and the state of the transcription."""
        self._refresh()
        rows = [
            {
                "name": file.name,
                "transcript": file.transcript is not None,
                "recording": file.recording is not None,
                "problem": file.problem,
                "compare": self._other(number) is not None,
                "reviewed": _share_reviewed(file.transcript),
            }
            for number, file in enumerate(self.files)
        ]
        return {"files": rows, "transcription": self.job.state(), "settings": read_review_settings()}

    def open(self, number: int) -> dict[str, Any]:
        """Return a transcript as the page shows it; from now on only this server may write it."""
        with without_collector(keep=True):
            saved, view = self.opened(number)
            return {
                **view.all(),
                "foreign": saved.foreign is not None,
                "sounds": [sound.label for sound in self.sounds(number)],
            }

    def opened(self, number: int) -> tuple[SavedTranscript, TranscriptView]:
        """Return an open transcript and its view.

        Raises:
            LsaWhisperError: It does not exist or cannot be opened.
        """
        if number not in self._open:
            path = self.files[number].transcript
            if path is None:
                raise LsaWhisperError(f"{self.files[number].name}: has no transcript yet; transcribe it first")
            saved = SavedTranscript(path)
            self._open[number] = (saved, TranscriptView(saved, self._calibration, self._flag))
        return self._open[number]

    def sounds(self, number: int) -> list[SessionSound]:
        """Return what can be heard of a session: its recording, the channels of it, and its other recordings."""
        if number not in self._sounds:
            file = self.files[number]
            self._sounds[number] = list_sounds([*([file.recording] if file.recording else []), *file.others])
        return self._sounds[number]

    def renew_view(self, number: int) -> None:
        """Make the view of an open transcript again, after its file was replaced."""
        saved, _ = self._open[number]
        self._open[number] = (saved, TranscriptView(saved, self._calibration, self._flag))

    def other(self, number: int) -> Transcript:
        """Return the transcript that this one is compared with.

        Raises:
            LsaWhisperError: There is none.
        """
        path = self._other(number)
        if path is None:
            raise LsaWhisperError("there is no second transcript; start the command again with --compare")
        return read(path)

    def comparison(self, number: int) -> dict[str, Any]:
        """Return two transcripts side by side, and their agreement."""
        saved, _ = self.opened(number)
        return compare_transcripts(saved.transcript, self.other(number), saved.original)

    def close(self) -> None:
        """Let other programs write the transcripts, and end the transcription."""
        self.job.end()
        for saved, _ in self._open.values():
            saved.close()

    def _refresh(self) -> None:
        """Add the transcripts that were made since, under the numbers that the page knows."""
        for file in self.files:
            if file.transcript is None and file.recording is not None:
                transcript = file.recording.with_suffix(".cha")
                file.transcript = transcript if transcript.is_file() else None

    def _other(self, number: int) -> Path | None:
        path = self.files[number].transcript
        if self._compare is None or path is None:
            return None
        if self._compare.is_file():
            return self._compare if self._compare.resolve() != path.resolve() else None
        inside = self._compare / path.name
        return inside if inside.is_file() and inside.resolve() != path.resolve() else None


def _share_reviewed(path: Path | None) -> float | None:
    """Return the share of reviewed utterances, counted in the text: a folder may have thousands of transcripts."""
    if path is None or not path.is_file():
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    total = data.count(b"\n*")
    return round(data.count(b"\n%xrev:") / total, 3) if total else None
