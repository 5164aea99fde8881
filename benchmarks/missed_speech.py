"""Recall and false alarms of the places that ``transcribe --review`` lists as speech with too few words.

    python -m benchmarks.missed_speech models/nano corpora/storybook/dev --sessions 3

The sessions are transcribed, and runs of one to five words are deleted from the output, far from each other. A run is
found if a listed place overlaps it. A false alarm is a place where nothing was deleted; some of them are words that the
model itself missed. The thresholds were chosen on sessions of storybook/test.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks import result
from lsa_whisper.audio import Recording, vad
from lsa_whisper.audio.speech_energy import SpeechActivity
from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.assembly.remarks import missed_speech

RUNS = (1, 2, 3, 5)
EVERY = 15
"""Words between the starts of two deleted runs."""

Word = tuple[str, TimeSpan]


@dataclass(frozen=True)
class Transcribed:
    """The output for a session: its utterances as words with times, and the speech that was heard."""

    utterances: tuple[tuple[TimeSpan, tuple[Word, ...]], ...]
    speech: SpeechActivity
    duration_ms: int


def transcribed(transcriber: Transcriber, path: Path, detector: str) -> Transcribed:
    """Return the output for a recording."""
    recording = Recording.open(path)
    written = transcriber.transcribe(recording).transcript.utterances
    speech = vad.detect_speech(detector, recording.stream())
    words = tuple((each.span, tuple(each.word_times)) for each in written if each.span)
    return Transcribed(words, speech, int(recording.duration_s * 1000))


def without(
    output: Transcribed, length: int, chooser: random.Random, *, word_times: bool
) -> tuple[list[Utterance], list[TimeSpan]]:
    """Return the utterances without runs of ``length`` words, and where the runs were."""
    kept: list[Utterance] = []
    deleted: list[TimeSpan] = []
    next_at = chooser.randrange(EVERY)
    seen = 0
    for span, words in output.utterances:
        left = list(words)
        if seen + len(words) > next_at and len(words) >= length:
            first = chooser.randrange(len(words) - length + 1)
            run = words[first : first + length]
            deleted.append(TimeSpan(run[0][1].start_ms, run[-1][1].end_ms))
            left[first : first + length] = []
            next_at += EVERY
        seen += len(words)
        if left:
            text = " ".join(word for word, _ in left) + " ."
            kept.append(utterance("PAR", text, span, left if word_times else None))
    return kept, deleted


def counts(outputs: list[Transcribed], length: int, *, word_times: bool) -> dict[str, float]:
    """Return the recall, and the false alarms per minute, for deleted runs of ``length`` words."""
    total: Counter[str] = Counter()
    chooser = random.Random(length)
    for output in outputs:
        kept, deleted = without(output, length, chooser, word_times=word_times)
        places = missed_speech(kept, output.speech, output.duration_ms)
        total["deleted"] += len(deleted)
        total["found"] += sum(any(place & each for place in places) for each in deleted)
        total["places"] += len(places)
        total["false"] += sum(not any(place & each for each in deleted) for place in places)
    minutes = sum(output.duration_ms for output in outputs) / 60_000
    return {
        "deleted": total["deleted"],
        "recall": round(total["found"] / max(1, total["deleted"]), 3),
        "precision": round(1 - total["false"] / max(1, total["places"]), 3),
        "false_alarms_per_minute": round(total["false"] / minutes, 2),
    }


def main() -> None:
    """Transcribe the sessions of a folder, delete words, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vad", default="energy", help="Voice activity detector.")
    parser.add_argument("--sessions", type=int, help="Number of sessions; all by default.")
    options = parser.parse_args()
    transcriber = Transcriber(options.model, word_times=True, vad=options.vad)
    paths = sorted(options.folder.glob("*.flac"))[: options.sessions]
    outputs = [transcribed(transcriber, path, options.vad) for path in paths]
    result.write(
        "missed_speech",
        ("torch", "transformers"),
        f"{len(paths)} sessions of {options.folder} (synthetic speech), {options.model}",
        vad=options.vad,
        words=sum(len(words) for output in outputs for _, words in output.utterances),
        with_word_times={length: counts(outputs, length, word_times=True) for length in RUNS},
        without_word_times={length: counts(outputs, length, word_times=False) for length in RUNS},
    )


if __name__ == "__main__":
    main()
