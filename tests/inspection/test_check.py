"""``inspect --check`` and ``--fix``: the list, the exit status, the JSON, and the repaired files."""

import json

import pytest
from click.testing import CliRunner
from small_transcript import BASE, changed

from lsa_whisper.cli.group import main
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.inspection import inspect

BROKEN = changed("4;11.03", "4;9.3").replace("last .", "la[st .").replace("@End\n", "")
"""Two violations with one correct repair, and one without."""


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "m.cha"
    path.write_text(BROKEN)
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["inspect", *map(str, arguments)], catch_exceptions=False)


def test_the_exit_status_says_whether_there_are_problems(broken):
    assert run(broken, "--check").exit_code == 1
    broken.write_text(BASE)
    done = run(broken, "--check")
    assert (done.exit_code, done.output) == (0, "0 problem(s) in 0 of 1 file(s)\n")
    assert run(broken).exit_code == 0


def test_the_list_has_place_remedy_and_number(broken):
    lines = run(broken, "--check").output.splitlines()
    assert lines[0] == f"{broken}:1:1: @End is missing; make @End the last line [no-end, CHECK 7]"
    assert lines[1].startswith(f"{broken}:5:21: the age '4;9.3' is not like 4;11.03; write two digits: 4;09.03")
    assert lines[2].startswith(f"{broken}:13:9: cannot read '['; ") and lines[2].endswith(
        "[unmatched-bracket, CHECK 22]"
    )
    assert lines[3:] == [
        "3 problem(s) in 1 of 1 file(s)",
        "some have one correct repair: --fix makes it and keeps the original",
    ]


def test_the_json_has_the_same(broken):
    done = run(broken, "--check", "--json")
    assert done.exit_code == 1
    found = json.loads(done.output)
    assert [(one["code"], one["check_number"], one["line"], one["fixable"]) for one in found] == [
        ("no-end", 7, 1, True),
        ("age-zero", 153, 5, True),
        ("unmatched-bracket", 22, 13, False),
    ]
    assert all(one["path"] == str(broken) and one["remedy"] and one["message"] and one["column"] for one in found)


REMARKS = changed("last .", "and/or .").replace("m, audio", "n, audio")
"""What CLAN's CHECK accepts: a slash, and the name of another recording."""


def test_remarks_do_not_decide_the_exit_status(broken):
    broken.write_text(REMARKS)
    done = run(broken, "--check")
    assert done.exit_code == 0 and "[media-name, CHECK 157, remark]" in done.output
    assert done.output.splitlines()[-1].startswith("0 problem(s) in 0 of 1 file(s), and 2 remark(s)")
    assert run(broken, "--check", "--strict").exit_code == 1
    assert {one["severity"] for one in json.loads(run(broken, "--check", "--json").output)} == {"remark"}
    broken.write_text(BROKEN)
    assert {one["severity"] for one in json.loads(run(broken, "--check", "--json").output)} == {"error"}


def test_a_repair_shows_the_difference_and_keeps_the_original(broken):
    done = run(broken, "--fix")
    assert done.exit_code == 1
    assert "-@ID:\teng|corpus|CHI|4;9.3|" in done.output and "+@ID:\teng|corpus|CHI|4;09.03|" in done.output
    assert f"{broken}: repaired; the original is {broken}.original" in done.output
    assert "1 problem(s) in 1 of 1 file(s)" in done.output
    assert broken.with_name("m.cha.original").read_text() == BROKEN
    assert broken.read_text() == BROKEN.replace("4;9.3", "4;09.03") + "@End\n"
    assert "repaired" not in run(broken, "--fix").output  # nothing is left to do


def test_no_original_is_overwritten(broken):
    inspect(broken, fix=True)
    broken.write_text(BASE.replace("@End\n", ""))
    assert inspect(broken, fix=True).errors == 0
    assert broken.with_name("m.cha.original").read_text() == BROKEN
    assert broken.with_name("m.cha.original1").read_text() == BASE.replace("@End\n", "")


def test_a_link_stays_a_link_and_latin_1_becomes_utf_8(tmp_path):
    real, link = tmp_path / "real" / "m.cha", tmp_path / "m.cha"
    real.parent.mkdir()
    real.write_bytes(BASE.replace("Ann", "Zoé").encode("latin-1"))
    link.symlink_to(real)
    assert [one["code"] for one in json.loads(inspect(link, check=True, json=True))] == ["encoding"]
    assert inspect(link, fix=True).errors == 0
    assert link.is_symlink() and real.read_text("utf-8") == BASE.replace("Ann", "Zoé")


def test_a_full_disk_leaves_the_transcript_as_it_is(broken, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(LsaWhisperError, match="No space left"):
        inspect(broken, fix=True)
    assert broken.read_text() == BROKEN and list(broken.parent.iterdir()) == [broken]


def test_a_language_that_does_not_exist(broken):
    broken.write_text(BASE.replace("spa", "xyz"))
    (found,) = json.loads(inspect(broken, check=True, json=True))
    assert (found["code"], found["line"], found["column"]) == ("unknown-language", 3, 18)
