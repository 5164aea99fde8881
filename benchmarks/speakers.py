"""Who speaks, as ``transcribe --speakers auto`` finds it from voices alone, on real recordings with known speakers.

Only speech of one person at a time counts. Confusion is the share of it that has another voice than its speaker's, each
speaker standing for the voice with which the least is confused; one voice for everything is the figure to beat.

    python -m benchmarks.speakers ../shared/data
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.voices import VoiceDiarizer, find_weights

FRAME_MS = 10
MIN_FRAMES = 50
"""Frames that a person must speak alone to be counted as a speaker."""


def main() -> None:
    """Find the speakers of every recording, with and without their number, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    weights = find_weights()
    if weights is None:
        raise SystemExit("the weights are missing: pip install --no-deps resemblyzer")
    paths = sorted([*data.glob("ami/*.cha"), *data.glob("paired/*.cha")])
    rows = [row for path in paths if (row := measured(path, weights)) is not None]
    for row in rows:
        print(row, flush=True)
    result.write(
        "speakers",
        ("resemblyzer", "scipy"),
        f"{len(rows)} recordings of real people: clips of AMI meetings and others",
        sets={name: summary(row for row in rows if row["set"] == name) for name in ("ami", "paired")},
        rows=rows,
    )


def measured(path: Path, weights: Path) -> dict[str, Any] | None:
    """Return the figures of a recording, ``None`` if nobody speaks alone."""
    transcript, sound = chat.read(path), Recording.open(next(path.parent.glob(f"{path.stem}.[fm][lp][a3]*")))
    frames = int(sound.duration_s * 1000) // FRAME_MS + 1
    timed = [(each.speaker, each.span) for each in transcript.utterances if each.span]
    truth = spoken(timed, frames)
    alone = truth[:, truth.sum(0) == 1]
    if not alone.size or not alone.any():
        return None
    people = max(1, int((alone.sum(1) >= MIN_FRAMES).sum()))
    row: dict[str, Any] = {"set": path.parent.name, "recording": path.stem, "people": people}
    row |= {"alone_s": round(alone.sum() * FRAME_MS / 1000, 1), "one_voice": 1 - alone.sum(1).max() / alone.sum()}
    for name, count in (("auto", None), ("known_number", people)):
        began = time.monotonic()
        turns = VoiceDiarizer(weights, count).turns(sound, "cpu")
        row[f"{name}_s"] = round(time.monotonic() - began, 2)
        guessed = spoken(turns.spans if turns else (), frames)[:, truth.sum(0) == 1]
        row |= {f"{name}_voices": len(guessed), name: confusion(alone, guessed)}
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}


def spoken(turns: Iterable[tuple[str, TimeSpan]], frames: int) -> npt.NDArray[np.bool_]:
    """Return who speaks in which frame, (speakers, frames)."""
    listed = list(turns)
    names = list(dict.fromkeys(name for name, _ in listed))
    active = np.zeros((len(names), frames), np.bool_)
    for name, span in listed:
        active[names.index(name), span.start_ms // FRAME_MS : span.end_ms // FRAME_MS] = True
    return active


def confusion(truth: npt.NDArray[np.bool_], guessed: npt.NDArray[np.bool_]) -> float:
    """Return the share of the speech that has no voice, or another than its speaker's."""
    common = truth.astype(int) @ guessed.astype(int).T
    return float(1 - common[linear_sum_assignment(-common)].sum() / truth.sum())


def summary(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of several recordings, weighted by how long people speak alone."""
    listed = list(rows)
    seconds = sum(row["alone_s"] for row in listed)
    shares = ("one_voice", "auto", "known_number")
    return {
        "recordings": len(listed),
        "alone_s": round(seconds, 1),
        **{name: round(sum(row[name] * row["alone_s"] for row in listed) / seconds, 3) for name in shares},
        "right_number": sum(row["auto_voices"] == row["people"] for row in listed),
    }


if __name__ == "__main__":
    main()
