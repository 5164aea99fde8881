"""Verbatimize beside free transcription with the same model, on cleaned transcripts of storybook's test set.

    python -m benchmarks.verbatimize build/verbatim/full build/verbatim/prompted
    python -m benchmarks.verbatimize ../shared/data/whisper/base --meetings ../shared/data

With ``--meetings``, models are measured on the ten clips of real meetings among public samples; their counts are found,
missed and invented. What a call does not measure is kept.

The cleaned transcripts have no disfluencies, and each bullet reaches from the first fluent word to the last, as if the
text had been aligned. Words are unchanged if the fluent words of each utterance are those of the cleaned transcript.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.real_people.corpus import clips_of, copy_corpus
from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Line, Transcript, Utterance
from lsa_whisper.evaluation import System, evaluate
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import transcribe
from lsa_whisper.verbatimize import verbatimize

CLASSES = (
    "filled_pause",
    "repetition",
    "revision",
    "fragment",
    "pause",
    "prolongation",
    "block",
    "part_word_repetition",
)


def cleaned(transcript: Transcript) -> Transcript:
    """Return ``transcript`` with the fluent words of each utterance, and their times, alone."""
    blocks: list[Line | Utterance] = []
    for block in transcript.blocks:
        if isinstance(block, Line):
            blocks.append(block)
        elif words := block.fluent():
            span = _fluent_span(block, words)
            ending = block.terminator if block.terminator in (".", "?", "!") else "."
            blocks.append(chat.utterance(block.speaker, f"{' '.join(words)} {ending}", span))
    return Transcript(blocks)


def _fluent_span(utterance: Utterance, words: list[str]) -> TimeSpan | None:
    """Return the time from the first fluent word to the last: the last copy of each word is the fluent one."""
    spoken, spans = utterance.verbatim(), utterance.word_spans()
    times, at = [], len(spoken)
    for word in reversed(words):
        at = next((place for place in range(at - 1, -1, -1) if spoken[place] == word), at)
        if at < len(spans) and (span := spans[at]):
            times.append(span)
    return times[-1] | times[0] if times else utterance.span


def unchanged(before: Path, after: Path) -> Iterator[tuple[int, int]]:
    """Yield for each pair of files the number of words, and of words in utterances whose words are unchanged."""
    for path in sorted(before.glob("*.cha")):
        pairs = zip(chat.read(path).utterances, chat.read(after / path.name).utterances, strict=True)
        counts = [(len(one.fluent()), one.fluent() == other.fluent()) for one, other in pairs]
        yield sum(words for words, _ in counts), sum(words for words, same in counts if same)


def measure(model: str, corpus: Path, folder: Path) -> dict[str, Any]:
    """Return the scores of one model."""
    clean = folder / "clean"
    clean.mkdir(parents=True)
    for path in sorted(corpus.glob("*.cha")):
        chat.write(cleaned(chat.read(path)), clean / path.name)
    began = time.monotonic()
    verbatimize(clean, audio=corpus, model=model, out=folder / "verbatim")
    seconds = time.monotonic() - began
    transcribe([corpus], model=model, out=folder / "free")
    systems = evaluate(corpus, [folder / "free", folder / "verbatim"], names=["free", "verbatim"]).systems
    words, same = map(sum, zip(*unchanged(clean, folder / "verbatim"), strict=True))
    return {
        "words": words,
        "words_unchanged": same / words,
        "verbatimize_s": round(seconds, 1),
        "free_transcription": _scores(systems["free"]),
        "verbatimized": _scores(systems["verbatim"]),
    }


def _scores(system: System) -> dict[str, Any]:
    together, rate = system.disfluency.together, system.word_errors_verbatim.rate
    by_class = {name: system.disfluency[Disfluency(name)].f1 for name in CLASSES}
    shares = {"f1": together.f1, "precision": together.precision, "recall": together.recall, "wer_verbatim": rate}
    found = {name: system.disfluency[Disfluency(name)] for name in CLASSES}
    return {
        "counts": {
            name: [each.true_positives, each.false_negatives, each.false_positives] for name, each in found.items()
        },
        **{name: None if share is None else round(share, 3) for name, share in shares.items()},
        "f1_by_class": {name: None if share is None else round(share, 3) for name, share in by_class.items()},
    }


def main() -> None:
    """Measure each model on a corpus and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--corpus", type=Path, default=Path("corpora/storybook/test"))
    parser.add_argument("--meetings", type=Path, help="Folder of public samples; measures on its meetings.")
    options = parser.parse_args()
    figures = {}
    for model in options.models:
        with tempfile.TemporaryDirectory() as name:
            folder, corpus = Path(name), options.corpus
            if options.meetings:
                clips = [clip for clip in clips_of(options.meetings, folder / "samples") if clip.set == "meetings"]
                corpus = copy_corpus(clips, folder / "corpus") / "meetings"
            figures[Path(model).name] = measure(model, corpus, folder)
    before, part = result.last("verbatimize"), "meetings" if options.meetings else "models"
    kept = {key: before[key] for key in ("models", "meetings") if key in before}
    data = (
        "models: storybook's test set, synthetic speech; meetings: ten clips of AMI, real speech; cleaned transcripts"
    )
    result.write("verbatimize", ("torch", "transformers"), data, **kept | {part: figures})


if __name__ == "__main__":
    main()
