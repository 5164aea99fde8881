"""Facts about every published Whisper model: context, positions, timestamp resolution and special tokens.

A checkpoint may differ (a shorter context, another vocabulary); code that has one at hand asks the checkpoint.
Source: Radford et al. 2022 and the configurations of ``openai/whisper-*``.
"""

CONTEXT_S = 30.0
"""Seconds of audio in one encoder window."""
TIMESTAMP_STEP_S = 0.02
"""Resolution of timestamp tokens, in seconds; also the audio behind one encoder position."""
TIMESTAMP_STEP_MS = 20
"""The same in milliseconds."""
ENCODER_POSITIONS = 1500
"""Encoder positions of one window (``max_source_positions``)."""
DECODER_POSITIONS = 448
"""Decoder positions (``max_target_positions``): prompt, labels and special tokens together."""
SPECIAL_TOKENS = (
    "<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>",
    "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>",
)  # fmt: skip
"""Special tokens of a vocabulary with one language, in the order of their ids; timestamps follow."""
