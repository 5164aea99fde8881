"""The files of one server: those that are open, and what the page may see of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsa_whisper.chat import Transcript, read
from lsa_whisper.decoding.confidences import Calibration
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.review.agreement import compare_transcripts
from lsa_whisper.review.folder import ReviewFile, list_review_files
from lsa_whisper.review.saved import SavedTranscript
from lsa_whisper.review.settings import read_review_settings
from lsa_whisper.review.sounds import SessionSound, list_sounds
from lsa_whisper.review.transcription import TranscriptionJob
from lsa_whisper.review.view import TranscriptView
from lsa_whisper.system.interpreter import without_collector


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
            CorpusError: there are none.
        """
        self._path, self._audio, self._compare, self._calibration = path, audio, compare, calibration
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
                "name": each.name,
                "transcript": each.transcript is not None,
                "recording": each.recording is not None,
                "problem": each.problem,
                "compare": self._other(number) is not None,
                "reviewed": _share_reviewed(each.transcript),
            }
            for number, each in enumerate(self.files)
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
            LsaWhisperError: it does not exist or cannot be opened.
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
            LsaWhisperError: there is none.
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
        for each in self.files:
            if each.transcript is None and each.recording is not None:
                made = each.recording.with_suffix(".cha")
                each.transcript = made if made.is_file() else None

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
