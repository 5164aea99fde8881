"""``prepare --splice``: spliced windows in train alone, marked, counted and playable; the same every time."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import soundfile as sf

from lsa_whisper import chat, manifest
from lsa_whisper.chat import check
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection import inspect
from lsa_whisper.labels import Labels, decode
from lsa_whisper.preparation import prepare

STORYBOOK = Path(__file__).parents[2] / "corpora/storybook"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Three sessions of storybook, one for each split."""
    folder = tmp_path_factory.mktemp("corpus")
    for name in ("train/train01", "dev/dev01", "test/test01"):
        for suffix in (".cha", ".flac"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(STORYBOOK / f"{name}{suffix}", folder / f"{name}{suffix}")
    shutil.copy(STORYBOOK / "card.yaml", folder)
    return folder


@pytest.fixture(scope="module")
def prepared(corpus, tmp_path_factory):
    return prepare([corpus], tmp_path_factory.mktemp("data") / "spliced", context_s=8, splice=1.0)


def rows(prepared, split):
    return manifest.read(prepared.out / f"{split}.jsonl")


@pytest.mark.slow
def test_only_train_is_spliced_and_says_so(prepared, corpus, tmp_path):
    plain = prepare([corpus], tmp_path / "plain", context_s=8)
    for split in ("dev", "test"):
        assert rows(prepared, split) == rows(plain, split)
    train = rows(prepared, "train")
    assert [row for row in train if not row.spliced] == rows(plain, "train")
    assert sum(bool(row.spliced) for row in train) > 5
    assert "spliced" not in (plain.out / "train.jsonl").read_text("utf-8")
    assert not (plain.out / "spliced").exists()


@pytest.mark.slow
def test_the_labels_of_spliced_windows_have_what_the_rows_name(prepared):
    for row in rows(prepared, "train"):
        if row.spliced:
            text = manifest.TIMESTAMP.sub(" ", row.text)
            found = {event.kind.value for one in decode(text, Labels()).utterances for event in one.events()}
            assert set(row.spliced.split()) <= found, row.text
            assert row.audio_filepath.startswith(str(prepared.out.resolve() / "spliced"))
            assert sf.info(row.audio_filepath).duration >= row.offset + row.duration - 0.01


@pytest.mark.slow
def test_spliced_transcripts_pass_the_check(prepared):
    paths = sorted((prepared.out / "spliced").glob("*.cha"))
    assert len(paths) == 1
    assert [check(chat.read(path)) for path in paths] == [[]]


@pytest.mark.slow
def test_counts_of_recorded_and_spliced_speech_are_in_summary_table_and_page(prepared, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # headings wrap in a narrow terminal
    summary = json.loads((prepared.out / "prepared.json").read_text("utf-8"))["spliced"]
    train = [row for row in rows(prepared, "train") if row.spliced]
    assert summary["segments"] == len(train)
    assert summary["audio_h"] == pytest.approx(sum(row.duration for row in train) / 3600, abs=1e-5)
    recorded = chat.read(STORYBOOK / "train/train01.cha").utterances
    kinds = Counter(event.kind.value for one in recorded for event in one.events())
    counted = {kind: one["recorded"] for kind, one in summary["disfluencies"].items() if one["recorded"]}
    assert counted == dict(kinds)
    assert "in spliced speech" in prepared.table() and "of train, spliced" in prepared.table()
    page = tmp_path / "page.html"
    assert "in spliced speech" in inspect(prepared.out, out=page)
    html = page.read_text("utf-8")
    assert "Spliced speech" in html and "spliced: filled-pause" in html and "data:audio" in html


@pytest.mark.slow
def test_the_same_call_gives_the_same_files_and_another_replaces_them(prepared, corpus, tmp_path):
    again = prepare([corpus], tmp_path / "again", context_s=8, splice=1.0)
    first = {path.name: path.read_bytes() for path in (prepared.out / "spliced").iterdir()}
    assert {path.name: path.read_bytes() for path in (again.out / "spliced").iterdir()} == first
    note = again.out / "spliced/note.txt"
    note.write_text("mine")
    other = prepare([corpus], again.out, context_s=8, splice=1.0, seed=1)
    names = {path.name for path in (other.out / "spliced").iterdir()}
    assert not names & set(first) and note.name in names and len(names) == 3
    prepare([corpus], again.out, context_s=8)
    assert list((again.out / "spliced").iterdir()) == [note]


def test_a_profile_from_a_file_decides_what_is_spliced(corpus, tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text(inspect(corpus, profile=True, json=True), "utf-8")
    found = json.loads(profile.read_text("utf-8"))
    found["classes"] = {"block": found["classes"]["block"]}
    profile.write_text(json.dumps(found), "utf-8")
    made = prepare([corpus], tmp_path / "data", context_s=8, splice=1.0, splice_profile=profile)
    assert {row.spliced for row in rows(made, "train")} == {"", "block"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"fluent_words": 1, "classes": {"yawn": {}}, "pauses": {}}'])
def test_a_file_that_is_no_profile_is_an_error(corpus, tmp_path, text):
    profile = tmp_path / "profile.json"
    profile.write_text(text)
    with pytest.raises(CorpusError, match="is not a profile of disfluencies; make one with"):
        prepare([corpus], tmp_path / "data", splice=1.0, splice_profile=profile)
    with pytest.raises(CorpusError, match="cannot be read"):
        prepare([corpus], tmp_path / "data", splice=1.0, splice_profile=tmp_path / "absent.json")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("rate", [-0.1, 10.5])
def test_an_impossible_rate_is_an_error(corpus, tmp_path, rate):
    with pytest.raises(CorpusError, match=r"`splice=.*from 0 to 10"):
        prepare([corpus], tmp_path / "data", splice=rate)


def test_sessions_without_word_times_are_not_spliced(session, talk, tmp_path):
    folder = session("a", talk(6))
    session("b", talk(6))
    session("c", talk(6))
    made = prepare([folder], tmp_path / "data", splice=1.0)
    assert not any(row.spliced for row in rows(made, "train"))
    assert made.spliced["segments"] == 0


@pytest.mark.slow
def test_shards_hold_the_spliced_sound(corpus, tmp_path):
    made = prepare([corpus], tmp_path / "data", context_s=8, splice=0.3, shards=1)
    (shard,) = made.out.glob("train-*.parquet")
    assert manifest.read(shard) == rows(made, "train")
    assert any(row.spliced for row in manifest.read(shard))
