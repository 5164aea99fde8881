"""What prepare says before hours are spent: bullets, empty splits, persons, recordings."""

from __future__ import annotations

import re

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Participant
from lsa_whisper.errors import CorpusError
from lsa_whisper.preparation import prepare
from lsa_whisper.preparation.advice import recording_problems

RATE_HZ = 16_000


def retype(folder, form):
    """Write all bullets without their control characters."""
    for path in folder.rglob("*.cha"):
        path.write_bytes(re.sub(rb"\x15(\d+)_(\d+)\x15", form, path.read_bytes()))


@pytest.mark.parametrize("form", [rb"\1_\2", "•\\1_\\2•".encode(), "·\\1_\\2".encode()])
def test_bullets_without_control_characters_are_recognised_and_repaired(form, session, talk, tmp_path):
    for name in ("a", "b", "c", "d"):
        folder = session(name, talk(6))
    expected = prepare([folder], tmp_path / "expected")
    retype(folder, form)
    with pytest.raises(CorpusError, match=r"times without their control characters: \d+, .*`repair_bullets=True`"):
        prepare([folder], tmp_path / "out")
    repaired = prepare([folder], tmp_path / "out", repair_bullets=True)
    assert repaired.splits == expected.splits and not repaired.rejected
    for split in manifest.SPLITS:
        texts = [[row.text for row in manifest.read(tmp_path / out / f"{split}.jsonl")] for out in ("out", "expected")]
        assert texts[0] == texts[1]


def test_a_transcript_without_times_is_sent_to_align(session, talk, tmp_path):
    folder = session("a", [(speaker, text, None) for speaker, text, _ in talk(3)], duration_ms=5000)
    with pytest.raises(CorpusError, match=r"utterances without times: 3; 'lsa-whisper align'"):
        prepare([folder], tmp_path / "out")


def test_an_empty_split_is_an_error_with_the_remedy(session, talk, tmp_path):
    for name in ("a", "b", "c"):
        folder = session(name, talk(4))
    session("d", [("CHI", "yes .", None)], duration_ms=3000)
    (folder / "card.yaml").write_text("name: it\nsplits: {train: [a-CHI], dev: [b-CHI], test: [d-CHI]}\n")
    with pytest.raises(
        CorpusError, match=r"test would be empty: no utterance of d\.cha can be used; correct .*no bullet \(1\).*align"
    ):
        prepare([folder], tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.jsonl")) if (tmp_path / "out").exists() else True


def visits(session, talk, persons=None):
    for child in ("ann", "ben", "cleo", "dan"):
        for visit in (1, 2, 3):
            person = [Participant("CHI", "Target_Child", age=f"3;0{visit}.")] if persons is None else persons(child)
            folder = session(f"{child}_{visit}", talk(3), persons=person)
    return folder


def test_files_of_one_child_are_proposed_as_one_person(session, talk, tmp_path):
    folder = visits(session, talk)
    notes = prepare([folder], tmp_path / "out").notes
    (note,) = (note for note in notes if "speaker_from=" in note)
    assert "12 persons are assumed in 12 files" in note and "suggest 4" in note and "'{speaker}_{visit}'" in note
    assert "ann: 3 files, 3;01 to 3;03" in note


def test_speaker_from_keeps_a_person_in_one_split(session, talk, tmp_path):
    folder = visits(session, talk)
    done = prepare([folder], tmp_path / "out", speaker_from="{speaker}_{visit}")
    assert not [note for note in done.notes if "speaker_from=" in note]
    assert sum(done.splits[split]["speakers"] for split in manifest.SPLITS) == 4
    split_of = {}
    for split in manifest.SPLITS:
        for row in manifest.read(tmp_path / "out" / f"{split}.jsonl"):
            if row.speaker:
                split_of.setdefault(row.speaker, set()).add(split)
    assert set(split_of) == {f"corpus/{child}-CHI" for child in ("ann", "ben", "cleo", "dan")}
    assert all(len(splits) == 1 for splits in split_of.values())


def test_named_children_need_no_proposal(session, talk, tmp_path):
    folder = visits(session, talk, lambda child: [Participant("CHI", "Target_Child", custom=child)])
    assert not [note for note in prepare([folder], tmp_path / "out").notes if "speaker_from=" in note]


@pytest.mark.parametrize("pattern", ["{visit}", "{speaker}{speaker}", "{speaker}-{visit}"])
def test_a_wrong_pattern_is_a_sentence(pattern, session, talk, tmp_path):
    folder = visits(session, talk)
    with pytest.raises(CorpusError, match="`speaker_from="):
        prepare([folder], tmp_path / "out", speaker_from=pattern)


def speech(seconds=8.0, level=0.1):
    noise = np.random.default_rng(0).standard_normal(round(seconds * RATE_HZ))
    return (level * noise).astype(np.float32)


PROBLEMS = {
    "good": (speech(), ""),
    "silent": (np.zeros(8 * RATE_HZ, np.float32), "silent"),
    "quiet": (speech(level=0.0005), "far too quiet"),
    "clipped": (np.clip(speech(level=2.0), -1, 1), "clipped"),
    "opposite": (np.stack([speech(), -speech()], axis=1), "opposite phases"),
    "stereo": (np.stack([speech(), 0.5 * speech()], axis=1), ""),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("suffix", ["wav", "flac"])
def test_a_recording_that_will_disappoint_is_listed(name, suffix, tmp_path):
    samples, problem = PROBLEMS[name]
    path = tmp_path / f"a.{suffix}"
    sf.write(path, samples, RATE_HZ, subtype="PCM_16")
    found = recording_problems(Recording.open(path))
    assert (problem in " ".join(found)) if problem else not found


def test_a_broken_mp3_is_named(session, talk, tmp_path):
    folder = session("a", talk(3))
    session("b", talk(3))
    (folder / "b.wav").unlink()
    (folder / "b.mp3").write_bytes(b"\xff\xfb\x90\x00" + bytes(2000))
    done = prepare([folder], tmp_path / "out")
    assert [each for each in done.skipped_files if "b.mp3" in each["reason"]]


def test_overlapping_speech_and_unmarked_repetitions_are_told(session, tmp_path):
    said = [
        ("CHI", f"I I want the {word} .", (3000 * at, 3000 * at + 2500))
        for at, word in enumerate(("dog", "cat", "cow"))
    ]
    folder = session("a", [*said, ("MOT", "what did you say there ?", (1500, 4000))], duration_ms=9000)
    notes = prepare([folder], tmp_path / "out").notes
    assert any("2 of 10 seconds of speech overlap" in note for note in notes)
    assert any(
        "3 places repeat words without [/] (with it: 0)" in note and "lsa-whisper mark" in note for note in notes
    )


def test_folders_of_one_name_whose_files_count_as_one_person(session, talk, tmp_path):
    """Two laboratories' folders are called alike, and so are their files."""
    folders = [session("s01", talk(3), corpus=f"{place}/visits") for place in ("east", "west")]
    (note,) = (note for note in prepare(folders, tmp_path / "out").notes if "one person" in note)
    assert all(str(folder / "s01.cha") in note for folder in folders) and "card.yaml" in note and "'visits'" in note
    for folder in folders:
        (folder / "card.yaml").write_text(f"name: {folder.parent.name}")
    done = prepare(folders, tmp_path / "cards")
    assert not [note for note in done.notes if "one person" in note]


def test_marked_repetitions_need_no_note(session, tmp_path):
    said = [
        ("CHI", f"I [/] I want the {word} .", (3000 * at, 3000 * at + 2500))
        for at, word in enumerate(("dog", "cat", "cow"))
    ]
    folder = session("a", said, duration_ms=9000)
    assert not any("places repeat" in note for note in prepare([folder], tmp_path / "out").notes)
