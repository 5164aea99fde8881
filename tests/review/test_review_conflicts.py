"""Two windows, or another program, change one transcript: no change is overwritten, and no typed text is lost."""

import pytest
from review_page import opened, press, settled, texts, type_text, until

pytestmark = pytest.mark.slow


def test_two_windows_cannot_overwrite_each_other(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    type_text(two, "two was late .")
    two.wait_for_selector("#message:not([hidden])")
    assert "another window" in two.inner_text("#message") and texts(path)[0][1] == "one was first ."
    assert two.input_value("#text") == "two was late ." and "one was first" in two.inner_text("#u0")
    until(two, "document.getElementById('problems').textContent.includes('not saved')")
    type_text(two, "two knows it .")
    assert texts(path)[0][1] == "two knows it ."


def test_what_is_typed_after_a_conflict_does_not_overwrite_the_other_window(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    two.keyboard.press("Enter")
    two.keyboard.press("Control+a")
    two.keyboard.type("two was")
    two.wait_for_selector("#message:not([hidden])")
    two.keyboard.type(" late .")
    two.wait_for_timeout(600)
    two.keyboard.press("Enter")
    settled(two)
    assert "another window" in two.inner_text("#message") and texts(path)[0][1] == "one was first ."
    press(two, "ArrowDown", "ArrowUp")
    assert two.input_value("#text") == "two was late ."


def slow_down(page):
    """Let every answer take half a second, so that several texts are on their way to the server at once."""
    for path in ("**/action", "**/transcript*"):
        page.route(path, lambda route: (page.wait_for_timeout(500), route.continue_()))


def test_texts_that_wait_behind_a_conflict_do_not_overwrite_the_other_window(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    slow_down(two)
    two.keyboard.press("Enter")
    two.keyboard.press("Control+a")
    two.keyboard.type("two was late .", delay=60)
    two.keyboard.press("Enter")
    settled(two)
    two.wait_for_selector("#message:not([hidden])")
    assert "another window" in two.inner_text("#message") and texts(path)[0][1] == "one was first ."
    assert two.input_value("#text") == "two was late ."


@pytest.mark.parametrize("choice, taken", [("#take-foreign", "theirs ."), ("#keep-own", "mine .")])
def test_a_change_by_another_program_is_shown_and_both_versions_kept(visit, serve, chromium, choice, taken):
    served, path = serve(visit), visit / "test01.cha"
    page = opened(chromium, served)
    type_text(page, "mine .")
    path.write_bytes(path.read_bytes().replace(b"mine .", b"theirs ."))
    page.keyboard.press("ArrowDown")
    press(page, "f")
    page.wait_for_selector("#conflict:not([hidden])")
    page.click(choice)
    page.wait_for_selector("#conflict", state="hidden")
    until(page, f"document.querySelector('#u0').textContent.includes('{taken}')")
    assert texts(path)[0][1] == taken
    versions = [path, *(visit / ".review").glob("test01*.cha")]
    assert {"mine .", "theirs ."} <= {texts(each)[0][1] for each in versions}
    if choice == "#take-foreign":
        press(page, "z")
        assert texts(path)[0][1] == "mine ."


@pytest.mark.parametrize("choice", ["#take-foreign", "#keep-own"])
def test_what_was_typed_before_a_version_is_chosen_stays_and_can_be_saved(visit, serve, chromium, choice):
    served, path = serve(visit), visit / "test01.cha"
    page = opened(chromium, served)
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith(b"*"))
    path.write_bytes(b"".join([*lines[:first], b"*ADU:\tmore here .\n", *lines[first:]]))
    page.keyboard.press("ArrowDown")
    slow_down(page)
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type("typed in vain ?", delay=100)
    page.keyboard.press("Enter")
    settled(page)
    page.wait_for_selector("#conflict:not([hidden])")
    page.click(choice)
    page.wait_for_selector("#conflict", state="hidden")
    settled(page)
    page.unroute_all()
    at = 2 if choice == "#take-foreign" else 1
    assert texts(path)[at][1] != "typed in vain ?"
    page.reload()  # which opens the utterance with unsaved text
    page.wait_for_selector("#list .utterance")
    assert page.input_value("#text") == "typed in vain ?" and page.inner_text("#place").startswith(f"{at + 1} of")
    type_text(page, "typed in vain .")
    assert texts(path)[at][1] == "typed in vain ."
