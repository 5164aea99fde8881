"""Repairs of the violations that have one correct repair; the words stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lsa_whisper.chat.codes import LEADING_HEADERS, MEDIA_EXTENSIONS, SEXES, WITHOUT_BULLETS
from lsa_whisper.chat.lines import Line
from lsa_whisper.chat.main_tier import BULLET, Utterance
from lsa_whisper.chat.model import Transcript
from lsa_whisper.chat.parse import parse
from lsa_whisper.chat.scan import Token, scan

_NAME = re.compile(r"(\ufeff?[@*%][^:\r\n\t]*):[ \t]*(?=[^\s])")
_NO_COLON = re.compile(r"([@%][^:\r\n\t]+)\t+(?=\S)")
_TABS = re.compile(r"(\r\n?|\n)[ \t]+|\t+")
_TIMES = re.compile(r"\d+_\d+")
_AGE = re.compile(r"(\d{1,3})(?:;(?:(\d{1,2})(?:\.(\d{1,2})?)?)?)?")
_HASH = {"#": "(.)", "##": "(..)", "###": "(...)"}
_AFTER_END = ("space", "bullet", "code")
_TEXT = ("word", "close", "code", "pause")


def fix(text: str) -> str:
    r"""Return the CHAT ``text`` with all violations repaired that have one correct repair; all else is unchanged.

    >>> print(fix("@UTF8\n@Begin\n*CHI: don’t[/] don't (3) go.\n"))
    @UTF8
    @Begin
    *CHI:	don't [/] don't (3.) go .
    @End
    <BLANKLINE>
    """
    blocks = parse(text).blocks
    timed = any(not isinstance(block, Line) and _TIMES.search(block.body) for block in blocks)
    lines = [line for block in blocks for line in _lines(block, timed)]
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    return "".join(_framed(lines, newline)) if lines else text


def _lines(block: Line | Utterance, timed: bool) -> Iterator[str]:
    if isinstance(block, Utterance):
        head, colon, body = _layout(block.main).partition(":")
        body = BULLET.sub(_bullet, body)
        yield head + colon + "".join(_pieces(list(scan(body)), body))
    for line in block.tiers if isinstance(block, Utterance) else [block]:
        if line.raw.strip():
            yield _header(line.name, _layout(line.raw), timed)


def _framed(lines: list[str], newline: str) -> list[str]:
    """Return the lines with ``@UTF8``, ``@Begin`` and ``@End``."""
    names = [line.lstrip("\ufeff").rstrip() for line in lines]
    if "@UTF8" not in names:
        lines = [f"@UTF8{newline}", lines[0].lstrip("\ufeff"), *lines[1:]]
    if "@Begin" not in names:
        leading = [Line(line, 0).name in LEADING_HEADERS for line in lines]
        at = leading.index(False) if False in leading else len(lines)
        lines = [*lines[:at], f"@Begin{newline}", *lines[at:]]
    if "@End" not in names:
        last = lines[-1] if lines[-1].endswith(("\n", "\r")) else lines[-1] + newline
        lines = [*lines[:-1], last, f"@End{newline}"]
    return lines


def _layout(raw: str) -> str:
    """Return a line with one tab after its colon and none elsewhere."""
    if not _NAME.match(raw):
        raw = _NO_COLON.sub(r"\1:\t", raw, count=1)
    match = _NAME.match(raw)
    head, rest = (f"{match[1]}:\t", raw[match.end() :]) if match else ("", raw)
    return head + _TABS.sub(lambda match: f"{match[1]}\t" if match[1] else " ", rest)


def _header(name: str, raw: str, timed: bool) -> str:
    value = raw.partition(":")[2]
    if name == "@Participants":
        return re.sub(r",(\s*)\Z", r"\1", raw)
    if name == "@ID" and value.count("|") == 10:
        head, fields = raw[: len(raw) - len(value)], value.split("|")
        fields[3], fields[4] = repair_age(fields[3]), _sex(fields[4])
        return head + "|".join(fields)
    return _media(raw, timed) if name == "@Media" else raw


def repair_age(text: str) -> str:
    """Return an age as CHAT writes it, or ``text`` if it is none.

    >>> repair_age("4;6"), repair_age("4"), repair_age("four")
    ('4;06.', '4;', 'four')
    """
    match = _AGE.fullmatch(text.strip())
    if not match:
        return text
    years, months, days = match.groups()
    if months is None:
        return f"{years};"
    return f"{years};{months:>02}." + (f"{days:>02}" if days else "")


def _sex(text: str) -> str:
    sex = text.strip().lower()
    return next((value for value in SEXES if sex in (value, value[0])), text)


def _media(raw: str, timed: bool) -> str:
    raw = re.sub(r"[ \t]+,", ",", raw)
    raw = re.sub(rf"(:\t[^,\"]+)\.(?:{'|'.join(MEDIA_EXTENSIONS)}),", r"\1,", raw, flags=re.IGNORECASE)
    if timed:
        return WITHOUT_BULLETS.sub("", raw)
    if re.search(r",\s*(?:missing|unlinked|notrans)\b", raw):
        return raw
    return re.sub(r"(,\s*(?:audio|video))(\s*)\Z", r"\1, unlinked\2", raw)


def _bullet(match: re.Match[str]) -> str:
    times = _TIMES.search(match[0])
    return f"\x15{times[0]}\x15" if times and match[0].count("\x15") < 2 else match[0]


def _pieces(tokens: list[Token], body: str) -> Iterator[str]:
    """Yield the corrected texts of a main tier's tokens."""
    final = next((at for at in reversed(range(len(tokens))) if tokens[at].kind not in _AFTER_END), -1)
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if before and _needs_space(before, token, at == final):
            yield " "
        if token.kind == "space":
            beside_group = (before and before.kind == "open") or (after and after.kind == "close")
            yield "" if beside_group and "\n" not in token.text else token.text
        elif token.text == "," and after and after.text == ",":
            yield "„"
        elif token.text == "," and before and before.text == ",":
            yield ""
        else:
            yield _text(token, before, "‘" in body)


def _needs_space(before: Token, token: Token, final: bool) -> bool:
    if token.kind == "code":
        return before.kind not in ("space", "open")
    if before.kind == "code" and token.kind in ("word", "pause", "open"):
        return True
    if {before.kind, token.kind} == {"word", "pause"}:
        return True
    return final and token.kind == "terminator" and before.kind in _TEXT


def _text(token: Token, before: Token | None, quoted: bool) -> str:
    if token.kind == "word":
        first = token.text[0] if quoted else token.text[0].replace("’", "'")
        return first + token.text[1:].replace("’", "'").replace("‘", "'")
    if token.kind == "pause":
        return _HASH.get(token.text) or (token.text if "." in token.text else f"{token.text[:-1]}.)")
    if token.text == "’" and before and before.kind == "word" and not quoted:
        return "'"
    return token.text


_DOTS = "•·●∙\uf0b7\ufffd"
_TYPED = re.compile(rf"[ \t]*(?:[{_DOTS}]|%snd:|\b)[ \t]*(\d{{1,9}})_(\d{{1,9}})(?:[ \t]*[{_DOTS}])?[ \t]*(?=\r?\n?\Z)")
_TYPED_WORD = re.compile(rf"(?<=\s)[{_DOTS}]?(\d{{1,9}})_(\d{{1,9}})[{_DOTS}]?(?=\s)")
"""Times that lost their control characters ``U+0015`` in a mail, a word processor or a web form.

Programs that do not know these drop them (``dog . 500_900``) or show them as a dot (``dog . •500_900•``); then no
utterance has times.
"""


def count_typed_bullets(transcript: Transcript) -> int:
    r"""Return how many utterances end in times that only lack their control characters.

    >>> count_typed_bullets(parse("*CHI:\tdog . 500_900\n*CHI:\tcat . •900_1200•\n*CHI:\tno .\n"))
    2
    """
    return sum(_typed(utterance) is not None for utterance in transcript.utterances)


def repair_bullets(transcript: Transcript) -> Transcript:
    r"""Return ``transcript`` with the control characters where they are missing; lines keep their numbers.

    >>> repair_bullets(parse("*CHI:\tdog . •500_900•\n")).utterances[0].span
    TimeSpan(start_ms=500, end_ms=900)
    """
    return transcript.with_utterances(map(_repaired, transcript.utterances))


def _typed(utterance: Utterance) -> re.Match[str] | None:
    """Return the times at the end of a main tier without bullets, if they can be times."""
    match = None if "\x15" in utterance.main else _TYPED.search(utterance.main, max(0, len(utterance.main) - 80))
    return match if match and int(match.group(1)) < int(match.group(2)) else None


def _repaired(utterance: Utterance) -> Utterance:
    match = _typed(utterance)
    if match is None:
        return utterance
    start, end = match.span()
    main = f"{utterance.main[:start]} \x15{match.group(1)}_{match.group(2)}\x15{utterance.main[end:]}"
    tiers = tuple(
        replace(tier, raw=_TYPED_WORD.sub("\x15\\1_\\2\x15", tier.raw)) if tier.name == "%wor" else tier
        for tier in utterance.tiers
    )
    return replace(utterance, main=main, tiers=tiers)
