"""Whisper's rule for windows without speech: the same in both engines and with a draft, no effect elsewhere."""

from __future__ import annotations

import pytest
import torch
from tiny_whisper import build_checkpoint, silence, teach_sounds, voice

from lsa_whisper import checkpoint
from lsa_whisper.decoding.assisted import AssistedDecoder
from lsa_whisper.decoding.no_speech import NEVER_SILENT, WHISPERS_RULE, NoSpeechRule
from lsa_whisper.decoding.transformers_engine import TransformersDecoder

WINDOWS = [voice(3.0), silence(3.0, level=0.02), voice(2.0, seed=4)]


def listening(folder, *, invents):
    """Write a model that knows <|nospeech|>: in noise it writes anything (``invents``), or would end if it might."""
    made = build_checkpoint(folder, languages=("en", "es"), multilingual=True, special=("<|nospeech|>",))
    tokenizer = checkpoint.load(made, weights=False).tokenizer
    said = tokenizer.encode("<|0.20|>the cat sat .<|1.60|>", add_special_tokens=False)
    first, end = tokenizer.convert_tokens_to_ids(["<|0.00|>", "<|endoftext|>"])
    random = torch.Generator().manual_seed(0)

    def anything():
        return [first if invents else end, *torch.randint(end, (len(said) - 1,), generator=random).tolist()]

    speech, noise = (WINDOWS[0], "en", "<|en|>", lambda: said), (WINDOWS[1], "en", "<|nospeech|>", anything)
    lessons = [speech, noise] * 4  # with one text at a time for the noise, it would learn the last one
    settings = {"begin_suppress_tokens": [end]}  # as in OpenAI's models
    return teach_sounds(made, folder / "taught", lessons, settings=settings)


@pytest.fixture(scope="module")
def inventing(tmp_path_factory):
    return listening(tmp_path_factory.mktemp("invents"), invents=True)


@pytest.fixture(scope="module")
def ending(tmp_path_factory):
    return listening(tmp_path_factory.mktemp("ends"), invents=False)


@pytest.fixture(params=["inventing", "ending"])
def model(request):
    return request.getfixturevalue(request.param)


def ct2(folder, out, **options):
    pytest.importorskip("ctranslate2")
    from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

    return CTranslate2Decoder(checkpoint.load_converted(checkpoint.export(folder, out, to="ct2")), **options)


def texts(windows):
    return [[segment.text for segment in window.segments] for window in windows]


@pytest.mark.slow
def test_a_silent_window_has_no_text_and_speech_is_not_lost(model):
    loaded = checkpoint.load(model)
    before = TransformersDecoder(loaded, silence=NEVER_SILENT).decode(WINDOWS)
    after = TransformersDecoder(loaded).decode(WINDOWS)
    assert texts(before)[1] and not texts(after)[1] and after[1].complete
    assert texts(after)[0] == texts(before)[0] == ["the cat sat ."]
    assert texts(after)[2] == texts(before)[2] == ["the cat sat ."]
    assert after[1].no_speech_prob > 0.9 > 0.1 > after[0].no_speech_prob


@pytest.mark.slow
def test_both_engines_and_a_draft_agree(model, tmp_path):
    loaded = checkpoint.load(model)
    expected = TransformersDecoder(loaded).decode(WINDOWS)
    assisted = AssistedDecoder(loaded, draft=loaded).decode(WINDOWS)
    converted = ct2(model, tmp_path / "ct2", batch_size=2).decode(WINDOWS)
    for other in (assisted, converted):
        assert texts(other) == texts(expected)
        for one, two in zip(expected, other, strict=True):
            assert two.no_speech_prob == pytest.approx(one.no_speech_prob, abs=1e-3)
            assert two.avg_logprob == pytest.approx(one.avg_logprob, abs=1e-3)


@pytest.mark.slow
def test_text_that_the_model_is_sure_of_is_kept(inventing):
    loaded = checkpoint.load(inventing)
    rules = {each: NoSpeechRule(logprob_threshold=each) for each in (-1.0, -9.0)}
    kept = {each: TransformersDecoder(loaded, silence=rule).decode(WINDOWS)[1] for each, rule in rules.items()}
    assert kept[-1.0].avg_logprob < -1.0 and not kept[-1.0].segments and kept[-9.0].segments


def test_a_token_that_was_never_learned_or_is_missing_changes_nothing(tiny, tmp_path):
    folder = build_checkpoint(tmp_path, special=("<|nocaptions|>",))
    for each in (tiny, folder):
        loaded = checkpoint.load(each)
        one, other = (
            TransformersDecoder(loaded, silence=rule).decode(WINDOWS) for rule in (WHISPERS_RULE, NEVER_SILENT)
        )
        assert texts(one) == texts(other) and any(texts(one))
        assert all(window.no_speech_prob < 0.6 for window in one)


@pytest.mark.slow
def test_a_window_that_may_end_at_once_does(ending):
    """The end of text is suppressed at the first position, as in OpenAI's models, but not where nothing is said."""
    loaded = checkpoint.load(ending)
    rule = NoSpeechRule(logprob_threshold=-99.0)  # any text would be kept
    assert not TransformersDecoder(loaded, silence=rule).decode(WINDOWS)[1].segments
