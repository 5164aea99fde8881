"""Retraces found from words alone: ``[/]``, ``[//]`` and ``[///]`` set where a speaker took words back."""

from lsa_whisper.retraces.mark import Mark, MarkedText, mark_retraces
from lsa_whisper.retraces.tagger import CAREFUL, THRESHOLD

__all__ = ["CAREFUL", "THRESHOLD", "Mark", "MarkedText", "mark_retraces"]
