"""What a report shows of each utterance: its words, its pauses, and the disfluencies that were missed or made up."""

from collections import Counter

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import score_file

REFERENCE = [
    "&-um I want [/] want (.) the ball .",
    "(.) <the dog> [//] the cat (..) ran &+aw away (.) .",
    "no .",
    "we went &-uh ↫b-b↫back s:o home .",
]
OTHERS = {
    "same": REFERENCE,
    "nothing": [],
    "words only": ["um I want want the ball .", "the dog the cat ran aw away .", "no .", "we went uh back so home ."],
    "made up": ["I &-uh want the (.) ball .", "the cat [/] cat ran away .", "(.) no [/] no .", "we went home (.) ."],
    "one utterance": ["um I want want (.) the ball (.) the dog the cat ran no we (.) went uh back so home ."],
}


def scored(other):
    sides = [ParsedTranscript([chat.utterance("CHI", text) for text in texts], {}) for texts in (REFERENCE, other)]
    return score_file("file", *sides)


@pytest.mark.parametrize("other", OTHERS)
def test_missed_and_made_up_are_those_that_are_counted(other):
    found = scored(OTHERS[other])
    missed = Counter(kind for row in found.aligned for kind in row.missed)
    made_up = Counter(kind for row in found.aligned for kind in row.false_alarms)
    for kind in SCORED:
        counts = found.disfluency[kind].false_negatives, found.disfluency[kind].false_positives
        assert (missed[kind], made_up[kind]) == counts, kind


def test_each_is_shown_at_its_utterance():
    rows = scored(OTHERS["made up"]).aligned
    assert [Counter(row.false_alarms) for row in rows] == [
        {Disfluency.FILLED_PAUSE: 1, Disfluency.PAUSE: 1},
        {Disfluency.REPETITION: 1},
        {Disfluency.REPETITION: 1},  # its pause is that of the reference before it
        {Disfluency.PAUSE: 1},
    ]
    assert Disfluency.REVISION in rows[1].missed and Disfluency.REPETITION in rows[0].missed


def test_pauses_stand_between_the_words():
    rows = [row.columns_with_pauses for row in scored(OTHERS["same"]).aligned]
    texts = [[column.reference for column in row] for row in rows]
    assert texts[0] == ["um", "I", "want", "want", "(.)", "the", "ball"]
    assert texts[1] == ["(.)", "the", "dog", "the", "cat", "(.)", "ran", "aw-", "away", "(.)"]
    assert all(column.hypothesis == column.reference for row in rows for column in row)
    (pause,) = (c for c in scored(OTHERS["words only"]).aligned[0].columns_with_pauses if c.operation == "p")
    assert (pause.reference, pause.hypothesis) == ("(.)", "")
