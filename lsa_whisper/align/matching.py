"""Words of the transcript that free transcription recognized: anchors, each with its place in the recording.

A model's own transcript does not drift: what it recognized was spoken there. But common words match by accident, above
all where the transcript has words that were not spoken. So only runs of matching words that are long enough count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsa_whisper.align.text import TextWord
from lsa_whisper.scoring.align import UNALIGNED, Alignment, align
from lsa_whisper.timespan import TimeSpan

_RUN_LETTERS = 8  # "the dog" is spoken everywhere, "the yellow dog" is not


@dataclass(frozen=True)
class DecodedWord:
    """A word of free transcription, and the start of the window that it was decoded in."""

    key: str
    text: str
    span: TimeSpan
    window_ms: int


@dataclass(frozen=True)
class Matches:
    """The alignment of the transcript with the decoded words.

    Attributes:
        alignment: all pairs, by edit distance.
        anchors: word of the transcript -> decoded word, for pairs in reliable runs.
    """

    alignment: Alignment
    anchors: dict[int, int]

    @property
    def recognizes_most(self) -> bool:
        """Whether the model recognized at least half of the words; only then is it evidence that it did not."""
        return 2 * int(self.alignment.equal.sum()) >= len(self.alignment.to_hypothesis)


def match_words(words: Sequence[TextWord], decoded: Sequence[DecodedWord]) -> Matches:
    """Return which words of the transcript were decoded where."""
    keys = [word.key for word in words]
    found = align(keys, [word.key for word in decoded], disfluent_reference=[word.disfluent for word in words])
    return Matches(found, dict(pair for run in _runs(found) if _is_reliable(run, keys) for pair in run))


def _is_reliable(run: Sequence[tuple[int, int]], keys: Sequence[str]) -> bool:
    return len(run) > 1 and sum(len(keys[word]) for word, _ in run) >= _RUN_LETTERS


def _runs(found: Alignment) -> Iterator[list[tuple[int, int]]]:
    """Yield the runs of equal words without any error between them."""
    run: list[tuple[int, int]] = []
    for (word, decoded), equal in zip(found, found.equal.tolist(), strict=True):
        if equal:
            run.append((word, decoded))
        elif UNALIGNED not in (word, decoded) or run:
            yield run
            run = []
    yield run
