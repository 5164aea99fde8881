"""What is saved: a tagger of retraces, learned from the labels, and averages of weights.

The moving average is as computed by hand, and a share of the base lies between the base and the run.
"""

from __future__ import annotations

import importlib.util
import itertools
from types import SimpleNamespace

import pytest
import torch

from benchmarks import parity
from lsa_whisper import checkpoint, labels
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.saving import AVERAGE_FILE, WeightAverage, learn_retraces, spoken_labels
from lsa_whisper.labels import Labels
from lsa_whisper.manifest import Segment
from lsa_whisper.retraces.corpus_tagger import CorpusTagger

NOUNS = ("dog", "cat", "frog", "bird", "sheep", "boat", "cup", "book", "hat", "tree", "cow", "duck")
ROWS = [
    Segment("a.wav", 0, 5, f"<|0.00|>the {one} // {two} ran home.<|2.00|><|2.10|>a {one} ran home.<|4.00|>", lang="en")
    for one, two in itertools.pairwise(NOUNS * 3)
]


def test_marks_that_the_model_leaves_out_are_set_by_what_its_corpus_shows():
    found = learn_retraces(spoken_labels(ROWS, Labels("chat")))
    assert list(found) == ["eng"]
    said = "the horse camel ran home. a horse ran home."
    tagger = CorpusTagger(found["eng"], "eng")
    made = labels.decode(said, Labels("chat"), tagger=tagger).utterances
    assert [each.text for each in made] == ["the horse [//] camel ran home .", "a horse ran home ."]
    assert "[//]" not in labels.decode(said, Labels("chat")).utterances[0].text


def test_few_retraces_and_other_languages_have_none_of_their_own():
    assert learn_retraces(spoken_labels(ROWS[:19], Labels("chat"))) == {}
    assert learn_retraces(spoken_labels(ROWS, Labels("chat"), language="es")) == {}


def linear(value):
    layer = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(layer.weight, value)
    layer.bias.requires_grad_(False)
    return layer


def test_the_average_follows_the_weights(tmp_path):
    layer = linear(0.0)
    average = WeightAverage(layer, 0.5)
    wanted = 0.0
    for step, value in enumerate((1.0, 3.0, 5.0), 1):
        torch.nn.init.constant_(layer.weight, value)
        average.on_step_end(None, SimpleNamespace(global_step=step), None)
        decay = min(0.5, (1 + step) / (10 + step))
        wanted = decay * wanted + (1 - decay) * value
    torch.testing.assert_close(average.averages["weight"], torch.full((1, 2), wanted))
    assert set(average.averages) == {"weight"}
    with average.applied():
        torch.testing.assert_close(layer.weight.detach(), torch.full((1, 2), wanted))
    torch.testing.assert_close(layer.weight.detach(), torch.full((1, 2), 5.0))
    average.save(tmp_path)
    other = WeightAverage(linear(7.0), 0.5)
    other.load(tmp_path)
    torch.testing.assert_close(other.averages["weight"], average.averages["weight"])
    with pytest.raises(CheckpointError, match="other weights"):
        WeightAverage(torch.nn.Linear(3, 1), 0.5).load(tmp_path)
    (tmp_path / AVERAGE_FILE).unlink()
    with pytest.raises(CheckpointError, match="remove the checkpoint to begin again"):
        other.load(tmp_path)


def trained(windows, scratch_recipe, out, *, training="", extra="", stop_at=None):
    out.parent.mkdir(parents=True, exist_ok=True)
    path = out.parent / f"{out.name}.yaml"
    path.write_text(scratch_recipe(windows, out, extra=extra, training=training), "utf-8")

    def report(line):
        if stop_at and f"step {stop_at}/" in line:
            raise KeyboardInterrupt

    finetune(path, report=report)
    return {name: weight.detach() for name, weight in checkpoint.load(out).model.named_parameters()}


@pytest.mark.slow
def test_the_average_is_saved_and_survives_a_stop(windows, scratch_recipe, tmp_path):
    last = trained(windows, scratch_recipe, tmp_path / "last")
    averaged = trained(windows, scratch_recipe, tmp_path / "averaged", training="ema_decay: 0.9")
    name = "model.encoder.conv1.weight"
    assert not torch.allclose(last[name], averaged[name], atol=1e-4)
    settings = "ema_decay: 0.9, save_steps: 1"
    with pytest.raises(KeyboardInterrupt):
        trained(windows, scratch_recipe, tmp_path / "stopped", training=settings, stop_at=3)
    resumed = trained(windows, scratch_recipe, tmp_path / "stopped", training=settings)
    for each in averaged:
        torch.testing.assert_close(resumed[each], averaged[each])


def test_the_best_average_is_kept(windows, scratch_recipe, tmp_path):
    """With a decay near 1 each evaluation sees nearly the start; the best step's average is what is saved."""
    extra = f"evaluation: {{every_steps: 1, metric: loss, generate: false, dev_sets: {{same: {windows}}}}}"
    text = scratch_recipe(windows, tmp_path / "best", extra=extra, training="ema_decay: 0.9")
    path = tmp_path / "best.yaml"
    path.write_text(text.replace(f"data: {{train: {windows}}}", f"data: {{train: {windows}, dev: {windows}}}"), "utf-8")
    lines = []
    finetune(path, report=lines.append)
    saved = checkpoint.load(tmp_path / "best")
    assert saved.provenance["best"]["step"] in (1, 2, 3, 4)
    assert any(line.startswith("evaluation every 1 steps: dev 6 of 6 windows, same 6 of 6") for line in lines)
    assert any("same_loss" in line for line in lines)


def test_a_sharded_model_has_no_average():
    with pytest.raises(RecipeError, match="ema_decay: zero3 shards"):
        parse_recipe("{data: {train: t}, out: o, model: {base: b}, strategy: zero3, training: {ema_decay: 0.9}}")


ADAPTER = "adapter={rank: 4, stacks: decoder}"


@pytest.fixture(scope="module")
def base(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    (folder / "base.yaml").write_text(scratch_recipe(windows, folder / "base"), "utf-8")
    finetune(folder / "base.yaml", report=lambda line: None)
    (folder / "next.yaml").write_text(
        f"{{data: {{train: {windows}}}, out: {folder / 'next'}, model: {{base: {folder / 'base'}}}, training: "
        "{use_cpu: true, max_steps: 2, per_device_train_batch_size: 2, learning_rate: 1e-2, logging_steps: 1}}",
        "utf-8",
    )
    return folder


def weights(path):
    return {name: weight.detach() for name, weight in checkpoint.load(path).model.named_parameters()}


def trained_with_share(base, name, share, *settings, processes=1):
    out = base / f"{name}-{share}"
    values = [f"training.base_share={share}", *settings]
    finetune(base / "next.yaml", set=values, out=out, processes=processes, report=lambda line: None)
    return weights(out)


def require_between(base, name, *settings, processes=1):
    start = weights(base / "base")
    alone, mixed = (trained_with_share(base, name, share, *settings, processes=processes) for share in (0, 0.25))
    for key, value in mixed.items():
        torch.testing.assert_close(value, alone[key].lerp(start[key], 0.25), atol=2e-5, rtol=1e-4, msg=key)
    assert any(not torch.equal(alone[key], start[key]) for key in start)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [(), (ADAPTER,), ("training.ema_decay=0.5",)], ids=["full", "adapter", "average"])
def test_weights_lie_between_the_base_and_the_run(base, settings):
    require_between(base, settings[0].partition("=")[0] if settings else "full", *settings)


@pytest.mark.slow
@pytest.mark.usefixtures("forked_ranks")
@pytest.mark.parametrize("strategy, adapter", [("zero3", ()), ("pipeline", ()), ("fsdp2", (ADAPTER,))])
def test_so_do_those_of_a_model_divided_over_ranks(base, strategy, adapter, monkeypatch):
    if strategy == "zero3" and importlib.util.find_spec("deepspeed") is None:
        pytest.skip("DeepSpeed is not installed")
    parity.build_here(monkeypatch.setenv)
    require_between(base, strategy, f"strategy={strategy}", *adapter, processes=2)


@pytest.mark.parametrize(
    "recipe, reason",
    [
        ("model: {scratch: {d_model: 16, encoder_layers: 1, decoder_layers: 1, attention_heads: 2}}", "has no base"),
        ("model: {base: b, decoder_layers: 8}", "lacks the new decoder layers"),
        ("model: {base: b}, adapter: {dora: true}", "dora cannot be scaled"),
        ("model: {base: b}, adapter: {token_embeddings: true}", "token_embeddings cannot be scaled"),
        ("model: {base: b}, adapter: {second_stage: continue}", "a continued adapter would lose"),
    ],
)
def test_what_has_no_weight_between_is_refused(recipe, reason):
    with pytest.raises(RecipeError, match=f"training.base_share: .*{reason}"):
        parse_recipe(f"{{data: {{train: t}}, out: o, {recipe}, training: {{base_share: 0.5}}}}")
