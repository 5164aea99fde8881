"""The real tokenizers: which ids a decoder must be free to write."""

import json
from pathlib import Path

import pytest

from lsa_whisper.chat import utterance
from lsa_whisper.labels import Labels, encode, tokens_to_allow
from lsa_whisper.labels.token_words import characters

WHISPER = Path(__file__).resolve().parents[3] / "shared" / "data" / "whisper"
PROCESSORS = ("processor", "processor-large-v3", "processor-tiny.en")
TIERS = (
    "&-um <I want [/] want> [//] I need it .",
    "<&-um the &+fr (.) ↫b-b↫ball> [///] s:o pi^zza ≠ra↫b↫bbit (..) &=laughs (...) +...",
    "well I goo:d [/-] ↫do-do↫don't &~goo:↫a↫ xxx +//.",
    "<<≠a b> [/] ≠a b> [//] ≠c +..?",
    "&-you_know merry-go-round +/. ",
    "<I &+b> [/] I +/?",
    "no: [/] no +!?",
)


@pytest.fixture(params=PROCESSORS)
def tokenizer(request):
    folder = WHISPER / request.param
    if not folder.is_dir():
        pytest.skip("no real Whisper tokenizer beside the project (../shared/data/whisper)")
    transformers = pytest.importorskip("transformers")
    made = transformers.WhisperTokenizerFast.from_pretrained(folder)
    made.suppressed = set(json.loads((folder / "generation_config.json").read_text())["suppress_tokens"])
    return made


@pytest.mark.parametrize("roles", [False, True])
@pytest.mark.parametrize("style", ["chat", "verbatim", "fluent"])
def test_no_label_needs_a_token_that_stays_forbidden(tokenizer, style, roles):
    labels = Labels(style, roles)
    forbidden = tokenizer.suppressed - tokens_to_allow(tokenizer, labels)
    for tier in TIERS:
        text = encode(utterance("CHI", tier), labels)
        for written in (text, f" {text}"):
            ids = tokenizer.encode(written, add_special_tokens=False)
            assert forbidden.isdisjoint(ids), [tokenizer.decode([one]) for one in forbidden.intersection(ids)]


def test_chat_frees_what_the_defaults_forbid(tokenizer):
    freed = tokenizer.suppressed & tokens_to_allow(tokenizer, Labels("chat"))
    assert {tokenizer.decode([one]).strip() for one in freed} >= {"[", "]", "(", "<", ">", ":", "+"}
    assert tokenizer.suppressed - freed  # and nothing that no label writes: music, quotes, braces
    assert not any("♪" in tokenizer.decode([one]) or "{" in tokenizer.decode([one]) for one in freed)


def test_what_an_earlier_version_writes_a_later_one_may_write_too():
    assert characters(Labels("chat", version=1)) < characters(Labels("chat", version=2))


def test_only_real_ids(tokenizer):
    allowed = tokens_to_allow(tokenizer, Labels("chat", roles=True))
    special = set(tokenizer.all_special_ids)
    assert allowed and allowed.isdisjoint(special) and max(allowed) < len(tokenizer)
