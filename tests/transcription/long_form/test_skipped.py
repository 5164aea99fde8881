"""Speech between two words that no word covers is decoded once more, and its words take their place in the text."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import soundfile

from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech_energy import find_speech
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.decoding.no_speech import NEVER_SILENT
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.long_form.decode import LongFormDecoder, decode_repaired
from lsa_whisper.transcription.long_form.repair import Sound
from lsa_whisper.transcription.long_form.repairs import PASSAGES, REPAIRS
from lsa_whisper.transcription.long_form.repairs import SKIPPED as SKIPPED_REPAIR

RATE_HZ = 16_000


def timed(*words):
    """A segment of (text of a token, its start in seconds); a token lasts 0.2 s, a mark no time."""
    tokens = tuple(TimedToken(text, at_s, at_s + 0.2 * any(map(str.isalnum, text))) for text, at_s in words)
    text = "".join(token.text for token in tokens).strip()
    scored = tuple((token.text, -0.1) for token in tokens)
    return DecodedSegment(text, tokens[0].start_s, tokens[-1].end_s, -0.1, tokens, scored)


class Scripted:
    """Writes ``whole`` for the first window, and what ``parts`` holds for the sounds of its gaps, in order."""

    batch_size = 8

    def __init__(self, whole, *parts):
        self.answers, self.decoded_s = [whole, *parts], []

    def decode(self, windows):
        self.decoded_s += [round(len(window) / RATE_HZ, 2) for window in windows]
        answers, self.answers = self.answers[: len(windows)], self.answers[len(windows) :]
        return [
            each if isinstance(each, DecodedWindow) else DecodedWindow(tuple(each), -0.1, tokens=9) for each in answers
        ]


def speech(seconds, silences=()):
    """Noise as loud as speech, but for the silences."""
    sound = np.random.default_rng(0).normal(0, 0.1, round(seconds * RATE_HZ)).astype(np.float32)
    for start_s, end_s in silences:
        sound[round(start_s * RATE_HZ) : round(end_s * RATE_HZ)] *= 1e-4
    return sound


def decode(decoder, sound, heard=None):
    intervals = heard or ((0.0, len(sound) / RATE_HZ),)
    (result,) = decode_repaired(decoder, [Sound(sound, intervals, RATE_HZ)], REPAIRS)
    return result


SKIPPED = [timed((" I", 0.1), (" think", 2.5), (" so", 2.8), (".", 3.0))]
FOUND = [timed((" still", 0.3), (" think", 0.6), (" it's", 0.9), (".", 1.1))]


def test_skipped_words_become_a_part_of_the_utterance_around_them():
    decoder = Scripted(SKIPPED, FOUND)
    (segment,) = decode(decoder, speech(3.1)).segments
    assert segment.text == "I still think it's think so."
    assert [pair[0] for pair in segment.logprobs] == [token.text for token in segment.timed]
    assert "".join(token.text for token in segment.timed).strip() == segment.text
    starts = [token.start_s for token in segment.timed]
    assert starts == sorted(starts) and starts[1] == pytest.approx(0.3 + 0.2)  # the sound began 0.1 s before the gap
    assert decoder.decoded_s == [3.1, pytest.approx(2.4, abs=0.01)]


def test_words_that_are_outside_the_gap_are_not_written_twice():
    found = [timed((" still", 0.3), (" think", 2.3), (".", 2.5))]
    (segment,) = decode(Scripted(SKIPPED, found), speech(3.1)).segments
    assert segment.text == "I still think so."


def test_between_two_utterances_they_are_an_utterance_of_their_own():
    whole = [timed((" one", 0.1), (".", 0.3)), timed((" six", 3.5), (".", 3.7))]
    decoder = Scripted(whole, [timed((" *CHI:", 0.2), (" two", 0.2), (" three", 0.6), (".", 0.8))])
    result = decode(decoder, speech(3.8))
    assert [segment.text for segment in result.segments] == ["one.", "*CHI: two three.", "six."]
    times = [(segment.start_s, segment.end_s) for segment in result.segments]
    assert all(one[1] <= other[0] for one, other in pairwise(times))


def test_a_speaker_code_does_not_enter_the_utterance_of_another():
    whole = [timed((" *MOT:", 0.1), (" no", 0.1), (" dear", 2.5), (".", 2.7))]
    decoder = Scripted(whole, [timed((" *MOT:", 0.3), (" no", 0.3), (" no", 0.7), ("?", 0.9))])
    assert [segment.text for segment in decode(decoder, speech(2.8)).segments] == ["*MOT: no no no dear."]


def test_speech_before_the_first_word_and_after_the_last_is_found():
    whole = [timed((" two", 1.5), (".", 1.7))]
    decoder = Scripted(whole, [timed((" one", 0.4), (".", 0.6))], [timed((" three", 0.4), (".", 0.6))])
    result = decode(decoder, speech(3.2))
    assert [segment.text for segment in result.segments] == ["one.", "two.", "three."]


@pytest.mark.parametrize(
    "found",
    [
        DecodedWindow((), -0.1),
        DecodedWindow(tuple(FOUND), -0.2, tokens=9),
        [timed((" well", 2.32), (".", 2.5))],
        [DecodedSegment("still think it's .", 0.3, 1.1, -0.1)],
    ],
    ids=["no words", "less probable than the rest", "words after the gap", "no token times"],
)
def test_nothing_is_added_without_probable_words_in_the_gap(found):
    (segment,) = decode(Scripted(SKIPPED, found), speech(3.1)).segments
    assert segment.text == "I think so."


@pytest.mark.parametrize(
    ("silences", "heard"),
    [([(0.4, 2.4)], None), ([], ((0.0, 0.5), (2.4, 3.1)))],
    ids=["a pause inside speech", "no speech"],
)
def test_a_pause_is_not_decoded(silences, heard):
    decoder = Scripted(SKIPPED)
    assert decode(decoder, speech(3.1, silences), heard).segments == tuple(SKIPPED)
    assert decoder.decoded_s == [3.1]


@pytest.mark.parametrize("word_times", [True, False])
def test_token_times_are_returned_on_request_only(word_times, tmp_path):
    soundfile.write(tmp_path / "skipped.wav", speech(9.1, [(0.0, 3.0), (6.1, 9.1)]), RATE_HZ)
    recording = Recording.open(tmp_path / "skipped.wav")
    activity = find_speech(recording.stream(), RATE_HZ)
    lengths, rules = {"context_s": 30.0, "window_s": 30.0}, {"repairs": REPAIRS, "silence": NEVER_SILENT}
    decoder = LongFormDecoder(Scripted(SKIPPED, FOUND), **lengths, **rules, word_times=word_times)
    ((_, result),) = decoder.decode(recording, activity)
    assert result.segments[0].text == "I still think it's think so."
    assert all(bool(segment.timed) is word_times for segment in result.segments)


def test_a_silent_window_and_one_without_token_times_stay_as_they_are():
    untimed = [DecodedSegment("I think so .", 0.0, 3.1, -0.1)]
    for answer in (DecodedWindow((), -0.1, silent=True), DecodedWindow(tuple(untimed), -0.1)):
        decoder = Scripted(answer)
        assert decode(decoder, speech(3.1)) == answer and decoder.decoded_s == [3.1]


def without_timestamps(*segments):
    return DecodedWindow(tuple(replace(each, closed=False) for each in segments), -0.1, tokens=9)


SURE = without_timestamps(timed((" one", 0.1), (".", 0.3)))
LEFT_OUT = DecodedWindow((timed((" two", 0.4), (" three", 2.0), (".", 2.2)),), -0.5, tokens=9)


def passages(decoder, sound):
    (result,) = decode_repaired(decoder, [Sound(sound, ((0.0, len(sound) / RATE_HZ),), RATE_HZ)], (PASSAGES,))
    return [segment.text for segment in result.segments]


def test_a_passage_that_a_model_without_timestamps_leaves_out_need_only_be_nearly_right():
    decoder = Scripted(SURE, LEFT_OUT)
    assert passages(decoder, speech(4.0)) == ["one.", "two three."]
    assert decoder.decoded_s == [4.0, pytest.approx(3.8, abs=0.01)]


@pytest.mark.parametrize(
    "other", [{"avg_logprob": -0.9}, {"complete": False}, {"language": "cy"}, {"no_speech_prob": 0.4}]
)
def test_a_passage_that_is_doubtful_is_left_out(other):
    assert passages(Scripted(SURE, replace(LEFT_OUT, **other)), speech(4.0)) == ["one."]


@pytest.mark.parametrize(
    ("whole", "seconds"),
    [
        (SURE, 2.5),
        (replace(SURE, avg_logprob=-0.5), 4.0),
        (replace(SURE, segments=(timed((" one", 0.1), (".", 0.3)),)), 4.0),
        (DecodedWindow((), -0.1), 4.0),
        (without_timestamps(timed((" one", 0.1), (" extraordinarily", 0.3), (" incomprehensible", 0.5))), 4.0),
    ],
    ids=["not a passage", "hard to understand", "timestamps, which show the rest", "no words at all", "wrong times"],
)
def test_other_gaps_are_not_decoded(whole, seconds):
    decoder = Scripted(whole)
    passages(decoder, speech(seconds))
    assert decoder.decoded_s == [seconds]


@pytest.mark.parametrize(
    ("find_skipped", "searched"), [(None, (True, False)), (True, (True, True)), (False, (False, False))]
)
def test_who_wants_no_search_gets_none(scripted, find_skipped, searched):
    repairs = Transcriber(scripted, find_skipped=find_skipped)._long_form.repairs
    assert (PASSAGES in repairs, SKIPPED_REPAIR in repairs) == searched
