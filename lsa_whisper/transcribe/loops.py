"""Repetitions of the speaker stay, loops of the model go: time tells them apart.

"I I I I want" takes the speaker a second. A model in a loop writes forty copies into the same second, or goes on until
it is stopped. So a repetition counts as a loop only on such evidence, and only then is its window decoded again, in two
halves cut where it is quietest (a loop rarely survives other surroundings, and no chance is involved: the same
recording gives the same bytes). What still loops after that is cut to the copies there was time for, and said so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lsa_whisper.transcribe.decode import DecodedWindow, Decoder, Piece
from lsa_whisper.transcribe.speech import find_speech

_RUN = re.compile(r"(.{1,80}?)\1{3,}", re.DOTALL)  # four copies or more
_WORDS_PER_S = 8.0
_LETTERS_PER_S = 25.0


def decode_without_loops(
    decoder: Decoder, windows: Sequence[npt.NDArray[np.float32]], rate_hz: int
) -> list[DecodedWindow]:
    """Return what ``decoder`` makes of the windows, those with a loop decoded again in halves.

    Args:
        decoder: any engine.
        windows: float32 mono samples.
        rate_hz: their sample rate.
    """
    results = decoder.decode(windows)
    looped = [index for index, result in enumerate(results) if has_loop(result)]
    cuts = [_quietest(windows[index], rate_hz) for index in looped]
    halves = [half for index, cut in zip(looped, cuts, strict=True) for half in np.split(windows[index], [cut])]
    again = decoder.decode(halves) if halves else []
    for number, (index, cut) in enumerate(zip(looped, cuts, strict=True)):
        joined = _joined(again[2 * number], again[2 * number + 1], cut / rate_hz)
        results[index] = replace(cut_loops(joined), looped=True)
    return results


def has_loop(result: DecodedWindow) -> bool:
    """Tell whether a window holds a repetition that nobody had the time to say, or that did not end.

    >>> has_loop(DecodedWindow((Piece("I [/] I [/] I [/] I [/] I [/] I want .", 0.0, 1.5),)))
    False
    >>> has_loop(DecodedWindow((Piece("look to look to look to look to look to look to .", 0.0, 0.8),)))
    True
    """
    return any(_loops(piece, result) for piece in result.pieces)


def cut_loops(result: DecodedWindow) -> DecodedWindow:
    """Return the window with each loop cut to the copies there was time for, at least one.

    >>> cut_loops(DecodedWindow((Piece("look to look to look to look to look to look to .", 0.0, 0.8),))).pieces[0].text
    'look to look to look to .'
    """
    pieces = []
    for piece in result.pieces:
        for run in _loops(piece, result)[::-1]:
            copy = run[1]
            copies = max(1, int(_duration_s(piece) / _needed_s(copy)))
            kept = (copy * copies)[: run.end() - run.start()]
            piece = replace(piece, text=piece.text[: run.start()] + kept + piece.text[run.end() :])
        pieces.append(piece)
    return replace(result, pieces=tuple(pieces))


def _loops(piece: Piece, result: DecodedWindow) -> list[re.Match[str]]:
    """Return the runs of copies in a piece for which the evidence says loop."""
    runs = list(_RUN.finditer(piece.text))
    unending = not result.complete and piece is result.pieces[-1]
    return [
        run
        for run in runs
        if _needed_s(run[0]) > _duration_s(piece) or (unending and run.end() >= len(piece.text) - len(run[1]))
    ]


def _needed_s(text: str) -> float:
    """Return the least time in which somebody could say ``text``; marks, however they are spelled, take none."""
    spoken = re.sub(r"\[x? ?\d+\]|[^\w\s']", " ", text)
    letters = sum(character.isalnum() for character in spoken)
    return max(len(spoken.split()) / _WORDS_PER_S, letters / _LETTERS_PER_S, 1e-2)


def _duration_s(piece: Piece) -> float:
    return piece.end_s - piece.start_s


def _quietest(window: npt.NDArray[np.float32], rate_hz: int) -> int:
    """Return the sample in the middle half of a window where it is quietest."""
    level = find_speech([window], rate_hz).level_db
    first, last = len(level) // 4, max(len(level) // 4 + 1, 3 * len(level) // 4)
    frame = first + int(level[first:last].argmin()) if len(level) else 0
    return min(len(window), round(len(window) * frame / max(1, len(level))))


def _joined(first: DecodedWindow, second: DecodedWindow, offset_s: float) -> DecodedWindow:
    shifted = [_shifted(piece, offset_s) for piece in second.pieces]
    mean = (first.avg_logprob + second.avg_logprob) / 2
    return DecodedWindow((*first.pieces, *shifted), mean, first.complete and second.complete)


def _shifted(piece: Piece, offset_s: float) -> Piece:
    timed = tuple(replace(t, start_s=t.start_s + offset_s, end_s=t.end_s + offset_s) for t in piece.timed)
    return replace(piece, start_s=piece.start_s + offset_s, end_s=piece.end_s + offset_s, timed=timed)
