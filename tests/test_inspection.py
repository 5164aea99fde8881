"""What is printed about transcripts and prepared data is what is in them."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper import chat, manifest
from lsa_whisper.chat import Participant
from lsa_whisper.errors import CorpusError, LsaWhisperError, ManifestError
from lsa_whisper.inspection import inspect
from lsa_whisper.manifest import Segment
from lsa_whisper.prepare import prepare
from lsa_whisper.timespan import TimeSpan

FLUENCY = Path(__file__).parents[2] / "shared" / "data" / "chat" / "fluency" / "fluency.cha"


def corpus(folder: Path, sessions: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    people = [Participant("CHI", "Target_Child"), Participant("MOT", "Mother")]
    for at in range(sessions):
        lines = [
            ("CHI", "&-um I want [/] want it .", (100, 2000)),
            ("MOT", "you want <the ball> [//] the doll ?", (2500, 4500)),
            ("CHI", "xxx .", (5000, 6000)),
        ]
        said = [chat.utterance(who, text, TimeSpan(*span)) for who, text, span in lines]
        made = chat.compose(languages=["eng"], participants=people, utterances=said, media=f"s{at}")
        chat.write(made, folder / f"s{at}.cha")
        noise = np.random.default_rng(at).standard_normal(16_000 * 7) * 0.1
        sf.write(folder / f"s{at}.wav", noise.astype(np.float32), 16_000)
    return folder


@pytest.fixture
def prepared(tmp_path) -> Path:
    prepare([corpus(tmp_path / "corpus", 30)], tmp_path / "prepared", context_s=10)
    return tmp_path / "prepared"


def test_a_transcript_is_counted_per_speaker(tmp_path):
    path = corpus(tmp_path) / "s0.cha"
    found = json.loads(inspect(path, json=True))
    assert list(found) == ["CHI", "MOT"]
    assert found["CHI"]["counts"]["filled_pause"] == 1 and found["CHI"]["counts"]["whole_word_repetition"] == 1
    assert found["MOT"]["counts"]["phrase_revision"] == 1
    table = inspect(path)
    assert "CHI" in table and "filled pause" in table and "strict" in table


@pytest.mark.skipif(not FLUENCY.is_file(), reason="the real transcripts are not beside the project")
def test_the_published_row_is_shown():
    table = inspect(FLUENCY, mode="flucalc")
    rows = {line.split("│")[1].strip(): line.split("│")[2].strip() for line in table.splitlines() if "│" in line}
    assert (rows["prolongation"], rows["part word repetition"], rows["sld"], rows["td"]) == ("4", "7", "14", "6")


def test_a_mode_that_does_not_exist(tmp_path):
    with pytest.raises(LsaWhisperError, match="no mode 'loose'"):
        inspect(corpus(tmp_path) / "s0.cha", mode="loose")


def test_many_transcripts_are_one_row_per_speaker(tmp_path):
    table = inspect(corpus(tmp_path / "c", 5))
    assert all(f"s{at} CHI" in table for at in range(5))
    assert set(json.loads(inspect(tmp_path / "c", json=True))) == {
        str(tmp_path / "c" / f"s{at}.cha") for at in range(5)
    }


def test_problems_are_listed_by_place(tmp_path):
    path = corpus(tmp_path / "c") / "s0.cha"
    assert inspect(path, check=True) == "0 problem(s) in 0 of 1 file(s)"
    path.write_text(path.read_text().replace("want it .", "want <it ."))
    listed = inspect(tmp_path / "c", check=True).splitlines()
    assert listed[0].startswith(f"{path}:") and "in 1 of 1 file(s)" in listed[-1]
    (problem, *_) = json.loads(inspect(path, check=True, json=True))
    assert problem["path"] == str(path) and problem["line"] > 1 and problem["message"]


def test_prepared_data_are_surveyed(prepared):
    found = json.loads(inspect(prepared, json=True))
    splits = found["splits"].values()
    rows = [row for split in manifest.SPLITS for row in manifest.read(prepared / f"{split}.jsonl")]
    assert sum(split["segments"] for split in splits) == len(rows) == 30
    assert sum(split["words"] for split in splits) == 30 * (5 + 6)
    seconds = sum(row.duration for row in rows)
    assert sum(split["hours"] for split in splits) == pytest.approx(seconds / 3600, abs=1e-5)
    train = found["splits"]["train"]
    assert train["padding"] == pytest.approx(1 - train["hours"] * 3600 / (train["segments"] * 10), abs=1e-3)
    assert train["words_per_s"] == pytest.approx(train["words"] / train["hours"] / 3600, rel=1e-3)
    assert found["events_per_100_fluent_words"] == {
        "Mother": {"revision": 25.0},
        "Target_Child": {"filled_pause": 33.333, "repetition": 33.333},
    }
    assert found["rejected"]["untranscribed"]["utterances"] == 30
    assert sum(len(who) for who in found["speaker_hours"].values()) == 30
    texts = {(row.session, row.text) for row in rows}
    assert len(found["examples"]) == 10 and len({one["audio_filepath"] for one in found["examples"]}) == 10
    assert all((Path(one["audio_filepath"]).stem, one["text"]) in texts for one in found["examples"])


def test_the_survey_as_tables(prepared):
    text = inspect(prepared)
    for words in ("train", "padding", "words per s", "Target_Child", "untranscribed", "want [/] want it ."):
        assert words in text
    assert text.count("want [/] want it .") == 10
    assert "[/]" in text and "<|" in text, "marks are text, not styles"


def test_a_manifest_of_another_tool(tmp_path):
    manifest.write(
        [Segment("/x/a.wav", 0, 3.0, "&-um yes ."), Segment("/x/b.wav", 0, 6.0, "no .")], tmp_path / "x.jsonl"
    )
    found = json.loads(inspect(tmp_path / "x.jsonl", json=True))
    assert found["splits"]["x"]["segments"] == 2 and found["splits"]["x"]["padding"] == 0.85
    assert found["events_per_100_fluent_words"] == {"everyone": {"filled_pause": 50.0}}
    assert "x.jsonl" in inspect(tmp_path / "x.jsonl")


def test_nothing_to_inspect(tmp_path):
    with pytest.raises(CorpusError, match="no such file or folder"):
        inspect(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="nothing to inspect here"):
        inspect(tmp_path)
    (tmp_path / "train.jsonl").write_text("{}\n")
    with pytest.raises(ManifestError, match=r"train\.jsonl:1: 'audio_filepath' is missing"):
        inspect(tmp_path)
