"""Whether a recording is in another language than expected, by the language detection of a multilingual model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lsa_whisper.languages import whisper_code

MIN_OTHER = 0.9
"""Mean probability of another language above which a recording is taken to be spoken in it. Of the 48 real
recordings in English that have enough sound, 23 of them by children, whisper-base gave no other language as much; of 80
sentences of 3 s by children with an accent, two. One in Spanish, and one in Venetian and Croatian, got more."""
MIN_SOUND_S = 5.0
"""Less sound than this says nothing of the language."""


def other_language(windows: Sequence[Mapping[str, float]], languages: Sequence[str]) -> str:
    """Return the language (Whisper's code) of some windows if it is surely none of those named, else nothing.

    Args:
        windows: The probability of each language (Whisper's code) in each window.
        languages: The languages that the speech may be in; one that the model does not know proves nothing.

    >>> other_language([{"en": 0.98, "de": 0.01}, {"en": 0.94, "de": 0.03}], ["deu"])
    'en'
    >>> other_language([{"en": 0.98, "de": 0.01}, {"en": 0.4, "de": 0.5}], ["deu"])
    ''
    """
    codes = {whisper_code(language) for language in languages}
    if not windows or not codes <= windows[0].keys():
        return ""
    means = {code: sum(window[code] for window in windows) / len(windows) for code in windows[0]}
    best = max(means, key=means.__getitem__)
    return best if best not in codes and means[best] >= MIN_OTHER else ""
