"""Undo and redo without limit: the changes of a transcript, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.chat import Line, Transcript, Utterance
from lsa_whisper.review.edits import Change, EditError
from lsa_whisper.review.edits.change import Block


@dataclass(frozen=True)
class Step:
    """One change with its ``kind`` (such as ``text`` or ``filled_pause``) and the time at which it was made."""

    change: Change
    kind: str
    at_s: float = 0.0
    joins: bool = False
    """Whether it is undone together with the step before: typing on in the same word."""


@dataclass
class History:
    r"""A transcript and the steps that led to it.

    >>> from lsa_whisper.chat import parse, serialize
    >>> from lsa_whisper.review.edits import set_text
    >>> history = History(parse("*A:\tyes .\n"))
    >>> step = history.take(set_text(history.transcript, 0, "no ."), "text")
    >>> history.undo(), serialize(history.transcript)
    (True, '*A:\tyes .\n')
    """

    transcript: Transcript
    done: list[Step] = field(default_factory=list)
    undone: list[Step] = field(default_factory=list)

    def take(self, after: Transcript, kind: str, *, at_s: float = 0.0, joins: bool = False) -> Step | None:
        """Make ``after`` the transcript and return the step, or ``None`` if nothing changed."""
        change = Change.between(self.transcript, after)
        if change.empty:
            return None
        step = Step(change, kind, at_s, joins and bool(self.done))
        self.repeat(step)
        return step

    def repeat(self, step: Step) -> None:
        """Apply a step that was made before, such as one from the journal."""
        self.transcript = step.change.apply(self.transcript)
        self.done.append(step)
        self.undone.clear()

    def undo(self) -> bool:
        """Undo the last step and those that it joins; return whether there was one."""
        if not self.done:
            return False
        while True:
            step = self.done.pop()
            self.transcript = step.change.inverted().apply(self.transcript)
            self.undone.append(step)
            if not step.joins or not self.done:
                return True

    def redo(self) -> bool:
        """Redo the step that was undone last and those that join it; return whether there was one."""
        if not self.undone:
            return False
        while True:
            step = self.undone.pop()
            self.transcript = step.change.apply(self.transcript)
            self.done.append(step)
            if not self.undone or not self.undone[-1].joins:
                return True


def step_as_dict(step: Step) -> dict[str, Any]:
    """Return a step, ready for JSON."""
    return {
        "kind": step.kind,
        "time_s": round(step.at_s, 1),
        "joins": step.joins,
        "at": step.change.at,
        "removed": [_block_as_dict(block) for block in step.change.removed],
        "added": [_block_as_dict(block) for block in step.change.added],
    }


def step_from_dict(entry: dict[str, Any]) -> Step:
    """Return the step that :func:`step_as_dict` described.

    Raises:
        EditError: It is damaged.
    """
    try:
        removed, added = (tuple(map(_block_from_dict, entry[name])) for name in ("removed", "added"))
        return Step(Change(int(entry["at"]), removed, added), str(entry["kind"]), entry["time_s"], bool(entry["joins"]))
    except (KeyError, TypeError, ValueError) as error:
        raise EditError(f"the journal is damaged ({error}); delete it") from error


def _block_as_dict(block: Block) -> dict[str, Any]:
    if isinstance(block, Line):
        return {"raw": block.raw, "number": block.number}
    tiers = [[tier.raw, tier.number] for tier in block.tiers]
    return {"speaker": block.speaker, "main": block.main, "tiers": tiers, "line": block.line}


def _block_from_dict(entry: dict[str, Any]) -> Block:
    if "raw" in entry:
        return Line(entry["raw"], entry["number"])
    tiers = tuple(Line(raw, number) for raw, number in entry["tiers"])
    return Utterance(entry["speaker"], entry["main"], tiers, entry["line"])
