"""Scores of transcripts against references: words, disfluencies, language-sample measures, and how sure they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Utterance
from lsa_whisper.evaluate.bootstrap import Resamples
from lsa_whisper.evaluate.counts import Detections, WordErrors
from lsa_whisper.evaluate.normalize import normalize
from lsa_whisper.evaluate.pairing import Files, pair
from lsa_whisper.evaluate.results import Difference, Evaluation
from lsa_whisper.evaluate.score import FileScores, score
from lsa_whisper.evaluate.system import System
from lsa_whisper.evaluate.words import has_marks, mark_from_words

__all__ = ["Detections", "Difference", "Evaluation", "FileScores", "System", "WordErrors", "evaluate", "normalize"]


def evaluate(
    reference: Path,
    hypotheses: Sequence[Path],
    *,
    out: Path | None = None,
    names: Sequence[str] = (),
    audio: Path | None = None,
    samples: int = 2000,
    progress: Callable[[str], None] | None = None,
) -> Evaluation:
    """Return the scores of one or several systems over the same references.

    A reference without a hypothesis counts all its words as left out, and is named in the result.

    Args:
        reference: a CHAT file, or a folder of them.
        hypotheses: one CHAT file or folder per system; files are paired with the references by path or stem.
        out: a folder for ``report.html``, ``report.md`` and ``report.json``; made if it is not there.
        names: one name per system; their file or folder names when left out.
        audio: a folder with the recordings, to be played from the report.
        samples: how many bootstrap resamples the intervals come from.
        progress: called with ``"system: file"`` before each file is scored.

    Raises:
        CorpusError: a path does not exist, holds no CHAT, or the names do not fit.
    """
    files = pair(Path(reference), [Path(path) for path in hypotheses], names)
    said = {key: chat.read(path).utterances for key, path in files.references.items()}
    resamples = Resamples.draw(len(said), samples=samples)
    tell = progress or (lambda _: None)
    systems = {n: _system(n, files, said, resamples, rows=out is not None, tell=tell) for n in files.hypotheses}
    evaluation = Evaluation(Path(reference), systems, samples)
    if out is None:
        return evaluation
    from lsa_whisper.evaluate.report import write_reports

    return replace(evaluation, report=write_reports(evaluation, said, Path(out), audio=audio))


def _system(
    name: str,
    files: Files,
    said: dict[str, list[Utterance]],
    resamples: Resamples,
    *,
    rows: bool,
    tell: Callable[[str], None],
) -> System:
    """Return the scores of one system; its files are read one at a time."""
    paths = files.hypotheses[name]
    marked = not paths or any(has_marks(chat.read(path).utterances) for path in paths.values())
    scores = []
    for key, reference in said.items():
        tell(f"{name}: {key}")
        heard = chat.read(paths[key]).utterances if key in paths else None
        if heard is not None and not marked:
            heard = [mark_from_words(utterance) for utterance in heard]
        scores.append(score(key, reference, heard, rows=rows))
    return System(name, tuple(scores), resamples, marked, tuple(files.unused[name]))
