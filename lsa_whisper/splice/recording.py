"""All spliced utterances of one recording, as one new recording with its transcript's utterances."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lsa_whisper.audio import Samples
from lsa_whisper.chat import Disfluency, Utterance, utterance
from lsa_whisper.splice.edits import EditContext
from lsa_whisper.splice.plan import draw_plan
from lsa_whisper.splice.profile import DisfluencyProfile
from lsa_whisper.splice.render import PER_MS, RenderedUtterance, Renderer
from lsa_whisper.splice.sound import FADE, RoomNoise, cross_fade
from lsa_whisper.splice.speech import SourceUtterance, source_utterances, speaker_sounds
from lsa_whisper.timespan import TimeSpan

_GAP_MS = (250, 600)
"""Silence between spliced utterances."""
_SILENCES = 200
_TRIES = 3


@dataclass(frozen=True)
class SplicedSpeech:
    """A recording of spliced utterances.

    Attributes:
        samples: Its sound.
        utterances: Its utterances, with times in this sound and ``%wor``.
        kinds: For each utterance, how many disfluencies of each class were spliced into it.
        joins: The middle of each cross-fade, in samples.
    """

    samples: Samples
    utterances: tuple[Utterance, ...]
    kinds: tuple[Counter[Disfluency], ...]
    joins: tuple[int, ...]


def splice_speech(
    utterances: Sequence[Utterance],
    load: Callable[[TimeSpan], Samples],
    end_ms: int,
    *,
    profile: DisfluencyProfile,
    rate: float,
    rng: random.Random,
    usable: Callable[[Utterance], bool] = lambda _: True,
) -> SplicedSpeech:
    """Return spliced versions of the utterances that have all word times, in their order.

    ``load`` cuts a span out of the recording, whose length is ``end_ms``. The profile says which classes to splice, how
    often relative to each other, and how long. ``rate`` is the number of spliced versions of each utterance: 0.5 makes
    one of every second one. ``usable`` says whether an utterance may be used, as a whole or for its sounds.
    """
    timed = [source for source in source_utterances(utterances, end_ms) if usable(source.utterance)]
    noise = RoomNoise.choose([load(span) for span in _silences(timed, rng)])
    renderer, sounds = Renderer(timed, load, noise, rng), speaker_sounds(timed)
    texts: list[tuple[str, str]] = []
    outputs: list[RenderedUtterance] = []
    kinds: list[Counter[Disfluency]] = []
    for number, source in enumerate(timed):
        speaker = source.utterance.speaker
        copies = int(rate) + (rng.random() < rate % 1)
        for _ in range(copies):
            context = EditContext(timed, number, sounds[speaker], profile, rng)
            plans = (plan for _ in range(_TRIES) if (plan := draw_plan(context)))
            versions = ((plan, renderer.render(number, plan)) for plan in plans)
            plan, sound = next((pair for pair in versions if not renderer.clicks(pair[1])), (None, None))
            if plan and sound:
                outputs.append(sound)
                texts.append((speaker, plan.text))
                kinds.append(plan.kinds)
    return _assemble(texts, outputs, kinds, noise, rng)


def _silences(timed: Sequence[SourceUtterance], rng: random.Random) -> list[TimeSpan]:
    """Return spans between words and utterances that are long enough to have silence in their middle."""
    spans = [word.span for source in timed for word in source.words]
    gaps = [TimeSpan(a.end_ms + 40, b.start_ms - 40) for a, b in pairwise(spans) if b.start_ms - a.end_ms >= 140]
    gaps = [gap for gap in gaps if gap.duration_ms <= 3_000]
    return sorted(rng.sample(gaps, min(_SILENCES, len(gaps))))


def _assemble(
    texts: Sequence[tuple[str, str]],
    outputs: Sequence[RenderedUtterance],
    kinds: Sequence[Counter[Disfluency]],
    noise: RoomNoise,
    rng: random.Random,
) -> SplicedSpeech:
    """Return the utterances one after the other, in the noise of the room."""
    segments = [noise.draw(rng.randint(*_GAP_MS) * PER_MS, rng)]
    for output in outputs:
        segments += [output.samples, noise.draw(rng.randint(*_GAP_MS) * PER_MS, rng)]
    samples, starts = cross_fade(segments)
    utterances, joins = [], [start + FADE // 2 for start in starts[1:]]
    for (speaker, text), output, start in zip(texts, outputs, starts[1::2], strict=True):
        at_ms = -(-start // PER_MS)
        words = [(word, span.shift(at_ms)) for word, span in output.words]
        utterances.append(utterance(speaker, text, TimeSpan(words[0][1].start_ms, words[-1][1].end_ms), words))
        joins += [start + join for join in output.joins]
    return SplicedSpeech(np.clip(samples, -1, 1), tuple(utterances), tuple(kinds), tuple(sorted(joins)))
