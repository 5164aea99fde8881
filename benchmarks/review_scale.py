"""A recording of three hours with 3,000 utterances in the review page: opening, keystrokes, edits, pictures, memory.

    python -m benchmarks.review_scale

Needs Chromium and playwright (the dev extra). The recording is noise, the text synthetic.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import soundfile
from playwright.sync_api import sync_playwright

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.chat import Participant, Utterance, compose, utterance
from lsa_whisper.decoding.confidences import Confidences, ScoredUtterance, confidences_path, write_confidences
from lsa_whisper.timespan import TimeSpan

UTTERANCES, HOURS, RATE_HZ = 3000, 3, 16_000
KEYS, TILES = 40, 20
WORDS, SYLLABLES = 15, ["ba", "do", "ki", "lu", "me", "no", "pa", "ri", "so", "ta"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--mute-audio", "--disable-quic", "--no-first-run"]


def sentence(draws: np.random.Generator) -> str:
    """Return an utterance with a filled pause and words that hardly come again."""
    words = ["".join(draws.choice(SYLLABLES, 3)) for _ in range(WORDS)]
    return " ".join([*words[:4], "&-um", *words[4:], "."])


def scored(spoken: Utterance, draws: np.random.Generator) -> ScoredUtterance:
    """Return the words of an utterance with random confidences."""
    words = tuple(spoken.verbatim())
    scores = tuple(-draws.exponential(0.1, len(words)))
    return ScoredUtterance(spoken.speaker, spoken.text, spoken.span, words, scores, (None,) * len(words))


def make(folder: Path) -> Path:
    """Write the recording, its transcript and its confidences."""
    step_ms = HOURS * 3_600_000 // UTTERANCES
    spans = [TimeSpan(n * step_ms, n * step_ms + step_ms - 200) for n in range(UTTERANCES)]
    draws = np.random.default_rng(0)
    made = [utterance("CHI" if n % 3 else "INV", sentence(draws), span) for n, span in enumerate(spans)]
    people = [Participant("CHI", "Target_Child"), Participant("INV", "Investigator")]
    path = folder / "long.cha"
    chat.write(compose(languages=["eng"], participants=people, utterances=made, media="long"), path)
    write_confidences(Confidences(tuple(scored(each, draws) for each in made)), confidences_path(path))
    with soundfile.SoundFile(folder / "long.wav", "w", RATE_HZ, 1) as file:
        for _ in range(HOURS * 60):
            file.write(draws.normal(0, 0.05, RATE_HZ * 60).astype(np.float32))
    return path


def memory_mb(pid: int) -> int:
    """Return the largest resident memory of a process so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024  # type: ignore[index]


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    path = make(folder)
    words = [sys.executable, "-m", "lsa_whisper", "review", str(path), "--no-open"]
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    address = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("#list .utterance")
        opening_s = time.perf_counter() - began
        drawn = page.locator("#rows .utterance").count()
        page.wait_for_timeout(3000)
        keystrokes = page.evaluate(
            """async (count) => {
                 const text = document.getElementById('text'), times = [];
                 text.focus();
                 for (let n = 0; n < count; n += 1) {
                   const began = performance.now();
                   text.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', bubbles: true}));
                   document.execCommand('insertText', false, 'a');
                   await new Promise(requestAnimationFrame);
                   await new Promise((done) => setTimeout(done));
                   times.push(performance.now() - began);
                 }
                 return times;
               }""",
            KEYS,
        )
        page_mb = round(page.evaluate("performance.memory.usedJSHeapSize") / 1e6, 1)
        browser.close()
    origin = "http://" + urlsplit(address).netloc
    revision = json.loads(urllib.request.urlopen(f"{address}transcript?file=0").read())["revision"]
    edits = []
    for number in range(KEYS):
        body = {
            "action": "text",
            "file": 0,
            "revision": revision,
            "number": number * (UTTERANCES // KEYS),
            "text": f"edit {'a' * 5} .",
        }
        headers = {"Origin": origin, "Content-Type": "application/json"}
        began = time.perf_counter()
        asked = urllib.request.Request(f"{address}action", json.dumps(body).encode(), headers)
        revision = json.loads(urllib.request.urlopen(asked).read())["revision"]
        edits.append(1000 * (time.perf_counter() - began))
    urllib.request.urlopen(f"{address}peaks?file=0").read()
    tiles = []
    for number in range(TILES):
        query = f"file=0&level={number % 2}&tile={100 + number}&gain_db=0"
        began = time.perf_counter()
        urllib.request.urlopen(f"{address}spectrogram?{query}").read()
        tiles.append(1000 * (time.perf_counter() - began))
    server_mb = memory_mb(server.pid)
    server.kill()
    shutil.rmtree(folder)
    result.write(
        "review_scale",
        ("starlette", "uvicorn", "playwright"),
        f"synthetic: {HOURS} h of noise (wav), {UTTERANCES} utterances of {WORDS + 1} words",
        opening_s=round(opening_s, 2),
        keystroke_ms={"median": round(statistics.median(keystrokes), 1), "largest": round(max(keystrokes), 1)},
        saved_edit_ms={"median": round(statistics.median(edits), 1), "largest": round(max(edits), 1)},
        spectrogram_tile_ms={"median": round(statistics.median(tiles), 1), "largest": round(max(tiles), 1)},
        rows_drawn=drawn,
        page_mb=page_mb,
        server_mb=server_mb,
    )


if __name__ == "__main__":
    main()
