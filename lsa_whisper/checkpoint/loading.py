"""Loading of a :class:`Checkpoint` from a folder or a hub name."""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.description import PREPROCESSOR_FILES
from lsa_whisper.checkpoint.hub import folder_of_weights, hub_source, model_folder
from lsa_whisper.checkpoint.stored_labels import TaggerWeights, read_retraces
from lsa_whisper.checkpoint.stored_weights import StoredWeights, reserve_weights, verify_names
from lsa_whisper.checkpoint.token_table import TOKENIZER_FILES
from lsa_whisper.checkpoint.trimming import encoder_input_s, longest_window_s, trim_margin_s
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE
from lsa_whisper.checkpoint.verification import is_local, read_metadata, verify_checkpoint, verify_fit
from lsa_whisper.checkpoint.vocabulary import default_labels
from lsa_whisper.checkpoint.whisper_constants import ENCODER_STRIDE
from lsa_whisper.errors import CheckpointError, first_line
from lsa_whisper.labels import Labels
from lsa_whisper.system.library_internals import empty_whisper

_DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class LoadedModel(ABC):
    """A Whisper model in any library, with its processor and what its folder says of it.

    Attributes:
        path: The folder or hub name that it was loaded from.
        labels: The label style that the model was trained on.
        recipe: The settings of its training, empty if unknown.
        provenance: The origin of its weights, empty if unknown.
        retraces: The weights of a tagger of retraces for each language (ISO 639-3), learned from its training data.
        trim_margin_s: The margin after the sound if it was trained with ``data.trim``, so that the encoder need not see
            its whole context; ``None`` otherwise.
    """

    path: str
    model: Any
    feature_extractor: Any
    tokenizer: Any
    labels: Labels
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    retraces: Mapping[str, TaggerWeights] = field(default_factory=dict)
    trim_margin_s: float | None = None

    @property
    def time_precision_s(self) -> float:
        """Seconds of audio per encoder position (0.02 for every published Whisper)."""
        return float(ENCODER_STRIDE * self.feature_extractor.hop_length / self.feature_extractor.sampling_rate)

    @property
    @abstractmethod
    def context_s(self) -> float:
        """The encoder's context in seconds."""

    @property
    def window_s(self) -> float:
        """The longest window to cut recordings into, in seconds."""
        return longest_window_s(self.context_s, self.trim_margin_s)

    def encoder_input_s(self, duration_s: float) -> float:
        """Return how many seconds the encoder sees of a window with ``duration_s`` seconds of sound."""
        return encoder_input_s(duration_s, self.context_s, self.trim_margin_s, str(self.model.device))


@dataclass(frozen=True)
class Checkpoint(LoadedModel):
    """A loaded Whisper model of transformers.

    Attributes:
        unread: Where its weights are stored if they have not been read yet.
        in_use: Held by the thread that decodes with the model, whose hooks and encoder are set up for one at a time.
    """

    unread: StoredWeights | None = None
    in_use: Any = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def context_s(self) -> float:
        """The encoder's context in seconds."""
        return float(self.model.config.max_source_positions * self.time_precision_s)


def load(
    path: str | Path,
    *,
    dtype: str = "float32",
    device: str = "cpu",
    weights: bool = True,
    by_weight: bool = False,
    quantized: Any = None,
) -> Checkpoint:
    """Return the checkpoint in a folder or under a hub name; an adapter is merged into its base.

    Args:
        path: A folder as ``save`` writes it, any Hugging Face Whisper folder, or a hub name ``owner/model``.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        device: For example ``cpu`` or ``cuda:0``.
        weights: Read the weights; otherwise they take no memory and are all zero, to be read one at a time from
            :attr:`Checkpoint.unread` or to be sent by another rank.
        by_weight: Read each weight onto the device alone, so that the host never holds a second copy of the file.
        quantized: transformers' quantization configuration, to train an adapter on a quantized base.

    Raises:
        CheckpointError: The folder is missing or incomplete, its weights are pickled, it is not a Whisper model, or the
            machine has no such device.
    """
    if dtype not in _DTYPES:
        raise CheckpointError(f"numbers of type {dtype!r} are not known; choose {', '.join(_DTYPES)}")
    source = str(path) if is_local(path) else hub_source(str(path))
    if is_local(source):
        verify_checkpoint(Path(source))
    ours = read_metadata(Path(source))
    with quiet_transformers():
        at_once = device if by_weight else None
        model = _load_model(source, dtype, quantized, at_once) if weights else _shape_of(source, dtype)
        model = (model if quantized is not None else _onto(model, device)).eval()  # quantized ones cannot be moved
        feature_extractor, tokenizer = load_processor(source)
    drop_wrong_heads(model)
    if source != str(path):
        model.name_or_path = str(path)
    folder = None if weights else folder_of_weights(source)
    unread = StoredWeights(folder, model) if folder else None
    described = described_in(Path(source), ours, tokenizer)
    return Checkpoint(str(path), model, feature_extractor, tokenizer, **described, unread=unread)


def described_in(folder: Path, ours: Mapping[str, Any], tokenizer: Any) -> dict[str, Any]:
    """Return what a folder and its metadata, ``ours``, say of a model, as :class:`LoadedModel` names it."""
    return {
        "labels": Labels.from_dict(ours["labels"]) if "labels" in ours else default_labels(tokenizer),
        "recipe": ours.get("recipe", {}),
        "provenance": ours.get("provenance", {}),
        "retraces": read_retraces(folder),
        "trim_margin_s": trim_margin_s(ours),
    }


def drop_wrong_heads(model: Any) -> None:
    """Remove alignment heads that the decoder does not have: distilled models are published with their teacher's."""
    heads, config = getattr(model.generation_config, "alignment_heads", None), model.config
    sizes = config.decoder_layers, config.decoder_attention_heads
    if heads and any(layer >= sizes[0] or head >= sizes[1] for layer, head in heads):
        model.generation_config.alignment_heads = None


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Suppress transformers' progress bars and messages, and DeepSpeed's, which it imports; restore both afterwards."""
    from transformers.utils import logging as transformers_logging

    level, bars = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("DeepSpeed").disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.getLogger("DeepSpeed").disabled = False
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()


def _load_model(source: str, dtype: str, quantized: Any = None, device: str | None = None) -> Any:
    if (Path(source) / ADAPTER_FILE).exists():
        if quantized is not None:
            raise CheckpointError(f"{source}: an adapter cannot be quantized with its base; export it merged first")
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
            device_map=device,
            trust_remote_code=False,
            local_files_only=is_local(source),
        )
    except Exception as error:  # hub, safetensors and transformers each raise their own
        raise CheckpointError(
            f"{source}: cannot be loaded ({first_line(error)}); check the folder or the name"
        ) from error
    # Missing tensors would be initialized at random without an error.
    verify_names(source, set(report["missing_keys"]) - {"proj_out.weight"}, set(report["unexpected_keys"]))
    return model


def _shape_of(source: str, dtype: str) -> Any:
    import torch
    from transformers import GenerationConfig, WhisperConfig

    source = _source_of_base(Path(source)) if (Path(source) / ADAPTER_FILE).exists() else source
    config = WhisperConfig.from_pretrained(source, local_files_only=is_local(source))
    model = empty_whisper(config, getattr(torch, dtype))
    reserve_weights(model)
    model.tie_weights()
    model.name_or_path = source  # as from_pretrained does: an adapter names its base by it
    model.generation_config = GenerationConfig.from_pretrained(source, local_files_only=is_local(source))
    return model


def _onto(model: Any, device: str) -> Any:
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:  # torch asserts if built without CUDA
        raise CheckpointError(f"device {device!r} cannot be used ({first_line(error)}); choose cpu") from error


def _source_of_base(folder: Path) -> str:
    """Return the folder of an adapter's base, which is never downloaded: its name comes from the adapter's folder.

    Raises:
        CheckpointError: It is not on this machine, or the adapter's own files do not fit it.
    """
    name = base_of(folder)
    place = model_folder(name)
    if place is None:
        raise CheckpointError(
            f"{name}: the base of an adapter must be downloaded first: hf download {name}, or correct {ADAPTER_FILE}"
        )
    verify_fit(folder, place)
    return str(place)


def _load_merged(folder: Path, dtype: str) -> Any:
    from peft import PeftModel
    from transformers import GenerationConfig

    base = _load_model(_source_of_base(folder), dtype)
    try:
        model = PeftModel.from_pretrained(base, str(folder)).merge_and_unload()
        if (folder / "generation_config.json").exists():
            model.generation_config = GenerationConfig.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:  # PEFT passes on errors of safetensors, torch and its own
        raise CheckpointError(
            f"{folder}: the adapter does not fit its base ({first_line(error)}); check the base model"
        ) from error
    return model


def load_processor(source: str) -> tuple[Any, Any]:
    """Return the feature extractor and the tokenizer; those of the base if an adapter has none."""
    from transformers import AutoTokenizer, WhisperFeatureExtractor

    parts: list[Any] = []
    for kind, files in ((WhisperFeatureExtractor, PREPROCESSOR_FILES), (AutoTokenizer, TOKENIZER_FILES)):
        place = source
        if (Path(source) / ADAPTER_FILE).exists() and not any((Path(source) / file).exists() for file in files):
            place = _source_of_base(Path(source))
        if is_local(place) and not any((Path(place) / file).exists() for file in files):
            raise CheckpointError(f"{place}: has no {files[0]}; copy it from the model this one was made from")
        try:
            parts.append(kind.from_pretrained(place, trust_remote_code=False))
        except Exception as error:
            reason = first_line(error)
            raise CheckpointError(f"{place}: {files[0]} cannot be read ({reason}); save the model again") from error
    return parts[0], parts[1]
