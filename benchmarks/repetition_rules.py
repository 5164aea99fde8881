"""What each rule against loops makes of a right transcript in which a phrase returns: which copies stay whole.

No model is asked: every rule gets the words that were said, at their times, with a high probability, so that what is
missing afterwards was deleted by the rule. Ours gets them in both forms that a model writes, a segment for each phrase
and one segment for all, with the real sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.real_speech import words
from benchmarks.true_repetitions import Repeated
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording, vad
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.long_form.loops import count_syllables, has_loop, truncate_loops
from lsa_whisper.transcription.long_form.surplus_copies import without_surplus_copies
from lsa_whisper.transcription.long_form.unspoken import without_unspoken

Rule = Callable[[Repeated], str]


def kept(rule: Rule, recordings: Sequence[Repeated]) -> dict[str, Any]:
    """Return how many copies of a right transcript stay whole."""
    said = sum(each.copies for each in recordings)
    whole = sum(min(each.copies, copies_in(words(rule(each)), words(each.phrase.text))) for each in recordings)
    return {"said": said, "kept": whole, "deleted": said - whole, "kept_percent": round(100 * whole / said, 1)}


def copies_in(written: Sequence[str], phrase: Sequence[str]) -> int:
    """Return how often a phrase is written, word by word.

    >>> copies_in("so ask not ask not ask what".split(), ["ask", "not"])
    2
    """
    at = count = 0
    while at + len(phrase) <= len(written):
        is_copy = list(written[at : at + len(phrase)]) == list(phrase)
        count, at = count + is_copy, at + (len(phrase) if is_copy else 1)
    return count


def right_text(recording: Repeated) -> str:
    """Return what is said."""
    return " ".join(f"{text}." for text, _, _ in recording.texts)


def ours(recording: Repeated, *, together: bool) -> str:
    """Return what our rules leave of the right text; a loop is cut at once, without decoding it again."""
    sound = Recording.open(recording.path)
    speech = vad.detect_speech("either", sound.stream())
    whole = TimeSpan(0, round(1000 * sound.duration_s))
    segments = tuple(DecodedSegment(f"{text}.", start_s, end_s, -0.1) for text, start_s, end_s in recording.texts)
    if together:
        timed = tuple(token for each in recording.texts for token in _timed(*each))
        segments = (DecodedSegment(right_text(recording), 0.0, sound.duration_s, -0.1, timed),)
    window, spoken = DecodedWindow(segments, -0.1, no_speech_prob=0.02), speech.within(whole)
    if has_loop(window, spoken):
        window = truncate_loops(window, spoken, partial(count_syllables, sound.load(), SAMPLE_RATE_HZ))
    ((_, result),) = without_unspoken([(whole, without_surplus_copies(window, spoken))], speech)
    return result.text


def _timed(text: str, start_s: float, end_s: float) -> Iterator[TimedToken]:
    """Yield the words of a text, each with an equal part of its time."""
    said = f"{text}.".split()
    each_s = (end_s - start_s) / len(said)
    for at, word in enumerate(said):
        yield TimedToken(f" {word}", start_s + at * each_s, start_s + (at + 1) * each_s)


def on_tokens(rule: Callable[[list[int]], list[int]], tokenizer: Any) -> Rule:
    """Return a rule of tokens as one of texts."""

    def apply(recording: Repeated) -> str:
        tokens = tokenizer.encode(f" {right_text(recording)}", add_special_tokens=False)
        return str(tokenizer.decode(rule(tokens)))

    return apply


def without_loops(tokens: list[int]) -> list[int]:
    """Return the tokens, each loop of one to five of them cut to one copy.

    >>> without_loops([7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9])
    [7, 1, 2, 3, 9]
    >>> without_loops([5] * 7), without_loops([5] * 8)
    ([5, 5, 5, 5, 5, 5, 5], [5])
    """
    at = 0
    while at < len(tokens):
        for size in range(1, 6):
            copies = 1
            while tokens[at + copies * size : at + (copies + 1) * size] == tokens[at : at + size]:
                copies += 1
            if copies >= (8 if size < 3 else 3):
                tokens = tokens[: at + size] + tokens[at + copies * size :]
        at += 1
    return tokens


def without_repeated(tokens: list[int], size: int = 4) -> list[int]:
    """Return the tokens without those that end a row of ``size`` tokens which was there before.

    >>> without_repeated([1, 2, 3, 4, 1, 2, 3, 4, 5])
    [1, 2, 3, 4, 1, 2, 3, 5]
    """
    written: list[int] = []
    rows = set[tuple[int, ...]]()
    for token in tokens:
        row = (*written[len(written) - size + 1 :], token) if len(written) >= size - 1 else ()
        if row and row in rows:
            continue
        rows.add(row)
        written.append(token)
    return written
