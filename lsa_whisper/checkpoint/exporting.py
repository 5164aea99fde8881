"""Export of a checkpoint for other programs, verified against its source; to CTranslate2 also into a cache."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.converted import require_ctranslate2
from lsa_whisper.checkpoint.exporting_ct2 import any_language, convert
from lsa_whisper.checkpoint.exporting_ggml import GGML_DTYPE, GGML_FILE, positions_of_tokens, write_ggml
from lsa_whisper.checkpoint.folder import METADATA_FILE, TRANSFORMERS_4_FILES, atomic_folder, digest, verify_replaceable
from lsa_whisper.checkpoint.loading import Checkpoint, load
from lsa_whisper.checkpoint.overview import overview_line
from lsa_whisper.checkpoint.saving import save
from lsa_whisper.checkpoint.vocabulary import decoder_prompt
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system import machine
from lsa_whisper.system.files import path_of
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

EXPORT_FORMATS = ("hf", "ct2", "ggml")
_TOLERANCE = 1e-3


@private_umask()
def export(checkpoint: Checkpoint | str | Path, out: str | Path, *, to: str = "hf", dtype: str | None = None) -> Path:
    """Export a checkpoint for other programs with any adapter merged; verify it and return its folder.

    Args:
        checkpoint: A loaded checkpoint, or the folder to load.
        out: The folder to write; a checkpoint in it is replaced, unless it is the one that is exported.
        to: ``hf`` (a Hugging Face folder, as Batchalign reads it), ``ct2`` (CTranslate2, as faster-whisper reads it) or
            ``ggml`` (a file for whisper.cpp).
        dtype: ``float32`` by default, or ``float16`` or ``bfloat16`` for half the size; a loaded checkpoint keeps its
            own. ``ct2`` also supports ``int8`` (a quarter of the size) and ``int8_float16``, ``ggml`` only ``float16``.

    Raises:
        CheckpointError: The exported model differs from its source, or the other program does not support it; ``out``
            is unchanged.
        MissingExtraError: ``ct2`` without CTranslate2.
    """
    if to not in EXPORT_FORMATS:
        raise CheckpointError(f"cannot export to {to!r}: choose {', '.join(EXPORT_FORMATS)}")
    if to == "ggml" and dtype not in (None, GGML_DTYPE):
        raise CheckpointError(f"whisper.cpp computes in {GGML_DTYPE}, not in {dtype}; leave `dtype` out")
    dtype, out = dtype or "float32", path_of(out)
    source = checkpoint.path if isinstance(checkpoint, Checkpoint) else checkpoint
    if out.exists() and path_of(source).resolve() == out.resolve():
        raise CheckpointError(f"{out}: is the checkpoint itself, and would be replaced; choose another output folder")
    verify_replaceable(out)
    if to == "ct2":
        require_ctranslate2("export to ct2")
    if not isinstance(checkpoint, Checkpoint):
        print_progress(overview_line(checkpoint))
        checkpoint = load(checkpoint, dtype=dtype if to == "hf" else "float32")
    if to == "ggml":
        positions_of_tokens(checkpoint)  # which refuses it before anything is written
    with atomic_folder(out) as partial, tempfile.TemporaryDirectory(dir=partial) as scratch:
        origin = {**checkpoint.provenance, "exported_from": Path(checkpoint.path).name}
        checkpoint = dataclasses.replace(checkpoint, provenance=origin)
        folder = write_verified(checkpoint, Path(scratch) / "checkpoint")
        if to == "ct2":
            folder = convert(load(folder), folder, Path(scratch) / "ct2", dtype=dtype)
        elif to == "ggml":
            whole, metadata = load(folder), (folder / METADATA_FILE).read_bytes()
            folder = Path(scratch) / "ggml"
            folder.mkdir()
            write_ggml(whole, folder / GGML_FILE)
            (folder / METADATA_FILE).write_bytes(metadata)
        for file in sorted(folder.iterdir()):
            file.rename(partial / file.name)
    return out


def write_verified(checkpoint: Checkpoint, folder: Path) -> Path:
    """Write a full model, any adapter merged, with the vocabulary files of transformers 4, and return its folder.

    Raises:
        CheckpointError: The written model, loaded again, has other logits.
    """
    model = checkpoint.model
    if hasattr(model, "merge_and_unload"):
        model = model.merge_and_unload()
    save(
        folder,
        model=model,
        feature_extractor=checkpoint.feature_extractor,
        tokenizer=checkpoint.tokenizer,
        labels=checkpoint.labels,
        recipe=checkpoint.recipe,
        provenance=checkpoint.provenance,
        retraces=checkpoint.retraces,
        trim_margin_s=checkpoint.trim_margin_s,
    )
    _write_transformers_4_vocabulary(checkpoint.tokenizer, folder)
    again = load(folder, dtype=str(next(model.parameters()).dtype).removeprefix("torch."))
    difference = _difference(checkpoint, model, again.model)
    if not difference <= _TOLERANCE:  # true for NaN, too
        raise CheckpointError(f"the exported model differs from its source by {difference:.2g}; nothing was written")
    return folder


def _write_transformers_4_vocabulary(tokenizer: Any, folder: Path) -> None:
    """Write the vocabulary files that transformers 4 reads; transformers 5 writes ``tokenizer.json`` only."""
    tokenizer.backend_tokenizer.model.save(str(folder))
    added = json.dumps(tokenizer.get_added_vocab(), ensure_ascii=False)
    (folder / TRANSFORMERS_4_FILES[-1]).write_text(added, "utf-8")


def _difference(checkpoint: Checkpoint, model: Any, again: Any) -> float:
    """Return the largest difference between two models' logits for a random window and the decoder prompt."""
    import torch

    extractor = checkpoint.feature_extractor
    frames = round(checkpoint.context_s * extractor.sampling_rate) // extractor.hop_length
    probe = torch.randn(1, extractor.feature_size, frames, generator=torch.Generator().manual_seed(0))
    prompt = decoder_prompt(checkpoint.tokenizer, model.generation_config, language=any_language(model))
    logits = []
    for network in (model, again):
        weight = next(network.parameters())
        with torch.inference_mode():
            inputs = torch.tensor([prompt], device=weight.device)
            output = network(input_features=probe.to(weight.device, weight.dtype), decoder_input_ids=inputs)
        logits.append(output.logits.float().cpu())
    return float((logits[0] - logits[1]).abs().max())


def cached_conversion(source: str | Path) -> Path:
    """Return the CTranslate2 form (float32) of a checkpoint folder or hub name; convert it on first use.

    The folder's name contains the checkpoint's digest, so a checkpoint with other weights is converted again.

    Raises:
        CheckpointError: The checkpoint cannot be loaded or converted.
    """
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in Path(source).resolve().name)
    cached = f"{name}-{digest(source).rpartition(':')[2].replace('/', '-')}"
    target = machine.cache_home() / "lsa-whisper" / "ct2" / cached
    if not target.exists():
        print(f"{source}: converting to CTranslate2 (once); cached in {target}", file=sys.stderr)
        export(source, target, to="ct2")
    return target
