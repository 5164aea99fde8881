"""Training data for Whisper: a manifest as log-mel features and label ids, and batches of them."""

from lsa_whisper.dataset.collator import IGNORE_INDEX, TOKEN_SPANS_S, Collator
from lsa_whisper.dataset.label_encoder import LabelEncoder
from lsa_whisper.dataset.windows import StepIndex, WindowDataset

__all__ = ["IGNORE_INDEX", "TOKEN_SPANS_S", "Collator", "LabelEncoder", "StepIndex", "WindowDataset"]
