"""Detection of the language of a recording, and of each of its windows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lsa_whisper.decoding.decoder import DecodedWindow, MultilingualDecoder

DETECTION_WINDOWS = 5
"""Windows that vote for the language of a recording."""


def most_frequent_language(probabilities: Sequence[Mapping[str, float]]) -> str:
    """Return the language that most windows are in; of several, the one with the highest summed probability.

    Args:
        probabilities: of each language (Whisper's code) in each window, at least one.

    >>> most_frequent_language([{"en": 0.9, "es": 0.1}, {"en": 0.4, "es": 0.6}, {"en": 0.45, "es": 0.55}])
    'es'
    >>> most_frequent_language([{"en": 0.9, "es": 0.1}, {"en": 0.4, "es": 0.6}])
    'en'
    """
    votes = Counter(max(probability, key=probability.__getitem__) for probability in probabilities)
    return max(votes, key=lambda code: (votes[code], sum(probability[code] for probability in probabilities)))


class DetectedLanguageDecoder:
    """Decodes each window in its own language, and notes the language in each result."""

    def __init__(self, decoder: MultilingualDecoder):
        self._decoder = decoder
        self.batch_size, self.style = decoder.batch_size, decoder.style

    def decode(self, windows: Sequence[Any]) -> list[DecodedWindow]:
        """Return one result per window, in order."""
        languages = [most_frequent_language([each]) for each in self._decoder.detect_languages(windows)]
        places = defaultdict[str, list[int]](list)
        for place, language in enumerate(languages):
            places[language].append(place)
        results: dict[int, DecodedWindow] = {}
        for language, chosen in places.items():
            decoded = self._decoder.with_language(language).decode([windows[place] for place in chosen])
            results |= {place: replace(each, language=language) for place, each in zip(chosen, decoded, strict=True)}
        return [results[place] for place in range(len(windows))]
