"""What is printed about transcripts and prepared data is what is in them."""

import json
import re
from pathlib import Path

import pytest
from unprivileged import closed

from lsa_whisper import manifest
from lsa_whisper.errors import ChatSyntaxError, CorpusError, LsaWhisperError, ManifestError
from lsa_whisper.inspection import inspect
from lsa_whisper.manifest import Segment
from lsa_whisper.preparation import prepare

ROOT = Path(__file__).parents[2]
FLUENCY = ROOT.parent / "shared" / "data" / "chat" / "fluency" / "fluency.cha"


def cells(rich_table: str) -> dict[str, list[str]]:
    """Return the rows of printed tables by their first cell."""
    rows = ([cell.strip() for cell in line.split("│")[1:-1]] for line in rich_table.splitlines() if "│" in line)
    return {name: values for name, *values in rows}


def test_a_transcript_is_counted_per_speaker(corpus):
    path = corpus() / "s0.cha"
    found = json.loads(inspect(path, json=True))
    assert list(found) == ["CHI", "MOT"]
    assert found["CHI"]["counts"]["filled_pause"] == 1 and found["CHI"]["counts"]["whole_word_repetition"] == 1
    assert found["MOT"]["counts"]["phrase_revision"] == 1
    rich_table = inspect(path)
    assert "CHI" in rich_table and "filled pause" in rich_table and "strict" in rich_table


@pytest.mark.skipif(not FLUENCY.is_file(), reason="the real transcripts are not beside the project")
def test_the_published_row_is_shown():
    rows = {name: values[0] for name, values in cells(inspect(FLUENCY, mode="flucalc")).items()}
    assert (rows["prolongation"], rows["part-word repetition"], rows["SLD"], rows["TD"]) == ("4", "7", "14", "6")


def test_a_mode_that_does_not_exist(corpus):
    with pytest.raises(LsaWhisperError, match="no mode 'loose'"):
        inspect(corpus() / "s0.cha", mode="loose")


def test_many_transcripts_are_one_row_per_speaker(corpus):
    folder = corpus("c", 5)
    rich_table = inspect(folder)
    assert all(f"s{at} CHI" in rich_table for at in range(5))
    assert set(json.loads(inspect(folder, json=True))) == {str(folder / f"s{at}.cha") for at in range(5)}


def test_problems_are_listed_by_place(corpus):
    path = corpus("c") / "s0.cha"
    assert inspect(path, check=True) == "0 problem(s) in 0 of 1 file(s)"
    path.write_text(path.read_text().replace("want it .", "want <it ."))
    listed = inspect(path.parent, check=True).splitlines()
    assert listed[0].startswith(f"{path}:") and "in 1 of 1 file(s)" in listed[-1]
    (problem, *_) = json.loads(inspect(path, check=True, json=True))
    assert problem["path"] == str(path) and problem["line"] > 1 and problem["message"]


def test_prepared_data_are_surveyed(thirty):
    found = json.loads(inspect(thirty, json=True))
    splits = found["splits"].values()
    rows = [row for split in manifest.SPLITS for row in manifest.read(thirty / f"{split}.jsonl")]
    assert sum(split["segments"] for split in splits) == len(rows) == 30
    assert sum(split["words"] for split in splits) == 30 * (5 + 6)
    seconds = sum(row.duration for row in rows)
    assert sum(split["hours"] for split in splits) == pytest.approx(seconds / 3600, abs=1e-5)
    train = found["splits"]["train"]
    assert train["padding"] == pytest.approx(1 - train["hours"] * 3600 / (train["segments"] * 10), abs=1e-3)
    assert train["words_per_s"] == pytest.approx(train["words"] / train["hours"] / 3600, rel=1e-3)
    assert found["padding"] == pytest.approx(1 - seconds / 300, abs=1e-3)
    assert found["padding_one_utterance"] == pytest.approx(1 - (1.9 + 2.0) / 20, abs=1e-3)
    assert found["durations_s"]["maximum"] == max(row.duration for row in rows)
    assert found["events_per_100_fluent_words"] == {
        "Mother": {"revision": 25.0},
        "Target_Child": {"filled_pause": 33.333, "repetition": 33.333},
    }
    assert found["rejected"]["untranscribed"]["utterances"] == 30 and found["skipped_files"] == []
    assert found["vocabulary"]["size"] == 8 and found["vocabulary"]["most_frequent"]["want"] == 90
    texts = {(row.session, row.text) for row in rows}
    assert len(found["examples"]) == 10 and len({one["audio_filepath"] for one in found["examples"]}) == 10
    assert all((Path(one["audio_filepath"]).stem, one["text"]) in texts for one in found["examples"])


def test_a_single_manifest_has_no_counts_of_the_folder(thirty):
    found = json.loads(inspect(thirty / "test.jsonl", json=True))
    assert list(found["events_per_100_fluent_words"]) == ["everyone"]
    assert found["rejected"] == {} and found["skipped_files"] == [] and found["context_s"] == 10
    assert found["splits"]["test"]["padding_one_utterance"] is not None


def test_each_speaker_has_the_hours_of_the_windows_they_are_in(thirty):
    found = json.loads(inspect(thirty, json=True))
    rows = manifest.read(thirty / "test.jsonl")
    hours = found["speaker_hours"]["test"]
    assert len(hours) == 2 * len(rows) == found["splits"]["test"]["speakers"]
    assert hours[rows[0].speaker.split("+")[0]] == pytest.approx(rows[0].duration / 3600, abs=1e-6)
    assert found["speakers_in_several_splits"] == []


def test_the_survey_as_tables(thirty, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = inspect(thirty)
    for words in ("Target_Child", "untranscribed", "want want it."):
        assert words in text
    assert text.count("want want it.") == 10 and "<|" in text, "marks are text, not styles"
    rows = cells(text)
    assert rows["segments"][-1] == "30" and rows["padding without packing"][-1] == "80.5%"
    assert rows["want"] == ["90", "27.3%"]
    assert rows["tokens (estimate) of 448"][-1].endswith("█")


def test_a_voice_in_two_splits_is_named(tmp_path):
    for split, speaker in (("train", "c/Ann-CHI"), ("test", "c/Ann-PAR+c/Bob-INV")):
        row = Segment("/x/a.wav", 0, 3.0, "yes.", speaker=speaker, split=split)
        manifest.write([row], tmp_path / f"{split}.jsonl")
    assert json.loads(inspect(tmp_path, json=True))["speakers_in_several_splits"] == ["c/Ann"]
    assert "warning: speakers in more than one split: c/Ann" in inspect(tmp_path)


def test_words_that_training_never_shows(tmp_path):
    for split, text in (("train", "yes no."), ("test", "yes yes yes maybe.")):
        manifest.write([Segment("/x/a.wav", 0, 3.0, text, split=split)], tmp_path / f"{split}.jsonl")
    found = json.loads(inspect(tmp_path, json=True))["splits"]
    assert (found["train"]["oov_rate"], found["test"]["oov_rate"]) == (None, 0.25)


def test_rows_far_outside_are_named_worst_first(tmp_path):
    usual = [Segment(f"/x/{at}.wav", 0, 4.0 + at / 100, "one two three four.") for at in range(40)]
    odd = [Segment("/x/fast.wav", 0, 1.0, "one two three four."), Segment("/x/slow.wav", 5, 29.0, "one.")]
    slower = Segment("/x/slowest.wav", 5, 30.0, "one.")
    manifest.write([*usual[:20], *odd, slower, *usual[20:]], tmp_path / "x.jsonl")
    found = json.loads(inspect(tmp_path / "x.jsonl", json=True))["words_per_s"]
    assert found["outliers"] == 3
    assert [Path(row["audio_filepath"]).stem for row in found["slow"]] == ["slowest", "slow"]
    assert [row["words_per_s"] for row in found["fast"]] == [4.0]
    text = inspect(tmp_path / "x.jsonl")
    assert "slow: 0.03 words/s, slowest.wav 5.00 s + 30.00 s" in text and "3 segment(s)" in text


def test_a_manifest_of_another_tool(tmp_path):
    rows = [Segment("/x/a.wav", 0, 3.0, "&-um yes ."), Segment("/x/b.wav", 0, 6.0, "no .")]
    manifest.write(rows, tmp_path / "x.jsonl")
    (tmp_path / "prepared.json").write_text('{"options": null, "splits": [], "notes": 3}')
    found = json.loads(inspect(tmp_path / "x.jsonl", json=True))
    assert found["splits"]["x"]["segments"] == 2 and found["splits"]["x"]["padding"] == 0.85
    assert found["splits"]["x"]["speakers"] == 0 and found["padding_one_utterance"] is None
    assert found["events_per_100_fluent_words"] == {"everyone": {"filled_pause": 50.0}}
    assert "x.jsonl" in inspect(tmp_path / "x.jsonl")


def test_tone_digits_are_no_numbers(tmp_path):
    rows = [Segment("/x/a.wav", 0, 3.0, "ngo5 2 .", lang=lang) for lang in ("yue", "en")]
    manifest.write(rows, tmp_path / "train.jsonl")
    vocabulary = json.loads(inspect(tmp_path, json=True))["vocabulary"]["most_frequent"]
    assert set(vocabulary) == {"ngo5", "2", "ngo", "five", "two"}


def test_unknown_labels_are_reported_with_their_row(tmp_path):
    rows = [Segment("/x/a.wav", 0, 3.0, "yes.", labels=labels) for labels in ("chat/4", "loud/9")]
    manifest.write(rows, tmp_path / "train.jsonl")
    with pytest.raises(ManifestError, match=r"train\.jsonl: row 2: labels: no style 'loud'"):
        inspect(tmp_path)


def test_an_empty_manifest(tmp_path):
    (tmp_path / "train.jsonl").write_text("")
    found = json.loads(inspect(tmp_path, json=True, out=tmp_path / "page.html"))
    assert found["splits"]["train"]["segments"] == 0 and found["durations_s"] is None and found["examples"] == []
    assert "hours" in inspect(tmp_path) and "<svg" not in (tmp_path / "page.html").read_text()


def test_transcripts_are_found_as_prepare_finds_them(corpus, tmp_path, capsys):
    folder = corpus("c", 2)
    (tmp_path / "elsewhere").mkdir()
    (folder / "s1.cha").rename(tmp_path / "elsewhere" / "s9.CHA")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "up").symlink_to(folder)
    (folder / "._s0.cha").write_bytes(b"\0\5\x16\7")
    (folder / "dead.cha").symlink_to(tmp_path / "nowhere.cha")
    (folder / "shut").mkdir()
    with closed(folder / "shut", below=tmp_path):
        rich_table = inspect(folder)
        found = json.loads(inspect(folder, json=True))
        listed = inspect(folder, check=True).splitlines()
    assert "s0 CHI" in rich_table and "s9 CHI" in rich_table and "._s0" not in rich_table
    for notes in (rich_table, capsys.readouterr().err):
        notes = notes.replace("\n", "")
        assert "dead.cha: cannot open it (No such file" in notes and "shut: this folder cannot be read" in notes
    assert set(found) == {str(folder / "s0.cha"), str(folder / "linked" / "s9.CHA")}
    assert len([line for line in listed if line.endswith("[unreadable]")]) == 2 and "of 4 file(s)" in listed[-1]


def test_one_transcript_that_cannot_be_read(tmp_path):
    (tmp_path / "dead.cha").symlink_to(tmp_path / "nowhere.cha")
    with pytest.raises(ChatSyntaxError, match=r"dead\.cha: cannot open it"):
        inspect(tmp_path)


def test_nothing_to_inspect(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("a/x.wav", "a/x.parquet"):
        (tmp_path / name).write_text("no transcript")
        with pytest.raises(CorpusError, match="nothing to inspect here; name a CHAT file"):
            inspect(tmp_path / name)
    with pytest.raises(CorpusError, match=r"cannot be opened \(File name too long\)"):
        inspect(tmp_path / ("x" * 300))
    with pytest.raises(CorpusError, match="nothing to inspect here"):
        inspect(tmp_path)
    (tmp_path / "train.jsonl").write_text("{}\n")
    with pytest.raises(ManifestError, match=r"train\.jsonl:1: 'audio_filepath' is missing"):
        inspect(tmp_path)


@pytest.mark.slow
def test_packing_leaves_little_of_the_context_empty(tmp_path):
    padding = {}
    for one_utterance in (False, True):
        out = tmp_path / str(one_utterance)
        prepare([ROOT / "corpora" / "storybook"], out, one_utterance=one_utterance)
        found = json.loads(inspect(out, json=True))
        padding[one_utterance] = found["padding"]
        assert found["padding_one_utterance"] > 0.9, "the same without preparing twice"
        assert cells(inspect(out))["padding"][-1] == f"{found['padding']:.1%}"
    assert padding[False] < 0.15 and padding[True] > 0.7


def test_what_is_printed_of_data_fits_a_narrow_terminal(thirty, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    title, *lines = inspect(thirty).splitlines()
    assert title.startswith(str(thirty)) and max(map(len, lines)) <= 80


def test_tables_name_the_classes_as_the_pages_do(tmp_path):
    path = tmp_path / "visit.cha"
    path.write_text("@UTF8\n@Begin\n*CHI:\t&+sto ↫b-b↫ball .\n@End\n", "utf-8")
    for text in (inspect(path), inspect(path, events=True), inspect(path, profile=True)):
        assert re.search(r"│\s*cut-off words?\s*│", text) and re.search(r"│\s*part-word repetitions?\s*│", text)
        assert "fragment" not in text
