"""Memory for aligning a recording of an hour and of minutes, and resuming a killed run.

    python -m benchmarks.align_long models/nano corpora/storybook/test
    python -m benchmarks.align_long models/nano corpora/storybook/test --minutes 1 3   # a quick look

The sessions of the folder (CHAT with its recording) are joined until the given lengths are reached, and all times are
removed. Each is aligned in a new process; the shorter one is aligned again in a process that gets SIGKILL half-way, and
then resumed; ``--kill-long`` does that with the longer one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import soundfile

from benchmarks import result
from benchmarks.long_recording import killed_half_way
from lsa_whisper import chat
from lsa_whisper.align.transcripts import without_times
from lsa_whisper.audio import AUDIO_SUFFIXES, SAMPLE_RATE_HZ, Recording

ALLOWED_MB = 200
_WINDOW_S = 6.0
"""The usual length of a window of nano."""
_RUN = (
    "import resource, sys\nfrom lsa_whisper.align import align_transcripts\n"
    "align_transcripts(sys.argv[2], model=sys.argv[1], out=sys.argv[3], vad=sys.argv[4])\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
)
_HEAD = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Child\n@ID:\teng|x|CHI|||||Child|||\n"


def write_long(sources: list[Path], minutes: float, folder: Path) -> Path:
    """Write sessions joined to at least ``minutes``, without times, and return the transcript.

    One recording is in memory at a time.
    """
    path = folder / f"m{minutes:g}.cha"
    spoken: list[str] = []
    left = 60 * minutes
    with soundfile.SoundFile(path.with_suffix(".flac"), "w", SAMPLE_RATE_HZ, 1) as file:
        for source in cycle(sources):
            audio = next(source.with_suffix(each) for each in AUDIO_SUFFIXES if source.with_suffix(each).exists())
            sound = Recording.open(audio).load()
            file.write(sound)
            spoken += [f"*CHI:\t{without_times(each).text}\n" for each in chat.read(source).utterances]
            left -= len(sound) / SAMPLE_RATE_HZ
            if left <= 0:
                break
    path.write_text(f"{_HEAD}@Media:\t{path.stem}, audio\n{''.join(spoken)}@End\n", "utf-8")
    return path


def command(options: argparse.Namespace, transcript: Path, out: Path) -> list[str]:
    """Return the command that aligns in a new process."""
    return [sys.executable, "-c", _RUN, options.model, str(transcript), str(out), options.vad]


def aligned(options: argparse.Namespace, transcript: Path, out: Path) -> dict[str, Any]:
    """Align in a new process and return its peak memory, its time, and how many utterances have a time."""
    began, before = time.monotonic(), os.times()
    ran = subprocess.run(command(options, transcript, out), check=True, stdout=subprocess.PIPE, text=True)
    after = os.times()
    utterances = chat.read(out / transcript.name).utterances
    return {
        "peak_mb": round(float(ran.stdout.split()[-1])),
        "took_s": round(time.monotonic() - began, 1),
        "cpu_s": round(after.children_user + after.children_system - before.children_user - before.children_system, 1),
        "audio_s": round(Recording.open(transcript.with_suffix(".flac")).duration_s, 1),
        "utterances": len(utterances),
        "with_time": sum(each.span is not None for each in utterances),
    }


def main() -> None:
    """Measure, compare and write the result; exits with 1 if memory or the resumed transcript is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, nargs=2, default=(5.0, 60.0))
    parser.add_argument("--kill-long", action="store_true", help="Kill and resume the longer recording.")
    parser.add_argument("--vad", default="energy")
    options = parser.parse_args()
    sources = sorted(options.folder.glob("*.cha"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        short, long = (write_long(sources, minutes, folder) for minutes in options.minutes)
        figures = {path.stem: aligned(options, path, folder / "whole") for path in (short, long)}
        victim = long if options.kill_long else short
        windows = Recording.open(victim.with_suffix(".flac")).duration_s / _WINDOW_S
        kept = killed_half_way(command(options, victim, folder / "killed"), folder / "killed", windows)
        aligned(options, victim, folder / "killed")
        same = (folder / "killed" / victim.name).read_bytes() == (folder / "whole" / victim.name).read_bytes()
        left = [path.name for path in (folder / "killed").iterdir()]
        shutil.rmtree(folder / "killed")
    grown_mb = figures[long.stem]["peak_mb"] - figures[short.stem]["peak_mb"]
    result.write(
        "align_long",
        ("torch", "transformers"),
        f"{len(sources)} sessions of {options.folder} joined to {options.minutes} minutes, {options.model}",
        runs=figures,
        grown_mb=grown_mb,
        killed=victim.stem,
        windows_kept_when_killed=kept,
        same_bytes_after_kill=same,
        left_over=left,
        load=round(os.getloadavg()[2], 1),
    )
    sys.exit(not (grown_mb <= ALLOWED_MB and same and kept and left == [victim.name]))


if __name__ == "__main__":
    main()
