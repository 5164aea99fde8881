"""What `lsa-whisper finetune RECIPE` does in one process, in plain torch, transformers and PEFT.

    python examples/plain_finetuning.py recipes/whisper-small-lora.yaml

To read, not to use: it takes the same windows in the same order and has the same losses as the command (a test compares
them), but checks, evaluates and resumes nothing. It knows the settings below, and recordings of 16,000 Hz.
"""

import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import peft
import soundfile
import torch
import transformers
import yaml

SETTINGS: dict[str, dict[str, Any]] = {
    "adapter": {"rank": 32, "alpha": 64, "target_modules": ["q_proj", "v_proj", "out_proj"]},
    "training": {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1, "num_train_epochs": 3}
    | {"max_steps": None, "learning_rate": 5e-5, "lr_scheduler_type": "linear", "warmup_steps": 0, "weight_decay": 0},
}
TIMESTAMP, STEP_S, NO_LOSS = re.compile(r"<\|(\d+\.\d\d)\|>"), 0.02, -100
Row = dict[str, Any]


def read_recipe(path: Path) -> dict[str, Any]:
    """Return a recipe with the defaults of what it leaves out."""
    recipe = {"seed": 0, "precision": "fp32", "training": {}} | yaml.safe_load(path.read_text(encoding="utf-8"))
    recipe |= {name: SETTINGS[name] | recipe[name] for name in SETTINGS if recipe.get(name) is not None}
    training = recipe["training"]
    return recipe | {"size": training["per_device_train_batch_size"] * training["gradient_accumulation_steps"]}


def order(rows: list[Row], recipe: dict[str, Any], epoch: int) -> list[int]:
    """Return the windows of an epoch in random order."""
    return torch.randperm(len(rows), generator=torch.Generator().manual_seed(recipe["seed"] + epoch)).tolist()


def sound(row: Row, folder: Path) -> np.ndarray:
    """Return the samples of a window."""
    start, frames = (round(row[name] * 16_000) for name in ("offset", "duration"))
    samples, rate_hz = soundfile.read(folder / row["audio_filepath"], frames, start, dtype="float32", always_2d=True)
    assert rate_hz == 16_000, f"{row['audio_filepath']}: convert it to 16,000 Hz"
    return samples.mean(axis=1)


def label(row: Row, tokenizer: Any, config: Any) -> tuple[list[int], int]:
    """Return what the decoder is to write for a window, and how many tokens at its start have no loss."""

    def ids(text: str) -> list[int]:
        return tokenizer(f" {text.strip()}", add_special_tokens=False).input_ids if text.strip() else []

    before = ids(row.get("prompt", ""))
    before = [tokenizer.get_added_vocab()["<|startofprev|>"], *before] if before else []
    begin = [config.decoder_start_token_id]
    if config.is_multilingual:
        begin += [config.lang_to_id[f"<|{row.get('lang', 'en')}|>"], config.task_to_id["transcribe"]]
    first, *texts = TIMESTAMP.split(row["text"])[::2]
    words = [*([] if texts else [config.no_timestamps_token_id]), *ids(first)]
    for second, text in zip(TIMESTAMP.findall(row["text"]), texts, strict=True):
        words += [config.no_timestamps_token_id + 1 + round(float(second) / STEP_S), *ids(text)]
    return [*before, *begin, *words, config.eos_token_id], len(before)


def collate(numbers: list[int], rows: list[Row], recipe: dict[str, Any], parts: tuple[Any, ...]) -> dict[str, Any]:
    """Return the features, decoder inputs and labels of a micro-batch."""
    model, extractor, tokenizer = parts
    labels = [label(rows[n], tokenizer, model.generation_config) for n in numbers]
    shape = len(numbers), max(len(tokens) for tokens, _ in labels) - 1
    inputs, targets = torch.full(shape, model.config.pad_token_id), torch.full(shape, NO_LOSS)
    for place, (tokens, skipped) in enumerate(labels):
        inputs[place, : len(tokens) - 1] = torch.tensor(tokens[:-1])
        targets[place, skipped : len(tokens) - 1] = torch.tensor(tokens[skipped + 1 :])
    sounds = [sound(rows[n], Path(recipe["data"]["train"]).parent) for n in numbers]
    features = torch.from_numpy(extractor(sounds, sampling_rate=16_000, return_tensors="np").input_features)
    return {"input_features": features, "decoder_input_ids": inputs, "labels": targets}


def train(recipe: dict[str, Any]) -> Iterator[float]:
    """Yield the loss of each optimizer step, then save the model."""
    settings, base = recipe["training"], recipe["model"]["base"]
    device = "cuda" if torch.cuda.is_available() and not settings.get("use_cpu") else "cpu"
    is_bf16 = recipe["precision"] == "bf16" or (recipe["precision"] == "auto" and device == "cuda")
    rows = [json.loads(line) for line in Path(recipe["data"]["train"]).read_text(encoding="utf-8").splitlines()]
    transformers.set_seed(recipe["seed"])
    model = transformers.WhisperForConditionalGeneration.from_pretrained(base, dtype=torch.float32)
    loaded = (transformers.WhisperFeatureExtractor, transformers.AutoTokenizer)
    parts = (model, *(kind.from_pretrained(base) for kind in loaded))
    model.get_encoder().embed_positions.requires_grad_(False)  # sinusoids
    if lora := recipe.get("adapter"):
        shape = {"r": lora["rank"], "lora_alpha": lora["alpha"], "target_modules": lora["target_modules"]}
        model = peft.get_peft_model(model, peft.LoraConfig(**shape))
    weights = [weight for weight in model.to(device).train().parameters() if weight.requires_grad]
    decay = float(settings["weight_decay"])  # not of biases and layer norms
    groups = [{"params": [weight], "weight_decay": decay * (weight.dim() > 1)} for weight in weights]
    optimizer = torch.optim.AdamW(groups, lr=float(settings["learning_rate"]))
    size, micro = recipe["size"], settings["per_device_train_batch_size"]
    per_epoch = math.ceil(len(rows) / size)
    steps = settings["max_steps"] or math.ceil(settings["num_train_epochs"] * per_epoch)
    warmup = math.ceil(settings["warmup_steps"] * (1 if settings["warmup_steps"] >= 1 else steps))
    schedule = transformers.get_scheduler(settings["lr_scheduler_type"], optimizer, warmup, steps)
    for step in range(steps):
        epoch, place = divmod(step, per_epoch)
        numbers = order(rows, recipe, epoch)[place * size : (place + 1) * size]
        batches = [collate(numbers[at : at + micro], rows, recipe, parts) for at in range(0, len(numbers), micro)]
        tokens = sum(int((batch["labels"] != NO_LOSS).sum()) for batch in batches)
        total = 0.0
        for batch in batches:
            batch = {name: value.to(device) for name, value in batch.items()}
            labels = batch.pop("labels").flatten()
            with torch.autocast(device, torch.bfloat16, enabled=is_bf16):
                logits = model(**batch, use_cache=False).logits.float().flatten(0, 1)
            # Divided by the tokens of the whole step, so that its split into micro-batches changes nothing.
            loss = torch.nn.functional.cross_entropy(logits, labels, ignore_index=NO_LOSS, reduction="sum") / tokens
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        yield total
    for part in (model, *parts[1:]):
        part.save_pretrained(recipe["out"])


if __name__ == "__main__":
    for number, value in enumerate(train(read_recipe(Path(sys.argv[1]))), 1):
        print(f"step {number}: loss {value:.4f}")
