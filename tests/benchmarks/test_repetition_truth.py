"""What the benchmarks of repetitions and of sounds without speech count."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import repetition_truth
from benchmarks.invented_speech import Placed, measure
from benchmarks.repetition_rules import copies_in, without_loops, without_repeated
from benchmarks.repetition_truth import Counts
from benchmarks.true_repetitions import Phrase, Repeated
from lsa_whisper.chat import utterance
from lsa_whisper.timespan import TimeSpan


def test_a_ban_on_repeated_rows_of_tokens_cuts_true_repetitions():
    assert without_repeated([1, 2, 3, 4, 1, 2, 3, 4, 5]) == [1, 2, 3, 4, 1, 2, 3, 5]
    assert without_repeated([1, 2, 3, 1, 2, 3]) == [1, 2, 3, 1, 2, 3] and without_repeated([]) == []
    assert copies_in(["so", "ask", "not", "ask", "not", "ask", "what"], ["ask", "not"]) == 2


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [
        ([7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 9], [7, 1, 2, 3, 9]),
        ([1, 2, 3, 1, 2, 3, 9], [1, 2, 3, 1, 2, 3, 9]),
        ([5] * 7, [5] * 7),
        ([5] * 8, [5]),
        ([], []),
    ],
)
def test_the_rule_of_others_cuts_true_repetitions(tokens, kept):
    assert without_loops(tokens) == kept


def test_copies_are_kept_deleted_or_invented():
    said = [Repeated(Path(str(copies)), Phrase("a.flac", 0, 1, "ask not"), copies) for copies in (3, 5, 8)]
    written = {"3": ["ask"] * 4, "5": ["ask"] * 5, "8": ["so", "ask"], "noise": ["thank", "you"]}
    found = repetition_truth.measure(lambda: lambda path: written[str(path)], said, [Path("noise")])
    assert Counts(16, 9, 1, 2).figures().items() <= found.items()
    assert found["deleted"] == 7 and found["kept_percent"] == 56.2
    assert found["written_of_3_5_8"] == {"ask not": [4, 5, 1]}


def test_a_missing_program_is_named():
    def load():
        raise ImportError("no such package")

    assert repetition_truth.measure(load, [], []) == "not installed (no such package)"


class Written:
    """A transcriber that writes two utterances into every recording."""

    def transcribe(self, path):
        said = [utterance("PAR", "ask not .", TimeSpan(0, 900)), utterance("PAR", "thank you .", TimeSpan(900, 3000))]
        return type("Result", (), {"transcript": type("Transcript", (), {"utterances": said})()})()


def test_utterances_in_a_sound_are_invented_and_the_others_have_errors():
    found = measure(
        Written(),
        [Placed("rain", Path("a"), TimeSpan(0, 5000)), Placed("rain", Path("b"), TimeSpan(1000, 5000), "ask")],
        "",
    )
    assert found == {
        "invented_utterances": 3,
        "errors_around": {"rain": 1},
        "alone": {"rain": ["ask not .", "thank you ."]},
        "between": {"rain": ["thank you ."]},
    }


def test_what_is_said_beside_a_sound_is_not_invented():
    found = measure(Written(), [Placed("hum", Path("c"), TimeSpan(0, 5000), "do not ask not", "so")], "")
    assert found["between"] == {"hum": ["thank you ."]} and found["errors_around"] == {"hum": 3}
