"""The page on transcripts: measures, classes, timeline, trends over the sessions of a child, clips; in one file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection import inspect

EVIL = "<script>document.title='broken_in'</script>"


def session(age, child, extra=""):
    return (
        f"@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI {child} Target_Child, MOT Mother\n"
        f"@ID:\teng|c|CHI|{age}||||Target_Child|||\n@ID:\teng|c|MOT|||||Mother|||\n"
        "*MOT:\twhat is it ? \x150_1000\x15\n"
        "*CHI:\t&-um I want [/] want (.) it . \x151000_3000\x15\n"
        "%wor:\tum \x151000_1400\x15 I \x151400_1500\x15 want \x151500_1900\x15 want \x152000_2500\x15 it"
        " \x152500_3000\x15 .\n"
        f"*CHI:\tthe &+do dog {extra}. \x153200_4000\x15\n@End\n"
    )


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Three sessions of one child, one of another, one without a recording; and the page on all of them."""
    folder = tmp_path_factory.mktemp("sample") / "visits"
    folder.mkdir()
    for name, age, child, extra in (
        ("a1", "2;01.", "Ann", ""),
        ("a2", "2;07.", "Ann", "ran home "),
        ("a3", "3;01.15", "Ann", "ran to the house with me "),
        ("b1", "4;00.", "Ben", ""),
    ):
        (folder / f"{name}.cha").write_text(session(age, child, extra))
        if name != "b1":
            sf.write(folder / f"{name}.wav", (0.3 * np.sin(np.arange(16_000 * 5) / 9)).astype(np.float32), 16_000)
    (folder / "broken.cha").write_text("no transcript at all")
    printed = inspect(folder, out=folder.parent / "new" / "page.html")
    assert printed.endswith("page.html: all measures, a timeline, trends and audio clips")
    return folder.parent / "new" / "page.html"


@pytest.fixture(scope="module")
def text(visits):
    return visits.read_text(encoding="utf-8")


def rows(text, title):
    table = text[text.index(f"<h2>{title}</h2>") :]
    lines = re.findall(r"<tr>(.*?)</tr>", table[: table.index("</table>")])
    return {cells[0]: cells[1:] for line in lines if (cells := re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", line))}


def test_every_speaker_has_every_measure(text):
    found = rows(text, "All measures of each speaker")
    assert list(found)[1:] == [f"{name} {code}" for name in ("a1", "a2", "a3", "b1") for code in ("MOT", "CHI")]
    measures = found[""]
    assert found["a3 CHI"][measures.index("MLU in words")] == "5.50" and len(measures) >= 25
    assert rows(text, "Measures of each speaker")["a1 CHI"][2] == "2.50"


def test_classes_stand_per_100_words_and_per_100_syllables(text):
    """24 fluent words of one syllable by the children; the mothers have no disfluency."""
    found = rows(text, "Disfluencies by class")
    head = found[""]
    words, syllables = head.index("Target Child per 100 words"), head.index("Target Child per 100 syllables")
    assert set(found) == {"", "filled pauses", "cut-off words", "repetitions", "pauses"}
    for name in ("filled pauses", "cut-off words", "repetitions", "pauses"):
        assert found[name][head.index("Target Child")] == "4" and found[name][words] == f"{400 / 28:.2f}"
        assert found[name][syllables] == f"{400 / 28:.2f}" and "0" in found[name]


def test_what_the_sums_mean_stands_beside_the_table(text):
    assert "stuttering-like disfluencies: prolongations" in text and "Ambrose and Yairi 1999" in text
    assert "strict counting, the default" in text


def test_trends_are_those_of_the_child_who_came_several_times_by_age(text):
    trends = text[text.index('id="trends"') : text.index('id="timelines"')]
    points = re.findall(r"<title>([^<]*c/[^<]*|[^<]*Ann CHI, [^<]*)</title>", trends)
    mlu = [point for point in points if point.endswith((": 2.50", ": 3.50", ": 5.50"))]
    assert [re.search(r"a\d at [\d;.]+", point)[0] for point in mlu] == ["a1 at 2;01.", "a2 at 2;07.", "a3 at 3;01.15"]
    assert "Ben" not in trends and ">age (years;months)<" in trends and ">3;00<" in trends


def test_the_timeline_has_each_disfluency_at_the_time_of_its_word(text):
    timeline = text[text.index('id="timelines"') : text.index('id="clips"')]
    first = timeline[: timeline.index("</svg>")]
    assert ">CHI speaks<" in first and "<title>CHI speaks</title>" in first
    titles = re.findall(r"<use[^>]* x=\"([\d.]+)\"[^>]*><title>CHI, ([^<]*)</title>", first)
    places = {what.partition(":")[0]: float(x) for x, what in titles}
    assert places["filled pause"] < places["repetition"] < places["pause"] < places["cut-off word"]
    assert (places["pause"] - places["filled pause"]) / (
        places["repetition"] - places["filled pause"]
    ) == pytest.approx(1.5 / 0.5, rel=0.01)


def test_clips_play_from_inside_the_page(text):
    clips = re.findall(r'<audio controls[^>]* src="data:audio/mpeg;base64,', text)
    assert len(clips) == 2 * 3, "of each session that has a recording, the utterances with disfluencies"
    assert len(re.findall(r'<img src="data:image/png;base64,', text)) == 6
    assert "1 of 4 transcripts have no recording" in text and "broken.cha" in text


def test_nothing_is_fetched_and_nothing_runs(visits, text):
    assert "<script" not in text and not re.search(r"url\((?!#)|@import|https?:", text)
    assert [path.name for path in visits.parent.iterdir()] == ["page.html"]


def test_markup_stays_text_and_times_may_be_absent(tmp_path):
    path = tmp_path / f"{EVIL.replace('/', '')}.cha"
    path.write_text(f"@Begin\n*CHI:\t&-um I say {EVIL} .\n*CHI:\tno .\n@End\n")
    out = tmp_path / "page.html"
    assert json.loads(inspect(path, out=out, json=True))["CHI"]["utterances"] == 2
    text = out.read_text()
    assert "<script" not in text and "broken_in" in text and "the transcript has no times" in text


def test_speakers_without_known_syllables_make_the_rate_of_all_unknown(tmp_path, monkeypatch):
    (tmp_path / "a.cha").write_text(session("2;01.", "Ann"))
    arabic = session("2;01.", "Lea").replace("eng", "ara").replace("I want [/] want (.) it", "أنا أريد [/] أريد")
    (tmp_path / "b.cha").write_text(re.sub("%wor.*\n|[a-z+&-]+ do dog ", "", arabic))
    monkeypatch.chdir(tmp_path)
    inspect(Path(), out=Path("page.html"))
    text = Path("page.html").read_text(encoding="utf-8")
    assert f"<h1>Language sample: {tmp_path.name}</h1>" in text, "the folder is named, not its dot"
    head, cells = (rows(text, "Disfluencies by class")[name] for name in ("", "repetitions"))
    assert dict(zip(head, cells, strict=True))["Target Child per 100 syllables"] == "-" and "2" in cells


@pytest.mark.parametrize(
    ("language", "size"), [("en", "1 utterance, 1 fluent word"), ("de", "1 Äußerung, 1 flüssiges")]
)
def test_one_utterance_is_not_told_in_the_plural(language, size, tmp_path):
    (tmp_path / "a.cha").write_text("*CHI:\tno .\n")
    inspect(tmp_path / "a.cha", out=tmp_path / "page.html", page_language=language)
    assert size in (tmp_path / "page.html").read_text("utf-8")


def test_a_page_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "a.cha").write_text("@Begin\n*CHI:\tno .\n@End\n")
    with pytest.raises(CorpusError, match="is a folder; name the HTML file"):
        inspect(tmp_path / "a.cha", out=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_no_violation_of_accessibility_rules_and_nothing_sticks_out(chromium, visits, width, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra has it")
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, bypass_csp=True)
    page = context.new_page()
    page.goto(visits.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
    context.close()


@pytest.mark.slow
def test_paper_keeps_every_column(chromium, visits):
    page = chromium.new_page(viewport={"width": 718, "height": 1000})  # A4 with margins of 1 cm
    page.goto(visits.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    page.close()
