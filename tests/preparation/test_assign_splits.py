"""Splits: no voice in two of them, stable under added files, or as the card says."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper.audio import Recording
from lsa_whisper.corpus import Session
from lsa_whisper.preparation.assign_splits import assign_splits, persons, split_by_hash

RECORDING = Recording(Path("a.wav"), 1.0, 16_000, 1)


def session(name: str, *who: str, split: str | None = None, corpus: str = "c") -> Session:
    speakers = {f"S{at}": f"{corpus}/{person}-S{at}" for at, person in enumerate(who)}
    return Session(name, corpus, Path(f"{name}.cha"), RECORDING, speakers, split)


@given(st.lists(st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=1, max_size=3), max_size=25))
def test_no_voice_is_in_two_splits(casts):
    sessions = [session(f"s{at}", *cast) for at, cast in enumerate(casts)]
    splits, _ = assign_splits(sessions)
    splits_of: dict[str, set[str]] = {}
    for one, split in zip(sessions, splits, strict=True):
        for person in persons(one):
            splits_of.setdefault(person, set()).add(split)
    assert all(len(where) == 1 for where in splits_of.values())


@given(st.sets(st.text(min_size=1), min_size=3, max_size=200))
def test_each_split_gets_something_and_train_the_most(names):
    splits = list(split_by_hash(sorted(names)).values())
    assert all(splits.count(split) >= 1 for split in ("train", "dev", "test"))
    if len(names) > 150:
        assert splits.count("train") > 0.65 * len(names)


def test_added_sessions_leave_the_others_where_they_are():
    sessions = [session(f"s{at}", f"child{at}x") for at in range(300)]
    before, _ = assign_splits(sessions[:200])
    after, _ = assign_splits(sessions)
    assert after[:200] == before
    assert {split: round(after.count(split) / 300, 1) for split in ("dev", "test")} == {"dev": 0.1, "test": 0.1}


def test_the_order_of_sessions_does_not_matter():
    sessions = [session(f"s{at}", f"p{at % 7}x", f"q{at}x") for at in range(30)]
    splits = dict(zip((one.name for one in sessions), assign_splits(sessions)[0], strict=True))
    backwards = dict(zip((one.name for one in sessions[::-1]), assign_splits(sessions[::-1])[0], strict=True))
    assert splits == backwards


def test_one_voice_in_two_parts_is_one_person():
    first = Session("s1", "c", Path("s1.cha"), RECORDING, {"CHI": "c/Ann-CHI"})
    second = Session("s2", "c", Path("s2.cha"), RECORDING, {"MOT": "c/Ann-MOT"})
    others = [session(f"o{at}", f"p{at}") for at in range(40)]
    splits, _ = assign_splits([first, second, *others])
    assert splits[0] == splits[1]


def test_fewer_than_three_groups_are_all_for_training_and_reported():
    splits, notes = assign_splits([session("s1", "a"), session("s2", "b"), session("s3", "b", "c")])
    assert splits == ["train"] * 3
    assert "without shared speakers: only 2;" in notes[0]


def test_the_card_decides_and_the_rest_of_its_corpus_is_for_training():
    sessions = [
        session("s1", "a", split="test"),
        session("s2", "b", split="dev"),
        session("s3", "a"),
        session("s4", "x"),
    ]
    assert assign_splits(sessions) == (["test", "dev", "test", "train"], [])


def test_a_card_that_leaks_a_voice_is_reported():
    sessions = [session("s1", "a", "inv", split="test"), session("s2", "b", "inv", split="train")]
    splits, (note,) = assign_splits(sessions)
    assert splits == ["test", "train"] and "c/inv" in note
