"""Parsing of CHAT text and files into :class:`Transcript`; lossless."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.model import Transcript
from lsa_whisper.errors import ChatSyntaxError
from lsa_whisper.system.files import path_of
from lsa_whisper.system.text_encoding import decode_text

_LOGICAL = re.compile(r"[^\r\n]*+(?:(?:\r\n?|\n)(?:\t| +(?![@*%\s]))[^\r\n]*+)*(?:\r\n?|\n|\Z)")
_MAIN = re.compile(r"\ufeff?\*([^:\s]+)[ \t]*:")
_NEWLINE = re.compile(r"\r\n?|\n")


def parse(text: str, *, path: str | None = None, strict: bool = False) -> Transcript:
    r"""Return the transcript in ``text``.

    Text that is not valid CHAT is kept unchanged and listed in ``transcript.problems``.

    >>> transcript = parse("@UTF8\n@Begin\n*PAR:\thello .\n@End\n")
    >>> transcript.utterances[0].verbatim()
    ['hello']

    Raises:
        ChatSyntaxError: At the first problem, if ``strict``.
    """
    problems: list[Problem] = []
    transcript = Transcript(list(_blocks(text, path, problems)), path, found=problems)
    if strict and transcript.problems:
        first = transcript.problems[0]
        raise ChatSyntaxError(first.message, path=path, line=first.line, column=first.column)
    return transcript


def _blocks(text: str, path: str | None, problems: list[Problem]) -> Iterator[Line | Utterance]:
    main: tuple[str, str, int] | None = None
    tiers: list[Line] = []
    number = 1
    for raw in _LOGICAL.findall(text):
        if not raw:
            continue
        first = raw[1:2] if raw[0] == "\ufeff" else raw[0]
        if first == "%" and main:
            tiers.append(Line(raw, number))
        elif first == "*" and (match := _MAIN.match(raw)):
            if main:
                yield Utterance(main[0], main[1], tuple(tiers), main[2])
            main, tiers = (match.group(1), raw, number), []
        else:
            if first != "@":
                problems.append(_stray(raw, first, number, path))
            if first == "@" or not main:
                if main:
                    yield Utterance(main[0], main[1], tuple(tiers), main[2])
                main, tiers = None, []
                yield Line(raw, number)
            else:
                tiers.append(Line(raw, number))
        if "\n " in raw or "\r " in raw:
            lines = enumerate(_NEWLINE.split(raw), number)
            problems += [_stray(line, " ", at, path) for at, line in lines if line[:1] == " " and at > number]
        number += len(_NEWLINE.findall(raw)) if "\n" in raw[:-1] or "\r" in raw else 1
    if main:
        yield Utterance(main[0], main[1], tuple(tiers), main[2])


def _stray(raw: str, first: str, number: int, path: str | None) -> Problem:
    if not raw.strip():
        return Problem(path, number, 1, "blank-line", "an empty line")
    if first == "*":
        return Problem(path, number, 1, "no-speaker", "a main tier needs a speaker and a colon")
    if first == "%":
        return Problem(path, number, 1, "orphan-tier", "a dependent tier needs a main tier above it")
    return Problem(path, number, 1, "stray-line", "a line must begin with @, *, % or a tab")


def read(path: str | Path, *, strict: bool = False) -> Transcript:
    """Return the transcript in the file at ``path``: UTF-8, UTF-16, or an old encoding (a problem).

    Raises:
        ChatSyntaxError: The file cannot be opened or is not text; or at the first problem, if ``strict``.
    """
    source = path_of(path)
    try:
        # Reading a link to /dev/zero would never end.
        if source.exists() and not source.is_file() and not source.is_dir():
            raise ChatSyntaxError("is a device or a pipe, not a file; check the path", path=str(path))
        data = source.read_bytes()
    except OSError as error:
        raise ChatSyntaxError(f"cannot open it ({error.strerror}); check the path", path=str(path)) from error
    language = match[1].decode() if (match := _LANGUAGE.search(data)) else "eng"
    text, encoding, line, message = decode_text(data, language)
    is_text = source.suffix.lower() == ".cha" or encoding.startswith("utf-16") or _BEGINNING.match(data)
    if b"\0" in data and not is_text:
        raise ChatSyntaxError("is a recording or a document, not text; name a transcript", path=str(path))
    transcript = parse(text, path=str(path), strict=strict)
    transcript.encoding = encoding
    if message:
        if strict:
            raise ChatSyntaxError(f"{message}; save it as UTF-8", path=str(path), line=line, column=1)
        transcript.found.append(Problem(str(path), line, 1, "encoding", message))
    return transcript


_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*[@*]")
_LANGUAGE = re.compile(rb"@Languages:\s*([a-z]{3})")
