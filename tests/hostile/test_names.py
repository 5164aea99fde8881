"""Names and values that mean harm, through every verb: nothing outside the output is written, and pages stay inert."""

from __future__ import annotations

import hashlib
import json
import os
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner

from lsa_whisper import chat, manifest
from lsa_whisper.audio import Recording
from lsa_whisper.cli import main
from lsa_whisper.errors import AudioError, ChatSyntaxError
from lsa_whisper.preparation import prepare
from lsa_whisper.transcription.assembly.speaker_turns import find_turns

NANO = Path(__file__).parents[2] / "models" / "nano"
SCRIPT = "<script>alert(1)</script>"
FILES = [
    "-rf",
    "<script>alert(1)",
    "two\nlines",
    "\x1b[31mred\x07",
    "..\\up",
    "..",
    "$(touch HARM)",
    "`touch HARM`;touch HARM|",
    "{{7*7}}{% raw %}",
    "%2e%2e%2fup",
    "[bold]&'\"<!--",
    "é狗\u202e",
]
SEEN = sum(not name.startswith(".") for name in FILES)
REFUSED = 8  # names that CLAN cannot read in @Media
MEDIA = ["../../outside/secret", "/etc/passwd", "outside/secret.wav", "..", "-rf", SCRIPT]
SPEAKERS = ["../../up", SCRIPT, "-o", "\x1b[2J", "{{7*7}}", "CHI"]


def transcript(media, text=f"I want {SCRIPT} [/] it ."):
    head = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI ../../<b>x</b> Target_Child\n"
    head += f"@ID:\teng|../../c|CHI|4;06.||<i>g</i>||Target_Child|||\n@Media:\t{media}, audio\n"
    return f"{head}*CHI:\t{text} \x15100_1400\x15\n%com:\t\x1b[2J{SCRIPT}\n@End\n"


def tone(pitch=0):
    time_s = np.arange(24_000) / 16_000
    return 0.3 * np.sin(2 * np.pi * (300 + 20 * pitch) * time_s) * np.sin(2 * np.pi * 2 * time_s)


def contents(folder, *, but):
    """Return everything below ``folder`` except in ``but``: links by where they lead, files by what they hold."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_relative_to(but):
            continue
        if path.is_symlink():
            found[path] = str(path.readlink())
        else:
            found[path] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
    return found


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a corpus of such files, a secret beside it, and links that lead out; we stand in it."""
    corpus, outside = tmp_path / "corpus", tmp_path / "outside"
    corpus.mkdir(), outside.mkdir(), (tmp_path / "turns").mkdir()
    soundfile.write(outside / "secret.wav", tone(), 16_000)
    (outside / "secret.cha").write_text(transcript("secret"))
    for number, name in enumerate(FILES):
        media = MEDIA[number % len(MEDIA)] if number % 2 else name
        (corpus / f"{name}.cha").write_text(transcript(media, f"I want {SCRIPT} [/] it {'very ' * number}."))
        soundfile.write(corpus / f"{name}.flac", tone(number), 16_000, format="FLAC")
        rttm = f"SPEAKER ../../x 1 0.1 1.2 <NA> <NA> {SPEAKERS[number % len(SPEAKERS)]} <NA> <NA>\n"
        (tmp_path / "turns" / f"{name}.rttm").write_text(rttm)
    (corpus / "folder_link").symlink_to(outside)
    (corpus / "loop").symlink_to(corpus)
    (corpus / "dead.wav").symlink_to("/nonexistent/a.wav")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "out"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "out" / "cache"))
    return tmp_path


def run(place, *words, exit_code=0):
    """Run a command; nothing but what is in ``out`` may have changed, and nothing steers the terminal."""
    (place / "out").mkdir(exist_ok=True)
    before = contents(place, but=place / "out")
    done = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert contents(place, but=place / "out") == before
    assert done.exit_code == exit_code, done.output
    assert not {"\x1b", "\x07"} & set(done.output), words[0]
    return done


class Inert(HTMLParser):
    """Collects what could do something in a page."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.wrong = [], []
        text = page.read_text("utf-8")
        self.wrong += [(tag, "") for tag in ("<script>alert", "<b>x", "<i>g") if tag in text]
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "script":
            self.scripts.append(dict(attributes).get("type"))
        self.wrong += [(tag, name) for name, value in attributes if name.startswith("on")]
        self.wrong += [(tag, value) for name, value in attributes if name == "href" and "script:" in (value or "")]


def test_prepare_and_inspect(place):
    out = place / "out"
    run(place, "prepare", "corpus", "-o", out / "data", "--shards", "1", "--non-speech", "0")
    rows = [row for split in manifest.SPLITS for row in manifest.read(out / "data" / f"{split}.jsonl")]
    assert len(rows) >= SEEN // 2
    assert {Path(row.audio_filepath).parent for row in rows} <= {place / "corpus", place / "corpus" / "folder_link"}
    page = out / "page.html"
    shown = run(place, "inspect", out / "data", "-o", page).output
    assert "Traceback" not in shown
    assert Inert(page).scripts == [] and Inert(page).wrong == []
    run(place, "inspect", "corpus")
    run(place, "inspect", "corpus", "--check", exit_code=1)  # their words contain digits and slashes


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/dev/zero"), os.mkfifo], ids=["endless", "pipe"])
def test_endless_files_are_not_read(place, make):
    for name in ("corpus/endless.cha", "turns/-rf.TextGrid", "endless.wav"):
        make(place / name)
    with pytest.raises(ChatSyntaxError, match="not a file"):
        chat.read(place / "corpus" / "endless.cha")
    with pytest.raises(AudioError, match="not a file"):
        Recording.open(place / "endless.wav")
    assert find_turns(place / "turns", Path("-rf.wav")).name == "-rf.rttm"
    data = place / "out" / "data"
    done = prepare([place / "corpus"], data, non_speech=0.0)
    assert [one["path"] for one in done.skipped_files if "is a device or a pipe" in one["reason"]]


def test_transcribe(place):
    formats = [part for name in ("srt", "vtt", "textgrid", "eaf", "salt", "json", "txt") for part in ("--format", name)]
    words = ["--model", NANO, "-o", "out/t", *formats, "--review", "out/review.csv", "--log", "out/log.tsv"]
    refused = run(place, "transcribe", "corpus", *words[:4], "--no-rename-media", exit_code=REFUSED + 1)
    assert (
        "dead.wav: no such recording" in refused.stdout
        and "rename the recording to script_alert_1.flac" in refused.stdout
        and "rename the recording to two_lines.flac" in refused.stdout
    )
    assert len(list((place / "out" / "t").glob("*.cha"))) == SEEN - REFUSED
    done = run(place, "transcribe", "corpus", *words, "--speakers", "turns", "--rename-media", exit_code=1)
    assert "dead.wav: no such recording" in done.stdout
    made = {path for path in (place / "out" / "t").rglob("*") if path.is_file()}
    assert {path.parent for path in made} == {place / "out" / "t"}
    written = [path for path in made if path.suffix == ".cha"]
    assert len(written) == SEEN
    assert {chat.read(path).media for path in written} == {path.stem for path in written}
    for path in written:
        codes = {each.speaker for each in chat.read(path).utterances}
        assert all(code.isalnum() for code in codes), codes
    assert len((place / "out" / "log.tsv").read_text().splitlines()) == 1 + SEEN + 1


def test_a_link_at_the_transcript_path_is_not_followed(place):
    (place / "out").mkdir()
    (place / "out" / "secret.cha").symlink_to(place / "outside" / "secret.cha")
    done = run(place, "transcribe", "outside/secret.wav", "--model", NANO, "-o", "out", exit_code=1)
    assert "was not written by lsa-whisper" in done.output
    (place / "out" / "secret.srt").symlink_to(place / "outside" / "secret.cha")
    (place / "out" / "secret.cha").unlink()
    words = ("transcribe", "outside/secret.wav", "--model", NANO, "-o", "out", "--format", "srt")
    assert "out/secret.srt: a symbolic link" in run(place, *words, exit_code=1).output
    (place / "out" / "secret.srt").unlink()
    (place / "out" / "secret.srt").symlink_to(place / "outside" / "new.srt")
    run(place, *words)
    assert not (place / "out" / "secret.srt").is_symlink() and not (place / "outside" / "new.srt").exists()


def test_evaluate(place):
    hypotheses = place / "hypotheses"
    hypotheses.mkdir()
    for name in FILES:
        (hypotheses / f"{name}.cha").write_text(transcript(name, f"I won't {SCRIPT} ."))
    named = ["--name", f"../../{SCRIPT}", "--name", "-x\x1b[2J\n| a |"]
    run(place, "evaluate", "corpus", hypotheses, hypotheses, *named, "-o", "out/report", "--audio", "corpus")
    page = Inert(place / "out" / "report" / "report.html")
    assert page.wrong == [] and len(page.scripts) == 3  # our own; the rows and the pictures of sounds as JSON
    assert {path.name for path in (place / "out" / "report").iterdir()} == {
        "report.html",
        "report.md",
        "report.json",
        "summary.html",
    }


ROWS = [
    {"audio_filepath": "../../../../etc/passwd"},
    {"audio_filepath": "/dev/zero"},
    {"audio_filepath": "/dev/stdin"},
    {"audio_filepath": "\x00"},
    {"audio_filepath": "two\nlines\x1b[2J"},
    {"audio_filepath": SCRIPT, "session": f"../../{SCRIPT}", "speaker": "../..", "text": f"{SCRIPT} \x1b[2J"},
]


@pytest.mark.parametrize("row", ROWS)
def test_manifest_rows(place, row):
    out = place / "out"
    out.mkdir()
    whole = {"audio_filepath": "a.wav", "offset": 0, "duration": 1, "text": "a"} | row
    (out / "train.jsonl").write_text(json.dumps(whole) + "\n")
    done = CliRunner().invoke(main, ["inspect", str(out), "-o", str(out / "page.html")], catch_exceptions=False)
    assert not {"\x1b", "\x07"} & set(done.output)
    page = Inert(out / "page.html")
    assert page.scripts == [] and page.wrong == []
