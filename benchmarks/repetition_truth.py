"""Phrases that people really say three to eight times, and sounds that make models loop: kept, deleted and invented.

    python -m benchmarks.repetition_truth ../shared/data

Sixteen phrases of real speech, each cut out once and played 3, 5 and 8 times with pauses of 0.15 to 0.4 s between
sentences of another speaker, so that the number of copies is known; and 30 s each of sounds without speech. One word of
each phrase, which the sentences around it do not have, is counted in the transcript: kept are as many as were said at
most, deleted those that are missing, invented those beyond, and all words in the sounds.

Every system decodes with the same weights, OpenAI's base, greedily:

- *ours*: ``transcribe`` with its defaults, and with ``--style fluent``;
- *model alone*: ``generate`` of transformers without any rule, the measure of what can be kept;
- *no_repeat_ngram_size=4*: the same with this option, as Batchalign's verbatim Whisper has it;
- *three copies to one*: the rule of CrisperWhisper 2 as its authors describe it, on the text of the model alone: a
  token or a pair of tokens eight times in a row, or three to five tokens three times, are cut to one copy. What their
  program decodes anew behind the cut is left out; the text that follows is kept instead.
- *faster-whisper*, where it is installed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from benchmarks import non_speech, result
from benchmarks.real_speech import words
from lsa_whisper import checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber

Program = Callable[[Path], list[str]]
COPIES = (3, 5, 8)
LOOPING = ("applause", "music", "rain", "crowd", "typing")
"""The sounds in which OpenAI's base writes most."""
FADE_S = 0.03


@dataclass(frozen=True)
class Phrase:
    """What is repeated: a part of a recording, in milliseconds, and the word of it that is counted."""

    file: str
    start_ms: int
    end_ms: int
    counted: str


PHRASES = (
    Phrase("ami/EN2001b_000000.flac", 22_300, 22_690, "yeah"),
    Phrase("ami/EN2001a_000000.flac", 10_480, 10_880, "okay"),
    Phrase("ami/EN2001d_000000.flac", 20_840, 21_330, "yeah"),
    Phrase("ami/EN2004a_000000.flac", 480, 1_400, "not"),
    Phrase("ami/EN2006a_000000.flac", 8_370, 9_600, "something"),
    Phrase("ami/ES2003a_000000.flac", 28_500, 29_610, "marketing"),
    Phrase("ami/ES2003a_000000.flac", 26_300, 28_260, "marketing"),
    Phrase("ami/EN2001a_000000.flac", 28_090, 29_860, "effort"),
    Phrase("batchalign/test.flac", 985, 2_395, "test"),
    Phrase("batchalign/test.flac", 16_475, 17_235, "say"),
    Phrase("batchalign/test.flac", 13_085, 14_875, "command"),
    Phrase("speech/jfk.flac", 3_280, 4_440, "ask"),
    Phrase("speech/jfk.flac", 5_400, 7_560, "country"),
    Phrase("speech/jfk.flac", 320, 2_140, "fellow"),
    Phrase("paired/michael.flac", 46_460, 48_360, "long"),
    Phrase("paired/michael.flac", 40_200, 41_600, "bunch"),
)
BEFORE = Phrase("paired/michael.flac", 24_150, 25_330, "")
AFTER = Phrase("paired/michael.flac", 27_950, 30_600, "")


@dataclass
class Counts:
    """Copies of phrases, and words in sounds without speech."""

    said: int = 0
    kept: int = 0
    invented: int = 0
    words_in_sounds: int = 0

    def figures(self) -> dict[str, Any]:
        """Return the counts and the shares."""
        share = round(100 * self.kept / self.said, 1) if self.said else None
        return asdict(self) | {"deleted": self.said - self.kept, "kept_percent": share}


def main() -> None:
    """Transcribe all recordings with every system, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", help="Names of systems; the figures of others are kept.")
    options = parser.parse_args()
    found = result.last("repetition_truth").get("systems", {})
    with tempfile.TemporaryDirectory() as name:
        repeated = list(recordings(options.data, Path(name)))
        sounds = list(looping_sounds(options.data, Path(name)))
        for system, load in systems(options.data / "whisper" / "base", Path(name)).items():
            if not options.only or system in options.only:
                found[system] = measure(load, repeated, sounds)
                print(system, found[system], flush=True)
    about = f"{len(PHRASES)} phrases of real speech, spliced 3, 5 and 8 times; 30 s each of {len(LOOPING)} sounds"
    packages = ("torch", "transformers", "faster-whisper", "silero-vad")
    result.write("repetition_truth", packages, about, model="OpenAI's whisper-base", systems=found)


def measure(load: Callable[[], Program], repeated: Sequence[Any], sounds: Sequence[Path]) -> dict[str, Any] | str:
    """Return the figures of a system, or why it cannot be used."""
    try:
        transcribe = load()
    except ImportError as error:
        return f"not installed ({error})"
    counts = Counts(words_in_sounds=sum(len(transcribe(path)) for path in sounds))
    by_phrase: dict[str, list[int]] = {}
    for path, phrase, copies in repeated:
        written = transcribe(path).count(phrase.counted)
        counts.said += copies
        counts.kept += min(written, copies)
        counts.invented += max(0, written - copies)
        by_phrase.setdefault(f"{phrase.counted} ({phrase.file})", []).append(written)
    return counts.figures() | {"written_of_3_5_8": by_phrase}


def recordings(data: Path, folder: Path) -> Iterator[tuple[Path, Phrase, int]]:
    """Yield each recording with its phrase and how often it is said."""
    random = np.random.default_rng(0)
    before, after = (cut(data, each) for each in (BEFORE, AFTER))
    for number, phrase in enumerate(PHRASES):
        copy = cut(data, phrase)
        for copies in COPIES:
            said = [part for _ in range(copies) for part in (copy, silence(random.uniform(0.15, 0.4)))]
            sound = np.concatenate([before, silence(0.7), *said, silence(0.5), after])
            path = folder / f"{number}-{copies}.wav"
            soundfile.write(path, sound + 1e-4 * random.standard_normal(len(sound)), SAMPLE_RATE_HZ)
            yield path, phrase, copies


def cut(data: Path, phrase: Phrase) -> non_speech.Samples:
    """Return the samples of a phrase as loud as others, faded in and out."""
    samples = Recording.open(data / phrase.file).load(TimeSpan(max(0, phrase.start_ms - 30), phrase.end_ms + 30))
    fade = np.minimum(1, np.arange(len(samples)) / (FADE_S * SAMPLE_RATE_HZ))
    return non_speech.at_level(samples * fade * fade[::-1], -25)


def silence(seconds: float) -> non_speech.Samples:
    return np.zeros(round(seconds * SAMPLE_RATE_HZ), np.float32)


def looping_sounds(data: Path, folder: Path) -> Iterator[Path]:
    """Yield 30 s of each sound that makes models loop."""
    made = non_speech.sounds(sorted((data / "ami").glob("*.flac")), length_s=30.0)
    for name in LOOPING:
        path = folder / f"{name}.wav"
        soundfile.write(path, made[name], SAMPLE_RATE_HZ)
        yield path


def systems(model: Path, folder: Path) -> dict[str, Callable[[], Program]]:
    """Return for each system by name what loads it."""
    return {
        "ours": lambda: ours(model, None),
        "ours, fluent": lambda: ours(model, "fluent"),
        "model alone": lambda: generated(model),
        "no_repeat_ngram_size=4": lambda: generated(model, no_repeat_ngram_size=4),
        "three copies to one": lambda: generated(model, after=without_loops),
        "faster-whisper": lambda: faster(model, folder),
    }


def ours(model: Path, style: str | None) -> Program:
    transcriber = Transcriber(model, style=style)
    return lambda path: words(
        " ".join(word for each in transcriber.transcribe(path).transcript.utterances for word in each.verbatim())
    )


def generated(model: Path, *, after: Callable[[list[int]], list[int]] = list, **options: Any) -> Program:
    """Return what transformers generates, a window of 30 s at a time, with a rule for its tokens."""
    loaded = checkpoint.load(model)
    end = 30 * SAMPLE_RATE_HZ

    def run(path: Path) -> list[str]:
        samples, texts = Recording.open(path).load(), []
        for start in range(0, len(samples), end):
            inputs = loaded.feature_extractor(
                samples[start : start + end], sampling_rate=SAMPLE_RATE_HZ, return_tensors="pt"
            ).input_features.to(loaded.model.dtype)
            ids = loaded.model.generate(inputs, language="en", task="transcribe", **options)[0].tolist()
            kept = [token for token in ids if token not in loaded.tokenizer.all_special_ids]
            texts.append(loaded.tokenizer.decode(after(kept), skip_special_tokens=True))
        return words(" ".join(texts))

    return run


def without_loops(tokens: list[int]) -> list[int]:
    """Return the tokens, each loop of one to five of them cut to one copy.

    >>> without_loops([7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9])
    [7, 1, 2, 3, 9]
    >>> without_loops([5] * 7), without_loops([5] * 8)
    ([5, 5, 5, 5, 5, 5, 5], [5])
    """
    at = 0
    while at < len(tokens):
        for size in range(1, 6):
            copies = 1
            while tokens[at + copies * size : at + (copies + 1) * size] == tokens[at : at + size]:
                copies += 1
            if copies >= (8 if size < 3 else 3):
                tokens = tokens[: at + size] + tokens[at + copies * size :]
        at += 1
    return tokens


def faster(model: Path, folder: Path) -> Program:
    from faster_whisper import WhisperModel

    loaded = WhisperModel(str(checkpoint.export(model, folder / "ct2", to="ct2")), device="cpu", compute_type="float32")
    return lambda path: words(" ".join(part.text for part in loaded.transcribe(str(path), language="en")[0]))


if __name__ == "__main__":
    main()
