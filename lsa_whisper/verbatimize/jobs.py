"""Many transcripts in one call: finished ones are left alone, and one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
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
from lsa_whisper.checkpoint.stored_labels import read_writing
from lsa_whisper.decoding.confidences import Confidences, ScoredUtterance, confidences_path, write_confidences
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.labels.coverage import NOT_CHECKED
from lsa_whisper.languages import chat_code, known_code
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
from lsa_whisper.verbatimize.vocabulary import verbatim_style
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
        LsaWhisperError: An option has a wrong value.
    """
    if prompt_kind not in ("auto", "fluent", "none"):
        raise LsaWhisperError(f"`prompt_kind={prompt_kind}`: choose auto, fluent or none")
    recordings = Path(audio) if audio is not None else None
    jobs = find_transcripts(transcripts, audio=recordings, out=Path(out) if out else None, folder=VERBATIM_FOLDER)
    report = report or print_progress
    code = known_code(language) if language else None
    settings = VerbatimSettings(choose_model(model, device=device), prompt_kind, code, device)
    facts = checkpoint.overview_line(settings.model)
    if verbose:
        report(facts)
    return VerbatimSummary(*attempt_each(jobs, lambda job: _verbatimize_file(job, recordings, settings)))


@dataclass(frozen=True)
class VerbatimSettings:
    """The model of a run and how it is used; it is loaded when the first transcript needs it.

    Attributes:
        model: A checkpoint folder or a hub name.
        prompt: As ``prompt_kind`` of :func:`verbatimize`.
        language: That of all transcripts; ``None`` for their own.
        device: Where the model runs.
        least: See :class:`~lsa_whisper.verbatimize.verbatimizer.Verbatimizer`.
    """

    model: str | Path
    prompt: str = "auto"
    language: str | None = None
    device: str = "auto"
    least: float = 0.0

    def verify(self, language: str = "eng") -> None:
        """Return when the model is a Whisper that writes disfluencies in ``language``; it is not loaded.

        Raises:
            CheckpointError: It is not a Whisper, or writes none.
        """
        checkpoint.overview_line(self.model)
        verbatim_style(read_writing(self.model), chat_code(language))

    def _verbatimizer(self, language: str) -> Verbatimizer:
        from lsa_whisper.verbatimize.verbatimizer import Verbatimizer  # needs torch, which takes seconds to load

        if language not in self._loaded:
            trained = self._checkpoint.provenance.get("prompt") == "fluent"
            prompted = self.prompt == "fluent" or (self.prompt == "auto" and trained)
            self._loaded[language] = Verbatimizer(
                self._checkpoint, language=language, prompt=prompted, least=self.least
            )
        return self._loaded[language]

    @cached_property
    def _loaded(self) -> dict[str, Verbatimizer]:
        return {}

    @cached_property
    def _digest(self) -> str:
        return checkpoint.digest(self.model)  # reads all weights, so once for all transcripts

    @cached_property
    def _checkpoint(self) -> checkpoint.Checkpoint:
        device, dtype = resolve_device(self.device, "auto")
        return checkpoint.load(self.model, device=device, dtype=dtype)

    def comment(self, inputs: str) -> str:
        """Return where the disfluencies come from: ``inputs`` is a digest of all that they depend on."""
        asked = f", each with a probability of at least {self.least} (inputs {inputs})" if self.least else ""
        return (
            f"disfluencies inserted by lsa-whisper {__version__} with model {Path(self.model).name}{asked}, words "
            f"unchanged; {NOT_CHECKED}"
        )

    def partial(self, target: Path, source: Transcript, recording: Recording, language: str) -> PartialDecoding:
        """Return the stored windows of an interrupted run with the same inputs."""
        settings = (language, self.prompt, self.device, *([str(self.least)] if self.least else ()))
        return stored_windows(target, source, recording, self._digest, *settings)

    def write(
        self, source: Transcript, recording: Recording, target: Path, language: str
    ) -> tuple[Transcript, Collection[int]]:
        """Write the verbatim transcript of ``source`` to ``target``; return it and the utterances that were searched.

        With a least probability, the confidences of the inserted words are written beside it, for the review page.

        Raises:
            LsaWhisperError: The recording cannot be read, or the file not be written.
        """
        with disk.convert_disk_errors(target), write_lock(target):
            partial = self.partial(target, source, recording, language)
            segments = _searched(source.utterances, recording, self._verbatimizer(language), partial)
            bodies = {at: segment.text for at, segment in segments.items()}
            result = with_bodies(source, bodies, self.comment(partial.inputs))
            if self.least:
                scored = [_scored(utterance, segments.get(at)) for at, utterance in enumerate(result.utterances)]
                write_confidences(Confidences(tuple(scored), recording=recording.path.name), confidences_path(target))
            chat.write(result, target)
            partial.remove()
        return result, segments.keys()


def verify_times(source: Transcript, path: Path) -> None:
    """Return when a transcript has times.

    Raises:
        CorpusError: It has none.
    """
    if not any(utterance.span for utterance in source.utterances):
        raise CorpusError(f"{path}: has no times; add them with 'lsa-whisper align' first")


def _verbatimize_file(job: AlignmentJob, audio: Path | None, settings: VerbatimSettings) -> VerbatimFile:
    """Write the verbatim transcript of one file, unless that is finished.

    Raises:
        LsaWhisperError: The transcript, its recording or a file at the place of the result cannot be used.
    """
    source = chat.read(job.transcript)
    if not source.utterances:
        raise CorpusError(f"{job.transcript}: contains no utterance; is it a CHAT transcript?")
    if has_result(job.target, source, fluent_words, "other words"):
        return VerbatimFile(job.transcript, job.target, skipped=True)
    verify_times(source, job.transcript)
    language = settings.language or next(iter(source.languages), "eng")
    result, searched = settings.write(source, find_recording(job, source, audio), job.target, language)
    lines = [own.line or 0 for at, own in enumerate(source.utterances) if at not in searched and own.verbatim()]
    return VerbatimFile(job.transcript, job.target, False, *count_changes(source, result), tuple(lines))


def _searched(
    utterances: Sequence[Utterance], recording: Recording, verbatimizer: Verbatimizer, partial: PartialDecoding
) -> dict[int, DecodedSegment]:
    """Return the verbatim main tiers by the number of the utterance, those of an interrupted run first."""
    windows = verbatimizer.windows(utterances, recording.duration_s)
    outputs = [decoded for _, decoded in partial.read([window.span for window in windows])]
    for first in range(len(outputs), len(windows), _WINDOWS_AT_ONCE):
        batch = windows[first : first + _WINDOWS_AT_ONCE]
        results = [DecodedWindow(tuple(verbatimizer.verbatimize(utterances, window, recording))) for window in batch]
        partial.append([(window.span, decoded) for window, decoded in zip(batch, results, strict=True)])
        outputs += results
    return {
        at: segment
        for window, decoded in zip(windows, outputs, strict=True)
        for at, segment in zip(window.members, decoded.segments, strict=bool(decoded.segments))
    }


def _scored(utterance: Utterance, segment: DecodedSegment | None) -> ScoredUtterance:
    """Return the confidences of an utterance: those of its inserted words, for the others are a person's."""
    words = tuple(utterance.verbatim())
    scores = tuple(logprob or None for _, logprob in segment.logprobs) if segment else ()
    scores = scores if len(scores) == len(words) else (None,) * len(words)
    return ScoredUtterance(utterance.speaker, utterance.text, utterance.span, words, scores)
