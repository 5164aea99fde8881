"""The keys that mark words, and dragging the ends of words, in Chromium."""

from __future__ import annotations

import pytest
from review_page import MARKED, PLAIN, opened, press, press_mark, settled, texts, type_text

from lsa_whisper import chat

pytestmark = pytest.mark.slow


def test_every_mark_has_a_key(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    type_text(page, PLAIN)
    for key, text in MARKED.items():
        press(page, "Home")
        press_mark(page, key)
        assert texts(path)[0][1] == text, key
        press(page, "z")
        assert texts(path)[0][1] == PLAIN
    press(page, "Home", "Shift+ArrowRight", "r")
    assert texts(path)[0][1] == "<the goat> [/] was new ."
    assert not page.wrong


def test_an_end_of_a_word_is_dragged_on_the_waveform(visit, serve, chromium):
    """In the lowest part of the waveform the ends of words are caught, not those of the utterance."""
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown")
    each = chat.read(path).utterances[1]
    page.wait_for_timeout(300)
    box, span = page.locator("#wave").bounding_box(), each.span
    margin = max(800, span.duration_ms * 0.35)
    start = max(0, span.start_ms - margin)
    end_ms = each.word_spans()[2].end_ms  # a gap follows this word
    x = box["x"] + (end_ms - start) / (span.end_ms + margin - start) * box["width"]
    y = box["y"] + box["height"] - 6
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 15, y, steps=4)
    page.mouse.up()
    settled(page)
    after = chat.read(path).utterances[1]
    assert after.span == span and after.word_spans()[2].end_ms < end_ms - 10
    assert not page.wrong
