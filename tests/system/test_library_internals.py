"""The hooks into the trainer exist, and the trainer replaces nothing private."""

from __future__ import annotations

from lint_style import is_private

from lsa_whisper.system import library_internals


def test_the_trainer_overrides_no_private_method():
    from transformers import Seq2SeqTrainer

    from lsa_whisper.finetuning.training.trainer import SpeechTrainer

    own = {name for name in vars(SpeechTrainer) if is_private(name) and not name.startswith("_abc")}
    assert not own & {name for cls in Seq2SeqTrainer.__mro__ for name in vars(cls)}
    assert all(hasattr(Seq2SeqTrainer, name) for name in vars(library_internals.TrainerHooks) if is_private(name))
