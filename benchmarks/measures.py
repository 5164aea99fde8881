"""Measures of a language sample beside those of other programs, on the transcripts of ``../shared/data/chat``.

    python -m benchmarks.measures ../shared/data/chat

MLU and TTR of the target child of every file are compared with pylangacq's, then those of all utterances of plain words
together, where the two definitions cannot differ; FluCalc's counts with the row that CLAN's authors publish for
``fluency.cha``. Writes ``benchmarks/results/measures.json`` and the table in ``docs/labels-and-scores.md``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.errors import ChatSyntaxError
from lsa_whisper.inspection.measures import SpeakerMeasures, measure_speakers

PAGE = Path(__file__).resolve().parents[1] / "docs" / "labels-and-scores.md"
BEGIN, END = "<!-- table of measures -->\n", "<!-- end of the table of measures -->\n"
CHILD = "CHI"
ALL = 10_000_000
"""pylangacq measures the first 100 utterances unless told otherwise."""
MEASURES = {"mluw": "MLU in words", "mlum": "MLU in morphemes", "ttr": "TTR"}
PUBLISHED = {
    "prolongation": 4, "broken_word": 1, "block": 1, "part_word_repetition": 7, "part_word_repetition_iterations": 15,
    "whole_word_repetition": 1, "word_revision": 2, "pause": 2, "filled_pause": 2, "td": 6, "sld": 14,
}  # fmt: skip
"""FluCalc's row for ``fluency.cha``, as published."""
WHY = {
    "mluw": "as CLAN's manual defines `MLU -t%mor`. Without `%mor`, pylangacq also counts terminators and commas; it "
    "keeps the rest of an utterance with `xxx`",
    "mlum": "as CLAN's manual defines `MLU`. pylangacq counts the items and clitics of `%mor`, but no inflections",
    "ttr": "as CLAN's manual defines `FREQ`. Without `%mor`, pylangacq also counts terminators; capitals make another "
    "type",
    "flucalc": "with `--mode flucalc`; the published row has no more counts",
}
_PLAIN = re.compile(r"[a-zA-ZÀ-ſ' ]+")
_SUFFIX = re.compile(r"-(?:PL|PAST|PASTP|POSS|PRESP|PROG|Plur|Past|Part|Ger)\b")
_HEAD = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Target_Child\n@ID:\teng|c|CHI|||||Target_Child|||\n"


def main() -> None:
    """Compare, and write the result and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    files = sorted(folder.rglob("*.cha"))
    result.write("measures", ("pylangacq",), f"{folder}: {len(files)} constructed transcripts", **compared(folder))
    PAGE.write_text(update_page(PAGE.read_text("utf-8")), "utf-8")


def compared(folder: Path) -> dict[str, Any]:
    """Return how many values are equal to those of others, by measure."""
    files = sorted(folder.rglob("*.cha"))
    counts = {name: [0, 0] for name in MEASURES}
    for own, others in pairs(files):
        for name, value in own.items():
            if value is not None and others[name] is not None:
                counts[name][0] += isclose(value, others[name])
                counts[name][1] += 1
    lines = list(plain_lines(sorted((folder / "reference").rglob("*.cha"))))
    own, others = both(f"{_HEAD}{''.join(lines)}@End\n")
    fluency = chat.read(folder / "fluency" / "fluency.cha").fluency("flucalc")["PAR"].as_dict()
    row = {name: fluency["counts"].get(name, fluency.get(name)) for name in PUBLISHED}
    return {
        "children": {name: {"equal": equal, "of": of} for name, (equal, of) in counts.items()},
        "plain_utterances": len(lines),
        "plain": {name: {"ours": own[name], "pylangacq": others[name]} for name in MEASURES},
        "flucalc": {"equal": sum(row[name] == PUBLISHED[name] for name in PUBLISHED), "of": len(PUBLISHED)},
    }


def pairs(files: list[Path]) -> Iterator[tuple[dict[str, float | None], dict[str, float | None]]]:
    """Yield our values and pylangacq's of the target child of each file that both read."""
    for path in files:
        try:
            yield both(path.read_text("utf-8"))
        except (ValueError, KeyError, ChatSyntaxError):  # the folder has files with errors, and without a child
            continue


def both(text: str) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Return our values and pylangacq's of the target child in a transcript.

    Raises:
        KeyError: There is no target child.
        ValueError: pylangacq cannot read it.
    """
    import pylangacq

    found: SpeakerMeasures = measure_speakers(chat.parse(text))[CHILD]
    other = pylangacq.CHAT.from_strs([text])
    values = {name: next(iter(getattr(other, name)(n=ALL)), None) for name in MEASURES}
    ours = {"mluw": found.sample.mlu_words, "mlum": found.mlu_morphemes, "ttr": found.sample.ttr}
    return ours, values


def plain_lines(files: list[Path]) -> Iterator[str]:
    """Yield the utterances of plain words whose ``%mor`` has an item for each word and no inflection that counts."""
    for path in files:
        for each in chat.read(path).utterances:
            mor = next((tier.raw for tier in each.tiers if tier.name == "%mor"), "")
            text = each.text.rstrip(".?! ")
            if _PLAIN.fullmatch(text) and len(mor.split()) == len(text.split()) + 2 and not _SUFFIX.search(mor):
                yield f"*CHI:\t{text} .\n{mor.rstrip()[:-1]}.\n"


def table(found: dict[str, Any]) -> str:
    """Return the table of the documentation."""
    lines = ["| measure | equal to | in | definition, and why others differ |", "|---|---|---|---|"]
    for name, title in MEASURES.items():
        children, plain = found["children"][name], found["plain"][name]
        same = "equal" if isclose(plain["ours"], plain["pylangacq"]) else "NOT EQUAL"
        where = (
            f"{children['equal']} of {children['of']} files; {same} over {found['plain_utterances']} plain utterances"
        )
        lines.append(f"| {title} | pylangacq {found['versions']['pylangacq']} | {where} | {WHY[name]} |")
    flucalc = found["flucalc"]
    where = f"{flucalc['equal']} of {flucalc['of']} published counts"
    lines.append(f"| disfluencies, SLD, TD | CLAN's example `fluency.cha` | {where} | {WHY['flucalc']} |")
    return "\n".join(lines) + "\n"


def update_page(text: str) -> str:
    """Return the page with an updated table."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table(result.last('measures'))}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    main()
