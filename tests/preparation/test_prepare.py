"""From a folder to a prepared folder: nothing lost, nothing invented, nothing half-written."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from calls import contents

from lsa_whisper import chat, manifest
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Participant
from lsa_whisper.checkpoint.whisper_constants import DECODER_POSITIONS
from lsa_whisper.corpus import discover
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.inspection.tokens import token_counter
from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import SPLITS, Segment, parse_word_times
from lsa_whisper.preparation import prepare
from lsa_whisper.timespan import TimeSpan

REAL = Path(__file__).parents[3] / "shared" / "data" / "paired"
STORYBOOK = Path(__file__).parents[2] / "corpora" / "storybook"
TIMESTAMP = re.compile(r"<\|(\d+\.\d\d)\|>")


def rows(out: Path) -> list[Segment]:
    return [row for split in SPLITS for row in manifest.read(out / f"{split}.jsonl")]


def rejected(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]


def words_of(row: Segment) -> list[str]:
    said = decode(TIMESTAMP.sub(" ", row.text), Labels.from_name(row.labels)).utterances
    return [word for utterance in said for word in utterance.verbatim()]


def test_what_a_session_becomes(session, talk, tmp_path):
    folder = session("s", talk(10))
    done = prepare([folder], tmp_path / "out", without_timestamps=0.0)
    (row,) = rows(tmp_path / "out")
    assert row.text.startswith("<|0.") and row.text.count("<|") == 20
    assert "um I want want it." in row.text
    assert (row.lang, row.labels, row.corpus, row.session, row.split) == ("en", "chat/4", "corpus", "s", "train")
    assert row.speaker == "corpus/s-CHI" and row.prompt == ""
    assert Path(row.audio_filepath) == folder / "s.wav"
    assert done.splits["train"]["utterances"] == 10 and done.rejected == {}
    assert "shared speakers: only 1;" in done.notes[0] and "shared speakers: only 1;" in done.table()
    assert sorted(contents(tmp_path / "out")) == [
        "dev.jsonl", "prepared.json", "rejected.jsonl", "test.jsonl", "train.jsonl"
    ]  # fmt: skip


@pytest.mark.parametrize("style", ["chat", "verbatim", "fluent"])
@pytest.mark.parametrize("one_utterance", [False, True])
def test_no_word_is_lost_or_invented(session, talk, tmp_path, style, one_utterance):
    for name in ("a", "b", "c", "d"):
        lines = talk(25)
        lines[7] = ("CHI", "xxx .", lines[7][2])
        lines[12] = ("CHI", "no time here .", None)
        folder = session(name, lines)
    prepare([folder], tmp_path / "out", labels=style, one_utterance=one_utterance)
    found = sorted(word.lower() for row in rows(tmp_path / "out") for word in words_of(row))
    lost = {(one["file"], one["line"]) for one in rejected(tmp_path / "out")}
    expected = []
    for one in discover(folder)[0]:
        for utterance in one.transcript.utterances:
            if (str(one.path), utterance.line) not in lost:
                expected += utterance.fluent() if style == "fluent" else utterance.verbatim()
    assert found == sorted(word.lower() for word in expected) and found
    assert len(lost) == 4 * 2


def test_a_long_utterance_is_split_or_rejected(tmp_path):
    said = "and &-um we went [/] went to the sto:re and then <the dog> [//] the big dog ran (..) home with us"
    text = " ".join([*[said] * 4, "."])
    spoken = chat.utterance("CHI", text).verbatim()
    times = [(word, TimeSpan(at * 500 + 100, at * 500 + 520)) for at, word in enumerate(spoken)]
    span = TimeSpan(100, 500 * len(spoken) + 100)
    samples = np.zeros(16 * (span.end_ms + 500), np.float32)
    for _, at in times:
        samples[16 * at.start_ms : 16 * at.end_ms] = 0.1 * np.sin(np.arange(16 * at.duration_ms) / 3)
    (tmp_path / "c").mkdir()
    for name, words in (("with", times), ("without", None)):
        sf.write(tmp_path / "c" / f"{name}.wav", samples, 16_000)
        made = chat.utterance("CHI", text, span, words)
        persons = [Participant("CHI", "Target_Child")]
        transcript = chat.compose(languages=["eng"], participants=persons, utterances=[made], media=name)
        chat.write(transcript, tmp_path / "c" / f"{name}.cha")
    done = prepare([tmp_path / "c"], tmp_path / "out", context_s=10, without_timestamps=0.0)
    assert done.rejected["longer than the context"]["utterances"] == 1
    assert [one["text"] for one in rejected(tmp_path / "out")] == [text]
    found = rows(tmp_path / "out")
    assert {row.session for row in found} == {"with"} and len(found) >= span.duration_ms // 10_000 > 2
    assert [word for row in found for word in words_of(row)] == spoken
    for row in found:
        begin, end = round(row.offset * 1000), round((row.offset + row.duration) * 1000)
        inside = [word for word, at in times if begin <= at.start_ms and at.end_ms <= end]
        assert inside == words_of(row) and row.duration <= 10
    assert found[-1].text.rpartition("<|")[0].endswith("us.")
    assert not any(row.text.rpartition("<|")[0].endswith(".") for row in found[:-1])


def test_the_audio_of_a_window_holds_its_words_and_no_others(session, talk, tmp_path):
    lines = talk(30)
    for at in (4, 11, 12, 20):
        lines[at] = ("CHI", "xxx .", lines[at][2])
    lines[25] = ("CHI", "no time here .", None)
    folder = session("s", lines)
    prepare([folder], tmp_path / "out", without_timestamps=0.0, context_s=12.0)
    for row in rows(tmp_path / "out"):
        window = TimeSpan(round(row.offset * 1000), round((row.offset + row.duration) * 1000))
        samples = Recording.open(row.audio_filepath).load(window)
        loud = np.zeros(len(samples), bool)
        for start, end in zip(*[iter(map(float, TIMESTAMP.findall(row.text)))] * 2, strict=True):
            loud[round(start * 16_000) : round(end * 16_000)] = True
        speech = np.abs(samples) > 1e-6
        assert np.mean(speech[loud]) > 0.98, "a stretch with words is silent"
        assert np.mean(speech[~loud]) < 0.05, "speech outside the words"


def test_packing_saves_padding(session, talk, tmp_path):
    for name in ("a", "b", "c"):
        folder = session(name, talk(60))
    packed = prepare([folder], tmp_path / "packed")
    single = prepare([folder], tmp_path / "single", one_utterance=True)
    assert packed.splits["train"]["padding"] < 0.15 < 0.7 < single.splits["train"]["padding"]
    assert packed.splits["train"]["words"] == single.splits["train"]["words"]


def test_roles_languages_and_shares(session, talk, tmp_path):
    lines = [(("CHI", "MOT")[at % 2], text, span) for at, (_, text, span) in enumerate(talk(300))]
    folder = session("s", lines, language="deu")
    done = prepare([folder], tmp_path / "out", speaker_codes=True, without_timestamps=0.5, with_prompt=0.5, context_s=5)
    found = rows(tmp_path / "out")
    assert {(row.lang, row.labels) for row in found} == {("de", "chat+roles/4")}
    assert {row.speaker for row in found} >= {"corpus/s-CHI+corpus/s-MOT"}
    assert all("*CHI: " in row.text or "*MOT: " in row.text for row in found)
    plain = [row for row in found if not row.text.startswith("<|")]
    assert 0.35 < len(plain) / len(found) < 0.65 and all("<|" not in row.text for row in plain)
    assert 0.35 < sum(bool(row.prompt) for row in found) / len(found) < 0.65
    for before, row in itertools.pairwise(found):
        if row.prompt:
            assert row.prompt.split() == TIMESTAMP.sub(" ", before.text).split()
    assert done.splits["train"]["with_prompt"] == sum(bool(row.prompt) for row in found)


def test_a_window_has_the_language_of_most_of_its_words(session, tmp_path):
    texts = ["I want it .", "[- spa] quiero un perro grande .", "[- vec] no so mia .", "yes I do ."]
    folder = session("s", [("CHI", text, (300 + 2300 * at, 2300 + 2300 * at)) for at, text in enumerate(texts)])
    prepare([folder], tmp_path / "single", one_utterance=True, train_only=True)
    assert [row.lang for row in rows(tmp_path / "single")] == ["en", "es", "en", "en"]
    prepare([folder], tmp_path / "packed", train_only=True)
    prepare([folder], tmp_path / "given", train_only=True, language="spa")
    assert [row.lang for place in ("packed", "given") for row in rows(tmp_path / place)] == ["en", "es"]


def test_the_same_call_gives_the_same_bytes_and_another_seed_others(session, talk, tmp_path):
    for name in ("a", "b", "c", "d"):
        folder = session(name, talk(40))
    for out, seed in (("one", 0), ("two", 0), ("three", 1)):
        prepare([folder], tmp_path / out, seed=seed, context_s=10)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    one, three = rows(tmp_path / "one"), rows(tmp_path / "three")
    assert one != three and [row.split for row in one] == [row.split for row in three]


def test_copies_of_a_session_are_duplicates(session, talk, tmp_path):
    folder = session("a", talk(20))
    for suffix in ("cha", "wav"):
        shutil.copy(folder / f"a.{suffix}", folder / f"b.{suffix}")
    transcript = (folder / "b.cha").read_text().replace("@Media:\ta", "@Media:\tb")
    (folder / "b.cha").write_text(transcript)
    done = prepare([folder], tmp_path / "out")
    assert done.splits["train"]["utterances"] == 20 and done.rejected["duplicate"]["utterances"] == 20
    assert {Path(one["file"]).name for one in rejected(tmp_path / "out")} == {"b.cha"}


def test_several_corpora_and_a_card(session, talk, tmp_path):
    first = session("s", talk(5), persons=[Participant("CHI", "Target_Child", "Ann")], corpus="one")
    second = session("s", talk(5), persons=[Participant("CHI", "Target_Child", "Bo")], corpus="two")
    (first / "card.yaml").write_text("name: uno\nsplits: {test: [Ann]}\n")
    prepare([first, second], tmp_path / "out")
    assert {(row.corpus, row.split, row.speaker) for row in rows(tmp_path / "out")} == {
        ("uno", "test", "uno/Ann-CHI"),
        ("two", "train", "two/Bo-CHI"),
    }


def test_listed_speakers_without_sessions_are_reported(session, talk, tmp_path):
    folder = session("s", talk(5), persons=[Participant("CHI", "Target_Child", "Ann")])
    (folder / "card.yaml").write_text("name: uno\nsplits: {test: [Ann, 005], dev: [Bo]}\n")
    done = prepare([folder], tmp_path / "out")
    assert done.notes == ["the card of uno lists speakers that no usable session has: 005, Bo; check their spelling"]
    assert f"note: {done.notes[0]}" in done.table()


def test_a_folder_that_looks_like_markup(session, talk, tmp_path):
    done = prepare([session("s", talk(3))], tmp_path / "data[" / "b]")
    assert "data[/b]" in done.table().replace("\n", "").replace(" ", "")


def test_names_that_are_not_utf8_end_nothing(session, talk, tmp_path):
    folder, odd = session("s", talk(5)), os.fsdecode(b"caf\xe9")
    place = tmp_path / odd / odd
    shutil.copytree(folder, place)
    (place / odd).mkdir()
    (place / "s.wav").rename(place / odd / "s.wav")
    lines = [*talk(3), ("CHI", "xxx .", (9000, 9500))]
    shutil.copy(session("t", lines, corpus="more") / "t.cha", place / f"{odd}.cha")
    done = prepare([place], place.parent / "out", speaker_codes=True)
    assert [one["reason"] for one in done.skipped_files if "rename it" in one["reason"]] and done.table()
    (row,) = rows(place.parent / "out")
    assert Path(row.audio_filepath) == place / odd / "s.wav" and row.corpus == "caf\ufffd"
    assert json.loads((place.parent / "out" / "prepared.json").read_text("utf-8"))["skipped_files"]


def test_roles_may_be_named_with_the_labels(session, talk, tmp_path):
    prepare([session("s", talk(3))], tmp_path / "out", labels="chat+roles/4")
    (row,) = rows(tmp_path / "out")
    assert row.labels == "chat+roles/4" and "*CHI: " in row.text


def test_the_prompt_can_be_the_fluent_text_of_the_window(session, tmp_path):
    lines = [("CHI", "&-um the [/] the dog &+sa sat .", (0, 2000)), ("CHI", "is it ?", (2500, 3500))]
    prepare([session("s", lines)], tmp_path / "out", prompt_kind="fluent", without_timestamps=1.0, non_speech=0.0)
    (row,) = rows(tmp_path / "out")
    assert (row.text, row.prompt) == ("um the the dog sa- sat. is it?", "The dog sat. Is it?")
    prepare([session("s", lines)], tmp_path / "half", prompt_kind="fluent", with_prompt=0.0)
    assert not any(row.prompt for row in rows(tmp_path / "half"))


def test_a_prompt_leaves_the_window_room_for_its_own_text(session, tmp_path):
    long = " ".join(["wonderful"] * 20) + " ."
    lines = [
        ("CHI", text, (at * 4000 + start_ms, at * 4000 + end_ms))
        for at in range(40)
        for text, start_ms, end_ms in ((long, 0, 2900), ("yes .", 3000, 3900))
    ]
    prepare([session("s", lines)], tmp_path / "out", with_prompt=1.0, without_timestamps=0.0)
    found = rows(tmp_path / "out")
    assert any(row.prompt for row in found)
    assert max(token_counter().count(row) for row in found) < DECODER_POSITIONS


def test_a_moved_project_keeps_its_audio(session, talk, tmp_path):
    folder = session("s", talk(3))
    prepare([folder], folder.parent / "prepared")
    shutil.move(tmp_path, tmp_path.with_name(tmp_path.name + "-moved"))
    moved = tmp_path.with_name(tmp_path.name + "-moved")
    (row,) = rows(moved / "prepared")
    assert Path(row.audio_filepath) == moved / "corpus" / "s.wav" and Path(row.audio_filepath).exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"context_s": 0.5}, r"`context_s=0\.5`: .* between 1 and 30"),
        ({"without_timestamps": 1.5}, "between 0 and 1"),
        ({"with_prompt": -0.1}, r"--with-prompt is -0\.1; .* between 0 and 1"),
        ({"prompt_kind": "clean"}, "`prompt_kind=clean`: it must be previous or fluent"),
        ({"labels": "fluent", "relabel": "base"}, "fluent labels leave out disfluencies; choose others"),
        ({"labels": "fluent", "prompt_kind": "fluent"}, "fluent labels leave out disfluencies; choose others"),
    ],
)
def test_impossible_options(session, talk, tmp_path, options, words):
    with pytest.raises(LsaWhisperError, match=words):
        prepare([session("s", talk(2))], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_nothing_is_half_written(session, talk, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(CorpusError, match="no corpus; name at least one"):
        prepare([], out)
    folder = session("s", talk(2))
    (folder / "s.wav").unlink()
    with pytest.raises(CorpusError, match=r"has a readable recording; .*s\.cha: no recording named 's'"):
        prepare([folder], out)
    assert not out.exists()
    silent = session("t", [("CHI", "xxx .", (0, 500)), ("CHI", "yes .", None)], corpus="useless")
    with pytest.raises(CorpusError, match=r"no utterance can be trained on: no bullet \(1\), untranscribed \(1\)"):
        prepare([silent], out)
    wrong = session("w", [("CHI", "I want it .", (400, 500)), ("CHI", "no I do .", (900, 990))], corpus="seconds")
    with pytest.raises(CorpusError, match=r"too fast \(2\); 'lsa-whisper align --check-times' says"):
        prepare([wrong], out)
    long = session("l", [("CHI", "I want it .", (400, 2500))], corpus="long")
    with pytest.raises(CorpusError, match=r"longer than the context \(1\); 'lsa-whisper align' adds word times"):
        prepare([long], out, context_s=1)
    assert not out.exists()
    (tmp_path / "file").touch()
    with pytest.raises(CorpusError, match="is a file"):
        prepare([session("u", talk(2), corpus="good")], tmp_path / "file")


def test_a_failed_call_keeps_what_was_prepared_before(session, talk, tmp_path):
    prepare([session("s", talk(3))], tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(CorpusError):
        prepare([session("t", [("CHI", "xxx .", (0, 500))], corpus="useless")], tmp_path / "out")
    assert contents(tmp_path / "out") == before


def test_finished_sessions_are_not_done_twice(session, talk, tmp_path, monkeypatch):
    for name in ("a", "b", "c"):
        folder = session(name, talk(20))
    prepare([folder], tmp_path / "whole")
    import lsa_whisper.preparation.folder as room

    work, done = room.process_session, []

    def stops_at_b(one, split, options):
        if one.name == "b" and not done.count("stopped"):
            done.append("stopped")
            raise KeyboardInterrupt
        done.append(one.name)
        return work(one, split, options)

    monkeypatch.setattr(room, "process_session", stops_at_b)
    with pytest.raises(KeyboardInterrupt):
        prepare([folder], tmp_path / "out")
    assert not list((tmp_path / "out").glob("*.json*"))
    prepare([folder], tmp_path / "out")
    assert done == ["a", "stopped", "b", "c"]
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_changed_input_is_done_again(session, talk, tmp_path, monkeypatch, is_interrupted):
    for name in ("a", "b"):
        folder = session(name, talk(20))

    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if is_interrupted:
            patch.setattr("lsa_whisper.preparation.join", interrupted)
        with pytest.raises(KeyboardInterrupt) if is_interrupted else nullcontext():
            prepare([folder], tmp_path / "out")
    text = (folder / "a.cha").read_text()
    (folder / "a.cha").write_text(text.replace("small cat", "tiny cat"))
    prepare([folder], tmp_path / "out")
    prepare([folder], tmp_path / "fresh")
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
    assert "tiny cat" in rows(tmp_path / "out")[0].text


def test_a_recording_that_breaks_off_rejects_what_is_past_its_end(session, talk, tmp_path):
    folder = session("s", talk(20))
    samples, rate = sf.read(folder / "s.wav", dtype="float32")
    (folder / "s.wav").unlink()
    sf.write(folder / "s.mp3", samples, rate)
    data = (folder / "s.mp3").read_bytes()
    (folder / "s.mp3").write_bytes(data[: len(data) // 2])
    done = prepare([folder], tmp_path / "out")
    kept, lost = done.splits["train"]["utterances"], done.rejected["past the end of the file"]["utterances"]
    assert kept + lost == 20 and 5 < lost < 15


def test_prepare_starts_without_torch(session, talk, tmp_path):
    folder = session("s", talk(3))
    code = (
        "import sys; from pathlib import Path; from lsa_whisper.preparation import prepare;"
        f"prepare([Path({str(folder)!r})], Path('out')); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_events_are_counted_by_role(session, tmp_path):
    lines = [
        ("CHI", "&-um I want [/] want it .", (0, 2000)),
        ("MOT", "you want a ball ?", (2100, 4000)),
        ("CHI", "&-uh xxx .", (4100, 5000)),
    ]
    persons = [Participant("CHI", "Target_Child"), Participant("MOT", "Mother")]
    prepare([session("s", lines, persons=persons)], tmp_path / "out")
    roles = json.loads((tmp_path / "out" / "prepared.json").read_text())["roles"]
    assert roles == {
        "Mother": {"fluent_words": 4, "speech_ms": 1900, "utterances": 1, "words": 4},
        "Target_Child": {
            "filled_pause": 1, "fluent_words": 3, "repetition": 1, "speech_ms": 2000, "utterances": 1, "words": 5
        },
    }  # fmt: skip


@pytest.mark.skipif(not REAL.is_dir(), reason="the real recordings are not beside the project")
@pytest.mark.parametrize("one_utterance", [False, True])
@pytest.mark.parametrize("style", ["chat", "verbatim"])
def test_real_pairs_keep_every_word(tmp_path, one_utterance, style):
    done = prepare([REAL], tmp_path / "out", one_utterance=one_utterance, labels=style)
    assert done.rejected == {"untranscribed": {"utterances": 1, "seconds": 2.831}}
    for file in sorted(REAL.glob("*.cha")):
        spoken = [one.verbatim() for one in chat.read(file).utterances if not one.unusable()]
        told = [words_of(row) for row in rows(tmp_path / "out") if row.session == file.stem]
        # Verbatim sentences begin with a small letter when they are read back.
        assert [word.lower() for one in told for word in one] == [word.lower() for one in spoken for word in one]


@pytest.mark.slow
@pytest.mark.skipif(not (STORYBOOK / "card.yaml").is_file(), reason="the synthetic corpus has not been made")
@pytest.mark.parametrize("context_s", [2.0, 6.0, 30.0])
def test_storybook_windows_hold_their_words_by_exact_word_times(tmp_path, context_s):
    done = prepare([STORYBOOK], tmp_path / "out", context_s=context_s)
    assert not done.skipped_files and not done.notes
    lost = [word for one in rejected(tmp_path / "out") for word in chat.utterance("CHI", one["text"]).verbatim()]
    assert set(done.rejected) <= ({"longer than the context"} if context_s < 6 else set())
    spoken = [word for one in discover(STORYBOOK)[0] for said in one.transcript.utterances for word in said.verbatim()]
    told = [word for row in rows(tmp_path / "out") for word in words_of(row)]
    assert sorted([*told, *lost]) == sorted(spoken)
    assert len(lost) < 0.03 * len(spoken)  # many utterances are longer than 2 s, and hardly one of them cannot be cut
    by_session: dict[str, list[Segment]] = {}
    for row in rows(tmp_path / "out"):
        by_session.setdefault(row.session, []).append(row)
    for one in discover(STORYBOOK)[0]:
        timed = [pair for utterance in one.transcript.utterances for pair in utterance.word_times]
        for row in by_session[one.name]:
            start_ms, end_ms = round(row.offset * 1000), round((row.offset + row.duration) * 1000)
            inside = [word for word, at in timed if at.start_ms >= start_ms and at.end_ms <= end_ms]
            overlapping = [word for word, at in timed if at & TimeSpan(start_ms, end_ms)]
            assert len(inside) == len(overlapping) == len(words_of(row)), (one.name, row.offset)
            assert [word.text for word in parse_word_times(row.word_times)] == inside
            assert row.split == one.split


def test_a_card_from_elsewhere_names_the_corpus(session, talk, tmp_path):
    (tmp_path / "bank.yaml").write_text("name: bank\n")
    prepare([session("s", talk(3))], tmp_path / "out", card=tmp_path / "bank.yaml")
    assert {row.corpus for row in rows(tmp_path / "out")} == {"bank"}
