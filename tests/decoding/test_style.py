"""A stock model writes disfluencies when a prompt asks for them; a trained one writes in the style that it learned."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tiny_whisper import build_checkpoint, voice

from lsa_whisper import checkpoint
from lsa_whisper.chat import Disfluency
from lsa_whisper.chat.filled_pauses import fillers
from lsa_whisper.dataset.label_encoder import LabelEncoder
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.engines import load_engine
from lsa_whisper.decoding.no_speech import NEVER_SILENT, WHISPERS_RULE
from lsa_whisper.decoding.style import DecodingStyle, coverage_of, decoding_style
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import VERBATIM_PROMPTS, Labels
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.options import TranscriptionOptions

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
PROMPT = "um I I want."


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    """A multilingual model whose labels have a prompt, and whose vocabulary has a place for it."""
    labels = Labels("verbatim", prompt=PROMPT)
    folder = tmp_path_factory.mktemp("prompted")
    special = ("<|startofprev|>",)
    return checkpoint.load(
        build_checkpoint(folder, languages=("en", "es"), multilingual=True, special=special, labels=labels)
    )


@pytest.fixture(scope="module")
def stock(prompted):
    return dataclasses.replace(prompted, labels=Labels("fluent"))


@pytest.mark.parametrize("language", VERBATIM_PROMPTS)
def test_each_prompt_has_fillers_of_its_language(language):
    words = VERBATIM_PROMPTS[language].replace(".", "").split()
    assert len(fillers(language) & {*words}) >= 2


def test_a_stock_model_is_asked_in_english_only_unless_told_otherwise(stock):
    fluent = DecodingStyle(Labels("fluent"), is_stock=True, beams=3)
    labels, second = (
        Labels("verbatim", prompt=VERBATIM_PROMPTS["eng"]),
        dataclasses.replace(fluent, beams=1, is_compared=True),
    )
    asked = DecodingStyle(labels, timestamps=False, is_stock=True, beams=3, second=second)
    assert decoding_style(stock, None, "eng").labels.prompt == asked.labels.prompt
    assert decoding_style(stock, None, "eng") == decoding_style(stock, "verbatim", "eng") == asked
    for style, language in ((None, "spa"), (None, "und"), ("fluent", "eng")):
        assert decoding_style(stock, style, language) == fluent
    assert decoding_style(stock, "verbatim", "spa").labels.prompt == VERBATIM_PROMPTS["spa"]
    with pytest.raises(CheckpointError, match=r"writes verbatim in deu, eng, .* not in fin; choose fluent"):
        decoding_style(stock, "verbatim", "fin")


def test_a_stock_model_writes_one_text_if_told_to(stock, tmp_path):
    for options in (TranscriptionOptions(), TranscriptionOptions(second_text=False)):
        _, decoder, _ = load_engine(
            "transformers", stock.path, loaded=stock, device="cpu", dtype="float32", language="en", batch_size=2,
            word_times=False, spoken="eng", second_text=options.second_text,
        )  # fmt: skip
        assert bool(decoder.second) is bool(decoder.style.second) is options.second_text
        assert decoder.style.labels.prompt == VERBATIM_PROMPTS["eng"] and len(decoder.decode([voice(2)])) == 1


def test_a_stock_model_says_what_it_leaves_out(stock, prompted):
    for style, said in (
        ("verbatim", "writes only some of the filled pauses"),
        ("fluent", "leaves out disfluencies: a count of zero says nothing"),
    ):
        assert said in coverage_of(stock, decoding_style(stock, style, "eng")).sentence()
    assert Disfluency.FRAGMENT not in coverage_of(prompted, decoding_style(prompted, None, "eng")).left_out
    assert Disfluency.FRAGMENT in coverage_of(prompted, decoding_style(prompted, "fluent", "eng")).left_out


def test_a_trained_model_writes_as_it_was_trained(prompted):
    assert decoding_style(prompted, None, "eng") == DecodingStyle(prompted.labels)
    assert decoding_style(prompted, "verbatim", "fin") == DecodingStyle(prompted.labels)
    assert decoding_style(prompted, "fluent", "eng") == DecodingStyle(prompted.labels, is_cleaned=True)
    without = Labels.from_dict(Labels("chat", timestamps=False).as_dict())
    assert not decoding_style(dataclasses.replace(prompted, labels=without), None, "eng").timestamps
    unprompted = dataclasses.replace(prompted, labels=Labels("chat"))
    assert decoding_style(unprompted, "fluent", "eng") == DecodingStyle(unprompted.labels, is_cleaned=True)
    cleaned = dataclasses.replace(prompted, labels=Labels("fluent"), recipe={"seed": 1})
    with pytest.raises(CheckpointError, match="was trained to write fluent text"):
        decoding_style(cleaned, "verbatim", "eng")


def test_the_prompt_is_saved_with_the_labels(prompted):
    assert prompted.labels.prompt == PROMPT
    assert Labels.from_dict(prompted.labels.as_dict()) == prompted.labels
    assert "prompt" not in Labels("chat").as_dict()


def test_the_decoder_reads_the_prompt_then_the_previous_text(prompted):
    decoder = TransformersDecoder(prompted)
    tokenizer = prompted.tokenizer
    begin = [tokenizer.get_added_vocab()["<|startofprev|>"], *tokenizer.encode(f" {PROMPT}", add_special_tokens=False)]
    plain = TransformersDecoder(prompted, style=DecodingStyle(Labels("fluent"))).prompt
    assert decoder.prompt == [*begin, *plain]
    spanish = decoder.with_language("es").prompt
    assert spanish[: len(begin)] == begin and spanish != decoder.prompt
    assert decoder.prompt == [*begin, *plain]  # the decoder itself is still English
    previous = tokenizer.encode(" yes.", add_special_tokens=False)
    assert decoder._prompt_after("yes.") == [*begin, *previous, *plain]
    assert decoder.detect_languages([voice(1)])[0].keys() == {"en", "es"}


def test_without_timestamps_the_text_is_one_segment(prompted):
    style = DecodingStyle(prompted.labels, timestamps=False)
    decoder = TransformersDecoder(prompted, style=style, word_times=True)
    assert decoder.prompt[-1] == prompted.model.generation_config.no_timestamps_token_id
    assert not decoder.rules.timestamps_s
    (window,) = decoder.decode([voice(3)])
    assert len(window.segments) <= 1 and "<|" not in "".join(each.text for each in window.segments)


def test_training_labels_stand_behind_the_prompt_without_loss(prompted):
    encoder = LabelEncoder(prompted.tokenizer, prompted.model.generation_config, prompted.labels.prompt)
    plain = LabelEncoder(prompted.tokenizer, prompted.model.generation_config)
    ids, masked = encoder.encode("uh yes.", prompt="before.")
    assert ids[masked:] == plain.encode("uh yes.")[0]
    assert ids[:masked] == plain.encode("uh yes.", prompt=f"{PROMPT} before.")[0][:masked]
    assert encoder.max_tokens("uh yes.") >= len(encoder.encode("uh yes.")[0])


@pytest.mark.slow(minutes=0.5)
@pytest.mark.skipif(not (SHARED / "whisper" / "base").exists(), reason="OpenAI's base is not beside the project")
@pytest.mark.parametrize("engine", ["transformers", "ct2"])
def test_openais_base_writes_the_fillers_of_a_real_person(engine, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    base, sound = SHARED / "whisper" / "base", SHARED / "paired" / "michael.flac"
    if engine == "ct2":
        pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")

    def filled_pauses(**options):
        said = Transcriber(base, engine=engine, vad="energy", **options).transcribe(sound).transcript.utterances
        return sum(event.kind is Disfluency.FILLED_PAUSE for each in said for event in each.events())

    assert filled_pauses(style="fluent") == 0
    assert filled_pauses() >= 6  # of ten


def test_a_window_that_echoes_the_prompt_is_silent_where_speech_is_doubtful():
    style = DecodingStyle(Labels("verbatim", prompt="um I I want uh the dog."), timestamps=False)
    for text, no_speech_prob, segments in [("um", 0.1, 0), ("um", 0.01, 1), ("I want", 0.1, 0), ("um yes", 0.1, 1)]:
        window = DecodedWindow((DecodedSegment(text, 0.0, 1.0),), -0.2)
        silent = WHISPERS_RULE.apply(window, no_speech_prob, is_echo=style.is_echo(window.text))
        assert len(silent.segments) == segments, text
        assert len(NEVER_SILENT.apply(window, no_speech_prob, is_echo=style.is_echo(window.text)).segments) == 1
    assert not DecodingStyle(Labels("verbatim")).is_echo("um")
