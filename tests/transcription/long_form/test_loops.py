"""A speaker's repetitions survive; a model's loops do not."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_whisper import silence, voice

from lsa_whisper import chat, checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.long_form.decode import decode_repaired
from lsa_whisper.transcription.long_form.loops import has_loop, truncate_loops
from lsa_whisper.transcription.long_form.repair import Sound
from lsa_whisper.transcription.long_form.repairs import LOOPS


def decode_without_loops(decoder, windows, speech=None):
    """A window's speech is all of it unless it is given."""
    return decode_repaired(decoder, [Sound(samples, speech) for samples in windows], (LOOPS,))


def window(text, duration_s, *, complete=True):
    return DecodedWindow((DecodedSegment(text, 0.0, duration_s),), complete=complete)


@pytest.mark.parametrize(
    ("text", "duration_s"),
    [
        ("I [/] I [/] I [/] I want it .", 1.4),
        ("I I I I want", 1.0),
        ("no no no no no no no no .", 2.0),
        ("<I want> [/] <I want> [/] <I want> [/] <I want> [/] I want it .", 2.5),
        ("↫b-b-b-b-b↫ball .", 1.5),
        ("ha ha ha ha ha ha ha ha ha ha .", 2.2),
        ("so:::::: long .", 1.5),
        ("&-um &-um &-um &-um &-um .", 2.0),
        ("", 0.0),
    ],
)
def test_plausible_speech_is_no_loop(text, duration_s):
    assert not has_loop(window(text, duration_s))
    assert truncate_loops(window(text, duration_s)).segments[0].text == text


@pytest.mark.parametrize(
    ("text", "duration_s"),
    [
        ("I [/] " * 40 + "I want .", 2.0),
        ("then look to" + " look to" * 60, 4.0),
        ("b" + "ian" * 80, 3.4),
        ("and so on and on " * 12, 3.0),
    ],
)
def test_text_too_long_for_its_time_is_cut(text, duration_s):
    looping = window(text, duration_s)
    assert has_loop(looping)
    cut = truncate_loops(looping)
    assert not has_loop(cut)
    assert 0 < len(cut.segments[0].text) < len(text)
    assert text.startswith(cut.segments[0].text[:4])


def test_a_loop_that_has_lost_the_sound_leaves_three_copies():
    assert truncate_loops(window("then where " + "where " * 160, 5.0)).segments[0].text.split() == [
        "then",
        *["where"] * 3,
    ]
    assert truncate_loops(window("I " * 12, 1.0)).segments[0].text == "I " * 8  # a person may have said some of these


def test_a_repetition_that_does_not_end_is_a_loop_however_long_the_window():
    assert has_loop(window("and then " + "the dog " * 6, 30.0, complete=False))
    assert not has_loop(window("and then " + "the dog " * 6, 30.0))
    assert not has_loop(window("no no no no no I want to go home now please", 30.0, complete=False))


class Scripted:
    """A decoder that loops on every window longer than ``longest`` samples, and counts what it is asked."""

    def __init__(self, longest):
        self.longest, self.asked = longest, []

    def decode(self, windows):
        self.asked += [len(each) for each in windows]
        text = {True: "the dog " * 99, False: "the dog ."}
        return [window(text[len(each) > self.longest].strip(), len(each) / 16_000) for each in windows]


def test_only_a_window_with_a_loop_is_decoded_again_in_halves():
    decoder = Scripted(longest=5 * 16_000)
    short, long = decode_without_loops(decoder, [voice(4), voice(6)])
    assert len(decoder.asked) == 4 and sum(decoder.asked[2:]) == 6 * 16_000
    assert not short.retried and long.retried
    assert [segment.text for segment in long.segments] == ["the dog .", "the dog ."]
    assert long.segments[1].start_s == decoder.asked[2] / 16_000
    assert long.segments[1].end_s == pytest.approx(6.0)


def test_a_loop_that_remains_is_truncated_to_its_time():
    (result,) = decode_without_loops(Scripted(longest=0), [voice(6)])
    words = sum(len(segment.text.split()) for segment in result.segments)
    # Eight words a second, and the last copy of each quarter, after which no further copy comes.
    assert result.retried and result.truncated and 8 <= words <= 6 * 8 + 8 and not has_loop(result)


def test_the_transcript_reports_loops(scripted, visit, monkeypatch):
    decode = TransformersDecoder.decode
    monkeypatch.setattr(TransformersDecoder, "decode", lambda self, sounds: Scripted(longest=0).decode(sounds))
    transcript = Transcriber(scripted).transcribe(Recording.open(visit)).transcript
    text = chat.serialize(transcript)
    assert "repeated itself at 0.8 to" in text and "surplus copies were removed" in text
    assert chat.check(transcript) == []
    monkeypatch.setattr(TransformersDecoder, "decode", decode)
    assert "repeated itself" not in chat.serialize(Transcriber(scripted).transcribe(Recording.open(visit)).transcript)


def test_a_real_stutter_is_decoded_once(scripted):
    decoder = TransformersDecoder(checkpoint.load(scripted))
    (result,) = decode_without_loops(decoder, [voice(4)])
    assert not result.retried and result == decoder.decode([voice(4)])[0]


def minute(text, copies, *, every_s, length_s=0.6, **marks):
    """A window in which a sentence is said again and again."""
    segments = [DecodedSegment(text, every_s * n, every_s * n + length_s, **marks) for n in range(copies)]
    return DecodedWindow(tuple(segments))


def test_a_repeated_sentence_is_a_loop_only_without_speech():
    window = minute("thank you .", 8, every_s=3.0)
    everywhere, at_first = [(0.0, 24.0)], [(0.0, 1.0)]
    assert not has_loop(window) and not has_loop(window, everywhere)
    assert truncate_loops(window, everywhere) == window
    assert has_loop(window, at_first)
    assert [segment.start_s for segment in truncate_loops(window, at_first).segments] == [0.0]


def test_a_sentence_that_is_said_very_fast_is_not_a_loop():
    window = minute("I don't know what to say .", 8, every_s=1.1, length_s=0.82)
    spoken = [(1.1 * n, 1.1 * n + 0.7) for n in range(8)]  # the last sound is softer than the threshold
    assert not has_loop(window, spoken) and truncate_loops(window, spoken) == window


def test_sentences_that_come_round_are_copies_too_and_three_of_a_kind_are_not():
    round_ = [DecodedSegment(text, n, n + 0.8) for n, text in enumerate(["come here .", "no no ."] * 5)]
    assert has_loop(DecodedWindow(tuple(round_)), [(0.0, 1.8)])
    assert len(truncate_loops(DecodedWindow(tuple(round_)), [(0.0, 1.8)]).segments) == 2
    assert not has_loop(minute("no .", 3, every_s=3.0), [(0.0, 0.5)])


@pytest.mark.parametrize(
    ("text", "duration_s", "logprob", "is_loop"),
    [
        ("no " * 24 + ".", 8.0, -0.01, False),
        ("no " * 24 + ".", 8.0, -0.5, False),
        ("no " * 24 + ".", 8.0, -1.5, True),
        ("no " * 24 + ".", 4.0, -0.01, True),
        ("no " * 24 + ".", 4.0, -0.5, False),
        ("I want to go home now and then we can play outside again .", 2.6, -1.5, False),
        ("b- b- b- b- ball .", 1.2, -1.5, False),
    ],
)
def test_compression_counts_only_together_with_the_probability(text, duration_s, logprob, is_loop):
    assert has_loop(DecodedWindow((DecodedSegment(text, 0.0, duration_s, logprob),))) == is_loop


def test_a_half_that_still_loops_is_halved_once_more():
    decoder = Scripted(longest=2.5 * 16_000)
    (result,) = decode_without_loops(decoder, [np.tile(np.append(voice(1.4), silence(0.1)), 4)])
    assert result.retried and not result.truncated and not has_loop(result)
    assert sum(decoder.asked[1:3]) == 6 * 16_000 and max(decoder.asked[3:], default=0) <= 2.5 * 16_000
    assert [segment.start_s for segment in result.segments] == sorted(segment.start_s for segment in result.segments)


def test_speech_is_known_in_the_halves_too():
    batches = []

    class Everywhere(Scripted):
        def decode(self, windows):
            batches.append(len(windows))
            return [minute("thank you .", 8, every_s=len(each) / 16_000 / 8, length_s=0.5) for each in windows]

    (result,) = decode_without_loops(Everywhere(0), [voice(8)], [(0.0, 0.5), (7.5, 8.0)])
    assert result.truncated and len(batches) == 3 and 1 <= len(result.segments) < 16


def beats(count, seconds):
    """A tone with so many syllables, evenly spaced."""
    time_s = np.arange(round(seconds * 16_000)) / 16_000
    swell = np.abs(np.sin(np.pi * count * time_s / seconds))
    return (0.3 * np.sin(2 * np.pi * 300 * time_s) * swell).astype(np.float32)


class Uncertain(Scripted):
    """Writes "log" so often that the time allows it, with near certainty."""

    def decode(self, windows):
        self.asked += [len(each) for each in windows]
        lengths_s = [len(each) / 16_000 for each in windows]
        return [DecodedWindow((DecodedSegment("log " * round(7 * s) + ".", 0.0, s, -0.01),)) for s in lengths_s]


@pytest.mark.parametrize("syllables", [4, 12])
def test_a_loop_that_the_time_allows_is_cut_to_the_syllables_of_the_sound(syllables):
    (result,) = decode_without_loops(Uncertain(0), [beats(syllables, 5.5)], ((0.0, 5.5),))
    text = " ".join(segment.text for segment in result.segments)
    assert result.truncated and abs(text.count("log") - syllables) <= 4
    removed = sum(int(each.split()[0]) for each in result.removed)
    assert all(each.endswith('times "log"') for each in result.removed) and 36 <= removed + text.count("log") <= 40


def test_what_was_removed_stays_in_a_comment(scripted, visit, monkeypatch):
    monkeypatch.setattr(TransformersDecoder, "decode", lambda self, sounds: Uncertain(0).decode(sounds))
    result = Transcriber(scripted).transcribe(Recording.open(visit))
    assert 'times "log"' in chat.serialize(result.transcript) and chat.check(result.transcript) == []
    assert any('times "log"' in each for each in result.remarks)
