"""A model that was trained with ``data.trim``: its encoder sees no more than sound and margin, in any batch."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from tiny_whisper import CONTEXT_S, voice

from lsa_whisper import checkpoint
from lsa_whisper.decoding.batches import Batches
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import CheckpointError
from lsa_whisper.transcription import Transcriber

LENGTHS_S = (1.0, 8.0, 0.3, 5.0, 2.0, 7.98, 1.1, 0.9)
WINDOWS = [voice(length, seed=n) for n, length in enumerate(LENGTHS_S)]


def with_margin(folder, out, margin_s):
    shutil.copytree(folder, out)
    ours = json.loads((out / "lsa_whisper.json").read_text("utf-8"))
    (out / "lsa_whisper.json").write_text(json.dumps(ours | {"trim": {"margin_s": margin_s}}), "utf-8")
    return out


def text(decoded):
    return [[(segment.text, segment.start_s, segment.end_s) for segment in window.segments] for window in decoded]


@pytest.fixture(scope="module")
def trimmed(tiny, tmp_path_factory):
    return with_margin(tiny, tmp_path_factory.mktemp("trimmed") / "model", 1.0)


@pytest.fixture
def positions(monkeypatch):
    """The encoder positions of each window that is encoded."""
    seen = []
    forward = torch.nn.LayerNorm.forward

    def watched(self, states):
        if self.normalized_shape == (48,) and states.shape[1] > 40:
            seen.append(states.shape[1])
        return forward(self, states)

    monkeypatch.setattr(torch.nn.LayerNorm, "forward", watched)
    return seen


def test_the_encoder_sees_the_sound_and_a_margin(trimmed, positions):
    TransformersDecoder(checkpoint.load(trimmed), batch_size=1).decode([WINDOWS[0], WINDOWS[3], WINDOWS[1]])
    assert set(positions) == {100, 300, 400}  # of 1 s, 5 s, and 8 s, which with the margin is more than the context


def test_a_model_that_was_not_trimmed_sees_its_whole_context(tiny, positions):
    TransformersDecoder(checkpoint.load(tiny)).decode(WINDOWS[:3])
    assert set(positions) == {50 * CONTEXT_S}


@pytest.mark.parametrize("size", [2, 32])
def test_the_batch_does_not_change_the_text(trimmed, size):
    alone = [TransformersDecoder(checkpoint.load(trimmed), batch_size=1).decode([window])[0] for window in WINDOWS]
    assert any(window.segments for window in alone)
    assert text(TransformersDecoder(checkpoint.load(trimmed), batch_size=size).decode(WINDOWS)) == text(alone)


def test_threads_that_share_a_model_find_what_one_finds(trimmed):
    """Word times are taken by hooks of the model, and its encoder has another length for each batch."""
    loaded = checkpoint.load(trimmed)
    windows = [[window] for window in WINDOWS[:5]]
    decode = TransformersDecoder(loaded, word_times=True).decode
    alone = list(map(decode, windows))
    assert any(result.segments for (result,) in alone)
    with ThreadPoolExecutor(len(windows)) as pool:
        assert list(pool.map(decode, windows)) == alone


def test_ctrl_c_leaves_the_model_its_context(trimmed):
    loaded = checkpoint.load(trimmed)
    decoder = TransformersDecoder(loaded)
    expected = text(decoder.decode(WINDOWS[1:2]))

    def interrupt(*_):
        raise KeyboardInterrupt

    hook = loaded.model.get_encoder().layers[0].register_forward_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        decoder.decode(WINDOWS[:1])
    hook.remove()
    assert loaded.context_s == CONTEXT_S
    assert text(decoder.decode(WINDOWS[1:2])) == expected


def test_ctranslate2_sees_the_same(trimmed, tmp_path, monkeypatch):
    pytest.importorskip("ctranslate2")
    from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = checkpoint.cached_conversion(trimmed)
    converted = checkpoint.load_converted(folder)
    assert converted.trim_margin_s == 1.0
    expected = TransformersDecoder(checkpoint.load(trimmed)).decode(WINDOWS)
    assert text(CTranslate2Decoder(converted).decode(WINDOWS)) == text(expected)
    small = checkpoint.load_converted(folder, dtype="int8")
    assert len(CTranslate2Decoder(small).decode(WINDOWS)) == len(WINDOWS)
    assert small.model.compute_type == "int8_float32"


def test_a_copy_keeps_the_margin_and_a_merge_only_if_all_have_it(tiny, trimmed, tmp_path):
    assert checkpoint.load(checkpoint.export(trimmed, tmp_path / "copy")).trim_margin_s == 1.0
    both = checkpoint.merge([trimmed, tmp_path / "copy"], tmp_path / "both").out
    assert checkpoint.load(both).trim_margin_s == 1.0
    assert checkpoint.load(checkpoint.merge([trimmed, tiny], tmp_path / "one").out).trim_margin_s is None
    assert checkpoint.digest(trimmed) != checkpoint.digest(tiny)


@pytest.mark.parametrize("margin_s", [-1, 31, "1", True, None])
def test_a_margin_that_is_none_is_refused(tiny, tmp_path, margin_s):
    folder = with_margin(tiny, tmp_path / "model", margin_s)
    with pytest.raises(CheckpointError, match=r"trim\.margin_s must be from 0 to 30 seconds"):
        checkpoint.load(folder)


def test_windows_of_a_long_context_are_cut_shorter(trimmed):
    loaded = checkpoint.load(trimmed)
    assert loaded.window_s == CONTEXT_S
    loaded.model.config.max_source_positions = 1500
    assert loaded.window_s == 10.0 and loaded.context_s == 30.0


def test_batches_have_one_input_length_and_no_batch_of_one_is_left():
    sizes = []

    def decode(batch):
        sizes.append([len(window) for window in batch])
        return batch

    windows = ["x" * length for length in (3, 9, 8, 8, 3, 9, 9, 8, 9, 2, 3)]
    batches = Batches(windows, 3, lambda each: 1.0 if len(each) > 5 else 0.5)
    assert batches.in_order([decode(batch) for batch in batches]) == windows
    assert sizes == [[9, 9], [9, 9, 8], [8, 8], [3, 3, 3, 2]]


def test_the_batch_size_suits_the_machine_by_default(tiny):
    transcriber = Transcriber(tiny)
    assert 8 <= transcriber._long_form.decoder.batch_size <= 32
