"""Look for text that breaks what reads text: CHAT, manifests, recipes, cards, RTTM, TextGrid, JSON beside models.

Every target is given text made from pieces of its own language, most of it wrong, for an equal share of the time. What
a target may do is return, or raise its own error; anything else is printed with the text and ends the run.

    python -m benchmarks.fuzz --minutes 15

Each call draws other texts. What it did is added to ``benchmarks/results/fuzz.json``, which sums the calls up.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks import result
from lsa_whisper import chat, manifest
from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.checkpoint.verification import verify_checkpoint
from lsa_whisper.corpus import read_card
from lsa_whisper.decoding.confidences import load_calibration
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import CorpusError, LsaWhisperError, ManifestError, RecipeError
from lsa_whisper.finetuning import recipe
from lsa_whisper.finetuning.compare_runs import compare_runs
from lsa_whisper.labels import Labels
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import score_file
from lsa_whisper.transcription.assembly.speaker_turns import read_turns

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
RTTM = [
    "SPEAKER",
    " ",
    "\t",
    "\n",
    "a",
    "1",
    "0.5",
    "-1",
    "1e999",
    "nan",
    "1e5",
    "<NA>",
    "CHI",
    "SPEAKER_00",
    ";",
    "\ufeff",
]
TEXTGRID = [
    *('File~type~=~"ooTextFile"', 'Object~class~=~"TextGrid"', "<exists>", "<absent>", '"IntervalTier"', '"TextTier"'),
    *('"', '""', '"CHI"', "0", "1", "2", "-1", "1e9", "999999", ".5", "!", "xmin~=~", "size~=~", "\n", " ", "[1]:"),
]
TEXTGRID = [piece.replace("~", " ") for piece in TEXTGRID]
ROW = {"audio_filepath": "a.wav", "offset": 0.5, "duration": 2, "text": "no", "split": "train", "extra": None}
KEYS = ["labels", "style", "version", "roles", "model_type", "slope", "intercept", "words", "step", "loss", "recipe"]
KEYS += ["provenance", "auto_map", "segments", "timed", "d_model", "encoder_layers", "vocab_size"]
JSON = [
    *"{}[],:",
    *(json.dumps(key) for key in KEYS),
    '"whisper"',
    '"chat"',
    "1",
    "-1",
    "1e999",
    "NaN",
    "9" * 5000,
    "null",
]
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
    side = ParsedTranscript(read.utterances, read.participants)
    own, bare = score_file("fuzz", side, side), score_file("fuzz", side, ParsedTranscript((), {}))
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
    """A recipe, whole or as an override, is one or a RecipeError with one line for each problem."""
    for given_as in ({"text": text}, {"text": "{}", "set": [text]}):
        try:
            recipe.parse_recipe(**given_as)
        except RecipeError as error:
            first, *problems = str(error).split("\n")
            assert not problems or first.endswith(f": {len(problems)} problems")


def reads_cards(text: str) -> None:
    """A card is one or a CorpusError."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
        file.flush()
        try:
            read_card(file.name)
        except CorpusError:
            return


def reads_turns(suffix: str) -> Callable[[str], None]:
    """Who speaks when is what a file says, inside the recording, or one of our errors."""

    def target(text: str) -> None:
        with _file(text, suffix) as path:
            try:
                turns = read_turns(path, Path("a.wav"), 60_000)
            except LsaWhisperError:
                return
            assert turns.spans and all(0 <= span.start_ms < span.end_ms <= 60_000 for _, span in turns.spans)

    return target


def reads_json(text: str) -> None:
    """Whatever stands in the JSON files next to a model or a run is read or refused."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("config.json", "lsa_whisper.json", "calibration.json", "curve.jsonl", "tokenizer_config.json"):
            (folder / file).write_text(text, "utf-8", "replace")
        (folder / "model.safetensors").touch()
        settings: list[Callable[[], object]] = [
            lambda: verify_checkpoint(folder),
            lambda: Labels.from_dict(read_json(folder / "lsa_whisper.json")),
            lambda: load_calibration(folder),
            lambda: compare_runs([folder]).table(),
        ]
        for read in settings:
            try:
                read()
            except LsaWhisperError:
                continue
        partial = PartialDecoding(folder / "a.cha", "0" * 16)
        partial.path.write_text(f"{text}\n", "utf-8", "replace")
        partial.read()


@contextlib.contextmanager
def _file(text: str, suffix: str) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile("w", suffix=suffix, encoding="utf-8", errors="replace", newline="") as file:
        file.write(text)
        file.flush()
        yield Path(file.name)


def _rttm_line(fields: list[str]) -> str:
    return f"SPEAKER {' '.join(fields)}\n"


VALUES_OF_FILES = st.recursive(
    VALUES, lambda inner: st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4), max_leaves=12
)
TARGETS: dict[str, tuple[Callable[[str], None], st.SearchStrategy[str]]] = {
    "chat": (reads_chat, text_of(CHAT)),
    "tiers": (reads_chat, text_of(CHAT, 15).map(lambda tier: f"*CHI:\t{tier}\n")),
    "rows": (
        reads_rows,
        st.dictionaries(st.sampled_from([*ROW]), VALUES).map(lambda row: json.dumps(ROW | row)) | st.text(),
    ),
    "recipes": (reads_recipes, text_of(YAML)),
    "cards": (reads_cards, text_of(YAML).map(lambda text: f"name: a\n{text}") | text_of(YAML)),
    "rttm": (
        reads_turns(".rttm"),
        st.lists(st.lists(st.sampled_from(RTTM), min_size=5, max_size=9).map(_rttm_line), max_size=5).map("".join)
        | text_of(RTTM),
    ),
    "textgrid": (
        reads_turns(".TextGrid"),
        text_of(TEXTGRID).map(lambda text: f'"ooTextFile" "TextGrid" 0 9 <exists> {text}') | text_of(TEXTGRID),
    ),
    "json": (reads_json, VALUES_OF_FILES.map(json.dumps) | text_of(JSON)),
}


def main() -> None:
    """Give each target its share of the time, and say how many texts it was given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--only", choices=TARGETS, action="append")
    options = parser.parse_args()
    names, report = options.only or list(TARGETS), _report()
    for name in names:
        target, texts = TARGETS[name]
        until, given_texts, slowest = time.monotonic() + 60 * options.minutes / len(names), 0, 0.0
        while time.monotonic() < until:
            began, seen = time.monotonic(), [0.0]
            run(target, texts, 200, seen)
            given_texts, slowest = given_texts + len(seen) - 1, max(slowest, *seen)
            _add(report[name], given_texts=len(seen) - 1, minutes=(time.monotonic() - began) / 60, slowest_s=max(seen))
        print(f"{name}: {given_texts:,} texts, none broke it; the slowest took {slowest:.3f} s", flush=True)
    totals = {key: round(sum(each[key] for each in report.values()), 1) for key in ("texts", "minutes")}
    result.write("fuzz", ("hypothesis",), "texts made from pieces of each language", **totals, targets=report)


def _report() -> dict[str, dict[str, float]]:
    """Return what earlier calls did."""
    told = result.last("fuzz").get("targets", {})
    return {name: told.get(name, {"texts": 0, "minutes": 0.0, "slowest_s": 0.0}) for name in TARGETS}


def _add(target: dict[str, float], *, given_texts: int, minutes: float, slowest_s: float) -> None:
    target["texts"] += given_texts
    target["minutes"] = round(target["minutes"] + minutes, 3)
    target["slowest_s"] = max(target["slowest_s"], round(slowest_s, 3))


def run(
    target: Callable[[str], None], texts: st.SearchStrategy[str], examples: int, seconds: list[float] | None = None
) -> None:
    """Give ``target`` ``examples`` texts; what it took for each is added to ``seconds``.

    Raises:
        AssertionError, Exception: Whatever the target raised, with the shortest text found.
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
