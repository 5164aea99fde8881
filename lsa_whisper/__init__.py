"""Language sample analysis with Whisper: transcripts that keep every um, repetition and restart.

The functions and classes that most programs need stand here and are imported on first use::

    import lsa_whisper

    result = lsa_whisper.Transcriber("runs/demo/full").transcribe("interview.wav")
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from lsa_whisper.version import __version__

if TYPE_CHECKING:
    from lsa_whisper.chat import read as read_chat
    from lsa_whisper.chat import write as write_chat
    from lsa_whisper.checkpoint import export
    from lsa_whisper.evaluation import evaluate
    from lsa_whisper.finetuning import estimate_memory
    from lsa_whisper.finetuning.from_corpus import finetune
    from lsa_whisper.preparation import prepare
    from lsa_whisper.transcription import Transcriber, TranscriptionOptions, transcribe

__all__ = [
    "Transcriber",
    "TranscriptionOptions",
    "__version__",
    "estimate_memory",
    "evaluate",
    "export",
    "finetune",
    "prepare",
    "read_chat",
    "transcribe",
    "write_chat",
]

_SOURCES = {
    "Transcriber": "lsa_whisper.transcription:Transcriber",
    "TranscriptionOptions": "lsa_whisper.transcription:TranscriptionOptions",
    "estimate_memory": "lsa_whisper.finetuning:estimate_memory",
    "evaluate": "lsa_whisper.evaluation:evaluate",
    "export": "lsa_whisper.checkpoint:export",
    "finetune": "lsa_whisper.finetuning.from_corpus:finetune",
    "prepare": "lsa_whisper.preparation:prepare",
    "read_chat": "lsa_whisper.chat:read",
    "transcribe": "lsa_whisper.transcription:transcribe",
    "write_chat": "lsa_whisper.chat:write",
}
"""The module and the object behind each public name."""


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = resolve_name(_SOURCES[name])
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
