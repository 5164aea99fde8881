"""Propose disfluency marks in transcripts without any: fillers, cut-off words and retraces, found from the words alone.

The originals are kept: marked copies are written to another folder, with a table of every mark and its confidence.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from lsa_whisper import chat
from lsa_whisper.chat.files import is_transcript, list_transcripts
from lsa_whisper.chat.filled_pauses import ANSWERS, fillers, is_hummed
from lsa_whisper.chat.tree import Word, build_tree
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.retraces.mark import mark_all_retraces
from lsa_whisper.retraces.tagger import THRESHOLD, tagger_for
from lsa_whisper.retraces.words import spoken_words
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.disk import convert_disk_errors
from lsa_whisper.system.files import FailedFile, WithFailures, path_of, paths_of
from lsa_whisper.system.own_files import read_own, verify_inside
from lsa_whisper.system.terminal import counted
from lsa_whisper.system.umask import private_umask
from lsa_whisper.timespan import TimeSpan

_COLUMNS = ("line", "speaker", "words", "code", "confidence", "utterance")
_CUT_OFF = re.compile(r"[^\W\d_][\w']*[-–]")


@dataclass(frozen=True)
class MarkedFile:
    """What was done with one transcript.

    Attributes:
        source: The original.
        target: The marked copy; the table of marks stands beside it (``.marks.csv``).
        marks: How many retraces were set; ``None`` in a language in which none are looked for.
        unchanged: Utterances that already had retraces or groups and were left as they are.
    """

    source: Path
    target: Path
    marks: int | None
    unchanged: int


@dataclass(frozen=True)
class MarkResult(WithFailures):
    """The result of ``mark``: what was written, and what could not be."""

    files: tuple[MarkedFile, ...]
    failed: tuple[FailedFile, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{file.target}: "
            + ("no retraces, which are found in English only" if file.marks is None else counted(file.marks, "retrace"))
            + (f", {counted(file.unchanged, 'utterance')} already marked" if file.unchanged else "")
            for file in self.files
        ]
        return "\n".join([*lines, *(f"not marked: {failure.path} ({failure.reason})" for failure in self.failed)])


@private_umask()
def mark(
    transcripts: Sequence[str | Path], *, out: str | Path, threshold: float = THRESHOLD, language: str | None = None
) -> MarkResult:
    """Write copies of CHAT ``transcripts`` with proposed marks to the folder ``out``.

    Utterances that already have retraces or groups are left as they are. Bare fillers of the language (``um``) become
    ``&-um``, and bare cut-off words (``sto-``) become ``&+sto``. Retraces are found in English only.

    Args:
        transcripts: CHAT files, or folders of them.
        out: Folder of the copies, which keep their names. An existing file with other content is never replaced.
            Copies in it are not marked again.
        threshold: The least probability of a word in a retrace, above 0 and below 1.
        language: ISO 639-3. Default: the first of ``@Languages``, else English.

    Raises:
        LsaWhisperError: There is no transcript, or the threshold is out of range.
    """
    if not 0 < threshold < 1:
        raise LsaWhisperError(f"`threshold={threshold}`: choose a probability above 0 and below 1, such as {THRESHOLD}")
    files: list[MarkedFile] = []
    sources, failed = _sources(paths_of(transcripts), path_of(out))
    for source, name in sources:
        try:
            verify_inside(Path(out) / name, Path(out))
            files.append(_mark_file(source, Path(out) / name, threshold, language))
        except LsaWhisperError as error:
            failed.append(FailedFile(source, str(error)))
    return MarkResult(tuple(files), tuple(failed))


def _sources(transcripts: Sequence[Path], out: Path) -> tuple[list[tuple[Path, Path]], list[FailedFile]]:
    """Return each transcript with its name below the output folder, and the folders that cannot be read."""
    sources: list[tuple[Path, Path]] = []
    unreadable: list[FailedFile] = []
    for transcript in transcripts:
        if not transcript.is_dir():
            sources.append((transcript, Path(transcript.name)))
            continue
        inside, skipped = list_transcripts(transcript)
        inside = [path for path in inside if out.resolve() not in Path(os.path.realpath(path)).parents]
        if not inside and not skipped:
            raise LsaWhisperError(f"{transcript}: no .cha file in this folder; name the folder of the transcripts")
        sources += [(path, path.relative_to(transcript)) for path in inside]
        unreadable += skipped
    if not sources and not unreadable:
        raise LsaWhisperError("no transcript is named; name files or folders")
    return sources, unreadable


def _mark_file(source: Path, target: Path, threshold: float, language: str | None) -> MarkedFile:
    transcript = chat.read(source)
    if not (transcript.utterances and is_transcript(source)):
        raise LsaWhisperError(f"{source}: not .cha, or no utterances; is this a CHAT transcript?")
    code = language or next(iter(transcript.languages), "eng")
    unmarked = [utterance for utterance in transcript.utterances if spoken_words(utterance.body) is not None]
    bodies = [_mark_words(utterance.body, fillers(code)) for utterance in unmarked]
    times = [_times(utterance, body, fillers(code)) for utterance, body in zip(unmarked, bodies, strict=True)]
    results = mark_all_retraces(bodies, language=code, threshold=threshold, times=times)
    changes = {
        id(utterance): (utterance.with_body(result.text), result.marks)
        for utterance, result in zip(unmarked, results, strict=True)
    }
    marked = [changes.get(id(utterance), (utterance, ())) for utterance in transcript.utterances]
    rows = [
        (now.line, now.speaker, proposal.words, proposal.code, proposal.confidence, now.text)
        for now, marks in marked
        for proposal in marks
    ]
    text = chat.serialize(transcript.with_utterances(now for now, _ in marked))
    table = io.StringIO()
    csv.writer(table).writerows([_COLUMNS, *rows])
    _write_new(
        {
            target: text.encode(transcript.encoding, errors="replace"),
            target.with_name(f"{target.stem}.marks.csv"): table.getvalue().encode(),
        }
    )
    count = len(rows) if tagger_for(code) else None
    return MarkedFile(source, target, count, len(transcript.utterances) - len(unmarked))


def _mark_words(body: str, bare_fillers: Set[str]) -> str:
    """Return ``body`` with bare fillers as ``&-um`` and cut-off words (``sto-``) as ``&+sto``; a hum alone stays."""
    after = ""
    for item in reversed(() if is_hummed(body.split()) else build_tree(body).items):
        if isinstance(item, Word):
            word = item.text
            sound = normalize("NFC", word.casefold()).removesuffix("-")
            if sound in bare_fillers and (sound, after) not in ANSWERS:
                word = f"&-{word.lower().removesuffix('-')}"
            elif _CUT_OFF.fullmatch(word):
                word = f"&+{word[:-1]}"
            after = sound
            body = body[: item.offset] + word + body[item.offset + len(item.text) :]
    return body


def _times(utterance: chat.Utterance, body: str, bare_fillers: Set[str]) -> list[TimeSpan]:
    """Return the times of ``%wor`` for the words that are not fillers; empty if the tier does not match the words."""
    words = spoken_words(body) or []
    times = [
        span
        for word, span in utterance.word_times
        if not word.startswith("&-") and normalize("NFC", word.casefold()) not in bare_fillers
    ]
    return times if len(times) == len(words) else []


def _write_new(contents: Mapping[Path, bytes]) -> None:
    """Write files of one folder; none of them if one exists with other content."""
    for path, data in contents.items():
        if path.exists() and read_own(path) != data:
            raise LsaWhisperError(f"{path}: exists with other content; choose another folder with -o")
    for path, data in contents.items():
        with convert_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(data, path)
