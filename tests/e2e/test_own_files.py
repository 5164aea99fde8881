"""A folder of SALT files and one of ELAN files become a checkpoint, as docs/formats.md says for each."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile as sf
from click.testing import CliRunner

from lsa_whisper import chat, manifest
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.cli import main
from lsa_whisper.system.shipped import NANO, STORYBOOK, shipped
from lsa_whisper.timespan import TimeSpan

SALT, ELAN = ("train01", "train02"), ("train03",)
SECONDS = 20


def run(*words):
    done = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def beginning(name, folder, *, timed):
    """Write the first seconds of a session and return its transcript, which has times even if the file has none."""
    corpus = shipped(STORYBOOK) / "train"
    whole = chat.read(corpus / f"{name}.cha")
    early = [each for each in whole.utterances if each.span.end_ms < 1000 * SECONDS]
    sound = Recording.open(corpus / f"{name}.flac").load(TimeSpan(0, 1000 * SECONDS))
    (folder / "sound").mkdir(exist_ok=True)
    sf.write(folder / "sound" / f"{name}.flac", sound, 16_000)
    kept = early if timed else [chat.utterance(each.speaker, each.text) for each in early]
    blocks = [block for block in whole.blocks if not isinstance(block, Utterance) and not block.name.startswith("@End")]
    place = folder / ("elan" if timed else "salt") / "originals"
    place.mkdir(parents=True, exist_ok=True)
    chat.write(Transcript([*blocks, *kept]), place / f"{name}.cha")
    return early


@pytest.mark.slow
def test_salt_and_elan_files_become_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = {name: beginning(name, tmp_path, timed=name in ELAN) for name in (*SALT, *ELAN)}
    for kind in ("salt", "eaf"):
        folder = tmp_path / ("salt" if kind == "salt" else "elan")
        run("convert", folder / "originals", "-o", folder / "files", "--format", kind)

    run("convert", tmp_path / "salt" / "files", "-o", tmp_path / "untimed", "--from", "slt")
    run("convert", tmp_path / "elan" / "files", "-o", tmp_path / "timed", "--from", "eaf")
    options = ("--audio", tmp_path / "sound", "--model", shipped(NANO), "--vad", "energy")
    run("align", tmp_path / "untimed", *options, "-o", tmp_path / "aligned")
    for name, utterances in before.items():
        after = chat.read(tmp_path / ("timed" if name in ELAN else "aligned") / f"{name}.cha").utterances
        assert [each.text for each in after] == [each.text for each in utterances]
        late = [
            abs(one.span.start_ms - other.span.start_ms)
            for one, other in zip(after, utterances, strict=True)
            if one.span
        ]
        assert len(late) >= 0.8 * len(utterances) and np.median(late) < 150

    corpora, sound = (tmp_path / "aligned", tmp_path / "timed"), tmp_path / "sound"
    run("prepare", *corpora, "--audio", sound, "-o", tmp_path / "data", "--context", "6")
    rows = [row for split in manifest.SPLITS for row in manifest.read(tmp_path / "data" / f"{split}.jsonl")]
    assert {row.session for row in rows} == set(before)
    few = ("--set", "training.max_steps=2", "--set", "training.warmup_steps=0")
    run("finetune", tmp_path / "data", "--model", shipped(NANO), "-o", tmp_path / "run", *few)
    assert (tmp_path / "run" / "model.safetensors").exists()
