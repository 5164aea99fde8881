"""How well retraces are found from words alone, on hand-annotated meetings.

python -m benchmarks.retraces FILE...                    the shipped model on other meetings
python -m benchmarks.retraces FILE... --cross-validate   by groups of speakers: a model per group, trained on the others
python -m benchmarks.retraces FILE... --train MODEL      train the shipped model anew

With ``--work FOLDER``, the models of the groups are kept there, and those that are there are not trained again.

A word (also a cut-off one, fillers aside) is *taken back* if it is in the reparandum of a repeat, replacement,
insertion, deletion or restart. The first two print figures as JSON: the rules for repeats, the tagger with times and
commas, and the tagger without them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import disfluency_annotation, result
from lsa_whisper.labels.infer_marks import rule_based_repeats
from lsa_whisper.retraces.retrace import find_retraces
from lsa_whisper.retraces.tagger import CAREFUL, THRESHOLD, Tagger, tagger_for
from lsa_whisper.retraces.training import AnnotatedUtterance, bare, train
from lsa_whisper.retraces.words import NOT_TAKEN_BACK, SpokenWord

Judged = list[tuple[str, float]]
"""Label and score of each word."""


def main() -> None:
    """Print the figures of the shipped model, cross-validate, or train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--cross-validate", action="store_true")
    parser.add_argument("--work", type=Path, metavar="FOLDER")
    parser.add_argument("--train", type=Path, metavar="MODEL")
    options = parser.parse_args()
    data = disfluency_annotation.read(options.files)
    if options.train:
        train([one for _, one in data], options.train)
    elif options.cross_validate:
        with tempfile.TemporaryDirectory() as folder:
            figures = summary(cross_validated(data, options.work or Path(folder)))
        print(json.dumps(figures, indent=1))
        groups = len({group for group, _ in data})
        result.write("retraces", ("python-crfsuite",), f"AMI, {groups} groups of speakers, one held out", **figures)
    else:
        tagger = tagger_for("eng")
        assert tagger is not None
        print(json.dumps(summary(judged([one for _, one in data], tagger)), indent=1))


def cross_validated(data: Sequence[tuple[str, AnnotatedUtterance]], models: Path) -> dict[str, Judged]:
    """Return the judged words of every group, by a model in ``models`` that was trained on the other groups."""
    with ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(partial(_held_out, data, models), sorted({group for group, _ in data})))
    return {name: [one for part in parts for one in part[name]] for name in parts[0]}


def _held_out(data: Sequence[tuple[str, AnnotatedUtterance]], models: Path, held_out: str) -> dict[str, Judged]:
    path = models / f"{held_out}.crf"
    if not path.exists():
        train([one for group, one in data if group != held_out], path)
    return judged([one for group, one in data if group == held_out], Tagger(path))


def judged(utterances: Sequence[AnnotatedUtterance], tagger: Tagger) -> dict[str, Judged]:
    """Return label and score of each word by every method; rules and marks score 0 or 1."""

    def all_words(score: Callable[[Sequence[SpokenWord]], Sequence[float]]) -> Judged:
        pairs = [(one.labels, score(one.words)) for one in utterances]
        return [pair for labels, scores in pairs for pair in zip(labels, scores, strict=True)]

    def probability(words: Sequence[SpokenWord]) -> list[float]:
        return [word.taken_back for word in tagger.probabilities(words)]

    def marked(words: Sequence[SpokenWord], threshold: float) -> list[float]:
        found = find_retraces(words, tagger, threshold)
        inside = {at for one in found for at in range(one.first, one.last + 1)}
        return [float(at in inside) for at in range(len(words))]

    return {
        "rules": all_words(_rules),
        "marks": all_words(partial(marked, threshold=THRESHOLD)),
        "careful marks": all_words(partial(marked, threshold=CAREFUL)),
        "tagger": all_words(probability),
        "tagger without times and commas": all_words(lambda words: probability(bare(words))),
    }


def _rules(words: Sequence[SpokenWord]) -> list[float]:
    written = [f"&+{word.text}" if word.cut_off else word.text for word in words]
    inside = {at for first, length in rule_based_repeats(written) for at in range(first, first + length)}
    return [float(at in inside) for at in range(len(words))]


def summary(methods: dict[str, Judged]) -> dict[str, Any]:
    """Return precision, recall and F1 of each method, recall by kind, and an operating point of high precision."""
    figures: dict[str, Any] = {"words": len(methods["rules"]), "threshold": THRESHOLD, "careful": CAREFUL}
    for name, words in methods.items():
        figures[name] = figures_at(words, THRESHOLD)
        if name.startswith("tagger"):
            figures[name]["at precision 0.80"] = operating_point(words, 0.80)
    return figures


def figures_at(words: Judged, threshold: float) -> dict[str, Any]:
    """Return precision, recall and F1 of taken-back words with a score of at least ``threshold``."""
    hits = sum(score >= threshold and label != NOT_TAKEN_BACK for label, score in words)
    found = sum(score >= threshold for _, score in words)
    true = sum(label != NOT_TAKEN_BACK for label, _ in words)
    by_kind = {}
    for kind in sorted(set(disfluency_annotation.KINDS.values())):
        scores = [score for label, score in words if label.endswith(kind)]
        by_kind[kind] = {"recall": round(sum(score >= threshold for score in scores) / max(1, len(scores)), 4)}
        by_kind[kind]["words"] = len(scores)
    return {
        "precision": round(hits / max(1, found), 4),
        "recall": round(hits / max(1, true), 4),
        "f1": round(2 * hits / max(1, found + true), 4),
        "by_kind": by_kind,
    }


def operating_point(words: Judged, precision: float) -> dict[str, float]:
    """Return the lowest threshold of at least ``precision``, and its recall."""
    true = sum(label != NOT_TAKEN_BACK for label, _ in words)
    hits = 0
    best = {"threshold": 1.0, "recall": 0.0}
    for found, (label, score) in enumerate(sorted(words, key=lambda word: -word[1]), 1):
        hits += label != NOT_TAKEN_BACK
        if hits / found >= precision:
            best = {"threshold": round(score, 4), "recall": round(hits / max(1, true), 4)}
    return best


if __name__ == "__main__":
    main()
