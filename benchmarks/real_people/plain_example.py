"""The fine-tuning example of transformers' documentation: all weights, texts without timestamps, padded to 30 s."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
    WhisperTokenizerFast,
    set_seed,
)

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.preparation import prepare
from lsa_whisper.timespan import TimeSpan

STEPS, BATCH, LEARNING_RATE = 18, 4, 1e-4


def train(corpus: Path, base: Path, out: Path, seed: int, *, space: bool = False) -> Path:
    """Train ``base`` on the words of ``corpus`` as spoken, and return the folder of the model.

    Args:
        corpus: A folder of CHAT and recordings.
        base: A Whisper model.
        out: The folder to write.
        seed: Of the order of the windows.
        space: Whether a text begins with the space with which Whisper's own texts begin. The example has none.
    """
    prepare([corpus], out / "data", labels="verbatim", without_timestamps=1.0, non_speech=0.0, train_only=True)
    set_seed(seed)
    tokenizer = WhisperTokenizerFast.from_pretrained(base, language="english", task="transcribe")
    extractor = WhisperFeatureExtractor.from_pretrained(base)
    model = WhisperForConditionalGeneration.from_pretrained(base, dtype=torch.float32)
    rows = []
    for row in manifest.stream(out / "data/train.jsonl"):
        span = TimeSpan(round(1000 * row.offset), round(1000 * (row.offset + row.duration)))
        sound = Recording.open(Path(row.audio_filepath)).load(span)
        features = extractor(sound, sampling_rate=16_000).input_features[0]
        rows.append({"input_features": features, "labels": tokenizer(" " * space + row.text).input_ids})

    def collate(batch: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        labels = [torch.tensor(one["labels"][1:]) for one in batch]  # the model adds the first token itself
        return {
            "input_features": torch.stack([torch.tensor(one["input_features"]) for one in batch]),
            "labels": torch.nn.utils.rnn.pad_sequence(labels, batch_first=True, padding_value=-100),
        }

    arguments = Seq2SeqTrainingArguments(
        output_dir=str(out / "trainer"),
        per_device_train_batch_size=BATCH,
        learning_rate=LEARNING_RATE,
        warmup_steps=max(1, STEPS // 10),
        max_steps=STEPS,
        save_strategy="no",
        report_to=[],
        use_cpu=not torch.cuda.is_available(),
        seed=seed,
        remove_unused_columns=False,
        disable_tqdm=True,
    )
    Seq2SeqTrainer(model=model, args=arguments, train_dataset=rows, data_collator=collate).train()
    for part in (model, tokenizer, extractor):
        part.save_pretrained(out / "model")
    return out / "model"
