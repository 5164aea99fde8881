"""Wrong values, paths, rows and environments that would end in a traceback, late, or with nothing learned."""

from __future__ import annotations

import json
import shutil

import pytest

SCHEDULE = "training.lr_scheduler_type"
KWARGS = "training.lr_scheduler_kwargs"
ZERO2 = "strategy=zero2"
LORA = "adapter.rank=4"
DEV = "evaluation.every_steps=1"
WRONG = {
    # schedules
    "not a number": ([f"{SCHEDULE}=polynomial", f"{KWARGS}={{power: .nan}}"], f"{KWARGS}.power: must be 0 or more"),
    "negative cycles": (
        [f"{SCHEDULE}=cosine_with_restarts", f"{KWARGS}={{num_cycles: -1}}"],
        "num_cycles: must be 0 or",
    ),
    "floor above": (
        [f"{SCHEDULE}=cosine_with_min_lr", f"{KWARGS}={{min_lr: 1}}", "training.max_steps=9"],
        "would be 0.",
    ),
    "decay too long": (
        [f"{SCHEDULE}=warmup_stable_decay", f"{KWARGS}={{num_decay_steps: 500}}", "training.max_steps=9"],
        "the learning rate would never be above",
    ),
    "decay too long for the data": (
        [f"{SCHEDULE}=warmup_stable_decay", f"{KWARGS}={{num_decay_steps: 500}}", "training.max_steps=null"],
        "the learning rate would never be above",
    ),
    "kwargs of constant": ([f"{SCHEDULE}=constant", f"{KWARGS}={{min_lr: 0}}"], f"{KWARGS}: constant has no settings"),
    "warm-up of constant": ([f"{SCHEDULE}=constant", "training.warmup_steps=1"], "use constant_with_warmup"),
    # numbers
    "endless": (["training.max_steps=1000000000000"], "training.max_steps: must be at most 1e+09"),
    "endless epochs": (["training.num_train_epochs=1e300"], "num_train_epochs: must be at most 1e+06"),
    "endless step": (["training.gradient_accumulation_steps=10000000"], "gradient_accumulation_steps: must be at most"),
    "decay of all": (["training.weight_decay=2e4"], "training.weight_decay: must be at most 10, not 20000"),
    "epsilon": (["training.adam_epsilon=1e9"], "training.adam_epsilon: must be at most 1"),
    "an epsilon of 0 in fp32": (["training.adam_epsilon=1e-300"], "training.adam_epsilon: must be 1e-30 or more"),
    "weight of a term": (["loss.disfluency_weight=1e300"], "loss.disfluency_weight: must be at most 1000"),
    "alpha": (["adapter.alpha=1e30"], "adapter.alpha: must be at most 10000"),
    "mel bands": (["model.scratch.mel_bins=5000"], "model.scratch.mel_bins: must be at most 128, not 5000"),
    "octal": (["seed=010"], "YAML reads 010 as 8; write that, or put it in quotes"),
    "sexagesimal": (["training.max_steps=1:30"], "YAML reads 1:30 as 90"),
    # settings without effect
    "steps between epochs": (["training.save_strategy=epoch", "training.save_steps=5"], "not used with save_strategy"),
    "hidden losses": (["trainer_args.logging_nan_inf_filter=true"], "it would hide a loss that is not a number"),
    "beams": (["trainer_args.generation_num_beams=3"], "dev sets are decoded as transcribe decodes; leave it out"),
    "optimizer's arguments": (["trainer_args.optim_args=x=1"], "trainer_args.optim_args: set optimizer instead"),
    "first evaluation": (["trainer_args.eval_on_start=true"], "set evaluation.every_steps instead"),
    "order": (["trainer_args.train_sampling_strategy=foo"], "must be one of random, sequential, group_by_length"),
    "loudness": (["trainer_args.log_level=loud"], "trainer_args.log_level: must be one of debug, info"),
    "compiler": (["trainer_args.torch_compile_backend=foo"], "torch_compile_backend: must be one of inductor"),
    "backend": (["trainer_args.ddp_backend=foo"], "trainer_args.ddp_backend: must be one of nccl, gloo"),
    "noise": (["trainer_args.neftune_noise_alpha=-1"], "neftune_noise_alpha: must be 0 or more, not -1"),
    "no full batch": (["trainer_args.dataloader_drop_last=true"], "6 windows do not fill a batch of 8"),
    # DeepSpeed
    "type of sums": ([ZERO2, "deepspeed.data_types.grad_accum_dtype=bf17"], "'bf17' is not a valid"),
    "key of a section": ([ZERO2, "deepspeed.data_types.grad_acum_dtype=fp32"], "grad_acum_dtype: unknown key"),
    "autocast": ([ZERO2, "deepspeed.torch_autocast.enabled=false"], "torch_autocast.enabled: set precision instead"),
    "no section": ([ZERO2, "deepspeed.zero_optimization=null"], "zero_optimization: expected a mapping of keys"),
    "removed": ([ZERO2, "deepspeed.amp.enabled=true"], "deepspeed.amp: DeepSpeed no longer has it; set precision"),
    "type of messages": ([ZERO2, "deepspeed.communication_data_type=int7"], "DeepSpeed refuses communication_data_ty"),
    "switch": ([ZERO2, "deepspeed.tensorboard.enabled=maybe"], "deepspeed.tensorboard.enabled: Input should be a"),
    # adapters
    "misspelled module": ([LORA, "adapter.modules_to_save=[layer_nrom]"], "no module is named layer_nrom"),
    "module without name": ([LORA, "adapter.modules_to_save=['']"], "modules_to_save: '' is not the name of a module"),
    "module twice": ([LORA, "adapter.modules_to_save=[q_proj]"], "modules_to_save: 'q_proj' is adapted already"),
    "embeddings twice": (
        [LORA, "adapter.token_embeddings=true", "adapter.modules_to_save=[embed_tokens]"],
        "token_embeddings: modules_to_save trains all embeddings already",
    ),
    "rank": (["adapter.rank=100000"], "adapter.rank: 100000, but the widest layer of the model has 96 units"),
    "nothing to continue": ([LORA, "adapter.second_stage=continue"], "continue needs the folder of an adapter"),
    # paths and data
    "no name": (["out=."], "out: . is not the name of a new folder"),
    "root": (["out=/"], "out: / is not the name of a new folder"),
    "control character": (['out="a\\0b"'], "holds a character that does not belong into a path"),
    "long name": (["out=" + "a" * 300], "out: a name of 300 bytes; choose one of at most 240"),
    "long manifest": (["data.train=" + "a" * 5000], "data.train: a name of 5000 bytes"),
    "no vocabulary": (
        ["model.base=null", "model.scratch.vocab_manifests=[nosuch.jsonl]", "model.scratch.d_model=16"]
        + [f"model.scratch.{stack}=1" for stack in ("encoder_layers", "decoder_layers", "attention_heads")],
        "model.scratch.vocab_manifests[0]: nosuch.jsonl: no such manifest",
    ),
    "prompt": (['data.prompt="<|endoftext|> um"'], "data.prompt: the special token <|endoftext|> in it"),
    "corpus": (["data.corpora.foo.weight=2"], "data.corpora: no window is of the corpus 'foo'"),
    "tracker": ([DEV, "data.dev=TRAIN", "evaluation.trackers=[foo]"], "evaluation.trackers: foo is not supported"),
    "processes": (["strategy=ddp"], "--processes: 1000 processes on this machine", "--processes", "1000"),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_refused_before_weights_are_loaded(name, call, windows):
    overrides, sentence, *options = WRONG[name]
    assert sentence in call([word.replace("TRAIN", str(windows)) for word in overrides], *options)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("text", "<|0.10|>oh.<|7.00|>", "row 2: the time <|7.00|>, but the window has 1.9 s"),
        ("prompt", "yes <|en|>", "row 2: the special token <|en|> in the prompt"),
        ("word_times", "0.90 0.10 the", "row 2: word times backwards or beyond the window ('the' from 0.9 to 0.1 s)"),
        ("word_times", "0.10 99 the", "row 2: word times backwards or beyond the window ('the' from 0.1 to 99 s)"),
    ],
)
def test_a_row_is_named(call, windows, tmp_path, field, value, sentence):
    path = changed(windows, tmp_path, lambda rows: rows[1].update({field: value}))
    assert sentence in call([f"data.train={path}", "loss.alignment_weight=1"])


def changed(windows, folder, change):
    rows = [json.loads(line) for line in windows.read_text().splitlines()]
    rows = [row | {"audio_filepath": str(windows.parent / row["audio_filepath"])} for row in rows]
    change(rows)
    (folder / "changed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "changed.jsonl"


def test_a_dev_set_without_what_the_metric_counts_is_told_before(call, windows, tmp_path):
    path = changed(windows, tmp_path, lambda rows: [row.update(text="yes it is.") for row in rows])
    said = call([f"data.dev={path}", DEV, "evaluation.metric=disfluency_f1"])
    assert "its windows have nothing to compute disfluency_f1 from" in said


def test_what_a_run_reads_is_neither_replaced_nor_removed(call, base, windows, tmp_path):
    """The folder of a run that is not finished is removed when it is."""
    for place in ("new.unfinished", "new", "b"):
        shutil.copytree(base, tmp_path / place)
    begin = f"out={tmp_path / 'new'}"
    assert "is in " in call([begin, f"model.base={tmp_path / 'new.unfinished'}"])
    assert "would be replaced" in call([begin, f"model.base={tmp_path / 'new'}"])
    assert "is inside the model" in call([f"out={tmp_path / 'b' / 'new'}", f"model.base={tmp_path / 'b'}"])
    data = changed(windows, tmp_path / "new", lambda rows: None)
    assert "holds the data" in call([begin, f"data.train={data}"])


@pytest.mark.parametrize(("link", "target"), [("l", "gone"), ("l", "l"), ("l.unfinished", "empty")])
def test_links_in_the_place_of_a_run_are_not_followed(call, tmp_path, link, target):
    (tmp_path / link).symlink_to(tmp_path / target)
    assert "remove it" in call([f"out={tmp_path / 'l'}"])


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"WORLD_SIZE": "two", "RANK": "0"}, "WORLD_SIZE is 'two', but must be 1 or more"),
        ({"WORLD_SIZE": "0", "RANK": "0"}, "WORLD_SIZE is '0', but must be 1 or more"),
        ({"WORLD_SIZE": "2", "RANK": "5"}, "RANK is '5', but must be from 0 to 1"),
        ({"WORLD_SIZE": "2", "RANK": "0"}, "MASTER_ADDR, the host of rank 0, is not set"),
        ({"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "a", "MASTER_PORT": "x"}, "MASTER_PORT is 'x', but must be"),
    ],
)
def test_a_launcher_that_sets_half_of_the_ranks_is_told(call, monkeypatch, variables, sentence):
    for name in ("LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert sentence in call(["strategy=ddp"])
