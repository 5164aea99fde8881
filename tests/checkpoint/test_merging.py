"""Averages of checkpoints: exact, of full weights only, and only of models that have one."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.checkpoint import merge
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import Labels


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("base"))


def trained(base, out, *, seed, adapter=False, labels=None, suppressed=None):
    """Write a copy of ``base`` with small random updates, as full weights or as an adapter."""
    loaded = checkpoint.load(base)
    torch.manual_seed(seed)
    model = loaded.model
    if adapter:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "fc1"], init_lora_weights=False))
        model.peft_config["default"].base_model_name_or_path = str(base)
    else:
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(0.01 * torch.randn_like(weight))
    if suppressed is not None:
        loaded.model.generation_config.suppress_tokens = suppressed
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer}
    return checkpoint.save(out, model=model, labels=labels or loaded.labels, **parts)


def weights(folder):
    return dict(checkpoint.load(folder).model.named_parameters())


def test_the_average_of_full_models_and_adapters_is_that_of_their_whole_weights(base, tmp_path, capsys):
    runs = [
        trained(base, tmp_path / str(seed), seed=seed, adapter=is_adapter)
        for seed, is_adapter in ((1, True), (2, True), (3, False))
    ]
    done = merge(runs, tmp_path / "merged")
    printed = capsys.readouterr().err
    assert all(f"{run}: Whisper" in printed for run in runs)
    each, merged = [weights(run) for run in runs], weights(done.out)
    for name, weight in merged.items():
        torch.testing.assert_close(weight, sum(one[name] for one in each) / 3, atol=1e-6, rtol=1e-5)
    # The average of the adapters' factors would be another model.
    products = [one["model.encoder.layers.0.self_attn.q_proj.weight"] for one in each[:2]]
    assert not torch.allclose(products[0], products[1], atol=1e-3)
    assert not (done.out / "adapter_config.json").exists()
    assert [source.distance > 0 for source in done.sources] == [False, True, True]


def test_interpolation_with_the_base_keeps_the_labels_of_the_run(base, tmp_path):
    plain = tmp_path / "plain"
    shutil.copytree(base, plain)
    (plain / "lsa_whisper.json").unlink()
    run = trained(base, tmp_path / "run", seed=1, labels=Labels("verbatim"))
    for names, share in (((plain, run), 0.25), ((run, plain), 0.75)):
        done = merge(names, tmp_path / "merged", weights=(share,))
        assert checkpoint.load(done.out).labels == Labels("verbatim")
        found, first, second = (weights(folder) for folder in (done.out, *names))
        for name, weight in found.items():
            torch.testing.assert_close(weight, share * first[name] + (1 - share) * second[name], atol=1e-6, rtol=1e-5)
        assert [round(source.weight, 6) for source in done.sources] == [share, 1 - share]
    record = json.loads((done.out / "lsa_whisper.json").read_text())["provenance"]["merged"]
    assert [entry["path"] for entry in record] == [str(run), str(plain)]
    assert record[0]["digest"] == checkpoint.digest(run)


def test_a_token_that_one_of_them_may_write_is_not_suppressed(base, tmp_path):
    one = trained(base, tmp_path / "one", seed=1, suppressed=[290, 291, 292])
    two = trained(base, tmp_path / "two", seed=2, suppressed=[291, 292, 293])
    done = merge([one, two], tmp_path / "merged")
    assert checkpoint.load(done.out, weights=False).model.generation_config.suppress_tokens == [291, 292]


def test_differing_label_styles_are_said(base, tmp_path):
    run = trained(base, tmp_path / "run", seed=1, labels=Labels("verbatim"))
    assert "the merged model is set to chat/4" in merge([base, run], tmp_path / "merged").table()
    assert "set to" not in merge([base, trained(base, tmp_path / "same", seed=2)], tmp_path / "merged").table()


def test_what_has_no_average_is_refused_and_nothing_is_written(base, tmp_path):
    other = build_checkpoint(tmp_path / "other", width=32)
    unrelated = tmp_path / "unrelated"
    loaded = checkpoint.load(base)
    with torch.no_grad():
        for weight in loaded.model.parameters():
            weight.copy_(weight.flatten()[torch.randperm(weight.numel())].reshape(weight.shape))
    checkpoint.save(
        unrelated,
        model=loaded.model,
        feature_extractor=loaded.feature_extractor,
        tokenizer=loaded.tokenizer,
        labels=loaded.labels,
    )
    languages = build_checkpoint(tmp_path / "languages", languages=("en", "de"))
    out = tmp_path / "merged"
    for names, given, sentence in (
        ((base,), (), "two or more checkpoints"),
        ((base, base), (), "named twice"),
        ((base, other), (), "d_model is 32, but 48"),
        ((base, languages), (), "vocab"),
        ((base, unrelated), (), "unrelated"),
        ((base, tmp_path / "none"), (), "no such folder"),
        ((base, unrelated), (2.0,), "between 0 and 1"),
        ((base, unrelated), (1, 2, 3), "3 weight"),
        ((base, unrelated), (-1, 2), "must be 0 or more"),
        ((base, unrelated), (0, 0), "not all 0"),
    ):
        with pytest.raises(CheckpointError, match=sentence):
            merge(names, out, weights=given)
    with pytest.raises(CheckpointError, match="is one of the checkpoints to merge"):
        merge((base, unrelated), base)
    with pytest.raises(CheckpointError, match="float8"):
        merge((base, trained(base, tmp_path / "run", seed=1)), out, dtype="float8")
    assert not out.exists() and weights(base)


def test_the_command_prints_the_folder_last(base, tmp_path):
    from click.testing import CliRunner

    from lsa_whisper.cli import main

    run = trained(base, tmp_path / "run", seed=1)
    command = ["merge", str(run), str(base), "--weight", "0.7", "-o", str(tmp_path / "merged"), "--dtype", "float16"]
    found = CliRunner().invoke(main, command)
    assert found.exit_code == 0, found.output
    assert found.output.strip().splitlines()[-1] == str(tmp_path / "merged")
    assert json.loads((tmp_path / "merged" / "config.json").read_text())["dtype"] == "float16"
