"""The command line: each command parses options, makes one call to a library function, and prints.

A command's parameters are its function's parameters, by name; ``VERBS`` says which function that is.
"""

from lsa_whisper.cli import batchalign, evaluating, machine, preparing, training, transcribing
from lsa_whisper.cli.group import VERBS, main

__all__ = ["VERBS", "batchalign", "evaluating", "machine", "main", "preparing", "training", "transcribing"]
