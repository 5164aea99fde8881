"""Disfluencies spliced into fluent speech: the same speaker's own sounds, changed together with the CHAT tier.

An utterance with word times becomes a new one with one or two more disfluencies. Nothing is synthesized that could be
taken from the recording: fillers, wrong words and copies are cut out of the same speaker's speech in the same
recording, silences are filled with the noise of the room, and only prolonged sounds are stretched. :mod:`.profile`
counts how often, where and how long each class is in a corpus; :mod:`.plan` decides what is written and which sounds
stand for it; :mod:`.render` and :mod:`.sound` cut and join.

Invariant: a spliced utterance has the fluent words of its original, and its disfluencies are those of the original and
the intended ones (:func:`lsa_whisper.splice.plan.write_edits` rejects all else).
"""

from lsa_whisper.splice.profile import FLUENT_ADULTS, DisfluencyProfile, count_profile, read_profile
from lsa_whisper.splice.recording import SplicedSpeech, splice_speech

__all__ = ["FLUENT_ADULTS", "DisfluencyProfile", "SplicedSpeech", "count_profile", "read_profile", "splice_speech"]
