"""Files without an utterance: empty, binary, or with headers alone."""

from __future__ import annotations

import pytest

from lsa_whisper.errors import ChatSyntaxError
from lsa_whisper.inspection import inspect

CONTENTS = {"empty": b"", "binary": bytes(range(256)) * 20, "headers": b"@UTF8\n@Begin\n@End\n"}


@pytest.mark.parametrize(
    "options", [{}, {"measures": True}, {"events": True}, {"profile": True}, {"json": True}], ids=str
)
@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_without_utterances_is_named(tmp_path, name, options):
    path = tmp_path / f"{name}.cha"
    path.write_bytes(CONTENTS[name])
    with pytest.raises(ChatSyntaxError, match=f"{name}.cha.*has no utterances"):
        inspect(path, **options)


def test_others_of_a_folder_are_counted(tmp_path):
    for name, content in CONTENTS.items():
        (tmp_path / f"{name}.cha").write_bytes(content)
    (tmp_path / "good.cha").write_text("@UTF8\n@Begin\n*CHI:\t&-um hello .\n@End\n")
    report = inspect(tmp_path)
    assert report.count("has no utterances") == 3 and "CHI" in report


def test_a_transcript_of_silence_is_a_chat_transcript(tmp_path):
    (tmp_path / "v.cha").write_text("@UTF8\n@Begin\n@Languages:\teng\n@Comment:\tno speech was found\n@End\n")
    with pytest.raises(ChatSyntaxError, match="has no utterances; nothing was transcribed"):
        inspect(tmp_path / "v.cha")


def test_a_german_page_says_in_german_that_nothing_was_transcribed(tmp_path):
    (tmp_path / "silence.cha").write_text("@UTF8\n@Begin\n@Languages:\teng\n@End\n")
    (tmp_path / "good.cha").write_text("@UTF8\n@Begin\n*CHI:\t&-um hello .\n@End\n")
    printed = inspect(tmp_path, out=tmp_path / "page.html", page_language="de")
    assert "silence.cha: has no utterances; nothing was transcribed" in printed
    assert "silence.cha: hat keine Äußerungen; nichts wurde transkribiert" in (tmp_path / "page.html").read_text(
        "utf-8"
    )
