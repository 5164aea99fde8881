r"""Conversion between CHAT codes and the notation of labels.

Version 1 is CHAT itself, which is slow to decode: OpenAI's vocabularies do not contain its codes, and ``↫b-b↫ball``
takes eight tokens. Version 2 writes each code as a symbol that is a single token of these vocabularies, before or after
unchanged words, and leaves words that speech recognizers know, such as *um*, unmarked:

====================== ================= =====================================================
CHAT                   version 2         meaning
====================== ================= =====================================================
``&-um``               ``um``            common filler; any other has ``~``: ``~like``
``&+fr``               ``fr-``           a fragment
``the [/] the``        ``the / the``     repetition; ``//`` revision, ``///`` reformulation
``[/-]``               ``\``              false start
``<the dog> [/] the``  ``< the dog > /`` several words retraced
``↫b-b↫ball``          ``b~~ ball``      part-word repetition, one ``~`` per copy
``l:ibrary``           ``: library``     prolonged first letter; elsewhere as CHAT: ``sto:re``
``≠ball``              ``= ball``        block
``(.) (..) (...)``     ``.. ... ....``   pauses, as separate words
``&=laughs``           ``#laughs``       an event; ``%mu`` is ``&~mu``
``dog .`` ``dog +...`` ``dog.`` ``dog...`` terminators follow the word; also ``...?``, ``?!``
``+/.`` ``+//.``       ``--`` ``---``    interruption, self-interruption
====================== ================= =====================================================

Codes without a row stay as in CHAT, so that every text survives the round trip.

Version 4 is version 2 without the repetition symbol where the words alone show it: ``the the``, ``I want I want``
(see :mod:`lsa_whisper.labels.repeats`), and with several copies of a sound as captions spell them: ``b-b- ball``. A
single copy stays ``b~ ball``, since ``b- ball`` is a fragment before a word. What models write as they learned it from
captions is read, too: ``sssnake``, ``sss snake`` and ``sss- snake`` are ``: snake``; a word that CHAT spells so is
written ``"sssnake``.
"""

from __future__ import annotations

import re

from lsa_whisper.chat.disfluencies import RETRACE_CODES, Disfluency, SignPlace, classes_at
from lsa_whisper.chat.filled_pauses import UNMARKED_FILLERS
from lsa_whisper.labels.repeats import drop_repetition_marks, restore_repetition_marks

VERSIONS = (1, 2, 4)

_CODES = {
    **{code: kind.row.label for code, kind in RETRACE_CODES.items() if kind.row.label},
    Disfluency.PAUSE.row.sign: Disfluency.PAUSE.row.label, "(..)": "...", "(...)": "....",
    "+/.": "--", "+//.": "---", "+/?": "--?", "+//?": "---?",
}  # fmt: skip
_ENDINGS = {"+...": "...", "+..?": "...?", "+!?": "?!", ".": ".", "?": "?", "!": "!"}
_PREFIXES = {
    **{sign: kind.row.label for sign, kind in classes_at(SignPlace.PREFIX).items() if kind.row.label},
    "&=": "#",
}
LABEL_SYMBOLS = (*_CODES.values(), *_PREFIXES.values(), "<", ">", "=", ":", '"')
"""The symbols of version 2 that are separate or precede a word."""
LABEL_ENDINGS = tuple(_ENDINGS.values())
"""The utterance endings of version 2, which follow a word directly."""

_SPECIAL = re.compile(r"<\|[^|<>]*\|>|,(?!\d)")
"""Not part of labels: special tokens, and commas, which models write before fine-tuning."""
_BRACKET = re.compile(r"([<>])")
_DISFLUENT_WORD = re.compile(r"(?P<block>≠?)(?:↫(?P<copies>[^\W\d_]+(?:-[^\W\d_]+)*)↫)?(?P<word>[^\W\d_][\w':^]*)")
_COPIES = re.compile(r"(?:[^\W\d_]+~+)+|(?:[^\W\d_]+-){2,}")
_LONG_SOUND = re.compile(r"(?i:(?!xxx|yyy|www)([^\W\d_])\1{2,})")
"""Of a prolonged sound in captions, and of no word of CHAT but its codes for what cannot be transcribed."""
_PROLONGED = re.compile(rf"(?<!\S){_LONG_SOUND.pattern}(?:-?\s+(?P<again>(?i:\1))|(?=(?!\1)[^\W\d_]))")
_ENDED = re.compile(r"(?P<word>.*?[^\W_][-~'_:^]*)(?P<end>\.\.\.\??|\?!|[.?!])")
_CHAT_OF_CODE = {label: chat for chat, label in _CODES.items()}
_CHAT_OF_ENDING = {label: chat for chat, label in _ENDINGS.items()}
_CHAT_OF_PREFIX = {label: chat for chat, label in _PREFIXES.items()}


def chat_to_label(text: str, version: int, *, keep_marks: bool = False) -> str:
    """Return a canonical CHAT tier in the notation ``version``.

    With ``keep_marks``, the symbol of every repetition is written, also where a version leaves it out.

    >>> chat_to_label("&-um <I w:ant> [/] I want ↫b-b↫ball (.) +...", 2)
    'um < I : want > / I want b~~ ball .. +...'
    >>> chat_to_label("&-um I [/] I .", 1)
    '&-um I [/] I .'
    >>> chat_to_label("&-um I [/] I .", 4)
    'um I I.'
    >>> chat_to_label("↫b-b↫ball &+b &+b ↫b↫ball .", 4)
    'b-b- ball b- b- b~ ball.'
    >>> chat_to_label("I [/] I .", 4, keep_marks=True)
    'I / I.'
    """
    if version == 1:
        return text
    label = _with_symbols(text, captions=version == 4)
    return label if version == 2 or keep_marks else drop_repetition_marks(label)


def _with_symbols(text: str, *, captions: bool) -> str:
    """Return a canonical CHAT tier in version 2; with ``captions``, sounds are spelled as in version 4."""
    pieces: list[str] = []
    for piece in _BRACKET.sub(r" \1 ", text).split():
        if piece in _ENDINGS:
            if pieces and pieces[-1] not in LABEL_SYMBOLS and _ENDED.fullmatch(f"{pieces[-1]}."):
                pieces[-1] += _ENDINGS[piece]
            else:
                pieces.append(piece)
        else:
            pieces.append(_CODES.get(piece) or _word(piece, captions))
    return " ".join(pieces)


def _word(piece: str, captions: bool) -> str:
    if piece[:2] == "&-" and piece[2:] in UNMARKED_FILLERS:
        return piece[2:]
    if piece[:2] == "&+":
        return piece[2:] + "-" if piece[2:].isalpha() and not (captions and _LONG_SOUND.match(piece[2:])) else piece
    if piece[:2] in _PREFIXES:
        return _PREFIXES[piece[:2]] + piece[2:]
    if piece.casefold() in UNMARKED_FILLERS or (captions and _LONG_SOUND.match(piece)):
        return '"' + piece
    parts = _DISFLUENT_WORD.fullmatch(piece)
    return _disfluent_word(parts, captions) if parts else piece


def _disfluent_word(parts: re.Match[str], captions: bool) -> str:
    """Return a word with its symbols in front; a word that would be read as something else stays as in CHAT."""
    word = parts["word"]
    held = word[1:2] == ":" and word[2:3] != ":"
    bare = word[0] + word[2:] if held else word
    if bare.casefold() in UNMARKED_FILLERS or (captions and _LONG_SOUND.match(bare)):
        return parts[0]
    copies = parts["copies"].split("-") if parts["copies"] else []
    same = len(set(copies)) == 1
    if captions and len(copies) > 1:
        repeats = "-".join(copies) + "-"
    else:
        repeats = copies[0] + "~" * len(copies) if same else "".join(f"{copy}~" for copy in copies)
    signs = ["=" if parts["block"] else "", repeats, ":" if held else "", bare]
    return " ".join(sign for sign in signs if sign)


def label_to_chat(text: str, version: int) -> str:
    """Return the CHAT of a label in the notation ``version``.

    >>> label_to_chat("um < I : want > / I want b~~ ball .. fr- dog...", 2)
    '&-um <I w:ant> [/] I want ↫b-b↫ball (.) &+fr dog +...'
    >>> label_to_chat("sssnake mmm- many mmm.", 4)
    's:nake m:any mmm .'
    """
    if version == 1:
        return text
    if version == 4:
        plain = _PROLONGED.sub(lambda sound: f": {sound['again'] or sound[1]}", _SPECIAL.sub(" ", text))
        return label_to_chat(restore_repetition_marks(plain), 2)
    pieces: list[str] = []
    pending: list[str] = []
    for piece in _BRACKET.sub(r" \1 ", _SPECIAL.sub(" ", text)).split():
        match = _ENDED.fullmatch(piece)
        word, end = (match["word"], _CHAT_OF_ENDING[match["end"]]) if match else (piece, "")
        if word in ("=", ":") or _COPIES.fullmatch(word):
            pending.append(word)
        elif word in _CHAT_OF_CODE or word in ("<", ">"):
            pieces += [*_as_fragments(pending), _CHAT_OF_CODE.get(word, word)]
        else:
            pieces.append(_joined(pending, _read(word)))
        if end:
            pieces += [*_as_fragments(pending), end]
    pieces += _as_fragments(pending)
    return " ".join(pieces).replace("< ", "<").replace(" >", ">")


def _read(word: str) -> str:
    if word.casefold() in UNMARKED_FILLERS:
        return "&-" + word.casefold()
    if word[0] == '"' and len(word) > 1:
        return word[1:]
    if word[0] in _CHAT_OF_PREFIX and len(word) > 1:
        return _CHAT_OF_PREFIX[word[0]] + word[1:]
    if word[-1] == "-" and word[:-1].isalpha():
        return "&+" + word[:-1]
    return word


def _joined(pending: list[str], word: str) -> str:
    """Return ``word`` with the symbols in ``pending``, which is emptied; copies precede their word."""
    signs, pending[:] = list(pending), []
    for sign in reversed(signs):
        if sign == "=":
            word = "≠" + word
        elif sign == ":":
            first = 2 if word.startswith(("&+", "&-", "&~")) else 0
            word = f"{word[: first + 1]}:{word[first + 1 :]}"
        else:
            word = f"↫{'-'.join(_copies(sign))}↫{word}"
    return word


def _copies(sign: str) -> list[str]:
    if sign[-1] == "-":
        return sign[:-1].split("-")
    return [copy for text, times in re.findall(r"([^~]+)(~+)", sign) for copy in [text] * len(times)]


def _as_fragments(pending: list[str]) -> list[str]:
    """Return pending copies without a word as fragments, and empty ``pending``."""
    signs, pending[:] = list(pending), []
    return [f"&+{copy}" for sign in signs if sign not in ("=", ":") for copy in _copies(sign)]
