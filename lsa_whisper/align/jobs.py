"""Many transcripts in one call: finished ones are left alone, and one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper import chat, checkpoint
from lsa_whisper.align.doubts import DOUBT_COLUMNS, is_misfit, judge, write_doubts
from lsa_whisper.align.files import (
    AlignmentJob,
    attempt_each,
    find_recording,
    find_transcripts,
    has_result,
    is_plain_text,
    stored_windows,
)
from lsa_whisper.align.summary import AlignedFile, AlignmentSummary, bullet_deviations
from lsa_whisper.align.transcripts import (
    read_plain_text,
    text_without_times,
    with_times,
    with_word_tier,
    without_impossible_times,
    without_times,
)
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.checkpoint import overview_line
from lsa_whisper.checkpoint.choice import choose_model
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.languages import chat_code, known_code, language_name, other_language, whisper_code
from lsa_whisper.page.text import join_names
from lsa_whisper.system import disk
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.table import read_table
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

if TYPE_CHECKING:
    from lsa_whisper.align.aligner import Aligner


@private_umask()
def align_transcripts(
    transcripts: Sequence[Path | str] | Path | str,
    *,
    audio: Path | str | None = None,
    model: str | Path | None = None,
    out: Path | str | None = None,
    in_place: bool = False,
    review: Path | str | None = None,
    check_times: bool = False,
    language: str | None = None,
    vad: str = "energy",
    batch_size: int = 8,
    device: str = "auto",
    verbose: bool = False,
    report: Callable[[str], None] | None = None,
) -> AlignmentSummary:
    """Write the times of utterances and words into transcripts and return the outcome of each.

    The text is not changed: bullets and ``%wor`` tiers are added. Utterances with a bullet keep it, and their words are
    aligned inside it, unless it ends before it begins or lies past the end of the recording. An utterance that is not
    found gets no bullet.

    Args:
        transcripts: CHAT files, plain text files with one utterance a line, or folders that are searched for CHAT.
        audio: The recording, or a folder of recordings; next to each transcript if absent.
        model: A checkpoint folder or a hub name; if absent, :func:`~lsa_whisper.checkpoint.choice.choose_model`
            decides.
        out: Folder for the results; ``aligned`` next to each transcript if absent.
        in_place: Write the times into the transcripts themselves.
        review: CSV file for utterances that were not found or are uncertain, and words that differ from the sound;
            rows of earlier calls stay.
        check_times: Compare the existing bullets with an alignment made without them, and write no transcript.
        language: Language of the speech; the first one of each transcript if absent.
        vad: Voice activity detection: ``energy``, ``either`` or ``silero``.
        batch_size: Windows decoded together.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
        verbose: Also print the architecture and the vocabulary of the model.
        report: Receives progress lines; by default they go to standard error.

    Raises:
        CheckpointError: The model cannot be loaded, or does not know the language.
        CorpusError: No transcript was found, or two results would have one path.
        LsaWhisperError: Options do not go together.
    """
    if in_place and out is not None:
        raise LsaWhisperError("`in_place=True` writes into the transcripts themselves; leave out `out`")
    recordings = Path(audio) if audio is not None else None
    jobs = find_transcripts(transcripts, audio=recordings, out=Path(out) if out else None, in_place=in_place)
    if review is not None:
        read_table(Path(review), DOUBT_COLUMNS)  # before the work
    code = known_code(language) if language else None
    settings = _AlignmentSettings(choose_model(model, device=device), code, vad, batch_size, device)
    report = report or print_progress
    facts = overview_line(settings.model)
    if verbose:
        report(facts)

    def align(job: AlignmentJob) -> AlignedFile:
        return _align_file(job, recordings, settings, check=check_times, in_place=in_place, report=report)

    results, failures = attempt_each(jobs, align)
    summary = AlignmentSummary(results, failures)
    if review is not None:
        write_doubts([(result.transcript.name, doubt) for result in results for doubt in result.doubts], Path(review))
        summary = replace(summary, review=Path(review))
    return summary


@dataclass(frozen=True)
class _AlignmentSettings:
    """Everything that an alignment depends on besides the transcript and the recording; loads the model when needed."""

    model: str | Path
    language: str | None
    detector: str
    batch_size: int
    device: str

    def aligner(self, language: str) -> Aligner:
        """Return an aligner for a transcript in ``language``, unless another language was chosen.

        Raises:
            CheckpointError: The model cannot be loaded, or does not know the language.
        """
        from lsa_whisper.align.aligner import Aligner  # needs torch, which takes seconds to load
        from lsa_whisper.align.measuring import model_heads
        from lsa_whisper.align.model import AlignmentModel

        code = whisper_code(self.language or language)
        model = AlignmentModel(self._checkpoint, language=code, batch_size=self.batch_size)
        return Aligner(model, model_heads(model, self.model), detector=self.detector, batch_size=self.batch_size)

    def partial(self, target: Path, source: Transcript, recording: Recording, language: str) -> PartialDecoding:
        """Return the stored windows of an interrupted run with the same inputs."""
        return stored_windows(target, source, recording, self._digest, self.language or language, self.detector)

    @cached_property
    def _digest(self) -> str:
        return checkpoint.digest(self.model)  # reads all weights, so once for all transcripts

    @cached_property
    def _checkpoint(self) -> checkpoint.Checkpoint:
        device, _ = resolve_device(self.device, "float32")
        return checkpoint.load(self.model, device=device)


def _align_file(
    job: AlignmentJob,
    audio: Path | None,
    settings: _AlignmentSettings,
    *,
    check: bool,
    in_place: bool,
    report: Callable[[str], None],
) -> AlignedFile:
    """Write the times of one transcript, unless that is finished.

    Raises:
        LsaWhisperError: The transcript, its recording or a file at the place of the result cannot be used.
    """
    plain = is_plain_text(job.transcript)
    source = None if plain else chat.read(job.transcript)
    if source is not None and not source.utterances:
        raise CorpusError(f"{job.transcript}: contains no utterance; is it a CHAT transcript?")
    recording = find_recording(job, source, audio)
    if source is None:
        language = chat_code(settings.language or "eng")
        source = read_plain_text(job.transcript, language=language, media=recording.path.stem)
    language = next(iter(source.languages), "eng")
    if not source.utterances:
        raise CorpusError(f"{job.transcript}: contains no utterance")
    if check:
        return _check(job, source, recording, settings, language, report)
    if not in_place and has_result(job.target, source, text_without_times, "another text"):
        return AlignedFile(job.transcript, job.target, skipped=True, utterances=len(source.utterances))
    with disk.convert_disk_errors(job.target), write_lock(job.target):
        return _write(job, source, recording, settings, language, report)


def _write(
    job: AlignmentJob,
    source: Transcript,
    recording: Recording,
    settings: _AlignmentSettings,
    language: str,
    report: Callable[[str], None],
) -> AlignedFile:
    source, wrong = without_impossible_times(source, 1000 * recording.duration_s)
    if wrong:
        lines = join_names([*map(str, wrong)])
        why = "bullets that end too early or lie past the recording's end are replaced"
        report(f"{job.transcript}: {why}; lines: {lines}")
    partial = settings.partial(job.target, source, recording, language)
    aligner = settings.aligner(language)
    aligned = aligner.align(source.utterances, recording, partial=partial, progress=_progress(job, recording, report))
    if settings.language is None and (spoken := other_language(aligned.languages, source.languages)):
        partial.remove()
        raise CorpusError(
            f"{job.transcript}: is in {join_names([*map(language_name, source.languages)])}, but {recording.path.name} "
            f"sounds {language_name(spoken)}; choose the recording with `audio`, or correct @Languages"
        )
    timed, doubts = judge(source.utterances, aligned)
    utterances: list[Utterance] = []
    for utterance, result in zip(source.utterances, timed, strict=True):
        words = [(word.word.text, word.span) for word in result.words]
        if utterance.span is not None:
            utterances.append(with_word_tier(utterance, words) if words and not utterance.word_times else utterance)
        else:
            utterances.append(with_times(utterance, result.span, words) if result.span else utterance)
    transcript = source.with_utterances(utterances)
    chat.write(transcript.linked() if any(result.span for result in timed) else transcript, job.target)
    partial.remove()
    without = sum(utterance.span is None for utterance in timed)
    counts, misfit = (len(timed), len(timed) - without), is_misfit(source.utterances, aligned)
    bulleted = sum(utterance.span is not None for utterance in source.utterances)
    return AlignedFile(job.transcript, job.target, False, *counts, tuple(doubts), bulleted=bulleted, misfit=misfit)


def _check(
    job: AlignmentJob,
    source: Transcript,
    recording: Recording,
    settings: _AlignmentSettings,
    language: str,
    report: Callable[[str], None],
) -> AlignedFile:
    if not any(utterance.span for utterance in source.utterances):
        raise CorpusError(f"{job.transcript}: has no bullets to check; leave out `check_times` to add them")
    plain = [without_times(utterance) for utterance in source.utterances]
    aligned = settings.aligner(language).align(plain, recording, progress=_progress(job, recording, report))
    timed, doubts = judge(plain, aligned)
    shifts = bullet_deviations(source.utterances, [utterance.span for utterance in timed])
    count = sum(utterance.span is not None for utterance in timed)
    return AlignedFile(job.transcript, job.target, False, len(timed), count, tuple(doubts), tuple(shifts), checked=True)


def _progress(job: AlignmentJob, recording: Recording, report: Callable[[str], None]) -> Callable[[float], None]:
    """Return a function that reports each further tenth of a long recording."""
    last_s = 0.0

    def progress(done_s: float) -> None:
        nonlocal last_s
        if recording.duration_s > 300 and done_s - last_s >= recording.duration_s / 10:
            last_s = done_s
            report(f"{job.transcript}: {done_s:.0f} of {recording.duration_s:.0f} s")

    return progress
