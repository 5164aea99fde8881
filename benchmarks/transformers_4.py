"""Whether exported checkpoints load in transformers 4, which other programs still use, and give the same text.

    python -m benchmarks.transformers_4 models/nano corpora/storybook/test

Creates the environment ``build/transformers-4`` with torch and transformers 4.57, and transcribes the same windows in
it and here with the same few lines of plain transformers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path

import soundfile

from benchmarks import result
from lsa_whisper.checkpoint import export, load

ENVIRONMENT = Path("build/transformers-4")
PACKAGES = ("torch==2.13.0", "transformers==4.57.1", "soundfile")
WINDOWS = 10

PLAIN = """
import json, sys, soundfile, torch, transformers
folder, sounds = sys.argv[1], sys.argv[2:]
model = transformers.WhisperForConditionalGeneration.from_pretrained(folder).eval()
features = transformers.WhisperFeatureExtractor.from_pretrained(folder)
tokenizer = transformers.WhisperTokenizer.from_pretrained(folder)
texts = []
for sound in sounds:
    samples, rate = soundfile.read(sound, dtype="float32")
    heard = features(samples, sampling_rate=rate, return_tensors="pt").input_features
    with torch.no_grad():
        texts.append(tokenizer.decode(model.generate(heard, return_timestamps=True)[0], skip_special_tokens=True))
print(json.dumps({"version": transformers.__version__, "texts": texts}))
"""


def environment() -> Path:
    """Return the Python of the other environment, made when it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / ".ready").exists():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        for package in PACKAGES:  # torch first and by exact version, so that nothing asks for another build of it
            subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
        (ENVIRONMENT / ".ready").touch()
    return python


def written(python: Path, folder: Path, sounds: list[Path]) -> dict[str, object]:
    """Return what transformers writes down in the environment of ``python``, and its version."""
    command = [str(python), "-c", PLAIN, str(folder), *map(str, sounds)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    """Compare the two and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    work = ENVIRONMENT.parent / "transformers-4-data"
    exported = export(options.model, work / "exported")
    seconds = int(load(exported).context_s)
    sounds = []
    for recording in sorted(options.folder.glob("*.flac"))[:WINDOWS]:
        samples, rate_hz = soundfile.read(recording, stop=seconds * soundfile.info(recording).samplerate)
        sounds.append(work / f"{recording.stem}.wav")
        soundfile.write(sounds[-1], samples, rate_hz)
    here, there = (written(python, exported, sounds) for python in (Path(sys.executable), environment()))
    result.write(
        "transformers_4",
        ("torch", "transformers"),
        f"{len(sounds)} windows of {seconds} s from {options.folder}, {options.model}",
        other_transformers=there["version"],
        same_text=here["texts"] == there["texts"],
        texts=there["texts"],
    )
    if here["texts"] != there["texts"]:
        sys.exit(f"not the same text: {here['texts']}")


if __name__ == "__main__":
    main()
