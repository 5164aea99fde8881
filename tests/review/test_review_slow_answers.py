"""Keys and texts before the server has answered the ones before: they mean the same, however slow the answers are."""

from __future__ import annotations

import pytest
from review_page import (
    WITHHELD,
    begin_drag,
    comments,
    listed,
    opened,
    press,
    settled,
    texts,
    type_at_once,
    type_text,
    unanswered,
    until,
)

from lsa_whisper import chat

pytestmark = pytest.mark.slow


def press_at_once(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def wait_typed(page):
    """Wait until what was typed is on its way."""
    page.wait_for_timeout(350)


def test_a_text_is_there_when_its_utterance_is_chosen_again_before_the_answer(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    with unanswered(page):
        for text in ("one .", "one two ."):
            type_at_once(page, text)
        page.keyboard.press("ArrowDown")
        type_at_once(page, "three .")
        page.keyboard.press("ArrowUp")
        assert page.input_value("#text") == "one two ."
        page.keyboard.press("ArrowDown")
        assert page.input_value("#text") == "three ."
    assert [text for _, text in texts(visit / "test01.cha")[:2]] == ["one two .", "three ."] and not page.wrong


def test_edits_on_their_way_stay_in_their_file_when_another_is_opened(two_sessions, serve, chromium):
    page, data = listed(chromium, serve(two_sessions)), (two_sessions / "test02.cha").read_bytes()
    page.get_by_role("button", name="Review test01.cha").click()
    page.wait_for_selector("#list .utterance")
    with unanswered(page):
        type_at_once(page, "one .")
        type_at_once(page, "one two .")
        page.click("#files-button")
        page.wait_for_selector("#start:not([hidden])")
        page.get_by_role("button", name="Review test02.cha").click()
        page.wait_for_timeout(500)
    until(page, "document.getElementById('title').textContent === 'test02.cha'")
    assert texts(two_sessions / "test01.cha")[0][1] == "one two ."
    assert (two_sessions / "test02.cha").read_bytes() == data
    assert "one" not in page.inner_text("#u0")


def test_a_comment_stays_at_its_utterance_when_an_answer_moves_on(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    with unanswered(page):
        page.keyboard.press("y")
        page.click("#comment")
        page.keyboard.type("was noisy")
        wait_typed(page)
        page.keyboard.type(" here")
    page.keyboard.type(" and there")
    page.keyboard.press("Enter")
    settled(page)
    assert comments(visit / "test01.cha")[:2] == [["was noisy here and there"], []]
    assert chat.read(visit / "test01.cha").utterances[0].reviewed


def test_keys_pressed_at_once_review_one_utterance_each(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    with unanswered(page):
        for _ in range(3):
            page.keyboard.press("y")
    until(page, "document.getElementById('place').textContent.startsWith('4 of')")
    assert [each.reviewed for each in chat.read(visit / "test01.cha").utterances[:5]] == [True] * 3 + [False] * 2


def test_each_key_moves_an_end(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    start = chat.read(visit / "test01.cha").utterances[0].span.start_ms
    with unanswered(page):
        for _ in range(3):
            page.keyboard.press(".")
    until(page, f"document.getElementById('time').textContent.startsWith('00:00.{(start + 60) // 100}')")
    settled(page)
    assert chat.read(visit / "test01.cha").utterances[0].span.start_ms == start + 60


def test_each_key_puts_its_mark(visit, serve, chromium):
    page, before = opened(chromium, serve(visit)), texts(visit / "test01.cha")[1][1]
    press(page, "ArrowDown")
    with unanswered(page):
        for key in ("r", "u", "k"):
            page.keyboard.press(key)
    settled(page)
    after = texts(visit / "test01.cha")[1][1]
    assert "[/]" in after and "&-um" in after and "(.)" in after, (before, after)


def test_what_is_typed_after_an_insertion_is_in_the_new_utterance(visit, serve, chromium):
    path = visit / "test01.cha"
    page, before = opened(chromium, serve(visit)), texts(path)
    with unanswered(page):
        page.keyboard.press("i")
        page.keyboard.press("Enter")
        page.keyboard.press("Control+a")
        page.keyboard.type("is new .x")
        page.keyboard.press("Backspace")
        page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'list' && document.getElementById('text').value === 'is new .'")
    settled(page)
    assert texts(path)[1][1] == "is new ." and [texts(path)[0], *texts(path)[2:]] == before


@pytest.mark.parametrize("button", ["Delete", "Join", "Divide"])
def test_text_typed_into_an_utterance_that_was_replaced_is_not_saved_over_another(button, visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown", "ArrowRight")
    with unanswered(page):
        page.get_by_role("button", name=f"{button} (").click()
        page.click("#text")
        page.keyboard.press("Control+a")
        page.keyboard.type("typed in vain")
        wait_typed(page)
        page.keyboard.type(" .")
        after = texts(path)
    page.keyboard.press("Enter")
    settled(page)
    assert texts(path) == after
    assert page.input_value("#text") == "typed in vain ." and "not saved" in page.inner_text("#problems")
    page.reload()
    page.wait_for_selector("#list .utterance")
    assert page.input_value("#text") == "typed in vain ."


def test_text_typed_behind_an_insertion_stays_at_its_utterance(visit, serve, chromium):
    path = visit / "test01.cha"
    page, before = opened(chromium, serve(visit)), texts(path)
    with unanswered(page):
        page.get_by_role("button", name="Insert (").click()
        page.click("#u1")
        page.click("#text")
        page.keyboard.press("Control+a")
        page.keyboard.type("typed behind")
        wait_typed(page)
        page.keyboard.type(" it .")
    page.keyboard.press("Enter")
    settled(page)
    assert [text for _, text in texts(path)[:4]] == [before[0][1], "xxx .", "typed behind it .", before[2][1]]


def test_keys_after_a_typed_text_are_keys(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    with unanswered(page):
        for text in ("one two .", "three four ."):
            type_at_once(page, text)
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Y")
    assert [text for _, text in texts(path)[:2]] == ["one two .", "three four ."]
    assert page.inner_text("#place").startswith("3 of") and not page.wrong


def test_replacing_keeps_what_was_typed_before(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    with unanswered(page):
        type_at_once(page, "the dog was the best .")
        page.keyboard.press("R")
        page.keyboard.type("the")
    until(page, "document.getElementById('find').value === 'the'")
    page.fill("#replace-with", "a")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('replace-problem').textContent.includes('changed')")
    assert texts(path)[0][1] == "a dog was a best ."


@pytest.mark.parametrize("field", ["#text", "#comment"])
def test_nothing_on_its_way_is_lost_when_the_page_is_loaded_again(field, visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    page.evaluate(WITHHELD)
    for number, words in enumerate(("one two", "three four")):
        page.click(f"#u{number}")
        page.click(field)
        page.keyboard.press("Control+a")
        page.keyboard.type(words)
        wait_typed(page)
        page.keyboard.type(" five .")
        page.keyboard.press("Enter")
    page.reload()
    page.wait_for_selector("#list .utterance")
    settled(page)
    data = path.read_text()
    assert "one two five ." in data and "three four five ." in data


def test_the_file_that_was_asked_for_last_is_opened(two_sessions, serve, chromium):
    page = listed(chromium, serve(two_sessions))
    page.route("**/transcript?file=0", lambda route: (page.wait_for_timeout(800), route.continue_()))
    for name in ("test01", "test02"):
        page.get_by_role("button", name=f"Review {name}.cha").click()
    page.wait_for_selector("#list .utterance")
    page.keyboard.press("Enter")
    page.keyboard.type("so ")
    page.wait_for_timeout(1000)
    page.keyboard.press("Enter")
    settled(page)
    assert page.inner_text("#title") == "test02.cha" and "so" in texts(two_sessions / "test02.cha")[0][1]
    assert texts(two_sessions / "test01.cha")[0][1] != texts(two_sessions / "test02.cha")[0][1]


def test_an_end_that_is_dragged_stays_at_its_utterance(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    settled(page)
    span, following = (each.span for each in chat.read(visit / "test01.cha").utterances[:2])
    with unanswered(page):
        page.keyboard.press("y")
        begin_drag(page, "#wave", span.end_ms, 20)
    until(page, "document.getElementById('place').textContent.startsWith('2 of')")
    page.mouse.up()
    settled(page)
    first, second = chat.read(visit / "test01.cha").utterances[:2]
    assert first.span.end_ms < span.end_ms and first.span.start_ms == span.start_ms and second.span == following


def test_an_invalid_text_of_another_utterance_does_not_join_the_steps_to_undo(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    type_text(page, "one two .")
    page.evaluate(WITHHELD)
    type_at_once(page, "one two [x")
    page.click("#u1")
    page.click("#text")
    page.keyboard.press("Control+a")
    page.evaluate("answerAll()")
    page.wait_for_timeout(200)
    page.keyboard.type("three four .")
    page.keyboard.press("Enter")
    settled(page)
    assert [text for _, text in texts(path)[:2]] == ["one two .", "three four ."]
    press(page, "z")
    assert texts(path)[0][1] == "one two ." and texts(path)[1][1] != "three four ."


def test_a_missing_transcript_is_told_once_and_another_can_be_opened(two_sessions, serve, chromium):
    page = listed(chromium, serve(two_sessions))
    page.get_by_role("button", name="Review test01.cha").click()
    page.wait_for_selector("#list .utterance")
    type_text(page, "mine .")
    (two_sessions / "test01.cha").rename(two_sessions / "away")
    asked = []
    page.on("request", lambda r: asked.append(r.url))
    type_text(page, "more .")
    page.wait_for_timeout(1000)
    assert len(asked) < 10 and "cannot be read" in page.inner_text("#problems")
    page.click("#files-button")
    page.get_by_role("button", name="Review test02.cha").click()
    until(page, "document.getElementById('title').textContent === 'test02.cha'")


def test_two_keys_for_marks_put_two_marks(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    with unanswered(page):
        page.keyboard.press("Alt+u")
        page.keyboard.press("Alt+p")
    settled(page)
    text = texts(visit / "test01.cha")[0][1]
    assert "&-um" in text and "(.)" in text


def test_the_key_for_the_next_waits_for_the_review_of_this_one(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    with unanswered(page):
        page.keyboard.press("y")
        page.keyboard.press("F9")
    settled(page)
    until(page, "document.getElementById('place').textContent.startsWith('3 ')")


def test_the_cursor_moves_in_a_field_that_opens_late(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    before = texts(path)[1][1]
    with unanswered(page):
        press_at_once(page, "y", "Enter", "Home", "Delete")
        page.keyboard.type("W")
        page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'list'")
    settled(page)
    assert texts(path)[1][1] == f"W{before[1:]}"


def test_a_box_is_ticked_while_an_answer_is_awaited(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    with unanswered(page):
        page.keyboard.press(".")
        page.focus("#reviewed")
        page.keyboard.press(" ")
    settled(page)
    assert page.is_checked("#reviewed")
