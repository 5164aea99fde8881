"""Manifests of other tools become transcripts of the recordings that they name."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading import read_transcripts


def read(tmp_path, rows):
    path = tmp_path / "metadata.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        found.name: [
            (u.speaker, u.text, u.span and (u.span.start_ms, u.span.end_ms)) for u in found.transcript.utterances
        ]
        for found in read_transcripts(path)
    }


def test_nemo_without_offset(tmp_path):
    rows = [{"audio_filepath": f"x/{name}.wav", "duration": 1.5, "text": "um the the dog"} for name in "ab"]
    expected = [("PAR", "&-um the [/] the dog .", (0, 1500))]
    assert read(tmp_path, rows) == {"a": expected, "b": expected}


def test_chat_labels_stay_as_they_are(tmp_path):
    rows = [{"audio_filepath": "a.wav", "offset": 1, "duration": 2, "text": "<a dog> [//] a cat ran ."}]
    assert read(tmp_path, rows) == {"a": [("PAR", "<a dog> [//] a cat ran .", (1000, 3000))]}


def test_lhotse_cuts(tmp_path):
    cut = {
        "id": "c1",
        "start": 10.0,
        "duration": 5.0,
        "recording": {"id": "r", "sources": [{"type": "file", "channels": [0], "source": "sound/visit.wav"}]},
        "supervisions": [
            {"id": "s1", "start": 0.5, "duration": 1.0, "text": "A dog.", "speaker": "CHI", "language": "en"},
            {"id": "s2", "start": 2.0, "duration": 1.0, "text": "Yes?", "speaker": "MOT"},
        ],
    }
    assert read(tmp_path, [cut, cut | {"id": "c2", "supervisions": []}]) == {
        "visit": [("CHI", "a dog .", (10_500, 11_500)), ("MOT", "yes ?", (12_000, 13_000))]
    }


def test_an_audio_folder(tmp_path):
    sf.write(tmp_path / "a.wav", np.zeros(16_000, np.float32), 16_000)
    rows = [{"file_name": "a.wav", "transcription": "hello"}, {"file_name": "b.wav", "transcription": "bye"}]
    assert read(tmp_path, rows) == {"a": [("PAR", "hello .", (0, 1000))], "b": [("PAR", "bye .", None)]}


@pytest.mark.parametrize(
    "row",
    [
        {"supervisions": 3, "recording": {"id": "r"}},
        {"supervisions": [{"text": "a", "start": -1, "duration": 1}], "recording": {"id": "r"}},
        {"supervisions": [{"start": 0, "duration": 1}], "recording": {"id": "r"}},
        {"supervisions": []},
        {"file_name": "a.wav"},
        {"file_name": 7, "text": "a"},
        {"audio_filepath": "a.wav", "text": "a", "offset": "x"},
    ],
)
def test_damaged_rows_are_named(row, tmp_path):
    with pytest.raises(FormatError, match=r"metadata\.jsonl:2: "):
        read(tmp_path, [{"audio_filepath": "a.wav", "duration": 1, "text": "a"}, row])
