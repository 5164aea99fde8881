"""Windows without words are silent for certain: no utterance, no talk that nobody wrote down."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection import inspect
from lsa_whisper.manifest import SPLITS, Segment
from lsa_whisper.preparation import prepare
from lsa_whisper.timespan import TimeSpan

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
