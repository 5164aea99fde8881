"""What Batchalign writes for an utterance: its CHAT as it stands, or, where Batchalign refuses that, its bare words.

One token that Batchalign finds illegal fails a whole file, so every utterance is tried alone first.
"""

from __future__ import annotations

import re

from batchalign.chat import Speaker
from batchalign.chat import Utterance as BatchalignUtterance

from lsa_whisper.chat import Utterance

UNINTELLIGIBLE = "xxx ."
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def wording(utterance: Utterance, language: str) -> tuple[str, bool]:
    """Return a main tier that Batchalign accepts, without speaker and bullet, and whether it is the utterance's own.

    Args:
        utterance: what the model wrote.
        language: ISO 639-3; Batchalign's rules differ between languages.
    """
    if accepted(utterance.text, language):
        return utterance.text, True
    bare = bare_words(utterance)
    return (bare if accepted(bare, language) else UNINTELLIGIBLE), False


def accepted(text: str, language: str) -> bool:
    """Tell whether Batchalign reads ``text`` as a main tier."""
    try:
        BatchalignUtterance(Speaker("PAR", language=language, corpus="check"), text)
    except ValueError:
        return False
    return text.rstrip().endswith((".", "?", "!"))


def bare_words(utterance: Utterance) -> str:
    """Return the words that were spoken, without marks, digits and signs; ``xxx .`` where that leaves none.

    >>> from lsa_whisper.chat import utterance
    >>> bare_words(utterance("PAR", "I saw | &-um 12 dog’s ?"))
    "I saw um dog's ?"
    """
    found = [_LETTERS.findall(word.replace("’", "'")) for word in utterance.verbatim()]
    words = [part for parts in found for part in parts]
    end = utterance.terminator[-1:] if utterance.terminator[-1:] in {".", "?", "!"} else "."
    return " ".join([*words, end]) if words else UNINTELLIGIBLE
