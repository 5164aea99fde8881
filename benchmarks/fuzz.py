"""Look for text that breaks what reads text: CHAT, manifest rows, recipes, corpus cards.

Every target is given text made from pieces of its own language, most of it wrong, for an equal share of the time. What
a target may do is return, or raise its own error; anything else is printed with the text and ends the run.

    python -m benchmarks.fuzz --minutes 15
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from lsa_whisper import chat, manifest
from lsa_whisper.corpus import read_card
from lsa_whisper.errors import CorpusError, ManifestError, RecipeError
from lsa_whisper.evaluate.groups import Side
from lsa_whisper.evaluate.score import score
from lsa_whisper.finetune import recipe

MARKS = (
    r"[/] [//] [///] [/-] [/?] [x~3] [:~a~b] [*] [+~x] < > (.) (1:05.) &-um &+b &~x &=laughs xxx www 0 . ? ! +... +/."
)
HEADS = (
    "@UTF8 @Begin @End @Languages:\teng @Participants:\tCHI~Child @ID:\teng||CHI|4;06.|||||| @Media:\ta,audio *CHI:\t"
)
CHAT = [
    *(mark.replace("~", " ") for mark in f"{MARKS} {HEADS}".split(" ")),
    "&~x",
    "%wor:\t",
    "\x15",
    "0_900",
    "\x15900_0\x15",
    "\n",
    "\r\n",
    "\n\t",
    "\ufeff",
]
CHAT += ["↫b-b↫", "↫", "b^", "s:o", "≠", "@", "$", "_", "(be)", "’", "⌈2", "→", "dog", "\ud800", "é", "狗", "\x00", " "]
YAML = [
    *"{}[]:,-?|>&*!%@`#'\"~=",
    "<<",
    ": ",
    "\n",
    "\n  ",
    "\n- ",
    "&a ",
    "*a",
    "!!str ",
    "0x_",
    "1:59",
]
YAML += [
    "data",
    "train",
    "out",
    "model",
    "base",
    "training",
    "seed",
    "name",
    "splits",
    "adapter",
    "1e999",
    ".inf",
    "2001-99-99",
]
ROW = {"audio_filepath": "a.wav", "offset": 0.5, "duration": 2, "text": "no", "split": "train", "extra": None}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


def text_of(pieces: list[str], most: int = 40) -> st.SearchStrategy[str]:
    """Return texts of up to ``most`` pieces, with stray characters between."""
    return st.lists(st.sampled_from(pieces) | st.text(max_size=3), max_size=most).map("".join)


def reads_chat(text: str) -> None:
    """Nothing is lost, nothing raises, and what was read can be checked, counted and scored."""
    read = chat.parse(text)
    assert chat.serialize(read) == text
    chat.check(read)
    for mode in ("strict", "flucalc"):
        read.fluency(mode)
    side = Side(read.utterances, read.participants)
    own, bare = score("fuzz", side, side), score("fuzz", side, Side((), {}))
    assert own.verbatim.errors == 0 and bare.verbatim.hits == 0


def reads_rows(text: str) -> None:
    """A row is a segment or a ManifestError; a segment is written and read again."""
    try:
        segment = manifest.parse_row(text)
    except ManifestError:
        return
    again = manifest.parse_row(manifest.serialize_row(segment, Path("/data")))
    assert again == segment or ".." in again.audio_filepath


def reads_recipes(text: str) -> None:
    """A recipe, whole or as an override, is one or a RecipeError of one line."""
    for given_as in ({"text": text}, {"text": "{}", "set": [text]}):
        try:
            recipe.parse(**given_as)
        except RecipeError as error:
            assert "\n" not in str(error)


def reads_cards(text: str) -> None:
    """A card is one or a CorpusError."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
        file.flush()
        try:
            read_card(file.name)
        except CorpusError:
            return


TARGETS: dict[str, tuple[Callable[[str], None], st.SearchStrategy[str]]] = {
    "chat": (reads_chat, text_of(CHAT)),
    "tiers": (reads_chat, text_of(CHAT, 15).map(lambda tier: f"*CHI:\t{tier}\n")),
    "rows": (
        reads_rows,
        st.dictionaries(st.sampled_from([*ROW]), VALUES).map(lambda row: json.dumps(ROW | row)) | st.text(),
    ),
    "recipes": (reads_recipes, text_of(YAML)),
    "cards": (reads_cards, text_of(YAML).map(lambda text: f"name: a\n{text}") | text_of(YAML)),
}


def main() -> None:
    """Give each target its share of the time, and say how many texts it was given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--only", choices=TARGETS, action="append")
    options = parser.parse_args()
    names = options.only or list(TARGETS)
    for name in names:
        target, texts = TARGETS[name]
        until, given_texts, slowest = time.monotonic() + 60 * options.minutes / len(names), 0, 0.0
        while time.monotonic() < until:
            seen = [0.0]
            run(target, texts, 200, seen)
            given_texts, slowest = given_texts + len(seen) - 1, max(slowest, *seen)
        print(f"{name}: {given_texts:,} texts, none broke it; the slowest took {slowest:.3f} s", flush=True)


def run(
    target: Callable[[str], None], texts: st.SearchStrategy[str], examples: int, seconds: list[float] | None = None
) -> None:
    """Give ``target`` ``examples`` texts; what it took for each is added to ``seconds``.

    Raises:
        AssertionError, Exception: whatever the target raised, with the shortest text found.
    """

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(texts)
    def once(text: str) -> None:
        began = time.process_time()
        target(text)
        if seconds is not None:
            seconds.append(time.process_time() - began)

    once()


if __name__ == "__main__":
    sys.exit(main())
