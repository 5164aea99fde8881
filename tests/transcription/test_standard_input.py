"""- is standard input, and what libmpg123 says of a damaged MP3 goes into the log, not to the terminal."""

from __future__ import annotations

import subprocess
import sys

import pytest
import soundfile
from click.testing import CliRunner

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.cli import main
from lsa_whisper.transcription import transcribe


def typed(*words, sound=b""):
    return CliRunner().invoke(main, ["transcribe", *map(str, words)], input=sound, catch_exceptions=False)


def test_the_transcript_of_standard_input_is_printed_or_written(visit, scripted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = typed("-", "--model", scripted, "--vad", "energy", sound=visit.read_bytes())
    transcript = chat.parse(done.stdout, strict=True)
    assert done.exit_code == 0 and chat.check(transcript) == [] and len(transcript.utterances) == 4
    assert not list(tmp_path.iterdir())
    done = typed("-", visit, "-o", "out", "--model", scripted, "--vad", "energy", sound=visit.read_bytes())
    assert "2 transcribed, 0 kept, 0 failed" in done.stdout
    assert {path.name for path in (tmp_path / "out").glob("*.cha")} == {"stdin.cha", "visit.cha"}


@pytest.mark.parametrize(
    ("words", "sound", "reason"),
    [
        (("-",), b"", "standard input, which is empty"),
        (("-", "other.wav"), b"RIFF", "give -o"),
        (("-",), b"not audio at all", "no audio can be read"),
    ],
)
def test_what_is_wrong_with_standard_input_is_one_sentence(words, sound, reason, scripted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = typed(*words, "--model", scripted, sound=sound)
    assert done.exit_code == 1 and reason in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.fixture
def damaged(visit, tmp_path):
    """An MP3 with a gap of noise in the middle."""
    sound, rate_hz = soundfile.read(visit)
    path = tmp_path / "damaged.mp3"
    soundfile.write(path, sound, rate_hz)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 3000] = bytes(at * 37 % 251 for at in range(3000))
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", ["damaged.mp3", "damaged.wav"])
def test_what_the_decoder_says_is_kept(name, damaged, capfd):
    recording = Recording.open(damaged.rename(damaged.with_name(name)))
    recording.load()
    assert any("mpg123" in each for each in recording.messages)
    assert capfd.readouterr().err == ""


def test_it_goes_into_the_log(damaged, scripted, tmp_path, capfd):
    result = transcribe([damaged], model=scripted, out=tmp_path / "out", log=tmp_path / "log")
    assert "the decoder said: " in (tmp_path / "log").read_text() and "mpg123" not in result.table()
    assert "mpg123" not in capfd.readouterr().err


def test_what_others_write_meanwhile_is_shown(damaged):
    code = (
        "import os\nfrom lsa_whisper.audio.damaged import keep_messages\nkept = []\n"
        "with keep_messages(kept):\n"
        "    os.write(2, b'a bar\\n[src/libmpg123/layer3.c] error: x\\n')\n"
        "print(kept)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "a bar\n" and "layer3.c" in done.stdout
