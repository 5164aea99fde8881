"""One session: a child and an adult take turns over a picture book, on one clock, as CHAT and sound."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import soundfile

from lsa_whisper import chat
from lsa_whisper.timespan import TimeSpan

from . import sound
from .plan import FILLERS, SHORT_PAUSE_MS, Fluency, Plan, plan, word_list
from .speech import RATE_HZ, Spoken, SynthesisError, speak
from .voices import Voice

MAX_TURN_S = 5.3
"""Keeps every utterance within the demo model's context of six seconds, with a margin."""

ADULT = Fluency(
    filler=0.06, repetition=0.045, phrase_repetition=0.02, revision=0.02, fragment=0.012, part_word=0.008,
    prolongation=0.008, block=0.005, pause=0.02, false_start=0.004,
)  # fmt: skip
CHILD = Fluency()
READ = Fluency(*[0.0] * len(fields(Fluency)))
STAMMER = replace(READ, filler=0.08, repetition=0.22, phrase_repetition=0.06, revision=0.05, pause=0.02)
"""So many repetitions that a model cannot predict them from the text and has to use the audio."""
RARE = Fluency(
    filler=0.04, repetition=0.04, phrase_repetition=0.01, revision=0.05, fragment=0.08, part_word=0.12,
    prolongation=0.12, block=0.12, pause=0.05, false_start=0.12,
)  # fmt: skip
"""The classes that are rare in conversation, often enough to judge a model on each."""
_FLUENCY = {"ADU": ADULT, "CHI": CHILD}

WORD_FOR_WORD = 0.35
"""Share of sessions whose ``web`` captions keep disfluencies: captions on the web are mostly, but not all, cleaned."""


@dataclass(frozen=True)
class Turn:
    """An utterance and where its words are, in samples from its own start."""

    voice: Voice
    plan: Plan
    samples: np.ndarray
    words: list[sound.WordTime]


def write_session(
    stem: Path,
    adult: Voice,
    child: Voice,
    length_s: float,
    rng: np.random.Generator,
    *,
    style: str = "talk",
    captions: str = "chat",
) -> float:
    """Write ``stem.cha`` and ``stem.flac``, a conversation; return its true length in seconds.

    Args:
        stem: Where, without the extension.
        adult: One voice.
        child: The other.
        length_s: About how long.
        rng: Decides everything else.
        style: ``talk``; ``read``, where nobody stumbles; ``stammer``, where everybody says many words twice; ``rare``,
            with many disfluencies of the rare classes; ``lists``, of words without sense under untidy transcripts.
        captions: What the transcript keeps of the disfluencies: ``chat``, all of them, in codes; ``cleaned``, nothing;
            ``words``, every whole word, without codes; ``web``, that in some sessions and nothing in most; ``sounds``,
            every sound, spelled as in careful captions (`_spelled`).
    """
    mix = [rng.standard_normal(int(rng.uniform(0.3, 0.8) * RATE_HZ)).astype(np.float32) * 1e-5]
    at = len(mix[0])
    utterances = []
    word_for_word = captions == "words" or (captions == "web" and rng.random() < WORD_FOR_WORD)
    speaker = adult
    while at < length_s * RATE_HZ:
        turn = _turn(speaker, style, rng)
        said = _utterance(turn, at, with_words=style != "lists")
        if captions == "sounds":
            said = chat.utterance(said.speaker, _spelled(turn), said.span)
        elif captions != "chat":
            said = _captioned(said, word_for_word=word_for_word)
        utterances.append(said)
        gap = np.zeros(int(rng.uniform(0.25, 0.8) * RATE_HZ), np.float32)
        mix += [turn.samples * float(rng.uniform(0.7, 1.0)), gap]
        at += len(turn.samples) + len(gap)
        speaker = (adult if speaker is child else child) if rng.random() < 0.6 else speaker
    soundfile.write(stem.with_suffix(".flac"), sound.quantised(sound.room(np.concatenate(mix), rng)), RATE_HZ)
    chat.write(_transcript(stem.name, adult, child, utterances), stem.with_suffix(".cha"))
    return at / RATE_HZ


def _turn(voice: Voice, style: str, rng: np.random.Generator) -> Turn:
    """Return one utterance; a sentence that is too long, or whose words a synthesiser merged, is drawn again."""
    fluency = {"read": READ, "stammer": STAMMER, "rare": RARE}.get(style, _FLUENCY[voice.role])
    while True:
        drawn = word_list(rng) if style == "lists" else plan("CHILD" if voice.role == "CHI" else "ADULT", fluency, rng)
        try:
            spoken = _spoken(drawn, voice)
        except SynthesisError:
            continue
        samples, words = sound.perform(drawn, spoken, rng)
        if len(samples) <= MAX_TURN_S * RATE_HZ:
            level = float(np.sqrt(np.mean(samples**2)))
            return Turn(voice, drawn, samples * (0.1 / level), words)


def _spoken(drawn: Plan, voice: Voice) -> Spoken:
    words = [piece.say for piece in drawn.pieces]
    return speak(
        words, voice.engine, voice.voice, rate=voice.rate, pitch=voice.pitch, pitch_range=50, tract=voice.tract
    )


def _utterance(turn: Turn, at: int, *, with_words: bool) -> chat.Utterance:
    times = [(word, TimeSpan(_ms(at + start), _ms(at + end))) for word, start, end in turn.words]
    span = TimeSpan(times[0][1].start_ms, times[-1][1].end_ms)
    return chat.utterance(turn.voice.role, turn.plan.chat, span, times if with_words else ())


def _captioned(said: chat.Utterance, *, word_for_word: bool) -> chat.Utterance:
    """Return a transcript without CHAT codes: the spoken words, fillers included."""
    heard = (f"&-{word}" if word in FILLERS else word for word in said.verbatim() if not word.endswith("-"))
    words = heard if word_for_word else said.fluent()
    end = "?" if said.terminator == "?" else "."
    return chat.utterance(said.speaker, " ".join([*words, end]), said.span)


def _spelled(turn: Turn) -> str:
    """Return a transcript of who speaks and of every sound, without CHAT's codes, as careful captions spell it.

    ``b-b- ball`` for repeated parts of words, ``ba-`` for a cut-off word, ``sssnake`` for a long first sound,
    ``h- ball`` for a block, ``pause`` for a pause.
    """
    words = ["child" if turn.voice.role == "CHI" else "adult"]
    for piece in turn.plan.pieces:
        *copies, last = piece.words
        if copies:
            words.append("&+" + "-".join(copy[:-1] for copy in copies))
        if piece.block_ms:
            words.append("&+h")
        if last in FILLERS:
            last = f"&-{last}"
        elif last.endswith("-"):
            last = f"&+{last[:-1]}"
        elif piece.stretch_ms:
            last = f"{2 * last[0]}{last}"
        words.append(last)
        if piece.gap_ms >= SHORT_PAUSE_MS:
            words.append("pause")
    return " ".join([*words, "?" if turn.plan.chat.endswith("?") else "."])


def _ms(samples: int) -> int:
    return round(samples * 1000 / RATE_HZ)


def _transcript(name: str, adult: Voice, child: Voice, utterances: list[chat.Utterance]) -> chat.Transcript:
    return chat.compose(
        languages=["eng"],
        participants=[
            chat.Participant("CHI", "Target_Child", name=child.name, corpus="storybook"),
            chat.Participant("ADU", "Adult", name=adult.name, corpus="storybook"),
        ],
        utterances=utterances,
        media=name,
        comments=["Synthetic speech: made by a program, spoken by no person."],
    )
