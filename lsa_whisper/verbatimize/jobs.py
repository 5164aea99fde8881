"""Many transcripts in one call: finished ones are left alone, and one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper import chat, checkpoint
from lsa_whisper.align.files import (
    AlignmentJob,
    attempt_each,
    find_recording,
    find_transcripts,
    has_result,
    stored_windows,
)
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.checkpoint.choice import choose_model
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.labels.coverage import NOT_CHECKED
from lsa_whisper.system import disk
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask
from lsa_whisper.verbatimize.files import (
    VERBATIM_FOLDER,
    VerbatimFile,
    VerbatimSummary,
    count_changes,
    fluent_words,
    with_bodies,
)
from lsa_whisper.version import __version__

if TYPE_CHECKING:
    from lsa_whisper.verbatimize.verbatimizer import Verbatimizer

_WINDOWS_AT_ONCE = 8


@private_umask()
def verbatimize(
    transcripts: Sequence[Path | str] | Path | str,
    *,
    audio: Path | str | None = None,
    model: str | Path | None = None,
    out: Path | str | None = None,
    prompt_kind: str = "auto",
    language: str | None = None,
    device: str = "auto",
    verbose: bool = False,
    report: Callable[[str], None] | None = None,
) -> VerbatimSummary:
    """Write transcripts of what was spoken, made of cleaned transcripts and their sound.

    The words of the transcript stay: fillers, repetitions, cut-off words, revisions, pauses, blocks and prolonged
    sounds are inserted between and into them. Utterances need times.

    Args:
        transcripts: CHAT files with bullets, or folders that are searched for them.
        audio: The recording, or a folder of recordings; next to each transcript if absent.
        model: A checkpoint folder or a hub name, fine-tuned to write disfluencies; if absent,
            :func:`~lsa_whisper.checkpoint.choice.choose_model` decides.
        out: Folder for the results; ``verbatim`` next to each transcript if absent.
        prompt_kind: Whether the model is given the cleaned text as a prompt, too: ``fluent``, ``none``, or ``auto`` for
            models that were trained on data prepared with ``prompt_kind="fluent"``.
        language: Language of the speech; the first one of each transcript if absent.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
        verbose: Also print the architecture and the vocabulary of the model.
        report: Receives progress lines; by default they go to standard error.

    Raises:
        CheckpointError: The model cannot be loaded, writes no disfluencies, or does not know the language.
        CorpusError: No transcript was found, or two results would have one path.
        LsaWhisperError: An option is unknown.
    """
    if prompt_kind not in ("auto", "fluent", "none"):
        raise LsaWhisperError(f"`prompt_kind={prompt_kind}`: choose auto, fluent or none")
    recordings = Path(audio) if audio is not None else None
    jobs = find_transcripts(transcripts, audio=recordings, out=Path(out) if out else None, folder=VERBATIM_FOLDER)
    report = report or print_progress
    settings = _Settings(choose_model(model, device=device), prompt_kind, language, device)
    facts = checkpoint.overview_line(settings.model)
    if verbose:
        report(facts)
    return VerbatimSummary(*attempt_each(jobs, lambda job: _verbatimize_file(job, recordings, settings)))


@dataclass(frozen=True)
class _Settings:
    """The model of a run and how it is used; it is loaded when the first transcript needs it."""

    model: str | Path
    prompt: str
    language: str | None
    device: str

    def verbatimizer(self, language: str) -> Verbatimizer:
        from lsa_whisper.verbatimize.verbatimizer import Verbatimizer  # needs torch, which takes seconds to load

        trained = self._checkpoint.provenance.get("prompt") == "fluent"
        prompted = self.prompt == "fluent" or (self.prompt == "auto" and trained)
        return Verbatimizer(self._checkpoint, language=self.language or language, prompt=prompted)

    @cached_property
    def _checkpoint(self) -> checkpoint.Checkpoint:
        device, dtype = resolve_device(self.device, "auto")
        return checkpoint.load(self.model, device=device, dtype=dtype)

    @property
    def comment(self) -> str:
        """Where the disfluencies come from."""
        return (
            f"disfluencies inserted by lsa-whisper {__version__} with model {Path(self.model).name}, words unchanged; "
            f"{NOT_CHECKED}"
        )

    def partial(self, target: Path, source: Transcript, recording: Recording, language: str) -> PartialDecoding:
        """Return the stored windows of an interrupted run with the same inputs."""
        settings = (self.language or language, self.prompt, self.device)
        return stored_windows(target, source, recording, self.model, *settings)


def _verbatimize_file(job: AlignmentJob, audio: Path | None, settings: _Settings) -> VerbatimFile:
    """Write the verbatim transcript of one file, unless that is finished.

    Raises:
        LsaWhisperError: The transcript, its recording or a file at the place of the result cannot be used.
    """
    source = chat.read(job.transcript)
    if not source.utterances:
        raise CorpusError(f"{job.transcript}: contains no utterance; is it a CHAT transcript?")
    if has_result(job.target, source, fluent_words, "other words"):
        return VerbatimFile(job.transcript, job.target, skipped=True)
    if not any(utterance.span for utterance in source.utterances):
        raise CorpusError(f"{job.transcript}: has no times; add them with 'lsa-whisper align' first")
    recording = find_recording(job, source, audio)
    language = next(iter(source.languages), "eng")
    with disk.convert_disk_errors(job.target), write_lock(job.target):
        partial = settings.partial(job.target, source, recording, language)
        bodies = _bodies(source.utterances, recording, settings.verbatimizer(language), partial)
        result = with_bodies(source, bodies, settings.comment)
        chat.write(result, job.target)
        partial.remove()
    lines = [own.line or 0 for at, own in enumerate(source.utterances) if at not in bodies and own.verbatim()]
    return VerbatimFile(job.transcript, job.target, False, *count_changes(source, result), tuple(lines))


def _bodies(
    utterances: Sequence[Utterance], recording: Recording, verbatimizer: Verbatimizer, partial: PartialDecoding
) -> dict[int, str]:
    """Return the verbatim main tiers by the number of the utterance, those of an interrupted run first."""
    windows = verbatimizer.windows(utterances, recording.duration_s)
    outputs = [decoded for _, decoded in partial.read([window.span for window in windows])]
    for first in range(len(outputs), len(windows), _WINDOWS_AT_ONCE):
        batch = windows[first : first + _WINDOWS_AT_ONCE]
        results = [_as_decoded(verbatimizer.verbatimize(utterances, window, recording)) for window in batch]
        partial.append([(window.span, decoded) for window, decoded in zip(batch, results, strict=True)])
        outputs += results
    return {
        at: segment.text
        for window, decoded in zip(windows, outputs, strict=True)
        for at, segment in zip(window.members, decoded.segments, strict=bool(decoded.segments))
    }


def _as_decoded(bodies: Sequence[str]) -> DecodedWindow:
    """Return main tiers in the form in which windows are stored."""
    return DecodedWindow(tuple(DecodedSegment(body, 0.0, 0.0) for body in bodies))
