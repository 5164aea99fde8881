"""Folders as they come: who belongs to whom, who is who, and what must never be reached."""

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from unprivileged import closed

from lsa_whisper.corpus import discover, read_card
from lsa_whisper.errors import CorpusError

REAL = Path(__file__).parents[3] / "shared" / "data" / "paired"


def transcript(path: Path, *, media: str | None = "same", people: str = "CHI Target_Child") -> Path:
    code = people.split()[0]
    lines = ["@UTF8", "@Begin", "@Languages:\teng", f"@Participants:\t{people}"]
    lines += [f"@ID:\teng|x|{code}|||||Target_Child|||"]
    lines += [f"@Media:\t{path.stem if media == 'same' else media}, audio"] if media else []
    lines += [f"*{code}:\tun café . \x150_500\x15", "@End", ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("\n".join(lines).encode())
    return path


def audio(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    wave = 0.1 * np.sin(np.arange(8000) / 5).astype(np.float32)
    sf.write(path, wave, 16_000, format={"aif": "AIFF"}.get(path.suffix[1:].lower()))
    return path


def names(folder: Path, **options) -> dict[str, str]:
    sessions, _ = discover(folder, **options)
    return {session.name: session.recording.path.name for session in sessions}


def reasons(folder: Path, **options) -> dict[str, str]:
    return {Path(one.path).name: one.reason for one in discover(folder, **options)[1]}


def test_recordings_next_to_transcripts_at_any_depth(tmp_path):
    for place in ("a", "deep/er/b", "with space/ü/c d"):
        transcript(tmp_path / f"{place}.cha")
        audio(tmp_path / f"{place}.wav")
    assert names(tmp_path) == {"a": "a.wav", "deep/er/b": "b.wav", "with space/ü/c d": "c d.wav"}
    (first, *_), skipped_files = discover(tmp_path)
    assert skipped_files == [] and first.corpus == tmp_path.name and first.language == "eng"
    assert first.transcript.utterances[0].verbatim() == ["un", "café"]


def test_media_in_another_root_mirrored_or_flat(tmp_path):
    transcript(tmp_path / "chat" / "x" / "020304.cha")
    transcript(tmp_path / "chat" / "y" / "020304.cha")
    transcript(tmp_path / "chat" / "flat.cha")
    for place in ("x/020304", "y/020304", "elsewhere/flat"):
        audio(tmp_path / "media" / f"{place}.mp3")
    sessions, skipped_files = discover(tmp_path / "chat", media=tmp_path / "media")
    found = {one.name: one.recording.path.relative_to(tmp_path / "media").as_posix() for one in sessions}
    assert found == {"x/020304": "x/020304.mp3", "y/020304": "y/020304.mp3", "flat": "elsewhere/flat.mp3"}
    assert skipped_files == []


@pytest.mark.parametrize(
    ("media", "file"),
    [
        ("Take1", "take1.WAV"),
        ("TAKE1", "Take1.wav"),
        ("take1.mp3", "take1.wav"),
        ("take.1", "take.1.flac"),
        ('"take1"', "take1.ogg"),
        ("caf\u00e9", "cafe\u0301.wav"),
        ("other", "s.aif"),
        (None, "s.wav"),
    ],
)
def test_names_differ_in_case_ending_and_unicode_form(tmp_path, media, file):
    transcript(tmp_path / "s.cha", media=media)
    audio(tmp_path / file)
    assert names(tmp_path) == {"s": file}


def test_the_name_in_media_wins_over_the_stem_and_wav_over_mp3(tmp_path):
    transcript(tmp_path / "s.cha", media="take1")
    for file in ("s.wav", "take1.mp3", "take1.wav"):
        audio(tmp_path / file)
    assert names(tmp_path) == {"s": "take1.wav"}
    assert reasons(tmp_path) == {"s.wav": "this recording has no transcript"}


def test_a_damaged_wav_gives_way_to_a_whole_mp3(tmp_path):
    transcript(tmp_path / "s.cha")
    (tmp_path / "s.wav").write_bytes(b"RIFF")
    audio(tmp_path / "s.mp3")
    assert names(tmp_path) == {"s": "s.mp3"}


@pytest.mark.parametrize("media", ["../../etc/passwd", "../outside", "/etc/passwd", "..\\outside", "../outside.wav"])
def test_media_names_never_leave_the_root(tmp_path, media):
    audio(tmp_path / "outside.wav")
    transcript(tmp_path / "corpus" / "s.cha", media=media)
    (tmp_path / "media").mkdir()
    sessions, skipped_files = discover(tmp_path / "corpus", media=tmp_path / "media")
    assert sessions == [] and len(skipped_files) == 1 and "no recording named" in skipped_files[0].reason


def test_links_in_a_circle_end(tmp_path):
    transcript(tmp_path / "a" / "s.cha")
    audio(tmp_path / "a" / "s.wav")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a")
    assert names(tmp_path) == {"a/s": "s.wav"}


def test_a_linked_media_folder_is_followed(tmp_path):
    audio(tmp_path / "disk" / "s.wav")
    transcript(tmp_path / "corpus" / "s.cha")
    (tmp_path / "corpus" / "media").symlink_to(tmp_path / "disk")
    assert names(tmp_path / "corpus") == {"s": "s.wav"}


def test_what_finds_no_partner_is_listed_with_the_reason(tmp_path):
    transcript(tmp_path / "lonely.cha", media="lonely, missing")
    transcript(tmp_path / "broken.cha")
    (tmp_path / "broken.wav").write_text("no wav")
    (tmp_path / "empty.cha").write_text("@UTF8\n@Begin\n@End\n")
    audio(tmp_path / "empty.wav")
    transcript(tmp_path / "twice.cha")
    audio(tmp_path / "x" / "twice.wav")
    audio(tmp_path / "y" / "twice.wav")
    audio(tmp_path / "alone.flac")
    found = reasons(tmp_path)
    assert "@Media says 'missing'" in found["lonely.cha"]
    assert str(tmp_path / "broken.wav") in found["broken.cha"]
    assert "no utterance" in found["empty.cha"]
    assert "several recordings" in found["twice.cha"]
    assert "no transcript" in found["alone.flac"]


def test_hidden_files_and_other_folders_are_passed_over(tmp_path):
    transcript(tmp_path / "s.cha")
    audio(tmp_path / "s.wav")
    (tmp_path / "._s.cha").write_bytes(b"\0\5\x16\7")
    transcript(tmp_path / ".trash" / "old.cha")
    assert names(tmp_path) == {"s": "s.wav"} and reasons(tmp_path) == {}


def test_a_transcript_whose_name_is_not_utf8_is_listed_and_a_recording_in_such_a_folder_is_read(tmp_path):
    odd = os.fsdecode(b"caf\xe9")
    transcript(tmp_path / "c" / "t.cha")
    audio(transcript(tmp_path / "c" / "odd" / "s.cha").with_suffix(".wav"))
    audio(tmp_path / "c" / "odd" / "t.wav")
    transcript(tmp_path / "c" / "u.cha").rename(tmp_path / "c" / f"{odd}.cha")
    (tmp_path / "c" / "odd").rename(tmp_path / "c" / odd)
    sessions, skipped_files = discover(tmp_path / "c")
    assert [(one.name, one.recording.duration_s) for one in sessions] == [("t", 0.5)]
    told = [one.reason for one in skipped_files if one.path.suffix == ".cha"]
    assert len(told) == 2 and all("is not UTF-8; rename it" in reason for reason in told)
    (tmp_path / "c").rename(tmp_path / odd)
    assert discover(tmp_path / odd)[0][0].corpus == "caf\ufffd"


def test_a_closed_folder_is_listed_or_one_sentence(tmp_path):
    audio(transcript(tmp_path / "c" / "s.cha").with_suffix(".wav"))
    transcript(tmp_path / "c" / "shut" / "t.cha")
    with closed(tmp_path / "c" / "shut", below=tmp_path):
        assert names(tmp_path / "c") == {"s": "s.wav"}
        assert "cannot be read (Permission denied)" in reasons(tmp_path / "c")["shut"]
        with pytest.raises(CorpusError, match="shut/deep: cannot be opened"):
            discover(tmp_path / "c" / "shut" / "deep")
        with pytest.raises(CorpusError, match=r"contains no CHAT transcript .*shut: this folder cannot be read"):
            discover(tmp_path / "c" / "shut")
    with pytest.raises(CorpusError, match="cannot be opened"):
        discover(tmp_path / ("x" * 300))


def test_one_transcript_can_be_named(tmp_path):
    transcript(tmp_path / "s.cha")
    transcript(tmp_path / "t.cha")
    audio(tmp_path / "s.wav")
    assert names(tmp_path / "s.cha") == {"s": "s.wav"} and reasons(tmp_path / "s.cha") == {}


@pytest.mark.parametrize(
    ("people", "session", "expected"),
    [
        ("CHI Target_Child", "s", "c/s-CHI"),
        ("CHI Child Target_Child", "s", "c/s-CHI"),
        ("CHI Eve Target_Child", "010600a", "c/Eve-CHI"),
        ("CHI Target_Child", "Adam/020304", "c/Adam-CHI"),
        ("CHI Target_Child", "020304", "c/c-CHI"),
        ("PAR Participant", "adler/adler01b", "c/adler/adler01-PAR"),
        ("INV Investigator2 Investigator", "a/b", "c/a/b-INV"),
        ("MIC Sick_Michael Adult", "m", "c/Sick_Michael-MIC"),
    ],
)
def test_speaker_ids(tmp_path, people, session, expected):
    (tmp_path / "card.yaml").write_text("name: c\n")
    path = transcript(tmp_path / f"{session}.cha", people=people)
    audio(path.with_suffix(".wav"))
    (found,), _ = discover(tmp_path)
    assert list(found.speakers.values()) == [expected]


def test_a_custom_id_is_the_person(tmp_path):
    path = transcript(tmp_path / "s.cha", people="CHI Eve Target_Child")
    path.write_text(path.read_text().replace("Target_Child|||", "Target_Child||kid7|"))
    audio(tmp_path / "s.wav")
    (found,), _ = discover(tmp_path)
    assert found.speakers == {"CHI": f"{tmp_path.name}/kid7-CHI"}


def test_a_card_names_the_corpus_and_fixes_splits(tmp_path):
    (tmp_path / "card.yaml").write_text(
        "name: book\nlicence: CC0\nlanguage: eng\nhow: ask\nsplits: {train: [Ann], dev: [book/Bo-CHI], test: [s3]}\n"
    )
    for session, person in (("s1", "Ann"), ("s2", "Bo"), ("s3", "Child"), ("s4", "Cy")):
        audio(transcript(tmp_path / f"{session}.cha", people=f"CHI {person} Target_Child").with_suffix(".wav"))
    sessions, _ = discover(tmp_path)
    assert [session.split for session in sessions] == ["train", "dev", "test", None]
    assert {session.corpus for session in sessions} == {"book"}


def test_ids_in_a_card_are_the_text_that_stands_there(tmp_path):
    people = ["010", "020304", "no", "1.50", "1:30", "~x"]
    card = "name: 2001\nsplits:\n  dev:\n  test: [010, 020304, no, 1.50, 1:30, ~x]\n"
    (tmp_path / "card.yaml").write_text(card)
    for number, person in enumerate(people):
        path = transcript(tmp_path / f"s{number}.cha")
        path.write_text(path.read_text().replace("Target_Child|||", f"Target_Child||{person}|"))
        audio(path.with_suffix(".wav"))
    sessions, skipped_files = discover(tmp_path)
    assert [session.split for session in sessions] == ["test"] * 6 and skipped_files == []
    assert [session.card_ids for session in sessions] == [(person,) for person in people]
    assert {session.corpus for session in sessions} == {"2001"} and read_card(tmp_path / "card.yaml").splits[
        "dev"
    ] == ()


def test_a_generic_name_in_the_card_is_a_voice(tmp_path):
    (tmp_path / "card.yaml").write_text("name: book\nsplits: {test: [child02]}\n")
    audio(transcript(tmp_path / "s.cha", people="CHI child02 Target_Child").with_suffix(".wav"))
    (session,), _ = discover(tmp_path)
    assert (session.speakers, session.split) == ({"CHI": "book/child02-CHI"}, "test")


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ("name: [", "cannot read this corpus card"),
        ("- a\n", "a YAML mapping"),
        ("link: x\n", "at least 'name"),
        ("name: x\nsplit: {}\n", "did you mean 'splits'"),
        ("name: x\nsplits: {valid: [a]}\n", "must map train, dev, test"),
        ("name: x\nsplits: {dev: a}\n", "must be a list"),
        ("name: x\nsplits: {dev: [a, [b]]}\n", r"must be a list of speaker ids; write 'dev: \[id, id\]'"),
        ("name: x\nsplits: {dev: [a], test: [a]}\n", "a occurs in 'splits' more than once"),
    ],
)
def test_problems_of_a_card_are_reported(tmp_path, card, words):
    (tmp_path / "card.yaml").write_text(card)
    transcript(tmp_path / "s.cha")
    with pytest.raises(CorpusError, match=words):
        discover(tmp_path)


def test_a_card_that_tears_a_session_apart(tmp_path):
    (tmp_path / "card.yaml").write_text("name: x\nsplits: {train: [Ann], test: [Bo]}\n")
    path = transcript(tmp_path / "s.cha", people="CHI Ann Target_Child, MOT Bo Mother")
    path.write_text(path.read_text().replace("@End", "*MOT:\tyes . \x15500_900\x15\n@End"))
    audio(tmp_path / "s.wav")
    with pytest.raises(CorpusError, match=r"s\.cha: .*CHI in train, MOT in test"):
        discover(tmp_path)


def test_no_corpus(tmp_path):
    for name, remedy in (
        ("", "name a folder"),
        ("s.wav", "transcribe"),
        ("s.srt", "convert.*s.srt"),
        ("train.jsonl", "fine"),
    ):
        (tmp_path / name).touch()
        with pytest.raises(CorpusError, match=f"contains no CHAT transcript .*{remedy}"):
            discover(tmp_path)
    transcript(tmp_path / "s.cha")
    with pytest.raises(CorpusError, match="no such media folder"):
        discover(tmp_path, media=tmp_path / "nowhere")
    with pytest.raises(CorpusError, match=r"s\.wav: is a file; name the folder"):
        discover(tmp_path, media=tmp_path / "s.wav")


@pytest.mark.skipif(not REAL.is_dir(), reason="the real recordings are not beside the project")
def test_real_pairs():
    sessions, skipped_files = discover(REAL)
    assert [session.name for session in sessions] == ["biling_vec_hrv_clip", "clip", "eng_multi_speaker", "michael"]
    assert skipped_files == []
    assert sessions[3].speakers == {"MIC": "paired/Michael-MIC", "SIC": "paired/Sick_Michael-SIC"}
