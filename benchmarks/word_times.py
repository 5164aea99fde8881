"""Accuracy of the times of words and utterances of ``transcribe --wor`` where the times of words are known.

    python -m benchmarks.word_times models/nano corpora/storybook/test
    python -m benchmarks.word_times ../shared/data/whisper/base ../shared/data/ami

Known times are those of ``benchmarks.align_times``: of each word on storybook (exact) and in AMI's meetings (forced
alignment of a human transcript, in which a word lasts until the next one, pauses included), else the starts and ends of
the utterances. Only correctly recognized words are compared (aligned with the reference, recording by recording): their
starts and ends, and the starts and ends of the utterances whose first or last word is one of them. Each folder is one
row of the result; rows of other models and folders stay.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import result
from benchmarks.align_times import known_times
from lsa_whisper import chat
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.transcription import Transcriber

LIMITS_MS = (20, 50, 100, 200)
UTTERANCE_LIMITS_MS = (200, 500, 1000)


@dataclass(frozen=True)
class Errors:
    """By how many milliseconds times are late, of words and of utterances whose first or last word matches."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    utterance_starts: list[int] = field(default_factory=list)
    utterance_ends: list[int] = field(default_factory=list)

    def __add__(self, other: Errors) -> Errors:
        return Errors(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def as_dict(self) -> dict[str, Any]:
        """Return the summaries, that of the starts of words first."""
        utterances = {
            name: summary(getattr(self, name), UTTERANCE_LIMITS_MS) for name in ("utterance_starts", "utterance_ends")
        }
        return summary(self.starts) | {"ends": summary(self.ends)} | utterances


def errors_ms(path: Path, hypothesis: Transcript) -> Errors:
    """Return the errors of the matching words' times, positive if the model is late.

    Args:
        path: The reference.
        hypothesis: A transcript with word times.
    """
    utterances = chat.read(path).utterances
    starts, ends = known_times(path, utterances)
    places = [(number, at) for number, each in enumerate(utterances) for at in range(len(each.verbatim()))]
    expected = [utterances[number].verbatim()[at].lower() for number, at in places]
    found = [
        (
            word.lower(),
            at,
            each.span if word_at == 0 else None,
            each.span if word_at == len(each.word_times) - 1 else None,
        )
        for each in hypothesis.utterances
        for word_at, (word, at) in enumerate(each.word_times)
    ]
    errors = Errors()
    matcher = SequenceMatcher(None, expected, [word for word, *_ in found], autojunk=False)
    for block in matcher.get_matching_blocks():
        for place, (_, word, first, last) in zip(places[block.a :][: block.size], found[block.b :], strict=False):
            if (start := starts.get(place)) is not None:
                errors.starts.append(word.start_ms - start)
                errors.utterance_starts.extend([first.start_ms - start] if first else [])
            if (end := ends.get(place)) is not None:
                errors.ends.append(word.end_ms - end)
                errors.utterance_ends.extend([last.end_ms - end] if last else [])
    return errors


def summary(errors: Sequence[int], limits_ms: Sequence[int] = LIMITS_MS) -> dict[str, Any]:
    """Return how many times were compared and how far they are from the reference."""
    sizes = np.abs(errors)
    return {
        "matching_words": len(errors),
        "median_error_ms": round(float(np.median(errors))),
        "mean_error_ms": round(float(np.mean(errors))),
        "share_within_ms": {str(limit): round(float((sizes <= limit).mean()), 3) for limit in limits_ms},
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
        errors = Errors()
        for path in sessions:
            audio = next(path.with_suffix(each) for each in AUDIO_SUFFIXES if path.with_suffix(each).exists())
            errors += errors_ms(path, transcriber.transcribe(Recording.open(audio)).transcript)
        about = {"model": Path(options.model).name, "data": folder.name, "sessions": len(sessions)}
        rows.append(about | {"engine": options.engine} | errors.as_dict())
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
