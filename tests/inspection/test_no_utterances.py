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
