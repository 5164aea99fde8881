"""A draft of a stock model becomes the reference by keys alone, in Chromium and Firefox: speakers, fillers, retraces.

The draft is what whisper-base writes of eng_multi_speaker: one speaker, nine utterances of twelve, no filler. Before
speakers could be added on the page, no number of keys was enough.
"""

from __future__ import annotations

import shutil
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from firefox import Firefox
from review_page import settled, texts, until

from lsa_whisper import chat
from lsa_whisper.transcription import transcribe

pytestmark = pytest.mark.slow

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
REFERENCE = SHARED / "paired" / "eng_multi_speaker.cha"
MAX_KEYS = 500
MAX_EXTRA_KEYS = 150
"""Keys besides the letters of the reference."""
CODES = {
    "Enter": "\ue007", "Home": "\ue011", "End": "\ue010", "ArrowUp": "\ue013", "ArrowDown": "\ue015", "Tab": "\ue004",
    "Escape": "\ue00c", "Delete": "\ue017", "Shift": "\ue008", "Control": "\ue009",
}  # fmt: skip
"""Keys in the WebDriver standard."""


class Keyboard:
    """Presses keys in one of the browsers, and counts them; keys held together are one."""

    def __init__(self, page):
        self.page, self.count = page, 0

    def press(self, *names):
        for name in names:
            self.count += 1
            if isinstance(self.page, Firefox):
                self.page.chord(*(CODES.get(part, part) for part in name.split("+")))
            else:
                self.page.keyboard.press(name)

    def type(self, text):
        self.count += len(text)
        self.page.press(*text) if isinstance(self.page, Firefox) else self.page.keyboard.type(text)

    def wait(self):
        settled(self.page)


@pytest.fixture(params=["chromium", "firefox"])
def page(request, tmp_path):
    if request.param == "chromium":
        found = request.getfixturevalue("chromium").new_page(viewport={"width": 1280, "height": 900})
        yield found
        found.close()
        return
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox in this environment")
    (tmp_path / "profile").mkdir()
    found = Firefox(program, tmp_path / "profile")
    yield found
    found.close()


@pytest.fixture(scope="module")
def draft(tmp_path_factory):
    """The draft of the stock model beside its recording."""
    if not (SHARED / "whisper" / "base").is_dir():
        pytest.skip("../shared/data/whisper/base is absent")
    folder = tmp_path_factory.mktemp("draft")
    shutil.copy(REFERENCE.with_suffix(".mp3"), folder)
    transcribe([folder / "eng_multi_speaker.mp3"], model=SHARED / "whisper" / "base", vad="energy")
    return folder


def name_speakers(keys, codes):
    """Rename the only speaker to the first code, and add the others."""
    keys.press("S")
    until(keys.page, "document.activeElement.id === 'person-new'")
    for number, code in enumerate(codes):
        if number:
            keys.press("Shift+Tab", "End", "Tab")
        keys.type(code)
        keys.press("Enter")
        until(keys.page, f"document.getElementById('person-problem').textContent.includes('{code}')")
    keys.press("Escape")
    keys.wait()


def pairs(drafted, wanted):
    """Return for each wanted text the draft that is most like it, in order; ``None`` where one must be inserted."""
    best = {(0, 0): (0.0, [])}
    for i in range(len(drafted) + 1):
        for j in range(len(wanted) + 1):
            if not i and not j:
                continue
            options = []
            if i and j:
                score, chosen = best[i - 1, j - 1]
                options.append((score + SequenceMatcher(None, drafted[i - 1], wanted[j - 1]).ratio(), [*chosen, i - 1]))
            if i:
                options.append(best[i - 1, j])
            if j:
                options.append((best[i, j - 1][0], [*best[i, j - 1][1], None]))
            best[i, j] = max(options, key=lambda each: each[0])
    return best[len(drafted), len(wanted)][1]


def correct(keys, path, reference):
    """Make the transcript equal to the reference, from its first utterance to its last."""
    wanted, people = [(each.speaker, each.text) for each in reference.utterances], list(reference.participants)
    partners = pairs([text for _, text in texts(path)], [text for _, text in wanted])
    for number in sorted(set(range(len(texts(path)))) - set(partners), reverse=True):
        keys.press("Home", *["ArrowDown"] * number, "Delete")
        keys.wait()
    keys.press("Home")
    for number, (speaker, text) in enumerate(wanted):
        if number:
            keys.press("i" if partners[number] is None else "ArrowDown")
            keys.wait()
        if texts(path)[number][1] != text:
            keys.press("Enter", "Control+a")
            keys.type(text)
            keys.press("Enter")
            keys.wait()
        if texts(path)[number][0] != speaker:
            keys.press(str(people.index(speaker) + 1))
            keys.wait()


def test_a_stock_draft_becomes_the_reference_by_keys_alone(draft, page, serve, tmp_path):
    folder = tmp_path / "visit"
    shutil.copytree(draft, folder)
    path, reference = folder / "eng_multi_speaker.cha", chat.read(REFERENCE)
    assert list(chat.read(path).participants) == ["PAR"]
    page.goto(serve(folder).address)
    until(page, "document.querySelectorAll('#list .utterance').length > 5")
    keys = Keyboard(page)
    name_speakers(keys, list(reference.participants))
    correct(keys, path, reference)
    corrected = chat.read(path)
    assert texts(path) == [(each.speaker, each.text) for each in reference.utterances]
    assert {code: each.role for code, each in corrected.participants.items()} == {
        code: each.role for code, each in reference.participants.items()
    }
    assert not chat.check(corrected)
    letters = sum(len(each.text) for each in reference.utterances)
    print(f"{keys.count} keys, of which {letters} would be the text alone")
    assert keys.count < MAX_KEYS and keys.count - letters < MAX_EXTRA_KEYS
