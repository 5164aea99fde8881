"""The pictures of the documentation, drawn by Chromium from the demo's results.

    lsa-whisper demo
    python -m benchmarks.pictures runs/demo

Writes ``docs/pictures/*.png``: the evaluation report, the page of prepared data, the review page and the comparison of
the two training curves. Run it again when one of these pages changes. ``benchmarks.terminal_picture`` and
``benchmarks.count_picture`` draw the two pictures in SVG.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from lsa_whisper.decoding.confidences import confidences_path
from lsa_whisper.system.shipped import STORYBOOK, shipped

OUT = Path("docs/pictures")
FLAGS = ["--no-sandbox", "--disable-gpu", "--mute-audio"]
SESSION = "test02"


def main() -> None:
    """Draw all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("demo", type=Path, help="The demo's folder.")
    demo = parser.parse_args().demo
    OUT.mkdir(exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as scratch:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        draw(browser, demo / "report" / "report.html", "report", height=900)
        command("inspect", demo / "data", "-o", f"{scratch}/data.html")
        draw(browser, Path(scratch) / "data.html", "prepared-data", height=900)
        command("compare-runs", demo / "lora", demo / "full", "-o", f"{scratch}/runs")
        draw(browser, Path(scratch) / "runs" / "report.html", "training-curves", height=700)
        with served(visit(demo, Path(scratch) / "visit")) as address:
            draw_review(browser, address)
        browser.close()


def command(*words: object) -> None:
    """Run a command of the program."""
    subprocess.run([sys.executable, "-m", "lsa_whisper", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def draw(browser: Browser, page: Path, name: str, height: int) -> None:
    """Save the upper part of a page."""
    view = new_page(browser, height)
    view.goto(page.resolve().as_uri())
    save(view, name)
    view.close()


def save(view: Page, name: str) -> None:
    """Save what is seen of a page in 128 colors, a third of the size of all colors."""
    seen = Image.open(io.BytesIO(view.screenshot()))
    seen.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(OUT / f"{name}.png", optimize=True)


def new_page(browser: Browser, height: int) -> Page:
    """Return an empty page as wide as a small laptop's."""
    return browser.new_page(viewport={"width": 1100, "height": height}, color_scheme="light")


def visit(demo: Path, folder: Path) -> Path:
    """Return a folder with a draft by the demo's second model, its confidences and its recording."""
    folder.mkdir()
    draft = demo / "transcripts" / "full" / f"{SESSION}.cha"
    shutil.copy(draft, folder)
    shutil.copy(confidences_path(draft), confidences_path(folder / draft.name))
    shutil.copy(shipped(STORYBOOK) / "test" / f"{SESSION}.flac", folder)
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the review page of ``folder``; give its address."""
    words = [sys.executable, "-m", "lsa_whisper", "review", str(folder), "--no-open"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        yield next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
        server.terminate()


def draw_review(browser: Browser, address: str) -> None:
    """Save the review page at its most doubtful utterance, and its keys."""
    view = new_page(browser, 800)
    view.goto(address)
    view.wait_for_selector("#list .utterance")
    view.keyboard.press("n")
    view.wait_for_timeout(1500)
    save(view, "review")
    view.keyboard.press("?")
    view.wait_for_timeout(500)
    save(view, "review-keys")
    view.close()


if __name__ == "__main__":
    main()
