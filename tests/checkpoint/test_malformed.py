"""Malformed models: each is refused in one sentence with a remedy before anything runs, and nothing is written."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tiny_whisper import build_checkpoint, silence

from lsa_whisper import checkpoint
from lsa_whisper.errors import LsaWhisperError

WEIGHTS, CONFIG, GENERATION = "model.safetensors", "config.json", "generation_config.json"
PREPROCESSOR, TOKENIZER, OURS, ADAPTER = (
    "preprocessor_config.json",
    "tokenizer.json",
    "lsa_whisper.json",
    "adapter_config.json",
)


def content(name, edit):
    """Return a change of the JSON in ``name``."""

    def change(folder):
        written = json.loads((folder / name).read_text("utf-8"))
        edit(written)
        (folder / name).write_text(json.dumps(written), "utf-8")

    return change


def entries(name, **new):
    return content(name, lambda written: written.update(new))


def without(name, key):
    return content(name, lambda written: written.pop(key))


def text(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def no_file(name):
    return lambda folder: (folder / name).unlink()


def renamed(before, after):
    return lambda folder: (folder / before).rename(folder / after)


def weights(edit):
    def change(folder):
        tensors = load_file(folder / WEIGHTS)
        edit(tensors)
        save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})

    return change


def both(first, second):
    return lambda folder: (first(folder), second(folder))


def index(**entry):
    def change(folder):
        (folder / WEIGHTS).rename(folder / "model-00001-of-00001.safetensors")
        (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(entry))

    return change


def cut(folder):
    data = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(data[: len(data) // 2])


def emptied(folder):
    for file in folder.iterdir():
        file.unlink()


def tokens(edit):
    """Return a change of the added tokens."""
    return content(TOKENIZER, lambda written: edit(written["added_tokens"]))


def token(name, **new):
    return tokens(lambda added: next(each for each in added if each["content"] == name).update(new))


def drop_token(name):
    return tokens(lambda added: added.remove(next(each for each in added if each["content"] == name)))


MODELS = {
    "the folder is empty": (emptied, "no config.json"),
    "no config": (no_file(CONFIG), "no config.json"),
    "config is not JSON": (text(CONFIG, b"{"), "cannot be read"),
    "config is a list": (text(CONFIG, b"[]"), "not a JSON object"),
    "config is nested too deep": (text(CONFIG, b"[" * 100_000), "cannot be read"),
    "another kind of model": (entries(CONFIG, model_type="wav2vec2"), "wav2vec2 model, not Whisper"),
    "no kind of model": (without(CONFIG, "model_type"), "nameless model, not Whisper"),
    "a size is missing": (without(CONFIG, "d_model"), "d_model is None, not a number"),
    "a size is text": (entries(CONFIG, encoder_layers="two"), "encoder_layers is 'two', not a number"),
    "a size is zero": (entries(CONFIG, decoder_layers=0), "decoder_layers is 0, not a number"),
    "a size is huge": (entries(CONFIG, vocab_size=10**9), "more than the limit"),
    "a description without an origin": (text("lsa_whisper.json", b'{"provenance": null}'), "provenance: not a JSON"),
    "a description with a recipe of another kind": (text("lsa_whisper.json", b'{"recipe": []}'), "recipe: not a JSON"),
    "code of its own": (entries(CONFIG, auto_map={"AutoModel": "a.B"}), "never run"),
    "no weights": (no_file(WEIGHTS), "has no model.safetensors"),
    "pickled weights": (renamed(WEIGHTS, "pytorch_model.bin"), "pickled weights are not read"),
    "cut weights": (cut, "cannot be read as safetensors"),
    "empty weights": (text(WEIGHTS, b""), "cannot be read as safetensors"),
    "weights are a Git LFS pointer": (
        text(WEIGHTS, b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
        "cannot be read as safetensors",
    ),
    "the index lists pickled weights": (index(weight_map={"a": "pytorch_model.bin"}), "not a safetensors file"),
    "the index lists an absent file": (index(weight_map={"a": "model-2.safetensors"}), "has no model-2.safetensors"),
    "the index lists nothing": (index(weights={}), "lists no weight files"),
    "fewer decoder layers than weights": (entries(CONFIG, decoder_layers=1), "1 decoder layers, the weights have 2"),
    "more decoder layers than weights": (entries(CONFIG, decoder_layers=3), "3 decoder layers, the weights have 2"),
    "fewer encoder layers than weights": (entries(CONFIG, encoder_layers=1), "1 encoder layers, the weights have 2"),
    "another width": (entries(CONFIG, d_model=64), "correct d_model"),
    "other mels than the weights": (
        both(entries(CONFIG, num_mel_bins=80), entries(PREPROCESSOR, feature_size=80)),
        "correct num_mel_bins",
    ),
    "more rows than the weights": (entries(CONFIG, vocab_size=51866), "correct vocab_size"),
    "other encoder positions": (
        both(entries(CONFIG, max_source_positions=1500), entries(PREPROCESSOR, chunk_length=30)),
        "correct max_source_positions",
    ),
    "other decoder positions": (entries(CONFIG, max_target_positions=448), "correct max_target_positions"),
    "another feed-forward width": (entries(CONFIG, decoder_ffn_dim=7), "correct decoder_ffn_dim"),
    "heads that do not divide the width": (entries(CONFIG, encoder_attention_heads=5), "do not divide d_model"),
    "a tensor is missing": (
        weights(lambda tensors: tensors.pop("model.decoder.embed_positions.weight")),
        "decoder.embed_positions.weight is missing",
    ),
    "no preprocessor": (no_file(PREPROCESSOR), "has no preprocessor_config.json"),
    "a preprocessor of 128 mels": (
        entries(PREPROCESSOR, feature_size=128),
        "takes 40 mel bins, its preprocessor makes 128",
    ),
    "a preprocessor that is not JSON": (text(PREPROCESSOR, b"feature_size: 40"), "cannot be read"),
    "a preprocessor for telephone audio": (entries(PREPROCESSOR, sampling_rate=8000), "expects 8000 Hz"),
    "a preprocessor of another context": (
        entries(PREPROCESSOR, chunk_length=30),
        "takes 8 s, its preprocessor makes 30",
    ),
    "a preprocessor without hops": (entries(PREPROCESSOR, hop_length=0), "hop_length is 0"),
    "no tokenizer": (no_file(TOKENIZER), "has no tokenizer.json"),
    "a tokenizer that is not JSON": (text(TOKENIZER, b"tokens"), "cannot be read"),
    "a tokenizer without a vocabulary": (without(TOKENIZER, "model"), "no 'model'"),
    "a tokenizer of a larger model": (token("<|0.02|>", id=51865), "ids up to 51865, the model has"),
    "no generation settings": (no_file(GENERATION), "has no generation_config.json"),
    "generation settings that are not JSON": (text(GENERATION, b"\xff\xfe"), "cannot be read"),
    "another end of text": (entries(GENERATION, eos_token_id=5), "eos_token_id in generation_config.json is 5, but"),
    "no end of text": (without(GENERATION, "eos_token_id"), "is None, not a token"),
    "an end of text beyond the vocabulary": (entries(GENERATION, eos_token_id=10**6), "is 1000000, not a token"),
    "another start": (
        entries(GENERATION, decoder_start_token_id=7),
        "decoder_start_token_id in generation_config.json is 7",
    ),
    "another end of text in the config": (entries(CONFIG, eos_token_id=50257), "eos_token_id in config.json is 50257"),
    "timestamps of large-v3 beside a vocabulary of large-v2": (
        content(GENERATION, lambda new: new.update(no_timestamps_token_id=new["no_timestamps_token_id"] + 1)),
        "no_timestamps_token_id is",
    ),
    "timestamps without a token for none": (drop_token("<|notimestamps|>"), "but no <|notimestamps|>"),
    "timestamps with a gap": (drop_token("<|1.00|>"), "do not follow <|notimestamps|> in steps of 0.02 s"),
    "a language with another id": (
        entries(GENERATION, is_multilingual=True, lang_to_id={"<|en|>": 9}),
        "<|en|> is 9 in lang_to_id",
    ),
    "languages that are no table": (entries(GENERATION, lang_to_id=["<|en|>"]), "lang_to_id is list"),
    "many languages, no task": (
        both(drop_token("<|transcribe|>"), entries(GENERATION, is_multilingual=True)),
        "has no <|transcribe|>",
    ),
    "alignment heads of a larger model": (
        entries(GENERATION, alignment_heads=[[31, 5]]),
        "alignment_heads has [31, 5]",
    ),
    "alignment heads that are no pairs": (entries(GENERATION, alignment_heads=[3]), "alignment_heads has 3"),
    "suppressed tokens of a larger model": (
        entries(GENERATION, suppress_tokens=[51865]),
        "has '51865', which is none of",
    ),
    "suppressed tokens as text": (entries(GENERATION, suppress_tokens="all"), "suppress_tokens is 'all', not a list"),
    "the end of text is suppressed": (
        content(GENERATION, lambda written: written.update(suppress_tokens=[written["eos_token_id"]])),
        "the end of text: no transcript would end",
    ),
    "suppressed words": (entries(GENERATION, begin_suppress_tokens=[" the"]), "begin_suppress_tokens has ' the'"),
    "our own file is not JSON": (text(OURS, b"style: chat"), "cannot be read"),
    "an unknown style of labels": (entries(OURS, labels={"style": "poetry"}), "no style 'poetry'"),
    "no list of unseen classes": (entries(OURS, labels={"unseen": 5}), "unseen is '5'; list classes"),
    "an unknown unseen class": (entries(OURS, labels={"unseen": ["hum"]}), "no classes of disfluency hum"),
}
ADAPTERS = {
    "an adapter without weights": (no_file("adapter_model.safetensors"), "has no adapter_model.safetensors"),
    "an adapter without a base": (without(ADAPTER, "base_model_name_or_path"), "names no base model"),
    "a base that has moved": (entries(ADAPTER, base_model_name_or_path="/gone/base"), "/gone/base does not exist"),
    "a base that is an adapter": (entries(ADAPTER, base_model_name_or_path="."), "is an adapter itself"),
    "a base with other weights": (
        lambda folder: weights(lambda held: held["model.encoder.layer_norm.bias"].fill(1))(folder.parent / "model"),
        "has other weights than the one it was trained on",
    ),
    "a base that is malformed": (lambda folder: no_file(GENERATION)(folder.parent / "model"), "no generation_config"),
    "a preprocessor of another model": (entries(PREPROCESSOR, feature_size=80), "its preprocessor makes 80"),
    "a vocabulary of another model": (token("<|0.02|>", id=51865), "ids up to 51865"),
}


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A model, an adapter on it, and a recording."""
    import soundfile
    from peft import LoraConfig, get_peft_model

    folder = tmp_path_factory.mktemp("clean")
    model = build_checkpoint(folder)
    shutil.rmtree(folder / "tokenizer")
    loaded = checkpoint.load(model)
    adapter = get_peft_model(loaded.model, LoraConfig(r=2, target_modules=["q_proj"]))
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer, "labels": loaded.labels}
    checkpoint.save(folder / "adapter", model=adapter, **parts)
    soundfile.write(folder / "visit.wav", silence(1.0, level=0.01), 16_000)
    (folder / "visit.cha").write_text("typed by a person\n")
    return folder


@pytest.mark.parametrize(("kind", "change", "reason"), [(kind, *row) for kind, row in (MODELS | ADAPTERS).items()])
def test_a_malformed_model_is_refused_in_one_sentence(clean, tmp_path, kind, change, reason):
    from lsa_whisper.transcription import transcribe

    place = shutil.copytree(clean, tmp_path / "place")
    settings = json.loads((place / "adapter" / ADAPTER).read_text())
    settings["base_model_name_or_path"] = str(place / "model")
    (place / "adapter" / ADAPTER).write_text(json.dumps(settings))
    folder = place / ("model" if kind in MODELS else "adapter")
    change(folder)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    for use in (checkpoint.load, lambda model: transcribe(place / "visit.wav", model)):
        with pytest.raises(LsaWhisperError) as raised:
            use(folder)
        said = str(raised.value)
        assert reason in said and "\n" not in said and len(said) < 600
        assert str(place) in said or kind == "a base that has moved"
        assert re.search(r"; \w", said), "what to do next"
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
    (row,) = [row for row in checkpoint.model_overview(folder) if row.state == "problem"][:1] or [None]
    assert kind == "an unknown style of labels" or (row.remedy and row.fact)


def test_there_are_enough_kinds_and_the_clean_ones_load(clean):
    assert len(MODELS | ADAPTERS) >= 46
    assert checkpoint.load(clean / "adapter").labels.style == "chat"
    assert not [row for row in checkpoint.model_overview(clean / "model") if row.state == "problem"]
    assert np.isfinite(checkpoint.load(clean / "model").context_s)
