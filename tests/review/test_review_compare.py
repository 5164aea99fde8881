"""Two transcripts of one recording side by side: their agreement, their differences, and taking left or right."""

from __future__ import annotations

import time

import pytest
from review_page import opened, press, settled, texts, until

from lsa_whisper import chat

pytestmark = pytest.mark.slow


def differing(path, other):
    """Write a second transcript: another text in utterance 1, another speaker in 2, one less in 3, one more at 5."""
    lines = path.read_bytes().splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.startswith(b"*")]
    groups = [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines) - 1], strict=True)]
    groups[1][0] = groups[1][0].replace(b"&-uh ", b"")
    groups[1][1:] = []  # %wor would not agree
    groups[2][0] = groups[2][0].replace(b"*CHI", b"*ADU")
    missing = groups.pop(3)
    other.write_bytes(b"".join([*lines[: starts[0]], *(line for group in groups for line in group), lines[-1]]))
    return missing[0].decode()


def test_each_difference_is_taken_from_the_right_and_taken_back(visit, serve, chromium, tmp_path):
    path, other = visit / "test01.cha", tmp_path / "second.cha"
    differing(path, other)
    original, count = path.read_bytes(), len(texts(path))
    page = opened(chromium, serve(visit, "--compare", other))
    page.click("#compare-button")
    page.wait_for_selector("#pairs .pair")
    assert "Agreement of words: 9" in page.inner_text("#agreement")
    rows = page.locator("#classes tr").all_inner_texts()
    assert any(row.split() == ["filled", "pause", "9", "7", "87.5", "%"] for row in rows)
    assert "95 % interval" in page.inner_text("#agreement") and "kappa by word 0." in page.inner_text("#agreement")
    assert page.locator("#classes td[data-range]").last.get_attribute("data-range").endswith("%")
    assert page.inner_text("#unsettled") == "3 of 36 pairs differ"
    for wanted in (("CHI", "the goat was new and little ."), ("ADU", "yes I see it .")):
        press(page, "n", "ArrowRight")
        assert wanted in texts(path)[1:3]
    press(page, "n", "ArrowRight")
    until(page, "document.querySelectorAll('#pairs .pair').length === 35")
    assert texts(path) == texts(other) and not chat.check(chat.read(path))
    assert "Agreement of words: 9" in page.inner_text("#agreement"), "the agreement is that before settling"
    page.fill("#left-name", "Ann Lee")
    page.fill("#right-name", "Ben")
    page.click("#settle")
    settled(page)
    header = chat.read(path)
    assert header.header("@Transcriber") == "Ann Lee, Ben" and not chat.check(header)
    assert "settled from the transcripts of Ann Lee and Ben; before that, agreement of words 9" in chat.serialize(
        header
    )
    page.click("#undo")
    page.click("#undo")
    until(page, "document.querySelectorAll('#pairs .pair').length === 36")
    press(page, "z", "z", "Escape")
    assert path.read_bytes() == original and len(texts(path)) == count and page.is_visible("#review")
    assert not page.wrong


def comparing(visit, serve, chromium, tmp_path):
    """Open the comparison of a transcript that lacks an utterance with one that has it."""
    path, other = visit / "test01.cha", tmp_path / "second.cha"
    other.write_bytes(path.read_bytes())
    differing(other, path)
    page = opened(chromium, serve(visit, "--compare", other))
    page.click("#compare-button")
    page.wait_for_selector("#pairs .pair")
    return page, path, other


def test_an_utterance_that_only_the_right_has_is_inserted_with_its_time(visit, serve, chromium, tmp_path):
    page, path, other = comparing(visit, serve, chromium, tmp_path)
    for name in ("Next difference (n)", "Next difference (n)", "Next difference (n)", "Take right (Right arrow)"):
        page.get_by_role("button", name=name).click()
    settled(page)
    own, theirs = (chat.read(each).utterances[3] for each in (path, other))
    assert (own.text, own.speaker, own.span) == (theirs.text, theirs.speaker, theirs.span)
    assert not chat.check(chat.read(path))
    page.get_by_role("button", name="Back (Escape)").click()
    settled(page)
    assert page.is_visible("#review") and page.inner_text("#place").startswith("4 of") and not page.wrong


def test_keys_pressed_at_once_wait_for_the_edits_before_them(visit, serve, chromium, tmp_path):
    page, path, other = comparing(visit, serve, chromium, tmp_path)
    page.route("**/action", lambda route: (time.sleep(0.3), route.continue_()))
    for key in ("n", "n", "n", "ArrowRight", "Escape"):
        page.keyboard.press(key)
    until(page, "!document.getElementById('review').hidden")
    assert page.inner_text("#place").startswith("4 of 36") and texts(path)[3] == texts(other)[3] and not page.wrong
