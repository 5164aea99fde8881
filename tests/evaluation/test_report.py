import errno
import html
import json
import re
import shutil
import subprocess
import wave
from html.parser import HTMLParser

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.errors import CorpusError
from lsa_whisper.evaluation import evaluate
from lsa_whisper.evaluation.pairing import find_audio
from lsa_whisper.timespan import TimeSpan

EVIL = "</script><script>document.title='broken_in'</script><img/src=x/onerror=alert(1)>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def write(path, texts, speaker="CHI"):
    path.parent.mkdir(parents=True, exist_ok=True)
    said = [chat.utterance(speaker, text, TimeSpan(2000 * n, 2000 * n + 1500)) for n, text in enumerate(texts)]
    participants = [Participant(speaker, "Target_Child")]
    chat.write(chat.compose(languages=["eng"], participants=participants, utterances=said), path)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report over two files and two systems; a transcript and a system's name hold markup."""
    folder = tmp_path_factory.mktemp("evaluation")
    write(folder / "reference" / "a.cha", ["all is well .", f"&-um I say {EVIL} [/] twice .", "one two three four ."])
    write(folder / "reference" / "b & c.cha", ["no | yes ."])
    write(folder / "first" / "a.cha", ["all is well .", f"I say {EVIL} .", "five six seven eight ."])
    write(folder / "first" / "b & c.cha", ["no | yes ."])
    write(folder / "second" / "a.cha", ["all is well ."])
    with wave.open(str(folder / "reference" / "b & c.wav"), "wb") as recording:
        recording.setparams((1, 2, 8000, 0, "NONE", ""))
        recording.writeframes(bytes(16000))
    evaluate(
        folder / "reference",
        [folder / "first", folder / "second"],
        names=["first", "<b>second</b>"],
        out=folder / "report",
        audio=folder / "reference",
        samples=100,
    )
    return folder / "report"


class Page(HTMLParser):
    """Collects the tags, the links and the scripts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.scripts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in {"src", "href", "action", "data"}]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def page(report):
    return Page((report / "report.html").read_text(encoding="utf-8"))


def test_nothing_from_a_transcript_becomes_markup(page, report):
    assert page.tags.count("script") == 3 and "img" not in page.tags and "b" not in page.tags
    markdown = (report / "report.md").read_text(encoding="utf-8")
    assert "<script" not in markdown and "<b>" not in markdown and "&lt;b&gt;second" in markdown


def test_the_page_needs_nothing_from_elsewhere(page):
    assert page.addresses and all(address[0] == "#" or address == "summary.html" for address in page.addresses)
    assert not re.search(r"https?://|url\(|@import", page.scripts[-1])


def test_the_page_holds_every_utterance_and_links_the_recording(page):
    data = json.loads(page.scripts[0])
    assert data["systems"] == ["first", "<b>second</b>"] and data["left_out"] == 0
    assert data["files"] == [["a", None], ["b & c", "../reference/b%20%26%20c.wav"]]
    assert len(data["rows"]) == 4 and "</script>" in data["rows"][1][4]
    errors, words, cells = data["rows"][2][5][0]
    assert (errors, words) == (4, 4) and [cell[2] for cell in cells] == ["s"] * 4
    assert [scored[0] for scored in data["rows"][2][5]] == [4, 4]


def test_labels_belong_to_their_controls_and_tables_have_headings(report):
    text = (report / "report.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<label>[^<]+<(input|select)", text)) == 3
    assert 'lang="en"' in text and "prefers-color-scheme" in text and "@media print" in text
    assert "precision and recall" in html.unescape(text)


def test_the_json_has_counts_rates_and_its_version(report):
    record = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert (record["schema"], record["schema_version"]) == ("lsa-whisper/evaluation", 2)
    first, second = record["systems"]
    assert second["missing"] == ["b & c"]
    counts = first["word_errors"]["verbatim"]
    assert counts["rate"] == (counts["substitutions"] + counts["deletions"] + counts["insertions"]) / (
        counts["hits"] + counts["substitutions"] + counts["deletions"]
    )
    assert first["disfluency"]["block"]["f1"] is None
    assert {d["better"] for d in record["comparisons"]} == {None}, "two files prove nothing"
    assert set(first["metrics"]) == set(record["metrics"])


def test_nothing_is_left_half_written(report):
    assert sorted(path.name for path in report.iterdir()) == ["report.html", "report.json", "report.md", "summary.html"]


def test_wrong_folders_are_one_clear_sentence(report, tmp_path):
    reference = report.parent / "reference"
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(CorpusError, match=r"cannot be written here \(Not a directory\); choose another folder"):
        evaluate(reference, [reference], out=tmp_path / "taken")
    for audio in (tmp_path / "nowhere", tmp_path / "taken"):
        with pytest.raises(CorpusError, match="no such folder of recordings"):
            evaluate(reference, [tmp_path / "not looked for"], audio=audio)


def test_room_is_asked_for_only_where_there_is_none(report, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("lsa_whisper.page.replace_file", full)
    with pytest.raises(CorpusError, match="make room, or choose another folder"):
        evaluate(report.parent / "reference", [report.parent / "first"], out=tmp_path / "out")


def test_recordings_are_found_whatever_their_ending(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a.AIF", "deep/b.MOV", "b.wav", "c.aiff", "c.mp3", "d.txt"):
        (tmp_path / name).touch()
    found = find_audio(tmp_path, ["a", "deep/b", "deeper/b", "c", "d"])
    assert {key: path.relative_to(tmp_path).as_posix() for key, path in found.items()} == {
        "a": "a.AIF",
        "deep/b": "deep/b.MOV",
        "deeper/b": "b.wav",
        "c": "c.mp3",
    }


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium in this environment")
def test_in_a_browser_markup_stays_text_and_the_worst_comes_first(report, tmp_path):
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    more = f"--disable-component-update --disable-sync --virtual-time-budget=3000 --user-data-dir={tmp_path}"
    address = (report / "report.html").as_uri()
    done = subprocess.run(
        [CHROMIUM, *flags.split(), *more.split(), "--dump-dom", address], capture_output=True, text=True, timeout=120
    )
    drawn = Page(done.stdout)
    assert "<title>Transcription evaluation</title>" in done.stdout, "the transcript's script has run"
    assert drawn.tags.count("article") == 4 and "img" not in drawn.tags and drawn.tags.count("script") == 3
    articles = done.stdout.split("<article")[1:]
    wrong = [max(int(n) for n in re.findall(r": (\d+) errors? in", article)) for article in articles]
    assert wrong == sorted(wrong, reverse=True) and wrong[0] > 0
    assert "4 of 4 utterances" in done.stdout and "▶ Play" in done.stdout
