"""A folder of CHAT transcripts and recordings -> sessions; corpus cards; who is who.

A transcript's recording is looked for under the name in ``@Media``, then under the transcript's own name, without
regard to case, Unicode form or file ending: first beside the transcript, then at the same place below the media root,
then anywhere below either root if only one folder has it. Names are only ever looked up among the files found there,
so that no ``@Media`` line can reach outside.
"""

from lsa_whisper.corpus.card import CARD_NAME, Card, find_card, read_card
from lsa_whisper.corpus.files import is_transcript, list_transcripts
from lsa_whisper.corpus.session import Session, discover

__all__ = [
    "CARD_NAME",
    "Card",
    "Session",
    "discover",
    "find_card",
    "is_transcript",
    "list_transcripts",
    "read_card",
]
