"""Two windows, or another program, change one transcript: no change is overwritten, and no typed text is lost."""

import pytest
from review_page import comments, opened, press, settled, texts, type_at_once, type_text, unanswered, until

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
    type_at_once(two, "two was late .", delay=60)
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
    type_at_once(page, "typed in vain ?", delay=100)
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


def with_comment(page, number, text):
    page.click(f"#u{number}")
    page.keyboard.press("c")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    settled(page)


def test_a_comment_is_saved_though_another_window_changed_something_else(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    two.click("#u2")
    two.keyboard.press("c")
    with unanswered(two):
        two.keyboard.type("two was")
        two.wait_for_timeout(350)
        two.keyboard.type(" noisy")
        two.keyboard.press("Enter")
        two.keyboard.press("ArrowDown")
    assert "two was noisy" in path.read_text() and texts(path)[0][1] == "one was first ."
    assert comments(path)[2] == ["two was noisy"]


def test_comments_of_two_windows_are_both_kept(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    with_comment(one, 0, "one heard a dog")
    two.keyboard.press("c")
    two.keyboard.type("two heard")
    two.wait_for_timeout(350)
    settled(two)
    two.keyboard.type(" a cat")
    two.keyboard.press("Enter")
    settled(two)
    assert comments(path)[0] == ["one heard a dog; two heard a cat"]


@pytest.mark.parametrize("more", [" late .", ""])
def test_a_text_that_met_a_conflict_outlives_loading_the_page_again(more, visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    two.keyboard.press("Enter")
    two.keyboard.press("Control+a")
    two.keyboard.type("two was")
    two.wait_for_selector("#message:not([hidden])")
    two.keyboard.type(more)
    if not more:
        two.keyboard.press("Enter")
        settled(two)
    two.reload()
    two.wait_for_selector("#list .utterance")
    until(two, f"document.getElementById('text').value === 'two was{more}'")
    assert texts(path)[0][1] == "one was first ."


def test_a_text_stays_at_its_utterance_when_another_window_inserts_one(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    press(one, "i")
    before = texts(path)
    two.click("#u3")
    type_at_once(two, "two was late .")
    settled(two)
    assert two.inner_text("#place").startswith("5 of") and two.input_value("#text") == "two was late ."
    press(two, "ArrowUp")
    assert two.input_value("#text") == before[3][1]
    assert texts(path) == before
    press(two, "ArrowDown")
    type_text(two, "two knows it .")
    assert texts(path)[4][1] == "two knows it ." and [*texts(path)[:4], *texts(path)[5:]] == [*before[:4], *before[5:]]


def test_a_text_that_met_a_conflict_is_not_lost_by_the_key_for_the_next(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    two.keyboard.press("Enter")
    two.keyboard.press("Control+a")
    two.keyboard.type("two was")
    two.wait_for_selector("#message:not([hidden])")
    two.keyboard.type(" late .")
    two.keyboard.press("F9")
    until(two, "document.getElementById('place').textContent.startsWith('2 of')")
    press(two, "F7")
    assert two.input_value("#text") == "two was late ." and texts(path)[0][1] == "one was first ."


def test_a_text_that_met_a_conflict_waits_for_a_server_that_does_not_answer(visit, serve, chromium):
    served = serve(visit)
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    two.route("**/transcript*", lambda route: route.abort(), times=2)
    type_at_once(two, "two was late .")
    until(two, "document.getElementById('saving').textContent.includes('does not answer')")
    settled(two)
    press(two, "ArrowDown", "ArrowUp")
    assert two.input_value("#text") == "two was late ." and "one was first" in two.inner_text("#u0") and not two.wrong


def test_a_speaker_that_met_a_conflict_stays_typed(visit, serve, chromium):
    served, path = serve(visit), visit / "test01.cha"
    one, two = opened(chromium, served), opened(chromium, served)
    type_text(one, "one was first .")
    press(two, "S")
    two.fill("#person-name", "Rexi")
    two.click("#person-save")
    until(two, "document.getElementById('person-problem').textContent.includes('another window')")
    settled(two)
    assert two.input_value("#person-name") == "Rexi"
    two.click("#person-save")
    settled(two)
    assert "Rexi" in path.read_text()
