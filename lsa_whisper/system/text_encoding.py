"""The text of a file in the encoding in which it was saved: UTF-8, UTF-16, or an old one."""

from __future__ import annotations

import re
from contextlib import suppress

_OF_LANGUAGES = {"cp1250": "ces hrv hun pol ron slk slv", "cp1251": "bul rus ukr", "cp1253": "ell", "cp1254": "tur",
                 "cp1255": "heb", "cp1256": "ara", "cp932": "jpn", "cp949": "kor", "gb18030": "cmn zho"}  # fmt: skip
_NAMES = {"latin-1": "Windows-1252", "mac_roman": "Mac Roman", "cp850": "DOS 850"}
_UTF_16 = re.compile(rb"[\t -~]\0[\t\r\n -~]\0|\0[\t -~]\0[\t\r\n -~]")
_NOT_ACCENTS = re.compile("(?<=[a-z])(?:[À-ÖØ-ÞŒŠŸŽ\x80-\x9f†‡ˆ‰‹¤]|[^\\w\x00-\x7f‘’“”–—…«»\xa0·](?=[a-z]))")
"""Capitals and signs behind small letters, where accents should be."""


def decode_text(data: bytes, language: str = "eng") -> tuple[str, str, int, str]:
    r"""Return the text of ``data``, its encoding, and, where not all is Unicode, the first such line and a message.

    An old encoding is that of the ``language`` (ISO 639-3), or the first of Windows-1252, Latin-1, which has control
    characters for the five bytes that the former lacks, Mac Roman and DOS 850 with the fewest letters that cannot be
    right. Where lines of UTF-8 stand beside fewer others, as editors mix them, only those are read in it.

    >>> decode_text(b"caf\x8e"), decode_text("né".encode() + b"\nn\xe9")[2:]
    (('café', 'mac_roman', 1, 'not UTF-8, read as Mac Roman'), (2, '1 line(s) not UTF-8, read as Windows-1252'))
    """
    marked = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "utf-8")
    if _UTF_16.match(data):
        marked = "utf-16-le" if data[0] else "utf-16-be"
    with suppress(UnicodeDecodeError):
        return data.decode(marked), marked, 1, ""
    lines = data.split(b"\n")
    old = [at for at, line in enumerate(lines) if line.decode(errors="ignore").encode() != line]
    is_mixed = 2 * len(old) <= sum(not line.isascii() for line in lines) and b"\0" not in data
    text, encoding = _in_old_encoding(b"\n".join(lines[at] for at in old) if is_mixed else data, language)
    problem = f"not UTF-8, read as {_NAMES.get(encoding) or encoding.replace('cp', 'Windows-')}"
    if not is_mixed:
        return text, encoding, 1, problem
    for at, line in zip(old, text.split("\n"), strict=True):
        lines[at] = line.encode()
    return b"\n".join(lines).decode(), "utf-8", old[0] + 1, f"{len(old)} line(s) {problem}"


def _in_old_encoding(data: bytes, language: str) -> tuple[str, str]:
    own = [encoding for encoding, languages in _OF_LANGUAGES.items() if language in languages]
    texts = []
    for encoding in (*own, "cp1252", "latin-1", "mac_roman", "cp850"):
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if encoding in own and text.encode(encoding) == data:  # Japanese has two codes for some characters
                return text, encoding
            texts += [] if encoding in own else [(text, encoding)]
    return min(texts, key=lambda pair: len(_NOT_ACCENTS.findall(pair[0])))
