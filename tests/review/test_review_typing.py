"""Working inside the text: playing while typing, marks at the cursor, proposals, questions, find and replace."""

from __future__ import annotations

import pytest
from review_page import opened, press, settled, texts, until, with_confidences

from lsa_whisper import chat

pytestmark = pytest.mark.slow
SOUND = "document.getElementById('audio')"


def at_s(page):
    return page.evaluate(f"{SOUND}.currentTime")


def test_a_pause_keeps_the_place_and_going_on_rewinds_a_little(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    span = chat.read(visit / "test01.cha").utterances[1].span
    press(page, "ArrowDown", "Enter", "Control+Home", "Control+Space")
    until(page, f"{SOUND}.currentTime > {span.start_ms / 1000 + 0.8}")
    page.keyboard.type("x")
    page.keyboard.press("Control+Space")
    until(page, f"{SOUND}.paused")
    paused = at_s(page)
    page.evaluate(f"{SOUND}.playbackRate = 0.0625")  # so that little is played meanwhile on a busy machine
    page.keyboard.press("F4")
    until(page, f"!{SOUND}.paused")
    assert paused - 0.7 < at_s(page) < paused + 0.3
    page.keyboard.press("Control+ArrowLeft")
    until(page, f"{SOUND}.currentTime < {paused - 0.7}")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("Control+Space")
    settled(page)
    assert "x" in texts(visit / "test01.cha")[1][1] and not page.wrong


def test_playing_on_does_not_take_the_text_away(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    press(page, "K")
    page.check("#play-next")
    press(page, "Escape", "K")
    assert not page.is_checked("#play-next")
    page.check("#play-next")
    page.click("#settings-save")
    settled(page)
    span = chat.read(visit / "test01.cha").utterances[0].span
    press(page, "Home", "Enter", "Control+Space")
    until(page, f"{SOUND}.currentTime > {span.end_ms / 1000 + 0.4}")
    assert page.evaluate("document.getElementById('place').textContent").startswith("1 of")
    press(page, "Control+Space")
    assert not page.wrong


def test_keys_are_chosen_and_kept(visit, serve, chromium):
    first = serve(visit)
    page = opened(chromium, first)
    press(page, "K", "Backspace", "F8", "Enter")
    assert not page.is_visible("#settings")
    first.kill()
    page.close()
    page = opened(chromium, serve(visit))
    press(page, "Enter", "F8")
    until(page, f"!{SOUND}.paused")
    page.keyboard.press("F8")
    until(page, f"{SOUND}.paused")
    page.keyboard.press("K")
    press(page, "Escape", "K")
    assert page.input_value("#key-play") == "F8"
    press(page, "Control+Space", "Enter")
    assert not page.wrong


def test_a_mark_is_put_where_the_sound_is(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    each = chat.read(path).utterances[1]
    spans = each.word_spans()
    press(page, "ArrowDown")
    page.evaluate("document.getElementById('speed').value = '0.5'")
    page.keyboard.press(" ")
    until(page, f"{SOUND}.currentTime * 1000 > {spans[2].start_ms + 100}")
    page.keyboard.press("h")
    settled(page)
    words = texts(path)[1][1].split()
    assert words.index("&-uh") in (2, 3, 4) and words.count("&-uh") == each.text.split().count("&-uh") + 1


def test_a_word_that_is_no_filler_is_asked_about(visit, serve, chromium):
    path = visit / "test01.cha"
    before = path.read_bytes()
    page = opened(chromium, serve(visit))
    press(page, "Home", "f")
    assert "not a filled pause of eng" in page.inner_text("#message") and path.read_bytes() == before
    press(page, "ArrowRight", "f")
    assert path.read_bytes() == before
    press(page, "f")
    assert texts(path)[0][1].split()[1].startswith("&-")


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [("um I see it .", "&-um I see it ."), ("wan- want it .", "&+wan want it ."), ("#hey you .", "(.) hey you .")],
)
def test_other_notations_are_proposed_as_chat(typed, proposed, visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "Enter", "Control+a")
    page.keyboard.type(typed)
    page.wait_for_selector("#proposal:not([hidden])")
    assert texts(path)[0][1] == typed
    press(page, "Alt+Enter")
    assert texts(path)[0][1] == proposed and not page.is_visible("#proposal")


def test_missing_words_are_shown_and_become_an_utterance(visit, serve, chromium):
    path = visit / "test01.cha"
    with_confidences(path)
    count = len(texts(path))
    page = opened(chromium, serve(visit))
    press(page, "G")
    assert "too few words" in page.inner_text("#message")
    assert page.locator("#rows .utterance").filter(has_text="speech and too few words").count() == 1
    press(page, "I")
    page.keyboard.type("yes I do .")
    press(page, "Enter")
    assert len(texts(path)) == count + 1 and "yes I do ." in [text for _, text in texts(path)]
    assert page.locator("#rows .utterance").filter(has_text="speech and too few words").count() == 0
    assert not chat.check(chat.read(path)) and not page.wrong


def test_replacing_with_a_regular_expression_is_one_step(visit, serve, chromium):
    path = visit / "test01.cha"
    before = path.read_bytes()
    page = opened(chromium, serve(visit))
    press(page, "R")
    page.keyboard.type(r"&-(uh|um)\b")
    page.check("#regex")
    page.fill("#replace-with", "&-$1m")
    changed = page.locator("#replace-preview li").count()
    assert changed and page.inner_text("#replace-count").startswith(f"{changed} of")
    page.click("#replace-all")
    settled(page)
    now = [text for _, text in texts(path)]
    assert sum("&-uhm" in text or "&-umm" in text for text in now) == changed
    press(page, "Escape", "z")
    assert path.read_bytes() == before
    press(page, "R")
    page.fill("#find", "(")
    assert page.inner_text("#replace-problem") and page.is_disabled("#replace-all") and not page.wrong


def test_speakers_are_merged_on_the_page(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "S")
    page.select_option("#person", "ADU")
    page.fill("#person-age", "two")
    press(page, "Enter")
    page.click("#person-save")
    until(page, "document.getElementById('person-problem').textContent.includes('age')")
    page.select_option("#person", "ADU")
    page.select_option("#person-into", "CHI")
    page.click("#person-merge")
    settled(page)
    assert {speaker for speaker, _ in texts(path)} == {"CHI"} and list(chat.read(path).participants) == ["CHI"]
    press(page, "Escape", "z")
    assert {speaker for speaker, _ in texts(path)} == {"CHI", "ADU"} and not page.wrong


def test_enter_puts_the_cursor_before_the_terminator(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    words, terminator = texts(path)[0][1].rsplit(" ", 1)
    press(page, "Enter")
    page.keyboard.type(" today")
    press(page, "Control+ArrowDown")
    assert texts(path)[0][1] == f"{words} today {terminator}" and not page.wrong
    assert page.evaluate("text.value.slice(text.selectionStart)") == f" {texts(path)[1][1].rsplit(' ', 1)[1]}"


@pytest.mark.parametrize("field", ["text", "replace-with"])
def test_enter_that_takes_a_word_of_an_input_method_stays_in_the_field(field, visit, serve, chromium):
    before = (visit / "test01.cha").read_bytes()
    page = opened(chromium, serve(visit))
    press(page, "Enter" if field == "text" else "R")
    if field != "text":
        page.fill("#find", "the")
        page.focus(f"#{field}")
    browser = page.context.new_cdp_session(page)
    browser.send("Input.imeSetComposition", {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    for kind in ("rawKeyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", {"type": kind, "key": "Enter", "windowsVirtualKeyCode": 229})
    assert page.evaluate("document.activeElement.id") == field
    browser.send("Input.insertText", {"text": "你"})
    settled(page)
    assert "你" in page.input_value(f"#{field}") and "ni" not in page.input_value(f"#{field}")
    assert ((visit / "test01.cha").read_bytes() == before) == (field != "text") and not page.wrong


@pytest.mark.parametrize("layout", ["нряъ", "υηζ]"], ids=["Cyrillic", "Greek"])
def test_keys_of_another_script_mean_what_latin_ones_mean_in_their_place(layout, visit, serve, chromium):
    path = visit / "test01.cha"
    before, keys = path.read_bytes(), dict(zip("yhz]", layout, strict=True))
    page = opened(chromium, serve(visit))
    browser = page.context.new_cdp_session(page)

    def press_place(latin, *, control=False):
        pressed = {"key": keys[latin], "code": "BracketRight" if latin == "]" else f"Key{latin.upper()}"}
        for kind in ("rawKeyDown", "keyUp"):
            browser.send("Input.dispatchKeyEvent", {"type": kind, "modifiers": 2 * control, **pressed})
        settled(page)

    press_place("y")
    assert page.inner_text("#progress").startswith("1 of") and page.inner_text("#place").startswith("2 of")
    press_place("h")
    assert "&-uh" in texts(path)[1][1]
    press_place("z", control=True)
    press_place("z")
    assert path.read_bytes() == before
    shown = "import(new URL('page/waveform.js', location)).then(({ view }) => view.end - view.start)"
    wide = page.evaluate(shown)
    press_place("]")
    assert page.evaluate(shown) < wide and not page.wrong
