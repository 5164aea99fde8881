"""Facts about every published Whisper model: context, positions, timestamp resolution and special tokens.

A checkpoint may differ (a shorter context, another vocabulary); code that has one at hand asks the checkpoint.
Sources: Radford et al. 2022 and the configurations of ``openai/whisper-*``; for CrisperWhisper 2, the prompts and the
added tokens that its authors document.
"""

from __future__ import annotations

CONTEXT_S = 30.0
"""Seconds of audio in one encoder window."""
TIMESTAMP_STEP_S = 0.02
"""Resolution of timestamp tokens, in seconds; also the audio behind one encoder position."""
TIMESTAMP_STEP_MS = 20
"""The same in milliseconds."""
ENCODER_STRIDE = 2
"""Frames behind one encoder position: the stride of the second convolution, which the libraries have built in."""
ENCODER_POSITIONS = 1500
"""Encoder positions of one window (``max_source_positions``)."""
DECODER_POSITIONS = 448
"""Decoder positions (``max_target_positions``): prompt, labels and special tokens together."""
LOGPROB_THRESHOLD = -1.0
"""Mean log-probability of a text below which OpenAI's program takes a window as failed."""
SPECIAL_TOKENS = (
    "<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>",
    "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>",
)  # fmt: skip
"""Special tokens of a vocabulary with one language, in the order of their ids; timestamps follow."""
VERBATIM_TAGS = tuple(f"[verbatim_{number}]" for number in range(1, 6))
"""CrisperWhisper 2: the tokens before ``<|startoftranscript|>`` that request a verbatim transcript."""
INTENDED_TAGS = tuple(f"[intended_{number}]" for number in range(1, 6))
"""CrisperWhisper 2: the same for a transcript without disfluencies."""
CONTEXT_MARKS = ("<ctx>", "<ectx>")
"""CrisperWhisper 2: the tokens around the text of the preceding window."""
PROMPT_MARKS = (*VERBATIM_TAGS, *INTENDED_TAGS, "<vtx>", "<evtx>", *CONTEXT_MARKS, "<htx>", "<ehtx>")
"""CrisperWhisper 2: all tokens that occur in prompts only."""


_SIZES = ("tiny", "base", "small", "medium")
SHORT_NAMES = {
    name: f"openai/whisper-{name}"
    for name in (*_SIZES, *(f"{size}.en" for size in _SIZES), "large", "large-v2", "large-v3", "large-v3-turbo")
} | {"turbo": "openai/whisper-large-v3-turbo"}
"""The hub name of each short name."""
