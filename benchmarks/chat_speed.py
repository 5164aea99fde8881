"""How fast CHAT becomes words and events, on one core, beside rustling (a CHAT reader in Rust) on the same files.

The two do not do the same work: rustling gives the tokens its authors chose (fillers, fragments and retraced words left
out), lsa_whisper the spoken words, the fluent words and every disfluency with its place.

    python -m benchmarks.chat_speed FOLDER...
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import result
from lsa_whisper import chat

ROUNDS = 5


def main() -> None:
    """Measure both in turns and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    files = sorted(path for folder in options.folders for path in folder.rglob("*.cha"))
    texts = [path.read_text("utf-8", errors="replace") for path in files]
    readers: dict[str, Callable[[Sequence[str]], int]] = {"lsa_whisper": ours, "rustling": theirs}
    best = dict.fromkeys(readers, 0.0)
    for _ in range(ROUNDS):
        for name, read in readers.items():
            began = time.process_time()
            best[name] = max(best[name], read(texts) / (time.process_time() - began))
    result.write(
        "chat_speed",
        ("rustling",),
        f"{len(files)} transcripts, {ours(texts)} utterances",
        utterances_per_second_and_core={name: round(speed) for name, speed in best.items()},
        longer_file=longer(texts[0]),
        memory=memory(files),
    )


def ours(texts: Sequence[str]) -> int:
    """Return how many utterances there are, after finding the words and events of each."""
    count = 0
    for text in texts:
        for utterance in chat.parse(text).utterances:
            utterance.verbatim(), utterance.fluent(), utterance.events()
            count += 1
    return count


def theirs(texts: Sequence[str]) -> int:
    """Return how many utterances rustling finds, after finding the tokens of each."""
    import rustling

    read = rustling.chat.CHAT.from_strs(list(texts), strict=False, parallel=False)
    read.tokens(by_utterance=True)
    return len(read.utterances())


def longer(text: str) -> dict[str, float]:
    """Return the seconds per utterance of a transcript and of one a hundred times as long: equal if linear."""
    head, body = text.split("\n*", 1)
    lines = "*" + body.rpartition("\n@End")[0] + "\n"
    seconds = {}
    for times in (10, 1000):
        made = f"{head}\n{lines * times}@End\n"
        began = time.process_time()
        count = ours([made])
        seconds[f"microseconds_per_utterance_x{times}"] = round((time.process_time() - began) / count * 1e6, 1)
    return seconds


def memory(files: Sequence[Path]) -> dict[str, int]:
    """Return the peak memory (KiB) after each file was read once, and after all were read ten times more."""

    def peak() -> int:
        for path in files:
            ours([path.read_text("utf-8", errors="replace")])
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    once = peak()
    return {"files_once": once, "files_eleven_times": [peak() for _ in range(10)][-1]}


if __name__ == "__main__":
    main()
