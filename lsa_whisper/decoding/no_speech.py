"""Windows without speech: Whisper's rule on the probability of its token for no speech.

OpenAI's models were trained to write ``<|nospeech|>`` (``<|nocaptions|>`` in English-only vocabularies) right after the
start token of a window without speech, and yet they write text there when prompted for it. A high probability of that
token together with a low mean log-probability of the text makes a window silent, as in OpenAI's ``transcribe`` and in
faster-whisper; neither is enough alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedWindow

_NAMES = ("<|nospeech|>", "<|nocaptions|>")


@dataclass(frozen=True)
class NoSpeechRule:
    """When a window counts as silent.

    Attributes:
        no_speech_threshold: Probability of no speech above which it may be; ``None`` switches the rule off.
        logprob_threshold: Mean log-probability above which the text is kept nevertheless; ``None`` keeps none.
        echo_threshold: Probability of no speech above which a window is silent whose text only echoes the prompt.
    """

    no_speech_threshold: float | None = 0.6
    logprob_threshold: float | None = LOGPROB_THRESHOLD
    echo_threshold: float = 0.05

    @property
    def keeps_all(self) -> bool:
        """Whether no probability of no speech is high enough: all text is kept."""
        return self.no_speech_threshold is None or self.no_speech_threshold >= 1

    def is_likely(self, no_speech_prob: float) -> bool:
        """Return whether a window may be silent, so that its text may end at once.

        >>> NoSpeechRule().is_likely(0.7), NoSpeechRule().is_likely(0.6), NoSpeechRule(None).is_likely(1.0)
        (True, False, False)
        """
        return self.no_speech_threshold is not None and no_speech_prob > self.no_speech_threshold

    def apply(self, window: DecodedWindow, no_speech_prob: float, *, is_echo: bool = False) -> DecodedWindow:
        """Return a window with its probability of no speech, and without text if it is silent.

        A model that is asked for disfluencies writes fillers in noise and silence, too. OpenAI's base gave windows with
        fillers alone from 0.06 to 0.47 in applause and music made for the test and in pauses of meetings, and none of
        60 real windows with fillers alone was right; 54 of 56 with right words were below 0.2, most below 0.05.

        >>> from lsa_whisper.decoding.decoder import DecodedSegment
        >>> text = (DecodedSegment("Thank you.", 0.0, 2.0),)
        >>> [len(NoSpeechRule().apply(DecodedWindow(text, logprob), 0.9).segments) for logprob in (-0.4, -1.6)]
        [1, 0]
        """
        window = replace(window, no_speech_prob=no_speech_prob)
        if is_echo and not self.keeps_all and no_speech_prob > self.echo_threshold:
            return _silent(window)
        is_certain = self.logprob_threshold is not None and window.avg_logprob > self.logprob_threshold
        if not self.is_likely(no_speech_prob) or is_certain:
            return window
        return _silent(window)

    def apply_to_quiet(self, window: DecodedWindow) -> DecodedWindow:
        """Return a window that was made much louder before decoding, without text if it failed.

        What was made louder may be noise, or voices from elsewhere. In other recordings, a text as improbable as this
        has spoken words. Without one of the thresholds, the text is kept.

        >>> from lsa_whisper.decoding.decoder import DecodedSegment
        >>> text = (DecodedSegment("Where is it?", 0.0, 2.0),)
        >>> [len(NoSpeechRule().apply_to_quiet(DecodedWindow(text, logprob)).segments) for logprob in (-0.4, -1.1)]
        [1, 0]
        """
        if self.keeps_all or self.logprob_threshold is None:
            return window
        return window if window.avg_logprob >= self.logprob_threshold else _silent(window)


WHISPERS_RULE = NoSpeechRule()
"""The rule with OpenAI's thresholds."""
NEVER_SILENT = NoSpeechRule(None)
"""No rule: every window has its text."""


def _silent(window: DecodedWindow) -> DecodedWindow:
    return replace(window, segments=(), complete=True, silent=True)


def no_speech_token(vocab: Mapping[str, int]) -> int | None:
    """Return the token for no speech among the added tokens of a vocabulary, if it has one.

    >>> no_speech_token({"<|startofprev|>": 7, "<|nocaptions|>": 8})
    8
    """
    return next((vocab[name] for name in _NAMES if name in vocab), None)
