"""Weights in bf16 that are changed during the backward pass: as far as fp32 weights, without keeping gradients."""

from __future__ import annotations

import copy

import pytest
import torch
from tiny_whisper import build_checkpoint
from training_run import StoppedError, logged, stopped_at
from transformers import Adafactor

from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.training.arguments import StepInBackward, round_stochastically

MADE = {
    "adamw": (torch.optim.AdamW, {"betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}),
    "adafactor": (Adafactor, {"scale_parameter": False, "relative_step": False, "weight_decay": 0.01}),
}
RECIPE = """
data: {{train: {windows}}}
out: {out}
model: {{base: {base}}}
precision: pure-bf16
optimizer: adafactor
training: {{use_cpu: true, max_steps: 6, learning_rate: {rate}, logging_steps: 1, save_strategy: steps, save_steps: 1}}
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    return checkpoint.export(build_checkpoint(folder, multilingual=True), folder / "base")


@pytest.fixture
def recipe(base, windows, tmp_path):
    def write(rate="1e-3"):
        text = RECIPE.format(windows=windows, out=tmp_path / "out", base=base, rate=rate)
        (tmp_path / "r.yaml").write_text(text)
        return tmp_path / "r.yaml"

    return write


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(24, 48), torch.nn.GELU(), torch.nn.Linear(48, 6))


def travelled(model, optimizer, steps, seed=0):
    """Return how far each weight is moved by steps that only depend on the seed of the data."""
    start = torch.cat([weight.detach().float().flatten() for weight in model.parameters()])
    batches = torch.Generator().manual_seed(1)
    torch.manual_seed(seed)
    for _ in range(steps):
        given = torch.randn(16, 24, generator=batches)
        optimizer.zero_grad()
        (model(given.to(model[0].weight.dtype)).float() - 2 * given[:, :6]).square().mean().backward()
        optimizer.step()
    return torch.cat([weight.detach().float().flatten() for weight in model.parameters()]) - start


@pytest.mark.parametrize("step", [2**-9, 2**-12, 3e-5])
def test_a_step_below_the_last_bit_is_taken_in_expectation(step):
    start = torch.linspace(-1, 1, 7)[[0, 1, 2, 4, 5, 6]].bfloat16().float()
    taken = round_stochastically((start + step).repeat(400_000, 1)).float().mean(0) - start
    # The mean of that many roundings, each by at most 2**-8 of a weight.
    assert taken == pytest.approx(step, abs=5 * 2**-9 / 400_000**0.5)
    assert ((start + step).bfloat16() == start).any()  # rounded to the nearest, some weights stay where they are


@pytest.mark.parametrize("name", MADE)
def test_fp32_weights_take_the_steps_of_the_plain_optimizer(name):
    make, settings = MADE[name]
    plain, backward = network(), network()
    expected = travelled(plain, make(plain.parameters(), lr=1e-3, **settings), 20)
    assert torch.equal(travelled(backward, StepInBackward(backward.parameters(), make, 1e-3, **settings), 20), expected)


@pytest.mark.parametrize("name", MADE)
def test_bf16_weights_go_as_far_as_fp32_weights(name):
    """At a learning rate of fine-tuning, with several seeds of the rounding."""
    make, settings = MADE[name]
    whole = network().bfloat16().float()
    expected = travelled(whole, make(whole.parameters(), lr=1e-4, **settings), 50)
    seeds = []
    for seed in range(4):
        model = network().bfloat16()
        seeds.append(travelled(model, StepInBackward(model.parameters(), make, 1e-4, **settings), 50, seed))
    shares = torch.stack([moved @ expected / (expected @ expected) for moved in seeds])
    assert shares.min() > 0.95 and abs(shares.mean() - 1) < 0.02


def test_one_gradient_exists_at_a_time():
    model, alive = network().bfloat16(), []
    StepInBackward(model.parameters(), torch.optim.AdamW, 1e-3)
    for weight in model.parameters():
        weight.register_post_accumulate_grad_hook(
            lambda _: alive.append(sum(each.grad is not None for each in model.parameters()))
        )
    model(torch.randn(4, 24).bfloat16()).sum().backward()
    assert alive == [0, 0, 0, 0]


def test_a_loaded_state_is_not_rounded():
    make, settings = MADE["adamw"]
    model = network().bfloat16()
    first = StepInBackward(model.parameters(), make, 1e-3, **settings)
    travelled(model, first, 3)
    state, resumed = copy.deepcopy(first.state_dict()), copy.deepcopy(model)
    second = StepInBackward(resumed.parameters(), make, 1e-3, **settings)
    second.load_state_dict(state)
    for before, after in zip(model.parameters(), resumed.parameters(), strict=True):
        assert second.state[after]["exp_avg_sq"].dtype == torch.float32
        assert torch.equal(first.state[before]["exp_avg_sq"], second.state[after]["exp_avg_sq"])
    assert torch.equal(travelled(model, first, 3), travelled(resumed, second, 3))


@pytest.mark.slow
def test_a_stopped_run_goes_on_as_if_it_had_not_been(recipe, tmp_path):
    path = recipe()
    with pytest.raises(StoppedError):
        finetune(path, report=stopped_at(4))
    resumed = finetune(path, report=lambda _: None).out
    undisturbed = finetune(path, out=tmp_path / "again", report=lambda _: None).out
    assert logged(resumed)[-3:] == logged(undisturbed)[-3:]


def test_a_run_that_diverges_is_stopped(recipe):
    with pytest.raises(RecipeError, match=r"is not finite|the loss is"):
        finetune(recipe("1e30"), report=lambda _: None)


def test_an_adapter_on_a_bf16_base_is_in_fp32(recipe, base, tmp_path):
    from safetensors import safe_open

    settings = ["adapter.rank=4", "adapter.token_embeddings=true", "optimizer=adamw"]
    settings += ["training.gradient_accumulation_steps=2", "training.max_grad_norm=1"]
    out = finetune(recipe(), set=settings, report=lambda _: None).out
    with safe_open(str(out / "adapter_model.safetensors"), framework="pt") as tensors:
        kinds = {name: tensors.get_slice(name).get_dtype() for name in tensors.keys()}  # noqa: SIM118
    assert set(kinds.values()) == {"F32"}, kinds
