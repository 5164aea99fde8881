"""Characters of plain text that mean the same as others, or nothing: invisible ones, wide letters, pairs of quotes."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = "\u00ad\u061c\u0640\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
"""Soft hyphens, signs of direction, blanks without width, and the stroke that makes Arabic words longer."""
_WIDE = (
    "".join(map(chr, (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))))
    + "％＋．＝＠＃＆₀₁₂₃₄₅₆₇₈₉"
)
_COMPATIBLE = "".join(map(chr, (*range(0xFB00, 0xFB07), *range(0x2160, 0x2180), *range(0x2460, 0x2474))))
"""Ligatures (fi), Roman numbers and numbers in circles, each one character."""
_CHARACTERS = str.maketrans(
    dict.fromkeys(_INVISIBLE, "")
    | {wide: unicodedata.normalize("NFKC", wide) for wide in _WIDE + _COMPATIBLE}
    | dict(zip("（）［］｛｝【】〔〕־", "()[]{}[][]-", strict=True))
)
_GERSHAYIM = re.compile(r"(?<=[\u05d0-\u05ea])[\"”](?=[\u05d0-\u05ea])")
_QUOTES = (
    re.compile(r"(?<![^\W_])[‘‚](?=\S)((?:[^‘’‚]|(?<=\w)’(?=\w))+)[’‘](?!\w)"),
    re.compile(r"(?<!\S)'(?=\S)((?:[^']|(?<=\w)'(?=\w))+[,.?!…])'(?=\s|\Z)"),
)
"""Single quotes around words; the second may close after a mark only, as *the dogs' bones* does not."""


def ordinary_characters(text: str) -> str:
    r"""Return plain ``text`` in composed characters, without invisible ones, and with double quotes only.

    >>> ordinary_characters("ｏｋ（笑） zero\u200bwidth \N{LATIN SMALL LIGATURE FI}ne"), ordinary_characters('צה"ל')
    ('ok(笑) zerowidth fine', 'צה״ל')
    >>> print(ordinary_characters("‘Go,’ he said. ’Cause he’s it"))
    "Go," he said. ’Cause he’s it
    >>> print(ordinary_characters("'Go,' he said, 'cause it's the dogs' bones"))
    "Go," he said, 'cause it's the dogs' bones
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_CHARACTERS)
        text = _GERSHAYIM.sub("״", text)
        text = _QUOTES[0].sub(r'"\1"', text)
    return _QUOTES[1].sub(r'"\1"', text) if "'" in text else text
