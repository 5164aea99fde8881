"""Words and disfluencies of real people after fine-tuning a real model on the GPU, from ``benchmarks.real_people``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting
from benchmarks.real_people.corpus import CLEAN, Clip, clips_of, copy_corpus, folds_of
from benchmarks.real_people.scores import count, figures, total
from benchmarks.real_people.variants import ADAPTER, finetuned
from lsa_whisper.decoding.style import DECODING_STYLES
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription import Transcriber

FOLDS = 4
SETTINGS = {
    "full": (),
    "LoRA": ADAPTER,
    "full, ZeRO-3 bf16": ("strategy=zero3", "precision=bf16"),
}
"""What ``finetune FOLDER`` is told, for each system."""
DRY_CORPUS, DRY_MODEL = Path("corpora/storybook/test"), Path("models/nano")
DRY_SETTINGS = ("training.max_steps=2", "training.use_cpu=true", "training.warmup_steps=1")


def real_people(setting: Setting, record: Record) -> None:
    """Train on the people of three parts, transcribe those of the fourth, and record words and fillers."""
    corpus, base = Path(setting.speech or DRY_CORPUS), Path(setting.model or DRY_MODEL)
    if not setting.dry and not (setting.speech and setting.model):
        record.not_run("all", "no --speech or no --model was given: a folder of real recordings, and OpenAI's base")
        return
    clips = clips_of(corpus, setting.folder / "real-people")
    # The synthetic voices of the dry run are in every recording.
    heard, *others = [clips[:1], clips[1:3]] if setting.dry else folds_of(clips, FOLDS)
    known = [clip for fold in others for clip in fold]
    record.add("data", f"{len(known)} recordings to train on, {len(heard)} of other people to transcribe")
    for style in DECODING_STYLES:
        record.add(f"stock, {style}", heard_by(Transcriber(base, style=None if setting.dry else style), heard))
    for name, settings in SETTINGS.items():
        try:
            model = trained(setting, known, base, [*settings, *(DRY_SETTINGS if setting.dry else ())])
        except LsaWhisperError as error:  # the others go on
            if setting.dry:
                raise
            record.add(name, {"failed": str(error)})
        else:
            record.add(name, heard_by(Transcriber(model), heard))


def trained(setting: Setting, clips: list[Clip], base: Path, settings: list[str]) -> Path:
    """Return the model that is fine-tuned on clips."""
    place = setting.folder / "accuracy"
    shutil.rmtree(place, ignore_errors=True)
    return finetuned(copy_corpus(clips, place / "corpus"), base, place, 0, settings)


def heard_by(transcriber: Transcriber, clips: list[Clip]) -> dict[str, Any]:
    """Return the figures of a model, of spontaneous and of clean speech."""
    counts = [(clip.set == CLEAN, count(transcriber, clip)) for clip in clips]
    parts = {name: total(one for clean, one in counts if clean == (name == CLEAN)) for name in ("spontaneous", CLEAN)}
    return {name: figures(found) for name, found in parts.items() if found}
