"""Manifests: what is written is read again, bad rows are named by line, and nothing is ever half-written."""

import dataclasses
import json
import math
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unprivileged import closed

from lsa_whisper import manifest
from lsa_whisper.errors import ManifestError
from lsa_whisper.manifest import Segment

ROW = {"audio_filepath": "a.wav", "offset": 0.5, "duration": 2.0, "text": "&-um no ."}


def segment(**changes: object) -> Segment:
    return dataclasses.replace(Segment("/audio/a.wav", 0.5, 2.0, "<|0.00|>&-um no .<|1.90|>"), **changes)


def test_round_trip(tmp_path):
    rows = [
        segment(),
        segment(text='tab\t quote" back\\slash ↫b-b↫ball „ \x15', speaker="x/a-CHI+x/a-MOT", lang="de", split="dev"),
        segment(text="", prompt="before .", corpus="c", session="s/ü 1", labels="chat+roles/1", split="test"),
    ]
    manifest.write(rows, tmp_path / "deep" / "er" / "train.jsonl")
    assert manifest.read(tmp_path / "deep" / "er" / "train.jsonl") == rows


@given(st.text(), st.floats(0, 1e6), st.floats(0.001, 1e4))
def test_any_text_and_time_survives(tmp_path_factory, text, offset, duration):
    path = tmp_path_factory.mktemp("m") / "train.jsonl"
    row = segment(text=text, offset=offset, duration=duration)
    manifest.write([row], path)
    assert manifest.read(path) == [row]
    assert len(path.read_bytes().splitlines()) == 1


def test_a_manifest_of_another_tool_loads(tmp_path):
    path = tmp_path / "nemo.jsonl"
    path.write_text(json.dumps({**ROW, "pnc": True, "taskname": "asr"}) + "\n\n" + json.dumps(ROW))
    first, second = manifest.read(path)
    assert first == second
    assert (first.audio_filepath, first.split, first.lang) == (str(tmp_path / "a.wav"), "train", "en")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{oops", "not a JSON object"),
        ("[1, 2]", "must be a JSON object, not list"),
        *[({key: value for key, value in ROW.items() if key != name}, f"'{name}' is missing") for name in ROW],
        ({**ROW, "audio_filepath": ""}, "'audio_filepath' is empty"),
        ({**ROW, "text": None}, "'text' must be text"),
        ({**ROW, "text": "a\ud800"}, "'text' contains a lone surrogate"),
        ({**ROW, "speaker": 7}, "'speaker' must be text"),
        ({**ROW, "offset": "1"}, "'offset' must be a number"),
        ({**ROW, "offset": True}, "'offset' must be a number"),
        ({**ROW, "offset": math.nan}, "'offset' must be a number"),
        ({**ROW, "duration": math.inf}, "'duration' must be a number"),
        ({**ROW, "offset": -0.1}, "are not a span"),
        ({**ROW, "duration": 0}, "are not a span"),
        ({**ROW, "split": "valid"}, "none of train, dev, test"),
    ],
)
def test_a_bad_row_is_named_by_path_and_line(tmp_path, row, words):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + (row if isinstance(row, str) else json.dumps(row)) + "\n")
    with pytest.raises(ManifestError) as caught:
        manifest.read(path)
    assert str(caught.value).startswith(f"{path}:2: ") and words in str(caught.value)


def test_a_missing_or_binary_manifest(tmp_path):
    with pytest.raises(ManifestError, match="no such manifest"):
        manifest.read(tmp_path / "train.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ManifestError, match="not UTF-8"):
        manifest.read(tmp_path / "binary.jsonl")


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "train.jsonl"
    manifest.write([segment()], path)
    before = path.read_bytes()

    def rows():
        yield segment(text="new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        manifest.write(rows(), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.jsonl"]


def test_audio_next_to_the_prepared_folder_moves_with_it(tmp_path):
    audio = tmp_path / "here" / "corpus" / "deep" / "a.wav"
    manifest.write([segment(audio_filepath=str(audio))], tmp_path / "here" / "prepared" / "train.jsonl")
    shutil.move(tmp_path / "here", tmp_path / "there")
    (row,) = manifest.read(tmp_path / "there" / "prepared" / "train.jsonl")
    assert row.audio_filepath == str(tmp_path / "there" / "corpus" / "deep" / "a.wav")


def test_audio_elsewhere_stays_found_when_the_prepared_folder_moves(tmp_path):
    audio = tmp_path / "archive" / "a.wav"
    manifest.write([segment(audio_filepath=str(audio))], tmp_path / "work" / "prepared" / "train.jsonl")
    shutil.move(tmp_path / "work" / "prepared", tmp_path / "elsewhere")
    (row,) = manifest.read(tmp_path / "elsewhere" / "train.jsonl")
    assert row.audio_filepath == str(audio)


def test_a_file_name_that_is_not_utf8_survives(tmp_path):
    name = b"/audio/caf\xe9.wav".decode("utf-8", "surrogateescape")
    manifest.write([segment(audio_filepath=name)], tmp_path / "train.jsonl")
    assert manifest.read(tmp_path / "train.jsonl")[0].audio_filepath == name


def test_sha256_is_that_of_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert manifest.sha256(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_no_rows_and_no_manifest(tmp_path):
    pytest.importorskip("datasets")
    manifest.write([], tmp_path / "dev.jsonl")
    assert len(manifest.open_rows(tmp_path / "dev.jsonl")) == 0
    with pytest.raises(ManifestError, match=r"test\.jsonl: no such manifest"):
        manifest.open_rows(tmp_path / "test.jsonl")


def test_a_manifest_that_may_not_be_read_is_one_sentence(tmp_path):
    pytest.importorskip("datasets")
    path = tmp_path / "data" / "train.jsonl"
    manifest.write([segment()], path)
    for shut in (path, path.parent):
        with closed(shut, below=tmp_path):
            for read in (manifest.read, manifest.open_rows):
                with pytest.raises(ManifestError, match=r"train\.jsonl: cannot be read \(Permission denied\)"):
                    read(path)
    with pytest.raises(ManifestError, match="cannot be read"):
        manifest.read(tmp_path / ("x" * 300))


def test_open_rows_keeps_every_name_and_reports_bad_rows(tmp_path):
    pytest.importorskip("datasets")
    names = ("a", "é", "caf\udce9", '\0json "x"')
    rows = [segment(audio_filepath=f"/there/{name}.wav", session=name, speaker=f"c/{name}-CHI") for name in names]
    manifest.write(rows, tmp_path / "train.jsonl")
    assert [manifest.from_row(row) for row in manifest.open_rows(tmp_path / "train.jsonl")] == rows
    with (tmp_path / "train.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"audio_filepath": 3}\n')
    with pytest.raises(ManifestError, match=r"train\.jsonl:5: 'offset' is missing"):
        manifest.open_rows(tmp_path / "train.jsonl")


def test_a_parquet_shard_is_a_manifest_whose_audio_is_passed_over(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [ROW | {"text": text, "speaker": "x/a-CHI", "audio": b"\x00\x01"} for text in ("no .", "yes .")]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "train-00000.parquet")
    at = str(tmp_path / "a.wav")
    kept = [Segment(at, 0.5, 2.0, text, speaker="x/a-CHI") for text in ("no .", "yes .")]
    assert manifest.read(tmp_path / "train-00000.parquet") == kept
    parquet.write_table(pa.Table.from_pylist([rows[0], rows[1] | {"duration": -1.0}]), tmp_path / "bad.parquet")
    with pytest.raises(ManifestError, match=r"bad\.parquet:2: offset 0\.5 s and duration -1\.0 s"):
        manifest.read(tmp_path / "bad.parquet")
    data = bytearray((tmp_path / "train-00000.parquet").read_bytes())
    data[4:60] = bytes(56)
    (tmp_path / "damaged.parquet").write_bytes(data)
    with pytest.raises(ManifestError, match=r"damaged\.parquet: not a Parquet file"):
        manifest.read(tmp_path / "damaged.parquet")
    (tmp_path / "text.parquet").write_text("no Parquet")
    with pytest.raises(ManifestError, match=r"text\.parquet: not a Parquet file"):
        manifest.read(tmp_path / "text.parquet")


@pytest.mark.parametrize(
    ("summary", "kind"),
    [
        ('{"options": {"with_prompt": 1.0, "prompt": "fluent"}}', "fluent"),
        ('{"options": {"with_prompt": 0.5}}', "previous"),
        ('{"options": {"with_prompt": 0.0, "prompt": "fluent"}}', None),
        ("[]", None),
        ("{", None),
    ],
)
def test_the_kind_of_prompts_is_read_from_the_summary(summary, kind, tmp_path):
    assert manifest.prompt_kind(tmp_path / "train.jsonl") is None
    (tmp_path / "prepared.json").write_text(summary)
    assert manifest.prompt_kind(tmp_path / "train.jsonl") == manifest.prompt_kind(tmp_path) == kind


def test_word_times_survive_and_are_checked(tmp_path):
    timed = manifest.Segment("a.wav", 0.0, 2.0, "I see.", word_times="0.10 0.25 I - - see")
    manifest.write([timed, manifest.Segment("b.wav", 0.0, 2.0, "no.")], tmp_path / "train.jsonl")
    first, second = manifest.read(tmp_path / "train.jsonl")
    assert first.word_times == timed.word_times and second.word_times == ""
    assert "word_times" not in (tmp_path / "train.jsonl").read_text().splitlines()[1]
    assert manifest.from_row(manifest.open_rows(tmp_path / "train.jsonl")[0]).word_times == timed.word_times
    words = manifest.parse_word_times(first.word_times)
    assert [(word.text, word.start_s, word.end_s) for word in words] == [("I", 0.1, 0.25), ("see", None, None)]
    for broken, reason in (("0.1 I", "three fields"), ("0.1 - I", "not times"), ("x y I", "not times")):
        line = f'{{"audio_filepath": "a", "offset": 0, "duration": 1, "text": "I", "word_times": "{broken}"}}'
        with pytest.raises(ManifestError, match=f"row: 'word_times': .*{reason}"):
            manifest.parse_row(line)
