"""The picture of a sound shows when it is loud, and at which pitch."""

import io

import numpy as np
from PIL import Image

from lsa_whisper.audio.picture import sound_picture


def pixels(samples, **options):
    return np.asarray(Image.open(io.BytesIO(sound_picture(samples.astype(np.float32), **options))).convert("L"))


def tone(hz, seconds=1.0):
    return 0.5 * np.sin(2 * np.pi * hz * np.arange(round(16_000 * seconds)) / 16_000)


def test_a_column_is_ten_milliseconds_and_long_sounds_are_no_wider():
    assert pixels(tone(400)).shape == (32 + 64, 100)
    assert pixels(tone(400, 5), most_columns=300).shape[1] <= 300


def test_silence_is_white_and_a_tone_is_dark_at_its_pitch():
    """On the mel scale 4 kHz is three quarters up, 500 Hz a fifth."""
    low, high = (pixels(np.concatenate([np.zeros(16_000), tone(hz)])) for hz in (500, 4000))
    for picture, share in ((low, 607.4 / 2840), (high, 2146 / 2840)):
        spectrogram = picture[32:]
        assert spectrogram[:, :90].min() == 255 and picture[:14, :90].min() == 255
        darkest = spectrogram[:, 110:190].mean(axis=1).argmin()
        assert abs((64 - darkest) / 64 - share) < 0.04
        assert picture[4:28, 110:190].max() < 255, "the waveform of a loud tone is high"


def test_too_short_a_sound_has_no_picture():
    assert sound_picture(np.zeros(100, np.float32)) == b""
