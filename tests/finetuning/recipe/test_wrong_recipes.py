"""Wrong recipes, one for each kind of mistake: one list of clear sentences, nothing loaded, and an exit status."""

from __future__ import annotations

import json

import pytest
import torch

WRONG = {
    # names
    "misspelled section": ("dta.train=x", "dta: unknown key (did you mean 'data'?)"),
    "misspelled setting": ("data.trian=x", "data.trian: unknown key (did you mean 'train'?)"),
    "misspelled training": ("training.learning_rat=1e-5", "learning_rat: unknown key (did you mean 'learning_rate'?)"),
    "misspelled argument": ("trainer_args.ddp_timout=9", "trainer_args.ddp_timout: unknown key (did you mean 'ddp_t"),
    "misspelled elsewhere": ("trainer_args.max_step=9", "unknown key (did you mean 'training.max_steps'?)"),
    "at the root": ("learning_rate=1e-5", "learning_rate: set training.learning_rate instead"),
    # one owner per setting
    "bf16": ("training.bf16=yess", "training.bf16: set precision: bf16 instead"),
    "fp16": ("training.fp16=true", "training.fp16: set precision: fp16 instead"),
    "optim": ("training.optim=adafactor", "training.optim: set optimizer instead"),
    "seed": ("training.seed=3", "training.seed: the recipe's seed sets it"),
    "output": ("training.output_dir=x", "training.output_dir: set out instead"),
    "smoothing": ("training.label_smoothing_factor=0.1", "this trainer's loss smooths no labels; leave it out"),
    "fsdp": ("training.fsdp=full_shard", "training.fsdp: set strategy: fsdp2 instead"),
    "fsdp at the root": ("fsdp=full_shard", "fsdp: expected a mapping of keys, not 'full_shard'"),
    "argument in training": ("training.ddp_timeout=9", "set trainer_args.ddp_timeout instead"),
    "training in arguments": ("trainer_args.learning_rate=1", "set training.learning_rate instead"),
    "evaluation": ("training.eval_steps=9", "training.eval_steps: set evaluation.every_steps instead"),
    "upload": ("trainer_args.push_to_hub=true", "trainer_args.push_to_hub: not supported"),
    "batch of deepspeed": ("strategy=zero2 deepspeed.train_batch_size=64", "deepspeed.train_batch_size: set train"),
    "stage of deepspeed": ("strategy=zero3 deepspeed.zero_optimization.stage=2", "stage: set strategy instead"),
    "section of deepspeed": ("strategy=zero2 deepspeed.zero_optimisation.x=1", "did you mean 'zero_optimization'?"),
    # types
    "rate as text": ("training.learning_rate=fast", "training.learning_rate: expected a number, not 'fast'"),
    "rate as list": ("training.learning_rate=[1]", "training.learning_rate: expected a number, not [1]"),
    "norm as text": ("training.max_grad_norm=abc", "training.max_grad_norm: expected a number, not 'abc'"),
    "steps as text": ("training.max_steps=many", "training.max_steps: expected a whole number, not 'many'"),
    "steps as fraction": ("training.max_steps=2.5", "training.max_steps: expected a whole number, not 2.5"),
    "batch of null": ("training.per_device_train_batch_size=null", "expected a whole number, not None"),
    "switch as text": ("training.gradient_checkpointing=yess", "expected true or false, not 'yess'"),
    "out as number": ("out=3", "out: expected text, not 3"),
    "section as number": ("adapter=16", "adapter: expected a mapping of keys, not 16"),
    "argument as text": ("trainer_args.ddp_timeout=long", "trainer_args.ddp_timeout: expected a whole number, not 'l"),
    "argument as list": ("trainer_args.torch_compile=[1]", "trainer_args.torch_compile: expected true or false"),
    # ranges
    "rate below 0": ("training.learning_rate=-1", "training.learning_rate: must be 0 or more, not -1"),
    "rate not a number": ("training.learning_rate=.nan", "training.learning_rate: must be 0 or more, not nan"),
    "no steps": ("training.max_steps=0", "training.max_steps: must be 1 or more, not 0"),
    "negative epochs": ("training.num_train_epochs=-1", "training.num_train_epochs: must be more than 0, not -1"),
    "empty batch": ("training.per_device_train_batch_size=0", "per_device_train_batch_size: must be 1 or more, not 0"),
    "negative decay": ("training.weight_decay=-0.1", "training.weight_decay: must be 0 or more, not -0.1"),
    "beta of one": ("training.adam_beta2=1", "training.adam_beta2: must be at least 0 and below 1, not 1"),
    "unknown schedule": ("training.lr_scheduler_type=cosin", "training.lr_scheduler_type: must be one of linear, cos"),
    "unknown saving": ("training.save_strategy=often", "training.save_strategy: must be one of auto, steps, epoch, no"),
    "rank of 0": ("adapter.rank=0", "adapter.rank: must be 1 or more, not 0"),
    "unknown layer": ("adapter.target_modules=[query]", "adapter.target_modules[0]: must be one of q_proj, k_proj"),
    "unknown strategy": (
        "strategy=zero4",
        "strategy: must be one of single, ddp, zero2, zero3, fsdp2, tensor_parallel, pipeline, not 'zero4'",
    ),
    "unknown precision": ("precision=int8", "precision: must be one of fp32, bf16"),
    "unknown metric": ("evaluation.metric=bleu", "evaluation.metric: must be one of wer_verbatim"),
    "share above 1": ("data.full_length_share=2", "data.full_length_share: must be between 0 and 1, not 2"),
    "negative seed": ("seed=-1", "seed: must be between 0 and 4294967295, not -1"),
    # settings that exclude each other
    "offloading alone": ("offload.optimizer=cpu", "offload.optimizer: cpu needs strategy zero2 or zero3"),
    "no swap folder": ("strategy=zero3 offload.optimizer=nvme", "offload.nvme_path: name a folder"),
    "evaluation of nothing": ("evaluation.every_steps=5", "evaluation: needs data.dev"),
    "adapter and layers": ("adapter.rank=16 model.top_layers=2", "model.top_layers: with an adapter all weights"),
    "quantized shards": ("adapter.quantize=4bit strategy=zero3", "zero3 cannot shard quantized weights"),
    "two models": ("model.scratch={}", "model.scratch.d_model: missing"),
    # this machine and these files
    "one process": ("strategy=ddp", "strategy: ddp needs several processes, and this is the only one"),
    "no manifest": ("data.train=nosuch.jsonl", "data.train: nosuch.jsonl: no such manifest"),
    "folder without data": ("data.train=FOLDER", "FOLDER: is a folder without prepared data"),
    "no dev manifest": ("data.dev=nosuch.jsonl evaluation.every_steps=5", "data.dev: nosuch.jsonl: no such manifest"),
    "too many layers": ("model.top_layers=99", "model.top_layers: the base has 2 in its decoder and 2 in its encoder"),
    "layers not doubled": ("model.decoder_layers=3", "must be a multiple of the base's 2 layers, not 3"),
    "arguments together": ("trainer_args.dataloader_prefetch_factor=2", "trainer_args: --dataloader_prefetch_factor"),
    "fp8 on a CPU": ("precision=fp8", "precision: fp8 needs a GPU"),
    "unknown language": (
        "data.language=vec",
        "rows 1, 2, 3, 4, 5 and 1 more (0.wav): the model does not support the language",
    ),
    "no such model": ("model.base=FOLDER/nosuch", "FOLDER/nosuch"),
    # overrides
    "no value": ("training.max_steps", "--set training.max_steps: write section.key=value"),
    "no YAML": ("training.max_steps=[", "--set training.max_steps=[: not YAML"),
}
"""By name: overrides, parted by spaces, and a part of the answer."""


@pytest.mark.parametrize("name", WRONG)
def test_it_is_refused_in_sentences_and_nothing_is_loaded(name, call):
    overrides, sentence = WRONG[name]
    assert sentence in call(overrides.split())


def test_there_are_sixty():
    assert len(WRONG) >= 60


def test_mistakes_of_all_kinds_are_in_one_list(call):
    kinds = ("misspelled training", "rate as list", "no steps", "bf16", "stage of deepspeed", "upload", "share above 1")
    kinds += ("adapter and layers", "misspelled setting")
    said = call([override for kind in kinds for override in WRONG[kind][0].split()])
    for kind in kinds:
        assert WRONG[kind][1] in said, kind
    assert said.splitlines()[0].endswith(f"{len(said.splitlines()) - 1} problems") and len(said.splitlines()) == 10


def test_a_rule_about_a_value_that_is_wrong_itself_is_left_out(call):
    """Whether zero4 offloads is not known, so only its name is reported."""
    said = call(["strategy=zero4", "offload.optimizer=cpu"])
    assert "must be one of single" in said and "offload.optimizer" not in said


def test_the_data_are_checked_in_one_list_with_their_rows(call, windows, tmp_path):
    rows = [json.loads(line) for line in windows.read_text().splitlines()]
    rows = [row | {"audio_filepath": str(windows.parent / row["audio_filepath"])} for row in rows]
    rows[1]["lang"] = "vec"
    rows[2]["audio_filepath"] = str(tmp_path / "gone.wav")
    rows[3]["duration"] = 60.0
    rows[4]["offset"] = 1.5
    rows[5]["text"] = "yes " * 500
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = call([f"data.train={tmp_path / 'bad.jsonl'}"])
    for row, part in (
        (2, "the model does not support the language 'vec'; set data.language"),
        (3, "no recording"),
        (4, "a window of 60.0 s"),
        (5, "and a window ends at"),
        (6, "a label of"),
    ):
        assert any(f": row {row}" in line and part in line for line in said.splitlines()), (row, said)


def test_a_folder_stands_for_its_manifests(windows, base, tmp_path):
    from lsa_whisper.finetuning.recipe import parse_recipe

    (tmp_path / "data").mkdir()
    for name in ("train", "dev"):
        (tmp_path / "data" / f"{name}.jsonl").write_text(windows.read_text())
    text = f"{{data: {{train: {tmp_path / 'data'}}}, out: o, model: {{base: {base}}}, evaluation: {{every_steps: 5}}}}"
    data = parse_recipe(text).data
    assert (data.train, data.dev) == (str(tmp_path / "data" / "train.jsonl"), str(tmp_path / "data" / "dev.jsonl"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="the processes would need a GPU each")
def test_several_processes_are_not_started_for_a_recipe_that_this_machine_cannot_train(call, monkeypatch):
    monkeypatch.setattr("lsa_whisper.finetuning.launch", lambda *_, **__: pytest.fail("launched"))
    assert "no such manifest" in call(["strategy=ddp", "data.train=nosuch.jsonl"], "--processes", "2")
