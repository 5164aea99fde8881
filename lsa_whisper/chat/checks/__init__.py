"""Checks of CHAT's rules, in a transcript and in each main tier; the rules stand in ``chat.rules``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lsa_whisper.chat.checks.context import CheckContext, context_of, value_place
from lsa_whisper.chat.checks.dependent_tiers import OBSOLETE_COPIES, dependent_problems
from lsa_whisper.chat.checks.lines import header_problems, layout_problems
from lsa_whisper.chat.checks.media import media_problems, time_problems
from lsa_whisper.chat.checks.participants import participant_problems
from lsa_whisper.chat.checks.tokens import TierFault, token_faults
from lsa_whisper.chat.checks.words import group_faults, pause_faults, spelling_faults, word_faults
from lsa_whisper.chat.disfluencies import RETRACE_CODES
from lsa_whisper.chat.lines import Problem
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.model import Transcript
from lsa_whisper.chat.tree import Group, Item, Marker, Word, walk
from lsa_whisper.chat.word import WordKind, read_word

_PLACEHOLDERS = ("aaa", "xxx", "zzz")


def check(transcript: Transcript, *, known_language: Callable[[str], bool] | None = None) -> list[Problem]:
    r"""Return all violations in order of position; an empty list for a valid transcript.

    ``known_language`` tells whether a language code of three letters exists; without it any such code is valid.

    >>> from lsa_whisper.chat import parse
    >>> [problem.code for problem in check(parse("@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR Adult\n"
    ... "@ID:\teng|corpus|PAR|||||Adult|||\n*PAR:\tI see 2 dogs [//] .\n@End\n"))]
    ['digits', 'retrace-without-repair']
    """
    problems = set(transcript.problems)
    for part in (header_problems, layout_problems, participant_problems, media_problems, time_problems):
        problems.update(part(transcript))
    context = context_of(transcript)
    for utterance in transcript.utterances:
        problems.update(tier_problems(transcript.path, utterance, context))
        problems.update(dependent_problems(transcript.path, utterance))
    if known_language:
        problems.update(_unknown_languages(transcript, known_language))
    return sorted(problems, key=lambda problem: (problem.line, problem.column, problem.code))


def _is_unknown(code: str, known_language: Callable[[str], bool]) -> bool:
    """Return whether a language does not exist; ``aaa`` does, but stands for one that was not filled in."""
    return code in _PLACEHOLDERS or not known_language(code)


def _unknown_languages(transcript: Transcript, known_language: Callable[[str], bool]) -> list[Problem]:
    line = next((line for line in transcript.headers if line.name == "@Languages"), None)
    codes = [code for code in transcript.languages if len(code) == 3 and _is_unknown(code, known_language)]
    return [
        Problem(transcript.path, *value_place(line, code), "unknown-language", f"{code!r} is not a language code")
        for code in codes
        if line
    ]


_ENDINGS = ("terminator", "ca")
_OVERLAP_ONLY = "⌈⌉⌊⌋23456789"
_FREE_CODES = ("[+", "[-", "[^", "[%")


def tier_problems(path: str | None, utterance: Utterance, context: CheckContext) -> Iterator[Problem]:
    """Yield the violations in ``utterance``'s main tier."""
    for offset, code, message in _rules(utterance, context):
        yield Problem(path, *utterance.place(offset), code, message)


def _rules(utterance: Utterance, context: CheckContext) -> Iterator[TierFault]:
    items = utterance.tree.items
    language = utterance.language or (context.languages or ("",))[0]
    if not utterance.body.strip():
        yield 0, "missing-text", f"no text follows *{utterance.speaker}:"
        return
    yield from _ending(utterance, items, context.conversation)
    yield from token_faults(utterance.body, context)
    content = False
    for item in walk(items):
        if isinstance(item, Marker):
            content = content or item.kind == "pause"
            if not content and item.kind == "free" and not item.text.startswith((*_FREE_CODES, *RETRACE_CODES)):
                yield item.offset, "code-without-words", f"no words stand before {item.text}"
            continue
        content = True
        if isinstance(item, Word):
            yield from word_faults(item, context, language)
            yield from _spelling(item, context)
        else:
            yield from group_faults(item)
        for code in item.codes:
            if OBSOLETE_COPIES.fullmatch(code):
                yield item.offset, "obsolete-repetition", f"{code} is obsolete"
    if not content:
        yield 0, "empty-utterance", "the utterance has no words, events or pauses"
    yield from _retraces(items, False)
    yield from pause_faults(utterance.body)


def _ending(utterance: Utterance, items: list[Item], conversation: bool) -> Iterator[TierFault]:
    ends = [at for at, item in enumerate(items) if isinstance(item, Marker) and item.kind in _ENDINGS]
    stops = [at for at in ends if isinstance(items[at], Marker) and items[at].kind == "terminator"]  # type: ignore[union-attr]
    if not ends:  # 21
        if not conversation:
            yield max(len(utterance.body.rstrip()) - 1, 0), "no-terminator", "the utterance has no terminator"
        return
    late = any(isinstance(item, Marker) and item.kind == "bullet" for item in items[ends[-1] :])
    for at in stops[:-1]:  # 22, 50
        yield items[at].offset, "inner-terminator", "a terminator inside the utterance"
    for at, item in enumerate(items):
        if not isinstance(item, Marker):
            if at > ends[-1] and not conversation and not _is_overlap(item):
                yield item.offset, "after-terminator", "words after the terminator"
        elif item.text == "+=.":
            yield item.offset, "obsolete-terminator", "+=. is no longer a terminator"
        elif item.kind == "bullet" and at < ends[-1] and not late:  # 81
            yield item.offset, "bullet-place", "the bullet stands before the terminator"
        elif item.text.startswith("[+") and at < ends[-1]:  # 75
            yield item.offset, "postcode-place", f"{item.text} stands before the terminator"


def _is_overlap(item: Word | Group) -> bool:
    return isinstance(item, Word) and not item.text.strip(_OVERLAP_ONLY)


def _spelling(word: Word, context: CheckContext) -> Iterator[TierFault]:
    for offset, code, message in spelling_faults(word.text):
        if not (context.conversation and "parenthesis" in code):  # there, they may enclose several words
            yield word.offset + offset, code, message


def _retraces(items: list[Item], followed: bool) -> Iterator[TierFault]:
    """Yield the retraces of ``items`` without a repair; ``followed``: whether words follow outside ``items``."""
    for item in reversed(items):
        if isinstance(item, Marker):
            continue
        retrace = next((code for code in item.codes if code in RETRACE_CODES), None)
        if retrace and not followed:  # 119
            yield item.offset, "retrace-without-repair", f"no words follow {retrace}"
        if isinstance(item, Group):
            yield from _retraces(item.items, followed)
        followed = followed or _is_speech(item)


def _is_speech(item: Word | Group) -> bool:
    if isinstance(item, Group):
        return any(_is_speech(inner) for inner in item.items if not isinstance(inner, Marker))
    return read_word(item.text).kind not in (WordKind.EVENT, WordKind.OTHER_SPEAKER)
