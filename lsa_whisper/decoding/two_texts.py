"""Two texts of a window, decoded in two styles: their words are compared, and the likelier ones are taken.

A stock model that is asked for disfluencies loses words that it writes otherwise, and hears others better. Both texts
come from one pass of the encoder. Words on which they agree are kept, with the final mark that either has behind them
(asked for disfluencies, a model writes few); fillers, repetitions and cut-off words are those
of the first text; of other words, the more probable ones are taken (voting by confidence, Fiscus 1997).

A model that was trained on other people gains nothing by it: of 24 recordings (whisper-base, float32, one seed of four
parts), 23.4 % of the words are wrong without disfluencies, 24.5 % with a second text of its own, and 23.6 % with one of
its base.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

from lsa_whisper.chat.filled_pauses import ALL_FILLERS
from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.labels import letters_of
from lsa_whisper.labels.token_words import begins_word

_DOUBTFUL = 0.05
"""Probability of no speech above which a second text may be a loop: one of ten copies had 0.24, where hardly anything
is spoken. Most right windows have less, and there people do repeat a sentence that is written several times."""
_COPIES = re.compile(r"((?: \w+){1,20}?)\1{3,}(?!\w)")
"""The same words four times and more, as loops have them; people rarely do."""
MIN_ADDED = 0.3
"""Mean probability of words that only the first text has, below which they are left out, unless they are disfluent.

Of five minutes of real English (24 recordings of about 25 people, whisper-base in int8, three texts followed), 21.1 to
21.3 % of the words are wrong without disfluencies with 0.2 to 0.4, and 22.8 % without a second text."""
MIN_MISSING = 0.6
"""Mean probability of words of the second text, below which none of them is taken.

Of the same speech, 21.1 to 21.2 % with 0.4 to 0.6, 21.7 with 0.65, 22.2 with 0.7 (in float32 21.3 with 0.55 and 21.4
with 0.6, one word). Of 3,549 words of other recordings, some of the same people, 806 are wrong with 0.4 and without a
second text, 794 with 0.55, and 792 with 0.6."""
MARGIN = 0.05
"""By so much more probable are words of the first text that stay although the second has others in their place."""
FINAL_MARKS = frozenset(".?!")
"""Marks of the second text that are taken where the first has none. Of the five minutes above, F1 of the boundaries of
utterances is .60 with them and .58 without, and the words are equal."""
SURE = -0.1
"""Mean log-probability of a first text from which no second one is decoded.

Of 88 windows of 76 real English clips (whisper-base, int8), 4 have more, and 16 failed: no word of theirs is taken from
the second text. With -0.15 in float32, 4 of 1,201 words were wrong that are right otherwise."""

_LONGER, _MORE_TOKENS = 1.5, 40
"""A second text is not used if it has more tokens than 1.5 times those of the first and 40, so it need not be decoded
to its end. Of 100 windows of 76 real English clips, alone and joined (whisper-base, int8), one had 248 tokens beside
82, a loop; the others had at most 27 more than 1.5 times the first text."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a text with the signs behind it: its tokens, their log-probabilities, and its letters in lower case."""

    tokens: tuple[tuple[str, float], ...]
    timed: tuple[TimedToken, ...]
    letters: str

    @property
    def is_disfluent(self) -> bool:
        """Whether the word is a filler, or is cut off."""
        return self.letters in ALL_FILLERS or "".join(text for text, _ in self.tokens).rstrip(" ,.?!").endswith("-")


class SecondTexts(Protocol):
    """Decodes the windows of a batch at some indices in the model's usual style."""

    def __call__(self, indices: Sequence[int], *, with_times: bool) -> Sequence[DecodedWindow]:
        """Return the texts, with token times if they are requested."""


def likelier_texts(first: Sequence[DecodedWindow], second: SecondTexts) -> list[DecodedWindow]:
    """Return the text of each window; see :func:`likelier_text`.

    ``first`` has disfluencies and no timestamps. ``second`` decodes the same windows again. It is asked for those whose
    first text leaves a doubt, and for token times, which take a third as long as the text, where words are taken from
    it: a quarter of the windows.
    """
    doubtful = [at for at, window in enumerate(first) if _is_doubtful(window)]
    theirs = second(doubtful, with_times=False) if doubtful else ()
    texts = {at: likelier_text(first[at], new) for at, new in zip(doubtful, theirs, strict=True)}
    untimed = [at for at, text in texts.items() if any(len(part.timed) < len(part.logprobs) for part in text.segments)]
    timed = second(untimed, with_times=True) if untimed else ()
    texts |= {at: likelier_text(first[at], new) for at, new in zip(untimed, timed, strict=True)}
    return [texts.get(at, window) for at, window in enumerate(first)]


def _is_doubtful(window: DecodedWindow) -> bool:
    """Return whether a second text may have likelier words; one of a failed window is never trusted."""
    return not window.silent and LOGPROB_THRESHOLD <= window.avg_logprob < SURE


def most_tokens(first: DecodedWindow) -> int:
    """Return how many tokens a second text may have, its end included."""
    return round(_LONGER * first.tokens) + _MORE_TOKENS


def likelier_text(first: DecodedWindow, second: DecodedWindow) -> DecodedWindow:
    """Return the text of ``first`` with the words of ``second`` where these are likelier.

    The first has disfluencies and no timestamps; the second is the same window in the model's usual style.
    """
    if not (_is_doubtful(first) and _is_trusted(second) and second.tokens <= most_tokens(first)):
        return first
    ours, theirs = _words(first), _words(second)
    if second.no_speech_prob > _DOUBTFUL and _is_loop(ours, theirs):
        return first
    words = _chosen(ours, theirs)
    if words == ours:
        return first
    segments = (_segment(words, first, second),) if words else ()
    return replace(first, segments=segments)


def _is_trusted(second: DecodedWindow) -> bool:
    """Return whether a second text has an end, as a loop has none, and is likelier than a failed window's."""
    return second.complete and second.avg_logprob >= LOGPROB_THRESHOLD


def _is_loop(first: Sequence[_Word], second: Sequence[_Word]) -> bool:
    """Return whether a second text says the same words four times and more, which the first does not repeat."""
    ours, theirs = ("".join(f" {word.letters}" for word in text) for text in (first, second))
    return any(ours.count(run[1]) < 2 for run in _COPIES.finditer(theirs))


def _chosen(first: Sequence[_Word], second: Sequence[_Word]) -> list[_Word]:
    """Return the words to keep, in the order of speech."""
    from rapidfuzz.distance import Indel

    words: list[_Word] = []
    taken = False
    edits = Indel.opcodes([word.letters for word in first], [word.letters for word in second])
    for is_equal, group in groupby(edits, lambda edit: edit.tag == "equal"):
        part = [*group]
        at, behind, begin, end = part[0].src_start, part[-1].src_end, part[0].dest_start, part[-1].dest_end
        ours, theirs = first[at:behind], second[begin:end]
        plain, disfluent = ([word for word in ours if word.is_disfluent is flag] for flag in (False, True))
        if is_equal:
            inside = theirs[: len(second) - 1 - begin]  # a text ends with a mark, whether or not a sentence does
            same = [*map(_with_final_mark, ours, inside), *ours[len(inside) :]]
            if taken:  # where words were lost, the one behind them has their time, too
                same[0] = theirs[0]
            words += same
            taken = False
        elif not theirs:
            keeps = _is_repeated(first, at, behind) or _probability(plain) >= MIN_ADDED
            words += ours if keeps else disfluent
        elif _probability(theirs) < MIN_MISSING or (plain and _probability(plain) >= _probability(theirs) + MARGIN):
            words += ours
        else:
            words[-1:] = second[begin - 1 : begin]  # the same word, with the signs that belong before these
            words += _in_order([*disfluent, *theirs], second[:begin], second[end:])
            taken = True
    return words


def _with_final_mark(word: _Word, other: _Word) -> _Word:
    """Return a word with the final mark of the other one, if it has none of its own."""
    sign, logprob = other.tokens[-1][0].strip()[-1:], other.tokens[-1][1]
    if sign not in FINAL_MARKS or word.tokens[-1][0].strip()[-1:] in FINAL_MARKS:
        return word
    end = 1 + max((at for at, (text, _) in enumerate(word.tokens) if letters_of(text)), default=len(word.tokens) - 1)
    timed = word.timed[:end]
    at_s = (TimedToken(sign, timed[-1].end_s, timed[-1].end_s),) if timed else ()
    return replace(word, tokens=(*word.tokens[:end], (sign, logprob)), timed=(*timed, *at_s))


def _in_order(words: Sequence[_Word], before: Sequence[_Word], behind: Sequence[_Word]) -> list[_Word]:
    """Return words of two texts in the order of their times, which are limited to those between their neighbors."""
    start_s = before[-1].timed[-1].end_s if before and before[-1].timed else 0.0
    end_s = max(start_s, behind[0].timed[0].start_s if behind and behind[0].timed else math.inf)

    def limited(token: TimedToken) -> TimedToken:
        start, end = (min(max(start_s, time_s), end_s) for time_s in (token.start_s, token.end_s))
        return replace(token, start_s=start, end_s=end)

    result = [replace(word, timed=tuple(map(limited, word.timed))) for word in words]
    return sorted(result, key=lambda word: word.timed[0].start_s if word.timed else 0.0)


def _is_repeated(words: Sequence[_Word], at: int, behind: int) -> bool:
    """Return whether words without the disfluent ones are repeated right behind them, or repeat those before."""
    before, own, after = (
        [word.letters for word in part if not word.is_disfluent]
        for part in (words[:at], words[at:behind], words[behind:])
    )
    return own in (before[-len(own) :], after[: len(own)]) if own else True


def _probability(words: Sequence[_Word]) -> float:
    """Return the mean over words of their probability for a token."""
    return sum(_word_probability(word) for word in words) / len(words)


def _word_probability(word: _Word) -> float:
    """Return the probability of a token of the word, without that of the signs behind it."""
    logprobs = [logprob for text, logprob in word.tokens if letters_of(text)] or [logprob for _, logprob in word.tokens]
    return math.exp(sum(logprobs) / len(logprobs))


def _words(window: DecodedWindow) -> list[_Word]:
    """Return the words of a text; signs without letters belong to the word before them."""
    words: list[_Word] = []
    for segment in window.segments:
        timed = segment.timed or (None,) * len(segment.logprobs)
        begins = begins_word([text for text, _ in segment.logprobs])
        for (text, logprob), time, is_first in zip(segment.logprobs, timed, begins, strict=True):
            times = (time,) if time else ()
            letters = letters_of(text)
            if words and not is_first:
                last = words[-1]
                words[-1] = _Word((*last.tokens, (text, logprob)), (*last.timed, *times), last.letters + letters)
            else:
                words.append(_Word(((text, logprob),), times, letters))
    return words


def _segment(words: Sequence[_Word], first: DecodedWindow, second: DecodedWindow) -> DecodedSegment:
    """Return a segment of ``words``, whose times never go back."""
    tokens = [token for word in words for token in word.tokens]
    timed, at_s = [], 0.0
    for token in (time for word in words for time in word.timed):
        start_s = max(at_s, token.start_s)
        at_s = max(start_s, token.end_s)
        timed.append(replace(token, start_s=start_s, end_s=at_s))
    whole = (first.segments or second.segments)[-1]
    return DecodedSegment(
        "".join(text for text, _ in tokens).strip(),
        (first.segments or second.segments)[0].start_s,
        whole.end_s,
        sum(logprob for _, logprob in tokens) / len(tokens),
        tuple(timed),
        tuple(tokens),
        whole.closed,
    )
