"""The text a model wrote -> well-formed utterances; no word is lost, and what had to be mended is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.chat.tree import build_tree
from lsa_whisper.labels.canonical import LABEL_TERMINATORS, canonical
from lsa_whisper.labels.infer_marks import infer_marks
from lsa_whisper.labels.notation import label_to_chat
from lsa_whisper.labels.repair import repair_text, sentences
from lsa_whisper.labels.style import Labels

_ROLE = re.compile(r"\*([A-Z][A-Z0-9]{0,6}):")


@dataclass(frozen=True)
class Decoded:
    """What a model's text says: ``utterances``, and how many ``repairs`` it took to make them well formed."""

    utterances: tuple[Utterance, ...]
    repairs: int


def decode(text: str, labels: Labels, *, speaker: str = "PAR", language: str = "eng") -> Decoded:
    """Return the utterances of a model's ``text``, without times.

    Args:
        text: one or more sentences; with ``labels.roles``, ``*CHI:`` in front of a sentence names its speaker.
        labels: what the model was taught to write.
        speaker: who speaks until a role says otherwise.
        language: ISO 639-3; numbers are spelled out in English only.

    >>> decoded = decode("um < I want / I want it. you know", Labels("chat"))
    >>> [u.text for u in decoded.utterances], decoded.repairs
    (['&-um I want [/] I want it .', 'you know .'], 2)
    >>> decode("Um, I want I want it.", Labels("verbatim")).utterances[0].text
    '&-um <I want> [/] I want it .'
    """
    chat = labels.style == "chat"
    made: list[Utterance] = []
    repairs = 0
    for role, turn in _turns(label_to_chat(text, labels.version) if chat else text):
        if role and labels.roles:
            speaker = role
        elif role:
            repairs += 1
        mended, count = repair_text(turn, marks=chat, english=language == "eng")
        repairs += count
        for words, terminator in sentences(mended):
            if not chat:
                words = infer_marks(words, repetitions=labels.style == "verbatim")
            tree = build_tree(words)
            tier = canonical(tree.items, terminator)
            repairs += tier.dropped + len(tree.faults) + (terminator not in LABEL_TERMINATORS)
            if tier.text:
                made.append(utterance(speaker, tier.text))
    return Decoded(tuple(made), repairs)


def _turns(text: str) -> list[tuple[str | None, str]]:
    """Split at speaker codes: ``*CHI: hello . *MOT: hi .``."""
    before, *rest = _ROLE.split(text)
    turns: list[tuple[str | None, str]] = [(None, before), *zip(rest[::2], rest[1::2], strict=True)]
    return [turn for turn in turns if turn[1].strip()]
