"""How a model is made to write: what its decoder reads before each window, and whether it writes timestamps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lsa_whisper.chat.filled_pauses import ALL_FILLERS
from lsa_whisper.checkpoint import Checkpoint, ConvertedCheckpoint, add_previous_text
from lsa_whisper.checkpoint.stored_labels import WritingModel
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import VERBATIM_PROMPTS, Coverage, Labels

Writer = Checkpoint | ConvertedCheckpoint | WritingModel
DECODING_STYLES = ("verbatim", "fluent")
_LETTERS = re.compile(r"[^\W\d_]+")
_TESTED = ("eng",)
"""Languages in which stock models write verbatim if nothing else is asked for."""

STOCK_BEAMS = 3
"""Texts of a window that are followed where a stock model writes.

Of five minutes of real English (24 recordings of about 25 people, whisper-base), word errors without disfluencies are
23.4 % with one, 21.2 % with three, and 22.2 % with five where it is asked for disfluencies (int8), as many fillers are
found, and 24.7 and 21.7 % with one and three where it is not (float32). A conversation of ten minutes takes an eighth
more processor time asked, with transformers 2.3 instead of 1.8 GB of memory, and half more unasked. A second text needs
one: with three, 21.7 instead of 21.3 % are wrong (float32); nor does a model that was trained on other people gain by
them (one seed of four parts: 24.3 instead of 23.6 %)."""


@dataclass(frozen=True)
class DecodingStyle:
    """The labels that a model is asked to write, and whether it writes timestamps.

    Attributes:
        labels: Of the text; their prompt is what the decoder reads before each window.
        timestamps: Whether timestamps may be written. Without them, the text of a window is one segment.
        is_stock: Whether the model never learned labels; its segments end anywhere, not where utterances end.
        prompt: What the user wants to be read before each window, in front of the prompt of the labels.
        words: Names and rare words that may be spoken.
        beams: How many texts of a window are followed at once, unless the user names another number; one is greedy
            search.
        second: The style of a second text of each window; its words are taken where they are likelier.
        is_compared: Whether the text is a second one. Only its words count, so its timestamps may lie behind the audio,
            and one that gets long is given up early.
        is_cleaned: Whether the disfluencies are left out of the finished transcript.
    """

    labels: Labels
    timestamps: bool = True
    is_stock: bool = False
    prompt: str = ""
    words: tuple[str, ...] = ()
    beams: int = 1
    second: DecodingStyle | None = None
    is_compared: bool = False
    is_cleaned: bool = False

    @property
    def asked(self) -> str:
        """All that the decoder reads before the text of the previous window."""
        return f"{self.prompt.strip()} {self.labels.prompt}".strip()

    def given(self, prompt: str, words: Sequence[str], beams: int | None = None) -> DecodingStyle:
        """Return the style, and its second one, with a prompt of the user, words that may be spoken, and beams.

        With such words, one text is followed unless the user names a number: each of its tokens is chosen by them.
        """
        second = self.second and self.second.given(prompt, words, beams)
        beams = beams or (1 if words else self.beams)
        return replace(self, prompt=prompt, words=tuple(words), beams=beams, second=second)

    def before(self, prompt: list[int], tokenizer: Any, settings: Any, previous: str, positions: int) -> list[int]:
        """Return a decoder prompt behind the prompts of the user and the labels, and the text of the previous window.

        Of a long previous text, the end is used, so that half of the decoder's ``positions`` are left for the window. A
        vocabulary that has no token for such text ignores it.
        """
        begin, context = (
            tokenizer.encode(f" {text.strip()}", add_special_tokens=False) if text.strip() else []
            for text in (self.asked, previous)
        )
        room = max(1, positions // 2 - 1 - len(begin))
        return add_previous_text(prompt, [*begin, *context[-room:]], tokenizer, settings)

    def is_echo(self, text: str) -> bool:
        """Return whether ``text`` says no more than the prompt: its fillers alone, or words of it in a row.

        >>> style = DecodingStyle(Labels("verbatim", prompt="um I I want uh the dog."))
        >>> [style.is_echo(text) for text in ("Um, uh.", "I want", "want", "Hmm.", "um yes", "")]
        [True, True, False, False, False, False]
        """
        prompt, words = (_LETTERS.findall(part.lower()) for part in (self.asked, text))
        if not prompt or not words:
            return False
        runs = (prompt[at : at + len(words)] for at in range(len(prompt)))
        return ALL_FILLERS.intersection(prompt).issuperset(words) or (len(words) > 1 and words in runs)


def decoding_style(model: Writer, style: str | None, language: str) -> DecodingStyle:
    """Return how a model is made to write.

    A stock Whisper writes verbatim with the prompt of the language and without timestamps: of ten meeting clips,
    OpenAI's base lost 7 more points of the words with a prompt and timestamps, and 5 fewer without timestamps. What it
    writes is compared with its fluent text. A model that was trained to write disfluencies writes fluent text as its
    verbatim text without them: whisper-base after five minutes of 25 people, one seed, has 23.6 % word errors so, and
    25.5 % if it is not asked for disfluencies. ``style`` is one of :data:`DECODING_STYLES`, or ``None``: as the model
    was trained; a stock one verbatim where tested. ``language`` is ISO 639-3; ``und`` if unknown.

    Raises:
        CheckpointError: The model cannot write so.
    """
    if is_stock(model):
        is_verbatim = style == "verbatim" or (style is None and language in _TESTED)
        fluent = DecodingStyle(model.labels, is_stock=True, beams=STOCK_BEAMS)
        return _stock_verbatim(model.path, language) if is_verbatim else fluent
    is_fluent = model.labels.style == "fluent"
    if is_fluent and style == "verbatim":
        raise CheckpointError(
            f"{model.path}: was trained to write fluent text; leave out `style`, or choose another model"
        )
    is_cleaned = style == "fluent" and not is_fluent
    return DecodingStyle(model.labels, timestamps=model.labels.timestamps, is_cleaned=is_cleaned)


def coverage_of(model: Writer, style: DecodingStyle) -> Coverage:
    """Return which classes of disfluency a model leaves out when it writes in ``style``."""
    return Coverage.of(Labels("fluent") if style.is_cleaned else style.labels, is_trained=not is_stock(model))


def is_stock(model: Writer) -> bool:
    """Return whether a model was never fine-tuned: it leaves disfluencies out unless it is asked for them."""
    return model.labels.style == "fluent" and not model.recipe


def _stock_verbatim(path: str, language: str) -> DecodingStyle:
    if (prompt := VERBATIM_PROMPTS.get(language)) is None:
        raise CheckpointError(
            f"{path}: a model without fine-tuning writes verbatim in {', '.join(sorted(VERBATIM_PROMPTS))}, not in "
            f"{language}; choose fluent, or fine-tune it"
        )
    second = DecodingStyle(Labels("fluent"), is_stock=True, is_compared=True)
    labels = Labels("verbatim", prompt=prompt)
    return DecodingStyle(labels, timestamps=False, is_stock=True, beams=STOCK_BEAMS, second=second)
