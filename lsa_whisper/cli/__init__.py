"""The command line: each command parses options, makes one call to a library function, and prints.

A command's parameters are its function's parameters, by name; ``VERBS`` names it.
"""

from lsa_whisper.cli import evaluating, preparing, training, transcribing, transcripts
from lsa_whisper.cli.group import VERBS, function_of, main

__all__ = [
    "VERBS",
    "evaluating",
    "function_of",
    "main",
    "preparing",
    "training",
    "transcribing",
    "transcripts",
]
