"""A CTranslate2 model with all that belongs to it: what ``export --to ct2`` writes, loaded again.

The folder is one that faster-whisper reads (``model.bin``, ``vocabulary.json``, CTranslate2's ``config.json``,
``tokenizer.json``, ``preprocessor_config.json``); ``generation_config.json`` and ``lsa_whisper.json`` tell us how the
model is to be asked and how its text is to be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper import plain_json
from lsa_whisper.checkpoint.folder import METADATA_FILE, is_converted
from lsa_whisper.checkpoint.loading import load_processor, quiet
from lsa_whisper.checkpoint.untrusted import read_json, verify_settings
from lsa_whisper.errors import CheckpointError, MissingExtraError
from lsa_whisper.labels import Labels

CT2_DTYPES = ("float32", "float16", "bfloat16", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16")
COPIED = (
    "tokenizer.json",
    "tokenizer_config.json",
    "preprocessor_config.json",
    "generation_config.json",
    METADATA_FILE,
)
"""The files of a checkpoint that a converted one takes along."""
_STRIDE = 2  # of the second convolution; CTranslate2 knows no other


@dataclass(frozen=True)
class Converted:
    """A Whisper model that CTranslate2 computes.

    Attributes:
        path: the folder it was loaded from.
        model: a ``ctranslate2.models.Whisper``.
        settings: the generation settings of the checkpoint it was made from.
        size: rows of the output matrix.
        labels: what the model learned to write.
    """

    path: str
    model: Any
    feature_extractor: Any
    tokenizer: Any
    settings: Any
    size: int
    labels: Labels
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def time_precision_s(self) -> float:
        """Seconds of sound behind one position of the encoder."""
        return float(_STRIDE * self.feature_extractor.hop_length / self.feature_extractor.sampling_rate)

    @property
    def context_s(self) -> float:
        """The longest window the encoder hears at once, in seconds."""
        return float(self.feature_extractor.n_samples / self.feature_extractor.sampling_rate)


def require_ctranslate2(purpose: str) -> None:
    """Return when CTranslate2 is installed.

    Raises:
        MissingExtraError: it is not.
    """
    try:
        import ctranslate2  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(purpose, "CTranslate2", "ct2") from error


def load_converted(path: str | Path, *, dtype: str = "auto", device: str = "cpu") -> Converted:
    """Return the model in a folder that ``export --to ct2`` wrote.

    Args:
        path: the folder.
        dtype: one of :data:`CT2_DTYPES`; ``auto`` computes in the type that is stored, or the nearest the device has.
        device: for example ``cpu`` or ``cuda:0``.

    Raises:
        CheckpointError: the folder is incomplete, or the machine has no such device or number type.
        MissingExtraError: CTranslate2 is not installed.
    """
    require_ctranslate2("the engine ct2")
    folder = Path(path)
    if not is_converted(folder):
        raise CheckpointError(f"{folder}: holds no CTranslate2 model; make one with lsa-whisper export --to ct2")
    if absent := [name for name in COPIED if not (folder / name).exists()]:
        raise CheckpointError(f"{folder}: has no {absent[0]}; export the checkpoint again with --to ct2")
    if dtype not in ("auto", *CT2_DTYPES):
        raise CheckpointError(f"numbers of type {dtype!r} are not known; choose auto, {', '.join(CT2_DTYPES)}")
    from transformers import GenerationConfig

    verify_settings(folder)
    ours = read_json(folder / METADATA_FILE)
    with quiet():
        feature_extractor, tokenizer = load_processor(str(folder))
        try:
            settings = GenerationConfig.from_pretrained(str(folder), local_files_only=True)
        except Exception as error:  # transformers raises whatever its checks do
            raise CheckpointError(f"{folder}: cannot be loaded ({error}); export the checkpoint again") from error
    size = _words(folder / "vocabulary.json")
    labels = Labels.from_dict(ours["labels"]) if "labels" in ours else Labels("fluent")
    model = _model(folder, dtype, device)
    parts = (feature_extractor, tokenizer, settings, size, labels)
    return Converted(str(path), model, *parts, ours.get("recipe", {}), ours.get("provenance", {}))


def _words(vocabulary: Path) -> int:
    try:
        return len(plain_json.read(vocabulary))
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{vocabulary}: cannot be read ({error}); export the checkpoint again") from error


def _model(folder: Path, dtype: str, device: str) -> Any:
    import ctranslate2
    import torch

    kind, _, index = device.partition(":")
    # Asked for nothing, CTranslate2 says on the terminal that it computes float16 in float32 on a CPU.
    before = ctranslate2.get_log_level()
    ctranslate2.set_log_level(40)
    try:
        return ctranslate2.models.Whisper(
            str(folder),
            device=kind,
            device_index=int(index or 0),
            compute_type="default" if dtype == "auto" else dtype,
            intra_threads=torch.get_num_threads(),  # by itself it takes four at most, and more than it was given
        )
    except (RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise CheckpointError(f"{folder}: cannot be used as {dtype} on {device} ({reason}); choose others") from error
    finally:
        ctranslate2.set_log_level(before)
