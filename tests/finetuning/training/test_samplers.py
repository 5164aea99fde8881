"""Weights and caps of corpora: exact on average, the same in every process, different in every epoch."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from training_run import logged

from lsa_whisper import manifest
from lsa_whisper.errors import ManifestError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import CorpusSettings
from lsa_whisper.finetuning.training.samplers import (
    CorpusSampler,
    capped_indices,
    draws_per_window,
    with_spliced_share,
)

CORPORA = ["a"] * 40 + ["b"] * 10


def drawn(sampler, epochs):
    found = Counter()
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        indices = list(sampler)
        assert len(indices) == len(sampler)
        assert {index // len(CORPORA) for index in indices} == {epoch}
        found.update(index % len(CORPORA) for index in indices)
    return found


def test_windows_are_drawn_as_often_as_their_weight():
    weights = draws_per_window(CORPORA, {"a": CorpusSettings(weight=0.5), "b": CorpusSettings(weight=3)})
    sampler = CorpusSampler(weights, seed=1)
    assert len(sampler) == 50
    found = drawn(sampler, 200)
    assert all(found[index] == 600 for index in range(40, 50))
    assert all(found[index] == pytest.approx(100, abs=40) for index in range(40))
    assert sum(found[index] for index in range(40)) == 4000
    sampler.set_epoch(0)
    again = CorpusSampler(weights, seed=1)
    assert list(sampler) == list(again) != sorted(again)
    again.set_epoch(1)
    assert [index % 50 for index in again] != list(sampler)


def test_a_cap_keeps_hours_chosen_at_random():
    durations = np.full(50, 360.0)
    kept = capped_indices(CORPORA, durations, {"a": CorpusSettings(max_hours=1)}, seed=0)
    assert len(kept) == 10 + 10 and kept == sorted(kept) and set(range(40, 50)) <= set(kept)
    assert kept != capped_indices(CORPORA, durations, {"a": CorpusSettings(max_hours=1)}, seed=1)
    assert capped_indices(CORPORA, durations, {"a": CorpusSettings(max_hours=99)}, seed=0) == list(range(50))
    with pytest.raises(ManifestError, match="no window is of the corpus 'c'; the manifest has a, b"):
        capped_indices(CORPORA, durations, {"c": CorpusSettings()}, seed=0)


def test_draws_can_be_arranged():
    weights = np.ones(len(CORPORA))
    sampler = CorpusSampler(weights, 0, lambda indices, epoch: sorted(indices, reverse=bool(epoch)))
    assert list(sampler) == list(range(50))
    sampler.set_epoch(1)
    assert list(sampler) == list(range(99, 49, -1))


def test_training_draws_by_the_weights_of_a_recipe(windows, scratch_recipe, tmp_path, monkeypatch):
    rows = manifest.read(windows)
    manifest.write([replace(row, corpus="ab"[number >= 3]) for number, row in enumerate(rows)], tmp_path / "two.jsonl")
    text = scratch_recipe(tmp_path / "two.jsonl", tmp_path / "out", training="save_strategy: 'no'")
    text = text.replace("two.jsonl}", "two.jsonl, corpora: {a: {weight: 0.5}, b: {weight: 3}}}")
    (tmp_path / "r.yaml").write_text(text.replace("max_steps: 4", "max_steps: 12"))
    seen, iterate = Counter(), CorpusSampler.__iter__

    def counted(sampler):
        for index in iterate(sampler):
            seen["ab"[index % len(rows) >= 3]] += 1
            yield index

    monkeypatch.setattr(CorpusSampler, "__iter__", counted)
    out = finetune(tmp_path / "r.yaml", report=lambda _: None).out
    losses = logged(out)
    assert len(losses) == 12 and losses[-1] < losses[0]
    assert sum(seen.values()) >= 24 and seen["b"] > 4 * seen["a"] > 0


def test_spliced_windows_are_drawn_by_their_share_and_anew_each_epoch():
    spliced = np.arange(50) >= 10
    weights = with_spliced_share(np.ones(50), spliced, np.where(spliced, 2.0, 4.0), 1.0)
    sampler = CorpusSampler(weights, seed=0)
    assert len(sampler) == 10 + 20
    epochs = []
    for epoch in range(20):
        sampler.set_epoch(epoch)
        drawn_now = [index % 50 for index in sampler]
        assert sorted(index for index in drawn_now if index < 10) == list(range(10))
        epochs.append(frozenset(index for index in drawn_now if index >= 10))
    assert len(set(epochs)) == 20 and frozenset.union(*epochs) == frozenset(range(10, 50))
    assert (with_spliced_share(np.ones(50), spliced, np.ones(50), 0.0) == ~spliced).all()


def test_spliced_speech_is_asked_for_where_there_is_some(windows, scratch_recipe, tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text(scratch_recipe(windows, tmp_path / "out"))
    with pytest.raises(ManifestError, match=r"no window is spliced, which data\.spliced needs"):
        finetune(path, set=["data.spliced=1"], report=lambda _: None)
    rows = [replace(row, spliced="fragment" if at % 2 else "") for at, row in enumerate(manifest.read(windows))]
    manifest.write(rows, tmp_path / "train.jsonl")
    set = ["data.spliced=0.5", f"data.train={tmp_path / 'train.jsonl'}"]
    assert finetune(path, set=set, report=lambda _: None).steps == 4
