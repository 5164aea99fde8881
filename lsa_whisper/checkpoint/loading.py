"""From a folder or a hub name to a :class:`Checkpoint`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.folder import METADATA_FILE, base_of, is_local, verify
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import Labels
from lsa_whisper.library_internals import empty_whisper

_DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Checkpoint:
    """A Whisper model ready to use, and how its text is to be read.

    Attributes:
        path: the folder or hub name it was loaded from.
        labels: what the model learned to write.
        recipe: the settings it was trained with, empty when unknown.
        provenance: where its weights come from, empty when unknown.
    """

    path: str
    model: Any
    feature_extractor: Any
    tokenizer: Any
    labels: Labels
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def time_precision_s(self) -> float:
        """Seconds of sound behind one position of the encoder (0.02 for every published Whisper)."""
        encoder = self.model.get_encoder()
        stride = encoder.conv1.stride[0] * encoder.conv2.stride[0]
        return float(stride * self.feature_extractor.hop_length / self.feature_extractor.sampling_rate)

    @property
    def context_s(self) -> float:
        """The longest window the encoder hears at once, in seconds."""
        return float(self.model.config.max_source_positions * self.time_precision_s)


def load(
    path: str | Path,
    *,
    dtype: str = "float32",
    device: str = "cpu",
    weights: bool = True,
    quantized: Any = None,
) -> Checkpoint:
    """Return the checkpoint in a folder or under a hub name; a folder with an adapter comes back merged into its base.

    Args:
        path: a folder as ``save`` writes it, any Hugging Face Whisper folder, or a hub name ``owner/model``.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        device: where the weights go, for example ``cpu`` or ``cuda:0``.
        weights: read them; without, the model has its shape only, and its memory stays untouched until another process
            sends the weights.
        quantized: transformers' settings for weights in fewer bits, to train an adapter beside them.

    Raises:
        CheckpointError: the folder is missing or incomplete, its weights are pickled, it is no Whisper model, or the
            machine has no such device.
    """
    source = str(path)
    ours = {}
    if is_local(path):
        verify(Path(path))
        ours = read_json(Path(path) / METADATA_FILE) if (Path(path) / METADATA_FILE).exists() else {}
    if dtype not in _DTYPES:
        raise CheckpointError(f"numbers of type {dtype!r} are not known; choose {', '.join(_DTYPES)}")
    with quiet():
        model = _load_model(source, dtype, quantized) if weights else _shape_of(source, dtype)
        model = (model if quantized is not None else _onto(model, device)).eval()  # quantised ones cannot be moved
        feature_extractor, tokenizer = load_processor(source)
    labels = Labels.from_dict(ours["labels"]) if "labels" in ours else Labels("fluent")
    recipe, provenance = ours.get("recipe", {}), ours.get("provenance", {})
    return Checkpoint(source, model, feature_extractor, tokenizer, labels, recipe, provenance)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' own progress bars and advice off the terminal, and put its settings back."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _load_model(source: str, dtype: str, quantized: Any = None, *, here: bool = False) -> Any:
    """Return the model; from what is ``here`` already, where a folder is loaded that names its base by a hub name."""
    if (Path(source) / ADAPTER_FILE).exists():
        if quantized is not None:
            raise CheckpointError(f"{source}: an adapter cannot be quantised with its base; export it merged first")
        return _load_merged(Path(source), dtype)
    import torch
    from transformers import WhisperForConditionalGeneration

    try:
        model, report = WhisperForConditionalGeneration.from_pretrained(
            source,
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            output_loading_info=True,
            quantization_config=quantized,
            trust_remote_code=False,
            local_files_only=here or is_local(source),
        )
    except Exception as error:  # hub, safetensors and transformers each raise their own
        if here:
            raise CheckpointError(
                f"{source}: the base of an adapter must be here already; fetch it once (hf download {source}), or "
                "correct adapter_config.json"
            ) from error
        raise CheckpointError(
            f"{source}: cannot be loaded ({_first_line(error)}); check the folder or the name"
        ) from error
    # Tensors that are not in the file would be random numbers, and the transcripts nonsense without a word.
    missing = sorted(set(report["missing_keys"]) - {"proj_out.weight"})
    if missing:
        raise CheckpointError(f"{source}: {len(missing)} tensors are missing, first {missing[0]}; save the model again")
    return model


def _shape_of(source: str, dtype: str) -> Any:
    import torch
    from transformers import GenerationConfig, WhisperConfig

    source = base_of(Path(source)) if (Path(source) / ADAPTER_FILE).exists() else source
    config = WhisperConfig.from_pretrained(source, local_files_only=is_local(source))
    model = empty_whisper(config, getattr(torch, dtype))
    model.to_empty(device="cpu").tie_weights()
    model.generation_config = GenerationConfig.from_pretrained(source, local_files_only=is_local(source))
    return model


def _onto(model: Any, device: str) -> Any:
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:  # torch asserts where it was built without CUDA
        raise CheckpointError(f"device {device!r} cannot be used ({str(error).splitlines()[0]}); choose cpu") from error


def _load_merged(folder: Path, dtype: str) -> Any:
    from peft import PeftModel
    from transformers import GenerationConfig

    name = base_of(folder)
    base = _load_model(name, dtype, here=not is_local(name))
    try:
        model = PeftModel.from_pretrained(base, str(folder)).merge_and_unload()
        if (folder / "generation_config.json").exists():
            model.generation_config = GenerationConfig.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:  # PEFT raises what safetensors, torch or its configuration raise
        reason = _first_line(error)
        raise CheckpointError(
            f"{folder}: the adapter does not fit its base ({reason}); check the base model"
        ) from error
    return model


def _first_line(error: Exception) -> str:
    """Return what the libraries' errors, which go on for paragraphs, begin with."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def load_processor(source: str) -> tuple[Any, Any]:
    """Return the feature extractor and the tokenizer; those of an adapter's base where the adapter has none."""
    from transformers import AutoTokenizer, WhisperFeatureExtractor

    loaded: list[Any] = []
    for kind, files in (
        (WhisperFeatureExtractor, ("preprocessor_config.json", "processor_config.json")),
        (AutoTokenizer, ("tokenizer.json", "vocab.json")),
    ):
        place = source
        if (Path(source) / ADAPTER_FILE).exists() and not any((Path(source) / file).exists() for file in files):
            place = base_of(Path(source))
        if is_local(place) and not any((Path(place) / file).exists() for file in files):
            raise CheckpointError(f"{place}: has no {files[0]}; copy it from the model this one was made from")
        try:
            # What a folder needs is never fetched. A tokenizer saves what it was loaded with, so only where it matters.
            options = {"local_files_only": True} if is_local(source) and not is_local(place) else {}
            loaded.append(kind.from_pretrained(place, trust_remote_code=False, **options))
        except Exception as error:
            reason = _first_line(error)
            raise CheckpointError(f"{place}: {files[0]} cannot be read ({reason}); save the model again") from error
    return loaded[0], loaded[1]
