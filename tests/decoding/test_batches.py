"""Batches that are decoded at the same time give what one after another gives, and stop at an error."""

from __future__ import annotations

import threading

import pytest
import torch
from tiny_whisper import voice

from lsa_whisper import checkpoint
from lsa_whisper.decoding.batches import Batches

SHARE = {1: 0.25, 2: 0.5, 3: 1.0}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_are_in_order_and_batches_are_of_one_input_length(workers):
    windows = ["a" * length for length in (3, 1, 2, 3, 1, 1, 2, 3, 1, 1)]
    seen = []

    def decode(batch):
        seen.append(batch)
        return [f"<{window}>" for window in batch]

    found = Batches(windows, 2, lambda each: SHARE[len(each)], workers).in_threads(decode)
    assert found == [f"<{window}>" for window in windows]
    assert all(len(set(map(len, batch))) == 1 for batch in seen)
    assert all(min(workers, 2) * SHARE[len(batch[0])] * len(batch) <= 2 for batch in seen)


def test_small_batches_are_divided_until_every_worker_has_one():
    sizes = []

    def decode(batch):
        sizes.append(len(batch))
        return batch

    assert Batches("a" * 6, 16, workers=4).in_threads(decode) == ["a"] * 6
    assert sorted(sizes) == [1, 1, 2, 2]


def test_workers_decode_at_the_same_time():
    together = threading.Barrier(2, timeout=60)  # broken, and an error, if batches wait for each other

    def decode(batch):
        together.wait()
        return batch

    assert Batches("abcd", 4, workers=2).in_threads(decode) == ["a", "b", "c", "d"]


def test_after_an_error_no_batch_is_begun():
    begun = []

    def decode(batch):
        begun.append(batch)
        raise MemoryError(batch[0])

    with pytest.raises(MemoryError):
        Batches("a" * 100, 2, workers=2).in_threads(decode)
    assert len(begun) <= 2


def test_ctranslate2_has_a_worker_for_each_thread_and_torch_keeps_its_own(scripted, tmp_path, set_threads):
    pytest.importorskip("ctranslate2")
    from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

    set_threads(3)
    converted = checkpoint.load_converted(checkpoint.export(scripted, tmp_path / "ct2", to="ct2"))
    assert converted.model.num_workers == torch.get_num_threads() == 3
    windows = [voice(length_s, seed=seed) for seed, length_s in enumerate((1.0, 8.0, 0.3, 5.0, 2.0, 7.9, 3.0))]
    decoder = CTranslate2Decoder(converted, batch_size=6)
    alone = [decoder.decode([window])[0] for window in windows]
    assert _texts(decoder.decode(windows)) == _texts(alone) and any(_texts(alone))
    assert torch.get_num_threads() == 3


def _texts(windows):
    return [[(segment.text, segment.start_s, segment.end_s) for segment in window.segments] for window in windows]
