"""Parquet shards: the manifest's rows and the sound of each window, in order, whatever the number of files."""

import io
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from calls import contents

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError, CorpusError, ManifestError
from lsa_whisper.manifest import SPLITS, Segment
from lsa_whisper.preparation import prepare
from lsa_whisper.preparation.shards import ROW_GROUP
from lsa_whisper.timespan import TimeSpan


def shards_of(out: Path, split: str) -> list[Path]:
    return sorted(out.glob(f"{split}-*.parquet"))


@pytest.fixture
def corpus(session, talk) -> Path:
    for name in ("a", "b", "c", "d", "e"):
        folder = session(name, talk(40))
    return folder


def test_shards_hold_the_rows_and_sound_of_the_manifest(corpus, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", Path(tmp_path / "cache"))
    out = tmp_path / "out"
    prepare([corpus], out, one_utterance=True, shards=3)
    for split in SPLITS:
        rows = manifest.read(out / f"{split}.jsonl")
        assert rows and [path.name for path in shards_of(out, split)] == [
            f"{split}-{at:05}-of-00003.parquet" for at in range(3)
        ]
        assert [row for path in shards_of(out, split) for row in manifest.read(path)] == rows
    files = {split: [str(path) for path in shards_of(out, split)] for split in SPLITS}
    streamed = datasets.load_dataset("parquet", data_files=files, streaming=True)
    rows = manifest.read(out / "train.jsonl")
    assert len(rows) > 3 * ROW_GROUP
    for row, found in zip(rows, streamed["train"], strict=True):
        samples, rate = sf.read(io.BytesIO(found["audio"]["bytes"]), dtype="float32")
        start_ms = round(row.offset * 1000)
        cut = Recording.open(row.audio_filepath).load(TimeSpan(start_ms, start_ms + round(row.duration * 1000)))
        assert rate == 16_000 and found["audio"]["path"].endswith(".flac")
        np.testing.assert_allclose(samples, cut, atol=2**-15)
        assert (found["text"], found["speaker"], found["duration"]) == (row.text, row.speaker, row.duration)
        assert (out / found["audio_filepath"]).resolve() == Path(row.audio_filepath)


@pytest.mark.slow
def test_the_bytes_depend_on_nothing_but_the_corpus(corpus, tmp_path):
    for out, processes in (("one", 1), ("two", 1), ("three", 2)):
        prepare([corpus], tmp_path / out, one_utterance=True, shards=2, processes=processes)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


def test_shards_of_an_earlier_call_are_removed(corpus, tmp_path):
    prepare([corpus], tmp_path / "out", shards=2)
    (tmp_path / "out" / "mine.parquet").touch()
    assert len(shards_of(tmp_path / "out", "train")) == 2
    prepare([corpus], tmp_path / "out", shards=1)
    assert [path.name for path in shards_of(tmp_path / "out", "train")] == ["train-00000-of-00001.parquet"]
    prepare([corpus], tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").glob("*.parquet")] == ["mine.parquet"]


def test_other_files_in_the_folder_are_kept(corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    others = ["train-00000-of-00009.parquet", ".thesis.partial", ".train.jsonl.mine", ".parts.old"]
    for name in others:
        (out / name).write_text("mine")
    prepare([corpus], out, shards=2)
    prepare([corpus], out)
    assert sorted(path.name for path in out.iterdir() if path.read_text() == "mine") == sorted(others)
    assert [path.name for path in out.glob("*.parquet")] == [others[0]]


def prepare_and_exit_at(corpus: Path, out: Path, name: str, status: int) -> None:
    """Prepare, and end the process just before the file ``name`` gets its name."""
    rename = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if target.name == name:
            os._exit(status)
        return rename(path, target)

    Path.replace = replace  # type: ignore[method-assign]
    prepare([corpus], out, shards=3)


def test_shards_of_a_call_that_was_killed_while_it_renamed_them_are_removed(corpus, tmp_path):
    out, context = tmp_path / "out", multiprocessing.get_context("spawn")
    call = context.Process(target=prepare_and_exit_at, args=(corpus, out, "dev-00000-of-00003.parquet", 9))
    call.start()
    call.join()
    assert call.exitcode == 9 and shards_of(out, "train") and not shards_of(out, "dev")
    assert sorted(path.name for path in out.glob(".*.partial"))
    prepare([corpus], out)
    assert not list(out.glob("*.parquet")) and not list(out.glob(".*"))


def test_a_split_without_rows_is_one_empty_shard(session, talk, tmp_path):
    prepare([session("s", talk(5))], tmp_path / "out", shards=4, one_utterance=True)
    assert len(shards_of(tmp_path / "out", "train")) == 4
    (empty,) = shards_of(tmp_path / "out", "dev")
    assert manifest.read(empty) == []


def test_a_recording_that_vanished_is_one_sentence_and_no_half_written_folder(corpus, tmp_path, monkeypatch):
    import lsa_whisper.preparation.folder as room

    def vanishes(planned, out, processes):
        (corpus / "a.wav").unlink()
        write(planned, out, processes)

    write = room.write_shards
    monkeypatch.setattr(room, "write_shards", vanishes)
    with pytest.raises(AudioError, match=r"a\.wav: no such recording"):
        prepare([corpus], tmp_path / "out", shards=2)
    assert not [path for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")]


def test_a_file_that_is_no_parquet(tmp_path):
    (tmp_path / "train.parquet").write_text("{}")
    with pytest.raises(ManifestError, match=r"train\.parquet: not a Parquet file"):
        manifest.read(tmp_path / "train.parquet")


def test_a_parquet_manifest_of_another_tool(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    row = {"audio_filepath": "a.wav", "offset": 0.5, "duration": 2, "text": "&-um no .", "extra": 7}
    parquet.write_table(pa.Table.from_pylist([row]), tmp_path / "x.parquet")
    assert manifest.read(tmp_path / "x.parquet") == [Segment(str(tmp_path / "a.wav"), 0.5, 2.0, "&-um no .")]
    parquet.write_table(pa.Table.from_pylist([{**row, "text": None}]), tmp_path / "x.parquet")
    with pytest.raises(ManifestError, match=r"x\.parquet:1: 'text' must be text"):
        manifest.read(tmp_path / "x.parquet")


def test_a_negative_number_of_shards(corpus, tmp_path):
    with pytest.raises(CorpusError, match="`shards=-1`"):
        prepare([corpus], tmp_path / "out", shards=-1)
