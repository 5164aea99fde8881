"""Labels whose revision sign stands after the repair, beside the usual ones; F1 of revisions. SYNTHETIC speech.

A decoder writes from left to right, so it must write the sign of a revision, ``the dog // the cat``, before it has
written the repair. Here labels are ``the dog the // // cat`` instead: after the first word of the repair, one sign for
each word taken back. The same recipes are trained on both, and the texts of the second are changed back before they are
read as CHAT. The first are also scored with the tagger of retraces, which sees both sides.

    python -m benchmarks.sign_after_repair --hours 2 --seeds 3
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

from benchmarks import result
from benchmarks.demo_seeds import scores
from benchmarks.hours_heard import Run, prepared, trained, trained_on
from benchmarks.rare_disfluencies import events, rare_test
from lsa_whisper.chat.filled_pauses import UNMARKED_FILLERS
from lsa_whisper.demo import BEAMS, SPLICE_RATE
from lsa_whisper.evaluation import evaluate
from lsa_whisper.labels.notation import LABEL_ENDINGS, label_to_chat
from lsa_whisper.transcription import transcribe

SIGN = "//"
_GLUE = "\0"
_ENDINGS = "|".join(re.escape(each) for each in sorted(LABEL_ENDINGS, key=len, reverse=True))
_ENDED = re.compile(rf"(.*?[^\W_][-~'_:^]*|{SIGN})({_ENDINGS})")
_TIMESTAMP = re.compile(r"(<\|[\d.]+\|>)")
_CODE = re.compile(r"\*[\w-]+:$")


def main() -> None:
    """Train, transcribe, and write ``benchmarks/results/sign_after_repair.json``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/hours-heard"))
    options = parser.parse_args()
    runs = [
        Run(adaptation, options.hours, SPLICE_RATE, seed)
        for seed in range(options.seeds)
        for adaptation in ("lora", "full")
    ]
    usual = trained(options.out, runs)
    data, kept = data_with_signs_after(prepared(options.out, options.hours, SPLICE_RATE))
    out = options.out / "sign-after-repair"
    after = trained_on([data] * len(runs), out, runs)
    test = rare_test(options.out / "rare" / "test")
    written, kinds = {}, {}
    for run in runs:
        for name, each, tagger in (
            ("usual", usual[run.name], False),
            ("usual, with the tagger", usual[run.name], True),
            ("after the repair", after[run.name], False),
        ):
            written[f"{run.name}, {name}"] = folder = out / f"{run.name} {name}".replace(",", "").replace(" ", "-")
            kinds[f"{run.name}, {name}"] = f"{run.adaptation}, {name}"
            with changed_back(each == after[run.name]):
                transcribe([test], model=each, out=folder, retraces=tagger, beams=BEAMS)
    report = evaluate(test, list(written.values()), names=list(written), out=out / "report", audio=test).report
    assert report is not None
    systems = scores(report.with_suffix(".json"))
    result.write(
        "sign_after_repair",
        ("torch", "transformers", "peft"),
        f"the second test set of storybook after {options.hours:g} hours of its generator; SYNTHETIC speech",
        seeds=options.seeds,
        events=events(report.with_suffix(".json")),
        labels_that_come_back=kept,
        means=means(systems, kinds),
        systems=systems,
    )


def means(systems: list[dict[str, Any]], kinds: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return the means over the seeds by kind of system: F1 of revisions and of all disfluencies, and word errors."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for system in systems:
        rows.setdefault(kinds[system["system"]], []).append(system)
    return {
        name: {
            "revision_f1": round(fmean(row["classes"]["revision"]["f1"] or 0 for row in each), 3),
            "disfluency_f1": round(fmean(row["disfluency_f1"]["value"] for row in each), 3),
            "wer_verbatim": round(fmean(row["wer_verbatim"]["value"] for row in each), 4),
        }
        for name, each in rows.items()
    }


def data_with_signs_after(folder: Path) -> tuple[Path, float]:
    """Write a copy of prepared data with such labels; return it, and the share of the labels that come back."""
    out = folder.with_name(f"{folder.name}-sign-after-repair")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    if (folder / "spliced").exists():
        (out / "spliced").symlink_to((folder / "spliced").resolve())
    same, signs = 0, 0
    for manifest in folder.glob("*.jsonl"):
        rows = [json.loads(line) for line in manifest.read_text("utf-8").splitlines()]
        for row in rows if manifest.stem in ("train", "dev") else ():
            text, row["text"] = row["text"], sign_after(row["text"])
            if SIGN in text.split():
                signs, same = signs + 1, same + (sign_before(row["text"]) == text)
        (out / manifest.name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    shutil.copy(folder / "prepared.json", out / "prepared.json")
    return out, round(same / signs, 3)


@contextmanager
def changed_back(signs_after: bool) -> Iterator[None]:
    """Read what a model with signs after the repair writes as if they were in their usual place."""
    if not signs_after:
        yield
        return
    reader = import_module("lsa_whisper.labels.decode")  # the package has a function of this name
    with patch.object(reader, "label_to_chat", lambda text, version: label_to_chat(sign_before(text), version)):
        yield


def sign_after(text: str) -> str:
    """Return labels with each revision sign after the first word of the repair.

    >>> sign_after("*CHI: < the dog > // um the cat // bird.")
    '*CHI: the dog um the // // cat bird //.'
    """
    return "".join(_after(part) for part in _TIMESTAMP.split(text))


def sign_before(text: str) -> str:
    """Return labels with each revision sign in its usual place.

    >>> sign_before("*CHI: the dog um the // // cat bird //.")
    '*CHI: < the dog > // um the cat // bird.'
    """
    return "".join(_before(part) for part in _TIMESTAMP.split(text))


def _after(text: str) -> str:
    written: list[str] = []
    waiting = 0  # signs of a revision whose repair has not begun
    for token in _pieces(text):
        if token == SIGN and (group := _retraced(written)):
            waiting += sum(map(_has_letters, group))
        else:
            written.append(token)
            if waiting and _is_word(token):
                written += [SIGN] * waiting
                waiting = 0
    return _joined(written)


def _retraced(written: list[str]) -> list[str]:
    """Return the tokens that a sign after ``written`` takes back; remove the brackets around them."""
    if written and written[-1] == ">" and "<" in written:
        first = max(at for at, token in enumerate(written) if token == "<")
        written[first:] = written[first + 1 : -1]
        return written[first:]
    return next(([token] for token in written[::-1] if _has_letters(token)), [])


def _before(text: str) -> str:
    written: list[str] = []
    for token, copies in groupby(_pieces(text)):
        count = len(list(copies))
        if token != SIGN or not written or not _has_letters(written[-1]):
            written += [token] * count
            continue
        repair = len(written) - 1
        while repair and not _is_word(written[repair - 1]) and not _CODE.match(written[repair - 1]):
            repair -= 1  # fillers and pauses before the repair, and the signs of its own first word
        first = repair
        while first and count and not _CODE.match(written[first - 1]):
            first -= 1
            count -= _has_letters(written[first])
        while first and written[first - 1] in ("=", ":"):
            first -= 1
        if group := written[first:repair]:
            several = sum(map(_has_letters, group)) > 1
            written[first:repair] = [*["<"] * several, *group, *[">"] * several, SIGN]
    return _joined(written)


def _pieces(text: str) -> list[str]:
    """Return the tokens of labels; the end of an utterance is a piece of its own, after a mark."""
    parts = (_ENDED.fullmatch(token) or token for token in text.split(" "))
    return [piece for part in parts for piece in ([part] if isinstance(part, str) else [part[1], _GLUE + part[2]])]


def _joined(tokens: list[str]) -> str:
    return " ".join(tokens).replace(f" {_GLUE}", "")


def _has_letters(token: str) -> bool:
    return any(character.isalpha() for character in token) and not _CODE.match(token)


def _is_word(token: str) -> bool:
    """Return whether a token is a word and no filler."""
    return _has_letters(token) and token.casefold() not in UNMARKED_FILLERS and token[0] not in "~#&"


if __name__ == "__main__":
    main()
