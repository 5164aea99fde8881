"""A folder of recordings without transcripts: the page offers to transcribe them, then opens what was made."""

from __future__ import annotations

import pytest
from review_page import until

from lsa_whisper import chat

pytestmark = pytest.mark.slow
BUTTONS = "[...document.querySelectorAll('#files button')].map((each) => each.textContent)"


def test_a_recording_is_transcribed_from_the_page_and_opened(visit, serve, chromium, scripted):
    path = visit / "test01.cha"
    path.unlink()
    page = chromium.new_page()
    page.goto(serve(visit, "--model", scripted).address)
    page.wait_for_selector("#transcription:not([hidden])")
    assert "1 recording has no transcript" in page.inner_text("#transcription-state")
    page.click("#transcribe-all")
    until(page, f"{BUTTONS}.includes('Review')")
    made = chat.read(path)
    assert made.utterances and not chat.check(made)
    page.locator("#files button").filter(has_text="Review").click()
    page.wait_for_selector("#list .utterance")
    assert made.utterances[0].text in page.input_value("#text")
