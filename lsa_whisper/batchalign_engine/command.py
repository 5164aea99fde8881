"""``lsa-whisper batchalign run``: the ``batchalign`` command of this environment, with ``--engine lsa`` in it.

Batchalign has no plug-ins, so the engine is put where its command looks for engines: three names in
``batchalign/cli/transcribe.py``. They may move in any release; that is looked at before anything is changed.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from lsa_whisper.batchalign_engine.installed import require
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.umask import private_umask

ENGINE = "lsa"
_PLACE = "batchalign.cli.transcribe"
_EXPECTED = {
    "_build_asr": ("ba", "engine", "model", "lang", "num_speakers", "device"),
    "_build_utseg": ("ba", "lang", "engine", "segmenter", "device"),
    "write_outcome": ("outcome", "root", "out_dir", "output_suffix", "strip_word_timing"),
}
"""The functions that are wrapped, and the parameters by which they are called."""


@private_umask()
def run(args: Sequence[str]) -> None:
    """Run ``batchalign`` with ``args``, the engine ``lsa`` among its engines; ends the process as Batchalign does.

    Raises:
        MissingExtraError: Batchalign is not installed.
        LsaWhisperError: Batchalign's command is built otherwise than this engine knows it.
    """
    register(word_times="--wor" in args, diarized="--diarize" in args)
    app = importlib.import_module("batchalign.cli").app
    app(args=list(args), prog_name="batchalign")


def register(*, word_times: bool = False, diarized: bool = False) -> None:
    """Add the engine ``lsa`` to the ``batchalign`` command of this process; a second call only changes the settings.

    Args:
        word_times: find the time of each word, which ``--wor`` writes.
        diarized: leave the speakers that Batchalign's ``--diarize`` finds instead of the model's.

    Raises:
        MissingExtraError: Batchalign is not installed.
        LsaWhisperError: Batchalign's command is built otherwise than this engine knows it.
    """
    version = require("the engine lsa")
    place = importlib.import_module(_PLACE)
    if (previous := getattr(place, "_lsa_whisper", None)) is not None:
        previous.word_times, previous.diarized = word_times, diarized
        return
    verify(place, version)
    engines = {each.name: each.value for each in place.AsrEngine} | {ENGINE: ENGINE}
    place.AsrEngine = Enum("AsrEngine", engines, type=str, module=_PLACE)
    place._DEFAULT_MODEL = {place.AsrEngine(key.value): name for key, name in place._DEFAULT_MODEL.items()}
    place._lsa_whisper = _Engine(place, word_times, diarized)


def verify(place: Any, version: str) -> None:
    """Return when the module of Batchalign's ``transcribe`` command is built as this engine knows it.

    Raises:
        LsaWhisperError: something has moved; all of it is named.
    """
    moved = [name for name, known in _EXPECTED.items() if _parameters(getattr(place, name, None)) != known]
    engines = getattr(place, "AsrEngine", None)
    if not (inspect.isclass(engines) and issubclass(engines, str) and issubclass(engines, Enum)):
        moved.append("AsrEngine")
    if not isinstance(getattr(place, "_DEFAULT_MODEL", None), dict):
        moved.append("_DEFAULT_MODEL")
    if moved:
        raise LsaWhisperError(
            f"Batchalign {version} keeps {', '.join(moved)} elsewhere than 0.10.7 did, so --engine lsa cannot be added "
            "to its command; use lsa-whisper batchalign transcribe, or install batchalign==0.10.7"
        )


def _parameters(function: Any) -> tuple[str, ...] | None:
    return tuple(inspect.signature(function).parameters) if callable(function) else None


class _Engine:
    """Stands in for three functions of Batchalign's command; what is not for this engine goes to the real ones."""

    def __init__(self, place: Any, word_times: bool, diarized: bool):
        self.word_times, self.diarized = word_times, diarized
        self._backend: Any = None
        self._build_asr, self._build_utseg, self._write = place._build_asr, place._build_utseg, place.write_outcome
        place._build_asr, place._build_utseg, place.write_outcome = self.build_asr, self.build_utseg, self.write

    def build_asr(
        self, ba: Any, engine: Any, model: Any, lang: Any, num_speakers: int = 2, device: Any = None
    ) -> tuple[Any, bool]:
        """Return the backend of an engine, and whether it tells speakers apart."""
        if engine.value != ENGINE:
            return self._build_asr(ba, engine, model, lang, num_speakers, device)
        from lsa_whisper.batchalign_engine.backend import LsaWhisperBackend

        if not model:
            raise LsaWhisperError("--engine lsa needs a model: --model DIR, a checkpoint that lsa-whisper finetuned")
        self._backend = LsaWhisperBackend.load(
            model, language=lang.alpha_3, device=device or "auto", word_times=self.word_times
        )
        return self._backend, False

    def build_utseg(self, ba: Any, lang: Any, engine: Any = None, *, segmenter: Any = None, device: Any = None) -> Any:
        """Return the segmenter that goes with an engine; ours segments itself."""
        if engine is not None and engine.value == ENGINE:
            return self._backend
        return self._build_utseg(ba, lang, engine, segmenter=segmenter, device=device)

    def write(self, outcome: Any, root: Path, out_dir: Path | None, **options: Any) -> None:
        """Write a transcript, and complete it when it is ours."""
        self._write(outcome, root, out_dir, **options)
        if self._backend is None or outcome.is_failed:
            return
        from lsa_whisper.batchalign_engine.finish import finish

        source = Path(str(outcome.source_id))
        place = source if out_dir is None else out_dir / source.relative_to(root)
        place = place.with_suffix(options.get("output_suffix") or place.suffix)
        finish(place, self._backend.pop(str(source)), speakers=not self.diarized)
