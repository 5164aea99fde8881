"""What the arguments of commands may be; a value that cannot be meant is refused before the command begins.

Paths may be shipped files, and models have several names. Where results cannot be written, hours of work would be lost.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from lsa_whisper.errors import DiskError, LsaWhisperError
from lsa_whisper.page.language import PAGE_LANGUAGES
from lsa_whisper.system.device import verify_device
from lsa_whisper.system.disk import unwritable_reason
from lsa_whisper.system.files import DOCUMENT_SUFFIXES
from lsa_whisper.system.shipped import with_shipped


class _PathType(click.Path):
    """A path; a shipped file has its name of the repository where the working folder has no such file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            raise click.BadParameter("is empty; name a file or folder", ctx=ctx, param=param)
        return with_shipped(Path(os.fsdecode(super().convert(value, param, ctx))))


class _OutType(click.Path):
    """Where results go: a folder, or a file of one of the ``suffixes``, neither of which need exist."""

    def __init__(self, *suffixes: str, is_folder: bool = True):
        """Take the endings that a file may have, and whether a folder may be named."""
        super().__init__()
        self._suffixes, self._is_folder = suffixes, is_folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            raise click.BadParameter("is empty; name where the results go", ctx=ctx, param=param)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        # A new folder that is called as a file is a misunderstanding.
        suffix, endings = path.suffix.lower(), " or ".join(self._suffixes)
        if self._suffixes and suffix in DOCUMENT_SUFFIXES and suffix not in self._suffixes:
            raise LsaWhisperError(f"{path}: name {'a folder, or ' * self._is_folder}a file that ends in {endings}")
        if not self._suffixes and path.is_file():
            raise LsaWhisperError(f"{path}: is a file; name a folder for the results")
        if not self._suffixes and suffix in DOCUMENT_SUFFIXES and not path.exists():
            raise LsaWhisperError(f"{path}: a folder for the results is asked for, not a file; leave out {suffix}")
        if not self._is_folder and path.is_dir():
            example = path / f"results{self._suffixes[0]}"
            raise LsaWhisperError(f"{path}: is a folder; name the file to write, such as {example}")
        # What is there already may be finished, and is then left as it is, also where nothing can be written.
        if not path.exists() and (reason := unwritable_reason(path)):
            raise DiskError(f"{path}: cannot be written ({reason}); name a place of your own")
        return path


class _ModelType(click.ParamType[Any]):
    """A checkpoint folder, a hub name, or a short name such as ``base``, ``large-v3`` or ``nano``."""

    name = "model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from lsa_whisper.checkpoint.choice import resolve_model

        model = resolve_model(value) if value else value
        return Path(model) if isinstance(model, str) and Path(model).is_dir() else model


class _SourceType(click.ParamType[Any]):
    """A name or a path, as text."""

    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return str(with_shipped(Path(value))) if "/" in value else value


class _LanguageType(click.ParamType[Any]):
    """A language by its name or one of its codes; as ISO 639-3."""

    name = "language"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from lsa_whisper.languages import known_code

        return known_code(value)


class _DeviceType(click.ParamType[Any]):
    """What computes."""

    name = "device"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        verify_device(value)
        return value


PATH = _PathType()
OUT = _OutType()
TABLE = _OutType(".csv", ".tsv", ".txt", is_folder=False)
TRANSCRIPT_OR_FOLDER = _OutType(".cha")
PAGE = _OutType(".html", ".htm", is_folder=False)
RECIPE = _OutType(".yaml", ".yml", is_folder=False)
MODEL = _ModelType()
SOURCE = _SourceType()
LANGUAGE = _LanguageType()
device_option = click.option(
    "--device", type=_DeviceType(), default="auto", help="auto, cpu, cuda, cuda:1, or mps on a Mac."
)
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Also print the architecture and the vocabulary of the model."
)

page_language_option = click.option(
    "--page-language",
    default="en",
    type=click.Choice(PAGE_LANGUAGES),
    help="Language of the page: English, German or Spanish.",
)
