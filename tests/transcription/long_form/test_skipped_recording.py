"""Real speech in which a model skips a sentence between two others."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsa_whisper.transcription import Transcriber

DATA = Path("../shared/data").resolve()
MODEL, CLIP = DATA / "whisper" / "tiny.en-relearned-2", DATA / "speech" / "acoustic_corpus.flac"

pytestmark = [
    pytest.mark.slow(minutes=0.5),
    pytest.mark.skipif(not CLIP.exists(), reason="the real recording and model are not beside the project"),
]


def test_a_skipped_sentence_is_written():
    result = Transcriber(MODEL, beams=5).transcribe(CLIP)
    texts = [utterance.text for utterance in result.utterances]
    assert any("this is me" in text.lower() for text in texts), texts  # spoken at 7.6 to 9 s
    starts = [utterance.start_ms for utterance in result.utterances]
    assert starts == sorted(starts)
