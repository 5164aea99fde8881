"""Words and disfluencies of real people: as a stock model writes them, and after training on other people.

    python -m benchmarks.real_people ../shared/data ../shared/data/whisper/base
    python -m benchmarks.real_people MY_CORPUS openai/whisper-small --out my-figures

A corpus is a folder of CHAT transcripts and recordings; each folder in it is a set, and one named ``clean`` is speech
without disfluencies that nobody trains on. Recordings are transcribed whole, with the defaults of ``transcribe``. The
trained systems are cross-validated: in each fold, the people of one part are heard by a model trained on the others.
``ours`` is ``lsa-whisper finetune FOLDER --model MODEL`` as typed. Word errors are counted on all words as spoken, and
without disfluencies. What is done is kept in ``--work``, from where a stopped call goes on.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import result
from benchmarks.real_people import plain_example
from benchmarks.real_people.corpus import CLEAN, Clip, clips_of, copy_corpus, folds_of
from benchmarks.real_people.scores import Counts, by_set, count, figures, total
from benchmarks.real_people.variants import VARIANTS, train
from lsa_whisper.finetuning.from_corpus import finetune
from lsa_whisper.transcription import Transcriber

STOCK = {"stock, fluent": "fluent", "stock, verbatim": "verbatim"}
ADAPTER = (
    "model.freeze_encoder=false",
    "model.top_layers=null",
    "adapter={rank: 16, alpha: 32, stacks: decoder}",
    "training.learning_rate=3e-4",
)
"""What ``finetune FOLDER`` chooses for a larger model: the recipe of the shipped adapter."""


def finetuned(corpus: Path, base: Path, out: Path, seed: int, settings: Sequence[str] = ()) -> Path:
    """Return the model that ``finetune`` trains on a folder."""
    return finetune(corpus, model=base, out=out / "model", set=[f"seed={seed}", *settings]).out


TRAINED: dict[str, Callable[[Path, Path, Path, int], Path]] = {
    "ours": finetuned,
    "ours, adapter": lambda corpus, base, out, seed: finetuned(corpus, base, out, seed, ADAPTER),
    "plain example": lambda corpus, base, out, seed: plain_example.train(corpus, base, out, seed, space=False),
    "plain example, space": lambda corpus, base, out, seed: plain_example.train(corpus, base, out, seed, space=True),
}
STYLES = STOCK | {name: variant.style for name, variant in VARIANTS.items()}


def main() -> None:
    """Measure every system, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument(
        "--systems",
        nargs="+",
        default=[*STOCK, *TRAINED],
        choices=[*STOCK, *TRAINED, *VARIANTS],
        help="What is measured; the figures of others are kept, of the same recordings and model.",
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--work", type=Path, default=Path("build/real_people"), help="Folder of models and counts.")
    options = parser.parse_args()
    clips = clips_of(options.corpus, options.work / "corpus")
    folds = folds_of(clips, options.folds)
    rows: dict[str, list[Counts]] = {}
    for system in options.systems:
        seeds = range(1) if system in STOCK else range(options.seeds)
        runs = [_counts(system, seed, folds, options.model, options.work) for seed in seeds]
        rows[system] = runs
        for name, row in _figures(clips, folds, runs).items():
            print(system, name, json.dumps(row), flush=True)
    people = len(frozenset.union(*(clip.people for clip in clips if clip.set != CLEAN)))
    sets = {name: sum(clip.set == name for clip in clips) for name in dict.fromkeys(clip.set for clip in clips)}
    about = f"real speech of {people} people, and clean speech: " + ", ".join(f"{n} {name}" for name, n in sets.items())
    before = result.last("real_people")
    kept = before["systems"] if (before.get("data"), before.get("model")) == (about, options.model.name) else {}
    result.write(
        "real_people",
        ("torch", "transformers"),
        about,
        model=options.model.name,
        folds=len(folds),
        seeds=options.seeds,
        systems=kept | {system: _figures(clips, folds, runs) for system, runs in rows.items()},
    )


def _counts(system: str, seed: int, folds: Sequence[Sequence[Clip]], base: Path, work: Path) -> list[list[Counts]]:
    """Return the counts of each clip in each fold, by the model that did not hear its people."""
    counts = []
    for number, fold in enumerate(folds):
        place = work / f"{system.replace(', ', '-').replace(' ', '-')}-{seed}-{number}"
        done = place / "counts.json"
        if not done.exists():
            others = [clip for at, other in enumerate(folds) if at != number for clip in other]
            transcriber = Transcriber(_model(system, seed, others, base, place), style=STYLES.get(system))
            place.mkdir(parents=True, exist_ok=True)
            done.write_text(json.dumps([count(transcriber, clip) for clip in fold]))
            shutil.rmtree(place / "model", ignore_errors=True)
        counts.append(json.loads(done.read_text()))
    return counts


def _model(system: str, seed: int, others: Sequence[Clip], base: Path, place: Path) -> Path:
    """Return the model of a system, trained on ``others`` if it is a trained one."""
    if system in STOCK:
        return base
    corpus = copy_corpus(others, place / "corpus")
    return (
        train(VARIANTS[system], corpus, base, place, seed)
        if system in VARIANTS
        else TRAINED[system](corpus, base, place, seed)
    )


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


if __name__ == "__main__":
    main()
