"""What the real whisper-base writes of real speech: no full stop stands where only a segment ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsa_whisper.transcription import Transcriber

DATA = Path("../shared/data").resolve()


@pytest.mark.slow
def test_no_utterance_ends_where_only_a_segment_does():
    if not (DATA / "whisper" / "base").is_dir():
        pytest.skip("no real Whisper beside the project (../shared/data/whisper/base)")
    found = Transcriber(DATA / "whisper" / "base", style="fluent", device="cpu").transcribe(
        DATA / "paired" / "michael.flac"
    )
    said = " | ".join(each.text for each in found.utterances)
    assert "nothing going else going on" in said  # the segment ends behind "going"
    assert "this is me talking really slow" in said
