"""The pictures of a report: of the worst utterances, with the words at their times, and small."""

import json
import re

import numpy as np
import soundfile as sf

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.evaluation import evaluate
from lsa_whisper.evaluation.report_rows import MAX_PICTURES
from lsa_whisper.timespan import TimeSpan

PEOPLE = [Participant("CHI", "Target_Child")]
WORDS = [("the", TimeSpan(1000, 1200)), ("dog", TimeSpan(1300, 1900)), ("ran", TimeSpan(2000, 2400))]


def write(path, utterances):
    path.parent.mkdir(exist_ok=True)
    chat.write(chat.compose(languages=["eng"], participants=PEOPLE, utterances=utterances), path)


def pictures(tmp_path, **options):
    report = evaluate(tmp_path / "a", [tmp_path / "b"], out=tmp_path / "out", samples=40, **options).report
    found = re.search(r'id="pictures">(.*?)</script>', report.read_text(), re.DOTALL)
    return json.loads(found[1]) if found else {}


def recorded(tmp_path, seconds=4):
    tmp_path.joinpath("sound").mkdir()
    sf.write(tmp_path / "sound" / "x.wav", np.random.default_rng(0).standard_normal(16_000 * seconds) * 0.1, 16_000)


def test_words_stand_at_their_times_known_or_estimated(tmp_path):
    recorded(tmp_path)
    write(tmp_path / "a" / "x.cha", [chat.utterance("CHI", "the dog ran .", TimeSpan(1000, 2400), WORDS)])
    write(tmp_path / "b" / "x.cha", [chat.utterance("CHI", "the cat .", TimeSpan(1000, 2400))])
    assert pictures(tmp_path) == {}, "without recordings"
    found = pictures(tmp_path, audio=tmp_path / "sound")
    picture, start, end, (reference, system) = found["0"]
    assert picture.startswith("data:image/png;base64,") and (start, end) == (0.9, 2.5)
    assert reference == [["the", 1.0, 1.2, 1], ["dog", 1.3, 1.9, 1], ["ran", 2.0, 2.4, 1]]
    assert system == [["the", 1.0, 1.7, 0], ["cat", 1.7, 2.4, 0]], "its times are shared by letters"


def test_only_the_worst_have_a_picture_and_it_is_small(tmp_path):
    recorded(tmp_path, seconds=130 * 2)
    said = [chat.utterance("CHI", "the dog ran home .", TimeSpan(2000 * n, 2000 * n + 1500)) for n in range(130)]
    heard = [chat.utterance("CHI", "the dog ran home ." if n < 10 else "no .", one.span) for n, one in enumerate(said)]
    write(tmp_path / "a" / "x.cha", said)
    write(tmp_path / "b" / "x.cha", heard)
    found = pictures(tmp_path, audio=tmp_path / "sound")
    assert len(found) == MAX_PICTURES and min(map(int, found)) == 10, "none where nothing is wrong"
    assert max(len(one[0]) for one in found.values()) < 16_000, "noise is the hardest to compress"
