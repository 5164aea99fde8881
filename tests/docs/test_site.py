"""The pages of `make docs`, opened as files: they are searched, fetch nothing and break no rule of axe-core."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pages import ROOT

pytestmark = pytest.mark.slow(minutes=0.4)
SEEN = (
    "index",
    "tutorial",
    "base-models",
    "check-and-correct",
    "reference/commands",
    "reference/recipes",
    "reference/python",
)
"""Pages that have between them whatever the pages are made of: tables, pictures, code, command and class references."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="mkdocs-material is not installed (`make docs` installs it)")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return out


def opened(chromium, page, theme="light"):
    view = chromium.new_page(color_scheme=theme)
    view.wrong = []
    view.on("pageerror", lambda error: view.wrong.append(str(error)))
    view.on("request", lambda r: view.wrong.append(r.url) if r.url.startswith("http") else None)
    view.goto(page.as_uri())
    return view


def test_the_search_works_without_a_server_and_fetches_nothing(site, chromium):
    view = opened(chromium, site / "reference" / "commands.html")
    for _ in range(300):  # until the page has what reacts to the key
        if view.evaluate("document.activeElement.matches('.md-search__input')"):
            break
        view.keyboard.press("/")
        view.wait_for_timeout(200)
    view.keyboard.press("Control+a")
    view.keyboard.type("filled pause")
    view.wait_for_selector(".md-search-result__item a", state="attached")
    assert "matching documents" in view.inner_text(".md-search-result__meta")
    view.goto(view.locator(".md-search-result__item a").first.get_attribute("href"))
    assert view.url.startswith(site.as_uri()) and "filled pause" in view.inner_text("article").lower()
    assert view.wrong == []
    view.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_violates_a_rule_of_accessibility(site, chromium, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra has it").Axe()
    options = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if theme == "dark" else {})
    found = []
    for name in SEEN:
        view = opened(chromium, site / f"{name}.html", theme)
        violations = axe.run(view, options=options).response["violations"]
        found += [(name, each["id"], each["nodes"][0]["html"]) for each in violations]
        assert view.wrong == []
        view.close()
    assert found == []
