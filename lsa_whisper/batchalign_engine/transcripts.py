"""``lsa-whisper batchalign transcribe``: Batchalign's recipe for many recordings, with files written atomically."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lsa_whisper import chat, checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.batchalign_engine.command import require
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import AudioError, CheckpointError, DiskError, LsaWhisperError
from lsa_whisper.languages import chat_code
from lsa_whisper.system import disk
from lsa_whisper.system.atomic_write import remove_leftovers
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.terminal import counted
from lsa_whisper.system.umask import private_umask
from lsa_whisper.transcription import TranscribedFile, TranscriptionOptions, TranscriptionSummary
from lsa_whisper.transcription.files.outcome import FileTask
from lsa_whisper.transcription.files.provenance import RecordingIdentity, add_provenance, digest_inputs, is_finished
from lsa_whisper.transcription.files.recordings import find_jobs
from lsa_whisper.transcription.jobs import run_files, run_in_this_process
from lsa_whisper.version import __version__

if TYPE_CHECKING:
    from lsa_whisper.batchalign_engine.backend import LsaWhisperBackend


@private_umask()
def transcribe_with_batchalign(
    paths: Sequence[Path],
    *,
    model: str | Path,
    lang: str,
    out: Path | None = None,
    num_speakers: int | None = None,
    force_cpu: bool = False,
    wor: bool = False,
    batch_size: int = 8,
) -> TranscriptionSummary:
    """Write a transcript for each recording through Batchalign and return the outcome of each.

    An existing transcript of the same recording, model and options is kept.

    Args:
        paths: Recordings, and folders that are searched for recordings.
        model: A checkpoint folder or a hub name.
        lang: ISO 639-3 (``eng``) as in Batchalign, or Whisper's code (``en``).
        out: Folder for the transcripts; next to the audio if absent.
        num_speakers: Expected number of speakers; transcripts with another number are reported.
        force_cpu: Run on the CPU.
        wor: Write ``%wor``, the time of each word.
        batch_size: Windows decoded together.

    Raises:
        AudioError: No recording was found.
        CheckpointError: The model cannot be loaded.
        MissingExtraError: Batchalign is not installed.
        LsaWhisperError: Batchalign's version is not supported.
    """
    version = require("batchalign transcribe")
    options = TranscriptionOptions(
        language=chat_code(lang), word_times=wor, batch_size=batch_size, corpus_name="batchalign"
    )
    jobs = list(find_jobs(paths, out))
    if not jobs:
        raise AudioError("no recording was found; name audio files, or folders that contain some")
    lang = options.chat_language
    device, dtype = resolve_device("cpu" if force_cpu else "auto", "auto")
    settings = {"version": __version__, "batchalign": version, "language": lang, "words": str(wor), "dtype": dtype}
    run = _Run(str(model), options.with_changes(device=device, dtype=dtype), settings, num_speakers)
    recordings = {audio: _recording(audio) for audio, _ in jobs}
    return run_files(jobs, recordings, partial(run_in_this_process, run))


class _Run:
    """One call of the command: its model is loaded for the first recording that needs it."""

    def __init__(self, model: str, options: TranscriptionOptions, settings: dict[str, str], speakers: int | None):
        self._model, self._options, self._settings, self._expected = model, options, settings, speakers
        self._digest = checkpoint.digest(model)  # a missing model must be reported before any recording is opened
        self._report: Callable[[float], None] = lambda seconds: None

    def __call__(self, task: FileTask, report: Callable[[float], None], /) -> TranscribedFile:
        """Write the transcript of one recording."""
        self._report, audio = report, task.recording.path
        try:
            return self._one(audio, task.target)
        except (CheckpointError, DiskError):  # no other recording can be done either
            raise
        except (LsaWhisperError, OSError, RuntimeError, ValueError) as error:
            message = " ".join(str(error).split()) or type(error).__name__
            raise LsaWhisperError(message if audio.name in message else f"{audio}: {message}") from error

    @cached_property
    def _backend(self) -> LsaWhisperBackend:
        from lsa_whisper.batchalign_engine.backend import LsaWhisperBackend

        return LsaWhisperBackend.load(self._model, self._options, listener=lambda seconds: self._report(seconds))

    @cached_property
    def _pipeline(self) -> Any:
        import batchalign

        return batchalign.recipes.transcribe(
            asr_backend=self._backend, utseg_backend=self._backend, cache=batchalign.CacheSpec.bypass(), workers=1
        )

    def _one(self, audio: Path, target: Path) -> TranscribedFile:
        import batchalign

        from lsa_whisper.batchalign_engine.chat import finished

        if not audio.exists():
            raise AudioError(f"{audio}: no such recording; check the path and the file's ending")
        identity = RecordingIdentity.of(audio)
        inputs = digest_inputs(identity, self._digest, self._settings | {"audio": audio.stem})
        if is_finished(target, inputs, identity):
            return TranscribedFile(audio, target, skipped=True)
        source = str(audio.absolute())
        # One recording per call, because Batchalign reports a failure only in the result of the call.
        (outcome,) = self._pipeline.run([batchalign.inputs.media_from_path(source, source, self._options.language)])
        if outcome.is_failed:
            raise LsaWhisperError(f"{audio}: Batchalign could not transcribe it ({outcome.error})")
        with disk.convert_disk_errors(target), write_lock(target):
            remove_leftovers(target)
            # Beside the transcript, not in a shared folder, and under a name that is removed after a crash.
            draft = target.with_name(f".{target.name}.{uuid4().hex[:8]}")
            try:
                outcome.write(str(draft), strip_word_timing=not self._options.word_times)
                transcript = add_provenance(finished(draft, self._backend.pop(source)), inputs, identity)
            finally:
                draft.unlink(missing_ok=True)
            chat.write(transcript, target)
        self._report_speakers(audio, len({utterance.speaker for utterance in transcript.utterances}))
        return TranscribedFile(audio, target)

    def _report_speakers(self, audio: Path, count: int) -> None:
        if self._expected is not None and count != self._expected:
            print(f"{audio.name}: {counted(count, 'speaker')} written, {self._expected} expected", file=sys.stderr)


def _recording(audio: Path) -> Recording:
    """Return the recording, without a length where it cannot be opened: Batchalign decodes it itself."""
    try:
        return Recording.open(audio)
    except (AudioError, OSError):
        return Recording(audio, 0.0, SAMPLE_RATE_HZ, 1)
