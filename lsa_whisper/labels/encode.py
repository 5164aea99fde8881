"""Encoding of utterances as labels, the text that a model is trained to write."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.labels.canonical import canonical
from lsa_whisper.labels.notation import chat_to_label
from lsa_whisper.labels.style import Labels


def encode(utterance: Utterance, labels: Labels) -> str:
    """Return the label of ``utterance``; empty if the style has no words for it.

    What is lost: ``chat`` loses what is not audible (replacements, error codes, overlaps, other speakers, form
    markers, gestures, times) and writes ``[/?]`` as ``[//]``, ``[x 3]`` as three words, a timed pause by its length
    class; ``verbatim`` also loses which words are disfluent, pauses, and how an utterance was broken off; ``fluent``
    loses the disfluent words too.

    >>> from lsa_whisper.chat import utterance
    >>> spoken = utterance("CHI", "&-um I want [/] want (.) it [* m] . [+ gram]")
    >>> encode(spoken, Labels("chat", roles=True))
    '*CHI: um I want want .. it.'
    >>> encode(spoken, Labels("verbatim")), encode(spoken, Labels("fluent"))
    ('um I want want it.', 'I want it.')
    """
    if labels.style == "chat":
        text = chat_to_label(canonical(utterance.tree.items, utterance.terminator).text, labels.version)
    elif labels.style == "verbatim":
        text = _sentence(utterance.reading.verbatim, utterance.terminator)
    else:
        text = _sentence(utterance.reading.fluent, utterance.terminator)
        text = text[:1].upper() + text[1:]
    return f"*{utterance.speaker}: {text}" if labels.roles and text else text


def _sentence(words: Sequence[str], terminator: str) -> str:
    transcribed = [word for word in words if word not in UNTRANSCRIBED]
    return " ".join(transcribed) + (terminator[-1:] if terminator[-1:] in ("?", "!") else ".") if transcribed else ""
