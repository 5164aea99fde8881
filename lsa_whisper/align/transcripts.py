"""Transcripts before and after alignment: plain text is read, and times are written.

Bullets and ``%wor`` tiers are added, and ``@Media`` no longer says that there are none; no other character changes. A
line of plain text is an utterance, with the speaker before a colon or without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lsa_whisper.chat import Participant, Transcript, Utterance, compose, serialize
from lsa_whisper.chat.main_tier import BULLET, bullet, word_tier
from lsa_whisper.decoding.word_times import TimedWord
from lsa_whisper.errors import ChatSyntaxError
from lsa_whisper.labels import Labels, decode
from lsa_whisper.timespan import TimeSpan

_SPEAKER = re.compile(r"\*?([A-Z][A-Z0-9]{0,6}):\s+")


def read_plain_text(path: Path, *, language: str, media: str) -> Transcript:
    """Return the lines of a text file as utterances without times.

    Fillers, cut-off words and exact repetitions are marked by rule, as in the label style ``verbatim``. The text is
    UTF-8, ``language`` is ISO 639-3, and ``media`` is the name of the recording, without extension.

    Raises:
        ChatSyntaxError: The file cannot be read as text, or has no words.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ChatSyntaxError(f"cannot be read as UTF-8 text ({error}); save it as UTF-8", path=str(path)) from error
    utterances = list(_utterances(text, language))
    if not utterances:
        raise ChatSyntaxError("contains no words; write one utterance a line", path=str(path))
    speakers = dict.fromkeys(utterance.speaker for utterance in utterances)
    participants = [Participant(code, "Participant", language=language, corpus="text") for code in speakers]
    return compose(languages=[language], participants=participants, utterances=utterances, media=media)


def _utterances(text: str, language: str) -> Iterator[Utterance]:
    for line in text.splitlines():
        match = _SPEAKER.match(line)
        speaker, words = (match[1], line[match.end() :]) if match else ("PAR", line)
        yield from decode(words, Labels("verbatim"), speaker=speaker, language=language).utterances


_LINE_END = re.compile(r"[ \t]*(?:\r\n?|\n)?\Z")
_BULLET_AND_SPACE = re.compile(rf"(?:(?:\r\n?|\n)?[ \t]+)?(?:{BULLET.pattern})")


def with_times(utterance: Utterance, span: TimeSpan, words: Sequence[TimedWord]) -> Utterance:
    r"""Return the utterance with a bullet at the end of its main tier and its words in ``%wor``.

    >>> result = with_times(Utterance("CHI", "*CHI:\thello .\n"), TimeSpan(0, 900), [("hello", TimeSpan(0, 800))])
    >>> result.main, result.tiers[0].raw
    ('*CHI:\thello . \x150_900\x15\n', '%wor:\thello \x150_800\x15 .\n')
    """
    plain = without_times(utterance)
    at = _LINE_END.search(plain.main).start()  # type: ignore[union-attr]  # the pattern matches any text
    main = f"{plain.main[:at]} {bullet(span)}{plain.main[at:]}"
    result = replace(plain, main=main)
    return with_word_tier(result, words) if words else result


def with_word_tier(utterance: Utterance, words: Sequence[TimedWord]) -> Utterance:
    """Return the utterance with a ``%wor`` tier directly below its main tier."""
    main, ending = utterance.main, re.search(r"(?:\r\n?|\n)?\Z", utterance.main).group()  # type: ignore[union-attr]
    # The last line of a file without a line end keeps that: the file ends as it did.
    tiers = (word_tier(words, utterance.terminator, ending), *utterance.tiers_but("%wor"))
    return replace(utterance, main=main if ending else f"{main}\n", tiers=tiers)


def without_times(utterance: Utterance) -> Utterance:
    r"""Return the utterance without bullets and ``%wor``.

    >>> without_times(Utterance("CHI", "*CHI:\thello . \x150_900\x15\n")).main
    '*CHI:\thello .\n'
    """
    if not BULLET.search(utterance.main) and not any(tier.name == "%wor" for tier in utterance.tiers):
        return utterance
    return replace(utterance, main=_BULLET_AND_SPACE.sub("", utterance.main), tiers=utterance.tiers_but("%wor"))


def without_impossible_times(transcript: Transcript, duration_ms: float) -> tuple[Transcript, list[int]]:
    r"""Return the transcript without the bullets that cannot be right, and the lines of their utterances.

    They end before they begin, or lie past the end of the recording: as anchors, they would hide the whole utterance.

    >>> from lsa_whisper.chat import parse
    >>> made, lines = without_impossible_times(parse("*A:\thi . \x15900_0\x15\n*A:\tbye . \x150_900\x15\n"), 1000)
    >>> [utterance.main for utterance in made.utterances], lines
    (['*A:\thi .\n', '*A:\tbye . \x150_900\x15\n'], [1])
    """

    def is_impossible(utterance: Utterance) -> bool:
        span = utterance.span
        return span is not None and (span.duration_ms <= 0 or span.start_ms >= duration_ms)

    wrong = [utterance.line or 0 for utterance in transcript.utterances if is_impossible(utterance)]
    if not wrong:
        return transcript, []
    possible = (without_times(own) if is_impossible(own) else own for own in transcript.utterances)
    return transcript.with_utterances(possible), wrong


def text_without_times(transcript: Transcript) -> str:
    """Return the text of a transcript without bullets and ``%wor``, by which two transcripts are compared."""
    return serialize(transcript.linked().with_utterances(map(without_times, transcript.utterances))).rstrip("\r\n")
