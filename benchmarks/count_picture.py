"""From a recording to a count in one drawing: the sound, the words at their times, the CHAT line, and the counts.

    lsa-whisper demo
    python -m benchmarks.count_picture runs/demo

Writes ``docs/pictures/from-recording-to-count.svg``. Everything in it is what the demo's second model writes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import soundfile
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pictures import OUT, SESSION, command
from lsa_whisper import chat
from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.system.shipped import STORYBOOK, shipped

INK, QUIET, WAVE, MARKED, PAPER = "#1d2333", "#505a6e", "#5b7f99", "#b5431a", "#ffffff"
MARGIN_S, STEPS = 0.15, 500
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "count", "text.parse_math": False, "font.size": 11, "text.color": INK}


def main() -> None:
    """Transcribe one recording with the times of its words, and draw its first utterance and all counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("demo", type=Path, help="The demo's folder.")
    demo = parser.parse_args().demo
    recording = shipped(STORYBOOK) / "test" / f"{SESSION}.flac"
    with tempfile.TemporaryDirectory() as scratch:
        command("transcribe", recording, "--model", demo / "full", "--wor", "-o", scratch)
        transcript = chat.read(Path(scratch) / f"{SESSION}.cha")
    with rc_context(STYLE):
        figure = Figure(figsize=(8, 5.4), layout="constrained", facecolor=PAPER)
        sound, words, line, counts = figure.subplots(4, height_ratios=(1.3, 0.55, 0.4, 2))
        draw_sound(sound, recording, transcript.utterances[0])
        draw_words(words, transcript.utterances[0])
        draw_line(line, transcript.utterances[0])
        draw_counts(counts, transcript)
        without = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(OUT / "from-recording-to-count.svg", format="svg", metadata=without)


def titled(axes: Axes, title: str) -> None:
    """Write a title above axes and draw nothing else of them."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.set_axis_off()


def limits(each: Utterance) -> tuple[float, float]:
    """Return the seconds of the recording that are drawn."""
    assert each.span is not None
    return each.span.start_ms / 1000 - MARGIN_S, each.span.end_ms / 1000 + MARGIN_S


def draw_sound(axes: Axes, recording: Path, each: Utterance) -> None:
    start_s, end_s = limits(each)
    samples, rate_hz = soundfile.read(recording)
    heard = samples[int(start_s * rate_hz) : int(end_s * rate_hz)]
    peaks = [np.abs(part).max() for part in np.array_split(heard, STEPS)]
    axes.fill_between(np.linspace(start_s, end_s, STEPS), peaks, [-peak for peak in peaks], color=WAVE, linewidth=0)
    axes.set_xlim(start_s, end_s)
    titled(axes, "1  The recording")


def draw_words(axes: Axes, each: Utterance) -> None:
    """Write each word at its time, disfluent ones in another color and underlined."""
    disfluent = {at for event in each.reading.events for at in range(event.start, event.end)}
    for at, (word, span) in enumerate(zip(each.reading.verbatim, each.word_spans(), strict=True)):
        if span is None:
            continue
        color = MARKED if at in disfluent else INK
        axes.text((span.start_ms + span.end_ms) / 2000, 0.5, word, color=color, ha="center", va="center")
        axes.plot(
            [span.start_ms / 1000, span.end_ms / 1000], [0, 0], color=color, linewidth=3 if at in disfluent else 1
        )
    axes.set_xlim(*limits(each))
    axes.set_ylim(-0.2, 1)
    titled(axes, "2  The words at their times; a thick line is a disfluency")


def draw_line(axes: Axes, each: Utterance) -> None:
    axes.text(0, 0.4, f"*{each.speaker}:  {each.text}", family="monospace", va="center")
    axes.set_xlim(0, 1)
    titled(axes, "3  The line of the transcript, in CHAT")


def draw_counts(axes: Axes, transcript: Transcript) -> None:
    """Draw a bar for each class of the whole recording."""
    found = Counter(event.kind.value for each in transcript.utterances for event in each.reading.events)
    names = [name for name, _ in reversed(found.most_common())]
    bars = axes.barh([name.replace("_", " ") for name in names], [found[name] for name in names], color=WAVE)
    axes.bar_label(bars, padding=4)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_xticks([])
    axes.spines[:].set_visible(False)
    title = f"4  The counts of the whole recording: {len(transcript.utterances)} utterances"
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)


if __name__ == "__main__":
    main()
