"""Names that mean harm: of files, systems, speakers and roles. They stay text, and nothing else is written."""

import json
import os
import re
from html.parser import HTMLParser

import pytest

from lsa_whisper.evaluation import evaluate

SCRIPT = "<script>alert(1)</script>"
FILES = [
    "<script>alert(1)",
    "two\nlines",
    "-rf",
    "..",
    ".",
    "..\\up",
    "a|b",
    "<!--",
    "'\"&",
    "sp ace",
    "#x?y=1%41",
]
SCORED = [name for name in FILES if not name.startswith(".")]
"""Hidden files are none of the transcripts, as for every command."""
SPEAKERS = ["<script>", "..", "-o", "</td>", "'\"&", "a|b", "{{7*7}}"]
SYSTEMS = ["../../outside", "<script>alert(2)</script>\n# Heading", "-x\r\n| a | b |"]


def transcript(speaker):
    head = f"@UTF8\n@Begin\n@Languages:\teng\n@Participants:\t{speaker} <b>bold</b> Target_Child\n"
    head += f"@ID:\teng|c|{speaker}|4;06.||||<i>Target_Child</i>|||\n"
    return f"{head}*{speaker}:\t&-um I want {SCRIPT} [/] it . \x150_1500\x15\n*{speaker}:\tno | yes .\n@End\n"


def tree(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    for side in ("reference", "a", "b"):
        (folder / side).mkdir()
        for number, name in enumerate(FILES):
            text = transcript(SPEAKERS[number % len(SPEAKERS)])
            (folder / side / f"{name}.cha").write_text(text if side != "b" else text.replace("want", "won't"), "utf-8")
    for recording in ("..wav", "sp ace.wav"):
        (folder / "reference" / recording).write_bytes(b"")
    (folder / "reference.wav").write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def report(place):
    before = tree(place)
    evaluate(
        place / "reference",
        [place / "a", place / "b", place / "b"],
        names=SYSTEMS,
        out=place / "deep" / "report",
        audio=place / "reference",
        samples=40,
    )
    after = tree(place)
    made = after.keys() - before.keys()
    names = ("report.html", "report.md", "report.json", "summary.html")
    assert made == {place / "deep" / "report" / name for name in names}
    assert all(after[path] == before[path] for path in before)
    return place / "deep" / "report"


class Tags(HTMLParser):
    """Collects tags with their attributes' names, and the page's data."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.data, self.addresses = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, tuple(name for name, _ in attributes)))
        self.addresses += [value for name, value in attributes if name in {"href", "src"}]

    def handle_data(self, data):
        if self.seen and self.seen[-1] == ("script", ("type", "id")):
            self.data += data


def test_names_stay_text_on_the_page(report):
    page = Tags((report / "report.html").read_text("utf-8"))
    assert [tag for tag, _ in page.seen].count("script") == 2 and {"b", "i"}.isdisjoint(tag for tag, _ in page.seen)
    assert not [name for _, names in page.seen for name in names if name.startswith("on")]
    assert all(address[0] == "#" or address == "summary.html" for address in page.addresses)
    data = json.loads(page.data)
    assert data["systems"] == SYSTEMS
    assert sorted(name for name, _ in data["files"]) == sorted(SCORED)
    links = {name: link for name, link in data["files"] if link}
    assert links == {"sp ace": "../../reference/sp%20ace.wav"}, "its own recording, not one that lies above the folder"
    assert {row[1] for row in data["rows"]} <= set(SPEAKERS)


def test_names_stay_on_their_lines_in_markdown(report):
    text = (report / "report.md").read_text("utf-8")
    assert "<script" not in text and "<b>" not in text and "<i>" not in text
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert "# Heading" not in headings and all(line.startswith(("# Transcription", "## ")) for line in headings)
    tables = [part.splitlines() for part in re.findall(r"(?:^\|.*\n)+", text.replace("|\n\n|", "|\n|"), re.MULTILINE)]
    for lines in tables:
        assert len({line.count("|") for line in lines}) == 1, lines[0]


def test_the_json_keeps_names_as_they_are(report):
    record = json.loads((report / "report.json").read_text("utf-8"))
    assert [system["name"] for system in record["systems"]] == SYSTEMS
    assert sorted(each["file"] for each in record["systems"][0]["files"]) == sorted(SCORED)
    assert all(each["word_errors"]["verbatim"]["rate"] == 0 for each in record["systems"][0]["files"])


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes only there")
def test_a_file_name_that_is_not_utf8_is_reported(tmp_path):
    (tmp_path / "reference").mkdir()
    try:
        (tmp_path / "reference" / os.fsdecode(b"caf\xe9.cha")).write_text(transcript("CHI"), "utf-8")
    except OSError:
        pytest.skip("this file system takes no such name")
    found = evaluate(tmp_path / "reference", [tmp_path / "reference"], out=tmp_path / "report")
    record = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    assert record["systems"][0]["files"][0]["file"] == os.fsdecode(b"caf\xe9")
    assert "caf" in found.report.read_text("utf-8")
