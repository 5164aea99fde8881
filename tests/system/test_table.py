"""Tables that several calls add to."""

from __future__ import annotations

import pytest

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.table import add_rows

COLUMNS = ("confidence", "text")


def test_rows_are_added_once_and_what_is_there_stays(tmp_path):
    path = tmp_path / "doubtful.csv"
    add_rows(path, COLUMNS, [(0.1, "um, I"), (0.2, "cat")])
    path.write_text(path.read_text().replace("cat", "cat: checked, it is right") + '0.9,"no\nline end"')
    before = path.read_text()
    add_rows(path, COLUMNS, [(0.1, "um, I"), (0.3, "dog")])
    add_rows(path, COLUMNS, [(0.3, "dog")])
    assert path.read_text() == f"{before}\n0.3,dog\n"


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\xff\xfe\x00", b"confidence;text\n", b"notes of a person"])
def test_another_file_is_not_touched(tmp_path, content):
    path = tmp_path / "doubtful.csv"
    path.write_bytes(content)
    with pytest.raises(LsaWhisperError, match="choose another file"):
        add_rows(path, COLUMNS, [(0.1, "um")])
    assert path.read_bytes() == content
