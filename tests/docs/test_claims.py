"""A figure that README or a page states was measured by a script, and the script's last result says the same."""

from __future__ import annotations

import json
import re

import pytest
from pages import PAGES, ROOT, sections

from benchmarks import table

FIGURE = re.compile(
    r"(\d[\d,]*(?:\.\d+)?(?:e-\d+)?)\s?(%|GiB|ms|seconds?|minutes?|hours?|s\b|times as)|\b(\d\.\d+e-\d+)\b"
)
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
CLAIMED = {place: claim for claim in table.CLAIMS for place in claim.places}
STATED = [
    (page, heading, [found[1] or found[3] for found in FIGURE.finditer(prose)])
    for page in PAGES
    for heading, prose, comments in sections(page)
    if not any(comment.startswith("not measured: ") for comment in comments)
]


def test_the_table_is_up_to_date():
    text = table.PAGE.read_text("utf-8")
    assert table.rewritten(text) == text, "type: python -m benchmarks.table"


def test_every_claim_names_a_section_that_is_there_and_a_script_that_is_there():
    there = {(page, heading) for page in PAGES for heading, *_ in sections(page)}
    assert set(CLAIMED) <= there
    assert all((ROOT / "benchmarks" / f"{claim.script}.py").is_file() for claim in table.CLAIMS)


def test_every_result_has_a_row():
    assert {path.stem for path in RESULTS} <= {claim.script for claim in table.CLAIMS}


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_says_how_it_was_made(path):
    found = json.loads(path.read_text("utf-8"))
    assert found["command"].startswith(f"python -m benchmarks.{path.stem}")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"]) and found["machine"] and found["data"]
    assert found["versions"] and all(found["versions"].values())


@pytest.mark.parametrize("page, heading, figures", STATED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_stated_figure_was_measured(page, heading, figures):
    if not figures:
        return
    claim = CLAIMED.get((page, heading))
    assert claim, (
        f"{figures}: give {page} ({heading}) a row in benchmarks/table.py, or write <!-- not measured: WHY -->"
    )
    found = table.result_of(claim)
    if found is None:
        pytest.skip(f"benchmarks.{claim.script} has left no result yet")
    known = list(numbers(found))
    for figure in figures:
        assert any(says(figure, number) for number in known), f"{figure} is not in {claim.script}.json"


def numbers(found):
    """Yield every number of a result."""
    if isinstance(found, bool) or found is None or isinstance(found, str):
        return
    if isinstance(found, int | float):
        yield found
    else:
        for each in found.values() if isinstance(found, dict) else found:
            yield from numbers(each)


def says(figure, number):
    """Whether a figure is a number of the result, as it stands or in percent, rounded as the figure is."""
    if "e" in figure:
        return f"{number:.1e}" == figure
    decimals = len(figure.partition(".")[2])
    return figure.replace(",", "") in (f"{number:.{decimals}f}", f"{100 * number:.{decimals}f}")


def test_a_figure_is_compared_as_it_is_rounded():
    assert says("71", 0.711) and says("1.43", 1.43) and says("3.3e-06", 3.337e-6)
    assert not says("72", 0.711) and not says("1.4", 1.46)
