"""Accuracy of the word times of ``transcribe --wor`` where the times of words are known.

    python -m benchmarks.word_times models/nano corpora/storybook/test
    python -m benchmarks.word_times ../shared/data/whisper/tiny.en-relearned-2 ../shared/data/ami

Known times are those of ``benchmarks.align_times``: of each word on storybook (exact) and in AMI's meetings (forced
alignment of a human transcript), else the starts of the utterances. Only correctly recognized words are compared
(aligned with the reference, recording by recording). The error is that of the start of the word. Each folder is one
row of the result; rows of other models and folders stay.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import result
from benchmarks.align_times import known_starts
from lsa_whisper import chat
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.transcription import Transcriber

LIMITS_MS = (50, 100, 200)


def errors_ms(path: Path, hypothesis: Transcript) -> list[int]:
    """Return the error of each matching word's start, positive if the model is late.

    Args:
        path: the reference.
        hypothesis: a transcript with word times.
    """
    utterances = chat.read(path).utterances
    known = known_starts(path, utterances)
    expected = [
        (word.lower(), known.get((number, at)))
        for number, each in enumerate(utterances)
        for at, word in enumerate(each.verbatim())
    ]
    found = [(word.lower(), at.start_ms) for each in hypothesis.utterances for word, at in each.word_times]
    matcher = SequenceMatcher(None, [word for word, _ in expected], [word for word, _ in found], autojunk=False)
    pairs = [
        (expected[block.a + at][1], found[block.b + at][1])
        for block in matcher.get_matching_blocks()
        for at in range(block.size)
    ]
    return [start - wanted for wanted, start in pairs if wanted is not None]


def summary(errors: Sequence[int]) -> dict[str, Any]:
    """Return how many words were compared and how far their starts are from the reference."""
    sizes = np.abs(errors)
    return {
        "matching_words": len(errors),
        "median_error_ms": round(float(np.median(errors))),
        "share_within_ms": {str(limit): round(float((sizes <= limit).mean()), 3) for limit in LIMITS_MS},
    }


def main() -> None:
    """Transcribe every session of the folders and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folders", type=Path, nargs="+", help="Folders of CHAT files and recordings, or CHAT files.")
    parser.add_argument("--engine", default="transformers", help="transformers or ct2.")
    options = parser.parse_args()
    transcriber = Transcriber(options.model, engine=options.engine, word_times=True)
    rows = []
    for folder in options.folders:
        sessions = sorted(folder.glob("*.cha")) if folder.is_dir() else [folder]
        errors: list[int] = []
        for path in sessions:
            audio = next(path.with_suffix(each) for each in AUDIO_SUFFIXES if path.with_suffix(each).exists())
            errors += errors_ms(path, transcriber.transcribe(Recording.open(audio)).transcript)
        about = {"model": Path(options.model).name, "data": folder.name, "sessions": len(sessions)}
        rows.append(about | {"engine": options.engine} | summary(errors))
    names = ("model", "data", "engine")
    kept = [
        row
        for row in result.last("word_times").get("rows", [])
        if all(any(row[name] != new[name] for name in names) for new in rows)
    ]
    result.write(
        "word_times",
        ("torch", "transformers", "ctranslate2"),
        "storybook: SYNTHETIC speech; ami, michael: real speech",
        rows=[*kept, *rows],
    )


if __name__ == "__main__":
    main()
