"""Every published shape of Whisper: what ``doctor --model`` finds, its prompt, its timestamps and its spelling."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace

import model_zoo
import pytest
from pages import text_of

from lsa_whisper import checkpoint
from lsa_whisper.checkpoint.token_table import TokenTable
from lsa_whisper.checkpoint.vocabulary import default_labels
from lsa_whisper.dataset import LabelEncoder
from lsa_whisper.decoding.rules import allowed_tokens
from lsa_whisper.labels import Labels

pytestmark = pytest.mark.skipif(not model_zoo.are_here(), reason="../shared/data/whisper is absent")
KINDS = tuple(model_zoo.ZOO)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    """Return name -> (folder, tokenizer, generation settings), each made when it is first asked for."""
    from transformers import AutoTokenizer, GenerationConfig

    made, place = {}, tmp_path_factory.mktemp("zoo")

    def member(name):
        if name not in made:
            folder = model_zoo.write_published(name, place / name)
            settings = GenerationConfig.from_pretrained(folder, local_files_only=True)
            made[name] = folder, AutoTokenizer.from_pretrained(folder), settings
        return made[name]

    return member


@pytest.mark.slow
def test_the_table_in_the_documentation_is_what_doctor_finds(tmp_path):
    assert model_zoo.table(tmp_path) in text_of("docs/base-models.md")


@pytest.mark.parametrize("name", KINDS)
def test_nothing_of_a_published_shape_is_refused(zoo, name):
    rows = checkpoint.model_overview(zoo(name)[0])
    assert not [row for row in rows if row.state == "problem"]
    assert all(row.remedy for row in rows if row.state == "warn")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("whisper", [50258, 50259, 50359]),
        ("en", [50257]),
        ("large-v3", [50258, 50259, 50360]),
        ("turbo", [50258, 50259, 50360]),
        ("kotoba", [50258, 50259, 50360]),
        ("crisper-1", [50258, 50259, 50360]),
        ("crisper-2", [51880, 51881, 51882, 51883, 51884, 50258, 50259, 50359]),
    ],
)
def test_prompts_are_the_published_ones(zoo, name, expected):
    _, tokenizer, settings = zoo(name)
    plain = {"en": 50362, "whisper": 50363, "crisper-2": 50363}.get(name, 50364)
    assert checkpoint.decoder_prompt(tokenizer, settings) == expected
    assert checkpoint.decoder_prompt(tokenizer, settings, with_timestamps=False) == [*expected, plain]


def test_the_previous_text_has_its_place(zoo):
    _, tokenizer, settings = zoo("crisper-2")
    prompt = checkpoint.decoder_prompt(tokenizer, settings, with_timestamps=False)
    hello = tokenizer.encode(" hello", add_special_tokens=False)
    after = checkpoint.add_previous_text(prompt, hello, tokenizer, settings)
    tags = "".join(f"[verbatim_{n}]" for n in range(1, 6))
    start = "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>"
    assert tokenizer.decode(after) == f"{tags} <ctx> hello <ectx>{start}"
    assert after == tokenizer.encode(f"{tags} <ctx> hello <ectx>{start}", add_special_tokens=False)
    _, tokenizer, settings = zoo("whisper")
    after = checkpoint.add_previous_text([50258], [7], tokenizer, settings)
    assert after == [50361, 7, 50258]


@pytest.mark.parametrize("name", KINDS)
def test_only_models_trained_with_timestamps_write_them(zoo, name):
    _, tokenizer, settings = zoo(name)
    allowed = allowed_tokens(tokenizer, settings, model_zoo.ZOO[name].rows)
    first = model_zoo.ZOO[name].rows - (31 if name == "crisper-2" else 0) - 1501
    assert bool(allowed.timestamps_s) == (not name.startswith("crisper"))
    assert first in ({*allowed.timestamps_s} or {*allowed.suppressed}) and first - 1 in allowed.suppressed
    trained = {first, first + 50}
    model = SimpleNamespace(generation_config=settings, config=SimpleNamespace(max_target_positions=448))
    fitted = checkpoint.fit_generation_config(model, tokenizer, Labels("chat"), trained_tokens=trained)
    assert len(allowed_tokens(tokenizer, fitted, model_zoo.ZOO[name].rows).timestamps_s) == 1501


def test_prompt_marks_are_no_text_and_fillers_are(zoo):
    _, tokenizer, settings = zoo("crisper-2")
    allowed = allowed_tokens(tokenizer, settings, 51896)
    ids = tokenizer.get_added_vocab()
    assert {ids[mark] for mark in ("[verbatim_1]", "[intended_5]", "<vtx>", "<ectx>")} <= {*allowed.suppressed}
    assert not {ids["[UM]"], ids["[laughter]"]} & {*allowed.suppressed}
    assert default_labels(tokenizer) == Labels("verbatim")
    assert default_labels(zoo("whisper")[1]) == Labels("fluent")


@pytest.mark.parametrize("name", KINDS)
def test_labels_are_spelled_as_the_text(zoo, name):
    _, tokenizer, settings = zoo(name)
    encoder = LabelEncoder(tokenizer, settings)
    text = "<|0.20|>um I want want the sto- story.<|1.60|>"
    tokens, unscored = encoder.encode(text, prompt="the dog")
    start = tokens.index(settings.decoder_start_token_id)
    assert unscored == start > 0 and tokens[-1] == settings.eos_token_id
    prompt = checkpoint.decoder_prompt(tokenizer, settings)
    ids = tokens[start + len(prompt) - prompt.index(settings.decoder_start_token_id) :]
    stamps = checkpoint.timestamp_tokens(tokenizer, settings)
    assert stamps[ids[0]] == 0.2 and stamps[ids[-2]] == 1.6
    assert tokenizer.decode(ids[1:-2]).strip() == "um I want want the sto- story."
    assert len(tokens) <= encoder.max_tokens(text, "the dog")


def test_a_space_token_is_a_pause_in_word_times(zoo):
    from lsa_whisper.chat import utterance
    from lsa_whisper.decoding.decoder import parse_segments
    from lsa_whisper.decoding.word_times import align_words

    _, tokenizer, _ = zoo("crisper-1")
    ids = tokenizer.encode("um I want it.", add_special_tokens=False)
    space = TokenTable.of_tokenizer(tokenizer).space
    assert space == 220 and ids.count(space) == 3
    times_s = [(0.3 * at, 0.3 * at + 0.3) for at in range(len(ids))]
    (segment,) = parse_segments(ids, [0.0] * len(ids), {}, 9.0, lambda some: tokenizer.decode(some), times_s)
    assert segment.text == "um I want it."
    (words,) = align_words([utterance("PAR", "&-um I want it .")], segment.timed)
    assert [word for word, _ in words] == ["um", "I", "want", "it"]
    spans = [at for _, at in words]
    assert all(after.start_ms - before.end_ms >= 300 for before, after in itertools.pairwise(spans))


def test_the_heads_of_a_teacher_are_not_used(tmp_path):
    folder = model_zoo.write_tiny("kotoba", tmp_path / "kotoba")
    assert json.loads((folder / "generation_config.json").read_text())["alignment_heads"][0] == [7, 0]
    assert checkpoint.load(folder).model.generation_config.alignment_heads is None
