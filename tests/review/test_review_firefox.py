"""The page in Firefox: it opens, plays, takes keys and typed text, and saves."""

from __future__ import annotations

import shutil

import pytest
from firefox import Firefox
from review_page import ASKED, MARKED, PLAIN, settled, texts, until, with_confidences

pytestmark = pytest.mark.slow
ENTER, HOME = "\ue007", "\ue011"
SOUND = "document.getElementById('audio')"


@pytest.fixture
def firefox(tmp_path):
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox in this environment")
    profile = tmp_path / "profile"
    profile.mkdir()
    page = Firefox(program, profile)
    yield page
    page.close()


def test_the_page_works_in_firefox(visit, serve, firefox):
    path = visit / "test01.cha"
    with_confidences(path)
    firefox.goto(serve(visit).address)
    until(firefox, "document.querySelectorAll('#list .utterance').length > 5")
    firefox.press("n")
    until(firefox, "document.getElementById('place').textContent.startsWith('10 of')")
    firefox.press("-", "o", " ")
    until(firefox, f"!{SOUND}.paused")
    assert firefox.evaluate(f"[{SOUND}.playbackRate, {SOUND}.preservesPitch]") == [0.8, True]
    firefox.press(" ", "o")
    until(firefox, f"{SOUND}.paused")
    firefox.press(HOME, ENTER)
    until(firefox, "document.activeElement.id === 'text'")
    firefox.evaluate("document.getElementById('text').select()")
    firefox.press(*PLAIN, ENTER)
    settled(firefox)
    assert texts(path)[0][1] == PLAIN
    for key in ("f", "l", "w"):
        for _ in range(2 if key in ASKED else 1):
            firefox.press(key)
            settled(firefox)
        assert texts(path)[0][1] == MARKED[key]
        firefox.press("z")
        settled(firefox)
    firefox.press("y")
    settled(firefox)
    assert "1 of 36 reviewed" in firefox.evaluate("document.getElementById('progress').textContent")
    painted = "[...document.getElementById('wave').getContext('2d').getImageData(0, 0, 900, 100).data].some(Boolean)"
    until(firefox, painted)
