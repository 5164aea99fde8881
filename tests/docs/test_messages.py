"""Messages, signs and reasons that the pages explain are those that the program has."""

from __future__ import annotations

import re

import pytest
from pages import ROOT, text_of

from lsa_whisper.chat import utterance
from lsa_whisper.labels import Labels, encode
from lsa_whisper.preparation import screening as reasons

CODE = "".join(path.read_text("utf-8") for path in sorted((ROOT / "lsa_whisper").rglob("*.py")))
SOURCE = re.sub(r'"\s*\n\s*f?"', "", CODE)
PAGE = text_of("docs/labels-and-scores.md")
TROUBLE = text_of("docs/troubleshooting.md")
MESSAGES = re.findall(r"^\*\*`(.*?)`\*\*", TROUBLE, re.MULTILINE)
SIGNS = [
    (chat, label)
    for row in re.findall(r"^\| (`.*?) \| (`.*?) \| [^|]*\|$", PAGE.partition("## The signs")[2], re.MULTILINE)
    for chat, label in zip(*(re.findall(r"`([^`]+)`", cell.partition(";")[0]) for cell in row), strict=False)
]


def test_there_are_messages_and_signs():
    assert len(MESSAGES) >= 15 and len(SIGNS) >= 18


@pytest.mark.parametrize("message", MESSAGES)
def test_explained_messages_exist(message):
    pieces = [piece.strip() for piece in re.split(r"\.\.\.|[\d.]*\d|[;:,()/]", message)]
    known = [piece for piece in pieces if len(piece) >= 8]
    assert known and all(piece in SOURCE for piece in known), [piece for piece in known if piece not in SOURCE]


def test_every_reason_for_a_rejection_is_explained():
    ours = {reason for name, reason in vars(reasons).items() if name.isupper() and isinstance(reason, str)}
    assert len(ours) > 10 and all(f"`{reason}`" in TROUBLE for reason in ours)


@pytest.mark.parametrize("chat, label", SIGNS)
def test_a_sign_in_the_table_is_the_one_of_labels(chat, label):
    if chat.startswith("+"):
        assert encode(utterance("CHI", f"dog {chat}"), Labels()).replace(" ", "") == f"dog{label}"
        return
    written = {encode(utterance("CHI", f"so {chat} {after} ."), Labels()) for after in ("", "cat")}
    assert {f"so {label}.", f"so {label} cat.", f"so {label} ."} & written, written


def test_the_example_of_the_styles_is_right():
    said = utterance("CHI", "&-um I want [/] want the &+sto story .")
    rows = re.findall(r"^\| `(chat|verbatim|fluent)`[^|]*\| `([^`]+)` \|", text_of("docs/labels-and-scores.md"), re.M)
    rows += re.findall(r"`--labels (chat/1)` writes CHAT's own codes: `([^`]+)`", text_of("docs/labels-and-scores.md"))
    assert len(rows) == 4
    for style, label in rows:
        assert encode(said, Labels.from_name(style)) == label
