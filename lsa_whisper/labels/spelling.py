"""How each version of the labels spells CHAT's codes: the one place for a table that costs fewer tokens.

Version 1 writes CHAT as it stands. A later version adds rows ``(as CHAT has it, as the model writes it)``, chosen so
that no written form occurs in ordinary text; :func:`to_model` and :func:`to_chat` are each other's inverse.
"""

from __future__ import annotations

SPELLINGS: dict[int, tuple[tuple[str, str], ...]] = {1: ()}


def to_model(text: str, version: int) -> str:
    """Return the CHAT ``text`` as a model of this label version writes it.

    >>> to_model("&-um I [/] I .", 1)
    '&-um I [/] I .'
    """
    for chat, written in SPELLINGS[version]:
        text = text.replace(chat, written)
    return text


def to_chat(text: str, version: int) -> str:
    """Return what a model of this label version wrote as CHAT.

    >>> to_chat("&-um I [/] I .", 1)
    '&-um I [/] I .'
    """
    for chat, written in reversed(SPELLINGS[version]):
        text = text.replace(written, chat)
    return text
