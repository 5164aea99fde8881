"""Two texts of a window: which words are taken, and that none of them is lost or moved."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_whisper import build_checkpoint, voice

from lsa_whisper import checkpoint
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.text_limits import tokens_per_s
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.decoding.two_texts import likelier_text, likelier_texts
from lsa_whisper.decoding.window_decoder import LastEncoded
from lsa_whisper.labels import Labels


def window(text, start_s=0.0, step_s=0.5, **options):
    """A text whose words have the probability written behind them (``cat/.9``, else 0.9), one token each."""
    words = [word.partition("/") for word in text.split()]
    tokens = tuple((f" {word}", math.log(float(probability or 0.9))) for word, _, probability in words)
    timed = tuple(
        TimedToken(token, start_s + at * step_s, start_s + (at + 1) * step_s) for at, (token, _) in enumerate(tokens)
    )
    joined = "".join(token for token, _ in tokens).strip()
    segments = (DecodedSegment(joined, 0.0, 30.0, -0.4, timed, tokens),) if tokens else ()
    return DecodedWindow(segments, -0.4, **options)


def untimed(text):
    return replace(text, segments=tuple(replace(segment, timed=()) for segment in text.segments))


CASES = {
    "fillers": ("um we uh went home", "we went home", "um we uh went home"),
    "an unsure filler": ("um/.3 we went home", "we went home", "um/.3 we went home"),
    "a repetition": ("I/.4 I want it", "I want it", "I/.4 I want it"),
    "a repetition around a filler": ("we had/.3 um we had a dog", "we had a dog", "we had/.3 um we had a dog"),
    "a cut-off": ("a wo-/.4 woman", "a woman", "a wo-/.4 woman"),
    "a loss": ("nothing going on", "nothing else/.8 going on", "nothing else/.8 going on"),
    "an unsure loss": ("nothing going on", "nothing else/.3 going on", "nothing going on"),
    "a gain": ("so first of all we went", "we went", "so first of all we went"),
    "an unsure gain": ("so/.2 first/.2 we went", "we went", "we went"),
    "an unsure gain with a filler": ("so/.2 um we went", "we went", "um we went"),
    "a surer word": ("a cat/.9 sat", "a hat/.7 sat", "a cat/.9 sat"),
    "a word that is not surer": ("a cat/.7 sat", "a hat/.7 sat", "a hat/.7 sat"),
    "unsure words in place of an unsure one": ("okay/.1", "go/.1 back/.3", "okay/.1"),
    "no text": ("", "yeah/.8", "yeah/.8"),
    "no second text": ("yeah/.9 um", "", "yeah/.9 um"),
    "fillers for words": ("um/.8 went", "we/.8 all/.8 went", "um/.8 we/.8 all/.8 went"),
}


@pytest.mark.parametrize(
    "first, no_speech, expected",
    [
        ("where/.5", 0.2, "where/.5"),
        ("where/.5", 0.01, "I am here " * 4),
        ("I am here I am here", 0.2, "I am here " * 4),
    ],
)
def test_a_loop_is_not_compared(first, no_speech, expected):
    looping = window("I am here " * 4, no_speech_prob=no_speech)
    assert likelier_text(window(first), looping).text == window(expected).text


@pytest.mark.parametrize("name", CASES)
def test_the_likelier_words_are_taken(name):
    first, second, expected = CASES[name]
    likelier = likelier_text(window(first), window(second))
    assert likelier.text == window(expected).text
    tokens = [token for segment in likelier.segments for token in segment.logprobs]
    assert tokens == [token for segment in window(expected).segments for token in segment.logprobs]


def test_a_silent_window_stays_silent():
    silent = window("", silent=True)
    assert likelier_text(silent, window("thank you")) is silent


@pytest.mark.parametrize("name, avg_logprob", [("first", -1.5), ("second", -1.5), ("first", -0.05)])
def test_a_text_that_failed_or_a_first_one_that_is_sure_is_not_compared(name, avg_logprob):
    texts = {"first": window("well/.1"), "second": window("well at the moment/.6")}
    texts[name] = replace(texts[name], avg_logprob=avg_logprob)
    assert likelier_text(texts["first"], texts["second"]) is texts["first"]


def test_a_second_text_is_decoded_where_the_first_leaves_a_doubt_and_timed_where_words_are_taken():
    first = [
        window("so"),
        replace(window("yes"), avg_logprob=-0.05),
        window("a cat/.2"),
        replace(window("no"), avg_logprob=-2.0),
        window("", silent=True),
    ]
    asked = []

    def second(indices, *, with_times):
        asked.append(([*indices], with_times))
        texts = [window("so") if at == 0 else window("a hat") for at in indices]
        return texts if with_times else list(map(untimed, texts))

    assert [text.text for text in likelier_texts(first, second)] == ["so", "yes", "a hat", "no", ""]
    assert asked == [([0, 2], False), ([2], True)]


def test_words_of_the_second_text_begin_a_sentence_where_they_began_one():
    likelier = likelier_text(window("I think so/.9 yes/.5"), window("I think so. Alright/.9"))
    assert likelier.text == "I think so. Alright"


@pytest.mark.parametrize(
    "first, second, expected",
    [
        ("just for fun um I like beans", "Just for fun. I like beans.", "just for fun. um I like beans"),
        ("is it um yes", "Is it? Yes.", "is it? um yes"),
        ("is it! yes", "Is it? Yes.", "is it! yes"),
        ("what he said and", "What he said.", "what he said and"),  # the end of a text, not of a sentence
    ],
)
def test_a_sentence_ends_where_either_text_ends_it(first, second, expected):
    """Its tokens are those of the first text, so nothing has to be timed again."""
    likelier = likelier_text(window(first), untimed(window(second)))
    assert likelier.text == expected
    times = [time for segment in likelier.segments for token in segment.timed for time in (token.start_s, token.end_s)]
    assert len(times) == 2 * len(likelier.segments[0].logprobs) and times == sorted(times)


def test_a_sign_that_is_a_token_of_its_own_gives_way_to_a_final_mark():
    first = window("so . um no")
    parts = tuple((text.replace(" .", ","), logprob) for text, logprob in first.segments[0].logprobs)
    first = replace(first, segments=(replace(first.segments[0], logprobs=parts),))
    assert likelier_text(first, window("So. No.")).text == "so. um no"


def test_words_beside_those_of_the_second_text_have_its_times():
    """Where the first text lacks a word, the word behind it takes the time of both."""
    first = window("yeah right", step_s=4.0)
    likelier = likelier_text(first, window("mmm/.8 nice/.8 yeah right", start_s=0.2, step_s=2.0))
    starts = [(token.text.strip(), token.start_s) for segment in likelier.segments for token in segment.timed]
    assert starts == [("mmm", 0.2), ("nice", 2.2), ("yeah", 4.2), ("right", 6.2)]


def test_a_second_text_without_an_end_is_not_regarded():
    first = window("so if you're back/.1")
    assert likelier_text(first, window("go back and go back and go back", complete=False)) is first


@pytest.mark.parametrize("tokens, text", [(70, "go back"), (71, "no")])
def test_a_second_text_that_is_much_longer_is_not_regarded(tokens, text):
    first = window("no/.1", tokens=20)
    assert likelier_text(first, window("go back", tokens=tokens)).text == text


def test_signs_stay_with_their_words():
    first = window("yes . we um - went , home .")
    assert likelier_text(first, window("Yes we went home")) == first


_text = st.lists(st.sampled_from(["I", "um", "we/.4", "we", "went/.95", "wo-", "home", ".", "home/.2"])).map(" ".join)


@given(_text, _text, st.floats(0, 20), st.floats(0.1, 2))
def test_words_come_from_the_texts_and_times_never_go_back(first, second, start_s, step_s):
    ours, theirs = window(first), window(second, start_s, step_s)
    likelier = likelier_text(ours, theirs)
    tokens = [token for segment in likelier.segments for token in segment.logprobs]
    given = {token for text in (ours, theirs) for segment in text.segments for token in segment.logprobs}
    assert {*tokens} <= given | {(".", logprob) for _, logprob in given}
    times = [time for segment in likelier.segments for token in segment.timed for time in (token.start_s, token.end_s)]
    assert len(times) == 2 * len(tokens) and times == sorted(times)
    assert likelier_text(ours, ours) == ours


def require_same(found, wanted):
    """Two texts that are decoded together differ by rounding."""
    for one, other in zip(found, wanted, strict=True):
        assert (one.text, one.complete, one.language) == (other.text, other.complete, other.language)
        for segment, same in zip(one.segments, other.segments, strict=True):
            assert [token for token, _ in segment.logprobs] == [token for token, _ in same.logprobs]
            assert [each for _, each in segment.logprobs] == pytest.approx(
                [each for _, each in same.logprobs], abs=1e-4
            )
            assert (segment.timed, segment.start_s, segment.end_s) == (same.timed, same.start_s, same.end_s)


def test_both_texts_of_a_window_come_from_one_pass_of_the_encoder(tmp_path, monkeypatch):
    model = checkpoint.load(
        build_checkpoint(tmp_path, languages=("en", "es"), multilingual=True, special=("<|startofprev|>",))
    )
    plain = DecodingStyle(Labels("fluent"))
    asked = DecodingStyle(Labels("verbatim", prompt="um I want."), timestamps=False)
    windows = [voice(1), voice(2)]
    calls = []
    encoder = model.model.get_encoder()
    forward = encoder.forward
    monkeypatch.setattr(encoder, "forward", lambda *args, **named: calls.append(1) or forward(*args, **named))

    def decode(style, language="en"):
        return TransformersDecoder(model, style=style, word_times=True, language=language)

    alone = decode(asked).decode(windows)
    fluent = decode(plain).decode(windows)
    calls.clear()
    both = DecodingStyle(asked.labels, timestamps=False, second=plain)
    require_same(decode(both).decode(windows), list(map(likelier_text, alone, fluent)))
    assert len(calls) == 1
    spanish = decode(both).with_language("es").decode(windows)
    assert spanish == decode(both, "es").decode(windows)
    after = list(
        map(likelier_text, *([decode(style).decode_with_prompt(windows[0], "yes.")] for style in (asked, plain)))
    )
    require_same([decode(both).decode_with_prompt(windows[0], "yes.")], after)


def compared_text(model, sounds, tmp_path, engine):
    """The texts of a model that are only compared, alone and in a batch."""
    style = DecodingStyle(Labels("fluent"), is_compared=True)
    if engine == "ct2":
        from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

        folder = checkpoint.export(model.path, tmp_path / "ct2", to="ct2")
        decoder = CTranslate2Decoder(checkpoint.load_converted(folder), style=style, word_times=True)
    else:
        decoder = TransformersDecoder(model, style=style, word_times=True)
    return [decoder.decode([sound])[0] for sound in sounds], decoder.decode(sounds)


@pytest.mark.parametrize("engine", ["transformers", pytest.param("ct2", marks=pytest.mark.slow)])
def test_a_text_that_is_compared_is_given_up_early_and_does_not_depend_on_its_batch(tmp_path, engine):
    model = checkpoint.load(build_checkpoint(tmp_path / "model", multilingual=True, special=("<|startofprev|>",)))
    sounds = [voice(1), voice(2)[:9000]]
    alone, together = compared_text(model, sounds, tmp_path, engine)
    require_same(together, alone)
    for text, sound in zip(together, sounds, strict=True):
        limit = round(tokens_per_s(DecodingStyle(Labels(), is_compared=True)) * len(sound) / 16_000) + 24
        assert text.tokens <= limit
        assert text.complete or not any(segment.timed for segment in text.segments)


@pytest.mark.slow
def test_ctranslate2_gives_a_text_up_that_would_be_too_long_to_be_compared(tmp_path):
    from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

    source = build_checkpoint(tmp_path / "model", multilingual=True, special=("<|startofprev|>",))
    model = checkpoint.load_converted(checkpoint.export(source, tmp_path / "ct2", to="ct2"))
    decoder = CTranslate2Decoder(model, style=DecodingStyle(Labels("fluent"), is_compared=True))
    sounds = [voice(1), voice(2)[:9000]]
    hidden, durations_s = decoder._encoded(sounds), [len(sound) / 16_000 for sound in sounds]
    whole = decoder.rows(hidden, durations_s)
    cut = decoder.rows(hidden, durations_s, [3, 5])
    assert max(len(row[0]) for row in whole) > 6
    assert [row[0] for row in cut] == [row[0][:6] for row in whole]


def test_a_window_is_encoded_once_if_it_is_the_last_one_that_was_encoded_alone():
    memory, encoded = LastEncoded(), []

    def positions(sounds):
        return 3 if max(map(len, sounds)) > 9000 else 2

    def encode(sounds):
        encoded.append(len(sounds))
        return np.array([[sound[:2]] * positions(sounds) for sound in sounds])

    def of(*sounds):
        encoded.clear()
        found = memory.encoded(sounds, encode, lambda others, one, at: np.insert(others, at, one[0], axis=0), positions)
        assert np.array_equal(found, encode(sounds))
        return encoded[:-1]

    one, other, short = voice(1), voice(2), voice(3)[:9000]
    assert of(one) == [1] and of(one.copy()) == [] and of(other, one) == [1] and of(one, other) == [1]
    assert of(other) == [1] and of(one, other) == [1] and of(other, other[::-1].copy()) == [1]
    assert of(short) == [1] and of(short[1:], short) == [1] and of(one, short) == [2]
