"""Word errors, lost and invented passages, loops and time on real English speech, beside other programs; same weights.

    python -m benchmarks.real_speech ../shared/data ../shared/data/whisper/base

Every program gets the same model, in float32 unless its name says otherwise. All are run with their own defaults
(faster-whisper: beams of five; openai-whisper and faster-whisper: other temperatures after a failure; batched: its own
voice activity detection), but are told that the language is English. The clips are transcribed one by one, and joined
in random order with a second of silence between them, until they last ``--minutes`` in all. A conversation of ten
minutes is transcribed, too. Words are compared in lower case without punctuation, numbers in words; fillers count, but
not in the conversation, whose transcript leaves most of them out.

A lost (invented) passage is five or more missing (additional) words in a row; a loop is 1 to 8 words four or more times
in a row where the reference has none.

Each program runs in a process of its own, since they would share thread pools and the heap, which some of them change.
Read and spontaneous speech are separate. Seconds are of the clock and of the processor; the latter are what a busy
machine does not change much.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import soundfile
from rapidfuzz.distance import Levenshtein

from benchmarks import result
from lsa_whisper import chat, checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.chat.filled_pauses import ALL_FILLERS
from lsa_whisper.labels.numbers import spell_number
from lsa_whisper.scoring.hallucination import RUN, find_word_loops
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.options import OptionChanges

Program = Callable[[Path], str]
PAUSE_S = 1.0
TALK = "conversation"
_ONE_SPELLING = {"ok": "okay", "alright": "all right"}
UNHEARD_CHILDREN = ("01050", "01502")


@dataclass(frozen=True)
class Clip:
    """A recording and what is said in it."""

    path: Path
    text: str
    has_fillers: bool = True
    """Whether the fillers are in the text, and count."""


@dataclass
class Score:
    """The errors of one program on one set."""

    words: int = 0
    written: int = 0
    errors: int = 0
    lost_passages: int = 0
    invented_passages: int = 0
    invented_words: int = 0
    loops: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0

    def add(self, reference: Sequence[str], hypothesis: Sequence[str], *, fillers: bool = True) -> None:
        """Count the errors of one recording, those in fillers, too, unless told otherwise."""
        self.written += len(hypothesis)
        if not fillers:
            reference, hypothesis = (
                [word for word in each if word not in ALL_FILLERS] for each in (reference, hypothesis)
            )
        edits = Levenshtein.opcodes(reference, hypothesis)
        self.words += len(reference)
        for edit in edits:
            missing, additional = edit.src_end - edit.src_start, edit.dest_end - edit.dest_start
            if edit.tag != "equal":
                self.errors += max(missing, additional)
            self.lost_passages += edit.tag == "delete" and missing >= RUN
            self.invented_passages += edit.tag == "insert" and additional >= RUN
            self.invented_words += additional if edit.tag == "insert" else 0
        said, written = (len(find_word_loops(tuple(words))) for words in (reference, hypothesis))
        self.loops += max(0, written - said)


def main() -> None:
    """Transcribe every set with every program, one by one and joined, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0, help="Length of the joined recordings together.")
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", help="The figures of others are kept.")
    parser.add_argument("--note", default="", help="About the machine, for the result.")
    options = parser.parse_args()
    sets = clips(options.data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = checkpoint.export(options.model, folder / "model")
        checkpoint.export(model, folder / "ct2", to="ct2")  # here, since a process that converts computes slower later
        joined = {each: [join(found, 60 * options.minutes / len(sets), folder / each)] for each, found in sets.items()}
        tasks = {"one by one": sets, "joined": joined, TALK: {TALK: [conversation(options.data)]}}
        for program in options.only or loaders(model):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
                found = alone.submit(scores, program, model, tasks).result()
            write(program, found, sets, options)


def write(program: str, found: dict[str, Any] | str, sets: dict[str, list[Clip]], options: argparse.Namespace) -> None:
    """Write a program's scores beside those of others."""
    before = result.last("real_speech")
    packages = ("torch", "transformers", "ctranslate2", "faster-whisper", "openai-whisper")
    all_scores = before.get("scores", {}) | {program: found}
    known, now = before.get("versions", {}), result.made_on(("lsa-whisper", *packages))["versions"]
    result.write(
        "real_speech",
        packages,
        "real English speech beside the project: "
        + ", ".join([*(f"{len(sets[name])} clips {name}" for name in sets), TALK]),
        versions={name: version or known.get(name) for name, version in now.items()},  # kept with the kept figures
        note=options.note or before.get("note", ""),
        model=options.model.name,
        minutes_joined=options.minutes,
        dates=before.get("dates", {}) | {program: date.today().isoformat()},
        load_average=before.get("load_average", {}) | {program: [round(load, 1) for load in os.getloadavg()]},
        totals={name: totals(each) for name, each in all_scores.items() if isinstance(each, dict)},
        scores=all_scores,
    )


def totals(scores: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the score of all sets together, by task."""
    names = [each.name for each in dataclasses.fields(Score)]
    return {
        task: {name: round(sum(each[name] for each in sets.values()), 1) for name in names}
        for task, sets in scores.items()
    }


def scores(program: str, model: Path, tasks: dict[str, dict[str, list[Clip]]]) -> dict[str, dict[str, Any]] | str:
    """Return a program's scores by task and set, or why it cannot be used."""
    try:
        transcribe = loaders(model)[program]()
    except ImportError as error:
        return f"not installed ({error})"
    found: dict[str, dict[str, Any]] = {}
    for task, sets in tasks.items():
        for name, each in sets.items():
            score = Score()
            for clip in each:
                began, computed = time.perf_counter(), time.process_time()
                text = transcribe(clip.path)
                score.seconds += time.perf_counter() - began
                score.processor_seconds += time.process_time() - computed
                score.add(words(clip.text), words(text), fillers=clip.has_fillers)
            score.seconds, score.processor_seconds = round(score.seconds, 1), round(score.processor_seconds, 1)
            found.setdefault(task, {})[name] = asdict(score)
            print(f"{program}, {task}, {name}: {found[task][name]}", flush=True)
    return found


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; numbers, *OK* and *alright* are spelled in one way.

    CHAT has no digits, but other programs and the transcript of the conversation do: *39* is not two errors.

    >>> words("Well, it's -- um -- OK, 39, alright.")
    ['well', "it's", 'um', 'okay', 'thirty', 'nine', 'all', 'right']
    """
    found = re.findall(r"[a-z0-9]+(?:'[a-z]+)*", text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    spelled = (spell_number(word) if word.isdecimal() else _ONE_SPELLING.get(word, word) for word in found)
    return " ".join(spelled).split()


def clips(data: Path) -> dict[str, list[Clip]]:
    """Return the English clips with a transcript by set."""
    rows = [row for row in json.loads((data / "speech" / "manifest.json").read_text("utf-8")) if row.get("text")]
    english = [row for row in rows if row["text"].isascii() and "|" not in row["text"]]
    children = json.loads((data / "children" / "manifest.json").read_text("utf-8"))

    def from_rows(folder: str, chosen: Sequence[dict[str, Any]]) -> list[Clip]:
        return [Clip(data / folder / row["file"], row["text"]) for row in chosen]

    def from_chat(paths: Sequence[Path]) -> list[Clip]:
        return [Clip(_sound(path), _said(path)) for path in paths]

    return {
        "speech, read": from_rows("speech", [row for row in english if row["kind"].startswith("read")]),
        "speech, spontaneous": from_rows("speech", [row for row in english if not row["kind"].startswith("read")]),
        "children, read": from_rows("children", [r for r in children if r["file"].startswith(UNHEARD_CHILDREN)]),
        "paired, spontaneous": from_chat(
            [data / "paired" / f"{name}.cha" for name in ("clip", "eng_multi_speaker", "michael")]
        ),
        "ami, spontaneous": from_chat(sorted((data / "ami").glob("*.cha"))),
    }


def conversation(data: Path) -> Clip:
    """Return an interview of a patient, as actors speak it; its text names the speaker of each turn by a letter."""
    text = (data / "fareez" / "CAR0001.txt").read_text("utf-8")
    return Clip(data / "fareez" / "CAR0001.mp3", re.sub(r"(?m)^[DP]:", "", text), has_fillers=False)


def _sound(transcript: Path) -> Path:
    return next(path for ending in (".flac", ".mp3") if (path := transcript.with_suffix(ending)).exists())


def _said(transcript: Path) -> str:
    return " ".join(word for each in chat.read(transcript).utterances for word in each.verbatim())


def join(found: Sequence[Clip], length_s: float, stem: Path) -> Clip:
    """Return one recording of the clips, again and again in random order until it is long enough."""
    chooser, pieces, texts = random.Random(0), [], []
    pause = np.zeros(round(PAUSE_S * SAMPLE_RATE_HZ), np.float32)
    seconds = 0.0
    while seconds < length_s:
        for clip in chooser.sample(list(found), len(found)):
            pieces += [Recording.open(clip.path).load(), pause]
            texts.append(clip.text)
            seconds += len(pieces[-2]) / SAMPLE_RATE_HZ + PAUSE_S
            if seconds >= length_s:
                break
    path = stem.with_name(stem.name.replace(", ", "-") + ".wav")
    soundfile.write(path, np.concatenate(pieces), SAMPLE_RATE_HZ)
    return Clip(path, " ".join(texts))


def loaders(model: Path) -> dict[str, Callable[[], Program]]:
    """Return for each program by name what loads it."""
    converted = model.with_name("ct2")
    return {
        "lsa-whisper": lambda: ours(model),
        "lsa-whisper fluent": lambda: ours(model, style="fluent"),
        "lsa-whisper beams": lambda: ours(model, beams=5),
        "lsa-whisper ct2": lambda: ours(converted, engine="ct2", dtype="float32"),
        "lsa-whisper ct2 int8": lambda: ours(converted, engine="ct2", dtype="int8"),
        "lsa-whisper ct2, one text": lambda: ours(converted, engine="ct2", dtype="float32", second_text=False),
        "lsa-whisper ct2 int8, one text": lambda: ours(converted, engine="ct2", dtype="int8", second_text=False),
        "faster-whisper": lambda: faster(converted, batched=False),
        "faster-whisper int8": lambda: faster(converted, batched=False, dtype="int8"),
        "faster-whisper batched": lambda: faster(converted, batched=True),
        "faster-whisper batched int8": lambda: faster(converted, batched=True, dtype="int8"),
        "openai-whisper": lambda: openai(model),
        "transformers pipeline": lambda: pipeline(model),
    }


def ours(model: Path, **options: Unpack[OptionChanges]) -> Program:
    transcriber = Transcriber(model, language="eng", **options)
    return lambda path: " ".join(
        word for each in transcriber.transcribe(path).transcript.utterances for word in each.verbatim()
    )


def faster(model: Path, *, batched: bool, dtype: str = "float32") -> Program:
    from faster_whisper import BatchedInferencePipeline, WhisperModel

    loaded = WhisperModel(str(model), device="cpu", compute_type=dtype)
    program = BatchedInferencePipeline(loaded) if batched else loaded
    return lambda path: " ".join(segment.text for segment in program.transcribe(str(path), language="en")[0])


def openai(model: Path) -> Program:
    from benchmarks.forced_text import openai_model

    loaded = openai_model(checkpoint.load(model).model)
    return lambda path: str(loaded.transcribe(_samples(path), language="en", fp16=False)["text"])


def pipeline(model: Path) -> Program:
    from transformers import pipeline as load

    pipe = load("automatic-speech-recognition", str(model), device="cpu", chunk_length_s=30, batch_size=8)
    if pipe.tokenizer.pad_token_id is None:
        pipe.tokenizer.pad_token_id = pipe.tokenizer.eos_token_id

    def run(path: Path) -> str:
        sound = {"raw": _samples(path), "sampling_rate": SAMPLE_RATE_HZ}
        found = pipe(sound, return_timestamps=True, generate_kwargs={"language": "en"})
        return str(found["text"])

    return run


def _samples(path: Path) -> Any:
    return Recording.open(path).load()


if __name__ == "__main__":
    main()
