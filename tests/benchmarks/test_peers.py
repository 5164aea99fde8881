"""The page on other programs is made from the latest result, and says so of programs that could not be run."""

from benchmarks import peers, result


def test_the_page_is_that_of_the_latest_result():
    found = result.last("peers")
    assert peers.PAGE.read_text("utf-8") == peers.page(found)
    assert all(set(judged["programs"]) == set(peers.PROGRAMS) for judged in found["models"].values())


def test_a_program_that_cannot_load_a_model_has_the_reason_in_its_row():
    row = peers._row("other", {"failed": "ValueError: a|b `c`"})
    assert row == "| other | - | cannot load it: ValueError: a b  c  | - | - |"
