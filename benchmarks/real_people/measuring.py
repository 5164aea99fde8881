"""Systems are measured on a corpus, cross-validated by people: each part is heard by a model trained on the others."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import result
from benchmarks.real_people.corpus import CLEAN, Clip, clips_of, copy_corpus, folds_of
from benchmarks.real_people.scores import Counts, by_set, count, figures, total
from lsa_whisper.transcription import Transcriber

Training = Callable[[Path, Path, Path, int], Path]
"""Trains on a corpus from a base into a folder with a seed, and returns the model."""


@dataclass(frozen=True)
class System:
    """How a model is trained, ``None`` for the base itself, and the style that recordings are transcribed in."""

    train: Training | None = None
    style: str | None = None


def measure(name: str, about: str, systems: Mapping[str, System]) -> None:
    """Measure the systems that are named on the command line, and write the result.

    Args:
        name: The benchmark's module.
        about: Its description.
        systems: All that can be measured, by name.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument(
        "--systems",
        nargs="+",
        default=[*systems],
        choices=[*systems],
        help="What is measured; the figures of others are kept, of the same recordings and model.",
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--work", type=Path, default=Path("build/real_people"), help="Folder of models and counts.")
    options = parser.parse_args()
    clips = clips_of(options.corpus, options.work / "corpus")
    folds = folds_of(clips, options.folds)
    rows = {}
    for title in options.systems:
        system = systems[title]
        places = [f"{title.replace(', ', '-').replace(' ', '-')}-{seed}" for seed in range(options.seeds)]
        runs = [
            _counts(system, seed, folds, options.model, options.work / place)
            for seed, place in enumerate(places if system.train else places[:1])
        ]
        rows[title] = _figures(clips, folds, runs)
        for part, row in rows[title].items():
            print(title, part, json.dumps(row), flush=True)
    people = len(frozenset.union(*(clip.people for clip in clips if clip.set != CLEAN)))
    sets = {part: sum(clip.set == part for clip in clips) for part in dict.fromkeys(clip.set for clip in clips)}
    data = f"real speech of {people} people, and clean speech: " + ", ".join(f"{n} {part}" for part, n in sets.items())
    before = result.last(name)
    kept = before["systems"] if (before.get("data"), before.get("model")) == (data, options.model.name) else {}
    more = {"model": options.model.name, "folds": len(folds), "seeds": options.seeds, "systems": kept | rows}
    result.write(name, ("torch", "transformers"), data, **more)


def _counts(system: System, seed: int, folds: Sequence[Sequence[Clip]], base: Path, work: Path) -> list[list[Counts]]:
    """Return the counts of each clip in each fold, by the model that did not hear its people."""
    counts = []
    for number, fold in enumerate(folds):
        place = work.with_name(f"{work.name}-{number}")
        done = place / "counts.json"
        if not done.exists():
            others = [clip for at, other in enumerate(folds) if at != number for clip in other]
            model = system.train(copy_corpus(others, place / "corpus"), base, place, seed) if system.train else base
            transcriber = Transcriber(model, style=system.style)
            place.mkdir(parents=True, exist_ok=True)
            done.write_text(json.dumps([count(transcriber, clip) for clip in fold]))
            shutil.rmtree(place / "model", ignore_errors=True)
        counts.append(json.loads(done.read_text()))
    return counts


def _figures(
    clips: Sequence[Clip], folds: Sequence[Sequence[Clip]], runs: Sequence[list[list[Counts]]]
) -> dict[str, object]:
    """Return the figures of each set and of all but clean speech, summed over the seeds, and of each seed."""
    heard = [clip for fold in folds for clip in fold]
    flat = [[one for fold in run for one in fold] for run in runs]
    sums = [by_set(heard, counts) for counts in flat]
    rows: dict[str, object] = {name: figures(total(one[name] for one in sums)) for name in sums[0]}
    spoken = [[one for clip, one in zip(heard, counts, strict=True) if clip.set != CLEAN] for counts in flat]
    rows["all"] = figures(total(one for counts in spoken for one in counts))
    return rows | {"all, by seed": [figures(total(counts)) for counts in spoken]}
