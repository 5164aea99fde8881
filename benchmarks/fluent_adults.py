"""The profile of fluent adults that ``prepare --splice-profile fluent-adults`` uses, counted from hand annotation.

Sentences of meetings (AMI corpus) become CHAT with word times, which is then counted as any corpus is. A silence of at
least 250 ms within a sentence counts as a pause, as usual since Goldman-Eisler (1968).

    python -m benchmarks.fluent_adults ../shared/data/ami/disfluencies.jsonl.gz
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.disfluency_annotation import rows
from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.labels.infer_marks import PLAIN_FILLERS
from lsa_whisper.splice import FLUENT_ADULTS, count_profile
from lsa_whisper.timespan import TimeSpan

CODES = {"repeat": "[/]", "replace": "[//]", "insert": "[//]", "delete": "[//]", "restart": "[/-]"}
PAUSES_MS = ((3000, "(...)"), (1000, "(..)"), (250, "(.)"))
_ENDS = frozenset(".?!")


def main() -> None:
    """Count and write the profile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    found = count_profile(sentence for path in options.files for row in rows(path) for sentence in sentences(row))
    FLUENT_ADULTS.write_text(json.dumps(found.as_dict(), indent=1) + "\n", "utf-8")
    print(FLUENT_ADULTS)


def sentences(row: dict[str, Any]) -> Iterator[Utterance]:
    """Yield the sentences of an annotated turn as CHAT; annotation that overlaps an earlier one is left out."""
    starts, ends = _groups(row["disfluencies"])
    stutters = {at for one in row["disfluencies"] if one["type"] == "stutter" for at in range(one["from"], one["to"])}
    pieces: list[str] = []
    times: list[tuple[str, TimeSpan]] = []
    for at, (text, kind, start_ms, end_ms) in enumerate(row["tokens"]):
        if at in starts:
            pieces.append("<")
        if kind == "punctuation" and text in _ENDS and not _is_open(pieces):
            yield from _ended(pieces, times)
            pieces, times = [], []
        elif (
            kind in ("word", "cut_off")
            and (word := text.strip("_").replace("_", "").casefold()).replace("'", "").isalpha()
        ):
            following = row["tokens"][at + 1][0].casefold() if at + 1 < len(row["tokens"]) else ""
            if pieces and times and not _is_open(pieces):
                pieces += _pause(start_ms - times[-1][1].end_ms)
            written = _written(word, kind, at in stutters and following.startswith(word))
            pieces.append(written)
            if not written.endswith("↫"):
                times.append((word, TimeSpan(start_ms, end_ms)))
        if at in ends:
            pieces += [">", ends[at]]
    yield from _ended(pieces, times)


def _groups(disfluencies: Sequence[dict[str, Any]]) -> tuple[set[int], dict[int, str]]:
    """Return the first tokens of what was taken back, and its last ones with their codes."""
    starts: set[int] = set()
    ends: dict[int, str] = {}
    free = 0
    for one in sorted(disfluencies, key=lambda one: one["from"]):
        if one["type"] in CODES and one.get("reparandum") and one["reparandum"][0] >= free:
            first, free = one["reparandum"]
            starts.add(first)
            ends[free - 1] = CODES[one["type"]]
    return starts, ends


def _written(word: str, kind: str, begins_next: bool) -> str:
    if kind == "cut_off":
        return f"↫{word}↫" if begins_next else f"&+{word}"
    return f"&-{word}" if word in PLAIN_FILLERS else word


def _is_open(pieces: Sequence[str]) -> bool:
    return pieces.count("<") > pieces.count(">")


def _pause(silence_ms: int) -> list[str]:
    return next(([mark] for least_ms, mark in PAUSES_MS if silence_ms >= least_ms), [])


def _ended(pieces: Sequence[str], times: Sequence[tuple[str, TimeSpan]]) -> Iterator[Utterance]:
    text = " ".join([*pieces, "."]).replace("< ", "<").replace(" >", ">").replace("↫ ", "↫")
    made = utterance("PAR", text)
    if made.tree.faults or "<>" in text:  # nothing that was taken back is a word
        return
    if times and len(made.verbatim()) == len(times):
        yield utterance("PAR", text, times[0][1] | times[-1][1], [(word, span) for word, span in times])
    elif times:
        yield made


if __name__ == "__main__":
    main()
