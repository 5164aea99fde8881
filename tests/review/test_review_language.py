"""The review page in another language: its scripts translate what they write."""

from __future__ import annotations

import re

import pytest
from review_page import opened, press

from lsa_whisper import chat
from lsa_whisper.chat import Participant, compose, utterance


@pytest.mark.slow
def test_the_scripts_write_german(visit, serve, chromium):
    count = len(chat.read(visit / "test01.cha").utterances)
    page = opened(chromium, serve(visit, "--page-language", "de"))
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.locator("#found").inner_text() == f"{count} von {count} Äußerungen"
    assert page.locator("#commands button").all_inner_texts()[0] == "Teilen (d)"
    assert re.fullmatch(r"\d\d:\d\d,\d bis \d\d:\d\d,\d", page.locator("#time").inner_text())
    press(page, "?")
    keys = page.locator("#keys").inner_text()
    assert "nächste Äußerung" in keys and "markieren: gefüllte Pause" in keys and "next utterance" not in keys


@pytest.mark.slow
def test_right_to_left_text_is_read_from_the_right(tmp_path, serve, chromium):
    """A mark before the first word stands at that word, and not at the other end of the line."""
    lines = [utterance("CHI", "&-אה הילד הולך .", None), utterance("CHI", "the dog goes .", None)]
    people = [Participant("CHI", "Target_Child")]
    chat.write(compose(languages=["heb"], participants=people, utterances=lines), tmp_path / "visit.cha")
    other = tmp_path / "other"
    other.mkdir()
    (other / "visit.cha").write_bytes((tmp_path / "visit.cha").read_bytes())
    page = opened(chromium, serve(tmp_path / "visit.cha", "--compare", other, "--page-language", "de"))
    direction = "[...document.querySelectorAll('{}')].map((each) => getComputedStyle(each).direction)"
    assert page.evaluate(direction.format("#words, #text, #readable, .utterance p + p")) == ["rtl"] * 3 + ["rtl", "ltr"]
    page.click("#compare-button")
    page.wait_for_selector("#pairs .pair")
    assert page.evaluate(direction.format("#pairs p")) == ["rtl", "rtl", "ltr", "ltr"]
    assert "100,0 %" in page.inner_text("#classes") and "100.0" not in page.inner_text("#comparison")


@pytest.mark.slow
def test_a_transcript_without_utterances_is_listed_as_such(visit, serve, chromium):
    """No share of it can be reviewed, and its place under State is not left empty."""
    text = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR Participant\n@Media:\ttest01, audio\n@End\n"
    (visit / "silence.cha").write_text(text)
    (visit / "alone.cha").write_text(text.replace("test01, audio", "alone, audio"))
    page = chromium.new_page()
    page.goto(serve(visit, "--page-language", "de").address)
    page.wait_for_selector("#files tr")
    states = {
        name: page.locator("#files tr", has_text=name).locator("td").nth(1).inner_text()
        for name in ("silence", "alone")
    }
    assert states["silence"] == "keine Äußerungen"
    assert states["alone"].startswith("keine Aufnahme dieses Namens gefunden")
    for key, window in (("?", "#help"), ("K", "#settings")):
        page.keyboard.press(key)
        assert page.locator(window).is_visible(), "the buttons above the list name these keys"
        page.keyboard.press("Escape")
