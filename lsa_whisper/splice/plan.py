"""Which disfluencies an utterance gets, and its main tier with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Disfluency, Utterance, utterance
from lsa_whisper.chat.lines import FOLD
from lsa_whisper.chat.main_tier import BULLET
from lsa_whisper.splice.edits import Edit, EditContext, SoundClip, make_edit

_WORDS_PER_EDIT = 6
"""An utterance gets at most one disfluency for this many words, and at least one."""
_TRIES = 12


@dataclass(frozen=True)
class SplicePlan:
    """The edits of an utterance in order, and the main tier with them, without times."""

    edits: tuple[Edit, ...]
    text: str
    words: tuple[str, ...]

    @property
    def kinds(self) -> Counter[Disfluency]:
        """The disfluencies that the edits add."""
        counts: Counter[Disfluency] = Counter()
        for edit in self.edits:
            counts[edit.kind] += edit.events
        return counts


def draw_plan(context: EditContext) -> SplicePlan | None:
    """Return a plan drawn by the weights of the profile; ``None`` if nothing fits the utterance."""
    target, rng, weights = context.target, context.rng, context.profile.weights()
    most = 1 + rng.randint(0, len(target.words) // _WORDS_PER_EDIT)
    edits: list[Edit] = []
    for _ in range(_TRIES * bool(weights)):
        kind = rng.choices(list(weights), list(weights.values()))[0]
        edit = _draw_edit(kind, context)
        # With less than a word between them, neighbors would change each other's repair.
        if edit and not any(edit.at <= other.end and other.at <= edit.end for other in edits):
            edits.append(edit)
        if len(edits) == most:
            break
    return write_edits(target.utterance, edits, context) if edits else None


def _draw_edit(kind: Disfluency, context: EditContext) -> Edit | None:
    """Return an edit of class ``kind``, at the start of the utterance as often as in the profile."""
    places = [at for at, word in enumerate(context.target.words) if word.offset is not None]
    if not places:
        return None
    row = context.profile.classes.get(kind.value)
    if kind is Disfluency.FALSE_START or (places[0] == 0 and row and context.rng.random() < row.initial):
        places = [0]
    else:
        places = [at for at in places if at] or places
    context.rng.shuffle(places)
    edits = (make_edit(kind, at, context) for at in places if context.target.is_plain(at, at + 1))
    return next((edit for edit in edits if edit), None)


def write_edits(original: Utterance, edits: Sequence[Edit], context: EditContext) -> SplicePlan | None:
    """Return the plan of ``edits``, or ``None`` if CHAT would not count exactly what they intend.

    The spliced tier must have the fluent words of the original, its disfluencies and those of the edits, and the words
    that sound in it.
    """
    edits = tuple(sorted(edits, key=lambda edit: edit.at))
    text = original.body
    for edit in reversed(edits):
        word = context.target.words[edit.at]
        assert word.offset is not None
        word_text = word.text if edit.written is None else edit.written
        replacement = f"{edit.before} {word_text}".strip()
        text = text[: word.offset] + replacement + text[word.offset + len(word.text) :]
    text = FOLD.sub(" ", BULLET.sub(" ", text)).strip()
    result = utterance(original.speaker, text)
    plan = SplicePlan(edits, text, tuple(_spoken(edits, context)))
    kinds = Counter(event.kind for event in result.events())
    kinds.subtract(event.kind for event in original.events())
    intended = +kinds == plan.kinds and not -kinds
    sound = not result.tree.faults and result.fluent() == original.fluent() and result.verbatim() == list(plan.words)
    return plan if intended and sound else None


def _spoken(edits: Sequence[Edit], context: EditContext) -> list[str]:
    by_word = {edit.at: edit for edit in edits}
    words: list[str] = []
    for at, word in enumerate(context.target.words):
        parts = by_word[at].parts if at in by_word else ()
        words += [text for part in parts if isinstance(part, SoundClip) for text in part.words]
        words.append(word.text)
    return words
