"""Language-sample measures: as published, equal to pylangacq where it computes them, and readable by other programs."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pylangacq
import pytest

from lsa_whisper import chat
from lsa_whisper.inspection import inspect
from lsa_whisper.inspection.measures import measure_speakers, vocabulary_diversity

ROOT = Path(__file__).resolve().parents[2]
STORYBOOK = ROOT / "corpora" / "storybook" / "test"
REFERENCE = ROOT.parent / "shared" / "data" / "chat" / "reference"
PLAIN = re.compile(r"[a-zA-ZÀ-ſ' ]+")
SUFFIX = re.compile(r"-(?:PL|PAST|PASTP|POSS|PRESP|PROG|Plur|Past|Part|Ger)\b")
HEAD = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Target_Child, MOT Mother\n"
HEAD += "@ID:\teng|c|CHI|||||Target_Child|||\n"
HEAD += "@ID:\teng|c|MOT|||||Mother|||\n"
SAMPLE = (
    HEAD + "*CHI:\t&-um <I want> [/] I want (1.5) it . \x150_3000\x15\n*CHI:\txxx dog (.) gone .\n"
    "*MOT:\twhat is it ?\n*CHI:\tmy dog +...\n@End\n"
)


@pytest.fixture
def sample(tmp_path):
    path = tmp_path / "visit.cha"
    path.write_text(SAMPLE)
    return path


def test_each_measure_by_hand(sample):
    found = measure_speakers(chat.read(sample))["CHI"].as_dict()
    expected = {
        "utterances": 3, "total_words": 7, "different_words": 6, "mlu_words": 2.5, "ttr": 6 / 7, "mattr": None,
        "abandoned": 1, "maze_share": 3 / 10, "words_per_minute": 60.0, "utterances_per_minute": 20.0,
        "intelligible_share": 10 / 11, "pauses": 2, "timed_pause_s": 1.5, "turns": 2, "words_per_turn": 3.5,
        "mlu_morphemes": None, "vocd": None, "vocd_word_forms": None, "td": 4, "word_errors": None,
        "grammatical_share": None,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_only_pauses_between_words_have_seconds(sample):
    sample.write_text(SAMPLE.replace("my dog", "(3.0) my (1:02.5) dog [% (9) seconds] (.) wow (4.0)"))
    found = measure_speakers(chat.read(sample))["CHI"].as_dict()
    assert (found["pauses"], found["timed_pause_s"]) == (4, 64.0)


def test_accents_behind_their_letters_make_no_other_word(sample):
    sample.write_text(SAMPLE.replace("my dog", "ni\u00f1o nin\u0303o"))
    assert measure_speakers(chat.read(sample))["CHI"].sample.different_words == 6


def test_time_without_known_words_is_no_speaking_time(sample):
    """An untranscribed minute is none in which the speaker said nothing."""
    unknown = "".join(f"*CHI:\t{text} . \x154000_64000\x15\n" for text in ("www", "the xxx", "&=laughs"))
    sample.write_text(SAMPLE.replace("@End", f"{unknown}@End"))
    found = measure_speakers(chat.read(sample))["CHI"].as_dict()
    assert (found["words_per_minute"], found["utterances_per_minute"]) == pytest.approx((60.0, 20.0))


@pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/data/chat is absent")
def test_mlu_and_type_token_ratio_are_those_of_pylangacq():
    """Of utterances of plain words: pylangacq counts ``xxx``, commas and retraces otherwise, and no suffixes."""
    lines = []
    for path in sorted(REFERENCE.rglob("*.cha")):
        for each in chat.read(path).utterances:
            mor = next((tier.raw for tier in each.tiers if tier.name == "%mor"), "")
            text = each.text.rstrip(".?! ")
            if PLAIN.fullmatch(text) and len(mor.split()) == len(text.split()) + 2 and not SUFFIX.search(mor):
                lines.append(f"*CHI:\t{text} .\n{mor.rstrip()[:-1]}.\n")
    whole = f"{HEAD}{''.join(lines)}@End\n"
    other = pylangacq.CHAT.from_strs([whole])
    found = measure_speakers(chat.parse(whole))["CHI"]
    own = [found.sample.mlu_words, found.mlu_morphemes, found.sample.ttr]
    assert own == pytest.approx([value for one in (other.mluw, other.mlum, other.ttr) for value in one(n=10_000)])
    assert found.sample.utterances >= 80 and own[1] > own[0]


def test_vocabulary_diversity_is_the_mean_of_many_random_samples():
    rng = random.Random(0)
    words = [f"w{min(int(rng.expovariate(0.05)), 90)}" for _ in range(400)]
    sizes = np.arange(35, 51)
    means = np.array([np.mean([len(set(rng.sample(words, n))) / n for _ in range(2000)]) for n in sizes])
    curves = {
        d: float(np.square(d / sizes * (np.sqrt(1 + 2 * sizes / d) - 1) - means).sum()) for d in np.arange(5, 150, 0.25)
    }
    assert vocabulary_diversity(words) == pytest.approx(min(curves, key=curves.get), rel=0.02)
    assert vocabulary_diversity(words[:49]) is None
    assert vocabulary_diversity(["one"] * 50) < vocabulary_diversity(list(map(str, range(50))))


def test_csv_is_read_by_pandas(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # cells wrap in a narrow terminal
    import pandas

    out = tmp_path / "measures.csv"
    printed = inspect(STORYBOOK, measures=True, csv=out)
    table = pandas.read_csv(out)
    speakers = [(str(path), code) for path in sorted(STORYBOOK.glob("*.cha")) for code in chat.read(path).fluency()]
    assert list(zip(table["file"], table["speaker"], strict=True)) == speakers
    assert table["mlu_words"].between(1, 20).all() and table["mlu_morphemes"].isna().all()
    assert "test01 CHI" in printed and "csv" not in printed


def test_every_disfluency_is_listed_with_its_line(sample):
    rows = json.loads(inspect(sample, events=True, json=True))
    lines = sample.read_text().splitlines()
    assert all(lines[row["line"] - 1].startswith(f"*{row['tier']}:") for row in rows)
    kinds = Counter(row["class"] for row in rows)
    assert kinds == {"filled pause": 1, "repetition": 1, "pause": 2}
    assert next(row["words"] for row in rows if row["class"] == "repetition") == "I want"
