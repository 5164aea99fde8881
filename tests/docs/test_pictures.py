"""The drawings in the documentation load nothing, name no machine, and say in words what they show."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from pages import PAGES, ROOT, text_of

DRAWINGS = sorted((ROOT / "docs" / "pictures").glob("*.svg"))


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_is_complete_in_itself(path):
    text = path.read_text("utf-8")
    ElementTree.fromstring(text)
    assert all("www.w3.org" in each for each in re.findall(r"https?://\S+", text))
    assert "<script" not in text and "url(http" not in text and not re.search(r"/(tmp|home|root|work)/", text)


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_is_shown_with_a_description(path):
    shown = [found for page in PAGES for found in re.findall(rf"!\[([^\]]+)\]\([^)]*{path.name}\)", text_of(page))]
    assert shown and all(len(each) > 40 for each in shown)


def test_the_terminal_recording_takes_half_a_minute_and_can_stand_still():
    text = (ROOT / "docs" / "pictures" / "terminal.svg").read_text("utf-8")
    delays = [float(each) for each in re.findall(r"animation-delay:([\d.]+)s", text)]
    assert delays == sorted(delays) and 15 < delays[-1] < 35
    assert "prefers-reduced-motion" in text
