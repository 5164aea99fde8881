"""Damaged labels of real utterances, decoded and checked: whatever a model writes must be legal CHAT.

Each label is damaged by one to three of the mistakes that models make: a token is dropped, doubled or swapped with the
next, or the label is cut. What is decoded is written as a transcript and must pass the check of ``inspect --check``.

    python -m benchmarks.damaged_labels FOLDER... --tokenizer FOLDER
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.chat import Participant, Utterance, compose
from lsa_whisper.labels import Labels, decode, encode

SEEDS = (1, 2, 3, 4, 5)
PER_SEED = 10_000
STYLES = ("chat/4", "chat/4", "chat/4", "chat/4", "chat/2", "chat/1", "verbatim/4")
MANY = 500
"""Utterances in one checked transcript."""

Spoken = tuple[Utterance, str]
"""An utterance and the language of its transcript."""


def main() -> None:
    """Decode and check the damaged labels and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--tokenizer", required=True, type=Path)
    options = parser.parse_args()
    from transformers import WhisperTokenizerFast

    tokenizer = WhisperTokenizerFast.from_pretrained(options.tokenizer)
    spoken = real_utterances(options.folders)
    runs = [damage_and_check(spoken, tokenizer, seed, PER_SEED) for seed in SEEDS]
    result.write(
        "damaged_labels",
        ("transformers",),
        f"{len(spoken)} real utterances, seeds {', '.join(map(str, SEEDS))}",
        labels=sum(run["labels"] for run in runs),
        utterances=sum(run["utterances"] for run in runs),
        rejected=sum(run["rejected"] for run in runs),
        problems=dict(sum((Counter(run["problems"]) for run in runs), Counter())),
        examples=[example for run in runs for example in run["examples"]][:10],
    )


def real_utterances(folders: Sequence[Path]) -> list[Spoken]:
    """Return the utterances with words of all transcripts in ``folders``."""
    files = sorted(path for folder in folders for path in folder.rglob("*.cha"))
    read = ((chat.read(path), path) for path in files)
    return [
        (one, (transcript.languages or ["eng"])[0])
        for transcript, _ in read
        for one in transcript.utterances
        if one.verbatim()
    ]


def damage_and_check(spoken: Sequence[Spoken], tokenizer: Any, seed: int, count: int) -> dict[str, Any]:
    """Return the number of labels, decoded utterances, rejected ones, and the problems by code."""
    draw = random.Random(seed)
    by_language: dict[str, list[Utterance]] = {}
    for _ in range(count):
        one, language = draw.choice(spoken)
        labels = Labels.from_name(draw.choice(STYLES))
        tokens = tokenizer.encode(f" {encode(one, labels)}", add_special_tokens=False)
        text = tokenizer.decode(damaged(tokens, draw))
        by_language.setdefault(language, []).extend(decode(text, labels, language=language).utterances)
    found = list(_problems(by_language))
    return {
        "labels": count,
        "utterances": sum(map(len, by_language.values())),
        "rejected": len({line for line, _ in found}),
        "problems": Counter(code for _, code in found),
        "examples": [f"{line} [{code}]" for line, code in found[:10]],
    }


def damaged(tokens: Sequence[int], draw: random.Random) -> list[int]:
    """Return ``tokens`` after one to three random mistakes."""
    made = list(tokens)
    for _ in range(draw.randint(1, 3)):
        if not made:
            break
        at = draw.randrange(len(made))
        match draw.choice(("drop", "double", "swap", "cut")):
            case "drop":
                del made[at]
            case "double":
                made.insert(at, made[at])
            case "swap":
                made[at : at + 2] = reversed(made[at : at + 2])
            case "cut":
                del made[at:]
    return made


def _problems(by_language: dict[str, list[Utterance]]) -> Iterator[tuple[str, str]]:
    """Yield the main tier and the code of each problem that the check finds."""
    for language, utterances in by_language.items():
        person = Participant("PAR", "Participant", language=language, corpus="benchmark")
        for begin in range(0, len(utterances), MANY):
            made = compose(languages=[language], participants=[person], utterances=utterances[begin : begin + MANY])
            lines = chat.serialize(made).splitlines()
            for problem in chat.check(made):
                yield lines[problem.line - 1], problem.code


if __name__ == "__main__":
    main()
