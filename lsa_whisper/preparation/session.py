"""Rows and rejections of one session; they depend on the session and the options alone."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.checkpoint.whisper_constants import CONTEXT_S, DECODER_POSITIONS
from lsa_whisper.corpus import Session
from lsa_whisper.labels import Labels, encode, tokens_at_most
from lsa_whisper.languages import WHISPER_CODES, whisper_code
from lsa_whisper.manifest import Segment, serialize_word_times
from lsa_whisper.preparation.advice import session_facts
from lsa_whisper.preparation.peak_levels import PeakLevels
from lsa_whisper.preparation.screening import Candidate, screen_utterances
from lsa_whisper.preparation.windows import Window, non_speech_windows, pack, reject_overlap_groups
from lsa_whisper.splice import DisfluencyProfile

PROMPT_TOKENS = 200
"""Whisper uses at most half of the decoder's 448 positions for the prompt."""
_FLUENT = Labels("fluent")
_OPENING_TOKENS = 6
"""At most: start of prompt, start of transcript, language, task, no timestamps, end of text."""


@dataclass(frozen=True)
class PrepareOptions:
    """Options of preparation; :func:`lsa_whisper.preparation.prepare` documents the fields."""

    labels: Labels = field(default_factory=Labels)
    context_s: float = CONTEXT_S
    one_utterance: bool = False
    without_timestamps: float = 0.2
    prompt: str = "previous"
    with_prompt: float = 0.0
    non_speech: float = 0.01
    seed: int = 0
    reviewed: bool = False
    language: str | None = None
    splice: float = 0.0
    profile: DisfluencyProfile | None = None
    relabel: str | None = None
    relabel_threshold: float | None = None


@dataclass(frozen=True)
class UtteranceRecord:
    """An utterance in its transcript, and the reason for its rejection (empty if accepted)."""

    file: str
    line: int | None
    speaker: str
    start_ms: int
    end_ms: int
    text: str
    reason: str = ""


@dataclass(frozen=True)
class WindowRow:
    """A manifest row and its sources.

    Attributes:
        segment: The manifest row.
        digest: Equal for windows with equal audio and text.
        members: Its utterances.
        counts: By CHAT role: ``words``, ``fluent_words``, ``utterances``, ``speech_ms``, and each kind of disfluency.
    """

    segment: Segment
    digest: str
    members: tuple[UtteranceRecord, ...]
    counts: dict[str, dict[str, int]]


@dataclass(frozen=True)
class SessionResult:
    """The rows and rejections of one session, in order of time, and facts about its transcript."""

    rows: tuple[WindowRow, ...]
    rejected: tuple[UtteranceRecord, ...]
    facts: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SessionResult:
        """Return the result that was turned into a dictionary by ``dataclasses.asdict``."""
        rows = (
            WindowRow(
                Segment(**row["segment"]),
                row["digest"],
                tuple(UtteranceRecord(**member) for member in row["members"]),
                row["counts"],
            )
            for row in data["rows"]
        )
        return cls(tuple(rows), tuple(UtteranceRecord(**record) for record in data["rejected"]), data["facts"])


def process_session(session: Session, split: str, options: PrepareOptions) -> SessionResult:
    """Return the rows and rejections of ``session``.

    Raises:
        AudioError: The recording can no longer be read.
        ChatSyntaxError: The transcript can no longer be read.
    """
    transcript, levels = session.transcript, PeakLevels.measure(session.recording.stream())
    context_ms = round(options.context_s * 1000)
    screened = screen_utterances(
        transcript.utterances, levels, options.labels, context_ms=context_ms, reviewed=options.reviewed
    )
    candidates = reject_overlap_groups(screened, context_ms=context_ms)
    windows = pack(
        candidates,
        context_ms=context_ms,
        duration_ms=levels.duration_ms,
        one_utterance=options.one_utterance,
        seed=options.seed,
    )
    silences = non_speech_windows(
        candidates, windows, levels, share=options.non_speech, context_ms=context_ms, seed=options.seed
    )
    roles = {code: person.role or "unknown" for code, person in transcript.participants.items()}
    before = {id(window): last for last, window in itertools.pairwise(windows) if window.follows}
    rows = []
    for window in sorted([*windows, *silences], key=lambda window: window.span.start_ms):
        previous = before.get(id(window))
        segment = _segment(window, previous, session, split, options)
        identity = f"{window.plain()}\n{window.span.start_ms % 20}".encode()
        digest = hashlib.sha256(identity + levels.fingerprint(window.span)).hexdigest()
        members = tuple(_source(member, session) for member in window.members)
        rows.append(WindowRow(segment, digest, members, _counts(window.members, roles)))
    rejected = tuple(_source(candidate, session) for candidate in candidates if candidate.reason)
    return SessionResult(tuple(rows), rejected, session_facts(transcript, session.language))


def _segment(window: Window, before: Window | None, session: Session, split: str, options: PrepareOptions) -> Segment:
    timestamped = window.timestamped()
    plain = timestamped is None or window.random(options.seed, "timestamps").random() < options.without_timestamps
    prompted = window.random(options.seed, "prompt").random() < options.with_prompt
    speakers = dict.fromkeys(session.speakers[member.utterance.speaker] for member in window.members)
    return Segment(
        audio_filepath=str(session.recording.path.absolute()),
        offset=window.span.start_ms / 1000,
        duration=window.span.duration_ms / 1000,
        text=window.plain() if plain or timestamped is None else timestamped,
        speaker="+".join(speakers),
        lang=_language(window, whisper_code(options.language or session.language), is_given=bool(options.language)),
        corpus=session.corpus,
        session=session.name,
        split=split,
        labels=options.labels.name,
        prompt=_prompt(before, window, options.prompt) if prompted else "",
        word_times="" if options.labels.style == "fluent" else _word_times(window),
    )


def _language(window: Window, usual: str, *, is_given: bool) -> str:
    """Return the language of most words of a window: in a bilingual transcript, ``[- spa]`` names another one."""
    words: Counter[str] = Counter({usual: 0})
    for member in window.members:
        language = member.utterance.language
        marked = whisper_code(language) if language and not is_given else usual
        words[marked if marked in WHISPER_CODES else usual] += len(member.utterance.reading.verbatim)
    return max(words, key=lambda language: words[language])


def _word_times(window: Window) -> str:
    """Return the times of all words of the window; fluent labels leave out some of them, so their rows have none."""
    spoken = (
        pair
        for member in window.members
        for pair in zip(member.utterance.verbatim(), member.utterance.word_spans(), strict=True)
    )
    return serialize_word_times(spoken, window.span)


def _prompt(before: Window | None, window: Window, kind: str) -> str:
    """Return the prompt of ``window``; empty if it does not fit the decoder with the window's own text.

    Either the fluent text of the window itself, for models that insert disfluencies into it; or the last utterances of
    the previous window, as many as fit.
    """
    own = sum(tokens_at_most(member.text) for member in window.members)
    room = min(PROMPT_TOKENS, DECODER_POSITIONS - _OPENING_TOKENS - own)
    if kind == "fluent":
        text = " ".join(filter(None, (encode(member.utterance, _FLUENT) for member in window.members)))
        return text if tokens_at_most(text) <= room else ""
    return _last_utterances(before, room) if before else ""


def _last_utterances(before: Window, room: int) -> str:
    kept: list[str] = []
    tokens = 0
    for member in reversed(before.members):
        tokens += tokens_at_most(member.text)
        if tokens > room:
            break
        kept.insert(0, member.text)
    return " ".join(kept)


def _source(candidate: Candidate, session: Session) -> UtteranceRecord:
    span = candidate.utterance.span or candidate.span
    return UtteranceRecord(
        file=str(session.path.absolute()),
        line=candidate.utterance.line,
        speaker=session.speakers[candidate.utterance.speaker],
        start_ms=span.start_ms,
        end_ms=span.end_ms,
        text=candidate.utterance.text,
        reason=candidate.reason or "",
    )


def _counts(members: tuple[Candidate, ...], roles: dict[str, str]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for member in members:
        count = counts.setdefault(roles.get(member.utterance.speaker, "unknown"), Counter())
        count["words"] += member.words
        count["fluent_words"] += len(member.utterance.fluent())
        count["utterances"] += 1
        count["speech_ms"] += member.span.duration_ms
        count.update(event.kind.value for event in member.utterance.events())
    return {role: dict(count) for role, count in counts.items()}
