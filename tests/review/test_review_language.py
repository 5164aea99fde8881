"""The review page in another language: its scripts translate what they write."""

from __future__ import annotations

import pytest
from review_page import opened, press

from lsa_whisper import chat


@pytest.mark.slow
def test_the_scripts_write_german(visit, serve, chromium):
    count = len(chat.read(visit / "test01.cha").utterances)
    page = opened(chromium, serve(visit, "--page-language", "de"))
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.locator("#found").inner_text() == f"{count} von {count} Äußerungen"
    assert page.locator("#commands button").all_inner_texts()[0] == "Teilen (d)"
    press(page, "?")
    keys = page.locator("#keys").inner_text()
    assert "nächste Äußerung" in keys and "markieren: gefüllte Pause" in keys and "next utterance" not in keys
