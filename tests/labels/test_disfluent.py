from __future__ import annotations

import re
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.labels import Labels, disfluent_spans, encode

STORYBOOK = sorted(Path("corpora/storybook/dev").glob("**/*.cha"))
SIGNS = ("/", "//", "///", "\\", "<", ">")


def marked(text, labels):
    return [text[start:end] for start, end in disfluent_spans(text, labels)]


def left(text, labels):
    """The words of a label that are not marked, bare."""
    for start, end in reversed(disfluent_spans(text, labels)):
        text = text[:start] + text[end:]
    words = [re.sub(r"[.?!\-]+$", "", word) for word in text.split() if not word.startswith("#")]
    return [word.replace(":", "").replace('"', "") for word in words if word]


@pytest.mark.parametrize("version", [2])
def test_storybook_without_disfluencies_is_fluent(version):
    """The parser of CHAT, which knows nothing of label text, is the oracle."""
    labels, checked = Labels("chat", version=version), 0
    for path in STORYBOOK:
        for utterance in chat.read(path).utterances:
            text = encode(utterance, labels)
            meant = [re.sub(r"[^\w']", "", word) for word in utterance.fluent()]
            assert [re.sub(r"[^\w']", "", word) for word in left(text, labels)] == meant, text
            checked += len(meant) != len(text.split())
    assert checked > 20


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("um I want / want it.", ["um", "want", "/"]),
        ("I / I / I see.", ["I", "/", "I", "/"]),
        ("I I um I see see.", ["I", "I", "um", "see"]),
        ("< < I want > / I want > // I need it.", ["<", "<", "I", "want", ">", "/", "I", "want", ">", "//"]),
        ("the dog ra- ran ~like \\ oh um.", ["ra-", "~like", "\\", "um."]),
        ("I see a b-b- ball b~ ball : really = big .. sto:re.", ["b-b-", "b~", ":", "=", "..", "sto:re."]),
        ('no "um dog.', []),
        ("#laughs yes--", []),
    ],
)
def test_signs(text, wanted):
    assert marked(text, Labels("chat")) == wanted


def test_version_1_writes_chat():
    text = "&-um <I want> [/] I want ↫b-b↫ball (.) &+fr sto:re [//] shop ."
    wanted = ["&-um", "<", "I", "want", ">", "[/]", "↫b-b↫ball", "(.)", "&+fr", "sto:re", "[//]"]
    assert marked(text, Labels("chat", version=1)) == wanted


def test_other_styles():
    assert marked("um I want want the sto- story.", Labels("verbatim")) == ["um", "sto-"]
    assert marked("Hmm uhh I ehm want hm.", Labels("verbatim")) == ["Hmm", "uhh", "ehm", "hm."], "those read back, too"
    assert marked("I want um.", Labels("fluent")) == []
