"""Retraces found from words alone: ``[/]``, ``[//]`` and ``[///]`` set where a speaker took words back."""

from lsa_whisper.retraces.mark import Mark, MarkedText, add_retraces, mark_all_retraces, mark_retraces
from lsa_whisper.retraces.tagger import CAREFUL, THRESHOLD, Tagger, tagger_for

__all__ = [
    "CAREFUL",
    "THRESHOLD",
    "Mark",
    "MarkedText",
    "Tagger",
    "add_retraces",
    "mark_all_retraces",
    "mark_retraces",
    "tagger_for",
]
