"""A recipe as YAML text, with a comment above each section."""

from __future__ import annotations

from typing import Any

import yaml

from lsa_whisper.finetuning.memory.plan import Plan

_COMMENTS = {
    "data": "Training and development data, as 'lsa-whisper prepare' wrote them.",
    "out": "Folder of the checkpoint.",
    "model": "The model to start from.",
    "adapter": "LoRA: small matrices are trained, the base model stays frozen.",
    "strategy": "How the model is laid out over GPUs and host memory.",
    "offload": "What is kept outside of GPU memory.",
    "evaluation": "Scores on the development set while training; the best checkpoint is kept.",
    "precision": "Computation in 16 bits, weights in 32.",
    "training": "Batches, length and learning rate; checkpoints are saved by themselves.",
}


def recipe_text(raw: dict[str, Any], windows: int, plan: Plan | None) -> str:
    """Return ``raw`` as commented YAML that :func:`~lsa_whisper.finetuning.recipe.parse_recipe` reads.

    Args:
        raw: The recipe as plain values, its sections in order.
        windows: Number of training windows, for the comment.
        plan: What it needs; ``None`` if that is unknown.
    """
    lines = [f"# Chosen by lsa-whisper for {windows} training windows and the machine it ran on."]
    if plan is not None:
        gpu = f"{plan.gpu_gib:.1f} GiB on the GPU, " if plan.job.hardware.gpus else ""
        lines.append(f"# Plan: {plan.name}; about {gpu}{plan.host_gib:.1f} GiB of host memory.")
    lines.append("# Change what you like; docs/reference/recipes.md lists all settings.")
    for key, value in raw.items():
        lines += ["", f"# {_COMMENTS[key]}"] if key in _COMMENTS else [""]
        lines += yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000).splitlines()
    return "\n".join(lines) + "\n"
