"""Kinds of English words: closed classes; verbs by form, adjectives and nouns, by lists and endings.

A repair tends to put a word in the place of another of its kind: *a big – a small boat*, *was go – wanted*.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

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
_LAST_LETTERS = ("ing", "ed", "ly", "s", "er", "ion")
OPEN = "open"
_VERBS = """
    accept add agree aim allow answer appear apply argue arrive ask assume avoid base become beep begin believe belong
    bet bring build buy calculate call care carry catch cause change charge check choose clean click climb close collect
    combine come communicate compare complain consider contain continue control cook cost cover create cry cut dance
    decide define deliver depend describe design develop die discuss do draw dream dress drink drive drop eat end enjoy
    evaluate expect explain fall feel fight figure fill find finish fit fix flip fly focus follow forget get give go
    grab grow guess hang happen hate have hear help hide hit hold hope hurt imagine implement improve include increase
    integrate involve join jump keep kick kill kiss know laugh lay lead learn leave let lie lift like listen live look
    lose love make manage mark match matter mean meet mention mind miss move need notice offer open operate order pay
    pick plan play point prefer prepare present press pretend produce promise provide pull push put reach read realize
    realise recall receive recharge recognize recognise recommend record reduce remember remind remove replace require
    rest return ring run save say scare scream see seem select sell send separate set shake share shine show shut sing
    sit sleep slide smell smile sound speak spell spend stand start stay step stick stop study suggest suppose surprise
    swim switch take talk taste teach tell tend thank think throw touch train try turn understand use vote wait wake
    walk want wash watch wear win wish wonder work worry wrap write zap
"""
_PAST_FORMS = """
    became began bought brought built came caught chose chosen cost cut did done drew drawn drank drove driven ate eaten
    fell fallen felt flew flown forgot forgotten found gave given got gotten gone went grew grown had heard held hid
    hidden hit hung hurt kept knew known laid led left lent let lost made meant met paid put ran read rang said sang sat
    saw seen sent set shook shown shut slept sold spent spoke spoken stood stuck sung swam taken taught thought threw
    thrown told took tore understood woke won wore worn written wrote
"""
_ADJECTIVES = """
    able actual bad basic beautiful best better big bigger bit black blue brown cheap clean clear cold complete cool
    current dark dead different difficult easier easy electronic expensive extra fair familiar famous fancy fast
    favorite favourite few final fine first flat free full fun funny general good great green grey happy hard heavy
    high huge important interesting last late least less little local long lots low main major many mobile modern more
    most much natural necessary new next nice normal obvious old only open original other own particular past personal
    pink plain poor popular possible pretty previous quick quiet ready real recent red rich right round sad safe same
    second serious several short simple single slow small smart smooth soft special specific standard straight strange
    strong stupid sure sweet technical third tiny tired top traditional true typical ugly useful usual various warm wet
    white whole wide wild wonderful wooden wrong yellow young
"""
_INDEFINITE = frozenset(["thing", "things", "people", "stuff", "way", "lot", "one", "ones"]) | {
    first + last for first in ("some", "any", "every", "no") for last in ("one", "body", "thing")
}
_ALONE = {
    "demonstrative": "this that these those",
    "verb": "dunno",
    "modal": "gonna",
    "because": "because 'cause",
    "kind of": "kind sort",
    "answer": "okay yeah yep mm-hmm mm hmm oh right",
    "subject": "it",
}
"""Words that the closed classes hold with others that they are not put for."""
_THEMSELVES = "there no like so to and but or of if what how which who well"


def _forms(verb: str) -> Iterator[tuple[str, str]]:
    """Yield the regular forms of a verb, and what they are."""
    stem = verb[:-1] if verb.endswith("e") else verb
    stems = [stem]
    if len(verb) <= 5 and verb[-1] in "bdgmnprt" and verb[-2] in "aeiou" and verb[-3:-2] not in tuple("aeiou"):
        stems.append(verb + verb[-1])
    yield verb, "verb"
    for base in stems:
        yield f"{base}ing", "verb-ing"
        yield f"{base}ed", "past"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        yield f"{verb[:-1]}ied", "past"
        yield f"{verb[:-1]}ies", "verb-s"
    yield f"{verb}s", "verb-s"
    yield f"{verb}es", "verb-s"


def _listed() -> dict[str, str]:
    """Return the kind of each listed word and form; the first list that has it counts."""
    kinds = dict.fromkeys(_PAST_FORMS.split(), "past")
    for verb in _VERBS.split():
        for form, kind in _forms(verb):
            kinds.setdefault(form, kind)
    for kind, words in (("adjective", _ADJECTIVES.split()), ("indefinite", _INDEFINITE)):
        for word in words:
            kinds.setdefault(word, kind)
    return kinds


_LISTED = _listed()
_FIRST = {word: kind for kind, words in _ALONE.items() for word in words.split()} | {
    word: word for word in _THEMSELVES.split()
}
_ENDINGS = (
    ("verb-ing", ("ing",)),
    ("past", ("ed",)),
    ("adverb", ("ly",)),
    ("adjective", ("ful", "ous", "ive", "able", "ible", "ic", "al", "ish", "less", "y")),
)
_NOT_PLURAL = ("ss", "us", "is")


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
    for ending in _LAST_LETTERS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return f"{OPEN}-{ending}"
    return OPEN


@lru_cache(maxsize=50_000)
def word_kind(word: str) -> str:
    """Return the kind of ``word``: its closed class, or what form of verb, adjective or noun it is.

    >>> [word_kind(word) for word in ("the", "it's", "want", "going", "carried", "big", "boats", "boat", "and")]
    ['determiner', "subject+'s", 'verb', 'verb-ing', 'past', 'adjective', 'plural', 'noun', 'and']
    """
    group = word_class(word)
    if word in _FIRST or not group.startswith(OPEN):
        return _FIRST.get(word, group)
    if word in _LISTED:
        return _LISTED[word]
    stem, clitic = stem_and_clitic(word)
    if clitic:
        return "let's" if stem == "let" else f"noun+{clitic}"
    if len(word) > 4:
        for kind, endings in _ENDINGS:
            if word.endswith(endings):
                return kind
        if word.endswith("s") and not word.endswith(_NOT_PLURAL):
            return "plural"
    return "noun"


_BROAD = {
    **dict.fromkeys(("past", "verb", "verb-s"), "verb"),
    **dict.fromkeys(("noun", "plural", "indefinite"), "noun"),
}
_SUBJECTS = ("subject", "demonstrative", "there", "what", "which", "who")
CONTENT_KINDS = frozenset(("verb", "noun", "adjective", "verb-ing"))
"""The broad kinds of words with a meaning of their own."""


@lru_cache(maxsize=1_000)
def broad_kind(kind: str) -> str:
    """Return a coarser kind: all finite verbs are one, all nouns, and all subjects with a verb (*he's*).

    >>> broad_kind("past"), broad_kind("plural"), broad_kind("subject+'s"), broad_kind("determiner")
    ('verb', 'noun', 'subject and verb', 'determiner')
    """
    if "+" in kind and kind.startswith(_SUBJECTS):
        return "subject and verb"
    return _BROAD.get(kind, kind)
