"""Propose disfluency marks in transcripts without any: fillers, cut-off words and retraces, found from the words alone.

The originals are kept: marked copies are written to another folder, with a table of every mark and its confidence.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.atomic_write import write_atomic
from lsa_whisper.chat.tree import Word, build_tree
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.failed_files import FailedFile, failure_exit_code
from lsa_whisper.labels.infer_marks import PLAIN_FILLERS
from lsa_whisper.retraces import THRESHOLD, MarkedText, mark_retraces
from lsa_whisper.retraces.words import spoken_words
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.umask import private_umask

_COLUMNS = ("line", "speaker", "words", "code", "confidence", "utterance")
_CUT_OFF = re.compile(r"[^\W\d_][\w']*[-–]")


@dataclass(frozen=True)
class MarkedFile:
    """What was done with one transcript.

    Attributes:
        source: the original.
        target: the marked copy; the table of marks stands beside it (``.marks.csv``).
        marks: how many retraces were set.
        kept: utterances that already had retraces or groups and were left as they are.
    """

    source: Path
    target: Path
    marks: int
    kept: int


@dataclass(frozen=True)
class MarkResult:
    """The result of ``mark``: what was written, and what could not be."""

    files: tuple[MarkedFile, ...]
    failed: tuple[FailedFile, ...] = ()

    @property
    def exit_code(self) -> int:
        """The number of transcripts that could not be marked, at most 100."""
        return failure_exit_code(self.failed)

    def __str__(self) -> str:
        lines = [
            f"{one.target}: {one.marks} retraces" + (f", {one.kept} utterances already marked" if one.kept else "")
            for one in self.files
        ]
        return "\n".join([*lines, *(f"not marked: {one.path} ({one.reason})" for one in self.failed)])


@private_umask()
def mark(
    transcripts: Sequence[str | Path], *, out: str | Path, threshold: float = THRESHOLD, language: str | None = None
) -> MarkResult:
    """Write copies of CHAT ``transcripts`` with proposed marks to the folder ``out``.

    Utterances that already have retraces or groups are left as they are. Bare fillers (``um``) become ``&-um`` and
    bare cut-off words (``sto-``) become ``&+sto`` in every language; retraces are found in English only.

    Args:
        transcripts: CHAT files, or folders of them.
        out: Folder of the copies, which keep their names. An existing file with other content is never replaced.
        threshold: The least probability of a word in a retrace, above 0 and below 1.
        language: ISO 639-3. Default: the first of ``@Languages``, else English.

    Raises:
        LsaWhisperError: There is no transcript, or the threshold is out of range.
    """
    if not 0 < threshold < 1:
        raise LsaWhisperError(f"--threshold {threshold}: choose a probability above 0 and below 1, such as {THRESHOLD}")
    done: list[MarkedFile] = []
    failed: list[FailedFile] = []
    for source, name in _sources(transcripts):
        try:
            done.append(_mark_file(source, Path(out) / name, threshold, language))
        except LsaWhisperError as error:
            failed.append(FailedFile(source, str(error)))
    return MarkResult(tuple(done), tuple(failed))


def _sources(transcripts: Sequence[str | Path]) -> Iterator[tuple[Path, Path]]:
    """Yield each transcript and its name below the output folder."""
    for given in map(Path, transcripts):
        if not given.is_dir():
            yield given, Path(given.name)
            continue
        inside = sorted(given.rglob("*.cha"))
        if not inside:
            raise LsaWhisperError(f"{given}: no .cha file in this folder; name the folder of the transcripts")
        yield from ((path, path.relative_to(given)) for path in inside)


def _mark_file(source: Path, target: Path, threshold: float, language: str | None) -> MarkedFile:
    transcript = chat.read(source)
    if not transcript.utterances:
        raise LsaWhisperError(f"{source}: no utterances; is this a CHAT transcript?")
    chosen = language or next(iter(transcript.languages), "eng")
    rows: list[tuple[object, ...]] = []
    blocks: list[chat.Line | chat.Utterance] = []
    kept = 0
    for block in transcript.blocks:
        if isinstance(block, chat.Utterance):
            kept += spoken_words(block.body) is None
            block, found = _mark_utterance(block, threshold, chosen)
            rows += [
                (block.line, block.speaker, one.words, one.code, one.confidence, block.text) for one in found.marks
            ]
        blocks.append(block)
    text = chat.serialize(replace(transcript, blocks=blocks))
    table = io.StringIO()
    csv.writer(table).writerows([_COLUMNS, *rows])
    _write_new(text.encode(transcript.encoding, errors="replace"), target, source)
    _write_new(table.getvalue().encode(), target.with_name(f"{target.stem}.marks.csv"), source)
    return MarkedFile(source, target, len(rows), kept)


def _mark_utterance(utterance: chat.Utterance, threshold: float, language: str) -> tuple[chat.Utterance, MarkedText]:
    body = utterance.body
    if spoken_words(body) is not None:
        body = _mark_words(body)
    found = mark_retraces(body, language=language, threshold=threshold, times=_times(utterance, body))
    head = utterance.main[: len(utterance.main) - len(utterance.body)]
    return replace(utterance, main=head + found.text), found


def _mark_words(body: str) -> str:
    """Return ``body`` with bare fillers as ``&-um`` and bare cut-off words (``sto-``) as ``&+sto``."""
    for item in reversed(build_tree(body).items):
        if isinstance(item, Word):
            word = item.text
            if word.casefold() in PLAIN_FILLERS:
                word = f"&-{word.lower()}"
            elif _CUT_OFF.fullmatch(word):
                word = f"&+{word[:-1]}"
            body = body[: item.offset] + word + body[item.offset + len(item.text) :]
    return body


def _times(utterance: chat.Utterance, body: str) -> list[TimeSpan]:
    """Return the times of ``%wor`` for the words that are not fillers; empty if the tier does not match the words."""
    words = spoken_words(body) or []
    timed = [(word, span) for word, span in utterance.word_times if not word.startswith("&-")]
    timed = [(word, span) for word, span in timed if word.casefold() not in PLAIN_FILLERS]
    return [span for _, span in timed] if len(timed) == len(words) else []


def _write_new(data: bytes, target: Path, source: Path) -> None:
    if target.exists() and target.read_bytes() != data:
        raise LsaWhisperError(f"{target}: exists with other content, for {source}; choose another folder with -o")
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(data, target)
