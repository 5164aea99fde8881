"""The sound as a picture: spectrogram tiles, zoom, gain, dragging on it; and video where the recording has one."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import soundfile
from PIL import Image
from review_page import drag_end, opened, press, texts, until

from lsa_whisper import chat
from lsa_whisper.review.sounds import TILE_MS, SessionSound, tile

RATE_HZ = 16_000


def shades(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("L")).astype(int)


@pytest.fixture
def tone(tmp_path):
    """Twelve seconds: four of silence, four of a tone of 1 kHz, four of the same tone 24 dB lower."""
    times = np.arange(4 * RATE_HZ) / RATE_HZ
    loud = 0.2 * np.sin(2 * np.pi * 1000 * times)
    path = tmp_path / "tone.wav"
    soundfile.write(path, np.concatenate([np.zeros(4 * RATE_HZ), loud, loud / 16]), RATE_HZ)
    return SessionSound(path)


def test_a_tone_is_a_dark_line_where_it_is(tone):
    first, second = shades(tile(tone, 0, 0, 0)), shades(tile(tone, 0, 1, 0))
    assert first.shape == (64, 800) and second.shape == (64, 400)
    assert first[:, :390].min() == 255 and first[:, 420:].min() == 0
    row = int(first[:, 600].argmin())
    assert abs(row - (63 - 64 * (2595 * np.log10(1 + 1000 / 700)) / (2595 * np.log10(1 + 8000 / 700)))) < 2
    assert second[row].min() > first[row].min()
    assert shades(tile(tone, 0, 1, 24))[row].min() == first[row].min()


def test_a_closer_tile_has_more_columns_for_each_second_and_none_is_beyond_the_end(tone):
    assert shades(tile(tone, 1, 2, 0)).shape == (64, 800) and TILE_MS[1] == 2000
    assert tile(tone, 0, 2, 0) == b"" and tile(tone, 1, 6, 0) == b""


def test_only_tiles_that_exist_are_served(visit, serve):
    served = serve(visit)
    for number in range(6):
        status, data, headers = served.request(f"spectrogram?file=0&level=0&tile={number}&gain_db=0")
        assert status == 200 and headers["Content-Type"] == "image/png" and len(data) < 60_000
    for query in (
        "level=2&tile=0&gain_db=0",
        "level=0&tile=-1&gain_db=0",
        "level=0&tile=0",
        "level=a&tile=0&gain_db=0",
    ):
        assert served.request(f"spectrogram?file=0&{query}")[0] == 400
    assert served.request("spectrogram?file=0&level=0&tile=9999&gain_db=0")[0] == 404


@pytest.fixture
def two_microphones(visit):
    """The session as stereo, silent in the second channel, with a recording of a camera and one that is not of it."""
    samples, rate_hz = soundfile.read(visit / "test01.flac", dtype="float32")
    soundfile.write(visit / "test01.wav", np.stack([samples, 0 * samples], axis=1), rate_hz)
    (visit / "test01.flac").unlink()
    soundfile.write(visit / "test01 camera.flac", samples[: 4 * rate_hz], rate_hz)
    soundfile.write(visit / "test011.flac", samples[:rate_hz], rate_hz)
    return visit


def test_each_recording_and_channel_of_a_session_is_served(two_microphones, serve):
    served = serve(two_microphones)
    names = json.loads(served.request("transcript?file=0")[1])["sounds"]
    assert names == ["test01.wav", "test01.wav, channel 1", "test01.wav, channel 2", "test01 camera.flac"]
    peaks = [np.frombuffer(served.request(f"peaks?file=0&sound={number}")[1], np.int8) for number in range(4)]
    assert not peaks[2].any() and peaks[1].any() and len(peaks[3]) == 800 < len(peaks[0])
    assert abs(int(peaks[0].max()) * 2 - int(peaks[1].max())) < 3
    clips = [served.request(f"clip?file=0&sound={number}&start_ms=0&end_ms=9000")[1][44:] for number in range(4)]
    assert not any(clips[2]) and len(clips[3]) == 4 * 2 * RATE_HZ < len(clips[1])
    assert served.request("sound?file=0&sound=3")[1] == (two_microphones / "test01 camera.flac").read_bytes()
    assert shades(served.request("spectrogram?file=0&sound=2&level=0&tile=0&gain_db=40")[1]).min() == 255
    for wrong in ("4", "-1", "a", "1e3"):
        assert served.request(f"sound?file=0&sound={wrong}")[0] == 404


@pytest.mark.slow
def test_a_channel_is_chosen_and_played(two_microphones, serve, chromium):
    page = opened(chromium, serve(two_microphones / "test01.cha"))
    page.select_option("#sounds", label="test01.wav, channel 1")
    page.locator("#list").focus()
    page.keyboard.press("Shift+ ")
    until(page, "audio.src.includes('sound=1') && audio.currentTime > 0.2")
    page.select_option("#sounds", label="test01 camera.flac")
    page.locator("#list").focus()
    page.keyboard.press(" ")
    until(page, "audio.src.includes('sound?file=0&sound=3') && !audio.paused")
    assert not page.wrong


@pytest.mark.slow
def test_an_end_is_dragged_on_the_spectrogram_of_a_closer_view(visit, serve, chromium):
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown", "q", "]")
    dark = "[...document.getElementById('spectrogram').getContext('2d').getImageData(0, 0, 900, 100).data]"
    until(page, f"{dark}.some((shade, at) => at % 4 === 0 && shade < 60)")
    before = chat.read(path).utterances[1].span
    drag_end(page, "#spectrogram", before.end_ms, 30)
    after = chat.read(path).utterances[1].span
    assert after.start_ms == before.start_ms and after.end_ms < before.end_ms - 20
    page.select_option("#gain", "12")
    page.keyboard.press("Escape")
    page.keyboard.press(" ")
    until(page, "!document.getElementById('audio').paused")
    assert not page.wrong


@pytest.mark.slow
def test_a_video_is_shown_where_the_recording_has_one(visit, serve, chromium):
    av = pytest.importorskip("av")
    path = visit / "test01.webm"
    samples, rate_hz = soundfile.read(visit / "test01.flac", dtype="float32", frames=3 * RATE_HZ)
    with av.open(str(path), "w") as container:
        video = container.add_stream("libvpx", rate=10)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound = container.add_stream("libopus", rate=48_000, layout="mono")
        for number in range(30):
            shade = np.full((48, 64, 3), 8 * number, np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(shade, format="rgb24")))
        frame = av.AudioFrame.from_ndarray(np.repeat(samples, 48_000 // rate_hz)[None], format="flt", layout="mono")
        frame.sample_rate = 48_000
        container.mux(sound.encode(frame))
        container.mux([*video.encode(), *sound.encode()])
    (visit / "test01.flac").unlink()
    page = opened(chromium, serve(visit))
    until(page, "!document.getElementById('audio').hidden")
    assert page.evaluate("document.getElementById('audio').videoWidth") == 64
    page.keyboard.press(" ")
    until(page, "document.getElementById('audio').currentTime > 0.3")
    assert texts(visit / "test01.cha") and not page.wrong


@pytest.mark.slow
def test_a_recording_that_is_missing_or_vanishes_is_named(visit, serve, chromium):
    served = serve(visit)
    page = opened(chromium, served)
    assert not page.is_visible("#message")
    (visit / "test01.flac").unlink()
    page.reload()
    page.wait_for_selector("#list .utterance")
    page.keyboard.press("Space")
    page.wait_for_selector("#message:not([hidden])")
    assert "cannot be read any more" in page.inner_text("#message") and not page.wrong
    served.kill()
    page = opened(chromium, serve(visit))
    assert "recording was not found" in page.inner_text("#message")
