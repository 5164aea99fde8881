"""What a reader finds in a file, before it becomes CHAT: stretches of text with speaker and times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from lsa_whisper.chat import Line, Utterance, utterance
from lsa_whisper.errors import FormatError
from lsa_whisper.system.plain_json import is_finite
from lsa_whisper.timespan import TimeSpan

MAX_DURATION_S = 1e6
"""Times beyond this (eleven days) are damaged."""

CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
"""Characters that plain text cannot hold."""
CHAT_CONTROLS = re.compile(r"[\x00\t-\x1f\x7f]+")
"""Characters that a line of CHAT cannot hold: two others underline a part of a word."""

_DESCRIBED = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
"""Unintelligible speech, which is a word of CHAT, or a sound, which is not."""
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d{1,9})?)")

Words = tuple[tuple[str, TimeSpan | None], ...]
"""Words with their times; ``None`` where the file gives a word no time."""


@dataclass(frozen=True, slots=True)
class SpokenText:
    """One stretch of text.

    Attributes:
        speaker: The speaker as the file names it; empty if it names none.
        text: The text in the file's notation.
        span: Its times, if the file has them.
        words: Its words, and their times as far as the file has them.
        tiers: Dependent tiers, such as ``("%com", "points at the dog")``.
        place: File and line, for messages.
        parts: The number of letters, and the times, of each of several segments that were joined.
        opens: Whether a sign before it says that another speaker begins.
    """

    speaker: str
    text: str
    span: TimeSpan | None = None
    words: Words = ()
    tiers: tuple[tuple[str, str], ...] = ()
    place: str = ""
    parts: tuple[tuple[int, TimeSpan], ...] = ()
    opens: bool = False


@dataclass
class Source:
    """One recording's transcript as a reader found it.

    Attributes:
        name: The recording's name, which becomes the name of the CHAT file.
        spoken: All stretches of text in the order of the file.
        notation: ``plain``, ``chat`` or ``salt``; ``auto`` leaves it to the texts.
        roles: What the file says about a speaker, such as ``Mother``, by the speaker's name in it.
        people: Fields of ``@ID``, such as ``{"age": "5;02."}``, by the speaker's name in it.
        media: The name of the recording without extension, if the file has one.
        media_kind: ``audio`` or ``video``.
        recording: The path of the recording, as the file gives it; empty if it gives none.
        language: The language that the file names, in any code.
        headers: CHAT header lines that the file carries.
        comments: Remarks on the whole transcript.
        has_segments: Whether its texts may end within a sentence, as those of speech recognizers and subtitles do.
        shares_times: Whether the sentences of a text may share its time by length; not where audio is cut by it.
        notes: What a person should know, in sentences.
        losses: What was left out, in sentences.
        full_text: The text in one piece, where a file has it beside its parts, which may lack some of it.
    """

    name: str
    spoken: list[SpokenText] = field(default_factory=list)
    notation: str = "auto"
    roles: dict[str, str] = field(default_factory=dict)
    people: dict[str, dict[str, str]] = field(default_factory=dict)
    media: str | None = None
    media_kind: str = "audio"
    recording: str = ""
    language: str | None = None
    headers: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    has_segments: bool = False
    shares_times: bool = True
    notes: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    full_text: str = ""


def shared_spans(span: TimeSpan | None, texts: Sequence[str]) -> list[TimeSpan | None]:
    """Return the share of ``span`` that each of ``texts`` has by its length; without a span, ``None`` for each.

    >>> shared_spans(TimeSpan(0, 900), ["he ran", "yes"])
    [TimeSpan(start_ms=0, end_ms=600), TimeSpan(start_ms=600, end_ms=900)]
    """
    if span is None:
        return [None] * len(texts)
    ends = list(accumulate(len(text) for text in texts))
    bounds = [span.start_ms + round(span.duration_ms * at / max(ends[-1], 1)) for at in (0, *ends)]
    return [TimeSpan(start, end) for start, end in pairwise(bounds)]


_damaged: ContextVar[list[str] | None] = ContextVar("damaged", default=None)


@contextmanager
def without_damaged_times(notes: list[str]) -> Iterator[None]:
    """Leave out times that :func:`span_of_seconds` would refuse, and name them in ``notes``: the words stay."""
    problems: list[str] = []
    token = _damaged.set(problems)
    try:
        yield
    finally:
        _damaged.reset(token)
    if problems:
        notes.append(f"times that cannot be right, which are left out: {len(problems)}, first at {problems[0]}")


def span_of_seconds(start_s: object, end_s: object, place: str) -> TimeSpan | None:
    """Return the span between two times in seconds, or as clocks show them; ``None`` if both are missing.

    >>> span_of_seconds(0.5, "1.25", "a.ctm:1"), span_of_seconds("00:01,500", "01:00:00.250", "a.json: segment 1")
    (TimeSpan(start_ms=500, end_ms=1250), TimeSpan(start_ms=1500, end_ms=3600250))

    Raises:
        FormatError: One is missing, no number, infinite or negative, or the end is before the start; but not
            :func:`without_damaged_times`.
    """
    if start_s is None and end_s is None:
        return None
    try:
        start, end = _seconds(start_s, place), _seconds(end_s, place)
        if end < start:
            raise FormatError(f"{place}: ends at {end:g} s, before it starts at {start:g} s; correct the times")
    except FormatError as error:
        if (problems := _damaged.get()) is None:
            raise
        problems.append(str(error).partition(";")[0])
        return None
    return TimeSpan(round(1000 * start), round(1000 * end))


def _seconds(value: object, place: str) -> float:
    try:
        clock = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
        seconds = _of_clock(clock) if clock else float(value) if isinstance(value, str) else value
    except ValueError:
        seconds = None
    if not isinstance(seconds, int | float) or not is_finite(seconds) or not 0 <= seconds <= MAX_DURATION_S:
        raise FormatError(f"{place}: {_brief(value)} is not a time in seconds; correct it")
    return float(seconds)


def _of_clock(clock: re.Match[str]) -> float:
    hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in clock.groups())
    return 3600 * hours + 60 * minutes + seconds


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def spoken_utterance(turn: SpokenText, code: str, text: str) -> Utterance:
    """Return the utterance of speaker ``code`` with the main tier ``text``, and the times and tiers of ``turn``."""
    span = turn.span if turn.span and turn.span.duration_ms else None  # CHAT has no empty times
    if not turn.words and not turn.tiers:
        return utterance(code, text, span)
    words = [(bare, at) for word, at in turn.words if (bare := _bare_word(word))]
    spoken = utterance(code, text).verbatim() if words else []
    if len(spoken) != len(words):
        pairs = ((word, at) for word, at in turn.words if not _DESCRIBED.fullmatch(word.strip()))
        words = [(bare, at) for word, at in pairs if (bare := _bare_word(word))]
    base = utterance(code, text, span, _as_spoken(words, spoken))
    values: dict[str, list[str]] = {}
    for name, value in turn.tiers:
        if value.strip():
            values.setdefault(name, []).append(" ".join(CONTROLS.sub(" ", value).split()))
    tiers = tuple(Line(f"{name}:\t{'; '.join(texts)}\n", 0) for name, texts in values.items())
    return replace(base, tiers=(*base.tiers, *tiers)) if tiers else base


def _as_spoken(words: Sequence[tuple[str, TimeSpan | None]], spoken: Sequence[str]) -> Words:
    """Return the times of ``words`` for the ``spoken`` ones of the main tier: small letters, numbers in words.

    >>> _as_spoken([("It's", None), ("$5", TimeSpan(0, 900))], ["it's", "five", "dollars"])[1:]
    (('five', TimeSpan(start_ms=0, end_ms=327)), ('dollars', TimeSpan(start_ms=327, end_ms=900)))
    """
    if len(words) == len(spoken):
        return tuple((word, at) for word, (_, at) in zip(spoken, words, strict=True))
    result: list[tuple[str, TimeSpan | None]] = []
    old, new = ([word.casefold() for word in each] for each in ([word for word, _ in words], spoken))
    for _, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        times, new_words = [at for _, at in words[first:last]], spoken[begin:end]
        if new_words and len(times) != len(new_words):
            known = [at for at in times if at]
            times = shared_spans(known[0] | known[-1] if known else None, new_words)
        result += zip(new_words, times, strict=False)  # none for a word that became a mark
    return tuple(result)


def _bare_word(word: str) -> str:
    return re.sub(r"[\s\x15]+", "_", word.strip().strip('.,?!;:"“”()[]')) if re.search(r"\w", word) else ""
