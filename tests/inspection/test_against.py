"""A language sample among reference samples: percentiles with their n, by role and age."""

from __future__ import annotations

import json

import pytest

from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection import inspect
from lsa_whisper.inspection.against import percentile


def write(path, words, age="4;06.", role="Target_Child"):
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f"@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI {role}\n@ID:\teng|c|CHI|{age}||||{role}|||\n"
        f"*CHI:\t{' '.join(['no'] * words)} .\n@End\n"
    )


@pytest.fixture
def references(tmp_path):
    folder = tmp_path / "references"
    for words in range(1, 11):
        write(folder / f"four{words}.cha", words)
    write(folder / "five.cha", 90, age="5;01.")
    write(folder / "mother.cha", 90, role="Mother")
    return folder


def compare(path, references):
    (found,) = json.loads(inspect(path, against=references, json=True))
    return found


def test_percentile_among_the_same_age_and_role(tmp_path, references):
    write(tmp_path / "me.cha", 3, age="4;00.")
    found = compare(tmp_path / "me.cha", references)
    assert (found["reference_samples"], found["age_band"], found["role"]) == (10, "4 years", "Target Child")
    assert found["measures"]["mlu_words"] == {"value": 3.0, "percentile": 25.0, "n": 10, "median": 5.5}
    assert found["measures"]["mlu_morphemes"]["n"] == 0 and found["measures"]["mlu_morphemes"]["percentile"] is None


def test_without_an_age_all_ages_are_compared(tmp_path, references):
    write(tmp_path / "me.cha", 3, age="")
    assert compare(tmp_path / "me.cha", references)["measures"]["mlu_words"]["n"] == 11


def test_a_sample_is_no_reference_of_itself(references):
    assert compare(references / "four5.cha", references)["measures"]["mlu_words"]["n"] == 9


def test_too_few_references_give_no_percentile(tmp_path, references, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    write(tmp_path / "me.cha", 3, age="5;06.")
    table = inspect(tmp_path / "me.cha", against=references)
    assert "among 1 reference samples (Target Child, 5 years): too few for percentiles, 5 are needed" in table
    assert percentile(1, [1, 2, 3, 4]) is None and percentile(5, [1, 2, 3, 4, 5]) == 90


def test_a_folder_without_transcripts_is_an_error(tmp_path, references):
    with pytest.raises(CorpusError, match="no CHAT files to compare with"):
        inspect(references, against=tmp_path / "nowhere")
