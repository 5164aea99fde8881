"""Many recordings: finished ones are kept, bad ones are told, and nobody's work is written over."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from calls import contents_but_confidences

from lsa_whisper import chat
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription import Transcriber, TranscriptionOptions, transcribe
from lsa_whisper.transcription.files.cheap_checks import verify_call


@pytest.fixture
def folder(visit, tmp_path):
    """Two recordings, one of them silent and one folder deeper, and a file that is no recording."""
    inputs = tmp_path / "in"
    (inputs / "deep").mkdir(parents=True)
    shutil.copy(visit, inputs / "visit.wav")
    soundfile.write(inputs / "deep" / "quiet.wav", np.zeros(32_000, np.float32), 16_000)
    (inputs / "notes.txt").write_text("not audio")
    return inputs


def test_a_recording_becomes_chat_with_times(visit, scripted, tmp_path):
    result = transcribe([visit], model=scripted, out=tmp_path, corpus_name="Visits")
    assert [each.transcript for each in result.done] == [tmp_path / "visit.cha"] and not result.failed
    transcript = chat.read(tmp_path / "visit.cha", strict=True)
    assert chat.check(transcript) == []
    assert [each.text for each in transcript.utterances] == [
        "&-um I [/] I [/] I [/] I want it .",
        "the cat [//] the dog sat .",
    ] * 2
    starts = [each.span.start_ms for each in transcript.utterances]
    assert starts == sorted(starts) and abs(starts[0] - 1000) < 200 and abs(starts[2] - 9000) < 200
    assert transcript.media == "visit"
    assert "not checked by a person" in chat.serialize(transcript)


def test_paths_may_be_strings(visit, scripted, tmp_path):
    written = Transcriber(scripted).transcribe(str(visit)).transcript
    (done,) = transcribe(str(visit), model=str(scripted), out=str(tmp_path)).done
    assert [u.text for u in chat.read(done.transcript).utterances] == [u.text for u in written.utterances] != []


def test_finished_recordings_are_kept_and_bytes_do_not_change(folder, scripted, tmp_path, decoded):
    out = tmp_path / "out"
    first = transcribe([folder], model=scripted, out=out)
    assert set(decoded) == {"visit.wav", "quiet.wav"} and first.exit_code == 0
    assert set(contents_but_confidences(out)) == {"visit.cha", "deep/quiet.cha"}
    before, _ = contents_but_confidences(out), decoded.clear()
    again = transcribe([folder], model=scripted, out=out, batch_size=2)
    assert decoded == [] and all(each.skipped for each in again.done)
    (out / "visit.cha").unlink()
    transcribe([folder], model=scripted, out=out)
    assert decoded == ["visit.wav"] and contents_but_confidences(out) == before


@pytest.mark.parametrize("change", ["audio", "model", "settings"])
def test_other_audio_model_or_settings_are_transcribed_again(change, folder, tiny, scripted, tmp_path, decoded):
    transcribe([folder], model=scripted, out=tmp_path / "out")
    decoded.clear()
    options = {
        "model": tiny if change == "model" else scripted,
        "role": "Adult" if change == "settings" else "Participant",
    }
    if change == "audio":
        sound, rate_hz = soundfile.read(folder / "visit.wav")
        soundfile.write(folder / "visit.wav", sound[: 8 * rate_hz], rate_hz)
    transcribe([folder], out=tmp_path / "out", **options)
    assert sorted(decoded) == (["visit.wav"] if change == "audio" else ["quiet.wav", "visit.wav"])


def test_a_second_text_that_a_trained_model_does_not_write_changes_nothing(visit, scripted, tmp_path, decoded):
    for second_text in (True, False):
        (done,) = transcribe([visit], model=scripted, out=tmp_path, second_text=second_text).done
    assert decoded == ["visit.wav"] and done.skipped


def test_a_new_format_costs_no_decoding_and_carries_corrections(visit, scripted, tmp_path, decoded):
    transcribe([visit], model=scripted, out=tmp_path)
    target = tmp_path / "visit.cha"
    target.write_text(target.read_text().replace("the dog sat", "the frog sat"))
    decoded.clear()
    transcribe([visit], model=scripted, out=tmp_path, formats=["srt", "json"])
    assert decoded == []
    assert "the cat the frog sat." in (tmp_path / "visit.srt").read_text()
    assert json.loads((tmp_path / "visit.json").read_text())["utterances"][1]["chat"] == "the cat [//] the frog sat ."


def test_files_of_other_formats_by_other_programs_are_kept(visit, tiny, scripted, tmp_path, decoded):
    (tmp_path / "visit.TextGrid").write_text("by hand")
    with pytest.raises(LsaWhisperError, match=r"visit\.TextGrid: was not made from visit\.cha"):
        transcribe([visit], model=scripted, out=tmp_path, formats=["srt", "textgrid"])
    assert decoded == [] and set(contents_but_confidences(tmp_path)) == {"visit.TextGrid"}
    transcribe([visit], model=scripted, out=tmp_path, formats=["srt"])
    with pytest.raises(LsaWhisperError, match="move it"):  # beside a transcript of ours, too
        transcribe([visit], model=scripted, out=tmp_path, formats=["textgrid"])
    assert (tmp_path / "visit.TextGrid").read_text() == "by hand"

    target, subtitles = tmp_path / "visit.cha", tmp_path / "visit.srt"
    target.write_text(target.read_text().replace("the dog sat", "the frog sat"))
    transcribe([visit], model=scripted, out=tmp_path, formats=["srt"])  # ours of before the correction: made anew
    assert "frog" in subtitles.read_text()
    target.unlink()
    transcribe([visit], model=tiny, out=tmp_path, formats=["srt"])  # ours of another model, likewise
    assert "frog" not in subtitles.read_text()
    subtitles.write_text(subtitles.read_text() + "a note")
    with pytest.raises(LsaWhisperError, match="changed since"):
        transcribe([visit], model=tiny, out=tmp_path, formats=["srt"])
    (tmp_path / ".visit.made.json").write_text("{")  # damaged: what the transcript gives is still ours
    subtitles.write_text(subtitles.read_text().removesuffix("a note"))
    transcribe([visit], model=tiny, out=tmp_path, formats=["srt"])


def test_a_recording_named_twice_is_done_once(folder, scripted, tmp_path):
    shutil.copy(folder / "visit.wav", tmp_path / "visit.wav")
    named = [folder, folder / "visit.wav", tmp_path / "visit.wav"]
    assert transcribe(named[:2], model=scripted).table().endswith("2 transcribed, 0 kept, 0 failed")
    result = transcribe(named, model=scripted, out=tmp_path / "out")
    assert [each.path for each in result.failed] == [tmp_path / "visit.wav"]
    assert f"would replace that of {folder / 'visit.wav'}" in result.failed[0].reason


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"), RuntimeError("CUDA failed: out of memory")],
)
def test_out_of_memory_is_reported_with_a_remedy(error, visit, scripted, tmp_path, monkeypatch):
    def hungry(*_, **__):
        raise error

    monkeypatch.setattr(Transcriber, "transcribe_with_scores", hungry)
    with pytest.raises(LsaWhisperError, match="smaller --batch-size"):
        transcribe([visit], model=scripted, out=tmp_path)


def test_a_name_that_is_not_utf8_is_reported(visit, scripted, tmp_path):
    odd = tmp_path / os.fsdecode(b"visit-\xff.wav")
    shutil.copy(visit, odd)
    with pytest.raises(LsaWhisperError, match="rename it"):
        transcribe([odd], model=scripted, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_that_no_disk_takes_fails_alone(visit, scripted, tmp_path):
    result = transcribe([visit, tmp_path / ("a" * 300)], model=scripted, out=tmp_path)
    assert len(result.done) == 1 and "too long" in result.failed[0].reason


def test_many_recordings_may_be_named_at_once(tmp_path):
    """Their names together are longer than a path can be."""
    verify_call([tmp_path / f"{'visit' * 20}{number}.wav" for number in range(100)], TranscriptionOptions())


def test_a_run_that_dies_leaves_no_half_transcript(folder, scripted, tmp_path, monkeypatch):
    written = chat.write

    def dying(transcript, path):
        if path.name == "visit.cha":
            raise KeyboardInterrupt
        written(transcript, path)

    monkeypatch.setattr(chat, "write", dying)
    with pytest.raises(KeyboardInterrupt):
        transcribe([folder], model=scripted, out=tmp_path / "out")
    assert {name for name in contents_but_confidences(tmp_path / "out") if not name.startswith(".visit.")} == {
        "deep/quiet.cha"
    }
    monkeypatch.undo()
    result = transcribe([folder], model=scripted, out=tmp_path / "out")
    assert [each.skipped for each in result.done] == [True, False]
    assert set(contents_but_confidences(tmp_path / "out")) == {"deep/quiet.cha", "visit.cha"}


def test_a_long_recording_is_never_held_in_memory(scripted, visit, tmp_path):
    sound, rate_hz = soundfile.read(visit, dtype="float32")
    quiet = np.random.default_rng(0).normal(0, 1e-4, 60 * rate_hz).astype(np.float32)
    minutes = 12
    with soundfile.SoundFile(tmp_path / "long.wav", "w", rate_hz, 1) as long:
        for minute in range(minutes):
            long.write(sound if minute in (1, minutes - 1) else quiet)
    transcriber = Transcriber(scripted, batch_size=1)
    transcriber.transcribe(visit)  # what is imported and kept at the first call does not count
    tracemalloc.start()
    transcript = transcriber.transcribe(tmp_path / "long.wav").transcript
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(transcript.utterances) == 2 * 4
    assert peak_bytes < minutes * quiet.nbytes / 2


def test_progress_is_reported_in_order(scripted, visit, tmp_path):
    sound, rate_hz = soundfile.read(visit, dtype="float32")
    soundfile.write(tmp_path / "long.wav", np.tile(sound, 8), rate_hz)
    progress = []
    transcript = (
        Transcriber(scripted, batch_size=1).transcribe(tmp_path / "long.wav", progress=progress.append).transcript
    )
    assert len(transcript.utterances) == 32 and progress == sorted(progress) and len(progress) == 3


def test_importing_the_room_loads_no_model_library():
    code = "import sys, lsa_whisper.transcription, lsa_whisper.checkpoint, lsa_whisper.doctor as d\n"
    code += "print(sorted({'torch', 'transformers', 'peft'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "options", "remedy"),
    [
        ("a,b", {"rename_media": False}, "change the setting, or rename"),
        ("visit", {"role": "Mothr"}, "unknown role 'Mothr'; CHAT's roles are Adult, .*, Mother, .*, Witness$"),
        ("visit", {"speaker": "toolongcode"}, "has more than 8 characters; use three capital letters, such as CHI"),
        ("visit", {"speaker": "no code"}, "other characters than letters and digits; use three"),
    ],
)
def test_headers_that_chat_refuses_stop_before_decoding(name, options, remedy, visit, scripted, tmp_path, decoded):
    audio = Path(shutil.copy(visit, tmp_path / f"{name}.wav"))
    with pytest.raises(LsaWhisperError, match=remedy):
        transcribe([audio], model=scripted, out=tmp_path / "out", **options)
    assert decoded == [] and not (tmp_path / "out").exists()


def test_an_engine_that_takes_no_previous_text_is_refused_before_any_work(visit, scripted, tmp_path):
    with pytest.raises(LsaWhisperError, match="no previous text"):
        transcribe([visit], model=scripted, out=tmp_path / "out", engine="ct2", windows="sequential")
    assert not (tmp_path / "out").exists()
