"""Language sample analysis with Whisper: transcripts that keep every um, repetition and restart.

The functions and classes that most programs need stand here and are imported on first use::

    import lsa_whisper

    result = lsa_whisper.Transcriber("runs/demo/full").transcribe("interview.wav")

``prepare``, ``finetune``, ``transcribe`` and ``evaluate`` are packages and functions: ``lsa_whisper.prepare(...)``
calls the function, and ``lsa_whisper.prepare.session`` is a module of the package. Python binds a subpackage to its
name in the parent package as soon as any module imports it, so a function of that name would be replaced. Therefore
the package itself can be called. It makes no difference which is imported first.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lsa_whisper.version import __version__

if TYPE_CHECKING:
    from inspect import Signature

    from lsa_whisper.auto_finetune import finetune
    from lsa_whisper.chat import read as read_chat
    from lsa_whisper.chat import write as write_chat
    from lsa_whisper.checkpoint import export
    from lsa_whisper.evaluate import evaluate
    from lsa_whisper.finetune import estimate_memory
    from lsa_whisper.prepare import prepare
    from lsa_whisper.transcribe import Transcriber, TranscriptionOptions, transcribe

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
    "Transcriber": "lsa_whisper.transcribe:Transcriber",
    "TranscriptionOptions": "lsa_whisper.transcribe:TranscriptionOptions",
    "estimate_memory": "lsa_whisper.finetune:estimate_memory",
    "evaluate": "lsa_whisper.evaluate:evaluate",
    "export": "lsa_whisper.checkpoint:export",
    "finetune": "lsa_whisper.auto_finetune:finetune",
    "prepare": "lsa_whisper.prepare:prepare",
    "read_chat": "lsa_whisper.chat:read",
    "transcribe": "lsa_whisper.transcribe:transcribe",
    "write_chat": "lsa_whisper.chat:write",
}
"""The module and the object behind each public name."""

_PACKAGES = ("evaluate", "finetune", "prepare", "transcribe")
"""Public functions whose name is also a package's."""


def _load(name: str) -> Any:
    module, _, attribute = _SOURCES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


class _CallablePackage(ModuleType):
    """A package of the same name as its main function; calling the package calls the function."""

    def __call__(self, *args: Any, **parameters: Any) -> Any:
        return _load(self.__name__.rpartition(".")[2])(*args, **parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)  # so that it can be sent to another process, as a function can

    @property
    def __signature__(self) -> Signature:
        import inspect

        return inspect.signature(_load(self.__name__.rpartition(".")[2]))


class _Package(ModuleType):
    """This package: makes a subpackage callable when Python binds it to a public name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PACKAGES and isinstance(value, ModuleType):
            value.__class__ = _CallablePackage
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    value = globals()[name] = _load(name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
