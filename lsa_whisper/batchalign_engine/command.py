"""``lsa-whisper batchalign run``: the ``batchalign`` command of this environment, with ``--engine lsa``.

Batchalign has no plug-ins, so the engine is inserted where its command looks for engines: in
``batchalign/cli/transcribe.py``. That may change in any release, so it is checked before anything is patched, and only
some versions are supported.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from lsa_whisper.errors import LsaWhisperError, MissingExtraError
from lsa_whisper.system.umask import private_umask

ENGINE = "lsa"
_MODULE = "batchalign.cli.transcribe"
_EXPECTED = {
    "_build_asr": ("ba", "engine", "model", "lang", "num_speakers", "device"),
    "_build_utseg": ("ba", "lang", "engine", "segmenter", "device"),
    "write_outcome": ("outcome", "root", "out_dir", "output_suffix", "strip_word_timing"),
}
"""The wrapped functions and their parameters."""


@private_umask()
def run_batchalign(args: Sequence[str]) -> None:
    """Run ``batchalign`` with ``args``, with the engine ``lsa`` added; exits as Batchalign does.

    Raises:
        MissingExtraError: Batchalign is not installed.
        LsaWhisperError: Batchalign's command has changed.
    """
    register(word_times="--wor" in args, diarized="--diarize" in args)
    app = importlib.import_module("batchalign.cli").app
    app(args=list(args), prog_name="batchalign")


def register(*, word_times: bool = False, diarized: bool = False) -> None:
    """Add the engine ``lsa`` to the ``batchalign`` command of this process; a second call only changes the options.

    Args:
        word_times: Compute word times, which ``--wor`` writes.
        diarized: Keep the speakers that Batchalign's ``--diarize`` finds instead of the model's.

    Raises:
        MissingExtraError: Batchalign is not installed.
        LsaWhisperError: Batchalign's command has changed.
    """
    version = require("the engine lsa")
    module: Any = importlib.import_module(_MODULE)
    if (previous := getattr(module, "_lsa_whisper", None)) is not None:
        previous.word_times, previous.diarized = word_times, diarized
        return
    verify_command_module(module, version)
    engines = {member.name: member.value for member in module.AsrEngine} | {ENGINE: ENGINE}
    enum: Any = Enum  # with members that are known only at run time
    module.AsrEngine = enum("AsrEngine", engines, type=str, module=_MODULE)
    module._DEFAULT_MODEL = {module.AsrEngine(key.value): name for key, name in module._DEFAULT_MODEL.items()}
    module._lsa_whisper = _Engine(module, word_times, diarized)


def verify_command_module(module: Any, version: str) -> None:
    """Raise an error if the module of Batchalign's ``transcribe`` command has changed.

    Raises:
        LsaWhisperError: Names every part that has changed.
    """
    changes = [name for name, parameters in _EXPECTED.items() if _parameters(getattr(module, name, None)) != parameters]
    engines = getattr(module, "AsrEngine", None)
    if not (inspect.isclass(engines) and issubclass(engines, str) and issubclass(engines, Enum)):
        changes.append("AsrEngine")
    if not isinstance(getattr(module, "_DEFAULT_MODEL", None), dict):
        changes.append("_DEFAULT_MODEL")
    if changes:
        raise LsaWhisperError(
            f"Batchalign {version} has changed {', '.join(changes)} since 0.10.7, so --engine lsa cannot be added to "
            "its command; use lsa-whisper batchalign transcribe, or install batchalign==0.10.7"
        )


def _parameters(function: Any) -> tuple[str, ...] | None:
    return tuple(inspect.signature(function).parameters) if callable(function) else None


class _Engine:
    """Replaces three functions of Batchalign's command; calls for other engines are passed on."""

    def __init__(self, module: Any, word_times: bool, diarized: bool):
        self.word_times, self.diarized = word_times, diarized
        self._backend: Any = None
        self._build_asr, self._build_utseg, self._write = module._build_asr, module._build_utseg, module.write_outcome
        module._build_asr, module._build_utseg = self.build_asr, self.build_utseg
        module.write_outcome = self.write_outcome

    def build_asr(
        self, ba: Any, engine: Any, model: Any, lang: Any, num_speakers: int = 2, device: Any = None
    ) -> tuple[Any, bool]:
        """Return the backend of an engine, and whether it separates speakers."""
        if engine.value != ENGINE:
            result: tuple[Any, bool] = self._build_asr(ba, engine, model, lang, num_speakers, device)
            return result
        from lsa_whisper.batchalign_engine.backend import LsaWhisperBackend

        if not model:
            raise LsaWhisperError(
                "--engine lsa needs a model: --model DIR, a checkpoint written by lsa-whisper finetune"
            )
        self._backend = LsaWhisperBackend.load(
            model, language=lang.alpha_3, device=device or "auto", word_times=self.word_times
        )
        return self._backend, False

    def build_utseg(self, ba: Any, lang: Any, engine: Any = None, *, segmenter: Any = None, device: Any = None) -> Any:
        """Return the utterance segmenter of an engine; the engine lsa is its own."""
        if engine is not None and engine.value == ENGINE:
            return self._backend
        return self._build_utseg(ba, lang, engine, segmenter=segmenter, device=device)

    def write_outcome(self, outcome: Any, root: Path, out_dir: Path | None, **options: Any) -> None:
        """Write a transcript, and complete it if this engine made it."""
        self._write(outcome, root, out_dir, **options)
        if self._backend is None or outcome.is_failed:
            return
        from lsa_whisper.batchalign_engine.chat import finish

        source = Path(str(outcome.source_id))
        target = source if out_dir is None else out_dir / source.relative_to(root)
        target = target.with_suffix(options.get("output_suffix") or target.suffix)
        finish(target, self._backend.pop(str(source)), speakers=not self.diarized)


_SUPPORTED = ">=0.10.7.dev0,<0.11"


def require(feature: str) -> str:
    """Return the version of the installed Batchalign.

    Raises:
        MissingExtraError: Batchalign is not installed.
        LsaWhisperError: The version is not supported.
    """
    # Not by import, which would find any folder called batchalign in the working directory.
    try:
        version = metadata.version("batchalign")
    except metadata.PackageNotFoundError as error:
        raise MissingExtraError(feature, "Batchalign", "batchalign") from error
    if not fits(version):
        raise LsaWhisperError(
            f"{feature} needs Batchalign 0.10.7 or a later 0.10, but {version} is installed: pip install "
            "'lsa-whisper[batchalign]', or export the model and use --engine whisper (docs/batchalign.md)"
        )
    return version


def fits(version: str) -> bool:
    """Return whether this engine supports a version.

    >>> [fits(version) for version in ("0.8.1", "0.10.6", "0.10.7", "0.10.12rc1", "0.11.0")]
    [False, False, True, True, False]
    """
    return SpecifierSet(_SUPPORTED).contains(version, prereleases=True)
