"""The transcript of one recording with its derived files: written completely or not at all, by one call at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.chat.codes import RECORD
from lsa_whisper.decoding.confidences import confidences_path, load_calibration, write_confidences
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.labels.coverage import NOT_TRANSCRIBED
from lsa_whisper.system import disk
from lsa_whisper.system.atomic_write import remove_leftovers
from lsa_whisper.system.lock import is_abandoned, write_lock
from lsa_whisper.system.machine import is_out_of_memory
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript, verify_header
from lsa_whisper.transcription.assembly.diarizer import Diarizer
from lsa_whisper.transcription.assembly.review import confidences_of
from lsa_whisper.transcription.assembly.roles import assign_roles
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns, find_turns, read_turns
from lsa_whisper.transcription.assembly.voices import VoiceDiarizer
from lsa_whisper.transcription.files.derived import DerivedFiles
from lsa_whisper.transcription.files.outcome import FileTask, TranscribedFile
from lsa_whisper.transcription.files.provenance import (
    RecordingIdentity,
    add_provenance,
    is_finished,
    read_provenance,
)
from lsa_whisper.transcription.files.spec import TranscriberSpec


@dataclass(frozen=True)
class OutputOptions:
    """What is written besides the transcript.

    Attributes:
        formats: Names of other formats.
        speakers: Speaker turns from external diarization: a file, or a folder with one file for each recording; or what
            finds them.
        single: Whether the run has one recording only, so that a file of ``speakers`` must be about that one.
    """

    formats: tuple[str, ...] = ()
    speakers: Path | Diarizer | VoiceDiarizer | None = None
    single: bool = True


def transcribe_file(
    spec: TranscriberSpec, output: OutputOptions, task: FileTask, report: Callable[[float], None], /
) -> TranscribedFile:
    """Write the transcript of one recording, unless it is finished, and its derived files.

    ``task`` is opened audio and the path of the transcript; ``report`` is called with the seconds of the recording that
    are done.

    Raises:
        LsaWhisperError: A file exists that must not be written over, or the disk is full or read-only.
    """
    recording, target = task.recording, task.target
    derived = DerivedFiles(target, output.formats)
    _verify_no_folders(target, confidences_path(target), *derived.paths.values())
    derived.verify()
    turns, turns_path = _read_turns(output, recording, target, derived)
    verify_header(spec.header(recording.path, turns), target)
    identity = RecordingIdentity.of(recording.path)
    diarizer = output.speakers if isinstance(output.speakers, Diarizer | VoiceDiarizer) else None
    inputs = spec.digest(recording.path, identity, turns_path, diarizer.settings if diarizer else {})
    if not is_finished(target, inputs, identity):
        with _convert_out_of_memory(spec, recording.path):
            spec.transcriber  # noqa: B018 -- a model that cannot be loaded must leave no empty folder
            if diarizer:
                diarizer.load(spec.device)
    elif not output.formats and not is_abandoned(target):  # nothing to write: review may have it open
        return _outcome(recording, target, chat.read(target), finished=True)
    with disk.convert_disk_errors(target), write_lock(target):
        remove_leftovers(target, confidences_path(target))
        # Another call may have finished it while this one waited.
        if not (finished := is_finished(target, inputs, identity)):
            with _convert_out_of_memory(spec, recording.path):
                turns = diarizer.turns(recording, spec.device) if diarizer else turns
                if turns is not None and spec.options.named_roles:
                    turns = assign_roles(turns, spec.options.named_roles, recording)
                scored = spec.transcriber.transcribe_with_scores(
                    recording, progress=report, turns=turns, partial=PartialDecoding(target, inputs)
                )
            _write(scored, spec, recording, target, (inputs, identity))
        transcript = chat.read(target)
        derived.write(transcript)
        PartialDecoding(target, inputs).remove()
    return _outcome(recording, target, transcript, finished)


_NO_REMARK = ("transcribed by ", NOT_TRANSCRIBED, RECORD)


def _outcome(recording: Recording, target: Path, transcript: Transcript, finished: bool) -> TranscribedFile:
    """Return what is told of a transcript: the remarks in its header, also where an earlier call wrote it.

    Of a transcript that a person has edited, the comments may be that person's, and are not told.
    """
    record = read_provenance(target)
    own = transcript.headers if record and not record.edited else ()
    comments = [" ".join(line.value.split()) for line in own if line.name == "@Comment"]
    note = "; ".join(dict.fromkeys(text for text in comments if not text.startswith(_NO_REMARK)))
    messages = tuple(recording.messages)
    note = note or recording.remark
    return TranscribedFile(recording.path, target, finished, _counts(transcript), note, messages=messages)


def _verify_no_folders(*paths: Path) -> None:
    """Return when no folder or pipe stands where a file will be written."""
    for path in paths:
        if path.exists() and not path.is_file():
            kind = "is a folder" if path.is_dir() else "is not a file"
            raise LsaWhisperError(f"{path}: {kind}; rename it, or choose another output folder")


def _read_turns(
    output: OutputOptions, recording: Recording, target: Path, derived: DerivedFiles
) -> tuple[SpeakerTurns | None, Path | None]:
    """Return the speaker turns of the recording and their file, which is none of the output files."""
    if not isinstance(output.speakers, Path):
        return None, None
    outputs = frozenset(path.resolve() for path in (target, *derived.paths.values()))
    path = find_turns(output.speakers, recording.path, alone=output.single, ours=outputs)
    duration_ms = int(recording.duration_s * 1000)
    return read_turns(path, recording.path, duration_ms, alone=output.single), path


def _write(
    scored: ScoredTranscript,
    spec: TranscriberSpec,
    recording: Recording,
    target: Path,
    made_from: tuple[str, RecordingIdentity],
) -> None:
    """Write the transcript and its confidences."""
    # The confidences are written first, because a transcript that exists counts as finished.
    calibration = load_calibration(spec.model)
    write_confidences(confidences_of(scored, recording.path.name, calibration), confidences_path(target))
    chat.write(add_provenance(scored.transcript, *made_from), target)


@contextmanager
def _convert_out_of_memory(spec: TranscriberSpec, audio: Path) -> Iterator[None]:
    """Convert out-of-memory errors in the block to a one-line error."""
    try:
        yield
    except Exception as error:  # each library has its own
        if not is_out_of_memory(error):
            raise
        options = spec.options
        raise LsaWhisperError(
            f"{audio}: memory ran out (batch size {options.batch_size or 'auto'}, {options.device}, {options.dtype}); "
            "use a smaller --batch-size, a smaller model, or --device cpu, and run the same command again to resume"
        ) from error


def _counts(transcript: Transcript) -> tuple[int, int]:
    # Counted on copies: an utterance keeps what was read from it, which is ten megabytes for three hours.
    words = sum(len(replace(utterance).verbatim()) for utterance in transcript.utterances)
    return len(transcript.utterances), words
