"""Remove copies of a phrase that share the time of one.

A model that writes what a person says again and again loses count: of a phrase that returns eight times, OpenAI's base
writes ten. The times of its words show which are too many: without a pause between them, two copies take as long as
each of the others, and one of them less than anyone needs to say it. Where speech beside the copies has no words, as
many of them are left: the model wrote these, too, but has lost their time.

Short phrases stay: people who stutter say them quickly, and the times of short words are coarse. So does text with the
codes of CHAT, in which a copy belongs to its marks or to a speaker, and text without spaces, whose pace is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.labels import in_speaker_code, letters_of
from lsa_whisper.transcription.long_form.repetition import (
    SpeechIntervals,
    copies_note,
    min_speaking_s,
    speech_between_s,
)
from lsa_whisper.transcription.long_form.timed_words import PlacedWord, timed_words

_COPIES = 3
_FEWEST, _LONGEST = 3, 12  # words of a copy
_SHORTEST_S = 0.5
"""Shortest speaking time of a phrase that is looked at: twelve letters. Of 48 recordings in which a real phrase returns
(``benchmarks/true_repetitions.py``), OpenAI's base wrote 15 copies too many; four are left, of shorter phrases, and no
true copy goes. In half an hour of real English (meetings, children, an interview), nothing but loops is shortened."""
_TOUCHING_S = 0.1
"""Less time than this between two copies is not a pause. From 0.02 to 0.2 the same copies are removed."""
_SPEECH_SHARE = 0.6
"""Share of the length of a copy that speech beside them has, if it is one that has lost its time."""
_TAIL = 3
"""Words that a last copy shares with the others, if its first word is another one."""
_CODES = frozenset("[<")


@dataclass(frozen=True)
class _Block:
    """Copies without a pause between them, and how many fit into their time."""

    copies: Sequence[Sequence[PlacedWord]]
    fitting: int

    @property
    def surplus(self) -> int:
        """How many copies do not fit; negative if more would."""
        return len(self.copies) - self.fitting


def without_surplus_copies(result: DecodedWindow, speech: SpeechIntervals) -> DecodedWindow:
    """Return a window without the copies that share the time of others; without token times, the window as it is.

    >>> times_s = [(0, 0.9), (1, 1.9), (2, 2.9), (3, 3.4), (3.4, 3.9)]
    >>> timed = tuple(TimedToken(f" {word}", *span) for span in times_s for word in "please now go away".split())
    >>> window = DecodedWindow((DecodedSegment("please now go away " * 5, 0, 4, timed=timed),))
    >>> without_surplus_copies(window, ()).removed
    ('once "please now go away"',)
    """
    segments, notes = [], []
    for segment in result.segments:
        for blocks, surplus in _runs(segment, speech):
            segment, note = _shortened(segment, blocks, surplus)
            notes.append(note)
        segments.append(segment)
    return replace(result, segments=tuple(segments), removed=(*result.removed, *notes[::-1])) if notes else result


def _runs(segment: DecodedSegment, speech: SpeechIntervals) -> list[tuple[list[_Block], int]]:
    """Return the blocks of each run of copies with too many of them, and how many are; the last run comes first."""
    texts = [token.text for token in segment.timed]
    if _CODES & set(segment.text) or any(in_speaker_code(texts)) or not any(text.startswith(" ") for text in texts):
        return []
    words = timed_words(segment)
    found = []
    for run in _copies([_letters(segment, word) for word in words]):
        copies = [words[first:end] for first, end in run]
        before_s = words[run[0][0] - 1].end_s if run[0][0] else segment.start_s
        after_s = words[run[-1][1]].start_s if run[-1][1] < len(words) else segment.end_s
        shortest_s = min_speaking_s(_text(segment, copies[0]))
        length_s = median(_length_s([copy]) for copy in copies)
        if shortest_s < _SHORTEST_S or length_s < shortest_s:  # in the latter case the times are wrong
            continue
        blocks, spare = _blocks(copies, (before_s, after_s), length_s, shortest_s, speech)
        surplus = sum(max(0, block.surplus) for block in blocks) - spare
        if surplus > 0:
            found.append((blocks, surplus))
    return found[::-1]


def _copies(words: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
    """Yield the runs of copies, each as the first word and the end of every copy.

    >>> list(_copies("no no no no no no no no".split()))
    []
    >>> list(_copies("oh i go on i go on i go on".split())), list(_copies("a b c d a b c d a b c d uh b c d".split()))
    ([[(1, 4), (4, 7), (7, 10)]], [[(0, 4), (4, 8), (8, 12), (12, 16)]])
    """
    first = 0
    while first < len(words):
        for period in range(_FEWEST, _LONGEST + 1):
            copy = words[first : first + period]
            if len(set(copy)) == 1:
                continue
            count = 1
            while words[first + count * period : first + (count + 1) * period] == copy:
                count += 1
            if count >= _COPIES:
                end = first + count * period
                count += period > _TAIL and words[end + 1 : end + period] == copy[1:]
                yield [(first + at * period, first + (at + 1) * period) for at in range(count)]
                first += count * period - 1
                break
        first += 1


def _blocks(
    copies: Sequence[Sequence[PlacedWord]],
    around_s: tuple[float, float],
    length_s: float,
    shortest_s: float,
    speech: SpeechIntervals,
) -> tuple[list[_Block], int]:
    """Return the copies of a run in blocks, and how many more fit into the speech beside and between them.

    Args:
        copies: The words of each.
        around_s: Where the word before them ends, and where the one after them begins.
        length_s: The usual length of a copy.
        shortest_s: The shortest in which it can be spoken.
        speech: The speech of the window.
    """
    pauses = [after[0].start_s - before[-1].end_s for before, after in pairwise(copies)]
    pause_s = median([each for each in pauses if each > _TOUCHING_S] or [0.0])
    groups = [[copies[0]]]
    for copy, before_s in zip(copies[1:], pauses, strict=True):
        if before_s > _TOUCHING_S:
            groups.append([])
        groups[-1].append(copy)
    starts_s = [*(group[0][0].start_s for group in groups), around_s[1]]
    between = list(zip([around_s[0], *(group[-1][-1].end_s for group in groups)], starts_s, strict=True))
    blocks = []
    for group, ((before_s, start_s), (end_s, after_s)) in zip(groups, pairwise(between), strict=True):
        # One copy alone has no pause of its own: what it touches has taken its place.
        between_s = pause_s if len(group) > 1 else 0.0
        fitting = round((end_s - start_s + between_s) / (length_s + between_s))
        is_alone = len(group) == 1 and min(start_s - before_s, after_s - end_s) > _TOUCHING_S
        too_fast = any(_length_s([copy]) < shortest_s for copy in group) and not is_alone
        blocks.append(_Block(group, fitting if fitting > len(group) or too_fast else len(group)))
    heard = [each for each in between if speech_between_s(speech, *each) >= _SPEECH_SHARE * length_s]
    spare = sum(max(0, round((last_s - first_s - pause_s) / (length_s + pause_s))) for first_s, last_s in heard)
    return blocks, spare + sum(max(0, -block.surplus) for block in blocks)


def _length_s(copies: Sequence[Sequence[PlacedWord]]) -> float:
    return copies[-1][-1].end_s - copies[0][0].start_s


def _shortened(segment: DecodedSegment, blocks: Sequence[_Block], surplus: int) -> tuple[DecodedSegment, str]:
    """Return a segment without some copies, the rest of their blocks spread over the time, and a note of it."""
    gone: set[int] = set()
    timed = list(segment.timed)
    left, usual = surplus, _letters(segment, blocks[0].copies[0][0])
    for block in sorted(blocks, key=lambda block: block.surplus, reverse=True):
        number = max(0, min(left, block.surplus))
        left -= number
        # The one with another first word goes first; the last one has the mark of the sentence.
        alike = sorted(block.copies, key=lambda copy: _letters(segment, copy[0]) == usual)
        removed, kept = alike[:number], alike[number:]
        gone.update(at for copy in removed for at in range(copy[0].first, copy[-1].end))
        if number and kept:
            _spread(
                timed, range(kept[0][0].first, kept[-1][-1].end), block.copies[0][0].start_s, block.copies[-1][-1].end_s
            )
    spread = replace(segment, timed=tuple(timed))
    rest = spread.with_tokens([at for at in range(len(timed)) if at not in gone])
    return rest, copies_note(surplus, _text(segment, blocks[0].copies[0]))


def _spread(timed: list[TimedToken], tokens: range, start_s: float, end_s: float) -> None:
    """Give tokens the time between two points, each as much as it has letters."""
    letters = [len(letters_of(timed[at].text)) for at in tokens]
    per_letter_s = (end_s - start_s) / max(1, sum(letters))
    for at, count in zip(tokens, letters, strict=True):
        timed[at] = replace(timed[at], start_s=start_s, end_s=start_s + count * per_letter_s)
        start_s += count * per_letter_s


def _letters(segment: DecodedSegment, word: PlacedWord) -> str:
    return letters_of("".join(token.text for token in segment.timed[word.first : word.end]))


def _text(segment: DecodedSegment, copy: Sequence[PlacedWord]) -> str:
    return "".join(token.text for token in segment.timed[copy[0].first : copy[-1].end]).strip(" .,?!")
