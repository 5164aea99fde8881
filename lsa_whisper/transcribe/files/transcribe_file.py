"""One recording's transcript and what goes with it: written whole or not at all, by one call at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import chat, disk
from lsa_whisper.atomic_write import remove_leftovers
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.lock import is_locked, write_lock
from lsa_whisper.machine import is_out_of_memory
from lsa_whisper.transcribe.assembly.assemble import verify_header
from lsa_whisper.transcribe.assembly.confidence import load_calibration
from lsa_whisper.transcribe.assembly.review import low_confidence_rows, review_path, write_review
from lsa_whisper.transcribe.assembly.speaker_turns import SpeakerTurns, find_turns, read_turns
from lsa_whisper.transcribe.files.derived import DerivedFiles
from lsa_whisper.transcribe.files.outcome import TranscribedFile
from lsa_whisper.transcribe.files.provenance import add_provenance, is_finished
from lsa_whisper.transcribe.files.spec import TranscriberSpec
from lsa_whisper.transcribe.long_form.partial import PartialDecoding


@dataclass(frozen=True)
class OutputOptions:
    """What is written beside the transcript.

    Attributes:
        formats: names of other formats.
        speakers: who speaks when, as a file, or a folder with one for each recording.
        alone: whether a single recording is transcribed, so that ``speakers`` can only be about that one.
        review: whether a table of what the model was least sure of is written, too.
    """

    formats: tuple[str, ...] = ()
    speakers: Path | None = None
    alone: bool = True
    review: bool = False


def transcribe_file(
    spec: TranscriberSpec, wanted: OutputOptions, recording: Recording, target: Path, say: Callable[[float], None]
) -> TranscribedFile:
    """Write what is wanted of one recording, unless it is there already.

    Args:
        spec: the model and its options.
        wanted: what is written.
        recording: opened audio.
        target: the place of the transcript.
        say: told how many seconds of the recording are done.

    Raises:
        LsaWhisperError: there is a file that must not be written over, or the disk does not take the transcript.
    """
    made = DerivedFiles(target, wanted.formats)
    made.verify()
    turns, where = _who(wanted, recording, target, made)
    verify_header(spec.header(recording.path, turns), target)
    inputs = spec.digest(recording.path, where)
    if not is_finished(target, inputs):
        with _enough_memory(spec, recording.path):
            spec.transcriber  # noqa: B018 -- a model that cannot be loaded must leave no empty folder
    elif not wanted.formats and not is_locked(target):  # nothing is to be written, so the folder may be read-only
        return TranscribedFile(recording.path, target, True, _counts(chat.read(target)))
    with disk.convert_disk_errors(target), write_lock(target):
        remove_leftovers(target, review_path(target))
        finished, note = is_finished(target, inputs), ""  # by another call too, for which this one has waited
        if not finished:
            note = _decode(spec, recording, target, inputs, turns, review=wanted.review, say=say)
        transcript = chat.read(target)
        made.write(transcript)
        PartialDecoding(target, inputs).remove()
    return TranscribedFile(recording.path, target, finished, _counts(transcript), note)


def _who(
    wanted: OutputOptions, recording: Recording, target: Path, made: DerivedFiles
) -> tuple[SpeakerTurns | None, Path | None]:
    """Return who speaks when, and the file that says so, which is none of those that are written here."""
    if wanted.speakers is None:
        return None, None
    ours = frozenset(path.resolve() for path in (target, *made.paths.values()))
    where = find_turns(wanted.speakers, recording.path, alone=wanted.alone, ours=ours)
    length_ms = int(recording.duration_s * 1000)
    return read_turns(where, recording.path, length_ms, alone=wanted.alone), where


def _decode(
    spec: TranscriberSpec,
    recording: Recording,
    target: Path,
    inputs: str,
    turns: SpeakerTurns | None,
    *,
    review: bool,
    say: Callable[[float], None],
) -> str:
    """Write the transcript and return what decoding met with."""
    with _enough_memory(spec, recording.path):
        heard = spec.transcriber.transcribe_with_scores(
            recording, progress=say, turns=turns, partial=PartialDecoding(target, inputs)
        )
    # Both before the transcript, for a transcript that is there is finished.
    if review:
        write_review(low_confidence_rows(heard, recording.path.name, load_calibration(spec.model)), review_path(target))
    else:
        review_path(target).unlink(missing_ok=True)  # it is about the transcript before this one
    chat.write(add_provenance(heard.transcript, inputs), target)
    return "; ".join(remark for remark in (recording.remark, *heard.remarks) if remark)


@contextmanager
def _enough_memory(spec: TranscriberSpec, audio: Path) -> Iterator[None]:
    """Make one sentence of it when memory runs out in the block."""
    try:
        yield
    except Exception as error:  # each library has its own
        if not is_out_of_memory(error):
            raise
        options = spec.options
        raise LsaWhisperError(
            f"{audio}: memory ran out ({options.batch_size} windows together, {options.device}, {options.dtype}); "
            "give a smaller --batch-size, a smaller model, or --device cpu; the run goes on from here"
        ) from error


def _counts(transcript: Transcript) -> tuple[int, int]:
    words = sum(len(each.verbatim()) for each in transcript.utterances)
    return len(transcript.utterances), words
