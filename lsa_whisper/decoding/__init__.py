"""Audio windows -> timed text segments: the interface of a decoding engine, and one module per library."""

import os

# What PyTorch cannot compute on Apple's GPU, the CPU computes. PyTorch reads this when it is imported.
os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")
