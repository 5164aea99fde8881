"""The table of measures beside those of others is made from the latest result, and the result from this program."""

from pathlib import Path

import pytest

from benchmarks import measures, result

CHAT = Path(__file__).resolve().parents[3] / "shared" / "data" / "chat"


def test_the_table_is_that_of_the_latest_result():
    text = measures.PAGE.read_text("utf-8")
    assert measures.update_page(text) == text, "type: python -m benchmarks.measures ../shared/data/chat"
    found = result.last("measures")
    assert "NOT EQUAL" not in text and found["flucalc"]["equal"] == found["flucalc"]["of"] == len(measures.PUBLISHED)


@pytest.mark.skipif(not CHAT.exists(), reason="../shared/data/chat is absent")
def test_the_latest_result_is_that_of_this_program():
    found = result.last("measures")
    now = measures.compared(CHAT)
    assert now == {name: found[name] for name in now}, "type: python -m benchmarks.measures ../shared/data/chat"


@pytest.mark.parametrize(
    ("tiers", "name", "here", "there"),
    [
        ("*CHI:\ta , b .\n", "mluw", 2.0, 4.0),
        ("*CHI:\ta b .\n*CHI:\ta xxx .\n", "mluw", 2.0, 2.5),
        ("*CHI:\tit's dogs .\n%mor:\tpro|it~cop|be&3S n|dog-PL .\n", "mlum", 4.0, 3.0),
        ("*CHI:\tthe The .\n", "ttr", 0.5, 1.0),
    ],
)
def test_others_differ_for_the_stated_reason(tiers, name, here, there):
    own, others = measures.both(f"{measures._HEAD}{tiers}@End\n")
    assert (own[name], others[name]) == (here, there)
