"""Transcripts of other formats to CHAT, and CHAT to other formats; no file made by a person is written over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsa_whisper import formats
from lsa_whisper.chat.checks.participants import speaker_code_fault
from lsa_whisper.errors import DiskError, FormatError, LsaWhisperError
from lsa_whisper.formats import FORMAT_SUFFIXES, TIMED_FORMATS
from lsa_whisper.formats.convert.conservation import (
    Loss,
    TranscriptCounts,
    counts_of,
    kept_counts,
    losses_of_writing,
    read_back,
)
from lsa_whisper.formats.convert.files import ConvertibleFile, OutputFolder, list_convertible
from lsa_whisper.formats.reading import NOTATIONS, FoundTranscript, ReadingOptions, read_transcripts
from lsa_whisper.formats.reading.conventions import Conventions, read_conventions
from lsa_whisper.labels import is_draft
from lsa_whisper.languages import known_code
from lsa_whisper.system.files import FailedFile, WithFailures, path_of, paths_of
from lsa_whisper.system.process import without_collector
from lsa_whisper.system.terminal import TerminalTable, render_text
from lsa_whisper.system.umask import private_umask

_LISTED = 20
_COUNTED = ("utterances", "words", "marks", "times")


@dataclass
class Converted(WithFailures):
    """The result of :func:`lsa_whisper.formats.convert.convert`.

    Attributes:
        out: The output folder.
        files: The files in it that are up to date now.
        failed: Files that could not be converted, and why.
        losses: What was lost, by file and kind, with the first place.
        notes: What a person should know, with the file.
        before: What the converted files held.
        after: What the written files hold.
    """

    out: Path
    files: list[Path] = field(default_factory=list)
    failed: list[FailedFile] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    before: TranscriptCounts = field(default_factory=TranscriptCounts)
    after: TranscriptCounts = field(default_factory=TranscriptCounts)

    def table(self) -> str:
        """Return counts, problems and notes to print."""
        rows = [["converted", str(len(self.files))], ["failed", str(len(self.failed))]]
        table = TerminalTable(f"Converted to {self.out}", ("files", ""), rows)
        values = [(name, getattr(self.before, name), getattr(self.after, name)) for name in _COUNTED]
        counts = TerminalTable(
            "Held", ("", "before", "after"), [[name, _cell(before), _cell(after)] for name, before, after in values]
        )
        failures = _first([file.reason for file in self.failed], "failed")
        return render_text(
            table,
            *([counts] if self.files else []),
            *failures,
            *_first(self.losses, "lost"),
            *_first(self.notes, "note"),
        )


def _cell(count: int | None) -> str:
    return "" if count is None else str(count)


def _first(lines: list[str], kind: str) -> list[str]:
    more = [f"{kind}: and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return [f"{kind}: {line}" for line in lines[:_LISTED]] + more


__all__ = ["Converted", "convert"]


@private_umask()
def convert(
    inputs: Sequence[Path],
    out: Path,
    *,
    format: str = "cha",
    from_: Sequence[str] = (),
    conventions: Path | None = None,
    notation: str = "auto",
    language: str = "eng",
    speaker: str = "PAR",
    infer_marks: bool = True,
    headers: Path | None = None,
    lossless: bool = False,
) -> Converted:
    """Write the transcripts in ``inputs`` to the folder ``out`` in another format, and return what was written.

    Files keep their names and their places below the folders. A file that is already in ``out`` is replaced only if an
    earlier call wrote it and nothing has changed it since.

    Args:
        inputs: Files and folders of any readable format (:data:`lsa_whisper.formats.reading.READABLE`).
        out: Output folder; created if missing.
        format: Output format, one of :data:`lsa_whisper.formats.FORMATS`.
        from_: File extensions to read, such as ``slt``. Default: all, but not CHAT if CHAT is written.
        conventions: YAML file of the laboratory's own speakers, tiers and brackets
            (:mod:`lsa_whisper.formats.reading.conventions`).
        notation: Notation of the texts: ``chat``, ``salt``, ``plain``, or ``auto`` to find out.
        language: ISO 639-3 code of files that name no language.
        speaker: Code of a speaker without a name.
        infer_marks: Whether fillers, cut-off words and repetitions in plain text are marked.
        headers: A CHAT file, or a folder of them, whose headers are taken.
        lossless: Whether a file that would lose anything fails, and is not written.

    Raises:
        FormatError: An input is missing, or holds no transcript.
        LsaWhisperError: An option is wrong, or the output cannot be written.
    """
    _check(out, format, notation, speaker, headers)
    rules = read_conventions(conventions) if conventions else Conventions()
    options = ReadingOptions(known_code(language), speaker, notation, rules, infer_marks, headers)
    files = list_convertible(paths_of(inputs), format=format, suffixes=from_)
    converted, folder = Converted(Path(out)), OutputFolder(Path(out))
    for file in files:
        try:
            with without_collector():
                for result in read_transcripts(file.path, options):
                    _convert_one(result, file, folder, format, converted, lossless=lossless)
        except DiskError:
            raise
        except LsaWhisperError as error:
            converted.failed.append(FailedFile(file.path, str(error)))
    folder.save()
    return converted


def _check(out: Path, format: str, notation: str, speaker: str, headers: Path | None) -> None:
    if fault := speaker_code_fault(speaker):
        raise LsaWhisperError(f"`speaker={speaker}`: {fault}; use three capital letters, such as CHI")
    if format not in FORMAT_SUFFIXES:
        raise LsaWhisperError(f"`format={format}`: no such format; choose one of {', '.join(FORMAT_SUFFIXES)}")
    if notation not in NOTATIONS:
        raise LsaWhisperError(f"`notation={notation}`: no such notation; choose one of {', '.join(NOTATIONS)}")
    if path_of(out).exists() and not Path(out).is_dir():
        raise LsaWhisperError(f"{out}: is a file; choose an output folder")
    if headers is not None and not Path(headers).exists():
        raise LsaWhisperError(f"{headers}: no such file or folder of headers; check the path")


def _convert_one(
    result: FoundTranscript,
    file: ConvertibleFile,
    folder: OutputFolder,
    format: str,
    converted: Converted,
    *,
    lossless: bool,
) -> None:
    """Write one transcript, and add its counts, losses and notes to ``converted``."""
    transcript = result.transcript
    if (
        format in TIMED_FORMATS
        and transcript.utterances
        and not any(utterance.span for utterance in transcript.utterances)
    ):
        choices = ", ".join(name for name in FORMAT_SUFFIXES if name not in TIMED_FORMATS)
        raise FormatError(
            f"{file.path}: no utterance has times, which {format} needs; `align` adds them, or choose one of {choices}"
        )
    name = result.name or file.path.stem
    recording = _recording(file.path, name) if format == "eaf" else None
    text = formats.serialize(transcript, format, recording=recording)
    before = after = counts_of(transcript)
    notes = [note for note in result.notes if note not in result.losses]
    losses = [Loss("words", result.lost_words, result.lost_place)] if result.lost_words else []
    losses += [Loss(text, 1) for text in result.losses]
    if format != "cha":
        copy = read_back(text, transcript, format)
        after = kept_counts(transcript, copy)
        losses += losses_of_writing(transcript, copy)
        if is_draft(transcript) and not is_draft(copy):
            notes.append("the copy no longer says that it is a draft: count in the original, or restore its `headers`")
    if result.texts is not None:
        before = TranscriptCounts(result.texts, result.words, None, result.times)
    if lossless and losses:
        raise FormatError(f"{file.path}: would lose {'; '.join(map(str, losses))}; leave out `lossless` to convert it")
    path = folder.write(file.place / f"{name}.{FORMAT_SUFFIXES[format]}", text, source=file.path)
    converted.files.append(path)
    converted.before, converted.after = converted.before + before, converted.after + after
    converted.losses += [f"{file.path}: {loss}" for loss in losses]
    converted.notes += [f"{file.path}: {note}" for note in notes]


def _recording(path: Path, name: str) -> Path | None:
    """Return the recording next to a transcript, which an ELAN document names."""
    from lsa_whisper.audio import AUDIO_SUFFIXES  # 0.1 s, which other formats need not wait for

    beside = (path.with_name(f"{name}{suffix}") for suffix in AUDIO_SUFFIXES)
    return next((candidate for candidate in beside if candidate.is_file()), None)
