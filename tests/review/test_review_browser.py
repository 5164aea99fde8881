"""The page as a reviewer uses it: Chromium, by keyboard, on storybook and on a real recording."""

from __future__ import annotations

import json
import random
import shutil
import time
from pathlib import Path

import pytest
from review_page import MAX_WAIT_S, drag_end, opened, press, settled, texts, type_text, until, with_confidences

from lsa_whisper import chat
from lsa_whisper.chat import Participant, compose, utterance

ROOT = Path(__file__).resolve().parents[2]
PAIRED = ROOT.parent / "shared" / "data" / "paired"
pytestmark = pytest.mark.slow


def draft_of(reference, path):
    """Write what a model would have made of a transcript: no marks, no filled pauses, other utterances."""
    lines = [
        utterance(each.speaker, f"{' '.join(w for w in each.fluent())} .", each.span) for each in reference.utterances
    ]
    people = [Participant(code, each.role) for code, each in reference.participants.items()]
    chat.write(compose(languages=["eng"], participants=people, utterances=lines, media=path.stem), path)


def test_utterances_are_divided_joined_inserted_and_deleted(visit, serve, chromium):
    path = visit / "test01.cha"
    original, count = path.read_bytes(), len(chat.read(path).utterances)
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown", "ArrowRight", "ArrowRight", "d")
    assert [text for _, text in texts(path)[1:3]] == ["the goat .", "&-uh was new and little ."]
    press(page, "m")
    assert texts(path)[1][1] == "the goat &-uh was new and little ."
    press(page, "2")
    assert texts(path)[1][0] == list(chat.read(path).participants)[1]
    press(page, "1", "y")
    assert chat.read(path).utterances[1].reviewed
    press(page, "ArrowUp", "Y", ".", ">", "<", ",")
    assert not chat.read(path).utterances[1].reviewed
    press(page, "c")
    page.keyboard.type("was noisy here")
    press(page, "Enter")
    assert b"%com:\twas noisy here" in path.read_bytes()
    press(page, "Delete")
    assert len(texts(path)) == count - 1
    press(page, "i")
    assert not chat.check(chat.read(path))
    for _ in range(30):
        page.keyboard.press("z")
    settled(page)
    assert path.read_bytes() == original
    assert not page.wrong


def test_what_is_typed_is_checked_and_a_proposal_taken(visit, serve, chromium):
    path = visit / "test01.cha"
    before = texts(path)[0]
    page = opened(chromium, serve(visit))
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type("I see 2 dogs")
    page.wait_for_selector("#proposal:not([hidden])")
    assert "character" in page.inner_text("#problems") and texts(path)[0] == before
    page.keyboard.press("Alt+Enter")
    settled(page)
    assert texts(path)[0][1] == "I see two dogs ." and page.inner_text("#problems") == ""


UNLOAD_S = 0.5
"""So long Chromium waits for a page that is closed. One on a machine too busy to answer is killed, as in a crash."""


@pytest.mark.parametrize("leave", ["reload", "close"])
@pytest.mark.parametrize(("keys", "typed"), [("c", "was noisy here"), ("Enter", "now I see it .")])
def test_nothing_typed_is_lost_when_the_page_is_left(keys, typed, leave, visit, serve, chromium):
    """The page goes at once after the last key: nothing has left the field or waited for a pause."""
    path, served = visit / "test01.cha", serve(visit)
    for _ in range(5):
        page = opened(chromium, served)
        press(page, "ArrowDown")
        page.keyboard.press(keys)
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
        began = time.monotonic()
        page.reload() if leave == "reload" else page.close(run_before_unload=True)
        if leave == "reload" or time.monotonic() - began < UNLOAD_S:
            break
    deadline = time.monotonic() + MAX_WAIT_S
    while typed.encode() not in path.read_bytes():
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.05)
    if leave == "reload":
        page.wait_for_selector("#list .utterance")
        press(page, "ArrowDown")
        assert page.input_value("#comment" if keys == "c" else "#text") == typed
        press(page, *["z"] * 3)
        assert typed.encode() not in path.read_bytes() and not page.wrong


def test_text_that_is_not_valid_yet_is_kept_when_the_page_is_left(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    press(page, "Enter", "Control+a")
    page.keyboard.type("now <I see")
    page.reload()
    page.wait_for_selector("#list .utterance")
    until(page, "document.getElementById('text').value === 'now <I see'")


def test_an_utterance_whose_typed_text_is_not_saved_is_neither_reviewed_nor_forgotten(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown", "Enter", "Control+a")
    page.keyboard.type("now <I see")
    press(page, "Escape", "y")
    until(page, "document.getElementById('message').textContent.includes('breaks a rule and is not saved')")
    page.click("#reviewed")
    settled(page)
    assert not page.is_checked("#reviewed") and b"%xrev" not in path.read_bytes()
    press(page, "ArrowUp", "y")
    settled(page)
    assert b"%xrev" in path.read_bytes()
    press(page, "ArrowUp", "i")  # the text moves with its utterance
    settled(page)
    page.reload()
    page.wait_for_selector("#list .utterance")
    until(page, "document.getElementById('text').value === 'now <I see'")
    assert page.inner_text("#place").startswith("3 of") and page.wrong == []


def test_a_proposal_for_an_earlier_text_cannot_be_taken(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type("I see 2 dogs")
    page.wait_for_selector("#proposal:not([hidden])")
    page.evaluate(
        "const text = document.getElementById('text'); text.value += ' now'; text.dispatchEvent(new Event('input'));"
        "text.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', altKey: true, bubbles: true}));"
    )
    assert page.input_value("#text") == "I see 2 dogs now"
    page.wait_for_selector("#proposal:not([hidden])")
    page.keyboard.press("Alt+Enter")
    settled(page)
    until(page, "document.getElementById('text').value.startsWith('I see two dogs now')")
    assert page.wrong == []


def test_playing_looping_and_slowing(visit, serve, chromium):
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown")
    page.keyboard.press(" ")
    until(page, "!document.getElementById('audio').paused")
    span = chat.read(visit / "test01.cha").utterances[1].span
    until(page, "document.getElementById('audio').paused")
    at = page.evaluate("document.getElementById('audio').currentTime")
    assert abs(at - span.end_ms / 1000) < 0.5
    page.keyboard.press("-")
    page.keyboard.press("o")
    page.keyboard.press("a")
    until(page, "!document.getElementById('audio').paused")
    sound = "document.getElementById('audio')"
    assert page.evaluate(f"[{sound}.playbackRate, {sound}.preservesPitch]") == [0.8, True]
    page.keyboard.press(" ")
    until(page, "document.getElementById('audio').paused")
    painted = "[...document.getElementById('wave').getContext('2d').getImageData(0,0,900,100).data].some(Boolean)"
    until(page, painted)


def test_ends_are_dragged_on_the_waveform(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown")
    before = chat.read(path).utterances[1].span
    page.wait_for_timeout(300)
    drag_end(page, "#wave", before.end_ms, 20)
    after = chat.read(path).utterances[1].span
    assert after.start_ms == before.start_ms and after.end_ms < before.end_ms - 20


def corrected_by_keyboard(page, path, reference):
    """Type every utterance as the reference has it; only keys are used."""
    for number, each in enumerate(reference.utterances):
        if texts(path)[number][1] != each.text:
            type_text(page, each.text)
        if number + 1 < len(reference.utterances):
            press(page, "y")


@pytest.mark.parametrize("name", ["test01", "michael"])
def test_a_draft_is_corrected_to_the_reference_by_keyboard_alone(name, serve, chromium, tmp_path):
    source = ROOT / "corpora/storybook/test" if name == "test01" else PAIRED
    if not source.exists():
        pytest.skip("../shared/data/paired is absent")
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(source / f"{name}.flac", folder)
    reference = chat.read(source / f"{name}.cha")
    reference.utterances[:] = reference.utterances[:12]
    path = folder / f"{name}.cha"
    draft_of(reference, path)
    draft = path.read_bytes()
    page = opened(chromium, serve(folder))
    corrected_by_keyboard(page, path, reference)
    assert texts(path) == [(each.speaker, each.text) for each in reference.utterances]
    assert not chat.check(chat.read(path))
    assert (folder / ".review" / path.name).read_bytes() == draft
    page.reload()
    page.wait_for_selector("#list .utterance")
    assert "reviewed" in page.inner_text("#progress")
    for _ in range(60):
        page.keyboard.press("z")
    settled(page)
    assert path.read_bytes() == draft and not page.wrong


@pytest.mark.slow(minutes=1.5)
def test_a_killed_server_loses_at_most_the_last_second(visit, serve, chromium):
    """Thirty times: type, kill at a random moment, start again; the text is there, the file valid."""
    path, random_, served = visit / "test01.cha", random.Random(7), serve(visit)
    for turn in range(30):
        page = opened(chromium, served)
        page.keyboard.press("Enter")
        page.keyboard.press("Control+a")
        typed = []
        until = time.monotonic() + random_.uniform(0.3, 2.5)
        words = iter(f"turn {'a' * (turn % 9 + 1)} " + "go and see the big dog . " * 40)
        page.keyboard.type("x")
        while time.monotonic() < until:
            sign = next(words)
            page.keyboard.type(sign, delay=random_.uniform(5, 60))
            typed.append((time.monotonic(), sign))
        killed = time.monotonic()
        served.kill()
        page.close()
        assert not chat.check(chat.read(path)), turn
        served = serve(visit)
        found = json.loads(served.request("transcript?file=0")[1])
        kept = found["pending"].get("0", found["utterances"][0]["text"])
        safe = "x" + "".join(sign for at, sign in typed if at < killed - 1)
        if len(safe) > 1:
            assert kept.replace(" ", "").startswith(safe.replace(" ", "")), (turn, kept, safe)


def test_the_doubtful_come_first_and_filters_narrow_the_list(visit, serve, chromium):
    with_confidences(visit / "test01.cha")
    page = opened(chromium, serve(visit))
    page.keyboard.press("n")
    assert page.inner_text("#place").startswith("10 of")
    press(page, "y")
    assert "errors left" in page.inner_text("#progress")
    page.keyboard.press("Home")
    page.keyboard.press("n")
    assert page.inner_text("#place").startswith("5 of")
    assert page.locator("#words .doubt1, #words .doubt2").count()
    page.select_option("#order", "doubtful")
    assert page.locator("#rows .utterance").first.get_attribute("id") == "u4"
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("goat")
    shown = page.locator("#rows .utterance").all_inner_texts()
    assert shown and all("goat" in each for each in shown)
    page.fill("#search", "")
    page.select_option("#kind", "repetition")
    assert all("[/]" in each for each in page.locator("#rows .utterance").all_inner_texts())
    page.select_option("#kind", "")
    page.select_option("#which", "reviewed")
    assert page.locator("#rows .utterance").count() == 1
    page.select_option("#which", "")
    whole = int(page.inner_text("#found").split()[2])
    for name, values in {"which": ("reviewed", "unreviewed"), "who": ("CHI", "ADU")}.items():
        counts = []
        for value in values:
            page.select_option(f"#{name}", value)
            counts.append(int(page.inner_text("#found").split()[0]))
        page.select_option(f"#{name}", "")
        assert sum(counts) == whole and min(counts) > 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_violation_of_accessibility_rules(visit, serve, chromium, width, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra has it")
    with_confidences(visit / "test01.cha")
    shutil.copy(visit / "test01.cha", visit.parent / "second.cha")
    (visit / "other.flac").write_bytes((visit / "test01.flac").read_bytes())
    served = serve(visit, "--compare", visit.parent / "second.cha")
    page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.goto(served.address)

    def violations():
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        return [(each["id"], each["nodes"][0]["html"]) for each in axe.Axe().run(page).response["violations"]]

    page.wait_for_selector("#files button")
    assert violations() == []
    page.locator("#files button").filter(has_text="Review").first.click()
    page.wait_for_selector("#list .utterance")
    page.keyboard.press("n")
    assert violations() == []
    page.keyboard.press("?")
    assert page.is_visible("#help") and violations() == []
    page.keyboard.press("Escape")
    for key, dialog in {"S": "#speakers", "K": "#settings", "R": "#replacing"}.items():
        page.keyboard.press(key)
        page.keyboard.type("go" if key == "R" else "")
        assert page.is_visible(dialog) and violations() == [], dialog
        page.keyboard.press("Escape")
    page.keyboard.press("G")
    assert violations() == []
    page.click("#compare-button")
    page.wait_for_selector("#pairs .pair")
    assert violations() == []
    page.close()


def test_markup_in_names_and_texts_stays_text(visit, serve, chromium):
    evil = "<img src=x onerror=document.title='broken'>"
    path = visit / "test01.cha"
    path.write_bytes(path.read_bytes().replace(b"now turn that page", evil.encode()))
    path.rename(visit / f"{evil}.cha")
    page = opened(chromium, serve(visit / f"{evil}.cha"))
    page.wait_for_timeout(300)
    assert page.title() == "Review" and page.locator("img").count() == 0
    assert evil.split()[0] in page.inner_text("#rows")
