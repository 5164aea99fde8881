"""The page is one file, plays its clips, and shows what a manifest says as text."""

import base64
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection import inspect
from lsa_whisper.inspection.write_page import encode_audio, load_clip
from lsa_whisper.manifest import Segment
from lsa_whisper.timespan import TimeSpan

EVIL = "\"></audio><script>document.title='broken_in'</script><img/src=x/onerror=alert(1)>" + "long" * 60
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page(HTMLParser):
    """Collects a page's tags and attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page over a manifest in which every text holds markup, one recording is missing and one window is odd."""
    folder = tmp_path_factory.mktemp("page")
    tone = (0.3 * np.sin(np.arange(16_000 * 20) / 9)).astype(np.float32)
    sf.write(folder / "tone.wav", tone, 16_000)
    rows = [
        Segment(str(folder / "tone.wav"), at, 2.0 + at / 100, f"<|0.00|>{EVIL} yes.<|1.00|>", speaker=EVIL, corpus=EVIL)
        for at in range(8)
    ]
    rows += [Segment(str(folder / "gone<b>.wav"), 0, 2.05, "um no.", prompt=EVIL)]
    rows += [Segment(str(folder / "tone.wav"), 10, 1.0, "one two three four five six seven eight nine ten eleven.")]
    (folder / "data").mkdir()
    manifest.write(rows, folder / "data" / "train.jsonl")
    facts = {
        "rejected": {EVIL: {"utterances": 2, "seconds": 1.5}},
        "skipped_files": [{"path": EVIL, "reason": EVIL}],
        "notes": [EVIL],
        "roles": {EVIL: {"fluent_words": 10, "filled_pause": 3, "repetition": 1}},
    }
    (folder / "data" / "prepared.json").write_text(json.dumps(facts))
    printed = inspect(folder / "data", out=folder / "new" / "page.html")
    assert printed.endswith(f"{folder / 'new' / 'page.html'}: the same, with plots and audio clips")
    return folder / "new" / "page.html"


@pytest.fixture(scope="module")
def page(written):
    return Page(written.read_text(encoding="utf-8"))


def test_nothing_from_a_manifest_becomes_markup(page, written):
    assert not page.all("script") and all("onerror" not in image for image in page.all("img"))
    text = written.read_text(encoding="utf-8")
    assert text.count("broken_in") >= 20 and "<script" not in text
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_the_page_is_whole_by_itself(page, written):
    addresses = [value for _, attributes in page.tags for name, value in attributes.items() if name in {"src", "href"}]
    assert addresses and all(
        address.startswith(("#", "data:audio/mpeg;base64,", "data:image/png;base64,")) for address in addresses
    )
    assert {address[1:] for address in addresses if address[0] == "#"} <= {
        attributes["id"] for _, attributes in page.tags if "id" in attributes
    }
    assert not re.search(r"url\((?!#)|@import|https?:", written.read_text(encoding="utf-8"))
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    assert "default-src 'none'" in policy and "script" not in policy
    assert [path.name for path in written.parent.iterdir()] == ["page.html"], "nothing half-written stays"


def test_the_links_are_in_the_order_of_their_sections(page):
    links = [each["href"].removeprefix("#") for each in page.all("a")]
    assert links == [each["id"] for each in page.all("section")] and "figures" in links


def test_clips_are_the_sound_of_their_rows(page):
    clips = page.all("audio")
    spectrograms = [base64.b64decode(image["src"].partition(",")[2]) for image in page.all("img")]
    assert len(spectrograms) == len(clips) and all(png.startswith(b"\x89PNG") for png in spectrograms)
    assert len(clips) == 9 + 1, "every example but the lost one, and the fast one again"
    lengths = []
    for clip in clips:
        with sf.SoundFile(io.BytesIO(base64.b64decode(clip["src"].partition(",")[2]))) as file:
            assert file.samplerate == 16_000 and file.format == "MP3"
            lengths.append(file.frames / 16_000)
    assert lengths[-1] == pytest.approx(1.0, abs=0.15) and max(lengths) == pytest.approx(2.07, abs=0.15)


@pytest.mark.parametrize(("mp3", "allowed"), [(True, 0.05), (False, 1e-4)])
def test_both_formats_keep_the_sound(tmp_path, mp3, allowed):
    sf.write(tmp_path / "a.wav", (0.3 * np.sin(np.arange(48_000) / 9)).astype(np.float32), 16_000)
    samples = Recording.open(tmp_path / "a.wav").load(TimeSpan(500, 2500))
    kind, data = encode_audio(samples, mp3=mp3)
    splits_of_person, rate_hz = sf.read(io.BytesIO(data), dtype="float32")
    assert (kind, rate_hz) == ("mpeg" if mp3 else "flac", 16_000) and len(data) < 0.7 * 2 * len(samples)
    inner = slice(4_000, 28_000)  # an encoder may blur the ends
    assert np.abs(splits_of_person[inner] - samples[inner]).max() < allowed


def test_a_row_without_audio_has_a_reason(tmp_path):
    assert "no such recording" in load_clip(tmp_path / "gone.wav", TimeSpan(0, 1000)).problem
    sf.write(tmp_path / "short.wav", np.zeros(1600, np.float32), 16_000)
    assert "cannot cut" in load_clip(tmp_path / "short.wav", TimeSpan(5000, 6000)).problem


def test_page_and_terminal_agree(written):
    text = re.sub(r"<[^>]+>", " ", written.read_text(encoding="utf-8"))
    for words in ("No audio:", "words per second", "Rejected", "skipped file", "padding", "hours of audio"):
        assert words in text


def test_figures_are_named_and_tables_have_headings(page, written):
    drawings = page.all("svg")
    assert len(drawings) == 4 and all(one["role"] == "img" and one["aria-label"] for one in drawings)
    text = written.read_text(encoding="utf-8")
    assert re.search(r"<title>\d[\d.]* to \d[\d.]*: [1-9]", text), "a bar says what it counts"
    assert {"filled pauses", "repetitions"} <= set(re.findall(r'class="name">([^<]*)<', text)), "as in the report"
    assert page.all("html") == [{"lang": "en"}] and all(head["scope"] in {"col", "row"} for head in page.all("th"))


def test_a_page_that_cannot_be_written(thirty, corpus, tmp_path):
    with pytest.raises(CorpusError, match="is a folder; name the HTML file"):
        inspect(thirty, out=tmp_path)
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(CorpusError, match="cannot be written here"):
        inspect(thirty, out=tmp_path / "taken" / "page.html")
    with pytest.raises(CorpusError, match="write no page"):
        inspect(corpus(), check=True, out=tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_with_json_only_json_is_printed(thirty, tmp_path):
    assert json.loads(inspect(thirty, json=True, out=tmp_path / "page.html"))["splits"]
    assert (tmp_path / "page.html").is_file()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium in this environment")
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_nothing_runs_and_nothing_sticks_out(written, tmp_path, width):
    """A frame of that width holds the page; a script around it, which the page itself forbids, measures."""
    measure = """
      const inside = document.querySelector("iframe");
      inside.onload = () => setTimeout(() => {
        const page = inside.contentDocument;
        document.title = JSON.stringify({
          title: page.title, width: page.documentElement.scrollWidth, scripts: page.scripts.length,
          lengths: [...page.querySelectorAll("audio")].map((clip) => clip.duration),
        });
      }, 1000);
    """
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<iframe src="{written.as_uri()}" width="{width}" height="900"></iframe><script>{measure}</script>'
    )
    flags = "--headless --no-sandbox --disable-gpu --allow-file-access-from-files --no-first-run --disable-sync"
    more = f"--disable-background-networking --virtual-time-budget=5000 --user-data-dir={tmp_path / 'profile'}"
    command = [CHROMIUM, *flags.split(), *more.split(), "--dump-dom", outer.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = json.loads(re.search(r"<title>(.*?)</title>", done.stdout)[1])
    assert found["title"] == "Training data: data" and found["scripts"] == 0
    assert found["width"] <= width + 4, "something is wider than the window"
    assert len(found["lengths"]) == 10 and all(0.9 < length < 2.3 for length in found["lengths"]), "every clip loads"
