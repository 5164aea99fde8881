"""Phrases that people really say three to eight times, and sounds that make models loop: kept, deleted and invented.

    python -m benchmarks.repetition_truth ../shared/data

Sixteen phrases of real speech (``true_repetitions``), each cut out once and played 3, 5 and 8 times between sentences
of another speaker, so that the number of copies is known; and 30 s each of sounds without speech.

*Rules alone* (``repetition_rules``): every rule gets the right text. *Decoded*: every system decodes the recordings
with the same weights, OpenAI's base, greedily. Of the words of each phrase that the sentences around it do not have,
the one that is written most often counts: kept are as many as were said at most, deleted those that are missing,
invented those beyond, and all words in the sounds. What the model does not hear is missing from every system: *model
alone* is what a rule can keep.

- *ours*: ``transcribe`` with its defaults, and with ``--style fluent``;
- *model alone*: ``generate`` of transformers without a rule;
- *no_repeat_ngram_size=4*: the same with this option, as Batchalign's verbatim Whisper has it;
- *three copies to one*: the rule of CrisperWhisper 2 as its authors describe it: a token or a pair of tokens eight
  times in a row, or three to five tokens three times, are cut to one copy. What their program decodes anew behind the
  cut is left out; the text that follows is kept instead.
- *faster-whisper*, where it is installed.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import soundfile

from benchmarks import non_speech, repetition_rules, result
from benchmarks.real_speech import words
from benchmarks.repetition_rules import without_loops, without_repeated
from benchmarks.true_repetitions import AFTER, BEFORE, PHRASES, Phrase, Repeated, recordings
from lsa_whisper import checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.transcription import Transcriber

Program = Callable[[Path], list[str]]
LOOPING = ("applause", "music", "rain", "crowd", "typing")
"""The sounds in which OpenAI's base writes most."""


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
    parser.add_argument("--only", nargs="*", help="Names of systems; the figures of others are kept.")
    options = parser.parse_args()
    model = options.data / "whisper" / "base"
    with tempfile.TemporaryDirectory() as name:
        repeated = list(recordings(options.data, Path(name)))
        sounds = list(looping_sounds(options.data, Path(name)))
        alone = {rule: repetition_rules.kept(apply, repeated) for rule, apply in rules(model).items()}
        write(alone, {})
        for system, load in systems(model, Path(name)).items():
            if options.only is None or system in options.only:
                write(alone, {system: measure(load, repeated, sounds)})


def write(alone: dict[str, Any], found: dict[str, Any]) -> None:
    """Write the figures of the rules, and those of a system beside those of others."""
    about = f"{len(PHRASES)} phrases of real speech, spliced 3, 5 and 8 times; 30 s each of {len(LOOPING)} sounds"
    packages = ("torch", "transformers", "silero-vad")
    all_systems = result.last("repetition_truth").get("systems", {}) | found
    result.write("repetition_truth", packages, about, model="OpenAI's whisper-base", rules=alone, systems=all_systems)


def measure(load: Callable[[], Program], repeated: Sequence[Repeated], sounds: Sequence[Path]) -> dict[str, Any] | str:
    """Return the figures of a system, or why it cannot be used."""
    try:
        transcribe = load()
    except ImportError as error:
        return f"not installed ({error})"
    counts = Counts(words_in_sounds=sum(len(transcribe(path)) for path in sounds))
    by_phrase: dict[str, list[int]] = {}
    for each in repeated:
        written = copies_written(transcribe(each.path), each.phrase)
        counts.said += each.copies
        counts.kept += min(written, each.copies)
        counts.invented += max(0, written - each.copies)
        by_phrase.setdefault(each.phrase.text, []).append(written)
    return counts.figures() | {"written_of_3_5_8": by_phrase}


def copies_written(text: Sequence[str], phrase: Phrase) -> int:
    """Return how often the word of a phrase is written that is written most often: others may be misheard in each copy.

    >>> copies_written("press commands slash press commands slash".split(), Phrase("", 0, 1, "press command slash"))
    2
    """
    around = {*words(BEFORE.text), *words(AFTER.text)}
    return max(text.count(word) for word in words(phrase.text) if word not in around)


def looping_sounds(data: Path, folder: Path) -> Iterator[Path]:
    """Yield 30 s of each sound that makes models loop."""
    made = non_speech.sounds(sorted((data / "ami").glob("*.flac")), length_s=30.0)
    for name in LOOPING:
        path = folder / f"{name}.wav"
        soundfile.write(path, made[name], SAMPLE_RATE_HZ)
        yield path


def rules(model: Path) -> dict[str, repetition_rules.Rule]:
    """Return the rules by name, each from a recording to what is left of its right text."""
    tokenizer = _loaded(model).tokenizer
    return {
        "ours": functools.partial(repetition_rules.ours, together=False),
        "ours, one segment": functools.partial(repetition_rules.ours, together=True),
        "no_repeat_ngram_size=4": repetition_rules.on_tokens(without_repeated, tokenizer),
        "three copies to one": repetition_rules.on_tokens(without_loops, tokenizer),
    }


def systems(model: Path, folder: Path) -> dict[str, Callable[[], Program]]:
    """Return for each system by name what loads it."""
    return {
        "ours": lambda: ours(model, None),
        "ours, fluent": lambda: ours(model, "fluent"),
        "model alone": lambda: generated(model),
        "no_repeat_ngram_size=4": lambda: generated(model, no_repeat_ngram_size=4),
        "three copies to one": lambda: generated(model, without_loops),
        "faster-whisper": lambda: faster(model, folder),
    }


def ours(model: Path, style: str | None) -> Program:
    transcriber = Transcriber(model, style=style)
    return lambda path: words(
        " ".join(word for each in transcriber.transcribe(path).transcript.utterances for word in each.verbatim())
    )


def generated(model: Path, rule: Callable[[list[int]], list[int]] = list, **options: Any) -> Program:
    """Return what transformers generates, a window of 30 s at a time, with a rule for its tokens."""
    tokenizer = _loaded(model).tokenizer

    def run(path: Path) -> list[str]:
        windows = tokens_of(path, model, tuple(options.items()))
        return words(" ".join(tokenizer.decode(rule(list(tokens)), skip_special_tokens=True) for tokens in windows))

    return run


@functools.cache
def tokens_of(path: Path, model: Path, options: tuple[tuple[str, Any], ...]) -> list[list[int]]:
    """Return the tokens of each window of 30 s; two systems share those of the model alone."""
    loaded = _loaded(model)
    samples, end = Recording.open(path).load(), 30 * SAMPLE_RATE_HZ
    windows = []
    for start in range(0, len(samples), end):
        inputs = loaded.feature_extractor(
            samples[start : start + end], sampling_rate=SAMPLE_RATE_HZ, return_tensors="pt"
        ).input_features.to(loaded.model.dtype)
        ids = loaded.model.generate(inputs, language="en", task="transcribe", return_timestamps=True, **dict(options))[
            0
        ].tolist()
        windows.append([token for token in ids if token not in loaded.tokenizer.all_special_ids])
    return windows


_loaded = functools.cache(checkpoint.load)


def faster(model: Path, folder: Path) -> Program:
    from faster_whisper import WhisperModel

    loaded = WhisperModel(str(checkpoint.export(model, folder / "ct2", to="ct2")), device="cpu", compute_type="float32")
    return lambda path: words(" ".join(part.text for part in loaded.transcribe(str(path), language="en")[0]))


if __name__ == "__main__":
    main()
