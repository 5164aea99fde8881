"""The sound of a report: linked or embedded, one clip at a time."""

import shutil
from pathlib import Path

import pytest

from lsa_whisper.evaluate import evaluate

STORYBOOK = Path(__file__).resolve().parents[2] / "corpora" / "storybook" / "test"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sounding(tmp_path_factory):
    """Two folders with the same report: one whose recordings are gone, and one with embedded sound."""
    folder = tmp_path_factory.mktemp("sounding")
    (folder / "audio").mkdir()
    for name in ("test01.cha", "test01.flac"):
        shutil.copy(STORYBOOK / name, folder / "audio" / name)
    for name, embed in (("linked", False), ("embedded", True)):
        out = folder / name
        evaluate(folder / "audio", [STORYBOOK], out=out, audio=folder / "audio", samples=40, embed_audio=embed)
    return folder


def test_one_clip_plays_at_a_time_and_ends_when_played_again(chromium, sounding):
    page = chromium.new_page()
    page.goto((sounding / "linked" / "report.html").as_uri())
    page.select_option("#order", "")
    for number in (2, 3):
        page.locator("article").nth(number).get_by_role("button").click()
        page.wait_for_function(f"document.querySelectorAll('audio')[{number - 2}].currentTime > 1")
    assert page.evaluate("[...document.querySelectorAll('audio')].map(a => a.paused)") == [True, False]
    start, end = page.evaluate("document.querySelectorAll('audio')[1].src.split('#t=')[1].split(',').map(Number)")
    page.evaluate("document.querySelectorAll('audio')[1].currentTime = document.querySelector('audio').duration - 1")
    page.wait_for_function("document.querySelectorAll('audio')[1].paused")
    page.evaluate("document.querySelectorAll('audio')[1].play()")
    page.wait_for_function("document.querySelectorAll('audio')[1].paused", timeout=20000)
    assert start < page.evaluate("document.querySelectorAll('audio')[1].currentTime") < end + 0.5
    page.close()


def test_a_report_with_embedded_sound_plays_wherever_it_is(chromium, sounding, tmp_path):
    moved = shutil.copy(sounding / "embedded" / "report.html", tmp_path / "sent.html")
    assert Path(moved).stat().st_size < 2_000_000
    page = chromium.new_page()
    page.goto(Path(moved).as_uri())
    page.locator("article").first.get_by_role("button").click()
    page.wait_for_function("document.querySelector('audio').currentTime > 0.3")
    assert page.evaluate("document.querySelector('audio').src.slice(0, 16)") == "data:audio/mpeg;"
    page.close()


def test_a_moved_report_names_the_recording_that_it_misses(chromium, sounding, tmp_path):
    moved = shutil.copy(sounding / "linked" / "report.html", tmp_path / "report.html")
    page = chromium.new_page()
    page.goto(Path(moved).as_uri())
    page.locator("article").first.get_by_role("button").click()
    page.wait_for_selector("text=cannot be played")
    shown = page.locator("article .facts").first.inner_text()
    assert "audio/test01.flac is missing or damaged" in shown and "--embed-audio" in shown
    page.close()
