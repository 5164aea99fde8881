"""Verbatimize beside free transcription with the same model, on cleaned transcripts of storybook's test set.

    python -m benchmarks.verbatimize build/verbatim/full build/verbatim/prompted
    python -m benchmarks.verbatimize ../shared/data/whisper/base --meetings ../shared/data
    python -m benchmarks.verbatimize runs/demo/lora ../shared/data/whisper/base --relabel
    python -m benchmarks.verbatimize ../shared/data/whisper/base --relabel --meetings ../shared/data

With ``--meetings``, models are measured on the ten clips of real meetings among public samples; their counts are found,
missed and invented. What a call does not measure is kept.

The cleaned transcripts have no disfluencies, and each bullet reaches from the first fluent word to the last, as if the
text had been aligned. Words are unchanged if the fluent words of each utterance are those of the cleaned transcript.

``--relabel`` measures what ``prepare --relabel`` puts back by its least probability. Left out are, at random, half of
the fillers and repetitions of storybook, and all marks of the real samples, which with ``--relabel`` are all that have
disfluencies: the meetings, two monologues, ten clips of broadcasts and two of volunteers.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.real_people.corpus import clips_of, copy_corpus
from lsa_whisper import chat, checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Disfluency, Line, Transcript, Utterance
from lsa_whisper.evaluation import System, evaluate
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import transcribe
from lsa_whisper.verbatimize import verbatimize
from lsa_whisper.verbatimize.clean_text import Insertion
from lsa_whisper.verbatimize.files import with_bodies
from lsa_whisper.verbatimize.verbatimizer import Verbatimizer, with_insertions

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

HEARD = CLASSES[:2] + CLASSES[3:4]
"""What ``prepare --relabel`` adds."""
THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
_MARK = re.compile(r"&-\S+ |(?:<[^<>]*>|[^\s<>]+) \[/\] ")


def halved(transcript: Transcript, seed: str) -> Transcript:
    """Return ``transcript`` without half of its fillers and repetitions, and without ``%wor``."""
    rng = random.Random(seed)
    blocks = [
        block
        if isinstance(block, Line)
        else replace(block, main=_MARK.sub(lambda found: found[0] * (rng.random() < 0.5), block.main), tiers=())
        for block in transcript.blocks
    ]
    return Transcript(blocks)


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


def measure_relabelling(model: str, corpus: Path, folder: Path, *, is_clean: bool) -> dict[str, Any]:
    """Return for each least probability what of the removed marks is found, missed and invented."""
    loaded = Verbatimizer(checkpoint.load(model), language="eng", prompt=False, least=1e-9)
    for name in ("removed", *map(str, THRESHOLDS)):
        (folder / name).mkdir(parents=True)
    for path in sorted(corpus.glob("*.cha")):
        source = chat.read(path)
        source = cleaned(source) if is_clean else halved(source, path.stem)
        chat.write(source, folder / "removed" / path.name)
        recording, utterances = Recording.open(path.with_suffix(".flac")), source.utterances
        found: dict[int, list[tuple[Insertion, float]]] = {}
        for window in loaded.windows(utterances, recording.duration_s):
            scored = loaded.find(utterances, window, recording)
            found |= dict(zip(window.members, scored, strict=False))
        for least in THRESHOLDS:
            kept = {at: [one for one, sure in scored if sure >= least] for at, scored in found.items()}
            bodies = {at: with_insertions(utterances[at], own).body for at, own in kept.items()}
            chat.write(with_bodies(source, bodies, "relabelled"), folder / str(least) / path.name)
    systems = evaluate(corpus, [folder / "removed", *(folder / str(least) for least in THRESHOLDS)]).systems
    before = systems["removed"].disfluency
    return {
        str(least): {
            name: _gained(before[Disfluency(name)], systems[str(least)].disfluency[Disfluency(name)]) for name in HEARD
        }
        for least in THRESHOLDS
    }


def _gained(before: Detections, after: Detections) -> list[int]:
    """Return what is found, still missed, and invented."""
    return [
        after.true_positives - before.true_positives,
        after.false_negatives,
        after.false_positives - before.false_positives,
    ]


def main() -> None:
    """Measure each model on a corpus and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--corpus", type=Path, default=Path("corpora/storybook/test"))
    parser.add_argument("--meetings", type=Path, help="Folder of public samples; measures on its meetings.")
    parser.add_argument("--relabel", action="store_true", help="Measure prepare --relabel instead.")
    options = parser.parse_args()
    figures = {}
    for model in options.models:
        with tempfile.TemporaryDirectory() as name:
            folder, corpus = Path(name), options.corpus
            if options.meetings:
                corpus = copy_corpus(clips_of(options.meetings, folder / "samples"), folder / "corpus") / "meetings"
            if not options.relabel:
                figures[Path(model).name] = measure(model, corpus, folder)
            elif not options.meetings:
                figures[Path(model).name] = measure_relabelling(model, corpus, folder, is_clean=False)
            else:
                figures[Path(model).name] = {
                    each.name: measure_relabelling(model, each, folder / each.name, is_clean=True)
                    for each in sorted(corpus.parent.iterdir())
                }
    before, part = result.last("verbatimize"), "meetings" if options.meetings else "models"
    if options.relabel:
        part = "relabel_real" if options.meetings else "relabel_synthetic"
    kept = {key: before[key] for key in ("models", "meetings", "relabel_real", "relabel_synthetic") if key in before}
    data = (
        "models: storybook's test set, synthetic speech; meetings: ten clips of AMI, real speech; cleaned transcripts; "
        "relabel: [found, missed, invented] by the least probability, of all public samples with disfluencies"
    )
    figures = kept.get(part, {}) | figures
    result.write("verbatimize", ("torch", "transformers"), data, **kept | {part: figures})


if __name__ == "__main__":
    main()
