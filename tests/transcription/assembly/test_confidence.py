"""Confidences belong to the right words, are worth what they promise once calibrated, and are listed worst first."""

from __future__ import annotations

import csv
import math
from dataclasses import replace

import numpy as np
import pytest

from lsa_whisper.chat import Participant, compose, utterance
from lsa_whisper.decoding.confidences import Calibration, confidences_path, load_calibration, write_confidences
from lsa_whisper.decoding.decoder import DecodedSegment, parse_segments
from lsa_whisper.errors import CheckpointError
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly import review
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript
from lsa_whisper.transcription.assembly.confidence import (
    fit_calibration,
    save_calibration,
    utterance_confidence,
    word_logprobs,
)
from lsa_whisper.transcription.calibrate import calibration_error, scored_words


def transcript(*texts):
    spoken = [utterance("PAR", text, TimeSpan(1000 * at, 1000 * at + 900)) for at, text in enumerate(texts)]
    return compose(languages=["eng"], participants=[Participant("PAR", "Adult")], utterances=spoken, media="a")


def test_engines_hand_out_the_log_probability_of_each_token():
    stamps = {90: 0.0, 91: 1.0}
    spelled = {7: "um", 8: " I", 9: " go"}

    def text_of(ids):
        return "".join(spelled[each] for each in ids)

    first, second = parse_segments([90, 7, 8, 91, 91, 9], [-9, -1.0, -2.0, -9, -9, -3.0], stamps, 2.0, text_of)
    assert first.logprobs == (("um", -1.0), (" I", -2.0)) and first.closed
    assert second.logprobs == ((" go", -3.0),) and not second.closed


def test_scores_follow_words_through_marks_and_sentences():
    tokens = ("um", " I", " /", " I", " w", "ant", ".", " no", ".")
    segment = DecodedSegment(
        "um I / I want. no.", 0, 2, logprobs=tuple((text, -float(at)) for at, text in enumerate(tokens))
    )
    made = [utterance("PAR", "&-um I [/] I want ."), utterance("PAR", "no .")]
    assert word_logprobs(made, segment) == [(0.0, -1.0, -3.0, -4.5), (-7.0,)]
    assert word_logprobs(made, DecodedSegment("um I / I want. no.", 0, 2)) == [(None,) * 4, (None,)]


def test_an_utterance_is_as_sure_as_its_words_on_average():
    assert utterance_confidence((None, None), Calibration()) is None
    assert utterance_confidence((math.log(0.5), math.log(1.0)), Calibration()) == pytest.approx(0.75, abs=1e-3)


def test_calibration_finds_the_line_that_made_the_errors():
    random = np.random.default_rng(0)
    chances = random.uniform(0.05, 0.99, 20_000)
    truth = 1 / (1 + np.exp(-(0.6 * np.log(chances / (1 - chances)) - 0.8)))
    right = (random.uniform(size=len(truth)) < truth).tolist()
    logprobs = np.log(chances).tolist()
    found = fit_calibration(logprobs, right)
    assert found.slope == pytest.approx(0.6, abs=0.03) and found.intercept == pytest.approx(-0.8, abs=0.05)
    before, after = (calibration_error([curve(x) for x in logprobs], right) for curve in (Calibration(), found))
    assert before > 0.15 and after < 0.02


@pytest.mark.parametrize("right", [[True] * 4, [False] * 4, [True, True, False, False]])
def test_doubts_that_say_nothing_are_refused(right):
    with pytest.raises(CheckpointError, match="calibration"):
        fit_calibration([-2.0, -2.0, -0.1, -0.1], right)


def test_separable_words_give_a_finite_fit():
    found = fit_calibration([-3.0] * 50 + [-0.01] * 50, [False] * 50 + [True] * 50)
    assert math.isfinite(found.slope) and 0.9 < found(-0.01) < 1 and found(-3.0) < 0.1


def test_a_calibration_is_stored_with_the_model(tmp_path):
    assert load_calibration(tmp_path) == Calibration() == load_calibration("openai/whisper-small")
    save_calibration(Calibration(0.5, -0.25, 300), tmp_path)
    assert load_calibration(tmp_path) == Calibration(0.5, -0.25, 300)
    for bad in ("{", "[]", '{"slope": -1}', '{"slope": "x"}', '{"slope": NaN}', '{"curve": 1}'):
        (tmp_path / "calibration.json").write_text(bad)
        with pytest.raises(CheckpointError, match="is not a calibration"):
            load_calibration(tmp_path)


def test_words_are_judged_against_the_reference():
    heard = ScoredTranscript(
        transcript("&-um I want a cat .", "so xxx ."), ((-1.0, -2.0, None, -4.0, -5.0), (-6.0, -7.0))
    )
    said = transcript("&-um I want the cat .", "so xxx .")
    assert scored_words(said, heard) == [(-1.0, True), (-2.0, True), (-4.0, False), (-5.0, True), (-6.0, True)]


def test_the_review_lists_the_doubtful_worst_first(tmp_path):
    sure, half, low = math.log(0.99), math.log(0.5), math.log(0.1)
    made = ScoredTranscript(transcript("I want it .", "no , never ."), ((sure, half, None), (sure, low)))
    kept = review.confidences_of(made, "a.wav", Calibration())
    rows = review.low_confidence_rows(kept)
    assert [(row["kind"], row["text"], row["confidence"]) for row in rows] == [
        ("word", "never", 0.1),
        ("word", "want", 0.5),
        ("utterance", "no , never .", 0.545),
        ("utterance", "I want it .", 0.745),
    ]
    assert (rows[0]["start_ms"], rows[0]["utterance"]) == (1000, "no , never .")
    for name, some in (("a.cha", kept.utterances[:1]), ("b.cha", kept.utterances[1:])):
        write_confidences(replace(kept, utterances=some), confidences_path(tmp_path / name))
    without = review.collect_reviews(
        [tmp_path / name for name in ("a.cha", "b.cha", "c.cha")], tmp_path / "deep" / "all.csv"
    )
    assert without == [tmp_path / "c.cha"]
    with (tmp_path / "deep" / "all.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["text"] for row in table] == [row["text"] for row in rows]
    assert tuple(table[0]) == review.REVIEW_COLUMNS
