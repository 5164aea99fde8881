"""Inputs as archives really hold them: a right manifest, or a counted reason; never a traceback or a silent loss."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.errors import CorpusError
from lsa_whisper.manifest import SPLITS, Segment
from lsa_whisper.preparation import Prepared, prepare
from lsa_whisper.timespan import TimeSpan

RATE_HZ = 16_000
LINES = 10
TEXT = "I want it too ."
Where = Callable[..., tuple[Prepared, list[Segment]]]


def sound(rate_hz: int, channels: int = 1) -> np.ndarray:
    """A tone of two seconds every two and a half, as the utterances of :func:`write` lie."""
    samples = np.zeros((LINES * 5 * rate_hz // 2, channels), np.float32)
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(2 * rate_hz) / rate_hz)
    for at in range(LINES):
        begin = at * 5 * rate_hz // 2 + rate_hz // 4
        samples[begin : begin + 2 * rate_hz] = tone[:, None]
    return samples


def write(folder: Path, name: str, *, media: str | None = None, text: str = TEXT, encoding: str = "utf-8") -> Path:
    """Write the transcript ``name`` to ``folder``; return where its recording goes, without its ending."""
    folder.mkdir(parents=True, exist_ok=True)
    head = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Target_Child\n@ID:\teng|x|CHI|||||Target_Child|||\n"
    tiers = "".join(f"*CHI:\t{text} \x15{at * 2500 + 250}_{at * 2500 + 2250}\x15\n" for at in range(LINES))
    transcript = f"{head}@Media:\t{media or name}, audio\n{tiers}@End\n"
    (folder / f"{name}.cha").write_bytes(transcript.encode(encoding))
    return folder / name


@pytest.fixture
def prepared(tmp_path) -> Where:
    """Return a function that prepares ``tmp_path/corpus``, checks that nothing is lost, and returns the rows."""

    def call(**options) -> tuple[Prepared, list[Segment]]:
        out = tmp_path / "out"
        done = prepare([tmp_path / "corpus"], out, without_timestamps=1.0, non_speech=0.0, **options)
        rows = [row for split in SPLITS for row in manifest.read(out / f"{split}.jsonl")]
        rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_text("utf-8").splitlines()]
        told = sum(split["utterances"] for split in done.splits.values())
        sessions = len(list((tmp_path / "corpus").rglob("*.cha"))) - sum(
            one["path"].endswith(".cha") for one in done.skipped_files
        )
        assert told + len(rejected) == LINES * sessions
        for row in rows:
            span = TimeSpan(round(row.offset * 1000), round((row.offset + row.duration) * 1000))
            samples = Recording.open(row.audio_filepath).load(span)
            assert len(samples) == pytest.approx(16 * span.duration_ms, abs=32)
            assert np.mean(np.abs(samples) > 0.01) > 0.6, "the window holds the tone"
        return done, rows

    return call


def good(folder: Path, name: str = "good") -> None:
    """A session without fault, so that there is something to prepare."""
    sf.write(write(folder, name, text="it is good .").with_suffix(".wav"), sound(RATE_HZ), RATE_HZ)


def rejected_as(done: Prepared) -> dict[str, int]:
    return {reason: int(count["utterances"]) for reason, count in done.rejected.items()}


@pytest.mark.parametrize("suffix", [".mp3", ".flac", ".wav", ".ogg", ".aiff"])
def test_a_truncated_recording_is_named_and_what_it_lost_is_rejected(tmp_path, prepared, suffix):
    path = write(tmp_path / "corpus", "s").with_suffix(suffix)
    sf.write(path, sound(44_100), 44_100)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    done, rows = prepared()
    assert set(rejected_as(done)) == {"past the end of the file"}
    assert 3 <= rejected_as(done)["past the end of the file"] <= 7 and rows
    (note,) = [note for note in done.notes if str(path) in note]
    assert "claims" in note or "cut off" in note


@pytest.mark.parametrize("claimed", [0xFFFFFFF0, 0x7FFFFFFF, 0, 17])
def test_a_wav_with_a_lying_header(tmp_path, prepared, claimed):
    good(tmp_path / "corpus")
    path = write(tmp_path / "corpus", "lie").with_suffix(".wav")
    sf.write(path, sound(RATE_HZ), RATE_HZ)
    data = bytearray(path.read_bytes())
    at = data.find(b"data")
    data[at + 4 : at + 8] = struct.pack("<I", claimed)
    path.write_bytes(data)
    done, rows = prepared()
    told = {row.session: row for row in rows}
    if claimed == 17:  # a header may claim less than there is: then the rest is no sound
        assert set(told) == {"good"} and rejected_as(done) == {"past the end of the file": LINES}
    else:
        assert set(told) == {"good", "lie"} and done.rejected == {}


def test_an_empty_file(tmp_path, prepared):
    good(tmp_path / "corpus")
    path = write(tmp_path / "corpus", "empty").with_suffix(".wav")
    path.touch()
    done, rows = prepared()
    assert {row.session for row in rows} == {"good"}
    (skipped_files,) = done.skipped_files
    assert Path(skipped_files["path"]).name == "empty.cha" and "the file is empty (0 bytes)" in skipped_files["reason"]


def test_nothing_but_an_empty_file(tmp_path):
    write(tmp_path / "corpus", "empty").with_suffix(".wav").touch()
    with pytest.raises(CorpusError, match=r"has a readable recording; .*the file is empty"):
        prepare([tmp_path / "corpus"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("rate_hz", "channels", "subtype"), [(8_000, 1, "ULAW"), (RATE_HZ, 6, "PCM_16"), (96_000, 1, "PCM_24")]
)
def test_unusual_sound(tmp_path, prepared, rate_hz, channels, subtype):
    path = write(tmp_path / "corpus", "s").with_suffix(".wav")
    sf.write(path, sound(rate_hz, channels), rate_hz, subtype=subtype)
    done, rows = prepared(shards=1)
    assert done.rejected == {} and done.splits["train"]["utterances"] == LINES and rows
    assert manifest.read(tmp_path / "out" / "train-00000-of-00001.parquet") == rows


def test_a_transcript_in_latin_1(tmp_path, prepared):
    path = write(tmp_path / "corpus", "s", text="un café très tôt .", encoding="latin-1")
    sf.write(path.with_suffix(".wav"), sound(RATE_HZ), RATE_HZ)
    done, rows = prepared(one_utterance=True)
    assert done.rejected == {} and {row.text for row in rows} == {"un café très tôt."}
    assert any(note.startswith("transcripts that are not UTF-8: 1;") for note in done.notes)


def test_bullets_beyond_the_end(tmp_path, prepared):
    path = write(tmp_path / "corpus", "s").with_suffix(".wav")
    sf.write(path, sound(RATE_HZ)[: 6 * RATE_HZ], RATE_HZ)
    done, rows = prepared()
    assert rejected_as(done) == {"past the end of the file": LINES - 2}
    assert all(row.offset + row.duration <= 6 for row in rows)


def test_spaces_and_letters_of_any_language_in_paths(tmp_path, prepared):
    place = tmp_path / "corpus" / "Ünïcode 録音 & co" / "it's «here»"
    sf.write(write(place, "é 1 $HOME %20").with_suffix(".wav"), sound(RATE_HZ), RATE_HZ)
    done, rows = prepared(shards=1, processes=2)
    assert done.rejected == {} and done.skipped_files == []
    assert {Path(row.audio_filepath) for row in rows} == {place / "é 1 $HOME %20.wav"}
    assert {row.session for row in rows} == {"Ünïcode 録音 & co/it's «here»/é 1 $HOME %20"}


def test_links_in_a_circle(tmp_path, prepared):
    good(tmp_path / "corpus" / "a")
    (tmp_path / "corpus" / "a" / "up").symlink_to(tmp_path / "corpus")
    (tmp_path / "corpus" / "a" / "self").symlink_to(tmp_path / "corpus" / "a")
    (tmp_path / "corpus" / "ring.wav").symlink_to(tmp_path / "corpus" / "ring.wav")
    (tmp_path / "corpus" / "nowhere.cha").symlink_to(tmp_path / "missing.cha")
    out = tmp_path / "out"
    done = prepare([tmp_path / "corpus"], out)
    assert {row.session for row in manifest.read(out / "train.jsonl")} == {"a/good"}
    assert sorted(Path(one["path"]).name for one in done.skipped_files) == ["nowhere.cha", "ring.wav"]


@pytest.mark.parametrize("media", ["../../etc/passwd", "/etc/passwd", "../secret", "../secret.wav", "..\\secret"])
def test_media_outside_the_root(tmp_path, prepared, media):
    good(tmp_path / "corpus")
    sf.write(tmp_path / "secret.wav", sound(RATE_HZ), RATE_HZ)
    write(tmp_path / "corpus", "s", media=media)
    done, rows = prepared(audio=tmp_path / "corpus")
    assert {Path(row.audio_filepath).name for row in rows} == {"good.wav"}
    (skipped_files,) = done.skipped_files
    assert Path(skipped_files["path"]).name == "s.cha" and "no recording named" in skipped_files["reason"]


def test_a_recording_that_vanishes_while_others_are_prepared(tmp_path, prepared, monkeypatch):
    import lsa_whisper.preparation.folder as room

    good(tmp_path / "corpus")
    sf.write(write(tmp_path / "corpus", "s").with_suffix(".wav"), sound(RATE_HZ), RATE_HZ)
    work = room.process_session

    def removes_the_other(session, split, options):
        (tmp_path / "corpus" / "s.wav").unlink(missing_ok=True)
        return work(session, split, options)

    monkeypatch.setattr(room, "process_session", removes_the_other)
    done, rows = prepared()
    assert {row.session for row in rows} == {"good"}
    assert "No such file" in done.skipped_files[0]["reason"]


def test_a_text_named_mp4(tmp_path, prepared):
    good(tmp_path / "corpus")
    write(tmp_path / "corpus", "s").with_suffix(".mp4").write_text("this is no film")
    done, rows = prepared()
    assert {row.session for row in rows} == {"good"} and "no audio can be read" in done.skipped_files[0]["reason"]
