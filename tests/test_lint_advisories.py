"""The check of advisories finds affected versions, installed or pinned, and accepts what the list accepts."""

from __future__ import annotations

import lint_advisories
import pytest

LIST = """# as of 2026-01-02
starlette >=0.39.0,<0.49.1 CVE-1
pyarrow <23 CVE-2 accepted ==20.0.0 it is needed
"""


@pytest.mark.parametrize(
    ("package", "version", "found"),
    [
        ("starlette", "0.49.0", 1), ("starlette", "0.49.1", 0), ("starlette", "0.38", 0), ("starlette", "0.49.0rc1", 1),
        ("pyarrow", "20.0.0", 0), ("pyarrow", "21.0.0", 1), ("pyarrow", "21.0.0+cpu", 1), ("numpy", "1.0", 0),
    ],
)  # fmt: skip
def test_affected_versions_are_found(package, version, found):
    assert len(list(lint_advisories.findings(LIST, {package: version}, "here"))) == found


def test_pins_are_read_under_the_names_of_indexes():
    assert lint_advisories.pinned("Jinja2==3.1.5\nhuggingface_hub==2.4.0\n") == {
        "jinja2": "3.1.5",
        "huggingface-hub": "2.4.0",
    }
    assert list(lint_advisories.findings("jinja2 <3.1.6 CVE-3\n", {"jinja2": "3.1.5"}, "pins"))


def test_the_list_can_be_read_and_has_its_date():
    text = lint_advisories.LIST.read_text("utf-8")
    assert "as of 20" in text.splitlines()[0]
    assert len(list(lint_advisories.advisories(text))) > 15
