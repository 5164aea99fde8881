"""Label styles: what is written of an utterance, and its encoding as the text that a model is trained to write."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.labels.canonical import canonical
from lsa_whisper.labels.notation import VERSIONS, chat_to_label

STYLES = ("chat", "verbatim", "fluent")
VERSION = 4


@dataclass(frozen=True)
class Labels:
    """The label format of a model: ``style``, speaker codes (``roles``), ``version`` of the notation, and ``prompt``.

    The prompt is the text that the decoder reads before each window, in training and in transcription, if any (see
    :data:`VERBATIM_PROMPTS`). ``timestamps`` tells whether windows had any in training, ``unseen`` names the classes of
    disfluency that no label in training had. Version 1 is CHAT itself.
    Version 2 needs fewer tokens; nano has it. Version 4 also omits the symbol of exact repetitions and spells the
    copies of a sound as ``b-b- ball`` (see :mod:`lsa_whisper.labels.notation`).

    >>> Labels.from_dict(Labels("verbatim").as_dict())
    Labels(style='verbatim', roles=False, version=4)

    Raises:
        LsaWhisperError: The style or version is unknown.
    """

    style: str = "chat"
    roles: bool = False
    version: int = VERSION
    prompt: str = field(default="", repr=False)
    timestamps: bool = field(default=True, repr=False)
    unseen: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise LsaWhisperError(f"labels: no style {self.style!r}; choose one of {', '.join(STYLES)}")
        if self.version not in VERSIONS:
            names = ", ".join(map(str, VERSIONS))
            raise LsaWhisperError(f"labels: no version {self.version!r}; this package knows {names}, a newer may more")
        if unknown := sorted({*self.unseen} - {kind.value for kind in Disfluency}):
            raise LsaWhisperError(
                f"labels: no classes of disfluency {', '.join(unknown)}; a newer version may know them"
            )

    @property
    def name(self) -> str:
        """The style and version as written in manifests.

        >>> Labels("chat", roles=True, version=1).name
        'chat+roles/1'
        """
        return f"{self.style}{'+roles' if self.roles else ''}/{self.version}"

    @classmethod
    def from_name(cls, name: str) -> Labels:
        """Return the labels named ``name``; a bare style means the current version.

        >>> Labels.from_name("chat+roles/1"), Labels.from_name("fluent").style
        (Labels(style='chat', roles=True, version=1), 'fluent')
        """
        style, _, version = name.partition("/")
        if version and not re.fullmatch(r"[0-9]{1,9}", version):
            raise LsaWhisperError(f"labels: {name!r} is not a style and a version such as 'chat/{VERSION}'")
        return cls(style.removesuffix("+roles"), style.endswith("+roles"), int(version or VERSION))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        usual = {"prompt": "", "timestamps": True, "unseen": ()}
        return {name: value for name, value in asdict(self).items() if name not in usual or value != usual[name]}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Labels:
        """Return the labels of an :meth:`as_dict` mapping; unknown fields are an error."""
        if not isinstance(fields, Mapping):
            raise LsaWhisperError(f"labels: style, roles, version and prompt are to be named, not {str(fields)[:40]!r}")
        names = {entry.name for entry in dataclasses.fields(cls)}
        if extra := sorted(set(fields) - names):
            raise LsaWhisperError(f"labels: unknown fields {', '.join(extra)}; known are {', '.join(sorted(names))}")
        if not isinstance(unseen := fields.get("unseen", []), list | tuple):
            raise LsaWhisperError(f"labels: unseen is {str(unseen)[:40]!r}; list classes of disfluency there")
        return cls(**{**fields, "unseen": tuple(map(str, unseen))})


VERBATIM_PROMPTS = {
    "eng": "um I I want uh the the dog. um uh wan- want it. Yeah.",
    "deu": "äh ähm äh ähm.",
    "fra": "euh heu euh heu.",
    "ita": "ehm eeh ehm eeh.",
    "nld": "eh uhm eh uhm.",
    "spa": "eh ehm eh ehm.",
}
"""By language (ISO 639-3), the prompt that asks for disfluencies: the decoder reads it before each window, as if it had
written it. Only the English one was tested on recordings.

Whisper knows *um*: it was taught to leave it out, and goes on in the manner of the text before a window. So a prompt
with fillers, a repeated word and a cut-off one brings disfluencies back from a stock model without training, and is
where the training of a verbatim model begins best: without the prompt, the model stays what it was.

OpenAI's base on 5 minutes of real English (26 recordings of about 30 people, windows without timestamps): 22 of 27
filled pauses are written and 2 invented (0 and 0 without a prompt), word errors fall from 26 to 21 %; with timestamps,
the prompt costs words. It was chosen from 14 on the same recordings. A list of fillers (``Um, uh, hmm, er, ah.``)
brings 17 back. The sentences in it make the model end sentences.
"""


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
    spoken = [word for word in words if word not in UNTRANSCRIBED]
    return " ".join(spoken) + (terminator[-1:] if terminator[-1:] in ("?", "!") else ".") if spoken else ""
