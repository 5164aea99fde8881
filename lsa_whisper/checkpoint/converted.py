"""Loading of CTranslate2 models: those that ``export --to ct2`` has written, and those of faster-whisper's users.

The folder is one that faster-whisper reads (``model.bin``, ``vocabulary.json``, CTranslate2's ``config.json``,
``tokenizer.json``, ``preprocessor_config.json``), with ``generation_config.json`` for the decoding rules and
``lsa_whisper.json`` for the label style. A folder of faster-whisper's users often has ``model.bin``, ``config.json``,
``tokenizer.json`` and ``vocabulary.json`` or ``vocabulary.txt`` only; the rest is taken from its tokenizer and
``config.json``. Its model is one that was not fine-tuned here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.loading import LoadedModel, described_in, load_processor, quiet_transformers
from lsa_whisper.checkpoint.untrusted import read_json, verify_settings
from lsa_whisper.checkpoint.verification import METADATA_FILE, is_converted, read_metadata
from lsa_whisper.checkpoint.whisper_constants import DECODER_POSITIONS
from lsa_whisper.errors import CheckpointError, MissingExtraError, first_line
from lsa_whisper.system import plain_json

CT2_DTYPES = ("float32", "float16", "bfloat16", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16")
COPIED = (
    "tokenizer.json",
    "tokenizer_config.json",
    "preprocessor_config.json",
    "generation_config.json",
    METADATA_FILE,
)
"""Files of a checkpoint that are copied into a converted one."""
_MAX_WORKERS = 4  # they share a batch, which has eight windows or more by default


@dataclass(frozen=True, kw_only=True)
class ConvertedCheckpoint(LoadedModel):
    """A Whisper model converted to CTranslate2: its ``model`` is a ``ctranslate2.models.Whisper``.

    Attributes:
        settings: The generation configuration of the source checkpoint.
        size: Number of rows of the output matrix.
    """

    settings: Any
    size: int

    @property
    def context_s(self) -> float:
        """The encoder's context in seconds."""
        return float(self.feature_extractor.n_samples / self.feature_extractor.sampling_rate)


def require_ctranslate2(purpose: str) -> None:
    """Check that CTranslate2 is installed.

    Raises:
        MissingExtraError: It is not.
    """
    try:
        import ctranslate2  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(purpose, "CTranslate2", "ct2") from error


def load_converted(path: str | Path, *, dtype: str = "auto", device: str = "cpu") -> ConvertedCheckpoint:
    """Return the model in a folder written by ``export --to ct2``, or in one that faster-whisper loads.

    ``dtype`` is one of :data:`CT2_DTYPES`; ``auto`` is the stored type, or the nearest that the device supports.

    Raises:
        CheckpointError: The folder is incomplete, or the machine does not support the device or number type.
        MissingExtraError: CTranslate2 is not installed.
    """
    require_ctranslate2("the engine ct2")
    folder = Path(path)
    if not is_converted(folder):
        raise CheckpointError(f"{folder}: holds no CTranslate2 model; make one with lsa-whisper export --to ct2")
    own = (folder / METADATA_FILE).exists()
    files = COPIED if own else ("tokenizer.json", "config.json")
    if absent := [name for name in files if not (folder / name).exists()]:
        remedy = "export the checkpoint again with --to ct2" if own else "copy it from the model this one was made from"
        raise CheckpointError(f"{folder}: has no {absent[0]}; {remedy}")
    if dtype not in ("auto", *CT2_DTYPES):
        raise CheckpointError(f"numbers of type {dtype!r} are not known; choose auto, {', '.join(CT2_DTYPES)}")
    verify_settings(folder)
    ours = read_metadata(folder)
    size = vocabulary_size(folder)
    model = _model(folder, dtype, device)
    with quiet_transformers():
        feature_extractor, tokenizer = _processor(folder, model.n_mels)
        settings = _settings(folder, tokenizer)
    if model.n_mels != feature_extractor.feature_size:
        raise CheckpointError(
            f"{folder}: the model takes {model.n_mels} mel bins, its preprocessor makes "
            f"{feature_extractor.feature_size}; export the checkpoint again with --to ct2"
        )
    described = described_in(folder, ours, tokenizer)
    return ConvertedCheckpoint(
        str(path), model, feature_extractor, tokenizer, **described, settings=settings, size=size
    )


def _processor(folder: Path, n_mels: int) -> tuple[Any, Any]:
    """Return the feature extractor and the tokenizer that the folder has, or that its model needs."""
    complete = all((folder / name).exists() for name in ("preprocessor_config.json", "tokenizer_config.json"))
    if complete:
        return load_processor(str(folder))
    extractor, tokenizer = complete_processor(folder, n_mels)
    if (folder / "preprocessor_config.json").exists():
        from transformers import WhisperFeatureExtractor

        extractor = WhisperFeatureExtractor.from_pretrained(str(folder))
    return extractor, tokenizer


def _settings(folder: Path, tokenizer: Any) -> Any:
    from transformers import GenerationConfig

    if not (folder / "generation_config.json").exists():
        return complete_settings(folder, tokenizer)
    try:
        return GenerationConfig.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:  # transformers raises many types
        raise CheckpointError(f"{folder}: cannot be loaded ({error}); export the checkpoint again") from error


def workers_and_threads(threads: int) -> tuple[int, int]:
    """Return how many batches are decoded at the same time on a CPU, and the threads of each.

    A batch leaves cores idle between its steps, so two batches on one core each take less time than two that follow
    each other on both cores. The weights are shared.

    >>> [workers_and_threads(threads) for threads in (1, 2, 4, 6, 16)]
    [(1, 1), (2, 1), (4, 1), (3, 2), (4, 4)]
    """
    per_worker = -(-threads // _MAX_WORKERS)
    return threads // per_worker, per_worker


def _model(folder: Path, dtype: str, device: str) -> Any:
    import ctranslate2
    import torch

    kind, _, index = device.partition(":")
    threads = torch.get_num_threads()  # CTranslate2 ignores this limit, and sets it when it loads a model
    workers, threads_each = workers_and_threads(threads)
    if kind == "cuda":
        workers = 1
    # CTranslate2 prints a warning when it computes float16 as float32 on a CPU.
    before = ctranslate2.get_log_level()
    ctranslate2.set_log_level(40)
    try:
        return ctranslate2.models.Whisper(
            str(folder),
            device=kind,
            device_index=int(index or 0),
            compute_type="default" if dtype == "auto" else dtype,
            inter_threads=workers,
            intra_threads=threads_each,
        )
    except (RuntimeError, ValueError) as error:
        reason = first_line(error)
        raise CheckpointError(f"{folder}: cannot be used as {dtype} on {device} ({reason}); choose others") from error
    finally:
        ctranslate2.set_log_level(before)
        torch.set_num_threads(threads)


_LANGUAGE = re.compile(r"<\|[a-z]{2,3}\|>")


def complete_processor(folder: Path, n_mels: int) -> tuple[Any, Any]:
    """Return the feature extractor for ``n_mels`` mel bins, and the tokenizer in ``tokenizer.json``.

    Raises:
        CheckpointError: The tokenizer cannot be read.
    """
    from transformers import WhisperFeatureExtractor, WhisperTokenizerFast

    end = "<|endoftext|>"
    try:
        tokenizer = WhisperTokenizerFast(
            tokenizer_file=str(folder / "tokenizer.json"), bos_token=end, eos_token=end, unk_token=end, pad_token=end
        )
    except Exception as error:  # the library raises a bare Exception
        reason = first_line(error)
        raise CheckpointError(f"{folder}: tokenizer.json cannot be read ({reason}); copy it again") from error
    return WhisperFeatureExtractor(feature_size=n_mels), tokenizer


def complete_settings(folder: Path, tokenizer: Any) -> Any:
    """Return the generation configuration of an OpenAI model with this ``tokenizer``.

    The tokens that it never writes, and its alignment heads, stand in CTranslate2's ``config.json``.

    Raises:
        CheckpointError: The tokenizer lacks a token that every Whisper has.
    """
    from transformers import GenerationConfig

    vocab, config = tokenizer.get_added_vocab(), read_json(folder / "config.json")
    try:
        start, end, no_times = (vocab[f"<|{name}|>"] for name in ("startoftranscript", "endoftext", "notimestamps"))
    except KeyError as error:
        raise CheckpointError(f"{folder}: tokenizer.json has no token {error}; is it Whisper's?") from error
    # The vocabulary of an English-only model ends its text one token earlier, which shifts all other ids.
    multilingual = end != 50256
    languages = {token: index for token, index in vocab.items() if _LANGUAGE.fullmatch(token)}
    tasks = {name: vocab[f"<|{name}|>"] for name in ("transcribe", "translate") if f"<|{name}|>" in vocab}
    return GenerationConfig(
        decoder_start_token_id=start,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        no_timestamps_token_id=no_times,
        max_length=DECODER_POSITIONS,
        max_initial_timestamp_index=50,
        prev_sot_token_id=vocab.get("<|startofprev|>"),
        return_timestamps=True,
        is_multilingual=multilingual,
        suppress_tokens=list(config.get("suppress_ids") or []),
        begin_suppress_tokens=list(config.get("suppress_ids_begin") or []),
        alignment_heads=config.get("alignment_heads") or None,
        **({"lang_to_id": languages, "task_to_id": tasks} if multilingual else {}),
    )


def vocabulary_size(folder: Path) -> int:
    """Return the number of tokens in ``vocabulary.json`` or ``vocabulary.txt``, which is that of the output matrix.

    Raises:
        CheckpointError: It cannot be read.
    """
    path = folder / "vocabulary.json"
    try:
        if path.exists():
            return len(plain_json.read(path))
        path = folder / "vocabulary.txt"
        return path.read_text("utf-8").rstrip("\n").count("\n") + 1
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); copy it again from the model it came with") from error
