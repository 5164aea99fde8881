"""CrisperWhisper 2's notation of fillers, sounds and cut-off words, as words and CHAT events."""

from __future__ import annotations

import re

EVENT_TOKENS = {
    "[UM]": "um", "[UH]": "uh", "[laughter]": "&=laughs", "[sniff]": "&=sniffs", "[throatclearing]": "&=clears:throat",
    "[cough]": "&=coughs", "[sigh]": "&=sighs", "[breath]": "&=breathes", "[lipsmack]": "&=smacks:lips",
    "[yawn]": "&=yawns", "[noise]": "&=noise", "[crying]": "&=cries", "[fart]": "&=farts", "[scream]": "&=screams",
    "[sneeze]": "&=sneezes",
}  # fmt: skip
"""CrisperWhisper 2: its tokens for fillers and sounds, and the filler or CHAT event that each stands for."""

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
