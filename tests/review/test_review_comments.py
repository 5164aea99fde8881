"""Comments on utterances: under slow answers, beside texts, and where another window or program changed something."""

from __future__ import annotations

import pytest
from review_page import comments, listed, opened, press, settled, type_text, unanswered, until

from lsa_whisper import chat

pytestmark = pytest.mark.slow
LONG = "the child was far away and it was hard to hear what was said"


def write_comment(page, text):
    page.click("#comment")
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_a_comment_typed_during_answers_is_written_once(visit, serve, chromium):
    """A part of it that ends in a space comes back without, and is not taken for that of another window."""
    page = opened(chromium, serve(visit))
    page.route("**/action", lambda route: (page.wait_for_timeout(60), route.continue_()))
    page.click("#comment")
    page.keyboard.type(LONG, delay=50)
    page.keyboard.press("Enter")
    settled(page)
    assert comments(visit / "test01.cha")[0] == [LONG] and not page.wrong


def test_the_comment_on_a_deleted_utterance_does_not_go_to_the_next(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown")
    with unanswered(page):
        page.get_by_role("button", name="Delete (").click()
        page.click("#comment")
        page.keyboard.type("of what is gone")
        page.wait_for_timeout(350)
    page.keyboard.press("Enter")
    settled(page)
    assert comments(visit / "test01.cha")[1] == [] and "of what is gone" in page.inner_text("#message")


def test_nor_if_another_window_has_deleted_it(visit, serve, chromium):
    served = serve(visit)
    one, two = opened(chromium, served), opened(chromium, served)
    press(one, "ArrowDown", "Delete")
    press(two, "ArrowDown")
    write_comment(two, "of what is gone")
    until(two, "document.getElementById('message').textContent.includes('of what is gone')")
    settled(two)
    assert comments(visit / "test01.cha")[1] == []


def test_a_comment_cleared_in_one_window_leaves_that_of_the_other(visit, serve, chromium):
    served = serve(visit)
    one = opened(chromium, served)
    write_comment(one, "first")
    settled(one)
    two = opened(chromium, served)
    write_comment(one, "first and more")
    settled(one)
    two.click("#comment")
    two.keyboard.press("Control+a")
    two.keyboard.press("Delete")
    two.keyboard.press("Enter")
    settled(two)
    assert comments(visit / "test01.cha")[0] == ["first and more"]


def test_a_comment_that_waits_for_a_version_stays_in_its_file(two_sessions, serve, chromium):
    first, second = two_sessions / "test01.cha", two_sessions / "test02.cha"
    page = listed(chromium, serve(two_sessions))
    for path in (first, second):
        page.get_by_role("button", name=f"Review {path.name}").click()
        until(page, f"document.getElementById('title').textContent === '{path.name}'")
        type_text(page, "mine .")
        path.write_bytes(path.read_bytes().replace(b"mine .", b"theirs ."))
        if path is first:
            write_comment(page, "of the first file")
        else:
            press(page, "y")
        page.wait_for_selector("#conflict:not([hidden])")
        settled(page)
        if path is first:
            page.click("#files-button")
    page.click("#take-foreign")
    page.wait_for_selector("#conflict", state="hidden")
    settled(page)
    assert "of the first file" not in second.read_text()


@pytest.mark.parametrize("changed", ["comment", "reviewed", "speaker"])
def test_a_text_typed_before_the_answer_about_another_field_is_saved(changed, visit, serve, chromium):
    page = opened(chromium, serve(visit))
    with unanswered(page):
        if changed == "comment":
            write_comment(page, "noisy")
        elif changed == "reviewed":
            page.click("#reviewed")
        else:
            own, codes = page.input_value("#speaker"), page.locator("#speaker option").all()
            page.select_option("#speaker", next(code for each in codes if (code := each.get_attribute("value")) != own))
        page.click("#text")
        page.keyboard.press("Control+a")
        page.keyboard.type("one two .")
        page.wait_for_timeout(400)
    page.keyboard.press("Enter")
    settled(page)
    assert chat.read(visit / "test01.cha").utterances[0].text == "one two ." and not page.inner_text("#problems")


def test_leaving_is_asked_about_while_a_comment_waits_for_a_version(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    type_text(page, "mine .")
    path.write_bytes(path.read_bytes().replace(b"mine .", b"theirs ."))
    write_comment(page, "not on the disk yet")
    page.wait_for_selector("#conflict:not([hidden])")
    with page.expect_event("dialog") as asked:
        page.evaluate("void setTimeout(() => location.reload())")
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    page.click("#take-foreign")
    page.wait_for_selector("#conflict", state="hidden")
    settled(page)
    assert comments(path)[0] == ["not on the disk yet"] and not page.wrong
