"""The repairs of a window, in order, each with the repairs that its spans get."""

from __future__ import annotations

from typing import Any

from lsa_whisper.transcription.long_form import loops, remainders, skipped, uncertain
from lsa_whisper.transcription.long_form.repair import Repair

_LOOPING_HALVES = Repair(loops.find_in_half, loops.accept_halves)
LOOPS = Repair(loops.find_looping, loops.accept_looping, (_LOOPING_HALVES,))
RESTS = Repair(remainders.find_rest, remainders.accept_rest, (LOOPS,), rounds=remainders.MAX_RESTS)
UNCERTAIN = Repair(uncertain.find_uncertain, uncertain.accept_uncertain, (LOOPS, RESTS))
SKIPPED = Repair(skipped.find_gaps, skipped.accept_gaps, (LOOPS,))

REPAIRS: tuple[Repair[Any], ...] = (LOOPS, RESTS, UNCERTAIN, SKIPPED)
"""All of them; ``SKIPPED`` needs token times. What is decoded across borders gets the same repairs as its windows."""
