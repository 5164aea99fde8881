"""The text of a file in the encoding in which it was saved: UTF-8, UTF-16, or an old one."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

_OF_LANGUAGES = {"cp1250": "ces hrv hun pol ron slk slv", "cp1251": "bul rus ukr", "cp1253": "ell", "cp1254": "tur",
                 "cp1255": "heb", "cp1256": "ara", "cp932": "jpn", "cp949": "kor", "gb18030": "cmn zho"}  # fmt: skip
_BEHIND_LETTERS = re.compile("(?<=[a-z])(?:[^\\W\\d_a-z]|[\x80-\x9f†‡ˆ‰‹¤]|[^\x00-\x7f‘’“”–—…«»\xa0·](?=[a-z]))")
_UTF_16 = re.compile(rb"[\t -~]\0[\t\r\n -~]\0|\0[\t -~]\0[\t\r\n -~]")
_NAMES = {"latin-1": "Windows-1252", "mac_roman": "Mac Roman", "cp850": "DOS 850"}


class DecodedText(NamedTuple):
    """The ``text``, its ``encoding``, and, where some or all is not Unicode, the first such ``line``, and a message."""

    text: str
    encoding: str
    line: int = 1
    problem: str = ""


def decode_text(data: bytes, language: str = "eng") -> DecodedText:
    r"""Return the text of ``data``, whose old encoding is that of its ``language`` (ISO 639-3) or machine.

    Without one, it is the first of Windows-1252, Latin-1, Mac Roman and DOS 850 with the fewest capitals and signs
    where accents should be. Windows-1252 has nothing for five bytes, for which Latin-1 has control characters.
    Where lines of UTF-8 stand beside others, as editors mix them, each line is read alone.

    >>> decode_text(b"caf\xe9").text, decode_text(b"caf\x8e").encoding, decode_text("да".encode("cp1251"), "rus").text
    ('café', 'mac_roman', 'да')
    >>> decode_text("né".encode() + b"\nn\xe9")
    DecodedText(text='né\nné', encoding='utf-8', line=2, problem='1 line(s) not UTF-8, read as Windows-1252')
    """
    marked = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "utf-8")
    if _UTF_16.match(data):
        marked = "utf-16-be" if data[0] == 0 else "utf-16-le"
    with suppress(UnicodeDecodeError):
        return DecodedText(data.decode(marked), marked)
    lines = list(map(_read_alone, data.split(b"\n")))
    old = {at: line for at, line in enumerate(lines) if isinstance(line, bytes)}
    whole = sum(isinstance(line, str) and not line.isascii() for line in lines)
    mixed = whole > (len(old) if _own(language) else 0) and b"\0" not in data
    text, encoding = _in_old_encoding(b"\n".join(old.values()) if mixed else data, language)
    problem = f"not UTF-8, read as {_NAMES.get(encoding) or encoding.replace('cp', 'Windows-')}"
    if not mixed:
        return DecodedText(text, encoding, 1, problem)
    for at, line in zip(old, text.split("\n"), strict=True):
        lines[at] = line
    return DecodedText("\n".join(map(str, lines)), "utf-8", min(old) + 1, f"{len(old)} line(s) {problem}")


def _read_alone(line: bytes) -> str | bytes:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line


def _own(language: str) -> list[str]:
    return [name for name, languages in _OF_LANGUAGES.items() if language in languages]


def _in_old_encoding(data: bytes, language: str) -> tuple[str, str]:
    for encoding in _own(language):
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if text.encode(encoding) == data:  # Japanese has two codes for some characters
                return text, encoding
    texts = []
    for encoding in ("cp1252", "latin-1", "mac_roman", "cp850"):
        with suppress(UnicodeDecodeError):
            texts.append((data.decode(encoding), encoding))
    return min(texts, key=lambda pair: _wrong_letters(pair[0]))  # the first of those with the fewest


def _wrong_letters(text: str) -> int:
    """Return how many capitals and signs stand behind small letters, where accents should."""
    return sum(not letter.islower() for letter in _BEHIND_LETTERS.findall(text))
