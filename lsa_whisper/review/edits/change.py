"""What an edit changes: blocks that were taken out and blocks that were put in, so that it can be undone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsa_whisper.chat import Line, Transcript, Utterance
from lsa_whisper.errors import LsaWhisperError

Block = Line | Utterance
_NEWLINES = ("\n", "\r")
_LINE_END = re.compile(r"(?:\r\n?|\n)\Z")


class EditError(LsaWhisperError):
    """An edit cannot be made; the transcript is unchanged."""


@dataclass(frozen=True)
class Change:
    """The blocks ``removed`` at index ``at`` of a transcript, and those ``added`` in their place."""

    at: int
    removed: tuple[Block, ...]
    added: tuple[Block, ...]

    @classmethod
    def between(cls, before: Transcript, after: Transcript) -> Change:
        r"""Return the smallest run of blocks in which two transcripts differ.

        >>> from lsa_whisper.chat import parse
        >>> change = Change.between(parse("*A:\ta .\n*A:\tb .\n"), parse("*A:\ta .\n*A:\tc .\n"))
        >>> change.at, len(change.removed), change.added[0].main
        (1, 1, '*A:\tc .\n')
        """
        old, new = before.blocks, after.blocks
        limit = min(len(old), len(new))
        start = next((at for at in range(limit) if old[at] is not new[at] and old[at] != new[at]), limit)
        most = limit - start
        end = next((n for n in range(most) if old[-1 - n] is not new[-1 - n] and old[-1 - n] != new[-1 - n]), most)
        return cls(start, tuple(old[start : len(old) - end]), tuple(new[start : len(new) - end]))

    @property
    def empty(self) -> bool:
        """Whether nothing changes."""
        return not self.removed and not self.added

    def inverted(self) -> Change:
        """Return the change that undoes this one."""
        return Change(self.at, self.added, self.removed)

    def utterances(self, before: Transcript) -> tuple[int, list[Utterance], list[Utterance]]:
        """Return where the change of ``before`` begins, in utterances, and those that it takes out and puts in."""
        removed, added = (
            [each for each in blocks if isinstance(each, Utterance)] for blocks in (self.removed, self.added)
        )
        return sum(isinstance(block, Utterance) for block in before.blocks[: self.at]), removed, added

    def apply(self, transcript: Transcript) -> Transcript:
        """Return the transcript with this change.

        Raises:
            EditError: The transcript does not have the blocks that are to be removed.
        """
        end = self.at + len(self.removed)
        if tuple(transcript.blocks[self.at : end]) != self.removed:
            raise EditError(f"block {self.at}: the transcript is not the one that was changed; open it again")
        return replace(transcript, blocks=[*transcript.blocks[: self.at], *self.added, *transcript.blocks[end:]])


def block_of(transcript: Transcript, number: int) -> int:
    """Return the index of the block of utterance ``number``.

    Raises:
        EditError: There is no such utterance.
    """
    if not 0 <= number < len(transcript.utterances):
        raise EditError(f"utterance {number}: there are {len(transcript.utterances)}; reload the page")
    target = transcript.utterances[number]
    return next(at for at, block in enumerate(transcript.blocks) if block is target)


def put(transcript: Transcript, number: int, new: Sequence[Block], *, count: int = 1) -> Transcript:
    """Return the transcript with ``new`` in place of ``count`` utterances from ``number`` on."""
    first = block_of(transcript, number)
    last = block_of(transcript, number + count - 1)
    blocks = transcript.blocks
    if last - first != count - 1:
        raise EditError(f"utterance {number}: a header stands between the utterances; move it first")
    behind = blocks[last + 1 :]
    middle = [_closed(block, at + 1 < len(new) or bool(behind)) for at, block in enumerate(new)]
    return replace(transcript, blocks=[*blocks[:first], *middle, *behind])


def _closed(block: Block, followed: bool) -> Block:
    """Return a block with line ends on all lines but the last of the file, which may have none."""
    if isinstance(block, Line):
        return block
    end, tiers = line_end(block), block.tiers
    lines = [block.main, *(tier.raw for tier in tiers)]
    closed = [
        raw if raw.endswith(_NEWLINES) or (at + 1 == len(lines) and not followed) else raw + end
        for at, raw in enumerate(lines)
    ]
    if closed == lines:
        return block
    new_tiers = tuple(Line(raw, tier.number) for raw, tier in zip(closed[1:], tiers, strict=True))
    return replace(block, main=closed[0], tiers=new_tiers)


def line_end(utterance: Utterance) -> str:
    r"""Return how the lines of an utterance end.

    >>> line_end(Utterance("A", "*A:\tyes .\r\n"))
    '\r\n'
    """
    match = _LINE_END.search(utterance.main)
    return match.group() if match else "\n"
