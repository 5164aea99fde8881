"""The keys that mark words, and dragging the ends of words, in Chromium."""

from __future__ import annotations

import pytest
from review_page import MARKED, PLAIN, drag_end, opened, press, press_mark, texts, type_text

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
    end_ms = each.word_spans()[2].end_ms  # a gap follows this word
    drag_end(page, "#wave", end_ms, 15, down=page.locator("#wave").bounding_box()["height"] - 6)
    after = chat.read(path).utterances[1]
    assert after.span == each.span and after.word_spans()[2].end_ms < end_ms - 10
    assert not page.wrong
