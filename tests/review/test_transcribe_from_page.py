"""A folder of recordings without transcripts: the page offers to transcribe them, then opens what was made."""

from __future__ import annotations

import shutil

import pytest
from review_page import until

from lsa_whisper import chat

pytestmark = pytest.mark.slow
MANY = 60  # minutes of work: some are left when the page asks to stop, on a busy machine, too
BUTTONS = "[...document.querySelectorAll('#files button')].map((each) => each.textContent)"


def test_recordings_are_transcribed_from_the_page_until_it_is_stopped(visit, serve, chromium, scripted):
    """The share that is done is shown; after a stop nothing is half written, and what was made can be reviewed."""
    (visit / "test01.cha").unlink()
    for number in range(2, MANY + 1):
        shutil.copyfile(visit / "test01.flac", visit / f"test{number:02}.flac")
    page = chromium.new_page()
    page.goto(serve(visit, "--model", scripted).address)
    page.wait_for_selector("#transcription:not([hidden])")
    assert f"{MANY} recordings have no transcript" in page.inner_text("#transcription-state")
    assert page.is_disabled("#undo") and page.is_disabled("#redo")
    page.click("#transcribe-all")
    until(page, f"{BUTTONS}.includes('Review')")
    assert "% done" in page.inner_text("#transcription-state") and page.is_disabled("#transcribe-all")
    page.click("#transcribe-stop")
    until(page, "document.getElementById('transcription-state').textContent.startsWith('Stopped')")
    made = [chat.read(path) for path in sorted(visit.glob("*.cha"))]
    assert 1 <= len(made) < MANY and not any(chat.check(each) for each in made) and not list(visit.glob("*.tmp*"))
    assert page.is_enabled("#transcribe-all")
    page.locator("#files button").filter(has_text="Review").first.click()
    page.wait_for_selector("#list .utterance")
    assert made[0].utterances[0].text in page.input_value("#text")
