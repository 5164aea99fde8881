"""Links that somebody planted where a call is about to write: what they lead to stays as it was."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from lsa_whisper import manifest
from lsa_whisper.checkpoint import merge
from lsa_whisper.cli import main
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.errors import CheckpointError
from lsa_whisper.preparation.folder import MANIFESTS
from lsa_whisper.review.open_files import list_review_files
from lsa_whisper.system import lock
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.system.own_files import LinkError
from lsa_whisper.timespan import TimeSpan

STORY = "corpora/storybook/dev"


@pytest.fixture
def secret(tmp_path):
    secret = tmp_path / "elsewhere" / "secret"
    secret.parent.mkdir()
    secret.write_text("kept")
    yield secret
    assert secret.read_text() == "kept"


def test_prepare_follows_no_hidden_link(secret, tmp_path, pytestconfig):
    out = tmp_path / "out"
    out.mkdir()
    for name in [*MANIFESTS, "prepared.json"]:
        (out / f".{name}.partial").symlink_to(secret)
    words = ["prepare", str(pytestconfig.rootpath / STORY), "--out", str(out), "--context", "6"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert not [path for path in out.iterdir() if path.is_symlink() or path.name.startswith(".")]
    assert manifest.read(out / "train.jsonl")


def test_decoded_windows_are_stored_in_a_new_file(secret, tmp_path):
    partial = PartialDecoding(tmp_path / "visit.cha", "0" * 16)
    partial.path.symlink_to(secret)
    heard = [(TimeSpan(0, 900), DecodedWindow(()))]
    assert partial.read() == []
    partial.append(heard)
    assert partial.read() == heard


def test_a_lock_that_is_a_link_is_rejected(secret, tmp_path):
    target = tmp_path / "visit.cha"
    lock._lock_path(target).symlink_to(secret.with_name("new"))
    with pytest.raises(LinkError, match="symbolic link"), lock.write_lock(target):
        pass
    assert not secret.with_name("new").exists()


def test_a_link_at_the_end_is_replaced_not_followed(secret, tmp_path):
    path = tmp_path / "report.html"
    path.symlink_to(secret)
    replace_file("new", path)
    assert path.read_text() == "new" and not path.is_symlink()


def test_a_link_to_a_folder_is_no_file_to_replace(tmp_path):
    link = tmp_path / "visits"
    link.symlink_to(tmp_path)
    with pytest.raises(IsADirectoryError, match="visits"):
        replace_file("x", link)
    assert link.is_symlink() and [*tmp_path.iterdir()] == [link]


def test_a_planted_lock_link_is_a_one_line_error(secret, tmp_path, pytestconfig):
    recording = pytestconfig.rootpath / STORY / "dev01.flac"
    lock._lock_path(tmp_path / "dev01.cha").symlink_to(secret.with_name("new"))
    nano = pytestconfig.rootpath / "models" / "nano"
    done = CliRunner().invoke(main, ["transcribe", str(recording), "--model", str(nano), "-o", str(tmp_path)])
    assert done.exit_code == 1 and "symbolic link" in done.output
    assert not isinstance(done.exception, OSError)
    assert not secret.with_name("new").exists() and not (tmp_path / "dev01.cha").exists()


def test_a_link_to_itself_costs_only_itself(tmp_path, pytestconfig):
    folder = tmp_path / "visits"
    folder.mkdir()
    (folder / "dev01.cha").write_bytes((pytestconfig.rootpath / STORY / "dev01.cha").read_bytes())
    for name in ("loop.cha", "loop.wav"):
        (folder / name).symlink_to(name)
    marked = CliRunner().invoke(main, ["mark", str(folder), "-o", str(tmp_path / "marked")])
    assert marked.exit_code == 1 and "not marked" in marked.output and (tmp_path / "marked" / "dev01.cha").is_file()
    fixed = CliRunner().invoke(main, ["inspect", str(folder), "--fix"])
    assert fixed.exit_code == 1 and "loop.cha:1:1: cannot open it" in fixed.output
    assert {each.name for each in list_review_files(folder, None)} == {"dev01.cha", "loop.cha", "loop.wav"}
    with pytest.raises(CheckpointError, match=r"loop\.cha: no such folder"):
        merge([folder / "loop.cha", "models/nano"], tmp_path / "merged")
