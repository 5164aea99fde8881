"""Cost of padding in training: the same utterances unpacked, packed and trimmed, with the same small Whisper model.

Public examples pad each utterance to the model's 30 s. Here windows are packed with as many utterances as fit, and
batches of similar length can be cut to their longest window (``data.trim`` in a recipe).

    python -m benchmarks.padding corpora/storybook
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks import result
from lsa_whisper import manifest
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.trimming import accept_shorter_inputs
from lsa_whisper.dataset import Collator, WindowDataset
from lsa_whisper.finetuning.recipe import ScratchModel
from lsa_whisper.finetuning.training import new_model as scratch
from lsa_whisper.finetuning.training.loss import ExactLoss
from lsa_whisper.finetuning.training.trim import LengthGroupedSampler
from lsa_whisper.labels import Labels
from lsa_whisper.preparation import prepare

SHAPE = ScratchModel(d_model=192, encoder_layers=4, decoder_layers=4, attention_heads=3, vocab_size=1000)
BATCH = 4
ROUNDS = 2


@dataclass(frozen=True)
class Batching:
    """How the utterances become batches."""

    one_utterance: bool
    trim: bool


VARIANTS = {
    "one utterance a row, padded": Batching(one_utterance=True, trim=False),
    "one utterance a row, trimmed, grouped": Batching(one_utterance=True, trim=True),
    "packed": Batching(one_utterance=False, trim=False),
    "packed, trimmed, grouped": Batching(one_utterance=False, trim=True),
}


def main() -> None:
    """Train one epoch with each variant, alternating, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--split", default="dev", choices=manifest.SPLITS)
    parser.add_argument("--note", default="", help="About the machine, for the result.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = {one: prepared(options, Path(name) / str(one), one) for one in (True, False)}
        utterances = manifest.read(rows[True])
        speech_s = sum(row.duration for row in utterances)
        start = checkpoint([row.text for row in utterances])
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
        for turn in range(ROUNDS):
            for name, variant in VARIANTS.items():
                seconds[name].append(one_pass(rows[variant.one_utterance], start, variant.trim, turn))
        figures = {
            name: figure(rows[variant.one_utterance], speech_s, seconds[name]) for name, variant in VARIANTS.items()
        }
    first = next(iter(figures.values()))["audio_s_per_processor_s"]
    result.write(
        "padding",
        ("torch", "transformers"),
        f"{options.corpus}, {options.split}: {len(utterances)} utterances, {speech_s:.0f} s of SYNTHETIC speech",
        model="random weights, width 192, 4 + 4 layers, 80 mels, context 30 s; fp32, AdamW, features included",
        settings=f"batches of {BATCH}, best of {ROUNDS}, data.full_length_share 0, {torch.get_num_threads()} thread(s)",
        note=options.note,
        load_average=[round(load, 1) for load in os.getloadavg()],
        variants={
            name: of | {"times_the_first": round(of["audio_s_per_processor_s"] / first, 2)}
            for name, of in figures.items()
        },
    )


def prepared(options: argparse.Namespace, out: Path, one_utterance: bool) -> Path:
    """Return the manifest of the corpus's split, packed or as single utterances."""
    prepare([options.corpus], out, one_utterance=one_utterance, without_timestamps=1.0)
    return out / f"{options.split}.jsonl"


def checkpoint(texts: list[str]) -> Checkpoint:
    """Return an untrained Whisper model with a vocabulary for ``texts``."""
    tokenizer = scratch.new_tokenizer([f" {text}" for text in texts], SHAPE.vocab_size, SHAPE.context_s)
    torch.manual_seed(0)
    model = scratch.new_model(SHAPE, tokenizer)
    accept_shorter_inputs(model.get_encoder())
    return Checkpoint("", model, scratch.new_feature_extractor(SHAPE), tokenizer, Labels())


def one_pass(path: Path, start: Checkpoint, trim: bool, epoch: int) -> tuple[float, float]:
    """Train on every window once; return the seconds of the clock and of the processor."""
    data = WindowDataset(path, start, trim=trim)
    model = start.model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    sampler: Any = torch.utils.data.RandomSampler(data, generator=torch.Generator().manual_seed(epoch))
    if trim:
        sampler = LengthGroupedSampler(data.durations.tolist(), BATCH, seed=epoch)
    collator = Collator(start.tokenizer.eos_token_id)
    batches = torch.utils.data.DataLoader(data, BATCH, sampler=sampler, collate_fn=collator)
    loss_of, clock, processor = ExactLoss(), time.perf_counter(), time.process_time()
    for batch in batches:
        labels = batch.pop("labels")
        loss_of(model(**batch, use_cache=False), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
    return time.perf_counter() - clock, time.process_time() - processor


def figure(path: Path, speech_s: float, seconds: list[tuple[float, float]]) -> dict[str, Any]:
    """Return rows, share of padding at full context, and seconds of audio trained per second."""
    durations = [row.duration for row in manifest.read(path)]
    clock, processor = (min(values) for values in zip(*seconds, strict=True))
    return {
        "rows": len(durations),
        "padding_to_the_context": round(1 - sum(durations) / (len(durations) * SHAPE.context_s), 3),
        "audio_s_per_s": round(speech_s / clock, 1),
        "audio_s_per_processor_s": round(speech_s / processor, 1),
    }


if __name__ == "__main__":
    main()
