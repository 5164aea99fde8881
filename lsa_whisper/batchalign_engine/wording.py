"""The text that Batchalign gets for an utterance: its CHAT, or its bare words if Batchalign rejects the CHAT.

A single token that Batchalign rejects fails the whole file, so each utterance is checked first.
"""

from __future__ import annotations

import re

from batchalign.chat import Speaker
from batchalign.chat import Utterance as BatchalignUtterance

from lsa_whisper.chat import Utterance

UNINTELLIGIBLE_UTTERANCE = "xxx ."
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def wording(utterance: Utterance, language: str) -> tuple[str, bool]:
    """Return a main tier that Batchalign accepts, without speaker and bullet, and whether it is the utterance's own.

    Args:
        utterance: an utterance of the model's transcript.
        language: ISO 639-3; Batchalign's rules differ between languages.
    """
    if accepted(utterance.text, language):
        return utterance.text, True
    bare = bare_words(utterance)
    return (bare if accepted(bare, language) else UNINTELLIGIBLE_UTTERANCE), False


def accepted(text: str, language: str) -> bool:
    """Return whether Batchalign accepts ``text`` as a main tier."""
    try:
        BatchalignUtterance(Speaker("PAR", language=language, corpus="check"), text)
    except ValueError:
        return False
    return text.rstrip().endswith((".", "?", "!"))


def bare_words(utterance: Utterance) -> str:
    """Return the spoken words without marks, digits and signs, or ``xxx .`` if there are none.

    >>> from lsa_whisper.chat import utterance
    >>> bare_words(utterance("PAR", "I saw | &-um 12 dog’s ?"))
    "I saw um dog's ?"
    """
    found = [_LETTERS.findall(word.replace("’", "'")) for word in utterance.verbatim()]
    words = [part for parts in found for part in parts]
    end = utterance.terminator[-1:] if utterance.terminator[-1:] in {".", "?", "!"} else "."
    return " ".join([*words, end]) if words else UNINTELLIGIBLE_UTTERANCE
