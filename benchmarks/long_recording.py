"""Memory for a recording of hours and of minutes, and resuming a killed run.

    python -m benchmarks.long_recording models/nano corpora/storybook/test
    python -m benchmarks.long_recording models/nano corpora/storybook/test --minutes 2 6   # a quick look

The recordings of the folder are repeated into FLAC files of the given lengths. Each is transcribed with both
engines, each time in a new process; the longest is transcribed again in a process that is killed half-way, and then
resumed.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

import soundfile

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording

ALLOWED_MB = 40
_RUN = (
    "import resource, sys\nfrom pathlib import Path\nfrom lsa_whisper.transcription import transcribe\n"
    "transcribe([Path(sys.argv[2])], model=sys.argv[1], out=Path(sys.argv[3]), windows=sys.argv[4], vad=sys.argv[5],\n"
    "    engine=sys.argv[6])\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
)


def write_long(sources: list[Path], minutes: float, path: Path) -> Path:
    """Write a recording of ``minutes`` by repeating ``sources``, with one of them in memory at a time."""
    left = round(60 * minutes * SAMPLE_RATE_HZ)
    with soundfile.SoundFile(path, "w", SAMPLE_RATE_HZ, 1) as file:
        for source in cycle(sources):
            sound = Recording.open(source).load()[:left]
            file.write(sound)
            left -= len(sound)
            if left <= 0:
                return path
    return path


def command(options: argparse.Namespace, audio: Path, out: Path, engine: str = "transformers") -> list[str]:
    """Return the command that transcribes in a new process."""
    return [sys.executable, "-c", _RUN, options.model, str(audio), str(out), options.windows, options.vad, engine]


def transcribed(options: argparse.Namespace, audio: Path, out: Path, engine: str = "transformers") -> dict[str, float]:
    """Transcribe in a new process and return its peak memory and time."""
    began = time.monotonic()
    ran = subprocess.run(command(options, audio, out, engine), check=True, stdout=subprocess.PIPE, text=True)
    return {"peak_mb": round(float(ran.stdout.split()[-1])), "took_s": round(time.monotonic() - began, 1)}


def killed_half_way(arguments: list[str], out: Path, windows: float) -> int:
    """Kill a run when half of its windows are stored in ``out``, and return how many were."""
    running = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    kept = 0
    while running.poll() is None and kept < windows / 2:
        time.sleep(0.2)
        kept = sum(path.read_bytes().count(b'"segments"') for path in out.glob(".*.windows.jsonl"))
    running.send_signal(signal.SIGKILL)
    running.wait()
    return kept


def main() -> None:
    """Measure, compare and write the result; exits with 1 if memory or the resumed transcript is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, nargs=2, default=(2.0, 120.0))
    parser.add_argument("--windows", default="speech")
    parser.add_argument("--vad", default="energy")
    options = parser.parse_args()
    sources = sorted(options.folder.glob("*.flac"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        short, long = (write_long(sources, minutes, folder / f"m{minutes:g}.flac") for minutes in options.minutes)
        transcribed(options, short, folder / "converted", "ct2")  # converts the model, which needs memory, too
        figures = {
            engine: {path.stem: transcribed(options, path, folder / engine, engine) for path in (short, long)}
            for engine in ("transformers", "ct2")
        }
        transcript = chat.read(folder / "transformers" / f"{long.stem}.cha", strict=True)
        # About one window per three utterances; half of them is close enough to half-way.
        windows = max(2, len(transcript.utterances) // 3)
        kept = killed_half_way(command(options, long, folder / "killed"), folder / "killed", windows)
        again = transcribed(options, long, folder / "killed")
        same = (folder / "killed" / f"{long.stem}.cha").read_bytes() == transcript_bytes(folder, long)
        left = sorted(path.name for path in (folder / "killed").iterdir())
    grown_mb = {engine: runs[long.stem]["peak_mb"] - runs[short.stem]["peak_mb"] for engine, runs in figures.items()}
    problems = [str(problem) for problem in chat.check(transcript)]
    result.write(
        "long_recording",
        ("torch", "transformers", "ctranslate2"),
        f"{len(sources)} recordings of {options.folder} repeated to {options.minutes} minutes, {options.model}",
        runs=figures,
        grown_mb=grown_mb,
        windows_kept_when_killed=kept,
        took_again_s=again["took_s"],
        same_bytes_after_kill=same,
        left_over=left,
        utterances=len(transcript.utterances),
        chat_problems=len(problems),
    )
    whole = left == [f".{long.stem}.confidences.json", f"{long.stem}.cha"]
    sys.exit(not (max(grown_mb.values()) <= ALLOWED_MB and same and kept and not problems and whole))


def transcript_bytes(folder: Path, long: Path) -> bytes:
    """Return the transcript of the uninterrupted run."""
    return (folder / "transformers" / f"{long.stem}.cha").read_bytes()


if __name__ == "__main__":
    main()
