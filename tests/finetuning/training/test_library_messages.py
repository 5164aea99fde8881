"""Warnings of libraries and lines of DeepSpeed go to the log of the run; our own warnings are shown."""

from __future__ import annotations

import logging
import warnings

import pytest

from lsa_whisper.finetuning.training import library_messages
from lsa_whisper.finetuning.training.library_messages import LOG, keep_library_messages


def warn_as_libraries_do():
    warnings.warn_explicit("is deprecated", FutureWarning, "/site-packages/library/module.py", 7)
    logging.getLogger("DeepSpeed").warning("Setting accelerator to %s", "CPU")


@pytest.mark.parametrize("finished", [True, False])
def test_messages_are_kept_in_the_folder_of_the_run(tmp_path, capfd, finished):
    out, unfinished = tmp_path / "out", tmp_path / "out.unfinished"
    with keep_library_messages(out, unfinished):
        warn_as_libraries_do()
        (out if finished else unfinished).mkdir()
    log = ((out if finished else unfinished) / LOG).read_text()
    assert "module.py:7: FutureWarning: is deprecated" in log and "WARNING: Setting accelerator to CPU" in log
    assert capfd.readouterr() == ("", "")


def test_nothing_is_lost_if_the_run_has_no_folder(tmp_path, capfd):
    with pytest.raises(OSError, match="no device"), keep_library_messages(tmp_path / "out", tmp_path / "unfinished"):
        warn_as_libraries_do()
        raise OSError("no device")
    assert "is deprecated" in capfd.readouterr().err and not list(tmp_path.iterdir())


def test_our_own_warnings_are_shown(tmp_path):
    with pytest.warns(UserWarning, match="rank 4"), keep_library_messages(tmp_path, tmp_path):
        warnings.warn_explicit("rank 4", UserWarning, library_messages.__file__, 1)
    assert not list(tmp_path.iterdir())
