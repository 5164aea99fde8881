"""Every key of the help: what it does in Chromium, on a session of storybook and on a real recording."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from review_page import MARKED, opened, press, settled, texts, until, with_confidences

from lsa_whisper import chat

pytestmark = pytest.mark.slow(minutes=1.2)

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Material:
    """A transcript, the utterance that keys are tried on, and what is known of it.

    ``before_gap`` and ``after_gap`` are words with silence after and before them; without ``%wor`` they are ``None``.
    """

    path: Path
    at: int
    doubtful: int
    divided_at: int
    sought: str
    before_gap: int | None = None
    after_gap: int | None = None


MATERIALS = [
    # <the sister> [/] the sister is in the beach .
    Material(ROOT / "corpora/storybook/test/test01.cha", 4, 9, 4, "goat", before_gap=1, after_gap=2),
    # and here's some more words [/] words [/] words [/] words &-um and that should be all thanks .
    Material(ROOT.parent / "shared/data/paired/michael.cha", 2, 4, 2, "words"),
]


class Session:
    """The page at the utterance of a material, and the copy of its file."""

    def __init__(self, page, path, material):
        self.page, self.path, self.material = page, path, material
        self.before = path.read_bytes()
        press(page, "Home", *["ArrowDown"] * material.at)

    def press(self, *keys):
        press(self.page, *keys)

    def of_page(self, expression):
        """Return a value of the page's state, which is ``state`` in the expression."""
        return self.page.evaluate(f"import(new URL('page/state.js', location)).then(({{ state }}) => {expression})")

    @property
    def at(self):
        return self.of_page("state.at")

    @property
    def words(self):
        return self.of_page("[state.first, state.last]")

    @property
    def focus(self):
        return self.page.evaluate("document.activeElement.id")

    @property
    def each(self):
        return chat.read(self.path).utterances[self.material.at]

    @property
    def unchanged(self):
        return self.path.read_bytes() == self.before

    def moves_to(self, at, *keys):
        self.press(*keys)
        assert self.at == at and self.unchanged

    def chooses(self, first, last, *keys):
        self.press(*keys)
        assert self.words == [first, last] and self.unchanged

    def plays(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        until(self.page, "!document.getElementById('audio').paused")
        self.page.keyboard.press(" ")
        until(self.page, "document.getElementById('audio').paused")

    def shifts(self, key, start_ms, end_ms):
        before = self.each.span
        self.press(key)
        after = self.each.span
        assert (after.start_ms - before.start_ms, after.end_ms - before.end_ms) == (start_ms, end_ms)

    def shifts_word(self, word, key, start_ms, end_ms):
        """Words may not overlap, so a word with silence on the side of the moved end is given, if words have times."""
        if word is None:
            self.press("ArrowRight", key)
            assert self.unchanged
            return
        self.press(*["ArrowRight"] * word)
        before = self.each.word_spans()[word]
        self.press(key)
        after = self.each.word_spans()[word]
        assert (after.start_ms - before.start_ms, after.end_ms - before.end_ms) == (start_ms, end_ms)

    def writes(self, text, *keys):
        self.press(*keys)
        assert self.each.text == text


def goes_back(session):
    """``N`` leads back to the doubtful utterance before."""
    session.press("n")
    first = session.at
    session.press("n")
    assert session.at != first
    session.moves_to(first, "N")


def speed(session, key, by):
    index = "document.getElementById('speed').selectedIndex"
    before = session.page.evaluate(index)
    session.press(key)
    assert session.page.evaluate(index) == before + by


def loop(session, key="o"):
    pressed = "document.getElementById('loop').getAttribute('aria-pressed')"
    session.press(key)
    assert session.page.evaluate(pressed) == "true"
    session.press(key)
    assert session.page.evaluate(pressed) == "false"


def types(session):
    session.press("Enter")
    assert session.focus == "text"
    session.press("Escape")
    assert session.focus == "list" and session.unchanged


def reviews(session):
    session.press("y")
    assert session.each.reviewed and session.at == session.material.at + 1
    session.press("ArrowUp", "Y")
    assert not session.each.reviewed


def counts(session, change, *keys):
    before = len(texts(session.path))
    session.press(*keys)
    assert len(texts(session.path)) == before + change and not chat.check(chat.read(session.path))


def comments(session):
    session.press("c")
    session.page.keyboard.type("was noisy")
    session.press("Enter")
    assert b"%com:\twas noisy" in session.path.read_bytes() and session.focus == "list"


def undoes(session, undo, redo):
    session.press("l")
    changed = session.path.read_bytes()
    assert changed != session.before
    session.press(undo)
    assert session.unchanged
    session.press(redo)
    assert session.path.read_bytes() == changed


def proposes(session):
    session.page.keyboard.press("Enter")
    session.page.keyboard.press("Control+a")
    session.page.keyboard.type("I see 2 dogs")
    session.page.wait_for_selector("#proposal:not([hidden])")
    session.writes("I see two dogs .", "Alt+Enter")
    session.press("Escape")


def changes_speaker(session):
    codes = list(chat.read(session.path).participants)
    session.press("2")
    assert session.each.speaker == codes[1]
    session.press("1")
    assert session.each.speaker == codes[0]


def searches(session):
    session.press("/")
    assert session.focus == "search"
    session.page.keyboard.type(session.material.sought)
    session.press("Enter")
    shown = session.page.locator("#rows .utterance").all_inner_texts()
    assert shown and all(session.material.sought in each for each in shown)
    session.page.fill("#search", "")
    session.press("Escape")


def helps(session):
    session.page.keyboard.press("?")
    assert session.page.is_visible("#help")
    session.page.keyboard.press("Escape")
    assert not session.page.is_visible("#help")


def speakers(session):
    session.press("S")
    assert session.focus == "person-new" and session.page.is_visible("#speakers")
    session.press("Escape")
    assert not session.page.is_visible("#speakers") and session.unchanged


def settings(session):
    session.press("K")
    assert session.focus == "key-play" and session.page.is_visible("#settings")
    session.press("Escape")
    assert not session.page.is_visible("#settings")


def replaces(session):
    session.press("R")
    session.page.keyboard.type(session.material.sought)
    session.press("Tab")
    session.page.keyboard.type("cows")
    session.press("Enter", "Escape")
    replaced = " ".join(text for _, text in texts(session.path))
    assert "cows" in replaced and session.material.sought not in replaced


def zooms(session, key, by):
    length = "import(new URL('page/waveform.js', location)).then(({ view }) => view.end - view.start)"
    before = session.page.evaluate(length)
    session.press(key)
    assert session.page.evaluate(length) == pytest.approx(before * by, rel=0.35) and session.unchanged
    session.press({"[": "]", "]": "["}[key])


def spectrogram(session):
    session.press("q")
    assert session.page.is_visible("#spectrogram")
    session.press("q")
    assert not session.page.is_visible("#spectrogram")


def puts(session, key, mark):
    before = session.each.text
    session.writes(f"{mark} {before}", key)


def puts_fragment(session, key, *enter):
    before = session.each.text
    session.press(*enter, *["Home"] * bool(enter), key)
    session.page.keyboard.type("th")
    session.press("Enter")
    assert session.each.text.replace("&+th ", "", 1) == before and session.focus == "list"


def missing_words(session):
    session.press("G")
    assert "Speech, and too few words" in session.page.inner_text("#message") and session.unchanged


def fills(session):
    before = len(texts(session.path))
    session.press("G", "I")
    assert len(texts(session.path)) == before + 1 and session.focus == "text"
    session.page.keyboard.type("yes .")
    session.press("Enter")
    assert "yes ." in [text for _, text in texts(session.path)] and not chat.check(chat.read(session.path))


def in_text(session, key, effect):
    """Press a key inside the text, and leave it."""
    session.press("Enter")
    effect(session, key)
    session.page.keyboard.press("Escape")
    settled(session.page)


def plays_in_text(session, key):
    session.page.keyboard.press(key)
    until(session.page, "!document.getElementById('audio').paused")
    assert session.focus == "text"
    session.page.keyboard.press("Control+Space")
    until(session.page, "document.getElementById('audio').paused")


def moves_in_text(by):
    def effect(session, key):
        session.press(key)
        assert (session.at, session.focus) == (session.material.at + by, "text") and session.unchanged

    return effect


def puts_in_text(mark):
    def effect(session, key):
        before = session.each.text
        session.press("Control+Home", key)
        assert session.each.text == f"{mark} {before}"

    return effect


IN_TEXT = {
    "Ctrl+Space, F4": plays_in_text, "Ctrl+ArrowLeft, F2": plays_in_text, "Ctrl+ArrowRight": plays_in_text,
    "Ctrl+ArrowDown, F9": moves_in_text(1), "Ctrl+ArrowUp, F7": moves_in_text(-1), "Alt+a": plays_in_text,
    "Alt+o": lambda s, key: loop(s, key), "Alt+-": lambda s, key: speed(s, key, -1),
    "Alt++": lambda s, key: (s.press("Alt+-", "Alt+-"), speed(s, key, 1)),
    "Alt+u": puts_in_text("&-um"), "Alt+h": puts_in_text("&-uh"), "Alt+p": puts_in_text("(.)"),
}  # fmt: skip
"""Keys that work inside the text, under their names in the help; where there are two, both are tried."""


def tried_in_text(names, effect):
    def tried(session):
        for name in names.split(", "):
            session.press("Home", *["ArrowDown"] * session.material.at)
            in_text(session, name.replace("Ctrl", "Control"), effect)

    return tried


EFFECTS = {
    "S": speakers,
    "K": settings,
    "R": replaces,
    "[": lambda s: zooms(s, "[", 1.5),
    "]": lambda s: zooms(s, "]", 1 / 1.5),
    "q": spectrogram,
    "u": lambda s: puts(s, "u", "&-um"),
    "h": lambda s: puts(s, "h", "&-uh"),
    "k": lambda s: puts(s, "k", "(.)"),
    "j": lambda s: puts_fragment(s, "j"),
    "Alt+g": lambda s: puts_fragment(s, "Alt+g", "Enter"),
    "G": missing_words,
    "I": fills,
    **{names: tried_in_text(names, effect) for names, effect in IN_TEXT.items()},
    "ArrowDown": lambda s: s.moves_to(s.material.at + 1, "ArrowDown"),
    "ArrowUp": lambda s: s.moves_to(s.material.at - 1, "ArrowUp"),
    "Home": lambda s: s.moves_to(0, "Home"),
    "End": lambda s: s.moves_to(len(texts(s.path)) - 1, "End"),
    "n": lambda s: s.moves_to(s.material.doubtful, "n"),
    "N": goes_back,
    "ArrowRight": lambda s: s.chooses(1, 1, "ArrowRight"),
    "ArrowLeft": lambda s: s.chooses(1, 1, "ArrowRight", "ArrowRight", "ArrowLeft"),
    "Shift+ArrowRight": lambda s: s.chooses(0, 1, "Shift+ArrowRight"),
    "Shift+ArrowLeft": lambda s: s.chooses(0, 1, "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowLeft"),
    "Space": lambda s: s.plays(" "),
    "Shift+Space": lambda s: s.plays("Shift+ "),
    "a": lambda s: s.plays("a"),
    "o": loop,
    "-": lambda s: speed(s, "-", -1),
    "+": lambda s: (s.press("-", "-"), speed(s, "+", 1)),
    "Enter": types,
    "y": reviews,
    "Y": reviews,
    "d": lambda s: counts(s, 1, *["ArrowRight"] * s.material.divided_at, "d"),
    "m": lambda s: counts(s, -1, "ArrowDown", "m"),
    "i": lambda s: counts(s, 1, "i"),
    "Delete": lambda s: counts(s, -1, "Delete"),
    "c": comments,
    ",": lambda s: s.shifts(",", -20, 0),
    ".": lambda s: s.shifts(".", 20, 0),
    "<": lambda s: s.shifts("<", 0, -20),
    ">": lambda s: s.shifts(">", 0, 20),
    "Alt+,": lambda s: s.shifts_word(s.material.after_gap, "Alt+,", -20, 0),
    "Alt+.": lambda s: s.shifts_word(s.material.after_gap, "Alt+.", 20, 0),
    "Alt+ArrowLeft": lambda s: s.shifts_word(s.material.before_gap, "Alt+ArrowLeft", 0, -20),
    "Alt+ArrowRight": lambda s: s.shifts_word(s.material.before_gap, "Alt+ArrowRight", 0, 20),
    "z": lambda s: undoes(s, "z", "Z"),
    "Z": lambda s: undoes(s, "z", "Z"),
    "/": searches,
    "1 to 9": changes_speaker,
    "Alt+Enter": proposes,
    "Ctrl+Z, Ctrl+Y": lambda s: undoes(s, "Control+z", "Control+y"),
    "Escape": types,
    "?": helps,
}


def keys_in_help(page):
    page.keyboard.press("?")
    keys = page.locator("#keys dt").all_inner_texts()
    page.keyboard.press("Escape")
    return keys


@pytest.mark.parametrize("material", MATERIALS, ids=lambda material: material.path.stem)
def test_every_key_of_the_help_does_what_it_says(material, serve, chromium, tmp_path):
    """Each key on the same transcript; the help lists no other key, and none that is tested is missing there."""
    if not material.path.is_file():
        pytest.skip(f"{material.path.name} is absent")
    path = tmp_path / "visit" / material.path.name
    path.parent.mkdir()
    for suffix in (".cha", ".flac"):
        shutil.copyfile(material.path.with_suffix(suffix), path.with_suffix(suffix))
    with_confidences(path)
    original, served = path.read_bytes(), serve(path.parent)
    page = opened(chromium, served)
    keys = keys_in_help(page)
    assert len(keys) == len(set(keys)) and set(keys) == EFFECTS.keys() | MARKED.keys()
    for key, effect in EFFECTS.items():
        try:
            effect(Session(page, path, material))
        except AssertionError as error:
            raise AssertionError(f"key {key}: {error}") from error
        undone = 0
        while path.read_bytes() != original:
            assert undone < 8, key
            press(page, "z")
            undone += 1
    assert not page.wrong
