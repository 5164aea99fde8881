"""The repairs of a window, in order, each with the repairs that its spans get."""

from __future__ import annotations

from typing import Any

from lsa_whisper.transcription.long_form import loops, remainders, skipped, uncertain
from lsa_whisper.transcription.long_form.repair import Repair

_LOOPING_HALVES = Repair(loops.find_in_half, loops.accept_halves)
LOOPS = Repair(loops.find, loops.accept, (_LOOPING_HALVES,))
RESTS = Repair(remainders.find, remainders.accept, (LOOPS,), rounds=remainders.MAX_RESTS)
UNCERTAIN = Repair(uncertain.find, uncertain.accept, (LOOPS, RESTS))
SKIPPED = Repair(skipped.find, skipped.accept, (LOOPS,))

REPAIRS: tuple[Repair[Any], ...] = (LOOPS, RESTS, UNCERTAIN, SKIPPED)
"""All of them; ``SKIPPED`` needs token times. What is decoded across borders gets the same repairs as its windows."""
