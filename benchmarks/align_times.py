"""Accuracy of ``align`` on transcripts whose times are known, beside simpler methods.

    python -m benchmarks.align_times corpora/storybook/test --model runs/demo/full
    python -m benchmarks.align_times ../shared/data/ami --model ../shared/data/whisper/base

A folder has CHAT files and their recordings. The known times are those of ``NAME.words.json`` (a list of objects with
``speaker``, ``start`` and ``end`` in seconds, ``tag`` and ``text``), else of ``%wor``, else the starts of the bullets.
All times are removed before the alignment. An error is that of the start of a word; a word without a time counts as
wrong. Of ``align``, the ends of words are compared as well. The methods:

- ``uniform``: the words spread evenly over the recording;
- ``transcribe and match``: free transcription with word times; words that match have the time of the recognized word,
  the others lie evenly between them;
- ``listed heads`` (with ``--listed``): ``align`` with the alignment heads that the model lists, without lags;
- ``align``: the command.

``--wrong 0.1`` also changes or removes a tenth of the words and measures whether these are named. Prints JSON, and
writes it to ``benchmarks/results`` with ``--write``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import result
from lsa_whisper import chat, checkpoint
from lsa_whisper.align.aligner import AlignedText, Aligner
from lsa_whisper.align.doubts import judge
from lsa_whisper.align.measuring import model_heads
from lsa_whisper.align.model import AlignmentHeads, AlignmentModel, LaggedHead
from lsa_whisper.align.text import word_key
from lsa_whisper.align.transcripts import without_times
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.chat.tree import Group, Word
from lsa_whisper.chat.word import read_word
from lsa_whisper.decoding.cross_attention import alignment_heads
from lsa_whisper.languages import whisper_code
from lsa_whisper.timespan import TimeSpan

LIMITS_MS = (20, 50, 100, 200, 500, 1000)
Known = dict[tuple[int, int], int]
"""(utterance, verbatim word) -> start in ms."""


def known_times(path: Path, utterances: Sequence[Utterance]) -> tuple[Known, Known]:
    """Return the known starts and the known ends of words."""
    words = path.with_suffix(".words.json")
    rows = json.loads(words.read_text("utf-8")) if words.is_file() else None
    starts: Known = {}
    ends: Known = {}
    for number, each in enumerate(utterances):
        verbatim, timed = each.verbatim(), each.word_times
        spans: Sequence[tuple[int, TimeSpan]] = ()
        if rows is not None and each.span:
            spans = list(_from_rows(rows, each, verbatim))
        elif timed and len(timed) == len(verbatim):
            spans = [(at, span) for at, (_, span) in enumerate(timed)]
        elif each.span and verbatim:
            starts[number, 0], ends[number, len(verbatim) - 1] = each.span.start_ms, each.span.end_ms
        starts |= {(number, at): span.start_ms for at, span in spans}
        ends |= {(number, at): span.end_ms for at, span in spans}
    return starts, ends


def _from_rows(
    rows: Sequence[dict[str, Any]], each: Utterance, verbatim: Sequence[str]
) -> Iterator[tuple[int, TimeSpan]]:
    assert each.span
    times = [TimeSpan(round(1000 * row["start"]), round(1000 * row["end"])) for row in rows]
    own = [
        (word_key(row["text"]), span)
        for row, span in zip(rows, times, strict=True)
        if row["tag"] == "w"
        and not row.get("punc")
        and row["speaker"] == each.speaker
        and span.start_ms >= each.span.start_ms - 1
        and span.end_ms <= each.span.end_ms + 1
    ]
    keys = [[word_key(word) for word in verbatim], [key for key, _ in own]]
    for block in SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks():
        for at in range(block.size):
            yield block.a + at, own[block.b + at][1]


def uniform(utterances: Sequence[Utterance], duration_ms: int) -> Known:
    """Return the starts of words that are spread evenly over the recording."""
    places = [(number, at) for number, each in enumerate(utterances) for at in range(len(each.verbatim()))]
    return {place: round(duration_ms * at / len(places)) for at, place in enumerate(places)}


def matched(aligned: AlignedText, duration_ms: int) -> Known:
    """Return the starts of words by free transcription alone."""
    pairs = [(int(word), int(at)) for word, at in aligned.matches.alignment if word >= 0 and at >= 0]
    pairs = [(word, at) for word, at in pairs if aligned.words[word].key == aligned.decoded[at].key]
    known = [(-1, 0), *((word, aligned.decoded[at].span.start_ms) for word, at in pairs)]
    known.append((len(aligned.words), duration_ms))
    starts = np.interp(range(len(aligned.words)), [word for word, _ in known], [start for _, start in known])
    return {(word.utterance, word.position): round(start) for word, start in zip(aligned.words, starts, strict=True)}


def aligned_spans(aligned: AlignedText, utterances: Sequence[Utterance]) -> dict[tuple[int, int], TimeSpan]:
    """Return the times of words as ``align`` writes them."""
    timed, _ = judge(utterances, aligned)
    return {(word.word.utterance, word.word.position): word.span for each in timed for word in each.words}


def aligned_starts(aligned: AlignedText, utterances: Sequence[Utterance]) -> Known:
    """Return the starts of words as ``align`` writes them."""
    return {place: span.start_ms for place, span in aligned_spans(aligned, utterances).items()}


def shares(errors: Sequence[float]) -> dict[str, Any]:
    """Return the share of errors within each limit, their median size, and by how much half of the times are late.

    Infinite errors are words without a time.
    """
    found = np.abs(np.array(errors, dtype=np.float64))
    within = {str(limit): round(float((found <= limit).mean()), 3) for limit in LIMITS_MS} if len(found) else {}
    median = round(float(np.median(found))) if len(found) and np.isfinite(np.median(found)) else None
    timed = np.array([error for error in errors if np.isfinite(error)])
    bias = round(float(np.median(timed))) if len(timed) else None
    return {
        "share_within_ms": within,
        "median_ms": median,
        "median_late_ms": bias,
        "without_time": int(np.isinf(found).sum()),
    }


def spoil(
    utterances: Sequence[Utterance], known: Known, share: float, rng: random.Random
) -> tuple[list[Utterance], Known, set[tuple[int, int]]]:
    """Return utterances of which some words are replaced or removed, the known starts, and what was changed.

    Only plain words outside groups and retraces are changed, so that the rest remains valid CHAT.
    """
    vocabulary = sorted({word for each in utterances for word in each.fluent() if word.isalpha()})
    spoiled, starts, changed = [], {}, set()
    for number, each in enumerate(utterances):
        body, removed, spoken = each.body, 0, 0
        text, copied = "", 0
        for item, verbatim in _written_words(each):
            plain = item.text.isalpha() and not item.codes and item in each.tree.items and len(verbatim) == 1
            action = rng.random() if plain else 1.0
            if action < share:
                other = ""
                if action >= share / 2:
                    other = rng.choice([word for word in vocabulary if word_key(word) != word_key(item.text)])
                text += body[copied : item.offset] + other
                copied = item.offset + len(item.text)
                changed.add((each.line or 0, spoken))
                removed += not other
            else:
                for at in range(len(verbatim)):
                    if (number, spoken + at) in known:
                        starts[number, spoken + at - removed] = known[number, spoken + at]
            spoken += len(verbatim)
        made = utterance(each.speaker, text + body[copied:])
        spoiled.append(Utterance(made.speaker, made.main, (), each.line))
    return spoiled, starts, changed


def _written_words(each: Utterance) -> Iterator[tuple[Word, Sequence[str]]]:
    """Yield the written words of an utterance in order, each with its verbatim words."""
    items: list[Any] = list(reversed(each.tree.items))
    while items:
        item = items.pop()
        if isinstance(item, Group):
            items += reversed(item.items)
        elif isinstance(item, Word):
            yield item, read_word(item.text).verbatim


def run(folder: Path, model: str, language: str, wrong: float, with_listed: bool = False) -> dict[str, Any]:
    """Align every transcript of a folder by each method and return the figures."""
    loaded = checkpoint.load(model)
    prepared = AlignmentModel(loaded, language=whisper_code(language))
    measured = model_heads(prepared, model)
    listed = AlignmentHeads(tuple(LaggedHead(*pair) for pair in alignment_heads(loaded.model)), loaded.labels)
    detector = "energy"
    aligners = {"align": Aligner(prepared, measured, detector=detector)}
    if with_listed:
        aligners["listed heads"] = Aligner(prepared, listed, detector=detector)
    errors: dict[str, list[float]] = {}
    last: list[float] = []
    clips: dict[str, Any] = {}
    farthest, changes, named = 0.0, 0, 0
    rng = random.Random(0)
    for path in sorted(folder.glob("*.cha")):
        original = chat.read(path).utterances
        known, known_ends = known_times(path, original)
        recording = Recording.open(next(path.with_suffix(s) for s in AUDIO_SUFFIXES if path.with_suffix(s).exists()))
        duration_ms = int(recording.duration_s * 1000)
        plain = [without_times(each) for each in original]
        found = {name: aligner.align(plain, recording) for name, aligner in aligners.items()}
        starts = {name: aligned_starts(each, plain) for name, each in found.items()}
        starts |= {"uniform": uniform(plain, duration_ms), "transcribe and match": matched(found["align"], duration_ms)}
        ends = aligned_spans(found["align"], plain)
        last += [ends[place].end_ms - end if place in ends else np.inf for place, end in known_ends.items()]
        own: dict[str, list[float]] = {}
        for name, each in starts.items():
            own[name] = [each.get(place, np.inf) - start for place, start in known.items()]
            errors.setdefault(name, []).extend(own[name])
        begins = [starts["align"].get((number, 0)) for number in range(len(plain))]
        off = [abs(begin - known[number, 0]) for number, begin in enumerate(begins) if begin and (number, 0) in known]
        farthest = max([farthest, *off])
        if wrong:
            spoiled, kept, changed = spoil(plain, known, wrong, rng)
            again = aligners["align"].align(spoiled, recording)
            each_start = aligned_starts(again, spoiled)
            errors.setdefault("align, words wrong", []).extend(
                each_start.get(place, np.inf) - start for place, start in kept.items()
            )
            lines = [doubt.line for doubt in judge(spoiled, again)[1]]
            changes, named = changes + len(changed), named + sum(line in lines for line, _ in changed)
        clips[path.stem] = {name: shares(each)["share_within_ms"] for name, each in own.items()}
    return {
        "words": len(errors["align"]),
        "methods": {name: shares(each) for name, each in errors.items()},
        "word_ends": shares(last),
        "farthest_utterance_ms": round(farthest),
        "attention": measured.as_dict(),
        "changed_words": changes,
        "changed_words_named": named,
        "clips": clips,
    }


def main() -> None:
    """Align a folder and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--language", default="eng")
    parser.add_argument("--wrong", type=float, default=0.0, help="Share of words to change or remove.")
    parser.add_argument("--listed", action="store_true", help="Also align with the heads that the model lists.")
    parser.add_argument("--write", action="store_true", help="Write benchmarks/results/align_times.json.")
    options = parser.parse_args()
    figures = run(options.folder, options.model, options.language, options.wrong, options.listed)
    if options.write:
        measured = f"{options.folder.name}, {Path(options.model).name}"
        figures |= {"command": f"python -m benchmarks.align_times {' '.join(sys.argv[1:])}"}
        folders = result.last("align_times").get("folders", {}) | {measured: figures}
        data = "storybook: SYNTHETIC speech; the other folders: real recordings. Each entry has its own command"
        result.write("align_times", ("torch", "transformers"), data, folders=folders)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
