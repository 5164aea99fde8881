"""Kaldi folders, manifests and folders of ``datasets`` become sessions, and from there training data."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper import manifest
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.preparation import prepare


@pytest.fixture
def sound(tmp_path):
    """A folder with three recordings of two seconds of noise."""
    folder = tmp_path / "sound"
    folder.mkdir()
    for seed, name in enumerate("abc"):
        sf.write(folder / f"{name}.wav", 0.1 * np.random.default_rng(seed).standard_normal(32_000), 16_000)
    return folder


def rows(tmp_path, corpus, **options):
    """Return the rows of a corpus with labels that the style and the speakers show."""
    options = {"without_timestamps": 1.0, "non_speech": 0.0} | options
    prepare([corpus], tmp_path / "out", **options)
    found = [row for split in manifest.SPLITS for row in manifest.read(tmp_path / "out" / f"{split}.jsonl")]
    return sorted((row.text, row.speaker.replace(f"{row.corpus}/", "")) for row in found)


def kaldi(tmp_path, sound, **files):
    folder = tmp_path / "kaldi"
    folder.mkdir()
    standard = {
        "wav.scp": "".join(f"rec-{name} {sound}/{name}.wav\n" for name in "abc"),
        "text": "u1 um the the dog\nu2 yes\nu3 I see\n",
        "segments": "u1 rec-a 0.10 1.20\nu2 rec-a 1.30 1.80\nu3 rec-b 0.00 1.90\n",
        "utt2spk": "u1 ann\nu2 ben\nu3 ann\n",
    }
    for name, text in (standard | {key.replace("_", "."): text for key, text in files.items()}).items():
        if text:
            (folder / name).write_text(text)
    return folder


def test_a_kaldi_folder(tmp_path, sound):
    found = rows(tmp_path, kaldi(tmp_path, sound))
    assert found == [("I see.", "ann-PAR0"), ("um the the dog. yes.", "ann-PAR0+ben-PAR1")]
    assert (tmp_path / "out" / "transcripts" / "kaldi" / "rec-a.cha").exists()


def test_a_kaldi_folder_without_segments(tmp_path, sound):
    whole = kaldi(tmp_path, sound, segments="", utt2spk="", text="rec-a um yes\nrec-b no\n")
    assert rows(tmp_path, whole, labels="fluent") == [("No.", "rec-b-PAR"), ("Yes.", "rec-a-PAR")]


def test_what_a_person_corrected_is_trained_on_and_kept(tmp_path, sound):
    """A speaker that the list does not have may be among the corrections."""
    folder = kaldi(tmp_path, sound)
    rows(tmp_path, folder)
    path = tmp_path / "out" / "transcripts" / "kaldi" / "rec-b.cha"
    path.write_text(path.read_text().replace("PAR0", "CHI").replace("I see", "&-uh I see"))
    corrected = path.read_bytes()
    assert ("uh I see.", "rec-b-CHI") in rows(tmp_path, folder) and path.read_bytes() == corrected
    (folder / "text").write_text("u1 um the the cat\nu2 yes\nu3 I see\n")
    assert ("um the the cat. yes.", "ann-PAR0+ben-PAR1") in rows(tmp_path, folder)  # nobody has corrected it
    (folder / "text").write_text("u1 um the the cat\nu2 yes\nu3 I saw\n")
    with pytest.raises(LsaWhisperError, match=r"rec-b\.cha: was not made from .*text:3, or was changed since; move it"):
        rows(tmp_path, folder)
    assert path.read_bytes() == corrected


def test_corpora_of_one_name_never_get_each_other_s_texts(tmp_path, sound):
    """Two laboratories' ``data/train`` have a recording of the same name."""
    folders = [tmp_path / place / "train" for place in ("east", "west")]
    for folder in folders:
        folder.parent.mkdir()
        kaldi(tmp_path, sound).rename(folder)
    with pytest.raises(CorpusError, match=r"west/train: has a recording rec-a as .*east/train has.*card\.yaml"):
        prepare(folders, tmp_path / "out", train_only=True)
    for folder in folders:
        (folder / "card.yaml").write_text(f"name: {folder.parent.name}")
    found = prepare([*folders, folders[0]], tmp_path / "out", train_only=True)  # the same folder twice is no harm
    assert found.splits["train"]["sessions"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"segments": "u1 rec-a 0.1\nu2 rec-a 1 2\nu3 rec-b 0 1\n"}, "segments:1: has 3 columns"),
        ({"segments": "u1 rec-a 2 1\nu2 rec-a 1 2\nu3 rec-b 0 1\n"}, "segments:1: ends at 1 s, before it starts"),
        ({"segments": "u1 rec-a 0 1\n"}, "text:2: u2 has no line in segments"),
        ({"text": "u1 a\nu1 b\n"}, "text:2: u1 is there twice"),
        ({"wav_scp": "rec-a sph2pipe x.sph |\nrec-b b.wav\n"}, "wav.scp:1: is a command or empty"),
    ],
)
def test_a_damaged_kaldi_folder_is_a_sentence(files, message, tmp_path, sound):
    with pytest.raises(CorpusError, match=message):
        rows(tmp_path, kaldi(tmp_path, sound, **files))


def test_a_nemo_manifest_without_offset(tmp_path, sound):
    path = tmp_path / "train_manifest.json"
    lines = [
        {"audio_filepath": "sound/a.wav", "duration": 2.0, "text": "um the the dog", "pred_text": "the dog"},
        {"audio_filepath": str(sound / "b.wav"), "duration": 2.0, "text": "yes", "speaker": "ann"},
        {"audio_filepath": "missing.wav", "duration": 2.0, "text": "no"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert rows(tmp_path, path, labels="verbatim") == [
        ("um the the dog.", "train_manifest/a-PAR"),
        ("yes.", "ann-PAR0"),
    ]
    skipped = json.loads((tmp_path / "out" / "prepared.json").read_text())["skipped_files"]
    assert "train_manifest.json:3: no recording at" in str(skipped) and "`media`" in str(skipped)
    path.write_text(path.read_text() + "{")
    with pytest.raises(CorpusError, match=r"train_manifest\.json:4: is not complete JSON"):
        rows(tmp_path, path)


def test_packed_lhotse_cuts(tmp_path, sound):
    cut = {
        "id": "c",
        "start": 0.5,
        "duration": 1.5,
        "recording": {"id": "a", "sources": [{"type": "file", "source": "a.wav"}]},
        "supervisions": [{"start": 0.0, "duration": 1.0, "text": "<a dog> [//] a cat ran .", "speaker": "CHI"}],
    }
    path = tmp_path / "cuts.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(cut) + "\n").encode()))
    assert rows(tmp_path, path, audio=sound) == [("< a dog > // a cat ran.", "CHI-CHI")]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CorpusError, match=r"cuts\.jsonl\.gz: is cut off"):
        rows(tmp_path, path)


def test_a_saved_data_set_with_splits(tmp_path, sound):
    import datasets

    def part(names):
        columns = {"audio": [str(sound / f"{name}.wav") for name in names], "text": [f"um {name}" for name in names]}
        return datasets.Dataset.from_dict(columns).cast_column("audio", datasets.Audio(decode=False))

    datasets.DatasetDict({"train": part("ab"), "test": part("c")}).save_to_disk(tmp_path / "saved")
    for path in sound.iterdir():
        path.unlink()  # the audio is inside
    assert [text for text, _ in rows(tmp_path, tmp_path / "saved")] == ["um a.", "um b.", "um c."]
    assert [row.text for row in manifest.read(tmp_path / "out" / "test.jsonl")] == ["um c."]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_other_folders_of_datasets(kind, tmp_path, sound):
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        audio = [{"bytes": (sound / f"{name}.wav").read_bytes(), "path": f"{name}.wav"} for name in "ab"]
        folder = tmp_path / "hub"
        (folder / "data").mkdir(parents=True)
        table = pa.table({"audio": audio, "sentence": ["yes", "no"], "client_id": ["x1", "x2"]})
        pq.write_table(table, folder / "data" / "train-00000-of-00001.parquet")
    else:
        folder = sound
        text = (
            "file_name,text\na.wav,yes\nb.wav,no\n"
            if kind == "csv"
            else ('{"file_name": "a.wav", "transcription": "yes"}\n{"file_name": "b.wav", "transcription": "no"}\n')
        )
        (folder / f"metadata.{kind}").write_text(text)
    found = rows(tmp_path, folder)
    assert [text for text, _ in found] == ["no.", "yes."]
    assert kind != "parquet" or [speaker for _, speaker in found] == ["x2-PAR0", "x1-PAR0"]


def test_a_row_without_text_is_named(tmp_path, sound):
    (sound / "metadata.csv").write_text("file_name,words\na.wav,yes\n")
    with pytest.raises(CorpusError, match=r"metadata\.csv:2: needs the columns 'audio' .* it has file_name, words"):
        rows(tmp_path, sound)
