from __future__ import annotations

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.strategies import STRATEGIES, fsdp2


def recipe(*settings):
    return parse_recipe("{data: {train: t}, out: o, model: {base: m}, strategy: fsdp2}", set=settings)


@pytest.mark.parametrize(
    ("setting", "key", "wanted"),
    [
        ("fsdp.sharding_strategy=full_shard", "reshard_after_forward", True),
        ("fsdp.sharding_strategy=shard_grad_op", "reshard_after_forward", False),
        ("offload.parameters=cpu", "cpu_offload", True),
        ("fsdp.cpu_ram_efficient_loading=true", "cpu_ram_efficient_loading", True),
    ],
)
def test_settings(setting, key, wanted):
    assert fsdp2.fsdp_arguments(recipe(setting))["fsdp_config"][key] is wanted


def test_bf16_gradients_are_added_up_in_fp32():
    from accelerate import FullyShardedDataParallelPlugin

    arguments = {"fsdp_version": 2}
    fsdp2.reduce_in_fp32(arguments, "fp32")
    assert arguments == {"fsdp_version": 2}
    fsdp2.reduce_in_fp32(arguments, "bf16")
    plugin = FullyShardedDataParallelPlugin(**arguments)
    plugin.set_mixed_precision("bf16")  # as accelerate does next
    policy = plugin.mixed_precision_policy
    assert (policy.param_dtype, policy.reduce_dtype) == (torch.bfloat16, torch.float32)


def test_nothing_is_cut_with_none():
    assert STRATEGIES["fsdp2"].trainer_arguments(recipe("fsdp.sharding_strategy=no_shard")) == {}
    with pytest.raises(RecipeError, match="offloads only what it shards"):
        recipe("fsdp.sharding_strategy=no_shard", "offload.parameters=cpu")


def test_hybrid_cuts_within_a_node_and_copies_between_nodes(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    cut = fsdp2.fsdp_arguments(recipe("fsdp.sharding_strategy=hybrid_shard"))["parallelism_config"]
    assert (cut.dp_replicate_size, cut.dp_shard_size) == (2, 4)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    with pytest.raises(RecipeError, match="hybrid_shard needs two or more nodes"):
        fsdp2.fsdp_arguments(recipe("fsdp.sharding_strategy=hybrid_shard"))


def test_a_single_process_shares_nothing(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(RecipeError, match="set --processes"):
        STRATEGIES["fsdp2"].start(recipe())


def test_a_model_without_its_weights_has_their_shapes_and_settings(tmp_path):
    folder = build_checkpoint(tmp_path)
    whole, empty = (checkpoint.load(folder, weights=weights) for weights in (True, False))
    shapes = [{name: tensor.shape for name, tensor in one.model.state_dict().items()} for one in (whole, empty)]
    assert shapes[0] == shapes[1]
    assert empty.model.proj_out.weight is empty.model.get_input_embeddings().weight
    assert all(tensor.device.type == "cpu" for tensor in empty.model.parameters())
    assert empty.model.generation_config.to_dict() == whole.model.generation_config.to_dict()
    assert not torch.equal(whole.model.proj_out.weight, empty.model.proj_out.weight)
