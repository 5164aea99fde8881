"""Bullets that lost their control characters on the way, in a mail, a word processor or a web form.

CHAT keeps times between two characters ``U+0015``. Programs that do not know them drop them (``dog . 500_900``) or show
them as a dot (``dog . •500_900•``); then no utterance has times.
"""

from __future__ import annotations

import re
from dataclasses import replace

from lsa_whisper.chat import Transcript, Utterance

_DOTS = "•·●∙\uf0b7\ufffd"
_TYPED = re.compile(rf"[ \t]*(?:[{_DOTS}]|%snd:|\b)[ \t]*(\d{{1,9}})_(\d{{1,9}})(?:[ \t]*[{_DOTS}])?[ \t]*(?=\r?\n?\Z)")
_TYPED_WORD = re.compile(rf"(?<=\s)[{_DOTS}]?(\d{{1,9}})_(\d{{1,9}})[{_DOTS}]?(?=\s)")


def count_typed_bullets(transcript: Transcript) -> int:
    r"""Return how many utterances end in times that only lack their control characters.

    >>> from lsa_whisper import chat
    >>> count_typed_bullets(chat.parse("*CHI:\tdog . 500_900\n*CHI:\tcat . •900_1200•\n*CHI:\tno .\n"))
    2
    """
    return sum(_typed(utterance) is not None for utterance in transcript.utterances)


def repair_bullets(transcript: Transcript) -> Transcript:
    r"""Return ``transcript`` with the control characters where they are missing; lines keep their numbers.

    >>> from lsa_whisper import chat
    >>> repair_bullets(chat.parse("*CHI:\tdog . •500_900•\n")).utterances[0].span
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
