from __future__ import annotations

import json

import pytest
import torch

from lsa_whisper.finetune import finetune
from lsa_whisper.finetune.loss import LETTERS, CtcHead, ExactLoss, cross_entropy


def test_cross_entropy_is_the_sum_over_what_is_to_be_learned():
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


def test_label_smoothing_is_torchs_own():
    logits, labels = torch.randn(1, 2, 5), torch.tensor([[1, -100]])
    wanted = torch.nn.functional.cross_entropy(logits[0, :1], labels[0, :1], label_smoothing=0.1)
    torch.testing.assert_close(cross_entropy(logits, labels, 0.1), wanted)


def test_loss_divides_by_the_items_of_the_whole_step():
    class Outputs:
        logits = torch.randn(1, 2, 5)

    labels = torch.tensor([[1, -100]])
    whole = ExactLoss()(Outputs, labels)
    torch.testing.assert_close(ExactLoss()(Outputs, labels, num_items_in_batch=torch.tensor(4)), whole / 4)


@pytest.mark.parametrize("adapter", ["", "adapter: {rank: 16}"], ids=["full", "lora"])
def test_accumulation_changes_neither_loss_nor_gradient(windows, scratch_recipe, tmp_path, adapter):
    """Six windows at once or one by one: the same steps, though their labels have very unequal lengths."""
    base = tmp_path / "base"
    path = tmp_path / "recipe.yaml"
    path.write_text(scratch_recipe(windows, base))
    finetune(path, set=["training.max_steps=1"], say=lambda _: None)
    curves = {}
    for name, batch, pieces in (("whole", 6, 1), ("pieces", 1, 6)):
        path.write_text(
            f"{{data: {{train: {windows}}}, out: {tmp_path / name}, model: {{base: {base}}},"
            f" training: {{use_cpu: true, max_steps: 4, learning_rate: 1e-2, logging_steps: 1,"
            f" per_device_train_batch_size: {batch}, gradient_accumulation_steps: {pieces}}}}}"
        )
        set = ["adapter.rank=16"] if adapter else []
        finetune(path, set=set, say=lambda _: None)
        lines = (tmp_path / name / "curve.jsonl").read_text().splitlines()
        curves[name] = [json.loads(line) for line in lines if "grad_norm" in line]
    assert len(curves["whole"]) == 4
    for whole, pieces in zip(curves["whole"], curves["pieces"], strict=True):
        assert pieces["loss"] == pytest.approx(whole["loss"], abs=1e-4)
        assert pieces["grad_norm"] == pytest.approx(whole["grad_norm"], rel=1e-3)
