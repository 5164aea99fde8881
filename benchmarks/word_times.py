"""Accuracy of the word times of ``transcribe --wor`` on storybook, whose word times are exact.

    python -m benchmarks.word_times models/nano corpora/storybook/test

Only correctly recognized words are compared (aligned with the reference, session by session). The error is that of the
start of the word.
"""

from __future__ import annotations

import argparse
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.transcribe import Transcriber

LIMITS_MS = (50, 100, 200)


def errors_ms(reference: Transcript, hypothesis: Transcript) -> list[int]:
    """Return the error of each matching word's start, positive if the model is late."""
    expected, found = (
        [(word.lower(), at.start_ms) for each in transcript.utterances for word, at in each.word_times]
        for transcript in (reference, hypothesis)
    )
    matcher = SequenceMatcher(None, [word for word, _ in expected], [word for word, _ in found], autojunk=False)
    return [
        found[block.b + at][1] - expected[block.a + at][1]
        for block in matcher.get_matching_blocks()
        for at in range(block.size)
    ]


def main() -> None:
    """Transcribe every session of a folder and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", default="transformers", help="transformers or ct2.")
    options = parser.parse_args()
    transcriber = Transcriber(options.model, engine=options.engine, word_times=True)
    errors: list[int] = []
    sessions = sorted(options.folder.glob("*.cha"))
    for path in sessions:
        written = transcriber.transcribe(Recording.open(path.with_suffix(".flac"))).transcript
        errors += errors_ms(chat.read(path), written)
    result.write(
        "word_times",
        ("torch", "transformers", "ctranslate2"),
        f"{len(sessions)} sessions of {options.folder}, {options.model}, {len(errors)} matching words",
        engine=options.engine,
        median_error_ms=round(float(np.median(errors))),
        share_within_ms={limit: round(float((np.abs(errors) <= limit).mean()), 3) for limit in LIMITS_MS},
    )


if __name__ == "__main__":
    main()
