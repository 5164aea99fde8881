"""Scores of transcripts against references: words, disfluencies, language-sample measures, and how sure they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, overload

from lsa_whisper import chat
from lsa_whisper.chat import Utterance
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.evaluate.pairing import pair
from lsa_whisper.evaluate.results import Difference, Evaluation
from lsa_whisper.evaluate.shown import Shown
from lsa_whisper.scoring import published as modes
from lsa_whisper.scoring import speakers as who
from lsa_whisper.scoring.bootstrap import FEWEST_SAMPLES, SAMPLES, Resamples
from lsa_whisper.scoring.counts import Detections, WordErrors
from lsa_whisper.scoring.file_scores import FileCounts, FileScores, Totals
from lsa_whisper.scoring.file_table import FileTable
from lsa_whisper.scoring.groups import Side
from lsa_whisper.scoring.normalize import normalize
from lsa_whisper.scoring.score import Wanted, score
from lsa_whisper.scoring.system import System
from lsa_whisper.scoring.timed import COLLAR_MS
from lsa_whisper.scoring.words import has_marks, mark_from_words
from lsa_whisper.training_runs import Run, Runs, read_runs
from lsa_whisper.umask import private_umask

__all__ = [
    "Detections",
    "Difference",
    "Evaluation",
    "FileCounts",
    "FileScores",
    "Run",
    "Runs",
    "System",
    "WordErrors",
    "evaluate",
    "normalize",
]


@overload
def evaluate(
    reference: Path,
    hypotheses: Sequence[Path] = (),
    *,
    out: Path | None = None,
    names: Sequence[str] = (),
    audio: Path | None = None,
    samples: int = SAMPLES,
    collar: int = COLLAR_MS,
    speakers: bool = False,
    as_: Sequence[str] = (),
    compare: Literal[False] = False,
) -> Evaluation: ...


@overload
def evaluate(
    reference: Path,
    hypotheses: Sequence[Path] = (),
    *,
    out: Path | None = None,
    names: Sequence[str] = (),
    compare: Literal[True],
) -> Runs: ...


@private_umask()
def evaluate(
    reference: Path,
    hypotheses: Sequence[Path] = (),
    *,
    out: Path | None = None,
    names: Sequence[str] = (),
    audio: Path | None = None,
    samples: int = SAMPLES,
    collar: int = COLLAR_MS,
    speakers: bool = False,
    as_: Sequence[str] = (),
    compare: bool = False,
) -> Evaluation | Runs:
    """Return the scores of one or several systems over the same references, or training runs side by side.

    A reference without a hypothesis counts all its words as left out, and is named in the result.

    Args:
        reference: a CHAT file, or a folder of them.
        hypotheses: one CHAT file or folder per system; files are paired with the references by path or stem.
        out: a folder for ``report.html``, ``report.json`` and, of systems, ``report.md``; made if it is not there.
        names: one name per system, or per run; their file or folder names when left out.
        audio: a folder with the recordings, to be played from the report.
        samples: how many bootstrap resamples the intervals come from, at least 40.
        collar: how many milliseconds apart a disfluency may begin in both transcripts and agree in time.
        speakers: also score who said what (cpWER, tcpWER); needs meeteval.
        as_: foreign ways to score, each reported apart: see :data:`lsa_whisper.scoring.published.MODES`.
        compare: all the paths are folders of training runs: lay their curves side by side instead. Only ``out`` and
            ``names`` go with it.

    Raises:
        CorpusError: a path does not exist, holds no CHAT, or the names do not fit.
        MissingExtraError: a package for ``speakers`` or ``as_`` is not installed.
        LsaWhisperError: there are too few ``samples``, or ``compare`` was given beside what only transcripts have.
    """
    if compare:
        _refuse_beside_compare(
            {
                "--audio": audio is not None,
                "--samples": samples != SAMPLES,
                "--collar": collar != COLLAR_MS,
                "--speakers": speakers,
                "--as": bool(as_),
            }
        )
        return _compared([Path(reference), *(Path(path) for path in hypotheses)], names, out)
    modes.check(as_)
    if speakers:
        who.check()
    _check(samples, audio)
    wanted = Wanted(rows=out is not None, collar_ms=collar, published=tuple(dict.fromkeys(as_)), speakers=speakers)
    files = pair(Path(reference), [Path(path) for path in hypotheses], names)
    marked = {name: _is_marked(paths.values()) for name, paths in files.hypotheses.items()}
    tables, totals, shown = {name: FileTable() for name in marked}, dict.fromkeys(marked, Totals()), Shown()
    for number, (key, path) in enumerate(files.references.items()):  # one at a time: a corpus need not fit in memory
        said, rows = _read(path), []
        for name, paths in files.hypotheses.items():
            heard = _read(paths[key], marked=marked[name]) if key in paths else None
            scores = score(key, said, heard, wanted)
            tables[name].append(scores)
            totals[name] += Totals.of(scores)
            rows.append(scores.rows)
        shown.add(number, rows)
    resamples = Resamples(len(files.references), samples)
    systems = {n: System(n, tables[n], totals[n], resamples, marked[n], tuple(files.unused[n])) for n in marked}
    evaluation = Evaluation(Path(reference), systems, samples, wanted, shown)
    if out is None:
        return evaluation
    from lsa_whisper.evaluate.report import write_reports

    return replace(evaluation, report=write_reports(evaluation, Path(out), audio=audio))


def _refuse_beside_compare(given: Mapping[str, bool]) -> None:
    """Raise when an option was given that training runs have no use for."""
    if idle := [option for option, is_given in given.items() if is_given]:
        raise LsaWhisperError(
            f"evaluate --compare lays training runs side by side and scores no transcript; leave out {', '.join(idle)}"
        )


def _check(samples: int, audio: Path | None) -> None:
    """Raise before hours of scoring what would be wrong after them."""
    if samples < FEWEST_SAMPLES:
        raise LsaWhisperError(
            f"evaluate --samples {samples}: too few to leave out 2.5 % on each side; give {FEWEST_SAMPLES} or more"
        )
    if audio is not None and not Path(audio).is_dir():
        raise CorpusError(f"{audio}: there is no such folder of recordings; leave it out or correct the path")


def _compared(folders: Sequence[Path], names: Sequence[str], out: Path | None) -> Runs:
    runs = read_runs(folders, names)
    if out is None:
        return runs
    from lsa_whisper.evaluate.report import write_runs

    return replace(runs, report=write_runs(runs, Path(out)))


def _is_marked(paths: Collection[str]) -> bool:
    """Return whether a system wrote a disfluency mark in any of its files (or wrote none at all)."""
    return not paths or any(has_marks(chat.read(path).utterances) for path in paths)


def _read(path: str, *, marked: bool = True) -> Side:
    transcript = chat.read(path)
    utterances = transcript.utterances if marked else [_marked(utterance) for utterance in transcript.utterances]
    return Side(utterances, transcript.participants)


def _marked(utterance: Utterance) -> Utterance:
    """Return ``utterance`` marked from its words, its word times kept."""
    return replace(mark_from_words(utterance), tiers=utterance.tiers)
