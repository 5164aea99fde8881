"""An open transcript on disk: saved after each edit, restored after a crash, never written over."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.review import edits
from lsa_whisper.review.saved import RevisionError, SavedTranscript

SOURCE = sorted((Path(__file__).resolve().parents[2] / "corpora/storybook/test").glob("*.cha"))[0]


@pytest.fixture
def path(tmp_path):
    return Path(shutil.copy(SOURCE, tmp_path / SOURCE.name))


def text_edit(number, text):
    return lambda transcript: edits.set_text(transcript, number, text)


def test_an_edit_is_saved_and_the_original_kept(path):
    original = path.read_bytes()
    saved = SavedTranscript(path)
    assert saved.edit(0, "text", text_edit(0, "one two .")) and saved.revision == 1
    assert b"one two ." in path.read_bytes() and saved.kept.read_bytes() == original
    assert saved.edit(1, "text", text_edit(0, "one two .")) is None
    saved.undo(1)
    assert path.read_bytes() == original
    saved.close()


def test_undo_survives_a_restart(path):
    original = path.read_bytes()
    saved = SavedTranscript(path)
    for number in range(3):
        saved.edit(number, "text", text_edit(number, f"new {'word ' * (number + 1)}."))
    saved.pend(3, 1, "<half typed")
    saved.add_activity(12.5)
    now = path.read_bytes()
    saved.close()
    again = SavedTranscript(path)
    assert path.read_bytes() == now and again.pending == {1: "<half typed"} and again.active_s == 12.5
    while again.undo(again.revision):
        pass
    assert path.read_bytes() == original
    while again.redo(again.revision):
        pass
    assert path.read_bytes() == now
    again.close()


def test_time_worked_in_one_window_does_not_hinder_an_edit_of_the_other(path):
    saved = SavedTranscript(path)
    saved.edit(0, "text", text_edit(0, "one two ."))
    saved.add_activity(20.0)
    assert saved.edit(1, "text", text_edit(0, "one two three ."))
    saved.close()
    again = SavedTranscript(path)
    assert again.revision == 2 and again.active_s == 20.0
    again.close()


@pytest.mark.parametrize("lost", range(4))
def test_a_crash_at_any_write_leaves_the_last_step_or_the_one_before(path, lost, monkeypatch):
    """The server ends between two of its writes, or in the middle of a line of the journal."""
    saved = SavedTranscript(path)
    saved.edit(0, "text", text_edit(0, "before ."))
    before, journal = path.read_bytes(), saved._journal.read_bytes()
    saved.edit(1, "text", text_edit(0, "after ."))
    after, longer = path.read_bytes(), saved._journal.read_bytes()
    saved.close()
    if lost < 3:
        path.write_bytes(before)
    if lost < 3:
        cut = random.Random(lost).randrange(len(journal), len(longer)) if lost == 1 else len(longer)
        saved._journal.write_bytes(longer[:cut])
    again = SavedTranscript(path)
    assert path.read_bytes() == (before if lost == 1 else after) and not again.remark
    assert not chat.check(chat.read(path))
    again.close()


def test_another_window_cannot_overwrite(path):
    saved = SavedTranscript(path)
    saved.edit(0, "text", text_edit(0, "mine ."))
    with pytest.raises(RevisionError, match="another window"):
        saved.edit(0, "text", text_edit(0, "theirs ."))
    with pytest.raises(LsaWhisperError, match="another command is writing it"):
        SavedTranscript(path)
    saved.close()


@pytest.mark.parametrize("choice", ["take_foreign", "keep_own"])
def test_a_change_by_another_program_is_noticed_and_both_are_kept(path, choice):
    saved = SavedTranscript(path)
    saved.edit(0, "text", text_edit(0, "mine ."))
    mine, theirs = path.read_bytes(), path.read_bytes().replace(b"mine", b"theirs")
    path.write_bytes(theirs)
    with pytest.raises(RevisionError, match="another program"):
        saved.edit(1, "text", text_edit(1, "more ."))
    assert path.read_bytes() == theirs
    getattr(saved, choice)()
    kept = [each.read_bytes() for each in saved.kept.parent.glob("*.cha")]
    assert path.read_bytes() == (theirs if choice == "take_foreign" else mine)
    assert (mine if choice == "take_foreign" else theirs) in kept
    saved.edit(saved.revision, "text", text_edit(1, "more ."))
    saved.undo(saved.revision)
    if choice == "take_foreign":
        saved.undo(saved.revision)
    assert path.read_bytes() == mine
    saved.close()


@pytest.mark.parametrize("edits_made", [1, 3])
@pytest.mark.parametrize("choice", ["take_foreign", "keep_own"])
def test_an_original_that_was_restored_is_asked_about(path, choice, edits_made, tmp_path):
    """With its own time of change, as ``cp -p`` and backup programs restore it."""
    backup = shutil.copy2(path, tmp_path / "backup")
    saved = SavedTranscript(path)
    for number in range(edits_made):
        saved.edit(number, "text", text_edit(number, "mine ."))
    saved.close()
    mine = path.read_bytes()
    shutil.copy2(backup, path)
    again = SavedTranscript(path)
    assert "earlier version" in again.remark and again.foreign
    assert path.read_bytes() == backup.read_bytes() and again.transcript.utterances[0].text == "mine ."
    with pytest.raises(RevisionError, match="choose a version"):
        again.edit(again.revision, "text", text_edit(0, "more ."))
    assert path.read_bytes() == backup.read_bytes()
    getattr(again, choice)()
    assert path.read_bytes() == (mine if choice == "keep_own" else backup.read_bytes())
    again.edit(again.revision, "text", text_edit(5, "more ."))
    while again.undo(again.revision):
        pass
    assert path.read_bytes() == backup.read_bytes()
    again.close()


def test_a_change_between_two_sessions_is_one_step(path):
    saved = SavedTranscript(path)
    saved.edit(0, "text", text_edit(0, "mine ."))
    saved.close()
    mine = path.read_bytes()
    path.write_bytes(mine.replace(b"mine", b"theirs"))
    again = SavedTranscript(path)
    assert "another program" in again.remark and again.transcript.utterances[0].text == "theirs ."
    again.undo(again.revision)
    assert path.read_bytes() == mine
    again.close()


def test_the_header_says_when_a_person_has_reviewed_all(path):
    draft, checked = b"; not checked by a person\n", b"; checked by a person\n"
    path.write_bytes(path.read_bytes().replace(b"*", b"@Comment:\ttranscribed" + draft + b"*", 1))
    saved = SavedTranscript(path)
    count = len(saved.transcript.utterances)
    for number in range(count):
        assert draft in path.read_bytes() and edits.draft_banner(saved.transcript)
        saved.edit(number, "reviewed", lambda transcript, at=number: edits.set_reviewed(transcript, at))
    assert checked in path.read_bytes() and not edits.draft_banner(saved.transcript)
    saved.undo(count)
    assert draft in path.read_bytes()
    saved.redo(count + 1)
    saved.edit(count + 2, "reviewed", lambda transcript: edits.set_reviewed(transcript, 0, reviewed=False))
    assert draft in path.read_bytes()
    saved.close()
    again = SavedTranscript(path)
    assert draft in path.read_bytes() and not again.remark
    again.close()


def test_text_that_is_not_valid_yet_stays_at_its_utterance(path):
    saved = SavedTranscript(path)
    saved.pend(0, 2, "<two")
    saved.pend(1, 5, "<five")
    for kind, make, expected in (
        ("text", text_edit(0, "one ."), {2: "<two", 5: "<five"}),
        ("insert", lambda transcript: edits.insert_utterance(transcript, 3, "CHI"), {2: "<two", 6: "<five"}),
        ("reviewed", lambda transcript: edits.set_reviewed(transcript, 2), {2: "<two", 6: "<five"}),
        ("delete", lambda transcript: edits.delete_utterance(transcript, 0), {1: "<two", 5: "<five"}),
        ("text", text_edit(1, "two ."), {5: "<five"}),
        ("delete", lambda transcript: edits.delete_utterance(transcript, 5), {}),
    ):
        saved.edit(saved.revision, kind, make)
        assert saved.pending == expected
        saved.close()
        saved = SavedTranscript(path)
        assert saved.pending == expected
    saved.pend(saved.revision, 3, "<three")
    saved.undo(saved.revision)
    assert saved.pending == {3: "<three"}
    saved.pend(saved.revision, 3, None)
    saved.close()
    assert SavedTranscript(path).pending == {}


def test_text_that_is_not_valid_yet_stays_at_its_utterance_in_the_version_of_another_program(path):
    saved = SavedTranscript(path)
    saved.pend(0, 5, "<five")
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith(b"*"))
    path.write_bytes(b"".join([*lines[:first], b"*ADU:\tmore here .\n", *lines[first:]]))
    with pytest.raises(RevisionError, match="another program"):
        saved.undo(saved.revision)
    saved.take_foreign()
    assert saved.pending == {6: "<five"}
    saved.close()
    assert SavedTranscript(path).pending == {6: "<five"}
