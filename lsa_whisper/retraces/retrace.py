"""Retraces in an utterance: groups of words that were taken back, each with its code and a confidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.retraces.tagger import KINDS, THRESHOLD, Tagger, WordProbabilities
from lsa_whisper.retraces.word_kinds import CLOSED_CLASSES, OPEN, word_class, word_kind
from lsa_whisper.retraces.words import SpokenWord

_EMPHATIC_WORDS = """
    very really bye no yeah yes ha so night there baa bang beep boom buzz choo chug cluck ding dong hip honk knock la
    meow miau moo na neigh nom oh oink pop quack ribbit tap tick tock toot tweet uh vroom wau woof
"""
EMPHATIC = frozenset(_EMPHATIC_WORDS.split())
"""Words that fluent speakers repeat for emphasis, and sounds that things and animals make again and again."""
_TAKEN_BACK = attrgetter("taken_back")
_DISCOURSE_MARKERS = (("you", "know"), ("i", "mean"))
_MIN_REFORMULATION = 0.4
"""Least confidence of a reformulation, in which nothing is alike: below it, a fifth of the words are right."""
_MIN_BEFORE_COMMA = 0.6
"""Least confidence of several words before a comma: below it, a fifth is right."""
_LINKS = frozenset(("and", "or"))
_PREDICATES = (OPEN, "be", "have", "do", "modal", "negation", "adverb")
"""Classes of words that may follow a subject."""
FRAME_CONFIDENCE = 0.33
"""How sure those are that the grammar shows: annotators marked 8 of the 24 in 28 meetings, and left most of the others
without any type."""

_SUBJECTS = frozenset(["i", "you", "he", "she", "it", "we", "they"])
_BE = frozenset(CLOSED_CLASSES["be"].split())
_VERBS = ("be", "have", "do", "modal", "verb", "verb-s", "past")
_NOT_A_VERB = "like"
_MAX_FRAME = 4
_NOUNS = ("noun", "plural", "adjective")


class Retrace(NamedTuple):
    """Words ``first`` to ``last`` (inclusive) were taken back; ``code`` says how, ``confidence`` how likely."""

    first: int
    last: int
    code: str
    confidence: float


def find_retraces(words: Sequence[SpokenWord], tagger: Tagger, threshold: float = THRESHOLD) -> list[Retrace]:
    """Return the retraces of an utterance in order; they do not overlap.

    The words are from :func:`~lsa_whisper.retraces.words.spoken_words`. ``threshold`` is the least probability of a
    word in a retrace, 0 to 1: higher values give fewer and surer marks.

    A group at the end of an utterance is not a retrace, because nothing takes its place; neither are cut-off words
    alone, which CHAT marks by ``&+``, and what fluent speakers say too: *very very*, *better and better and better*,
    and a subject that only a filler parts from its verb.
    """
    return find_all_retraces([words], tagger, threshold)[0]


def find_all_retraces(
    utterances: Sequence[Sequence[SpokenWord]], tagger: Tagger, threshold: float = THRESHOLD
) -> list[list[Retrace]]:
    """Return what :func:`find_retraces` finds in each of ``utterances``, in less time for each."""
    several = [words for words in utterances if len(words) > 1]
    probabilities = iter(tagger.all_probabilities(several, threshold / 2))  # the others are asked for no more than this
    return [_in_utterance(words, next(probabilities), threshold) if len(words) > 1 else [] for words in utterances]


def _in_utterance(
    words: Sequence[SpokenWord], probabilities: Sequence[WordProbabilities], threshold: float
) -> list[Retrace]:
    if not any(map(_TAKEN_BACK, probabilities)):
        return _with_further_copies(words, _by_grammar(words, [], threshold))
    retraces = (
        _retrace(probabilities, first, last)
        for first, last in _groups(probabilities, threshold)
        if last + 1 < len(words)
    )
    learned = [
        part
        for whole in retraces
        for part in (_same_kind(words, copy) for copy in _copies(words, _without_fragment(words, whole)))
        if not all(word.cut_off for word in words[part.first : part.last + 1]) and not _is_fluent(words, part)
    ]
    return _with_further_copies(words, [*learned, *_by_grammar(words, learned, threshold)])


def _with_further_copies(words: Sequence[SpokenWord], learned: Iterable[Retrace]) -> list[Retrace]:
    """Return the retraces with all copies of a repetition: of *thank you* four times, three are taken back."""
    texts = [word.text for word in words]
    chain: list[Retrace] = []
    for retrace in sorted(learned, key=lambda retrace: retrace.first):
        if chain and retrace.first <= chain[-1].last:
            continue  # inside a further copy
        length, after = retrace.last + 1 - retrace.first, retrace.last + 1
        phrase = texts[retrace.first : after]
        first, free = retrace.first, chain[-1].last + 1 if chain else 0
        while retrace.code == "[/]" and first - length >= free and texts[first - length : first] == phrase:
            first -= length  # of many copies, the learned marks may miss the first ones
        chain += [retrace._replace(first=at, last=at + length - 1) for at in range(first, after, length)]
        while retrace.code == "[/]" and texts[after : after + 2 * length] == 2 * phrase:
            chain.append(retrace._replace(first=after, last=after + length - 1))
            after += length
    return chain


def _by_grammar(words: Sequence[SpokenWord], learned: Sequence[Retrace], threshold: float) -> Iterator[Retrace]:
    """Yield the retraces that the grammar shows and that touch none of those that were ``learned``."""
    spans = list(frames(words)) if threshold <= FRAME_CONFIDENCE else []
    taken = {at for retrace in learned for at in range(retrace.first, retrace.last + 2)} if spans else set()
    for first, last in spans:
        if taken.isdisjoint(range(first, last + 2)):
            code = "[/]" if words[first].text == words[last + 1].text else "[//]"
            yield Retrace(first, last, code, FRAME_CONFIDENCE)
            taken |= set(range(first, last + 2))


def _without_fragment(words: Sequence[SpokenWord], retrace: Retrace) -> Retrace:
    """Return ``retrace`` without cut-off words at its end: ``I [/] &+wa I want``, where ``&+`` says it already.

    Annotators leave 70 % of them out.
    """
    last = retrace.last
    while last > retrace.first and words[last].cut_off:
        last -= 1
    return retrace._replace(last=last)


def _repair(words: Sequence[SpokenWord], retrace: Retrace) -> int:
    """Return the first word that is not cut off behind ``retrace``; the next one if there is none."""
    after = range(retrace.last + 1, len(words))
    return next((at for at in after if not words[at].cut_off), retrace.last + 1)


def _same_kind(words: Sequence[SpokenWord], retrace: Retrace) -> Retrace:
    """Return ``retrace`` as a revision where one word is put for another of its class, or grows: *he she*, *I I'm*.

    It is a repetition where only *you know* or *I mean* stands between the copies.
    """
    word, after = words[retrace.first], words[_repair(words, retrace)]
    own = _texts_of(words, retrace.first, retrace.last + 1 - retrace.first)
    if _texts_of(words, retrace.last + 1, 2 + len(own)) in ([*marker, *own] for marker in _DISCOURSE_MARKERS):
        return retrace._replace(code="[/]")
    alone = retrace.first == retrace.last and retrace.code == "[///]"
    alike = not word_class(word.text).startswith(OPEN) and word_class(word.text) == word_class(after.text)
    return retrace._replace(code="[//]") if alone and (alike or after.text.startswith(f"{word.text}'")) else retrace


def _is_fluent(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    """Return whether fluent speakers say this, or whether it is too uncertain for what it is."""
    uncertain = retrace.code == "[///]" and retrace.confidence < _MIN_REFORMULATION
    rules = (_is_emphasis, _is_in_chain, _is_subject, _is_parallel, _is_next_place, _is_discourse_marker, _is_unknown)
    return uncertain or any(rule(words, retrace) for rule in rules)


def _is_parallel(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    """Return whether a comma parts several words from others that are like them: *the red one, the blue one*."""
    several = retrace.first < retrace.last and retrace.code != "[/]"
    return several and words[retrace.last + 1].after_comma and retrace.confidence < _MIN_BEFORE_COMMA


def _is_next_place(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    """Return whether a preposition, an article and a noun stand before the same two with another: *in a box in a bag*.

    In 28 meetings, 21 of 27 such phrases were not taken back, and no uncertain one was.
    """
    end = retrace.first + 2
    place = _texts_of(words, retrace.first, 2)
    if [*map(word_class, place)] not in (["preposition", "determiner"], ["preposition", "possessive"]):
        return False
    while end < len(words) and not words[end].cut_off and word_kind(words[end].text) in _NOUNS:
        end += 1
    again = retrace.code != "[/]" and retrace.last < end and place == _texts_of(words, end, 2)
    return again and retrace.confidence < _MIN_REFORMULATION


def _is_discourse_marker(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    """Return whether the words are answers, or *you know* or *I mean*: repeated, they are not taken back."""
    texts = tuple(word.text for word in words[retrace.first : retrace.last + 1])
    return texts in _DISCOURSE_MARKERS or all(word_class(text) == "answer" for text in texts)


def _is_unknown(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    """Return whether the words are unintelligible: ``xxx xxx`` may be two different words."""
    return UNTRANSCRIBED.issuperset(word.text for word in words[retrace.first : retrace.last + 1])


def _is_in_chain(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    """Return whether the words are part of one word said three times with *and* between: *on and on and on*."""
    for at in range(max(0, retrace.first - 4), min(retrace.last, len(words) - 5) + 1):
        word, link = words[at].text, words[at + 1].text
        if link in _LINKS and word not in _LINKS and _texts_of(words, at, 5) == [word, link, word, link, word]:
            end = at + 5
            while _texts_of(words, end, 2) == [link, word]:
                end += 2
            if retrace.last < end:
                return at <= retrace.first
    return False


def _texts_of(words: Sequence[SpokenWord], first: int, count: int) -> list[str]:
    return [word.text for word in words[first : first + count]]


def _is_subject(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    """Return whether a filler or *you know* parts a pronoun from what it is the subject of: *I um like it*."""
    word, after = words[retrace.first], words[retrace.last + 1]
    alone = retrace.first == retrace.last and retrace.code != "[/]" and not after.cut_off
    predicate = after.text == "like" or word_class(after.text).startswith(_PREDICATES)
    *marker, behind = [*_texts_of(words, retrace.last + 1, 3), ""][:3]
    parted = tuple(marker) in _DISCOURSE_MARKERS and word_class(behind) != "subject"  # *he I mean she* is a revision
    return alone and (parted or (after.after_filler and predicate)) and word_class(word.text) == "subject"


def _is_emphasis(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    texts = _texts_of(words, retrace.first, retrace.last + 1 - retrace.first)
    return retrace.code == "[/]" and EMPHATIC.issuperset(texts) and not words[retrace.last + 1].after_filler


def _groups(probabilities: Sequence[WordProbabilities], threshold: float) -> Iterator[tuple[int, int]]:
    """Yield runs of likely words; a new run starts where a retrace probably begins."""
    first = None
    for at, word in enumerate(probabilities):
        likely = word.taken_back >= threshold
        if first is not None and (not likely or word.begins > word.taken_back / 2):
            yield first, at - 1
            first = None
        if likely and first is None:
            first = at
    if first is not None:
        yield first, len(probabilities) - 1


def _retrace(probabilities: Sequence[WordProbabilities], first: int, last: int) -> Retrace:
    inside = probabilities[first : last + 1]
    kind = max(inside[0].kinds, key=lambda name: sum(word.kinds[name] for word in inside))
    return Retrace(first, last, KINDS[kind], sum(word.taken_back for word in inside) / len(inside))


def _copies(words: Sequence[SpokenWord], retrace: Retrace) -> list[Retrace]:
    """Split ``I I I`` before a further *I* into single repetitions, as CHAT writes them: ``I [/] I [/] I [/] I``."""
    end, repair = retrace.last + 1, _repair(words, retrace)
    texts = [word.text for word in (*words[:end], *words[repair:])]
    parts: list[Retrace] = []
    at = retrace.first
    while at < end:
        room = end - at
        length = next((n for n in range(1, room) if _same_again(texts, at, n)), room)
        code = "[/]" if _same_again(texts, at, length) else "[//]" if retrace.code == "[/]" else retrace.code
        parts.append(retrace._replace(first=at, last=at + length - 1, code=code))
        at += length
    return parts


def _same_again(texts: Sequence[str], at: int, length: int) -> bool:
    return texts[at : at + length] == texts[at + length : at + 2 * length]


def frames(words: Sequence[SpokenWord]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of retraces that the grammar shows; they are too rare for a tagger to learn.

    These are a subject with its verb before the same verb with another subject (*he went – she went*), a form of *be*
    with a bare verb before a verb in the past (*was go – wanted*), and a question that begins again (*can I – can I*).

    >>> [list(frames([SpokenWord(word) for word in text.split()])) for text in ("he went she went", "it was go wanted")]
    [[(0, 1)], [(1, 2)]]
    """
    texts = [word.text for word in words]
    if _BE.isdisjoint(texts) and sum(text in _SUBJECTS for text in texts) < 2:
        return
    kinds = list(map(word_kind, texts))
    for first in range(len(words) - 2):
        if kinds[first] == "be":
            length = 2 if kinds[first + 1 : first + 3] == ["verb", "past"] else 0
        else:
            length = _length_of_frame(texts[first : first + 2 * _MAX_FRAME], *kinds[first : first + 2])
        if length and not any(word.cut_off for word in words[first : first + 3]):
            yield first, first + length - 1


def _length_of_frame(texts: Sequence[str], first: str, kind: str) -> int:
    """Return how many words from a subject on, or of *can I can I*, are repeated; 0 for none."""
    if first == "modal" and texts[1] in _SUBJECTS and _same_again(texts, 0, 2):
        return 2
    if texts[0] not in _SUBJECTS or kind not in _VERBS or texts[1] == _NOT_A_VERB:
        return 0
    for length in range(min(_MAX_FRAME, len(texts) // 2), 1, -1):
        subject = texts[length]
        if subject in _SUBJECTS and subject != texts[0] and texts[1:length] == texts[length + 1 : 2 * length]:
            return length
    return 0
