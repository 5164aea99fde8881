"""CrisperWhisper 2's notation of fillers, sounds and cut-off words, as words and CHAT events."""

from __future__ import annotations

import re

from lsa_whisper.whisper_constants import EVENT_TOKENS

_EVENT = re.compile(r"\[([A-Za-z]+)\]")
_CUT_OFF = re.compile(r"(?<=[^\W\d_])\*(?!\w)")
_CHAT = {token.lower(): chat for token, chat in EVENT_TOKENS.items()}


def read_events(text: str) -> str:
    """Return ``text`` with ``[UM]`` as *um*, ``[laughter]`` as ``&=laughs`` and ``wa*`` as ``wa-``.

    Other text in brackets stays as it is.

    >>> read_events("[UM] I wa* want [laughter] [it]")
    ' um  I wa- want  &=laughs   [it] '
    """
    found = _EVENT.sub(lambda match: f" {_CHAT.get(match[0].lower(), match[0])} ", text) if "[" in text else text
    return _CUT_OFF.sub("-", found)
