"""Recordings as they come: good ones, other containers, and broken ones with one clear sentence each."""

import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from containers import encode
from unprivileged import closed

from lsa_whisper.audio import AUDIO_SUFFIXES, SAMPLE_RATE_HZ, Recording
from lsa_whisper.errors import AudioError
from lsa_whisper.timespan import TimeSpan


def noise(seconds: float, rate_hz: int, channels: int = 1) -> np.ndarray:
    """Noise below 5 kHz: what differs by one sample differs audibly, and every rate and codec can hold it."""
    raw = np.random.default_rng(0).standard_normal((int(seconds * rate_hz), channels))
    kernel = np.sinc(np.linspace(-16, 16, 1 + 32 * rate_hz // 10_000)) * 10_000 / rate_hz
    smooth = [np.convolve(raw[:, channel], kernel, mode="same") for channel in range(channels)]
    return (0.1 * np.stack(smooth, 1)).astype(np.float32)


def tone(seconds: float, rate_hz: int, channels: int = 1, pitch_hz: float = 440.0) -> np.ndarray:
    wave = 0.3 * np.sin(2 * np.pi * pitch_hz * np.arange(int(seconds * rate_hz)) / rate_hz)
    return np.repeat(wave[:, None], channels, axis=1).astype(np.float32)


def pitch_of(samples: np.ndarray) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * SAMPLE_RATE_HZ / len(samples))


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".mp3", ".ogg", ".aiff"])
@pytest.mark.parametrize(("rate_hz", "channels"), [(8_000, 1), (16_000, 1), (44_100, 2), (48_000, 1)])
def test_any_rate_becomes_16_khz_mono(tmp_path, suffix, rate_hz, channels):
    path = tmp_path / f"a{suffix}"
    sf.write(path, tone(2.0, rate_hz, channels), rate_hz)
    recording = Recording.open(path)
    samples = recording.load()
    assert (recording.rate_hz, recording.channels) == (rate_hz, channels)
    assert recording.duration_s == pytest.approx(2.0, abs=0.08)  # a codec may pad its last frame
    assert samples.dtype == np.float32 and samples.ndim == 1
    assert len(samples) == pytest.approx(recording.duration_s * SAMPLE_RATE_HZ, abs=2)
    assert pitch_of(samples[: 2 * SAMPLE_RATE_HZ]) == pytest.approx(440, abs=1)
    assert np.sqrt(2 * np.mean(samples[4000:28000] ** 2)) == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(("rate_hz", "channels"), [(96_000, 1), (16_000, 6), (11_025, 3)])
def test_unusual_rates_and_channels(tmp_path, rate_hz, channels):
    path = tmp_path / "a.wav"
    sf.write(path, tone(1.0, rate_hz, channels), rate_hz)
    assert pitch_of(Recording.open(path).load()) == pytest.approx(440, abs=1)


def test_mu_law_at_8_khz(tmp_path):
    path = tmp_path / "telephone.wav"
    sf.write(path, tone(1.0, 8_000), 8_000, subtype="ULAW")
    assert pitch_of(Recording.open(path).load()) == pytest.approx(440, abs=1)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("span", [TimeSpan(0, 700), TimeSpan(333, 1871), TimeSpan(2500, 3000), TimeSpan(2500, 9999)])
def test_a_cut_equals_the_same_part_of_the_whole(tmp_path, rate_hz, span):
    path = tmp_path / "a.flac"
    sf.write(path, noise(3.0, rate_hz), rate_hz)
    is_cut_from_the_whole(Recording.open(path), span)


def is_cut_from_the_whole(recording, span):
    expected = recording.load()[16 * span.start_ms : 16 * span.end_ms]
    cut = recording.load(span)
    assert abs(len(cut) - len(expected)) <= 1  # only where the file ends
    np.testing.assert_allclose(cut[: len(expected)], expected[: len(cut)], atol=2e-4)


@pytest.mark.parametrize("rate_hz", [16_000, 44_100])
@pytest.mark.parametrize("block_s", [0.3, 1.0, 2.5, 30.0])
def test_streamed_blocks_join_to_the_whole(tmp_path, rate_hz, block_s):
    path = tmp_path / "a.wav"
    sf.write(path, noise(4.4, rate_hz, 2), rate_hz)
    recording = Recording.open(path)
    blocks = list(recording.stream(block_s))
    assert all(len(block) == round(block_s * SAMPLE_RATE_HZ) for block in blocks[:-1])
    assert 0 < len(blocks[-1]) <= round(block_s * SAMPLE_RATE_HZ)
    np.testing.assert_array_equal(np.concatenate(blocks), recording.load())
    assert len(recording.load()) == pytest.approx(4.4 * SAMPLE_RATE_HZ, abs=2)


def test_streaming_takes_constant_memory(tmp_path):
    def peak_bytes(seconds: int) -> int:
        path = tmp_path / f"{seconds}.wav"
        with sf.SoundFile(path, "w", 16_000, 1) as file:
            for _ in range(seconds // 10):
                file.write(np.zeros(160_000, np.int16))
        recording = Recording.open(path)
        tracemalloc.start()
        assert sum(len(block) for block in recording.stream(10.0)) == seconds * SAMPLE_RATE_HZ
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    short, long = peak_bytes(60), peak_bytes(600)
    assert long < short * 1.2 < 20e6


def test_samples_that_are_not_finite_become_silence(tmp_path):
    path, samples = tmp_path / "nan.wav", tone(1.0, 16_000)
    samples[100], samples[200] = np.nan, np.inf
    sf.write(path, samples, 16_000, subtype="FLOAT")
    loaded = Recording.open(path).load()
    assert loaded[100] == loaded[200] == 0
    assert np.isfinite(loaded).all()


@pytest.mark.parametrize("span", [TimeSpan(500, 500), TimeSpan(700, 300), TimeSpan(1000, 1200), TimeSpan(-5, 100)])
def test_an_impossible_cut_is_an_audio_error(tmp_path, span):
    path = tmp_path / "a.wav"
    sf.write(path, tone(1.0, 16_000), 16_000)
    with pytest.raises(AudioError, match=r"a\.wav: cannot cut"):
        Recording.open(path).load(span)


def _no_wav(path: Path) -> None:
    path.write_text("this is no wav " * 99)


def _header_only(path: Path) -> None:
    sf.write(path, np.zeros(0, np.float32), 16_000)


def _no_channels(path: Path) -> None:
    sf.write(path, tone(0.1, 16_000), 16_000)
    data = bytearray(path.read_bytes())
    data[22:24] = struct.pack("<H", 0)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: None, "no such recording"),
        (Path.mkdir, "not a file"),
        (Path.touch, "is empty"),
        (_no_wav, "no audio can be read"),
        (_header_only, "no audio can be read"),
        (_no_channels, "no audio can be read"),
    ],
)
def test_a_file_without_audio_is_a_one_line_error(tmp_path, damage, words):
    path = tmp_path / "a b ü.wav"
    damage(path)
    with pytest.raises(AudioError) as caught:
        Recording.open(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and words in message and "\n" not in message


CONTAINERS = {
    "a.m4a": {},
    "a.mp4": {},
    "a.mov": {},
    "a.webm": {},
    "vorbis.webm": {"codec": "vorbis"},
    "a.mkv": {"codec": "pcm_s16le"},
    "a.wma": {},
    "a.avi": {"codec": "libmp3lame"},
    "lossless.m4a": {"codec": "alac"},
    "a.amr": {"bit_rate": 12_200},
    "a.3gp": {"codec": "libopencore_amrnb", "bit_rate": 12_200},
    "film with ümlaut.mp4": {"video": True},
    "sound begins late.mp4": {"video": True, "late_s": 1.0},
    "-dash.m4a": {},
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_that_soundfile_cannot_read(tmp_path, name):
    rate_hz = 8_000 if "amr" in (name + str(CONTAINERS[name])) else 44_100
    late_s = CONTAINERS[name].get("late_s", 0.0)
    channels = 2 if "vorbis" in name else 1
    path = encode(tmp_path / name, tone(6.0, rate_hz, channels, pitch_hz=700), rate_hz, **CONTAINERS[name])
    recording = Recording.open(path)
    assert path.suffix in AUDIO_SUFFIXES, "else it is not found in a folder"
    assert recording.decoder == "av" and recording.rate_hz in (8_000, 44_100, 48_000) and not recording.remark
    whole = recording.load()
    assert recording.duration_s == pytest.approx(6.0 + late_s, abs=0.1)
    assert len(whole) == pytest.approx(recording.duration_s * SAMPLE_RATE_HZ, abs=2)
    assert np.abs(whole[: max(0, int(16_000 * (late_s - 0.1)))]).max(initial=0) < 0.01
    assert pitch_of(whole[int(16_000 * late_s) :]) == pytest.approx(700, abs=3)


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("span", [TimeSpan(0, 700), TimeSpan(333, 1871), TimeSpan(4003, 4501), TimeSpan(5500, 9999)])
def test_a_cut_of_a_container_equals_the_same_part_of_the_whole(tmp_path, name, span):
    rate_hz = 8_000 if "amr" in (name + str(CONTAINERS[name])) else 44_100
    channels = 2 if "vorbis" in name else 1
    path = encode(tmp_path / name, noise(6.0, rate_hz, channels), rate_hz, **CONTAINERS[name])
    is_cut_from_the_whole(Recording.open(path), span)


def test_a_container_is_streamed_in_constant_memory(tmp_path):
    path = encode(tmp_path / "a.m4a", np.zeros(16_000 * 600, np.float32), 16_000)
    recording = Recording.open(path)
    tracemalloc.start()
    assert sum(map(len, recording.stream(10.0))) == pytest.approx(600 * SAMPLE_RATE_HZ, abs=3200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


def test_a_container_is_cut_at_the_span(tmp_path):
    silence_then_tone = np.concatenate([np.zeros((44_100, 1), np.float32), tone(1.0, 44_100)])
    recording = Recording.open(encode(tmp_path / "a.m4a", silence_then_tone, 44_100))
    assert np.abs(recording.load(TimeSpan(500, 950))).max() < 0.02
    assert np.abs(recording.load(TimeSpan(1050, 1500))).max() > 0.2


@pytest.mark.parametrize("cut", [None, TimeSpan(1000, 2500)])
@pytest.mark.parametrize("harm", ["deleted", "cut off", "replaced"])
def test_a_container_that_is_no_longer_whole_is_an_audio_error(tmp_path, cut, harm):
    recording = Recording.open(encode(tmp_path / "a.m4a", tone(3.0, 44_100), 44_100, movflags="+faststart"))
    data = recording.path.read_bytes()
    recording.path.unlink()
    if harm != "deleted":
        recording.path.write_bytes(data[: len(data) // 2] if harm == "cut off" else b"no sound")
    with pytest.raises(AudioError, match=r"a\.m4a: cannot be read to its end \(.*\); it is damaged, or was moved"):
        recording.load(cut)


def test_damage_in_a_container_is_not_written_to_the_terminal(tmp_path, capfd):
    path = encode(tmp_path / "a.m4a", noise(10.0, 44_100), 44_100, movflags="+faststart")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 5000] = bytes(at * 37 % 251 for at in range(5000))
    path.write_bytes(data)
    assert len(Recording.open(path).load()) == pytest.approx(160_000, abs=1600)
    assert capfd.readouterr().err == ""


def test_an_mp3_without_a_length_header_is_not_cut_short(tmp_path):
    path = encode(tmp_path / "a.mp3", noise(20.0, 44_100), 44_100, write_xing="0")
    recording = Recording.open(path)
    assert recording.duration_s == pytest.approx(20.0, abs=0.2)
    assert len(recording.load()) == pytest.approx(20.0 * SAMPLE_RATE_HZ, abs=3200)


@pytest.mark.parametrize("name", ["a.mp3", "a.wav", "a.dat"])
def test_an_mp3_of_several_bit_rates_is_not_cut_short_whatever_it_is_called(tmp_path, name):
    plain = {"write_xing": "0", "id3v2_version": "0"}
    first = encode(tmp_path / "1.mp3", noise(5.0, 44_100), 44_100, bit_rate=128_000, **plain)
    rest = encode(tmp_path / "2.mp3", noise(15.0, 44_100), 44_100, bit_rate=32_000, **plain)
    (tmp_path / name).write_bytes(first.read_bytes() + rest.read_bytes())
    assert Recording.open(tmp_path / name).duration_s == pytest.approx(20.0, abs=0.2)


@pytest.mark.parametrize("name", ["list.mp4", "list.mp3", "list.ffconcat"])
@pytest.mark.parametrize("folder", ["", "../below/", "file:{}/"])
def test_a_playlist_reads_no_other_file(tmp_path, name, folder):
    below = tmp_path / "below"
    below.mkdir()
    sf.write(below / "secret.wav", tone(1.0, 16_000), 16_000)
    (below / name).write_text(f"ffconcat version 1.0\nfile '{folder.format(below)}secret.wav'\n")
    with pytest.raises(AudioError, match="no audio can be read"):
        Recording.open(below / name)


def test_a_recording_that_vanishes_after_opening_is_an_audio_error(tmp_path):
    path = tmp_path / "a.wav"
    sf.write(path, tone(1.0, 44_100), 44_100)
    recording = Recording.open(path)
    path.unlink()
    with pytest.raises(AudioError, match="moved or changed"):
        recording.load()
    with pytest.raises(AudioError, match="moved or changed"):
        recording.load(TimeSpan(0, 100))


def test_a_recording_that_is_shorter_than_when_it_was_opened_is_an_audio_error(tmp_path):
    path = tmp_path / "a.wav"
    sf.write(path, tone(4.0, 16_000), 16_000)
    recording = Recording.open(path)
    sf.write(path, tone(2.0, 16_000), 16_000)
    for span in (None, TimeSpan(1000, 3500)):
        with pytest.raises(AudioError, match=r"cannot be read to its end \(it breaks off at 2\.0 s\)"):
            recording.load(span)


@pytest.mark.parametrize("suffix", [".wav", ".mp3", ".m4a"])
def test_a_name_that_is_not_utf8(tmp_path, suffix):
    path = tmp_path / os.fsdecode(b"caf\xe9" + suffix.encode())
    if suffix == ".m4a":
        encode(path, tone(2.0, 16_000), 16_000)
    else:
        sf.write(os.fsencode(path), tone(2.0, 16_000), 16_000, format=suffix[1:].upper())
    recording = Recording.open(path)
    assert len(recording.load()) == pytest.approx(32_000, abs=3200)
    assert len(recording.load(TimeSpan(500, 1000))) == 8000
    with pytest.raises(AudioError, match="no such recording"):
        Recording.open("lone\ud800.wav")


def test_a_recording_that_may_not_be_opened_is_one_sentence(tmp_path):
    path = tmp_path / "a" / "a.wav"
    path.parent.mkdir()
    sf.write(path, tone(1.0, 16_000), 16_000)
    for shut in (path, path.parent):
        with (
            closed(shut, below=tmp_path),
            pytest.raises(AudioError, match=r"a\.wav: cannot be opened \(Permission denied\)"),
        ):
            Recording.open(path)
    with pytest.raises(AudioError, match="cannot be opened"):
        Recording.open(tmp_path / ("x" * 300))
