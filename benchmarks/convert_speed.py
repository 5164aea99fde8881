"""Time and memory of ``convert`` for a long file of subtitles, of ELAN and of CHAT, each as a user types it.

The texts are generated: sentences of five to twelve words by a few patterns of English, with fillers, repetitions,
cut-off words, numbers, abbreviations, names and sounds in brackets. The ELAN document has two speakers, each with tiers
of translations and comments for some utterances. The CHAT file is what the subtitles became. All seconds include the
start of the program, and those of the processor depend less on what else the machine does.

    python -m benchmarks.convert_speed
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchmarks import result

CUES = 100_000
ELAN_BYTES = 10_000_000
RUNS = 3
_SYLLABLES = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "ll", "t")]
_LISTS = {
    "subject": "I you we they he she it I you we they everybody someone nobody",
    "verb": """saw found wanted took made heard liked needed forgot bought brought moved watched lost washed painted
        opened broke carried cleaned fixed kept left pushed counted showed cut""",
    "base": "want need like see find take make hear get buy bring move watch lose wash paint open carry clean fix keep",
    "noun": """dog ball house school water mother baby tree table morning thing room book car bed hand door food box hat
        horse bus garden kitchen picture window phone letter story game song bird boat chair cup plate shoe coat bag
        road river shop train teacher doctor friend sister brother uncle neighbor kid boy girl man woman cat rabbit
        fish apple cake bread soup milk money job week summer winter party movie show word name number question""",
    "adjective": "big little old new red blue green good nice funny long small whole other first last dirty warm cold",
    "determiner": "the the the a a my your his her our their this that some every another",
    "preposition": "in on under near behind with from for into after before about over",
    "adverb": "really just also maybe always never today yesterday again there here now then too still quickly",
    "opener": "and but so well okay because when yeah oh no yes",
    "auxiliary": "do did can could would should will",
    "question": "where when how why",
}
_WORDS = {kind: words.split() for kind, words in _LISTS.items()}
_WORDS["noun"] = 20 * _WORDS["noun"] + [f"{one}{two}er" for one in _SYLLABLES[::7] for two in _SYLLABLES[::11]]
_PATTERNS = [
    pattern.split()
    for pattern in (
        "subject verb determiner noun preposition determiner adjective noun",
        "subject verb determiner adjective noun adverb",
        "opener determiner noun verb determiner noun preposition determiner noun",
        "opener subject adverb verb determiner noun preposition determiner adjective noun adverb",
        "auxiliary subject base determiner adjective noun",
        "question auxiliary subject base determiner noun preposition determiner noun",
        "determiner adjective noun verb subject preposition determiner noun adverb",
        "subject verb determiner noun opener determiner noun verb determiner adjective noun adverb",
    )
]
_NAMES = ("Johnny", "Anna", "Boston", "Rex", "Mrs. Miller", "Dr. Smith", "U.S.", "TV", "Monday")
_NUMBERS = ("2", "15", "1984", "3.5", "20th", "$5", "7:30", "100,000", "50%")
_FILLERS = ("um,", "uh,", "uh", "um", "er,", "mhm,")
_SOUNDS = ("[laughs]", "(coughs)", "[inaudible]", "[door slams]", "♪ la la ♪")


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cues", type=int, default=CUES)
    parser.add_argument("--elan-bytes", type=int, default=ELAN_BYTES)
    parser.add_argument("--runs", type=int, default=RUNS, help="Of which the fastest counts.")
    parser.add_argument("--note", default="", help="About the machine, for the result.")
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="Only write the files, to this folder.")
    options = parser.parse_args()
    if options.make:
        make(options.make, options.cues, options.elan_bytes)
        return
    with tempfile.TemporaryDirectory() as folder:
        inputs = make(Path(folder), options.cues, options.elan_bytes)
        made = Path(folder) / "cha" / f"{inputs[0].stem}.cha"
        cases = [(each, "cha") for each in inputs] + [(made, "srt"), (made, "eaf")]
        figures = [
            min((measure(path, format, Path(folder)) for _ in range(options.runs)), key=lambda run: run["core_s"])
            for path, format in cases
        ]
    result.write(
        "convert_speed",
        (),
        f"{options.cues:,} synthetic cues; {options.elan_bytes / 1e6:g} MB of synthetic ELAN",
        note=options.note,
        runs=options.runs,
        cases=figures,
    )


def make(folder: Path, cues: int, elan_bytes: int) -> list[Path]:
    """Write subtitles and an ELAN document to ``folder``, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / "subtitles.srt": subtitles(cues), folder / "elan.eaf": elan(elan_bytes)}
    for path, text in files.items():
        path.write_text(text, "utf-8")
    return list(files)


def sentences(seed: int) -> Iterator[str]:
    """Yield sentences as a careful typist writes them, without end."""
    rng = random.Random(seed)
    while True:
        said = [rng.choice(_WORDS[kind]) for kind in rng.choice(_PATTERNS)]
        for share, extras in ((0.15, _FILLERS), (0.1, _NAMES), (0.08, _NUMBERS), (0.05, _SOUNDS)):
            if rng.random() < share:
                said.insert(rng.randrange(len(said)), rng.choice(extras))
        at = rng.randrange(len(said) - 1)
        if rng.random() < 0.08:
            said[at:at] = said[at : at + rng.randint(1, 2)]
        elif rng.random() < 0.04:
            said.insert(at, f"{said[at][:2]}-")
        elif rng.random() < 0.25:
            said[at] += ","
        text = " ".join(said)
        yield text[0].upper() + text[1:] + rng.choices([".", "?", "!", "...", ""], [75, 12, 4, 4, 5])[0]


def subtitles(cues: int) -> str:
    """Return SubRip of so many cues, each of one sentence on one line or two."""
    blocks = []
    for number, text in zip(range(cues), sentences(0), strict=False):
        begin, end = 2500 * number, 2500 * number + 2300
        words = text.split(" ")
        lines = [" ".join(words[:7]), *([" ".join(words[7:])] if words[7:] else [])]
        blocks.append(f"{number + 1}\n{_clock(begin)} --> {_clock(end)}\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)


def _clock(time_ms: int) -> str:
    seconds, thousandths = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{thousandths:03}"


def elan(size: int) -> str:
    """Return an ELAN document of about ``size`` bytes, with some translations and comments."""
    slots: list[str] = []
    tiers: dict[str, list[str]] = {"A": [], "B": [], "translation@A": [], "translation@B": []}
    tiers |= {"notes@A": [], "notes@B": []}
    written = 0
    for number, (text, other) in enumerate(zip(sentences(1), sentences(2), strict=True)):
        if written > size:
            break
        speaker, name = "AB"[number % 3 == 0], f"a{3 * number}"
        for edge, at in enumerate((2500 * number, 2500 * number + 2300)):
            slots.append(f'        <TIME_SLOT TIME_SLOT_ID="ts{2 * number + edge}" TIME_VALUE="{at}"/>\n')
        times = f'TIME_SLOT_REF1="ts{2 * number}" TIME_SLOT_REF2="ts{2 * number + 1}"'
        new = {speaker: _annotation("ALIGNABLE", f'ANNOTATION_ID="{name}" {times}', text)}
        depends = f'ANNOTATION_REF="{name}"'
        if number % 5 == 0:
            new[f"translation@{speaker}"] = _annotation("REF", f'ANNOTATION_ID="a{3 * number + 1}" {depends}', other)
        if number % 10 == 0:
            new[f"notes@{speaker}"] = _annotation("REF", f'ANNOTATION_ID="a{3 * number + 2}" {depends}', "looks away")
        for tier, annotation in new.items():
            tiers[tier].append(annotation)
        written += sum(map(len, (*new.values(), *slots[-2:])))
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT AUTHOR="" FORMAT="3.0" VERSION="3.0">\n'
    head += '    <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>\n    <TIME_ORDER>\n'
    body = "".join(_tier(name, annotations) for name, annotations in tiers.items())
    return f"{head}{''.join(slots)}    </TIME_ORDER>\n{body}</ANNOTATION_DOCUMENT>\n"


def _annotation(kind: str, attributes: str, text: str) -> str:
    value = f"                <ANNOTATION_VALUE>{escape(text)}</ANNOTATION_VALUE>\n"
    inner = f"            <{kind}_ANNOTATION {attributes}>\n{value}            </{kind}_ANNOTATION>\n"
    return f"        <ANNOTATION>\n{inner}        </ANNOTATION>\n"


def _tier(name: str, annotations: list[str]) -> str:
    speaker = name[-1]
    parent = f' PARENT_REF="{speaker}"' if name != speaker else ""
    kind = "dependent" if parent else "utterance"
    start = f'    <TIER LINGUISTIC_TYPE_REF="{kind}"{parent} PARTICIPANT="{speaker}" TIER_ID="{name}">\n'
    return f"{start}{''.join(annotations)}    </TIER>\n"


def measure(path: Path, format: str, folder: Path) -> dict[str, Any]:
    """Return what converting ``path`` in a fresh process takes: seconds, those of the processor, and memory."""
    command = [sys.executable, "-m", "lsa_whisper", "convert", str(path), "-o", str(folder / format)]
    began = time.monotonic()
    _, status, used = os.wait4(subprocess.Popen([*command, "--format", format], stdout=subprocess.DEVNULL).pid, 0)
    wall_s = time.monotonic() - began
    if status:
        raise SystemExit(f"convert failed on {path.name}")
    figures = {
        "from": path.suffix[1:],
        "to": format,
        "mb": round(path.stat().st_size / 1e6, 1),
        "wall_s": round(wall_s, 2),
        "core_s": round(used.ru_utime + used.ru_stime, 2),
        "peak_memory_mb": round(used.ru_maxrss / 1024),
    }
    print(figures, file=sys.stderr)
    return figures


if __name__ == "__main__":
    main()
