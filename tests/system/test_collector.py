"""The search for garbage rests while a long file is read, and goes on after it, also after an error."""

from __future__ import annotations

import gc

import pytest

from lsa_whisper.system.collector import without_collector


@pytest.mark.parametrize("keep", [False, True])
def test_the_search_goes_on_afterwards(keep):
    with pytest.raises(ValueError), without_collector(keep=keep):
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()
    gc.unfreeze()


def test_a_search_that_rests_already_is_not_begun():
    gc.disable()
    try:
        with without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
