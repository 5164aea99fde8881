"""Repairs of a model's text before it is parsed as CHAT: malformed codes, digits, special tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from lsa_whisper.chat.codes import TONE_LANGUAGES
from lsa_whisper.chat.scan import scan
from lsa_whisper.labels.english_numbers import speak_english
from lsa_whisper.labels.number_words import with_spoken_signs
from lsa_whisper.labels.numbers import JOINER, NOT_NUMBERS, read_by_digit, with_joined_runs, with_spelled_centuries
from lsa_whisper.labels.other_numbers import speak_other
from lsa_whisper.languages import chat_code

_SPECIAL = re.compile(r"<\|[^|<>]*\|>|\x15")
_BRACKETS = re.compile(r"[\[\]<>]")
_REPAIRABLE = re.compile(r"[<>\[\]_@…’‘\x15]|\.\.")
"""Without one of these, plain text has nothing to repair."""
_RETRACE_UNCLOSED = re.compile(r"\[(/{1,3}|/-|/\?)(?![/\-\]?])")
_RETRACE_UNOPENED = re.compile(r"(?<![\[/])(/{1,3}|/-|/\?)\]")
_CODE = r"/{1,3}|/[-?]|[<>]\d?|!!?|[?*]|x \d+|(?:::?|=!?|[*+%])\s[^\[\]]*"
_WORDS_IN_CODE = re.compile(rf"\[(?!(?:{_CODE})\])([^\[\]]*)\]")
"""Square brackets around text that is not CHAT code, and therefore words."""
_BULLET = re.compile(r"(?<![\w&])\d+_\d+(?!\w)|(?<=\d)_(?=[%€$£°])|(?<=[€$£])_(?=\d)")
"""A bullet without its control characters, and what joins a number to its sign in one word of a recognizer."""
_KEPT = re.compile(NOT_NUMBERS)
_SPOKEN_SIGN = re.compile(
    r"[\d%&@½¢²³√]|(?<=[mMrRsSfFeE])/(?=\w)|\b[wWbB]/|(?<=\w)\+(?=[\w+])|(?<=[²³\w]) [+=] (?=\w)|\b[A-G]#|\b(?:https?://|www\.)|\.(?:com|org|net|edu|gov)\b"
)
_FRACTION = re.compile(" ?[⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚¼¾⅓⅔]")
_NAMED_MONEY = re.compile(
    r"(?i)[$€£]\s?(?=\d[\d,]*+(?!\.)(?: (?:thousand|million|billion|mil|mill?ion(?:es|en)))?"
    r" (?:dollars?|bucks|pounds?|quid|euros?|pesos?|d[óo]lar(?:es)?|libras?|pfund)\b)"
)
"""The sign in *$5 dollars*, whose words follow."""
_CLOCK_LETTERS = re.compile(r"\b([AaPp])\.([Mm])\b")
_HYPHEN_BEFORE_NUMBER = re.compile(
    r"(?<=[^\W\d_])(?<!\d[aApP][mM])(?<!\d [aApP][mM])(?<! [aApP] [mM])(?<!\d[tsnr][htd])-(?='?\d)"
)
_DOTS = re.compile(r"(?<![+(.])\.{2,}(?![)])|…")
_NOT_SPELLING = re.compile(r"""[\x00-\x1f\x7f!"#$%&()*+,./;<=>?@\[\\\]_`{|}~–—«»¿¡•・…]""")
"""Characters that no word contains; the scanner has already removed spaces, terminators and brackets."""
_NOT_PLAIN = re.compile(rf"[^a-zA-Z\s,.?!'{JOINER}]|(?<![a-zA-Z])'|'(?![a-zA-Z])")
_PLAIN_SENTENCE = re.compile(r"([^.?!]+)([.?!]?)")
_INNER_PREFIX = re.compile(r"(?<=.)(?=&[-+~=])")
_TONE_WORD = re.compile(r"[^\W\d_]+\d@s:[a-z]{3}")
_TONE_WITHOUT_LANGUAGE = re.compile(r"(?<=[^\W\d_])(\d)@s(?!:[a-z]{3}\b)")
"""Such a word is legal only where all words may carry tones; elsewhere it loses the tone."""


def repair_text(
    text: str, *, marks: bool, language: str = "eng", spellings: dict[str, str] | None = None
) -> tuple[str, int]:
    """Return ``text`` with malformed codes repaired and numbers spelled out, and the number of repairs.

    Args:
        text: The model's output.
        marks: Whether the model was trained to write CHAT marks; otherwise they are punctuation.
        language: ISO 639-3 or Whisper's code. Numbers of a language that num2words does not know stay digits.
        spellings: Takes the original spelling of each number. Without it, their words are not joined by
            :data:`~.numbers.JOINER`.

    >>> repair_text("I want /] want 3 [// [the dogs]", marks=True)
    ('I want [/] want  three  [//]  the dogs ', 4)
    """
    code, count = chat_code(language), 0
    if marks or _REPAIRABLE.search(text):
        text, count = _with_signs_repaired(text, marks, code)
    text = text if marks else _NAMED_MONEY.sub("", text)
    text = _FRACTION.sub(lambda sign: f" {normalize('NFKC', sign[0][-1])}".replace("⁄", "/"), text)
    if code == "eng":
        return _speak_english(text, count, marks, spellings)
    return _speak_other(text, count, marks, spellings, code)


def _with_signs_repaired(text: str, marks: bool, language: str) -> tuple[str, int]:
    text = _SPECIAL.sub(" ", text).replace("’", "'").replace("‘", "'")
    text = _TONE_WITHOUT_LANGUAGE.sub(r"\1" if language in TONE_LANGUAGES else "", text)
    if not marks:
        text = _BRACKETS.sub(" ", text)
    count = 0
    rules: list[tuple[re.Pattern[str], str]] = [(_DOTS, " +... "), (_BULLET, " ")]
    if marks:
        rules = [(_RETRACE_UNCLOSED, r"[\1]"), (_RETRACE_UNOPENED, r"[\1]"), (_WORDS_IN_CODE, r" \1 "), *rules]
    for pattern, replacement in rules:
        hits = 1
        while hits:  # brackets stand in brackets: "[I[]]"
            text, hits = pattern.subn(replacement, text)
            count += hits if marks else 0
            hits = hits if pattern is _WORDS_IN_CODE else 0
    return text, count


def _speak_english(text: str, count: int, marks: bool, spellings: dict[str, str] | None) -> tuple[str, int]:
    if not _SPOKEN_SIGN.search(text):
        return _CLOCK_LETTERS.sub(r"\1 \2", text), count
    text = read_by_digit(text, "eng", spellings)
    text = _HYPHEN_BEFORE_NUMBER.sub(" ", text)  # "pre-1982" is not cut off
    record: dict[str, str] = {} if spellings is None else spellings
    pieces, position = [], 0
    for keep in [*_KEPT.finditer(text), None]:
        spoken, more = text[position : keep.start() if keep else None], 0
        if _SPOKEN_SIGN.search(spoken):
            spoken, more = speak_english(spoken, record, plain=not marks)
        pieces += [spoken, keep[0] if keep else ""]
        count, position = count + more, keep.end() if keep else position
    spoken = _CLOCK_LETTERS.sub(r"\1 \2", "".join(pieces))
    return (spoken.replace(JOINER, " ") if spellings is None else with_joined_runs(spoken, spellings)), count


def _speak_other(
    text: str, count: int, marks: bool, spellings: dict[str, str] | None, language: str
) -> tuple[str, int]:
    if not marks:
        text = with_spoken_signs(with_spelled_centuries(text, language), language)
    if not _SPOKEN_SIGN.search(text):
        return text, count
    text = _HYPHEN_BEFORE_NUMBER.sub(" ", read_by_digit(text, language, spellings))
    spoken, more = speak_other(text, language, spellings, plain=not marks)
    return (spoken if spellings is None else with_joined_runs(spoken, spellings)), count + more


def sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield ``(text, terminator)`` of each sentence; an unfinished sentence has an empty terminator.

    >>> list(sentences("I want it. You, know +/."))
    [('I want it', '.'), ('You  know', '+/.')]
    """
    if not _NOT_PLAIN.search(text):
        pairs = ((words.replace(",", " ").strip(), end) for words, end in _PLAIN_SENTENCE.findall(text))
        yield from (sentence for sentence in pairs if sentence[0])
        return
    pieces: list[str] = []
    for token in scan(text):
        if token.kind == "terminator":
            if sentence := "".join(pieces).strip():
                yield sentence, token.text
            pieces = []
        elif token.kind == "word":
            word = clean(token.text)
            pieces.append(token.text if word == token.text else f" {word} ")
        elif token.kind in ("separator", "linker", "ca", "bullet"):
            pieces.append(" ")
        else:
            pieces.append(token.text)
    if sentence := "".join(pieces).strip():
        yield sentence, ""


def clean(word: str) -> str:
    """Return ``word`` reduced to the characters a label may contain; a symbol between letters separates words.

    >>> [clean(word) for word in ("and/or", "(be)cause", "fr-", "&-you_know", "&*INV:mhm", "me@home")]
    ['and or', 'because', '&+fr', '&-you_know', 'mhm', 'me home']
    >>> clean("dog&-um"), clean("hao3@s:zho"), clean("col·le")
    ('dog &-um', 'hao3@s:zho', 'col·le')
    """
    if word.isalpha() or word.startswith("&="):
        return word
    if _TONE_WORD.fullmatch(word):
        return word
    if _INNER_PREFIX.search(word):
        return " ".join(filter(None, map(clean, _INNER_PREFIX.split(word))))
    if word.startswith("&*"):
        word = word.partition(":")[2] or word[2:]
    sign = next((mark for mark in ("&-", "&+", "&~", "&") if word.startswith(mark)), "")
    body = word[len(sign) :].replace("(", "").replace(")", "")
    parts = [part for part in _NOT_SPELLING.sub(" ", body).split() if part.strip("'↫≠^:-")]
    if not parts:
        return ""
    return sign + "_".join(parts) if sign else " ".join(_cut(part) for part in parts)


def _cut(part: str) -> str:
    """Return a cut-off word such as ``fr-`` as a CHAT fragment, ``&+fr``."""
    if part.startswith("'") and part.endswith("'"):
        part = part.strip("'")
    if part.endswith("-") and "↫" not in part:
        return "&+" + part.strip("-")
    return part.strip("-")
