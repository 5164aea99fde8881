"""The alignment loss: the attention that it sees is the model's own, and training moves it to the words."""

from __future__ import annotations

import importlib.util
import json

import pytest
import torch

from lsa_whisper import checkpoint, manifest
from lsa_whisper.dataset import TOKEN_SPANS_S, Collator, WindowDataset
from lsa_whisper.decoding.cross_attention import alignment_heads
from lsa_whisper.errors import ManifestError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.training.alignment_loss import AlignmentLoss, frame_shares


def quiet(line):
    """Report nothing."""


@pytest.fixture(scope="module")
def base(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    (folder / "recipe.yaml").write_text(scratch_recipe(windows, folder / "model"))
    return finetune(folder / "recipe.yaml", set=["training.max_steps=1"], report=quiet).out


def batch_of(start, windows):
    data = WindowDataset(windows, start, word_times=True)
    return Collator(start.model.config.pad_token_id)([data[at] for at in range(len(data))])


def test_tokens_have_the_times_of_their_words(base, windows):
    start = checkpoint.load(base)
    batch = batch_of(start, windows)
    spans, labels = batch[TOKEN_SPANS_S], batch["labels"]
    assert spans.shape == (*labels.shape, 2)
    for row, segment in enumerate(manifest.read(windows)):
        words = manifest.parse_word_times(segment.word_times)
        known = ~spans[row].isnan().any(-1)
        assert known.any() == bool(words)
        texts = start.tokenizer.decode(labels[row][known]).split()
        timed = [word for word in words if word.start_s is not None]
        if timed:
            assert texts[0] == timed[0].text and not {"/", ".", ":"} & {*"".join(texts[:-1])} - {":"}
            assert float(spans[row][known].min()) == pytest.approx(timed[0].start_s)
            assert float(spans[row][known].max()) == pytest.approx(timed[-1].end_s)
            begun = spans[row][known][:, 0]
            assert (begun.diff() >= 0).all()


def test_the_recorded_attention_is_the_models_own(base, windows):
    start = checkpoint.load(base)
    batch = batch_of(start, windows)
    spans = batch.pop(TOKEN_SPANS_S)
    heads = alignment_heads(start.model)
    recorded = AlignmentLoss(start.model, heads, start.time_precision_s)
    with torch.no_grad():  # as on the dev set: nothing is recorded
        start.model.train()(**batch)
    assert not recorded._recorded
    for module in start.model.modules():
        if isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0
    start.model.train()(**batch)
    found = recorded.loss(spans)
    start.model.set_attn_implementation("eager")
    weights = start.model(**batch, output_attentions=True).cross_attentions
    mean = torch.stack([weights[layer][:, head] for layer, head in heads]).mean(0)
    known = ~spans.isnan().any(-1)
    target = frame_shares(spans[known], mean.shape[-1], start.time_precision_s)
    wanted = (1 - torch.nn.functional.cosine_similarity(mean[known], target)).sum()
    torch.testing.assert_close(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [(), ("adapter.rank=8",), ("training.gradient_checkpointing=true",), ("data.trim=true", "loss.kl_to_base=0.1")],
    ids=["full", "lora", "checkpointing", "trim-and-base"],
)
def test_training_moves_the_attention_to_the_words(base, windows, tmp_path, options):
    path, found = tmp_path / "recipe.yaml", []
    path.write_text(
        f"{{data: {{train: {windows}}}, out: {tmp_path / 'out'}, model: {{base: {base}}}, training: {{use_cpu: true,"
        " max_steps: 30, learning_rate: 2e-2, per_device_train_batch_size: 6}}"
    )
    for weight in (0, 5):
        out = tmp_path / f"weight-{weight}"
        finetune(path, set=[f"out={out}", f"loss.alignment_weight={weight}", *options], report=quiet)
        trained = checkpoint.load(out)
        batch = batch_of(trained, windows)
        spans = batch.pop(TOKEN_SPANS_S)
        recorded = AlignmentLoss(trained.model, alignment_heads(trained.model), trained.time_precision_s)
        trained.model.train()(**batch)
        found.append(recorded.loss(spans).item())
    assert found[1] < 0.9 * found[0]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["fsdp2", "zero2", "zero3"])
def test_sharded_weights_give_the_same_steps(base, windows, tmp_path, strategy):
    if strategy.startswith("zero") and importlib.util.find_spec("deepspeed") is None:
        pytest.skip("DeepSpeed is not installed")
    path = tmp_path / "recipe.yaml"
    path.write_text(
        f"{{data: {{train: {windows}}}, out: {tmp_path / 'out'}, model: {{base: {base}, dropout: 0}},"
        " loss: {alignment_weight: 2}, training: {use_cpu: true, max_steps: 4, learning_rate: 1e-2, logging_steps: 1,"
        " gradient_checkpointing: true, per_device_train_batch_size: 6}}"
    )
    curves = []
    for name, options, processes in (
        ("one", [], 1),
        ("sharded", [f"strategy={strategy}", "training.per_device_train_batch_size=3"], 2),
    ):
        out = tmp_path / name
        finetune(path, set=[f"out={out}", *options], processes=processes, report=quiet)
        rows = [json.loads(line) for line in (out / "curve.jsonl").read_text().splitlines()]
        curves.append([row["loss"] for row in rows if "grad_norm" in row])
    assert curves[1] == pytest.approx(curves[0], abs=1e-4)


def test_word_times_are_needed(base, windows, tmp_path):
    rows = [manifest.Segment(one.audio_filepath, 0.0, one.duration, one.text) for one in manifest.read(windows)]
    manifest.write(rows, tmp_path / "train.jsonl")
    path = tmp_path / "recipe.yaml"
    path.write_text(
        f"{{data: {{train: {tmp_path / 'train.jsonl'}}}, out: {tmp_path / 'out'}, model: {{base: {base}}},"
        " loss: {alignment_weight: 1}, training: {use_cpu: true, max_steps: 1}}"
    )
    with pytest.raises(ManifestError, match=r"no row has word times.*lsa-whisper align"):
        finetune(path, report=quiet)
    with pytest.raises(RecipeError, match="alignment_weight: pipeline divides the heads"):
        finetune(path, set=["strategy=pipeline"], processes=2, report=quiet)
