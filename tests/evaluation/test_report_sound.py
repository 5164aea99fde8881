"""The sound of a report: linked or embedded, one clip at a time."""

import shutil
from pathlib import Path

import pytest

from lsa_whisper.evaluation import evaluate

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
        page.locator("article").nth(number).get_by_role("button", name="Play").click()
        page.wait_for_function(f"document.querySelectorAll('audio')[{number - 2}].currentTime > 1")
    assert page.evaluate("[...document.querySelectorAll('audio')].map(a => a.paused)") == [True, False]
    start, end = page.evaluate("document.querySelectorAll('audio')[1].src.split('#t=')[1].split(',').map(Number)")
    page.evaluate("document.querySelectorAll('audio')[1].currentTime = document.querySelector('audio').duration - 1")
    page.wait_for_function("document.querySelectorAll('audio')[1].paused")
    page.evaluate("document.querySelectorAll('audio')[1].play()")
    page.wait_for_function("document.querySelectorAll('audio')[1].paused", timeout=120_000)
    assert start < page.evaluate("document.querySelectorAll('audio')[1].currentTime") < end + 0.5
    page.close()


def test_a_report_with_embedded_sound_plays_wherever_it_is(chromium, sounding, tmp_path):
    moved = shutil.copy(sounding / "embedded" / "report.html", tmp_path / "sent.html")
    assert Path(moved).stat().st_size < 2_000_000
    page = chromium.new_page()
    page.goto(Path(moved).as_uri())
    page.locator("article").first.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('audio').currentTime > 0.3")
    assert page.evaluate("document.querySelector('audio').src.slice(0, 16)") == "data:audio/mpeg;"
    page.close()


def test_a_moved_report_names_the_recording_that_it_misses(chromium, sounding, tmp_path):
    moved = shutil.copy(sounding / "linked" / "report.html", tmp_path / "report.html")
    page = chromium.new_page()
    page.goto(Path(moved).as_uri())
    page.locator("article").first.get_by_role("button", name="Play").click()
    page.wait_for_selector("text=cannot be played")
    shown = page.locator("article .facts").first.inner_text()
    assert "audio/test01.flac is missing or damaged" in shown and "--embed-audio" in shown
    page.close()


def test_an_opened_utterance_shows_its_sound_with_the_words_at_their_times(chromium, tmp_path):
    text = (
        (STORYBOOK / "test01.cha")
        .read_text()
        .replace("the goat &-uh was", "the goat was")
        .replace("the 2045", "a 2045")
    )
    (tmp_path / "heard").mkdir()
    (tmp_path / "heard" / "test01.cha").write_text(text)
    evaluate(STORYBOOK / "test01.cha", [tmp_path / "heard"], out=tmp_path / "out", audio=STORYBOOK, samples=40)
    page = chromium.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    page.goto((tmp_path / "out" / "report.html").as_uri())
    article = page.locator("article").first
    assert article.locator(".sound").count() == 0, "closed at first"
    article.get_by_role("button", name="Show sound").click()
    above, below = (article.locator(".words").nth(n) for n in (0, 1))
    image = article.locator(".sound img").bounding_box()
    assert above.bounding_box()["y"] < image["y"] < below.bounding_box()["y"], "reference, picture, transcript"
    assert above.locator("span").all_inner_texts()[:4] == ["the", "goat", "uh", "was"]
    for word, start_s in (("the", 2.045), ("uh", 2.468), ("little", 3.775)):
        place = above.locator("span", has_text=word).first.bounding_box()["x"]
        shown = (place - image["x"]) / image["width"]
        assert abs(shown - (start_s - 1.945) / (4.248 - 1.945)) < 0.01, word
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra has it")
    violations = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
    article.get_by_role("button", name="Play").click()
    page.wait_for_function("!document.querySelector('.at').hidden")
    article.get_by_role("button", name="Hide sound").click()
    assert article.locator(".sound").count() == 0
    page.close()
