"""Detection of the language of a recording, or of each of its windows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lsa_whisper.decoding.decoder import DecodedWindow, MultilingualDecoder, PromptedDecoder

DETECTION_WINDOWS = 5
"""Windows at the start of a recording that vote for its language."""


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
    """Decodes windows in one language, or each window in its own, and notes the language in each result."""

    def __init__(self, decoder: MultilingualDecoder, language: str | None):
        """Decode in ``language`` (Whisper's code), or in the language of each window if ``None``."""
        self._decoder, self._language = decoder, language
        self.batch_size, self.style = decoder.batch_size, decoder.style

    def decode(self, windows: Sequence[Any]) -> list[DecodedWindow]:
        """Return one result per window, in order."""
        if self._language:
            languages = [self._language] * len(windows)
        else:
            languages = [most_frequent_language([each]) for each in self._decoder.detect_languages(windows)]
        places = defaultdict[str, list[int]](list)
        for place, language in enumerate(languages):
            places[language].append(place)
        results: dict[int, DecodedWindow] = {}
        for language, chosen in places.items():
            decoded = self._decoder.with_language(language).decode([windows[place] for place in chosen])
            results |= {place: replace(each, language=language) for place, each in zip(chosen, decoded, strict=True)}
        return [results[place] for place in range(len(windows))]

    def decode_with_prompt(self, window: Any, previous: str) -> DecodedWindow:
        """Return the result of one window after the text ``previous``, which is in the same language.

        Raises:
            TypeError: the engine takes no prompt, or each window has a language of its own.
        """
        decoder = self._decoder.with_language(self._language) if self._language else None
        if not isinstance(decoder, PromptedDecoder):
            raise TypeError("a prompt needs one language, and an engine that takes prompts")
        return replace(decoder.decode_with_prompt(window, previous), language=self._language or "")
