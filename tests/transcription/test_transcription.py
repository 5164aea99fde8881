"""Speakers, reviews, logs and sequential windows through the whole command; and a run that is killed half-way."""

from __future__ import annotations

import csv
import shutil

import numpy as np
import pytest
import soundfile

from lsa_whisper import chat, checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.decoding import transformers_engine
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.lock import write_lock
from lsa_whisper.transcription import Transcriber, transcribe
from lsa_whisper.transcription.files.progress import ProgressMeter
from lsa_whisper.transcription.long_form import decode

RTTM = "SPEAKER visit 1 0.8 3.5 <NA> <NA> MOT <NA> <NA>\nSPEAKER visit 1 8.8 5 <NA> <NA> spk1 <NA> <NA>\n"


@pytest.fixture(scope="module")
def long(visit, tmp_path_factory):
    sound, rate_hz = soundfile.read(visit, dtype="float32")
    path = tmp_path_factory.mktemp("long") / "long.wav"
    soundfile.write(path, np.tile(sound, 4), rate_hz)
    return path


@pytest.mark.parametrize("windows", ["speech", "sequential"])
def test_a_killed_run_resumes_with_the_same_bytes(windows, long, scripted, tmp_path, monkeypatch):
    monkeypatch.setattr("lsa_whisper.transcription.long_form.decode._BATCHES_AT_ONCE", 2)
    options = {"model": scripted, "windows": windows, "batch_size": 1}
    transcribe([long], out=tmp_path / "whole", **options)
    decoded, original = [], TransformersDecoder.decode

    def dying(self, sounds):
        if len(decoded) == 2:
            raise KeyboardInterrupt
        decoded.append(len(sounds))
        return original(self, sounds)

    monkeypatch.setattr(TransformersDecoder, "decode", dying)
    with pytest.raises(KeyboardInterrupt):
        transcribe([long], out=tmp_path / "killed", **options)
    (kept,) = (tmp_path / "killed").iterdir()
    assert kept.name.startswith(".long.") and kept.name.endswith(".windows.jsonl")
    before, _ = sum(decoded), decoded.clear()
    monkeypatch.setattr(
        TransformersDecoder, "decode", lambda self, sounds: decoded.append(len(sounds)) or original(self, sounds)
    )
    transcribe([long], out=tmp_path / "killed", **options)
    assert before + sum(decoded) == 8
    assert {path.name for path in (tmp_path / "killed").iterdir()} == {"long.cha", ".long.confidences.json"}
    for name in ("long.cha", ".long.confidences.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_speakers_review_and_log(visit, scripted, tmp_path):
    (tmp_path / "turns.rttm").write_text(RTTM)
    result = transcribe(
        [visit],
        model=scripted,
        out=tmp_path / "out",
        speakers=tmp_path / "turns.rttm",
        review=tmp_path / "review.csv",
        log=tmp_path / "runs.log",
    )
    transcript = chat.read(result.done[0].transcript, strict=True)
    assert chat.check(transcript) == []
    assert [each.speaker for each in transcript.utterances] == ["MOT", "MOT", "PAR0", "PAR0"]
    assert {code: person.role for code, person in transcript.participants.items()} == {
        "MOT": "Mother",
        "PAR0": "Participant",
    }
    with (tmp_path / "review.csv").open(newline="") as file:
        sure = [float(row["confidence"]) for row in csv.DictReader(file)]
    assert sure == sorted(sure)
    transcribe(
        [visit], model=scripted, out=tmp_path / "out", speakers=tmp_path / "turns.rttm", log=tmp_path / "runs.log"
    )
    lines = [line.split("\t") for line in (tmp_path / "runs.log").read_text().splitlines()]
    assert [line[1] for line in lines] == ["outcome", "done", "kept"]
    assert lines[1][5:7] == ["4", str(sum(len(each.verbatim()) for each in transcript.utterances))]
    (tmp_path / "turns.rttm").write_text(RTTM.replace("MOT", "FAT"))
    table = tmp_path / "out" / ".visit.confidences.json"
    before = table.read_text()
    again = transcribe([visit], model=scripted, out=tmp_path / "out", speakers=tmp_path / "turns.rttm")
    assert not again.done[0].skipped and "*FAT:" in (tmp_path / "out" / "visit.cha").read_text()
    assert table.read_text() != before  # it is about the new transcript


def test_other_lines_of_a_turns_file_are_not_turns(visit, scripted, tmp_path):
    shutil.copy(visit, tmp_path / "visit.wav")
    (tmp_path / "visit.rttm").write_text(RTTM)
    for skipped in (False, True):
        done = transcribe([tmp_path], model=scripted, speakers=tmp_path, formats=["textgrid"]).done
        assert [each.skipped for each in done] == [skipped]
    assert "*MOT:" in (tmp_path / "visit.cha").read_text()


def test_turns_of_one_recording_are_not_those_of_another(visit, scripted, tmp_path):
    shutil.copy(visit, tmp_path / "other.wav")
    (tmp_path / "visit.rttm").write_text(RTTM)
    result = transcribe([visit, tmp_path / "other.wav"], model=scripted, out=tmp_path, speakers=tmp_path / "visit.rttm")
    assert len(result.done) == 1 and "no speaker turn for other.wav" in result.failed[0].reason
    shutil.move(tmp_path / "visit.cha", tmp_path / "kept.cha")
    result = transcribe([visit, tmp_path / "other.wav"], model=scripted, out=tmp_path, speakers=tmp_path / "kept.cha")
    assert not result.done and "covers one recording" in result.failed[0].reason


def test_a_finished_transcript_that_is_open_in_review_is_kept(visit, scripted, tmp_path):
    """Else a folder typed again in the evening would wait until the page of one transcript is closed."""
    transcribe([visit], model=scripted, out=tmp_path)
    with write_lock(tmp_path / "visit.cha", wait=False):
        assert transcribe([visit], model=scripted, out=tmp_path).done[0].skipped


def test_damaged_confidences_are_named(visit, scripted, tmp_path):
    transcribe([visit], model=scripted, out=tmp_path)
    own = tmp_path / ".visit.confidences.json"
    plain = own.read_text()
    for broken in (plain[:-9], plain.replace('"logprobs": [', '"logprobs": [0.1, '), plain.replace("slope", "slop")):
        own.write_text(broken)
        with pytest.raises(LsaWhisperError, match=r"visit\.confidences\.json: cannot be read as confidences"):
            transcribe([visit], model=scripted, out=tmp_path, review=tmp_path / "r.csv")


def test_bad_turns_stop_before_anything_is_decoded(visit, scripted, tmp_path, monkeypatch):
    monkeypatch.setattr(Transcriber, "transcribe_with_scores", None)
    (tmp_path / "turns.rttm").write_text("SPEAKER visit 1 here 3 <NA> <NA> A <NA>\n")
    with pytest.raises(LsaWhisperError, match=r"turns\.rttm:1"):
        transcribe([visit], model=scripted, out=tmp_path / "out", speakers=tmp_path / "turns.rttm")
    with pytest.raises(LsaWhisperError, match="speech or sequential"):
        transcribe([visit], model=scripted, out=tmp_path / "out", windows="sliding")
    assert not (tmp_path / "out").exists()


def test_a_corrected_transcript_stays_in_the_review(visit, scripted, tmp_path):
    transcribe([visit], model=scripted, out=tmp_path)
    corrected = (tmp_path / "visit.cha").read_text().replace(" .", " &-um .", 1)
    (tmp_path / "visit.cha").write_text(corrected)
    result = transcribe([visit], model=scripted, out=tmp_path, review=tmp_path / "r.csv")
    assert not result.without_review and (tmp_path / "visit.cha").read_text() == corrected
    assert (tmp_path / "r.csv").read_text().startswith("confidence,kind,file")
    (tmp_path / ".visit.confidences.json").unlink()  # as if written by an earlier version
    result = transcribe([visit], model=scripted, out=tmp_path, review=tmp_path / "r.csv")
    assert result.without_review == (tmp_path / "visit.cha",)
    assert "another folder" in result.table() and "delete" not in result.table()


def test_the_previous_text_is_the_prompt(scripted, monkeypatch):
    loaded = checkpoint.load(scripted)
    loaded.tokenizer.add_tokens(["<|startofprev|>"], special_tokens=True)
    asked, original = [], transformers_engine.greedy_search

    def noted(model, hidden, searches, *inputs, **options):
        asked.extend(searches[0].prompts.tolist())
        return original(model, hidden, searches, *inputs, **options)

    monkeypatch.setattr(transformers_engine, "greedy_search", noted)
    decoder = TransformersDecoder(loaded)
    for previous in ("the cat sat " * 90, ""):
        decoder.decode_with_prompt(np.zeros(16_000, np.float32), previous)
    begin = loaded.tokenizer.convert_tokens_to_ids("<|startofprev|>")
    said = loaded.tokenizer.encode(" " + ("the cat sat " * 90).strip(), add_special_tokens=False)
    assert asked == [[begin, *said[-63:], *asked[1]], asked[1]] and begin not in asked[1]


@pytest.mark.parametrize(
    ("options", "stay"),
    [({}, True), ({"find_skipped": True}, False), ({"find_skipped": True, "word_times": True}, True)],
)
def test_token_times_stay_unless_only_the_search_for_skipped_speech_needs_them(
    options, stay, visit, scripted, monkeypatch
):
    removed = []
    monkeypatch.setattr(decode, "without_token_times", lambda window: removed.append(window) or window)
    Transcriber(scripted, **options).transcribe(Recording.open(visit))
    assert bool(removed) is not stay


def test_sequential_windows_give_valid_chat_inside_the_recording(visit, scripted):
    transcript = Transcriber(scripted, windows="sequential").transcribe(Recording.open(visit)).transcript
    assert chat.check(transcript) == [] and len(transcript.utterances) >= 4
    assert max(each.span.end_ms for each in transcript.utterances) <= 15_500


def test_the_remaining_time_follows_from_decoded_audio(capsys):
    times = [0.0]
    meter = ProgressMeter(1000.0, clock=lambda: times[0])
    meter.finish("kept.wav", 400.0)
    meter.update(100.0)  # an earlier run did these
    times[0] = 20.0
    meter.update(200.0)
    assert meter.left_s() == 400 * 20 / 100
    times[0] = 70.0
    meter.update(300.0)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "kept.wav: 400 of 1000 s of audio done"
    assert said[1] == "in progress: 700 of 1000 s of audio done, about 0:01:45 left"
