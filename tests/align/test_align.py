"""Transcripts get times where their words are spoken; what is not spoken is named and gets none."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile
from model_fixtures import stopped_with_results

from lsa_whisper import chat
from lsa_whisper.align import align_transcripts
from lsa_whisper.align.transcripts import text_without_times
from lsa_whisper.audio import Recording
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.timespan import TimeSpan

ROOT = Path(__file__).resolve().parents[2]
NANO = ROOT / "models" / "nano"
SESSION = ROOT / "corpora" / "storybook" / "test" / "test02"
HEAD = (
    "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Child\n@ID:\teng|s|CHI|||||Child|||\n"
    "@Media:\ta, audio, unlinked\n"
)


@pytest.fixture(scope="module")
def known():
    """The first utterances of a session."""
    return [each for each in chat.read(SESSION.with_suffix(".cha")).utterances if each.span.end_ms < 14_000]


@pytest.fixture
def visit(tmp_path, known, known_heads):
    """A folder with the start of the session and its transcript without times."""
    end_ms = known[-1].span.end_ms + 300
    sound = Recording.open(SESSION.with_suffix(".flac")).load(TimeSpan(0, end_ms))
    soundfile.write(tmp_path / "a.wav", sound, 16_000)
    write(tmp_path / "a.cha", [each.text for each in known])
    return tmp_path


def write(path, lines):
    path.write_text(HEAD + "".join(f"*CHI:\t{line}\n" for line in lines) + "@End\n")
    return path


def align(path, **options):
    return align_transcripts(path, model=NANO, vad="energy", **options)


def test_utterances_and_words_get_their_times_and_the_text_stays(visit, known, capsys):
    summary = align(visit / "a.cha")
    assert f"{NANO}: Whisper" not in capsys.readouterr().err
    written = chat.read(visit / "aligned" / "a.cha")
    assert text_without_times(written) == (visit / "a.cha").read_text().replace(", unlinked", "").rstrip("\n")
    assert written.header("@Media") == "a, audio"
    errors = [abs(a.span.start_ms - b.span.start_ms) for a, b in zip(written.utterances, known, strict=True)]
    assert np.median(errors) < 100 and max(errors) < 1000
    near, words = 0, 0
    for a, b in zip(written.utterances, known, strict=True):
        starts = [(word, span.start_ms) for word, span in a.word_times]
        for word, span in b.word_times:  # nano omits disfluencies, so that it may not find a word of them
            words += 1
            near += any(word == other and abs(start - span.start_ms) <= 200 for other, start in starts)
    assert near / words > 0.7
    assert f"{len(known)} of {len(known)} utterances" in summary.table()
    again = align(visit / "a.cha", verbose=True)
    assert "1 kept" in again.table()
    assert f"{NANO}: Whisper" in capsys.readouterr().err


def test_times_that_cannot_be_right_are_sought_anew(visit, known, capsys):
    wrong = [*["\x15900_0\x15", "\x15900000_901000\x15"], *[""] * (len(known) - 2)]
    write(visit / "a.cha", [f"{each.text} {bullet}".rstrip() for each, bullet in zip(known, wrong, strict=True)])
    align(visit / "a.cha")
    found = chat.read(visit / "aligned" / "a.cha").utterances
    assert all(abs(a.span.start_ms - b.span.start_ms) < 300 for a, b in zip(found[:2], known[:2], strict=True))
    assert "past the recording's end are replaced; lines: 7, 8" in capsys.readouterr().err


def test_an_utterance_that_was_not_spoken_gets_no_time_and_is_named(visit, known):
    lines = [each.text for each in known]
    write(visit / "a.cha", [*lines[:3], "the hungry teacher painted our purple library yesterday .", *lines[3:]])
    summary = align(visit / "a.cha", review=visit / "review.csv")
    spoken = chat.read(visit / "aligned" / "a.cha").utterances
    assert [each.span is None for each in spoken] == [at == 3 for at in range(len(spoken))]
    line = chat.read(visit / "a.cha").utterances[3].line
    assert f"line {line} was not found" in summary.table()
    rows = list(csv.DictReader((visit / "review.csv").open()))
    assert (str(line), "not found") in [(row["line"], row["problem"]) for row in rows]


def test_existing_bullets_are_kept_as_anchors(visit, known):
    lines = [each.text for each in known]
    span = known[2].span
    lines[2] += f" \x15{span.start_ms - 7}_{span.end_ms + 7}\x15"
    write(visit / "a.cha", lines)
    table = align(visit / "a.cha", in_place=True).table()
    assert "bullets that stay: 1 (`check_times=True` names wrong ones; delete those and align)" in table
    assert "bullets that stay" not in align(write(visit / "b.cha", lines[:2]), audio=visit / "a.wav").table()
    spoken = chat.read(visit / "a.cha").utterances
    assert spoken[2].span == TimeSpan(span.start_ms - 7, span.end_ms + 7) and all(each.span for each in spoken)
    assert spoken[1].span.end_ms <= spoken[2].span.start_ms and spoken[3].span.start_ms >= spoken[2].span.end_ms


def test_wrong_bullets_are_reported_and_nothing_is_written(visit, known):
    lines = [f"{each.text} \x15{each.span.start_ms}_{each.span.end_ms}\x15" for each in known]
    lines[2] = f"{known[2].text} \x15{known[2].span.start_ms + 3100}_{known[2].span.end_ms + 3100}\x15"
    before = write(visit / "a.cha", lines).read_bytes()
    table = align(visit / "a.cha", check_times=True).table()
    line = chat.read(visit / "a.cha").utterances[2].line
    (found,) = [row for row in table.splitlines() if "off" in row]
    assert f"line {line} is 3." in found and "too late" in found
    assert (visit / "a.cha").read_bytes() == before and not (visit / "aligned").exists()


def test_plain_text_becomes_a_transcript(visit, known):
    lines = [" ".join(each.verbatim()) for each in known]
    (visit / "a.cha").unlink()
    (visit / "a.txt").write_text(f"ADU: {lines[0]}\n" + "\n".join(lines[1:]) + "\n")
    align(visit / "a.txt")
    spoken = chat.read(visit / "aligned" / "a.cha").utterances
    assert [each.speaker for each in spoken[:2]] == ["ADU", "PAR"] and all(each.span for each in spoken)


def test_a_killed_run_resumes_with_the_same_bytes(visit):
    align(visit / "a.cha", out=visit / "whole")
    with stopped_with_results():
        align(visit / "a.cha", out=visit / "part")
    assert not (visit / "part" / "a.cha").exists()
    align(visit / "a.cha", out=visit / "part")
    assert (visit / "part" / "a.cha").read_bytes() == (visit / "whole" / "a.cha").read_bytes()
    assert [path.name for path in (visit / "part").iterdir()] == ["a.cha"]


def test_input_that_cannot_be_aligned_is_one_clear_sentence(visit):
    with pytest.raises(CorpusError, match="no bullets to check"):
        align(visit / "a.cha", check_times=True)
    with pytest.raises(CorpusError, match="its result would replace it"):
        align(visit / "a.cha", out=visit)
    (visit / "aligned").mkdir()
    (visit / "aligned" / "a.cha").write_text("*CHI:\tanother text .\n")
    soundfile.write(visit / "a.wav", np.zeros(16_000), 16_000)
    with pytest.raises(LsaWhisperError, match="has another text"):
        align(visit / "a.cha")


def test_silence_gives_no_times(visit):
    soundfile.write(visit / "a.wav", np.zeros(80_000), 16_000)
    summary = align(visit / "a.cha")
    assert not any(each.span for each in chat.read(visit / "aligned" / "a.cha").utterances)
    assert "was not found" in summary.table()


def test_a_real_transcript_with_its_defects_is_aligned(visit, known):
    """The text begins late, there is a long silence, ``xxx`` has no time, and two utterances are swapped."""
    pause_ms, before = 12_000, known[2].span.start_ms - 200
    sound, rate = soundfile.read(visit / "a.wav")
    cut = before * rate // 1000
    soundfile.write(
        visit / "a.wav", np.concatenate([sound[:cut], np.zeros(pause_ms * rate // 1000), sound[cut:]]), rate
    )
    lines = [each.text for each in known]
    write(visit / "a.cha", [lines[1], "xxx .", lines[3].replace("door", "xxx"), lines[2], *lines[4:]])
    summary = align(visit / "a.cha")
    first, unclear, pushed, made, *rest = chat.read(visit / "aligned" / "a.cha").utterances
    assert unclear.span is None and "1 no words" in summary.table()
    expected = [
        (first, known[1], 0),
        *((a, b, pause_ms) for a, b in zip([made, pushed, *rest], known[2:], strict=True)),
    ]
    assert all(abs(a.span.start_ms - shift_ms - b.span.start_ms) < 300 for a, b, shift_ms in expected)
    assert "xxx" not in [word for word, _ in pushed.word_times]
    assert [word for word, _ in pushed.word_times] == ["then", "your", "goat", "pushed", "it", "in", "it", "in", "the"]
