"""The law of windows: every accepted utterance once and whole, and no speech whose text is missing."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.chat import utterance
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection import inspect
from lsa_whisper.manifest import SPLITS, Segment
from lsa_whisper.preparation import prepare
from lsa_whisper.preparation.screening import DUPLICATE, WORDLESS, Candidate
from lsa_whisper.preparation.windows import (
    OVERLAP_MS,
    WINDOW_MARGIN_MS,
    Window,
    _overlap_groups,
    pack,
    reject_overlap_groups,
)
from lsa_whisper.timespan import TimeSpan

END_MS = 200_000


def candidate(start_ms: int, end_ms: int, reason: str | None = None, words: int = 3) -> Candidate:
    text = " ".join(["word"] * words) + " ."
    return Candidate(utterance("CHI", text), TimeSpan(start_ms, end_ms), text, words, reason)


def packed(candidates: list[Candidate], **options) -> list[Window]:
    chosen = {"context_ms": 30_000, "duration_ms": END_MS, "one_utterance": False, "seed": 0, **options}
    return pack(candidates, **chosen)


reasons = st.sampled_from([None] * 8 + ["untranscribed", "no bullet", "too fast", WORDLESS, DUPLICATE])
spans = st.tuples(st.integers(0, END_MS - 20_000), st.integers(60, 20_000))
crowds = st.lists(st.tuples(spans, reasons), max_size=40).map(
    lambda drawn: sorted(
        (candidate(start, start + length, reason) for (start, length), reason in drawn),
        key=lambda one: one.span.start_ms,
    )
)
chains = st.lists(st.tuples(st.integers(-90, 3000), st.integers(200, 6000), reasons), max_size=60)


def chained(drawn: list[tuple[int, int, str | None]]) -> list[Candidate]:
    """Utterances one after the other, as conversation mostly is."""
    at, made = 100, []
    for gap, length, reason in drawn:
        start = max(0, at + gap)
        made.append(candidate(start, start + length, reason))
        at = start + length
    return sorted(made, key=lambda one: one.span.start_ms)


def test_a_very_short_utterance_inside_one_that_begins_with_it_stays_with_it():
    check_law([candidate(0, 60), candidate(0, 120)], 6_000, one_utterance=True, seed=0)


def check_law(candidates: list[Candidate], context_ms: int, one_utterance: bool, seed: int) -> None:
    checked = reject_overlap_groups(candidates, context_ms=context_ms)
    end_ms = max([END_MS, *(one.span.end_ms for one in checked)])
    windows = packed(checked, context_ms=context_ms, one_utterance=one_utterance, seed=seed, duration_ms=end_ms)
    told = [one for window in windows for one in window.members]
    assert [id(one) for one in told] == [id(one) for one in checked if one.reason is None]
    for window in windows:
        assert 0 < window.span.duration_ms <= context_ms
        assert window.span.start_ms >= 0 and window.span.end_ms <= end_ms
        inside = {id(one) for one in window.members}
        for one in checked:
            shared = window.span & one.span
            if id(one) in inside:
                assert shared == one.span
            elif shared and (one.breaks or one.reason is None):
                allowed = min(OVERLAP_MS, one.span.duration_ms // 2 + 1)
                assert shared.duration_ms <= allowed, "speech without its text"


@given(crowds, st.sampled_from([6_000, 15_000, 30_000]), st.booleans(), st.integers(0, 3))
def test_the_law_holds_in_a_crowd(candidates, context_ms, one_utterance, seed):
    check_law(candidates, context_ms, one_utterance, seed)


@given(chains, st.sampled_from([6_000, 30_000]), st.booleans(), st.integers(0, 3))
def test_the_law_holds_in_conversation(drawn, context_ms, one_utterance, seed):
    check_law(chained(drawn), context_ms, one_utterance, seed)


@given(crowds)
def test_timestamps_never_go_back_and_stay_inside(candidates):
    for window in packed(reject_overlap_groups(candidates, context_ms=30_000), duration_ms=END_MS + 20_000):
        text = window.timestamped()
        if text is not None:
            times = [round(float(time) / 0.02) for time in re.findall(r"<\|(\d+\.\d\d)\|>", text)]
            assert len(times) == 2 * len(list(_overlap_groups(window.members)))
            assert times == sorted(times)
            assert all(start < end for start, end in zip(times[::2], times[1::2], strict=True))
            assert times[0] >= 0 and times[-1] <= 1500
            assert times[-1] * 20 <= window.span.duration_ms + 10


def test_windows_are_filled_in_order_with_real_gaps():
    windows = packed([candidate(at * 3000, at * 3000 + 2500) for at in range(20)])
    assert [len(window.members) for window in windows] == [10, 10]
    assert [window.follows for window in windows] == [False, True]


def test_margins_are_varied_small_and_outside_the_neighbours():
    candidates = [candidate(500 + at * 3000, 500 + at * 3000 + 2900) for at in range(50)]
    windows = packed(candidates, one_utterance=True)
    leads = [window.members[0].span.start_ms - window.span.start_ms for window in windows]
    trails = [window.span.end_ms - window.members[-1].span.end_ms for window in windows]
    assert min(leads) >= 0 and max(leads[1:]) <= 100 < WINDOW_MARGIN_MS, "the gap is 100 ms"
    assert len(set(leads)) > 20 and len(set(trails)) > 20
    assert windows == packed(candidates, one_utterance=True)
    assert windows != packed(candidates, one_utterance=True, seed=1)


def test_a_rejected_utterance_ends_the_window_and_keeps_its_place():
    candidates = [candidate(0, 1000), candidate(1100, 2000, "untranscribed"), candidate(2050, 3000)]
    windows = packed(candidates)
    assert [len(window.members) for window in windows] == [1, 1]
    assert windows[0].span.end_ms <= 1100 and windows[1].span.start_ms >= 2000
    assert not windows[1].follows


def test_laughter_ends_no_window():
    candidates = [candidate(0, 1000), candidate(1100, 2000, WORDLESS), candidate(2050, 3000)]
    assert [len(window.members) for window in packed(candidates)] == [2]


def test_speech_under_rejected_speech_is_rejected_with_all_that_hangs_on_it():
    candidates = [
        candidate(0, 3000),
        candidate(2000, 5000),
        candidate(4000, 6000, "untranscribed"),
        candidate(6000, 7000),
    ]
    checked = reject_overlap_groups(candidates, context_ms=30_000)
    overlaps = "overlaps rejected speech"
    assert [one.reason for one in checked] == [overlaps, overlaps, "untranscribed", None]


def test_overlapping_speech_longer_than_the_context_is_rejected():
    checked = reject_overlap_groups([candidate(0, 20_000), candidate(15_000, 35_000)], context_ms=30_000)
    assert [one.reason for one in checked] == ["longer than the context"] * 2


def test_text_for_more_than_the_decoder_holds():
    checked = reject_overlap_groups([candidate(0, 29_000, words=600)], context_ms=30_000)
    assert checked[0].reason == "text over the decoder's length"
    windows = packed([candidate(0, 9_000, words=120), candidate(9_000, 18_000, words=120)])
    assert len(windows) == 2


def test_a_long_silence_ends_a_window():
    assert len(packed([candidate(0, 1000), candidate(10_900, 12_000)])) == 1
    assert len(packed([candidate(0, 1000), candidate(11_100, 12_000)])) == 2


def test_overlapping_utterances_have_one_pair_of_timestamps():
    (window,) = packed([candidate(0, 2000), candidate(1000, 3000), candidate(3500, 4000)])
    assert window.span.start_ms == 0
    assert window.timestamped() == ("<|0.00|>word word word . word word word .<|3.00|><|3.50|>word word word .<|4.00|>")
    assert window.plain() == "word word word . word word word . word word word ."


def test_a_small_overlap_is_divided_in_its_middle():
    (window,) = packed([candidate(0, 2040), candidate(1960, 3000)])
    assert window.timestamped() == "<|0.00|>word word word .<|2.00|><|2.00|>word word word .<|3.00|>"


def test_the_random_draw_depends_on_the_text_only():
    first, second = (
        [window.random(0, "prompt").random() for window in packed([candidate(at, at + 900) for at in starts])]
        for starts in ([0, 40_000, 80_000], [40_000, 80_000])
    )
    assert first[1:] == second and len(set(first)) == 3


def test_margins_differ_between_neighbouring_windows():
    windows = packed([candidate(at * 40_000, at * 40_000 + 900) for at in range(1, 5)])
    starts = [window.members[0].span.start_ms - window.span.start_ms for window in windows]
    assert all(one != other for one, other in pairwise(starts))


LONG_GAP_MS = 5000
PROCESSORS = Path(__file__).parents[3] / "shared" / "data" / "whisper"


def scattered(count: int) -> list[tuple[str, str, tuple[int, int]]]:
    """Utterances of two seconds with five seconds of silence between them."""
    starts = [300 + at * (2000 + LONG_GAP_MS) for at in range(count)]
    return [("CHI", "I want [/] want it .", (start, start + 2000)) for start in starts]


def rows(out) -> list[Segment]:
    return [row for split in SPLITS for row in manifest.read(out / f"{split}.jsonl")]


def silences(out) -> list[Segment]:
    return [row for row in rows(out) if not row.text]


def with_noise(lines, level: float, spans) -> np.ndarray:
    """The sound of ``lines`` over a faint noise, and noise of ``level`` in ``spans`` besides."""
    rng = np.random.default_rng(0)
    samples = (0.001 * rng.standard_normal((lines[-1][2][1] + 500) * 16)).astype(np.float32)
    for (start, end), loudness in [*((span, 0.1) for _, _, span in lines), *((span, level) for span in spans)]:
        samples[start * 16 : end * 16] += (loudness * rng.standard_normal((end - start) * 16)).astype(np.float32)
    return samples


def test_a_share_of_windows_is_silent_and_has_no_text(session, tmp_path):
    for at, name in enumerate(("a", "b", "c", "d")):
        lines = scattered(40)
        folder = session(name, lines, samples=with_noise(lines, 0, []) * (1 - 0.05 * at))
    done = prepare([folder], tmp_path / "out", one_utterance=True, non_speech=0.2)
    found = silences(tmp_path / "out")
    assert len(found) == sum(split["non_speech"] for split in done.splits.values())
    assert len(found) / len(rows(tmp_path / "out")) == pytest.approx(0.2, abs=0.02)
    for row in found:
        span = TimeSpan(round(row.offset * 1000), round((row.offset + row.duration) * 1000))
        assert 2000 <= span.duration_ms <= LONG_GAP_MS - 1000
        assert np.abs(Recording.open(row.audio_filepath).load(span)).max() < 0.01
        assert (row.speaker, row.prompt, row.labels) == ("", "", "chat/4")
    one = [row.duration for row in found if row.session == found[0].session]
    assert len(set(one)) > len(one) // 2
    offsets = [(row.session, row.offset) for row in rows(tmp_path / "out") if row.split == "train"]
    assert offsets == sorted(offsets)
    counted = done.splits["train"]
    assert counted["utterances"] == counted["segments"] - counted["non_speech"]
    assert "" not in {row.speaker for row in rows(tmp_path / "out") if row.text}
    assert counted["speakers"] == len({row.session for row in rows(tmp_path / "out") if row.split == "train"})


def test_none_where_it_is_turned_off_and_the_same_for_the_same_seed(session, tmp_path):
    lines = scattered(60)
    folder = session("s", lines, samples=with_noise(lines, 0, []))
    for out, seed, share in (("off", 0, 0.0), ("one", 0, 0.3), ("two", 0, 0.3), ("three", 1, 0.3)):
        prepare([folder], tmp_path / out, one_utterance=True, non_speech=share, seed=seed)
    assert silences(tmp_path / "off") == [] != silences(tmp_path / "one")
    assert silences(tmp_path / "one") == silences(tmp_path / "two") != silences(tmp_path / "three")
    texts = [[row.text for row in rows(tmp_path / out) if row.text] for out in ("off", "one")]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("level", "taken"), [(0.05, False), (0.02, False), (0.002, True)])
def test_untranscribed_speech_is_not_silence(session, tmp_path, level, taken):
    lines = scattered(20)
    gaps = [(end + 100, end + LONG_GAP_MS - 100) for _, _, (_, end) in lines[:-1]]
    folder = session("s", lines, samples=with_noise(lines, level, gaps))
    prepare([folder], tmp_path / "out", one_utterance=True, non_speech=0.3)
    assert bool(silences(tmp_path / "out")) is taken


@pytest.mark.parametrize(
    "silent_line",
    [("CHI", "xxx .", (2400, 7200)), ("CHI", "what was it .", None), ("CHI", "&=laughs .", (4000, 4500))],
    ids=["untranscribed", "no bullet", "laughter"],
)
def test_the_place_of_any_utterance_is_no_silence(session, tmp_path, silent_line):
    lines = [("CHI", "I want it .", (300, 2300)), silent_line, ("CHI", "I want it too .", (7300, 9300))]
    voiced = [line for line in lines if line[2] and line is not silent_line]
    folder = session("s", lines, samples=with_noise(voiced, 0, []))
    prepare([folder], tmp_path / "out", one_utterance=True, non_speech=0.9)
    assert silences(tmp_path / "out") == []


def test_before_the_first_and_after_the_last_utterance_nothing_is_certain(session, tmp_path):
    lines = [("CHI", "I want it .", (20_000, 22_000)), ("CHI", "I want it too .", (22_300, 24_000))]
    samples = np.concatenate([with_noise(lines, 0, []), np.zeros(16_000 * 20, np.float32)])
    prepare([session("s", lines, samples=samples)], tmp_path / "out", one_utterance=True, non_speech=0.9)
    assert silences(tmp_path / "out") == []


def test_a_long_silence_gives_windows_of_at_most_a_context(session, tmp_path):
    lines = [("CHI", "I want it .", (0, 2000)), ("CHI", "I want it too .", (60_000, 62_000))]
    folder = session("s", lines, samples=with_noise(lines, 0, []))
    prepare([folder], tmp_path / "out", context_s=6.0, one_utterance=True, non_speech=0.8)
    found = silences(tmp_path / "out")
    assert len(found) == 8 and max(row.duration for row in found) <= 6
    assert all(one.offset + one.duration <= two.offset for one, two in pairwise(found))


def test_silent_windows_can_be_inspected(session, tmp_path):
    lines = scattered(20)
    prepare([session("s", lines, samples=with_noise(lines, 0, []))], tmp_path / "out", non_speech=0.5)
    assert silences(tmp_path / "out") and "train" in inspect(tmp_path / "out")


@pytest.mark.slow
@pytest.mark.skipif(not PROCESSORS.exists(), reason="the real tokenizers are not beside the project")
def test_an_empty_text_is_trained_as_whispers_empty_sequence():
    from transformers import GenerationConfig, WhisperTokenizer

    from lsa_whisper.dataset import LabelEncoder

    tokenizer = WhisperTokenizer.from_pretrained(PROCESSORS / "processor")
    ids, given = LabelEncoder(tokenizer, GenerationConfig.from_pretrained(PROCESSORS / "processor")).encode("")
    begin = ["<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"]
    assert (tokenizer.convert_ids_to_tokens(ids), given) == ([*begin, "<|endoftext|>"], 0)


def test_a_share_of_one_has_no_words(session, talk, tmp_path):
    with pytest.raises(CorpusError, match="`non_speech=1"):
        prepare([session("s", talk(2))], tmp_path / "out", non_speech=1.0)
