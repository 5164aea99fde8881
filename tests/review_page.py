"""What the tests of the review page do with it: open it, press keys, wait until everything is saved."""

from __future__ import annotations

import time
from contextlib import contextmanager
from itertools import pairwise

from lsa_whisper import chat
from lsa_whisper.decoding.confidences import (
    Calibration,
    Confidences,
    ScoredUtterance,
    confidences_path,
    write_confidences,
)
from lsa_whisper.timespan import TimeSpan

MAX_WAIT_S = 300
"""After so many seconds a wait has failed; a transcription beside other tests can take more than 40."""

PLAIN = "the goat was new ."
ASKED = ("f",)
"""Keys of marks that ask before they mark such words, and mark when they are pressed again."""
MARKED = {
    "f": "&-the goat was new .", "g": "&+the goat was new .", "r": "the [/] goat was new .",
    "v": "the [//] goat was new .", "t": "the [///] goat was new .", "s": "the [/-] goat was new .",
    "l": "the: goat was new .", "b": "≠the goat was new .", "w": "↫th↫the goat was new .",
    "p": "the (.) goat was new .", "x": "xxx goat was new .", "e": "&=the goat was new .",
}  # fmt: skip
"""The text of ``PLAIN`` after the key of a mark, with its first word chosen."""


def opened(chromium, served, width=1280, theme="light"):
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("request", lambda r: page.wrong.append(r.url) if not r.url.startswith(served.address) else None)
    page.unanswered = set()
    page.on("request", lambda r: page.unanswered.add(r) if r.resource_type == "fetch" else None)
    for answered in ("requestfinished", "requestfailed"):
        page.on(answered, lambda r: page.unanswered.discard(r))
    page.goto(served.address)
    page.wait_for_selector("#list .utterance")
    return page


def listed(chromium, served):
    """Return a page that shows the files of a folder."""
    page = chromium.new_page()
    page.goto(served.address)
    page.wait_for_selector("#files button")
    return page


def until(page, expression):
    """Wait until an expression is true; the page's own policy forbids playwright's ``wait_for_function``."""
    deadline = time.monotonic() + MAX_WAIT_S
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"{expression} is still false; the page says: {page.inner_text('body')}"
        page.wait_for_timeout(50)


def settled(page):
    """Wait until what was done is saved and shown; what is typed is sent after a while, all else at once."""
    typing = page.evaluate("document.activeElement.matches('input, textarea')")
    page.wait_for_timeout(350 if typing else 50)
    until(page, "['', 'saved'].includes(document.getElementById('saving').textContent)")
    deadline = time.monotonic() + MAX_WAIT_S
    while unanswered := getattr(page, "unanswered", ()):  # Firefox's driver does not tell
        assert time.monotonic() < deadline, f"no answer to {[each.url for each in unanswered]}"
        page.wait_for_timeout(50)


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
    settled(page)


def drag_end(page, canvas, end_ms, pixels, down=40):
    """Drag the end that is shown at ``end_ms``, ``down`` pixels below a canvas's upper edge, to the left."""
    begin_drag(page, canvas, end_ms, pixels, down)
    page.mouse.up()
    settled(page)


def begin_drag(page, canvas, end_ms, pixels, down=40):
    """Drag an end, but do not let it go yet."""
    start, end = page.evaluate(
        "import(new URL('page/waveform.js', location)).then(({ view }) => [view.start, view.end])"
    )
    box = page.locator(canvas).bounding_box()
    x, y = box["x"] + (end_ms - start) / (end - start) * box["width"], box["y"] + down
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - pixels, y, steps=4)


def type_at_once(page, text, *, delay=0):
    """Type a text instead of what is there, a key each ``delay`` ms, and leave the field; it need not be saved yet."""
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type(text, delay=delay)
    page.keyboard.press("Enter")


def type_text(page, text):
    type_at_once(page, text)
    settled(page)


WITHHELD = """() => {
const ask = window.fetch, asked_for = new Promise((done) => { window.answerAll = done; });
window.fetch = async (...asked) => {
  const answer = await ask(...asked);
  if (asked[0] === "action") await asked_for;
  return answer;
};
}"""
"""Withholds the answers to all edits until ``answerAll`` is called; the server has made the first by then."""


@contextmanager
def unanswered(page):
    """Withhold the answers to all edits until the block ends."""
    page.evaluate(WITHHELD)
    yield
    page.evaluate("answerAll()")
    settled(page)


def comments(path):
    """Return the comments on each utterance."""
    return [[tier.value for tier in each.tiers if tier.name == "%com"] for each in chat.read(path).utterances]


def texts(path):
    return [(each.speaker, each.text) for each in chat.read(path).utterances]


def with_confidences(path):
    """Write the confidences of a draft: its tenth utterance is doubtful, its fifth a little, and words are missing.

    Missing words are claimed for the longest pause between utterances.
    """
    rows = []
    spans = [each.span for each in chat.read(path).utterances if each.span]
    _, gap = max(
        (b.start_ms - a.end_ms, TimeSpan(a.end_ms, b.start_ms)) for a, b in pairwise(spans) if b.start_ms > a.end_ms
    )
    for number, each in enumerate(chat.read(path).utterances):
        words = tuple(each.verbatim())
        scores = tuple(-0.01 - (1.5 if number == 9 else 0.8 if number == 4 else 0) for _ in words)
        rows.append(ScoredUtterance(each.speaker, each.text, each.span, words, scores, (None,) * len(words)))
    write_confidences(Confidences(tuple(rows), Calibration(), f"{path.stem}.flac", (gap,)), confidences_path(path))


def press_mark(page, key):
    """Press the key of a mark, twice where the page asks."""
    press(page, key)
    if key in ASKED:
        assert "press the key again" in page.evaluate("document.getElementById('message').textContent")
        press(page, key)
