"""The demo over several seeds: fine-tuning on storybook trains models/nano to keep disfluencies.

Runs the complete demo once per seed, then scores all transcripts of the test speakers in one report: the base model and
every seed of each adaptation, and once more on a test set in which each class is frequent. The starts of words are
compared with the known ones, in transcripts for which one text was followed, where the demo compares several; these are
scored, too. Finished steps are skipped.

    python -m benchmarks.demo_seeds --seeds 3
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.rare_disfluencies import events, rare_report
from benchmarks.word_times import errors_ms, summary
from lsa_whisper import chat
from lsa_whisper.demo import ADAPTATIONS, demo
from lsa_whisper.evaluation import evaluate
from lsa_whisper.transcription import transcribe

TEST = Path("corpora/storybook/test")
METRICS = ("wer_verbatim", "wer_fluent", "disfluency_f1", "role_accuracy")
CLASSES = (
    "filled_pause",
    "repetition",
    "revision",
    "false_start",
    "fragment",
    "part_word_repetition",
    "prolongation",
    "block",
    "pause",
)


def main() -> None:
    """Run the seeds and write ``benchmarks/results/demo_seeds.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/demo-seeds"))
    options = parser.parse_args()
    seconds = timed(options.out, options.seeds)
    report = joint_report(transcripts(options.out, options.seeds), options.out / "report")
    print(report)
    models = {"base": Path("models/nano")}
    models |= {f"{name} seed {n}": options.out / str(n) / name for name in ADAPTATIONS for n in range(options.seeds)}
    rare = rare_report(models, options.out / "rare")
    with_times = {name: options.out / "word-times" / name.replace(" ", "-") for name in models}
    result.write(
        "demo_seeds",
        ("torch", "transformers", "peft"),
        "corpora/storybook, test speakers; SYNTHETIC speech",
        demo_seconds=seconds,
        systems=scores(report.with_suffix(".json")),
        word_starts=timed_words(models, with_times),
        one_text=scores(joint_report(with_times, options.out / "one-text").with_suffix(".json")),
        rare_events=events(rare),
        rare=scores(rare),
    )


def timed(out: Path, seeds: int) -> list[int | None]:
    """Run the demo of every seed and return the seconds of each.

    What lies in a folder already is skipped, so of such a seed the time of the last result stays; ``None`` where there
    is none.
    """
    known: dict[int, int | None] = dict(enumerate(result.last("demo_seeds").get("demo_seconds", [])))
    for seed in range(seeds):
        is_new, began = not (out / str(seed)).exists(), time.monotonic()
        demo(out / str(seed), seed=seed)
        if is_new:
            known[seed] = round(time.monotonic() - began)
    return [known.get(seed) for seed in range(seeds)]


def transcripts(out: Path, seeds: int) -> dict[str, Path]:
    """Return the transcripts of all seeds by the name of their system.

    The base model is not trained, so it has no seed: the first demo's transcripts stand for it.
    """
    systems = {"base": out / "0" / "transcripts" / "before"}
    for name in ADAPTATIONS:
        systems |= {f"{name} seed {seed}": out / str(seed) / "transcripts" / name for seed in range(seeds)}
    return systems


def joint_report(systems: dict[str, Path], out: Path) -> Path:
    """Evaluate all transcripts together and return the report's path."""
    found = evaluate(TEST, list(systems.values()), names=list(systems), out=out, audio=TEST)
    print(found.table())
    assert found.report is not None
    return found.report


def timed_words(models: dict[str, Path], out: dict[str, Path]) -> list[dict[str, Any]]:
    """Transcribe with word times, and return how far they are from the known ones, a row for each model by name."""
    rows = []
    for name, model in models.items():
        transcribe([TEST], model=str(model), out=out[name], word_times=True)
        rows.append({"system": name, **word_starts(out[name])})
    return rows


def word_starts(transcripts: Path) -> dict[str, Any]:
    """Return how far the starts of correctly recognized words of the test speakers are from the known ones."""
    references = sorted(TEST.glob("*.cha"))
    return summary(
        [error for path in references for error in errors_ms(path, chat.read(transcripts / path.name)).starts]
    )


def scores(report: Path) -> list[dict[str, Any]]:
    """Return the main figures of every system of a report, with their intervals."""
    return [
        {
            "system": system["name"],
            **{key: system["metrics"][key] for key in METRICS},
            "classes": {
                kind: {each: found[each] for each in ("precision", "recall", "f1")}
                for kind in CLASSES
                if (found := system["disfluency"].get(kind)) is not None
            },
        }
        for system in json.loads(report.read_text("utf-8"))["systems"]
    ]


if __name__ == "__main__":
    main()
