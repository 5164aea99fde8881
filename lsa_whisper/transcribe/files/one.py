"""One recording's transcript and what goes with it: written whole or not at all, by one call at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import chat, disk
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.formats import SUFFIXES, write
from lsa_whisper.lock import is_taken, only_writer
from lsa_whisper.transcribe.files.outcome import Done
from lsa_whisper.transcribe.files.record import is_finished, stamped
from lsa_whisper.transcribe.files.settings import Settings
from lsa_whisper.transcribe.hearing.partial import Partial
from lsa_whisper.transcribe.writing.assemble import verify_heading
from lsa_whisper.transcribe.writing.confidence import load_calibration
from lsa_whisper.transcribe.writing.review import beside, doubtful
from lsa_whisper.transcribe.writing.review import write as write_review
from lsa_whisper.transcribe.writing.turns import Turns, find_turns, read_turns
from lsa_whisper.whole import sweep


@dataclass(frozen=True)
class Wanted:
    """What is written beside the transcript.

    Attributes:
        formats: names of other formats.
        speakers: who speaks when, as a file, or a folder with one for each recording.
        review: whether a table of what the model was least sure of is written, too.
    """

    formats: tuple[str, ...] = ()
    speakers: Path | None = None
    review: bool = False


def transcribe_one(
    settings: Settings, wanted: Wanted, recording: Recording, target: Path, say: Callable[[float], None]
) -> Done:
    """Write what is wanted of one recording, unless it is there already.

    Args:
        settings: what the transcript depends on.
        wanted: what is written.
        recording: opened audio.
        target: the place of the transcript.
        say: told how many seconds of the recording are done.

    Raises:
        LsaWhisperError: there is a transcript that must not be written over, or the disk does not take this one.
    """
    where = find_turns(wanted.speakers, recording.path) if wanted.speakers else None
    turns = read_turns(where, recording.path, int(recording.duration_s * 1000)) if where else None
    verify_heading(settings.heading(recording.path, turns), target)
    inputs = settings.digest(recording.path, where)
    if not is_finished(target, inputs):
        settings.transcriber  # noqa: B018 -- a model that cannot be loaded must leave no empty folder
    elif not wanted.formats and not is_taken(target):  # nothing is to be written, so the folder may be read-only
        return Done(recording.path, target, True, _counts(chat.read(target)))
    with disk.writing(target), only_writer(target):
        others = [target.with_suffix(f".{SUFFIXES[name]}") for name in wanted.formats]
        sweep(target, beside(target), *others)
        finished, note = is_finished(target, inputs), ""  # by another call too, for which this one has waited
        if not finished:
            note = _decode(settings, recording, target, inputs, turns, review=wanted.review, say=say)
        transcript = chat.read(target)
        for name, path in zip(wanted.formats, others, strict=True):
            write(transcript, path, name)
        Partial(target, inputs).remove()
    return Done(recording.path, target, finished, _counts(transcript), note)


def _decode(
    settings: Settings,
    recording: Recording,
    target: Path,
    inputs: str,
    turns: Turns | None,
    *,
    review: bool,
    say: Callable[[float], None],
) -> str:
    """Write the transcript and return what decoding met with."""
    made = settings.transcriber.write(recording, progress=say, turns=turns, partial=Partial(target, inputs))
    if review:  # before the transcript, for a transcript that is there is finished
        write_review(doubtful(made, recording.path.name, load_calibration(settings.model)), beside(target))
    chat.write(stamped(made.transcript, inputs), target)
    return "; ".join(remark for remark in (recording.remark, *made.remarks) if remark)


def _counts(transcript: Transcript) -> tuple[int, int]:
    words = sum(len(each.verbatim()) for each in transcript.utterances)
    return len(transcript.utterances), words
