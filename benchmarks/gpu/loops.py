"""The same utterances through this project's trainer, packed, and through a plain loop, each padded to 30 s."""

from __future__ import annotations

import os
import time
from typing import Any

import torch

from benchmarks.gpu import material
from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting
from benchmarks.gpu.training import Measure, recipe_of, train
from lsa_whisper import checkpoint, manifest
from lsa_whisper.dataset import Collator, WindowDataset

BATCH, DRY_BATCH = 8, 2
EPOCHS = 3
"""Of the packed windows, which are few."""
PLAIN_STEPS, DRY_STEPS = 60, 4
NOT_TIMED = 2
"""Steps at the start, in which data workers and GPU warm up."""


class Steps(Measure):
    """The end of every step."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note the time."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.ends.append(time.perf_counter())

    def seconds_per_step(self) -> float:
        """Return the seconds of a step after the first ones."""
        return (self.ends[-1] - self.ends[NOT_TIMED - 1]) / (len(self.ends) - NOT_TIMED)


def workers(setting: Setting) -> int:
    """Return the number of data loader processes: half of the cores."""
    return 1 if setting.dry else max(1, min(8, (os.cpu_count() or 2) // 2))


def packed(setting: Setting, record: Record) -> None:
    """Fine-tune on utterances packed to windows of 30 s."""
    path, utterances = material.storybook(setting, one_utterance=False), material.storybook(setting, one_utterance=True)
    batch = DRY_BATCH if setting.dry else BATCH
    length = {"max_steps": DRY_STEPS} if setting.dry else {"num_train_epochs": EPOCHS}
    data = {"train": str(path), "workers": workers(setting)}
    steps = Steps()
    training = {"per_device_train_batch_size": batch} | length
    train(recipe_of(setting, data, {"precision": "bf16"}, training), steps)
    rows = len(manifest.read(path))
    # The same speech as in the other loop: silence between utterances of a window does not count.
    each_s = material.speech_s(utterances) / rows
    speed(record, rows, batch, each_s, steps, setting)


def plain(setting: Setting, record: Record) -> None:
    """Train as public examples do: an utterance a row, padded to 30 s, transformers' loss, AdamW, bf16 autocast."""
    path = material.storybook(setting, one_utterance=True)
    start = checkpoint.load(material.base(setting), device=setting.device)
    model = start.model.train()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.config.use_cache = False
    data, batch = WindowDataset(path, start), DRY_BATCH if setting.dry else BATCH
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5, fused=not setting.dry)
    loader = torch.utils.data.DataLoader(
        data,
        batch,
        shuffle=True,
        drop_last=True,
        num_workers=workers(setting),
        collate_fn=Collator(start.tokenizer.eos_token_id),
        generator=torch.Generator().manual_seed(0),
        pin_memory=not setting.dry,
    )
    steps = Steps()
    for number, rows in enumerate(loader, 1):
        given = {name: tensor.to(setting.device, non_blocking=True) for name, tensor in rows.items()}
        with torch.autocast(setting.device, torch.bfloat16):
            loss = model(**given).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        steps.on_step_end(None, None, None)
        if number == (DRY_STEPS if setting.dry else PLAIN_STEPS):
            break
    speed(record, len(data), batch, material.speech_s(path) / len(data), steps, setting)


def speed(record: Record, rows: int, batch: int, each_s: float, steps: Steps, setting: Setting) -> None:
    """Record the seconds of speech trained per second, each row holding ``each_s`` of it on average."""
    seconds = steps.seconds_per_step()
    record.add("rows", rows)
    record.add("speech_s_per_row", round(each_s, 2))
    record.add("settings", f"batches of {batch}, {workers(setting)} data workers, {len(steps.ends)} steps")
    record.add("samples_per_s", round(batch / seconds, 2))
    record.add("audio_s_per_s", round(batch * each_s / seconds, 1))
