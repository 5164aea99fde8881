"""How alike two English words are: copies, cut-off beginnings, and members of one small class."""

from __future__ import annotations

from functools import lru_cache

from lsa_whisper.retraces.words import SpokenWord

CLOSED_CLASSES = {
    "subject": "i you he she it we they",
    "object": "me him her us them",
    "possessive": "my your his its our their",
    "determiner": "the a an this that these those some any each every another",
    "be": "is are was were be been being am 's 're 'm",
    "have": "has have had 've having",
    "do": "do does did don't doesn't didn't",
    "modal": "will would can could should may might must shall 'll 'd gonna wanna gotta can't couldn't won't wouldn't",
    "preposition": "in on at of for to with from by about into over under through between like as without after before",
    "conjunction": "and or but so because if when than then 'cause while though although whether",
    "question": "what which who where how why whatever",
    "negation": "not n't no never",
    "adverb": "just also really very quite maybe actually probably only even still too well there here",
    "number": "one two three four five six seven eight nine ten twenty thirty hundred",
    "answer": "yeah okay right yes mm oh",
}
"""Closed classes of English; a word is in the first class that lists it."""

_CLASS: dict[str, str] = {}
for _name, _words in CLOSED_CLASSES.items():
    for _word in _words.split():
        _CLASS.setdefault(_word, _name)
_CLITICS = ("n't", "'s", "'re", "'m", "'ve", "'ll", "'d")
_ENDINGS = ("ing", "ed", "ly", "s", "er", "ion")
OPEN = "open"

COPIES = frozenset(("same", "completes", "both cut off"))
"""Likenesses that count as a repetition of the same word."""


@lru_cache(maxsize=50_000)
def stem_and_clitic(word: str) -> tuple[str, str]:
    """Return ``word`` without its clitic, and the clitic.

    >>> stem_and_clitic("it's"), stem_and_clitic("dog")
    (('it', "'s"), ('dog', ''))
    """
    for clitic in _CLITICS:
        if word.endswith(clitic) and len(word) > len(clitic):
            return word[: -len(clitic)], clitic
    return word, ""


@lru_cache(maxsize=50_000)
def word_class(word: str) -> str:
    """Return the closed class of ``word``, with its clitic; for other words, ``open`` and the ending.

    >>> word_class("the"), word_class("it's"), word_class("walking")
    ('determiner', "subject+'s", 'open-ing')
    """
    if word in _CLASS:
        return _CLASS[word]
    stem, clitic = stem_and_clitic(word)
    if clitic and stem in _CLASS:
        return f"{_CLASS[stem]}+{clitic}"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return f"{OPEN}-{ending}"
    return OPEN


def likeness(word: SpokenWord, later: SpokenWord) -> str:
    """Return how ``later`` may repeat or replace ``word``; an empty string if in no way.

    >>> likeness(SpokenWord("sto", cut_off=True), SpokenWord("story"))
    'completes'
    >>> likeness(SpokenWord("he"), SpokenWord("she")), likeness(SpokenWord("dog"), SpokenWord("ran"))
    ('same class', '')
    """
    first, second = word.text, later.text
    if first == second:
        return "same"
    if word.cut_off and second.startswith(first):
        return "completes"
    if word.cut_off and later.cut_off and first[:1] == second[:1]:
        return "both cut off"
    if stem_and_clitic(first)[0] == stem_and_clitic(second)[0]:
        return "same stem"
    if min(len(first), len(second)) >= 4 and first[:4] == second[:4]:
        return "same beginning"
    if later.cut_off and first.startswith(second):
        return "cut off again"
    if word.cut_off and first[:1] == second[:1]:
        return "same sound"
    return _same_class(first, second)


def _same_class(first: str, second: str) -> str:
    one, other = word_class(first), word_class(second)
    if one.startswith(OPEN):
        return ""
    if one == other:
        return "same class"
    return "related class" if one.split("+")[0] == other.split("+")[0] else ""
