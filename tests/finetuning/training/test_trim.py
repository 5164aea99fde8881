from __future__ import annotations

import copy
import types

import pytest
import torch
from torch import nn
from training_run import StoppedError, logged, stopped_at

from lsa_whisper import checkpoint, manifest
from lsa_whisper.checkpoint.trimming import accept_shorter_inputs
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import AdapterSettings, ScratchModel, parse_recipe
from lsa_whisper.finetuning.training import model as scratch
from lsa_whisper.finetuning.training.model import add_adapter
from lsa_whisper.finetuning.training.samplers import LengthGroupedSampler, StepLengthSampler
from lsa_whisper.finetuning.training.trainer import training_arguments

SHAPE = ScratchModel(16, 2, 1, 2, mel_bins=20, context_s=2.0, max_target_positions=64)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return scratch.new_model(SHAPE, scratch.new_tokenizer([" yes"], 300, 2.0)).train()


def batch(frames):
    given = torch.Generator().manual_seed(1)
    features = torch.randn(2, 20, frames, generator=given)
    return {"input_features": features, "labels": torch.randint(0, 300, (2, 5), generator=given), "use_cache": False}


def gradients(model, frames):
    model.zero_grad()
    loss = model(**batch(frames)).loss
    loss.backward()
    return loss, {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def test_full_windows_give_the_very_same_loss_and_gradients(model):
    loss, wanted = gradients(model, 200)
    accept_shorter_inputs(model.get_encoder())
    again, found = gradients(model, 200)
    assert torch.equal(loss, again) and found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("adapted", [False, True], ids=["full", "lora"])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_shorter_windows_equal_a_model_of_that_context(model, adapted, checkpointing):
    """The model to compare with has its positions cut for good, and transformers' own forward."""
    cut = copy.deepcopy(model)
    cut.config.max_source_positions = cut.get_encoder().config.max_source_positions = 60
    cut.get_encoder().embed_positions = nn.Embedding.from_pretrained(cut.get_encoder().embed_positions.weight[:60])
    accept_shorter_inputs(model.get_encoder())
    if checkpointing:
        for one in (model, cut):
            one.gradient_checkpointing_enable({"use_reentrant": False})
    if adapted:
        torch.manual_seed(2)
        model = add_adapter(model, AdapterSettings(rank=16))
        torch.manual_seed(2)
        cut = add_adapter(cut, AdapterSettings(rank=16))
    lengths = []
    model.get_encoder().layers[0].register_forward_hook(lambda _, args, __: lengths.append(args[0].shape[1]))
    loss, found = gradients(model, 120)
    wanted_loss, wanted = gradients(cut, 120)
    assert set(lengths) == {60}
    torch.testing.assert_close(loss, wanted_loss, rtol=0, atol=1e-6)
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], rtol=0, atol=1e-6, msg=name)


@pytest.mark.parametrize("frames", [121, 202])
def test_odd_and_too_long_inputs_are_rejected_and_the_encoder_is_restored(model, frames):
    accept_shorter_inputs(model.get_encoder())
    with pytest.raises(ValueError, match="of length 200"):
        model(**batch(frames))
    model(**batch(120))
    assert model.config.max_source_positions == model.get_encoder().embed_positions.num_embeddings == 100
    assert model.get_encoder().embed_positions.weight.shape[0] == 100


def test_sampler_draws_each_window_once_and_neighbours_alike():
    lengths = torch.rand(103, generator=torch.Generator().manual_seed(0)).mul(30).tolist()
    sampler = LengthGroupedSampler(lengths, 4, seed=5)
    drawn = list(sampler)
    assert sorted(drawn) == list(range(103)) and len(sampler) == 103
    groups = [[lengths[index] for index in drawn[start : start + 4]] for start in range(0, 100, 4)]
    assert max(groups[0]) == max(lengths)
    assert sum(max(group) - min(group) for group in groups) / len(groups) < 6  # drawn at random, it is about 18
    longest = [max(group) for group in groups]
    assert longest != sorted(longest, reverse=True)


def test_order_follows_from_seed_and_epoch_only():
    lengths = [float(number) for number in range(40)]

    def order(seed, epoch):
        sampler = LengthGroupedSampler(lengths, 4, seed)
        sampler.set_epoch(epoch)
        torch.rand(3)  # as dropout would
        return list(sampler)

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3) and order(1, 2) != order(2, 2)


@pytest.mark.parametrize("count", [1, 3, 4])
def test_sampler_of_few_windows(count):
    assert sorted(LengthGroupedSampler([1.0] * count, 4, 0)) == list(range(count))


def test_trim_groups_by_length_by_default_and_workers_keep_their_cache(tmp_path):
    text = "{data: {train: t.jsonl, trim: true}, out: o, model: {base: m}, training: {use_cpu: true}}"
    strategy = "trainer_args.train_sampling_strategy=random"
    assert training_arguments(parse_recipe(text), tmp_path).train_sampling_strategy == "group_by_length"
    assert training_arguments(parse_recipe(text, set=[strategy]), tmp_path).train_sampling_strategy == "random"
    assert training_arguments(parse_recipe(text, set=["data.trim=false"]), tmp_path).train_sampling_strategy == "random"
    with_cache = parse_recipe(text, set=["data.cache=true", "data.workers=2"])
    assert training_arguments(with_cache, tmp_path).dataloader_persistent_workers
    with pytest.raises(RecipeError, match=r"data\.full_length_share: must be between 0 and 1, not 2"):
        parse_recipe(text, set=["data.full_length_share=2"])


def run(path, text, **options):
    path.write_text(text)
    return finetune(
        path, set=["data.trim=true", "data.full_length_share=0.3"], **({"report": lambda _: None} | options)
    ).out


@pytest.mark.slow
def test_a_resumed_run_equals_an_uninterrupted_one(windows, scratch_recipe, tmp_path):
    """Two epochs of three batches, stopped in the second: the same windows, trimmed or whole, in the same order."""
    saving = "save_strategy: steps, save_steps: 4, max_steps: 6"
    text = scratch_recipe(windows, tmp_path / "whole", training=saving).replace("max_steps: 4, ", "")
    whole = run(tmp_path / "r.yaml", text)
    text = text.replace(str(tmp_path / "whole"), str(tmp_path / "cut"))
    with pytest.raises(StoppedError):
        run(tmp_path / "r.yaml", text, report=stopped_at(5))
    states = [checkpoint.load(out).model.state_dict() for out in (whole, run(tmp_path / "r.yaml", text))]
    torch.testing.assert_close(states[0], states[1], rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["", "adapter: {rank: 16}"], ids=["full", "lora"])
def test_the_saved_checkpoint_is_a_plain_whisper(windows, scratch_recipe, tmp_path, adapter):
    """With worker processes, SpecAugment and gradient checkpointing on the way."""
    base = run(tmp_path / "base.yaml", scratch_recipe(windows, tmp_path / "base"))
    text = (
        f"{{data: {{train: {windows}, workers: 2, augment: {{mask_time_prob: 0.1}}}}, out: {tmp_path / 'out'},"
        f" model: {{base: {base}}}, {adapter}{', ' if adapter else ''}"
        " training: {use_cpu: true, max_steps: 3, gradient_checkpointing: true, per_device_train_batch_size: 2}}"
    )
    loaded = checkpoint.load(run(tmp_path / "r.yaml", text))
    assert loaded.context_s == 2.0 and loaded.model.config.max_source_positions == 100
    assert loaded.model.get_encoder().embed_positions.weight.shape[0] == 100
    assert (
        loaded.model(input_features=torch.zeros(1, 20, 200), decoder_input_ids=torch.tensor([[1]]))
        .logits.isfinite()
        .all()
    )


@pytest.fixture(scope="module")
def unequal(tmp_path_factory, windows):
    """Windows between 0.3 and 0.9 s, so that any two differ in length: with the margin they end within the context."""
    folder = tmp_path_factory.mktemp("unequal")
    paths = [row.audio_filepath for row in manifest.read(windows)]
    rows = [manifest.Segment(paths[n % len(paths)], 0.0, 0.3 + 0.05 * n, "no.") for n in range(12)]
    manifest.write(rows, folder / "train.jsonl")
    return folder / "train.jsonl"


def losses(path, text, share, batch, accumulation=1, processes=1, order="group_by_length"):
    path.write_text(text)
    settings = ["data.trim=true", f"data.full_length_share={share}", f"training.per_device_train_batch_size={batch}"]
    settings += [f"training.gradient_accumulation_steps={accumulation}", "training.max_steps=6"]
    settings += [f"trainer_args.train_sampling_strategy={order}"]
    settings += [f"strategy={'single' if processes == 1 else 'ddp'}"]
    return logged(finetune(path, set=settings, processes=processes, report=lambda _: None).out)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0, 0.5])
@pytest.mark.parametrize("order", ["group_by_length", "random"])
def test_a_step_is_the_same_however_it_is_split(unequal, scratch_recipe, tmp_path, share, order):
    texts = [scratch_recipe(unequal, tmp_path / name) for name in "ab"]
    whole = losses(tmp_path / "a.yaml", texts[0], share, 4, order=order)
    parts = losses(tmp_path / "b.yaml", texts[1], share, 1, accumulation=4, order=order)
    assert len(whole) == 6 and parts == pytest.approx(whole, abs=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("forked_ranks")
def test_two_processes_train_like_one(unequal, scratch_recipe, tmp_path):
    whole = losses(tmp_path / "a.yaml", scratch_recipe(unequal, tmp_path / "a"), 0.3, 4)
    parts = losses(tmp_path / "b.yaml", scratch_recipe(unequal, tmp_path / "b"), 0.3, 2, processes=2)
    assert len(whole) == 6 and parts == pytest.approx(whole, abs=1e-5)


def test_the_asked_share_of_steps_stays_whole():
    windows = types.SimpleNamespace(frames=lambda index: 10 + index, extractor=types.SimpleNamespace(nb_max_frames=400))
    steps = list(StepLengthSampler(range(800), windows, 4, share=0.3, seed=7))
    assert steps == list(range(800))
    frames = [{index.frames for index in steps[start : start + 4]} for start in range(0, 800, 4)]
    assert all(len(each) == 1 for each in frames)
    cut = [{10 + start + 3} == each for start, each in zip(range(0, 800, 4), frames, strict=True)]
    assert 40 <= 200 - sum(cut) <= 80 and all(
        each == {400} for each, is_cut in zip(frames, cut, strict=True) if not is_cut
    )
