"""Words that may be spoken are written where the model half hears them, and nowhere else, with both engines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from tiny_whisper import build_checkpoint, voice

from lsa_whisper import checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.decoding import expected_words as module
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.engines import load_engine
from lsa_whisper.decoding.expected_words import FIRST_BONUS, NEXT_BONUS, ExpectedWords, read_expected_words
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.labels import Labels
from lsa_whisper.transcription import transcribe

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
WORD = "the friend"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build_checkpoint(tmp_path_factory.mktemp("tiny"), special=("<|startofprev|>",), labels=Labels("verbatim"))


@pytest.fixture(scope="module")
def tiny(folder):
    return checkpoint.load(folder)


@pytest.fixture
def every_token_is_rare(monkeypatch):
    monkeypatch.setattr(module, "MIN_RARE_TOKEN", 0)


def path_of(loaded, word=WORD):
    return loaded.tokenizer.encode(f" {word}", add_special_tokens=False)


def logits_of(loaded, scores):
    """Return one row of logits: the given ones by token, and very low others."""
    row = torch.full((1, loaded.model.config.vocab_size), -20.0)
    for token, score in scores.items():
        row[0, token] = score
    return row


def test_a_word_that_has_begun_is_spelled_to_its_end(tiny):
    words = ExpectedWords(tiny.tokenizer, [WORD], size=tiny.model.config.vocab_size)
    first, second, *_ = path_of(tiny)
    other = path_of(tiny, "I")[0]
    logits = logits_of(tiny, {second: 0.0, other: NEXT_BONUS - 0.1})
    favored = words.favor(logits, torch.tensor([[other, first]]))
    assert int(favored.argmax()) == second and favored[0, second] == NEXT_BONUS
    assert int(words.favor(logits, torch.tensor([[first, other]])).argmax()) == other


def test_a_word_is_begun_where_it_is_nearly_as_probable_as_another_one(tiny, every_token_is_rare):
    words = ExpectedWords(tiny.tokenizer, [WORD], size=tiny.model.config.vocab_size)
    first, other = path_of(tiny)[0], path_of(tiny, "I")[0]
    none = torch.empty((1, 0), dtype=torch.long)
    near = logits_of(tiny, {first: 0.0, other: FIRST_BONUS - 0.1})
    assert int(words.favor(near, none).argmax()) == first
    assert int(words.favor(logits_of(tiny, {first: 0.0, other: FIRST_BONUS + 0.1}), none).argmax()) == other
    end = tiny.tokenizer.get_added_vocab()["<|endoftext|>"]
    ended = logits_of(tiny, {first: 0.0, end: 0.1})
    assert int(words.favor(ended, none).argmax()) == end


def test_the_probability_of_an_expected_word_has_no_bonus(tiny):
    size, settings = tiny.model.config.vocab_size, tiny.model.generation_config
    rules = DecodingRules(tiny.tokenizer, settings, size, timestamps=False, words=[WORD])
    plain = DecodingRules(tiny.tokenizer, settings, size, timestamps=False)
    first, second, *_ = path_of(tiny)
    logits, tokens = logits_of(tiny, {second: 0.0, path_of(tiny, "I")[0]: 1.0}), torch.tensor([[first]])
    chosen, logprob = rules.choose(logits.clone(), tokens, torch.tensor([2.0]))
    best, best_logprob = plain.choose(logits.clone(), tokens, torch.tensor([2.0]))
    assert int(chosen) == second != int(best)
    assert float(logprob) == pytest.approx(float(best_logprob) - 1.0)
    beams, _ = rules.candidates(logits.clone(), tokens, torch.tensor([2.0]), 2)
    assert beams[0].tolist() == [second, int(best)]


def text_of(windows: list[DecodedWindow]) -> list[str]:
    return [window.text for window in windows]


def test_both_engines_write_the_same_with_words(folder, tiny, tmp_path, every_token_is_rare):
    pytest.importorskip("ctranslate2")
    windows = [voice(2.0, seed=seed) for seed in range(4)]
    style = {"labels": Labels("verbatim"), "timestamps": False}
    plain = TransformersDecoder(tiny, style=DecodingStyle(**style)).decode(windows)
    options = {"device": "cpu", "dtype": "float32", "language": "en", "batch_size": 4, "word_times": False}
    words = ["sat on a mat", "went home", "didn't it", "friend"]
    both = [load_engine(name, folder, **options, words=words)[1] for name in ("transformers", "ct2")]
    texts = [text_of(decoder.decode(windows)) for decoder in both]
    assert texts[0] == texts[1] and texts[0] != text_of(plain)


def test_a_file_of_words_may_be_wrong(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\N{BOM}Duguid\n\n Anna  Novak \nDuguid\n", encoding="utf-8")
    assert read_expected_words(path) == ("Duguid", "Anna Novak") and read_expected_words(None) == ()
    for content, said in ((b"", "names no word"), (b"M\xfcller\n", "is not UTF-8")):
        path.write_bytes(content)
        with pytest.raises(LsaWhisperError, match=said):
            read_expected_words(path)
    with pytest.raises(LsaWhisperError, match=r"nothing.txt: cannot be read \(No such file"):
        transcribe(tmp_path / "a.wav", model="models/nano", words=tmp_path / "nothing.txt")


def test_a_model_without_a_place_for_it_refuses_a_prompt(tmp_path):
    folder = build_checkpoint(tmp_path / "plain")
    with pytest.raises(CheckpointError, match="no place for a prompt"):
        load_engine("transformers", folder, device="cpu", dtype="float32", language="en", batch_size=1,
                    word_times=False, prompt="Duguid")  # fmt: skip


def test_the_prompt_of_the_user_stands_before_that_of_the_labels():
    style = DecodingStyle(Labels("verbatim", prompt="um I I want."), prompt="A talk with Anna Novak. ")
    assert style.asked == "A talk with Anna Novak. um I I want."
    assert style.is_echo("Anna Novak") and not style.is_echo("Anna goes")


@pytest.mark.slow(1)
def test_the_real_whisper_spells_names_as_they_are_given():
    if not (SHARED / "whisper" / "base").is_dir():
        pytest.skip("the real whisper-base is not beside this checkout")
    loaded = checkpoint.load(SHARED / "whisper" / "base", device="cpu")
    sound = Recording.open(SHARED / "speech" / "ES2011a.Headset-0-40s-46s.flac").load()
    texts = []
    for words in ((), ("Claflin", "Kowalski", "Siobhan")):
        style = DecodingStyle(Labels("fluent"), is_stock=True, words=words)
        texts.append(TransformersDecoder(loaded, style=style).decode([sound])[0].text)
    assert "Claflin" not in texts[0] and "Claflin" in texts[1]
    assert not re.search("Kowalski|Siobhan", texts[1])
