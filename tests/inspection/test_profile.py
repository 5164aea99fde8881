"""``inspect --profile``: how often, where and how long each class of disfluency is."""

import json

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.inspection import inspect
from lsa_whisper.timespan import TimeSpan


def test_counts_places_and_silences(tmp_path):
    words = [
        ("um", TimeSpan(0, 200)),
        ("the", TimeSpan(300, 400)),
        ("the", TimeSpan(650, 800)),
        ("dog", TimeSpan(800, 990)),
    ]
    spoken = [
        chat.utterance("CHI", "&-um the [/] the dog .", TimeSpan(0, 990), words),
        chat.utterance("CHI", "a &-uh cat (.) ran .", TimeSpan(1000, 2000)),
    ]
    transcript = chat.compose(
        languages=["eng"], participants=[Participant("CHI", "Target_Child")], utterances=spoken, media="a"
    )
    chat.write(transcript, tmp_path / "a.cha")
    found = json.loads(inspect(tmp_path, profile=True, json=True))
    assert found["fluent_words"] == 5
    pauses = found["classes"]["filled_pause"]
    assert (pauses["count"], pauses["initial"], pauses["silence_ms"]) == (2, 0.5, [100, 100, 100])
    assert found["classes"]["repetition"]["silence_ms"] == [250, 250, 250]
    assert found["classes"]["pause"]["silence_ms"] == []
    assert "40.00" in inspect(tmp_path, profile=True)


def test_without_fluent_words_no_rate_is_given(tmp_path):
    (tmp_path / "a.cha").write_text("*CHI:\t&-um &-uh .\n")
    text = inspect(tmp_path, profile=True)
    assert "filled pause" in text and "200" not in text
    assert json.loads(inspect(tmp_path, profile=True, json=True))["classes"]["filled_pause"]["per_100_words"] is None
