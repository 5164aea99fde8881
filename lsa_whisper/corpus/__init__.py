"""Sessions of a corpus: transcripts paired with recordings, corpus cards, speaker ids.

A transcript's recording is found by the name in ``@Media``, then by the transcript's own name, ignoring case, Unicode
form and file extension: first next to the transcript, then at the same place below the media root, then anywhere below
either root if only one folder has it. Names are only matched against the files found there, so that no ``@Media`` line
can reach files outside these folders.
"""

from lsa_whisper.corpus.card import find_card, read_card
from lsa_whisper.corpus.files import CLEANED_TEXT
from lsa_whisper.corpus.listed import discover_listed, is_listed
from lsa_whisper.corpus.session import Session, discover, speaker_ids

__all__ = [
    "CLEANED_TEXT",
    "Session",
    "discover",
    "discover_listed",
    "find_card",
    "is_listed",
    "read_card",
    "speaker_ids",
]
