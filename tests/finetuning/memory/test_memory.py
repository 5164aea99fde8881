from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import estimate_memory
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.memory import Hardware, Resources, estimate_run, require_fit
from lsa_whisper.finetuning.memory.activations import ElementSizes, decoder_layer, encoder_layer
from lsa_whisper.finetuning.memory.configuration import is_accepted
from lsa_whisper.finetuning.memory.plan import TrainingJob
from lsa_whisper.finetuning.recipe import AdapterSettings, ModelSettings, OffloadSettings
from lsa_whisper.finetuning.settings.values import flat
from lsa_whisper.finetuning.training.model import add_adapter, freeze_parameters
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch, ParameterCounts, adapter_parameters, trained_weights
from lsa_whisper.finetuning.workload.shape import SHAPES, Shape, recipe_shape, shape_of

CPU, EVERYTHING = OffloadSettings("cpu"), OffloadSettings("cpu", "cpu")


def meta_model(shape):
    with torch.device("meta"):
        model = WhisperForConditionalGeneration(whisper_config(shape))
    model.tie_weights()
    return model


def whisper_config(shape):
    return WhisperConfig(
        d_model=shape.width,
        encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers,
        encoder_ffn_dim=shape.inner,
        decoder_ffn_dim=shape.inner,
        encoder_attention_heads=shape.width // 64,
        decoder_attention_heads=shape.width // 64,
        num_mel_bins=shape.mels,
        vocab_size=shape.vocabulary,
        max_source_positions=shape.source_positions,
        pad_token_id=0,
    )


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_are_counted_as_the_model_has_them(name):
    model = meta_model(SHAPES[name])
    assert SHAPES[name].parameters == sum(p.numel() for p in model.parameters())
    layers = model.model
    assert SHAPES[name].encoder_layer == sum(p.numel() for p in layers.encoder.layers[0].parameters())
    assert SHAPES[name].decoder_layer == sum(p.numel() for p in layers.decoder.layers[0].parameters())
    sizes = {weight: tuple(p.shape) for weight, p in layers.named_parameters()}
    assert SHAPES[name].weights == sizes
    assert SHAPES[name].largest_weight == max(p.numel() for p in model.parameters())


@pytest.mark.parametrize(
    "adapter",
    [
        AdapterSettings(rank=16),
        AdapterSettings(rank=16, target_modules=("k_proj", "fc1", "fc2")),
        AdapterSettings(stacks="decoder"),
        AdapterSettings(stacks="encoder", dora=True),
        AdapterSettings(modules_to_save=("layer_norm",)),
        AdapterSettings(modules_to_save=("conv1", "fc1")),
    ],
)
def test_adapter_parameters_are_counted_as_peft_makes_them(adapter):
    model = add_adapter(meta_model(SHAPES["tiny"]), adapter)
    wanted = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert adapter_parameters(SHAPES["tiny"], adapter) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        ModelSettings(),
        ModelSettings(freeze_encoder=True),
        ModelSettings(top_layers=1),
        ModelSettings(freeze_encoder=True, top_layers=3),
        ModelSettings(top_layers=9),
    ],
)
def test_trained_weights_are_those_that_training_leaves_free(wanted):
    model = meta_model(SHAPES["tiny"])
    model.get_encoder().embed_positions.requires_grad_(False)
    freeze_parameters(model, wanted)
    free = {name: p.numel() for name, p in model.model.named_parameters() if p.requires_grad}
    assert set(trained_weights(SHAPES["tiny"], wanted)) == set(free)
    assert ParameterCounts.of(SHAPES["tiny"], model=wanted).trained == sum(free.values())


def test_the_shape_of_a_checkpoint_folder_is_read(tmp_path):
    shape = Shape(64, 2, 3, mels=40, vocabulary=500, source_positions=100, feed_forward=96)
    whisper_config(shape).save_pretrained(tmp_path)
    assert shape_of(str(tmp_path)) == shape
    assert shape.parameters == sum(p.numel() for p in meta_model(shape).parameters())
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(CheckpointError, match="not a Whisper"):
        shape_of(str(tmp_path))


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_activations_are_counted_as_autograd_keeps_them(part):
    """One layer on the processor, in fp32: the bytes of all tensors that its graph holds, the weights left out."""
    shape = Shape(128, 1, 1, vocabulary=500, source_positions=60)
    model = WhisperForConditionalGeneration(whisper_config(shape)).train()
    layer = getattr(model.model, part).layers[0]
    weights = {p.data_ptr() for p in layer.parameters()}
    kept = {}

    def pack(tensor):
        if tensor.data_ptr() not in weights:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    hidden = torch.randn(1, 60 if part == "encoder" else 40, 128, requires_grad=True)
    states = {} if part == "encoder" else {"encoder_hidden_states": torch.randn(1, 60, 128, requires_grad=True)}
    mask = {"attention_mask": None} if part == "encoder" else {}
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        held = layer(hidden, **mask, **states)
    assert held is not None
    width = ElementSizes(4, 4, 0)
    planned = encoder_layer(shape, width) if part == "encoder" else decoder_layer(shape, width, 40)
    seen = sum(kept.values()) - (0 if part == "encoder" else 60 * 128 * 4)  # the encoder's states are counted elsewhere
    assert planned == pytest.approx(seen, rel=0.12)


def plan(configuration, *, gpus=1, micro_batch=None, size="large-v3", **hardware):
    return TrainingJob(SHAPES[size], Hardware(gpus, **hardware)).plan(configuration, micro_batch or MicroBatch())


@pytest.mark.parametrize("strategy", ["zero2", "zero3", "fsdp2"])
def test_more_gpus_share_and_ddp_does_not(strategy):
    one, four = (plan(TrainingConfiguration(strategy), gpus=gpus).gpu_gib for gpus in (1, 4))
    assert four < 0.6 * one
    assert plan(TrainingConfiguration("ddp"), gpus=4).gpu_gib > plan(TrainingConfiguration("ddp")).gpu_gib  # buckets


def test_states_are_what_the_papers_say():
    p = ParameterCounts.of(SHAPES["large-v3"]).trained
    memory = plan(TrainingConfiguration(precision="fp32")).memory
    assert (memory.weights + memory.gradients + memory.optimizer) / p == pytest.approx(16, rel=0.01)
    for stage, each in (("zero2", 20), ("zero3", 16)):  # ZeRO-2 copies its share of the weights for the optimizer
        memory = plan(TrainingConfiguration(stage)).memory
        assert (memory.weights + memory.gradients + memory.optimizer) / p == pytest.approx(each, rel=0.01)


def test_offload_moves_from_the_gpu_to_the_host_and_nvme_from_there_to_the_disk():
    kept, optimizer, everything = (
        plan(TrainingConfiguration("zero3", place)) for place in (OffloadSettings(), CPU, EVERYTHING)
    )
    assert kept.gpu_gib > optimizer.gpu_gib > everything.gpu_gib
    assert kept.host_gib < optimizer.host_gib < everything.host_gib
    swapped = plan(TrainingConfiguration("zero3", OffloadSettings("nvme", "cpu", "/x")))
    assert swapped.host_gib < everything.host_gib and swapped.disk_gib > everything.disk_gib + 20


def test_batch_labels_and_checkpointing_count():
    def activations(**micro_batch):
        return plan(TrainingConfiguration(), micro_batch=MicroBatch(**micro_batch)).memory.activations

    assert activations(batch=4) == pytest.approx(4 * activations(batch=1))
    assert activations(batch=32) < 32 * activations(batch=1)  # the loss of many tokens is computed in parts
    assert activations(label_tokens=448) > activations(label_tokens=128)
    assert activations(checkpointing=False) > 4 * activations(checkpointing=True)


def test_a_24_gb_gpu_needs_offload_for_large():
    plans = {plan.name: plan for plan in estimate_memory("large-v3").plans}
    assert not plans["single, bf16"].fits
    assert plans["zero2, optimizer on cpu, bf16"].fits
    assert plans["zero3, all on cpu, bf16"].gpu_gib < 5


@pytest.mark.parametrize("model", ["tiny", "large-v3-turbo"])
@pytest.mark.parametrize("gpus", [0, 1, 4])
@pytest.mark.parametrize(
    "given",
    [
        None,
        (),
        ("adapter.rank=16", "adapter.quantize=4bit", "adapter.dora=true", "adapter.target_modules=q_proj"),
        ("adapter.stacks=decoder", "adapter.modules_to_save=layer_norm"),
        ("model.top_layers=2", "loss.kl_to_base=0.1", "training.gradient_accumulation_steps=4", "data.workers=2"),
        ("model.context_s=10", "model.freeze_encoder=true"),
    ],
    ids=str,
)
def test_what_is_recommended_is_a_recipe_and_fits(model, gpus, given, tmp_path):
    """The printed lines alone, as a recipe, need what the table shows: no setting is lost on the way."""
    path = tmp_path / "recipe.yaml"
    batch = "training: {gradient_checkpointing: true, per_device_train_batch_size: 2}"
    path.write_text(f"{{data: {{train: t}}, out: o, model: {{base: openai/whisper-tiny}}, {batch}}}", "utf-8")
    recipe = {} if given is None else {"recipe": path, "set": given}
    estimate = estimate_memory(model, gpus=gpus, gpu_memory=16, host_memory=64, **recipe)
    best = estimate.recommended
    assert best.fits and "recommended: " in estimate.table()
    overrides = [f"{place}={json.dumps(value)}" for place, value in flat(estimate.settings(best))]
    overrides.append(f"model.base=openai/whisper-{model}")
    parsed = recipes.parse_recipe("{data: {train: t}, out: o, model: {base: b}}", set=overrides)
    again = estimate_run(parsed, best.job.hardware)
    assert again.configuration == best.configuration and again.micro_batch == best.micro_batch
    assert again.host_gib == pytest.approx(best.host_gib) and again.gpu_gib == pytest.approx(best.gpu_gib)


def test_only_what_the_hardware_and_the_recipe_allow_is_listed(tmp_path):
    def strategies(gpus, *given):
        path = tmp_path / "recipe.yaml"
        path.write_text("{data: {train: t}, out: o, model: {base: b}}", "utf-8")
        recipe = {"recipe": path, "set": given} if given else {}
        return {plan.configuration.strategy for plan in estimate_memory("large-v3", gpus=gpus, **recipe).plans}

    assert strategies(1) == {"single", "zero2", "zero3"}
    assert strategies(4) == {"ddp", "fsdp2", "tensor_parallel", "pipeline", "zero2", "zero3"}
    assert strategies(4, "adapter.quantize=4bit") == {"ddp"}
    assert strategies(1, "loss.kl_to_base=0.1") == {"single", "zero2", "zero3"}
    assert not any("torchao" in plan.name for plan in estimate_memory("tiny", gpus=0, host_memory=9).plans)


def test_an_8_bit_optimizer_keeps_the_moments_of_embeddings_in_32_bits():
    found, embeddings = plan(TrainingConfiguration(optimizer="adamw-8bit")), (51866 + 448) * 1280
    assert found.memory.optimizer == pytest.approx(2.1 * (found.counts.trained - embeddings) + 8 * embeddings, rel=1e-6)
    frozen = TrainingJob(SHAPES["large-v3"], Hardware(1, 24.0), ModelSettings(top_layers=2))
    assert frozen.plan(TrainingConfiguration(optimizer="adamw-8bit"), MicroBatch()).counts.embeddings == 0


def test_a_lora_is_recommended_as_the_page_does_and_only_what_is_installed(monkeypatch):
    installed = ["deepspeed"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: True if name in installed else None)
    estimate = estimate_memory("large-v3", gpu_memory=24, host_memory=64)
    assert estimate.recommended.name == "single, LoRA r32, bf16"
    names = [plan.name for plan in estimate.plans]
    assert "single, LoRA r32 on 4bit, bf16" in names
    table = estimate.table()
    assert "to train all weights: zero2, optimizer on cpu" in table
    assert "not installed here: bitsandbytes, torchao" in table and "yes*" in table
    small = estimate_memory("tiny", gpu_memory=2, host_memory=64)
    assert small.recommended.configuration.adapter is not None
    estimate = estimate_memory("large-v3", gpu_memory=4, host_memory=12)  # a quantized base alone fits
    assert "(install bitsandbytes first)" in " ".join(estimate.table().split())
    installed += ["bitsandbytes", "torchao"]
    assert "install" not in estimate_memory("large-v3", gpu_memory=24, host_memory=64).table()


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("options", [{}, {"gpus": 4}, {"gpus": 0}, {"gpu_memory": 141.0, "batch_size": 4}], ids=str)
def test_the_table_has_room_in_a_terminal(columns, options):
    lines = estimate_memory("large-v3", host_memory=64, **options).table(columns).splitlines()
    assert max(map(len, lines)) <= columns
    head = next(line for line in lines if line.startswith("fits"))
    assert ("buffers" in head) == (columns == 120 and options.get("gpus") != 0)
    assert {line.split()[0] for line in lines[lines.index(head) + 1 : lines.index("", 4)]} <= {"yes", "yes*", "no"}


def test_the_table_and_the_recommendation_have_the_same_batch():
    estimate = estimate_memory("large-v3", gpu_memory=24, host_memory=64)
    assert estimate.recommended in estimate.sized and estimate.recommended.micro_batch.batch > 1
    given = estimate_memory("large-v3", gpu_memory=24, host_memory=64, batch_size=3)
    assert {plan.micro_batch.batch for plan in (*given.sized, given.recommended)} == {3}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"gpus": -1}, "gpus: must be 0 or more, not -1"),
        ({"gpu_memory": -5.0}, "gpu-memory: must be 1 or more, not -5"),
        ({"gpu_memory": float("nan")}, "gpu-memory"),
        ({"host_memory": 0.0}, "host-memory"),
        ({"batch_size": 0}, "batch-size: must be 1 or more, not 0"),
        ({"label_tokens": 0, "gpus": -2}, "gpus.*; label-tokens"),
        ({"label_tokens": 5000}, "label-tokens: must be between 1 and 448, not 5000"),
    ],
    ids=str,
)
def test_impossible_numbers_are_refused(wrong, sentence):
    with pytest.raises(RecipeError, match=sentence):
        estimate_memory("tiny", **wrong)


@pytest.mark.parametrize(
    ("name", "millions"),  # as their publishers state, rounded
    [
        ("turbo", 809),
        ("openai/whisper-small.en", 242),
        ("tiny.en", 38),
        ("large-v1", 1543),
        ("distil-whisper/distil-small.en", 166),
        ("distil-medium.en", 394),
        ("distil-large-v2", 756),
        ("distil-whisper/distil-large-v3.5", 756),
        ("kotoba-tech/kotoba-whisper-v2.0", 756),
        ("nyrahealth/CrisperWhisper", 1543),
    ],
)
def test_other_published_models_have_a_shape(name, millions):
    assert shape_of(name).parameters / 1e6 == pytest.approx(millions, abs=1)


def test_without_a_gpu_the_table_shows_that_offload_costs_more():
    estimate = estimate_memory("small", gpus=0, host_memory=64)
    plans = {plan.configuration: plan.host_gib for plan in estimate.plans}
    assert plans[TrainingConfiguration("zero3", EVERYTHING)] > plans[TrainingConfiguration(precision="fp32")]
    assert "MORE memory than plain AdamW" in estimate.table() and "GPU peak" not in estimate.table()


def test_the_host_is_held_against_what_is_given():
    plans = {plan.name: plan for plan in estimate_memory("large-v3", host_memory=16).plans}
    assert plans["zero3, all on cpu, bf16"].exceeded == ("host",)


def test_the_shipped_model_is_known_by_its_name():
    assert estimate_memory("nano", gpus=0).parameters == estimate_memory("models/nano", gpus=0).parameters


def test_unknown_model_is_one_sentence():
    with pytest.raises(CheckpointError, match="sizes are tiny"):
        estimate_memory("huge")
    with pytest.raises(CheckpointError, match=r"did you mean 'distil-small\.en'"):
        estimate_memory("distill-small.en")
    with pytest.raises(CheckpointError, match="neither"):
        estimate_memory("someone/whisper-small")  # theirs may have another shape


MEASURED = [  # GiB of resident memory: two processor cores, one window of 30 s, gradient checkpointing, two steps
    ("tiny", TrainingConfiguration(precision="fp32"), 1.34),
    ("tiny", TrainingConfiguration(precision="fp32", adapter=AdapterSettings()), 0.97),
    ("tiny", TrainingConfiguration("zero3", EVERYTHING), 2.08),
    ("small", TrainingConfiguration("zero3", EVERYTHING), 9.22),
    ("small", TrainingConfiguration("zero3", OffloadSettings("nvme", "cpu", "x")), 7.23),
    ("tiny", TrainingConfiguration("zero3", EVERYTHING, "fp32"), 2.16),
    ("small", TrainingConfiguration(precision="fp32"), 4.77),
    ("small", TrainingConfiguration(precision="fp32", adapter=AdapterSettings()), 2.67),
    ("small", TrainingConfiguration("zero3", EVERYTHING, "fp32"), 10.17),
    ("medium", TrainingConfiguration(precision="fp32"), 12.85),
    ("medium", TrainingConfiguration(precision="fp32", adapter=AdapterSettings()), 6.17),
]


@pytest.mark.parametrize(("size", "configuration", "gib"), MEASURED, ids=lambda value: getattr(value, "name", value))
def test_the_plan_is_near_what_runs_without_a_gpu_took(size, configuration, gib):
    # What ran in bf16 read its weights from files in bf16, but for tiny.
    stored = 2 if configuration.precision == "bf16" and size != "tiny" else 4
    job = TrainingJob(dataclasses.replace(SHAPES[size], stored=stored), Hardware(0))
    assert job.plan(configuration, MicroBatch()).host_gib == pytest.approx(gib, rel=0.15)


RECIPE = (
    "{data: {train: none.jsonl}, out: o, model: {base: openai/whisper-large-v3}, strategy: single,"
    " precision: bf16, training: {per_device_train_batch_size: 16}}"
)


def test_a_run_that_does_not_fit_is_refused_with_the_nearest_that_does():
    recipe = recipes.parse_recipe(RECIPE)
    assert require_fit(recipe, Resources(Hardware(1, 141, 200, 500))) is not None
    with pytest.raises(RecipeError, match=r"needs about .* on the GPU.*nearest.*gradient_checkpointing=true.*--force"):
        require_fit(recipe, Resources(Hardware(1, 40, 200, 500)))
    with pytest.raises(RecipeError, match=r"nearest that fits: zero2, optimizer on cpu.*--set strategy=zero2"):
        require_fit(recipe, Resources(Hardware(1, 12, 200, 500)))
    with pytest.raises(RecipeError, match="no other plan fits"):
        require_fit(recipe, Resources(Hardware(1, 1, 1, 500)))
    with pytest.raises(RecipeError, match="GiB on the output folder's disk"):
        require_fit(recipe, Resources(Hardware(1, 141, 200, 3)))
    with pytest.raises(RecipeError, match="no other plan fits; free space there, or choose another folder with -o;"):
        require_fit(recipe, Resources(Hardware(1, 141, 200, 0)))


def test_the_nearest_plan_keeps_the_effective_batch():
    recipe = recipes.parse_recipe(RECIPE, set=["training.gradient_accumulation_steps=2", "adapter.rank=32"])
    with pytest.raises(RecipeError) as refused:
        require_fit(recipe, Resources(Hardware(1, 12, 200, 500)))
    overrides = [word for word in str(refused.value).split() if "=" in word]
    sizes = {word.split("=")[0].split(".")[-1]: word.split("=")[1].rstrip(";") for word in overrides}
    assert int(sizes["per_device_train_batch_size"]) * int(sizes["gradient_accumulation_steps"]) == 32


@pytest.mark.parametrize("gpus", [0, 1, 4])
@pytest.mark.parametrize(
    "said",
    [
        ("precision=bf16",),
        ("precision=pure-bf16",),
        ("precision=fp8",),
        ("precision=fp16",),
        ("optimizer=adamw-8bit", "precision=bf16"),
        ("optimizer=adafactor", "precision=bf16"),
        ("strategy=zero3", "offload.parameters=cpu", "precision=bf16", "deepspeed.steps_per_print=1"),
        ("strategy=zero3", "offload.optimizer=nvme", "offload.parameters=cpu", "offload.nvme_path=s", "precision=bf16"),
        ("strategy=fsdp2", "fsdp.cpu_ram_efficient_loading=true", "precision=bf16"),
        ("loss.kl_to_base=0.1", "precision=bf16"),
        ("adapter.rank=32", "adapter.quantize=8bit", "precision=bf16"),
        ("auto_micro_batch=true", "training.gradient_accumulation_steps=2"),
        ("model.freeze_encoder=true", "precision=bf16"),
    ],
    ids="; ".join,
)
def test_every_remedy_is_a_recipe_that_fits(said, gpus):
    """On machines small and large: what is printed after 'nearest that fits' is accepted, and fits."""
    base = "{data: {train: none.jsonl}, out: o, model: {base: openai/whisper-large-v3}}"
    recipe, found = recipes.parse_recipe(base, set=[*said, "training.per_device_train_batch_size=16"]), 0
    for gib, host in ((8, 32), (12, 200), (24, 20)):
        resources = Resources(
            Hardware(gpus, gib if gpus else 0, host, 60), processes=gpus or 1, local_processes=gpus or 1
        )
        try:
            require_fit(recipe, resources)
        except RecipeError as refused:
            if remedy := re.search("nearest that fits: (.*); --force", str(refused)):
                overrides = re.findall("--set ([^ ]+)", remedy[1])
                assert require_fit(recipes.with_overrides(recipe, overrides), resources) is not None
                found += 1
    assert found


def test_a_swap_folder_on_another_disk_takes_no_room_from_the_checkpoints(tmp_path):
    swapped = ("strategy=zero3", "offload.optimizer=nvme", f"offload.nvme_path={tmp_path / 'not' / 'yet'}")
    recipe = recipes.parse_recipe(RECIPE, set=[*swapped, f"out={tmp_path / 'out'}", "training.use_cpu=true"])
    hardware = Resources.of_this_machine(recipe).hardware
    assert not hardware.swap_on_other_disk and hardware.disk_gib == pytest.approx(
        shutil.disk_usage(tmp_path).free / 2**30, rel=0.1
    )
    together, apart = (
        estimate_run(recipe, dataclasses.replace(hardware, swap_on_other_disk=elsewhere)).disk_gib
        for elsewhere in (False, True)
    )
    assert together - apart == pytest.approx(16 * ParameterCounts.of(SHAPES["large-v3"]).trained / 2**30)
    for other in map(Path, ("/dev/shm", "/proc")):
        if other.exists() and other.stat().st_dev != tmp_path.stat().st_dev:
            again = recipes.with_overrides(recipe, [f"offload.nvme_path={other / 'swap'}"])
            assert Resources.of_this_machine(again).hardware.swap_on_other_disk


def test_what_fsdp_moves_to_the_host_is_planned_there():
    kept, moved = (needed("strategy=fsdp2", f"offload.parameters={place}", gpus=4) for place in ("none", "cpu"))
    assert moved.memory.optimizer == moved.memory.weights == 0 < kept.memory.optimizer
    assert is_accepted(moved.configuration)


def test_a_model_that_is_not_here_yet_is_not_refused():
    recipe = recipes.parse_recipe(RECIPE, set=["model.base=someone/whisper-of-theirs"])
    assert require_fit(recipe, Resources(Hardware(1, 1, 1, 1))) is None


def test_processes_of_another_machine_take_nothing_here():
    recipe = recipes.parse_recipe(RECIPE, set=["strategy=ddp", "training.gradient_checkpointing=true"])
    hardware = Hardware(8, 141, 60, 500)
    assert require_fit(recipe, Resources(hardware, processes=8, local_processes=4)) is not None
    with pytest.raises(RecipeError, match="host memory"):
        require_fit(recipe, Resources(dataclasses.replace(hardware, host_gib=30), processes=8, local_processes=8))


def needed(*settings, gpus=1):
    """Return the plan of large-v3 under ``settings``."""
    base = "{data: {train: t}, out: o, model: {base: openai/whisper-large-v3}, precision: bf16}"
    return estimate_run(recipes.parse_recipe(base, set=settings), Hardware(gpus, 141, 400, 900))


def test_what_a_recipe_trains_less_or_keeps_smaller_counts():
    memory = needed().memory
    top = needed("model.top_layers=2")
    assert top.memory.gradients == 4 * top.counts.trained < 0.15 * memory.gradients
    assert needed("optimizer=adafactor").memory.optimizer == 0
    whole, eight, four = (needed(f"adapter.quantize={kind}").memory.weights for kind in ("none", "8bit", "4bit"))
    layers = 32 * (1280**2 * 12 + 1280**2 * 16)  # matrices of an encoder and a decoder layer
    assert whole - eight == pytest.approx(3 * layers, rel=1e-6)
    assert eight - four == pytest.approx((1 - 4.127 / 8) * layers, rel=1e-6)


def test_the_base_that_the_loss_asks_counts():
    plain, asked = needed(), needed("loss.kl_to_base=0.1")
    assert asked.memory.weights - plain.memory.weights == 4 * SHAPES["large-v3"].parameters
    assert asked.memory.activations > plain.memory.activations
    plain, asked = needed("adapter.rank=32"), needed("adapter.rank=32", "loss.kl_to_base=0.1")
    assert asked.memory.weights == plain.memory.weights  # the model itself with its adapter switched off
    on_cpu = [needed(*said, gpus=0).host_gib for said in ((), ("loss.kl_to_base=0.1",))]
    assert on_cpu[1] - on_cpu[0] > 4 * SHAPES["large-v3"].parameters / 2**30


def test_added_decoder_layers_count():
    said = "{data: {train: t}, out: o, model: {base: openai/whisper-tiny, decoder_layers: 8, context_s: 10}}"
    shape = recipe_shape(recipes.parse_recipe(said))
    assert (shape.decoder_layers, shape.source_positions) == (8, 500)


def test_the_best_checkpoint_takes_room_too():
    text = "{data: {train: t, dev: d}, out: o, model: {base: openai/whisper-tiny}}"
    for settings, checkpoints in (
        ((), 2),
        (("evaluation.every_steps=5",), 3),
        (("evaluation.every_steps=5", "training.save_total_limit=2"), 4),
        (("training.save_strategy=no",), 0),
        (("strategy=zero3", "offload.optimizer=nvme", "offload.nvme_path=s"), 0),
    ):
        assert recipes.parse_recipe(text, set=settings).checkpoints_on_disk == checkpoints


@pytest.mark.parametrize(("gpus", "processes"), [(1, 1), (3, 1), (0, 1)])
def test_ranks_that_cannot_share_layers_are_one_sentence(gpus, processes):
    text = (
        "{data: {train: t}, out: o, model: {base: openai/whisper-tiny}, strategy: tensor_parallel, tensor_parallel: 2}"
    )
    with pytest.raises(RecipeError, match=f"so use a multiple of 2, not {max(gpus, processes)}"):
        estimate_run(recipes.parse_recipe(text), Hardware(gpus), processes=processes)
    assert estimate_run(recipes.parse_recipe(text), Hardware(4)).configuration.layer_ranks == 2


def test_where_nothing_fits_only_what_was_not_tried_is_advised():
    none, one = (estimate_memory("large-v3", gpu_memory=4, host_memory=8, batch_size=size) for size in (None, 9))
    assert "nothing fits; try a smaller model, or more memory" in " ".join(none.table(120).split())
    assert "nothing fits; try a LoRA, gradient checkpointing, a batch of 1, a smaller" in " ".join(
        one.table(120).split()
    )


def test_the_precision_is_that_of_the_machine_that_trains():
    estimate = estimate_memory("small", gpu_memory=16, host_memory=64)
    assert "precision: auto" in estimate.table() and "precision: bf16" not in estimate.table()
