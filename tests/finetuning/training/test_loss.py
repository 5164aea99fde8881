"""="""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest
import torch
from tiny_whisper import build_tokenizer
from training_run import logged

from lsa_whisper import checkpoint, manifest
from lsa_whisper.dataset import TOKEN_SPANS_S, Collator, WindowDataset
from lsa_whisper.decoding.cross_attention import alignment_heads
from lsa_whisper.errors import ManifestError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.training.loss import (
    LETTERS,
    AlignmentLoss,
    CtcHead,
    ExactLoss,
    cross_entropy,
    frame_shares,
    kl_divergence,
)
from lsa_whisper.finetuning.training.training_data import DisfluencyMaskCollator
from lsa_whisper.labels import Labels


def test_cross_entropy_is_the_sum_over_trained_tokens():
    logits = torch.randn(2, 3, 5)
    labels = torch.tensor([[1, 2, -100], [4, -100, -100]])
    wanted = -sum(logits[r, c].log_softmax(0)[labels[r, c]] for r, c in ((0, 0), (0, 1), (1, 0)))
    torch.testing.assert_close(cross_entropy(logits, labels), wanted)


def test_ctc_of_one_frame_is_its_own_probability():
    """One frame can only say the one letter; the full stop and the special token are not spelled."""
    head = CtcHead(4, [" a", "."])
    states = torch.randn(1, 1, 4)
    wanted = -head(states)[0, 0].log_softmax(0)[LETTERS.index("a")]
    torch.testing.assert_close(head.loss(states, torch.tensor([[0, 1, 7, -100]])), wanted)


def test_loss_divides_by_the_items_of_the_whole_step():
    outputs, labels = SimpleNamespace(logits=torch.randn(1, 2, 5)), torch.tensor([[1, -100]])
    whole = ExactLoss()(outputs, labels)
    torch.testing.assert_close(ExactLoss()(outputs, labels, num_items_in_batch=torch.tensor(4)), whole / 4)


def test_weights_count_tokens_of_disfluencies_more():
    outputs = SimpleNamespace(logits=torch.randn(1, 3, 5))
    labels, disfluent = torch.tensor([[1, 2, -100]]), torch.tensor([[True, False, True]])
    first, second = (-outputs.logits[0, n].log_softmax(0)[labels[0, n]] for n in (0, 1))
    found = ExactLoss(disfluency_weight=3.0)(outputs, labels, disfluency_mask=disfluent)
    torch.testing.assert_close(found, (3 * first + second) / 2)


def test_divergence_from_the_base_is_counted_on_fluent_tokens_only():
    outputs = SimpleNamespace(logits=torch.randn(1, 3, 5))
    labels, disfluent = torch.tensor([[1, 2, -100]]), torch.tensor([[True, False, False]])
    base = torch.randn(1, 3, 5)
    was, now = base[0, 1].softmax(0), outputs.logits[0, 1].softmax(0)
    wanted = ExactLoss()(outputs, labels) + 0.5 * (was * (was / now).log()).sum() / 2
    near = ExactLoss(kl_to_base=0.5)
    torch.testing.assert_close(near(outputs, labels, disfluency_mask=disfluent, base_logits=base), wanted)
    same = near(outputs, labels, disfluency_mask=disfluent, base_logits=outputs.logits)
    torch.testing.assert_close(same, ExactLoss()(outputs, labels))


def test_batches_mask_their_disfluent_tokens(tmp_path):
    tokenizer = build_tokenizer(tmp_path)
    ids = tokenizer("um I want / want it.", add_special_tokens=False).input_ids
    begin, end = tokenizer.convert_tokens_to_ids(["<|startoftranscript|>", "<|endoftext|>"])
    row = {"tokens": [begin, *ids, end], "prompt_length": 0, "input_features": torch.zeros(40, 800)}
    short = {"tokens": [begin, end], "prompt_length": 0, "input_features": torch.zeros(40, 800)}
    batch = DisfluencyMaskCollator(end, tokenizer, Labels("chat"))([short, row])
    marked = tokenizer.decode(batch["labels"][1][batch["disfluency_mask"][1]])
    assert marked == "um want/" and not batch["disfluency_mask"][0].any()


@pytest.mark.slow
@pytest.mark.parametrize("adapter", [(), ("adapter.rank=16",)], ids=["full", "lora"])
def test_kl_to_base_keeps_fluent_tokens_close_to_the_base(base, windows, trained, adapter):
    near, far = (trained(str(weight), f"loss.kl_to_base={weight}", *adapter) for weight in (1000, 0))
    assert logged(near)[0] == pytest.approx(logged(far)[0], abs=1e-4)  # the model then IS its base
    assert 0 < distance(base, near, windows) < 0.5 * distance(base, far, windows)


def distance(base, out, windows):
    """The divergence of one checkpoint from another on the fluent tokens of all windows."""
    was, now = checkpoint.load(base), checkpoint.load(out)
    data = WindowDataset(windows, was)
    batch = DisfluencyMaskCollator(was.model.config.pad_token_id, was.tokenizer, Labels("chat"))(
        [data[n] for n in range(6)]
    )
    fluent = (batch.pop("labels") != -100) & ~batch.pop("disfluency_mask")
    with torch.no_grad():
        return float(kl_divergence(was.model(**batch).logits, now.model(**batch).logits, fluent))


TERMS = ("loss.disfluency_weight=2", "loss.kl_to_base=0.5", "loss.alignment_weight=1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [(), ("adapter.rank=16",), TERMS, ("adapter.rank=16", *TERMS)],
    ids=["full", "lora", "full-all-terms", "lora-all-terms"],
)
def test_accumulation_changes_neither_loss_nor_gradient(trained, options):
    """Six windows at once or one by one: the same steps, though their labels have very unequal lengths."""
    took_the_same_steps(trained("whole", *options, SIX), trained("pieces", *options, *cut_into(6)))


@pytest.mark.slow
@pytest.mark.usefixtures("forked_ranks")
@pytest.mark.parametrize("options", [(), ("adapter.rank=16", *TERMS)], ids=["full", "lora-all-terms"])
def test_two_ranks_change_neither_loss_nor_gradient(trained, options):
    """Two ranks with three micro-batches of one window each take the steps of one process with six windows."""
    pieces = trained("pieces", *options, "strategy=ddp", *cut_into(3), processes=2)
    took_the_same_steps(trained("whole", *options, SIX), pieces)


SIX = "training.per_device_train_batch_size=6"


def cut_into(pieces):
    """Return settings by which a process takes a window at a time, and this many before each step."""
    return "training.per_device_train_batch_size=1", f"training.gradient_accumulation_steps={pieces}"


def took_the_same_steps(whole, pieces):
    assert len(logged(whole)) == 4 and logged(pieces) == pytest.approx(logged(whole), abs=1e-4)
    assert logged(pieces, "grad_norm") == pytest.approx(logged(whole, "grad_norm"), rel=1e-3)


def quiet(line):
    """Report nothing."""


@pytest.fixture(scope="module")
def base(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    (folder / "recipe.yaml").write_text(scratch_recipe(windows, folder / "model"))
    return finetune(folder / "recipe.yaml", set=["training.max_steps=1"], report=quiet).out


@pytest.fixture
def trained(base, windows, scratch_recipe, tmp_path):
    """Return the folder, called ``name``, of the base after more training by the settings."""

    def train(name, *settings, processes=1):
        (tmp_path / "recipe.yaml").write_text(scratch_recipe(windows, tmp_path / name))
        settings = ["model.scratch=null", f"model.base={base}", *settings]
        return finetune(tmp_path / "recipe.yaml", set=settings, processes=processes, report=quiet).out

    return train


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
def test_training_moves_the_attention_to_the_words(trained, windows, options):
    options, found = ("training.max_steps=30", "training.learning_rate=2e-2", SIX, *options), []
    for weight in (0, 5):
        model = checkpoint.load(trained(f"weight-{weight}", f"loss.alignment_weight={weight}", *options))
        batch = batch_of(model, windows)
        spans = batch.pop(TOKEN_SPANS_S)
        recorded = AlignmentLoss(model.model, alignment_heads(model.model), model.time_precision_s)
        model.model.train()(**batch)
        found.append(recorded.loss(spans).item())
    assert found[1] < 0.9 * found[0]


@pytest.mark.slow
@pytest.mark.usefixtures("forked_ranks")
@pytest.mark.parametrize("strategy", ["fsdp2", "zero2", "zero3"])
def test_sharded_weights_give_the_same_steps(trained, strategy):
    if strategy.startswith("zero") and importlib.util.find_spec("deepspeed") is None:
        pytest.skip("DeepSpeed is not installed")
    options = ("model.dropout=0", "loss.alignment_weight=2", "training.gradient_checkpointing=true")
    halves = ("training.per_device_train_batch_size=3", f"strategy={strategy}")
    one, sharded = trained("one", SIX, *options), trained("sharded", *halves, *options, processes=2)
    assert logged(sharded) == pytest.approx(logged(one), abs=1e-4)


def test_word_times_are_needed(trained, windows, tmp_path):
    rows = [manifest.Segment(one.audio_filepath, 0.0, one.duration, one.text) for one in manifest.read(windows)]
    manifest.write(rows, tmp_path / "train.jsonl")
    with pytest.raises(ManifestError, match=r"no row has word times.*lsa-whisper align"):
        trained("out", "loss.alignment_weight=1", f"data.train={tmp_path / 'train.jsonl'}")
    with pytest.raises(RecipeError, match="alignment_weight: pipeline divides the heads"):
        trained("out", "loss.alignment_weight=1", "strategy=pipeline", processes=2)
