"""CHAT: lossless reading and writing, checks, words, disfluencies and FluCalc counts; standard library only."""

from lsa_whisper.chat.checks import check
from lsa_whisper.chat.disfluencies import Disfluency
from lsa_whisper.chat.fix import fix
from lsa_whisper.chat.fluency import Fluency
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import Utterance, utterance
from lsa_whisper.chat.model import Participant, Transcript
from lsa_whisper.chat.parse import parse, read
from lsa_whisper.chat.reading import Event
from lsa_whisper.chat.serialize import compose, serialize, write
from lsa_whisper.chat.syllables import syllables

__all__ = [
    "Disfluency",
    "Event",
    "Fluency",
    "Line",
    "Participant",
    "Problem",
    "Transcript",
    "Utterance",
    "check",
    "compose",
    "fix",
    "parse",
    "read",
    "serialize",
    "syllables",
    "utterance",
    "write",
]
