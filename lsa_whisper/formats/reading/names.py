"""Proper names at the beginning of a sentence, where every word is capital in plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsa_whisper.chat.filled_pauses import fillers
from lsa_whisper.labels.sentence_borders import uncapitalized
from lsa_whisper.labels.sentence_marks import plain_sentence, read_marks

_NAME_LIST = """
    Aaron Adam Alan Albert Alex Alexander Alice Allison Amanda Amy Andrea Andrew Andy Angela Anna Anne Annie Anthony
    Arthur Ashley Barbara Ben Benjamin Benny Beth Betty Billy Bobby Brandon Brenda Brian Bruce Bryan Carl Carlos Carol
    Caroline Catherine Charles Charlie Charlotte Chris Christian Christina Christine Christopher Cindy Claire Daniel
    Danny David Debbie Deborah Dennis Diana Diane Donald Donna Dorothy Doug Douglas Dylan Eddie Edward Elizabeth Ella
    Ellen Emily Emma Eric Ethan Eva Evelyn Frances Frank Fred Freddie Gary George Gloria Greg Gregory Hannah Harold
    Helen Henry Howard Isaac Isabella Jacob Jake James Jamie Jane Janet Jason Jean Jeff Jeffrey Jennifer Jenny Jeremy
    Jerry Jesse Jessica Jim Jimmy Joan Joe Joey Johnny John Jonathan Jordan Jose Joseph Josh Joshua Juan Judith Judy
    Julia Julie Justin Karen Katherine Kathleen Kathy Katie Keith Kelly Ken Kenneth Kevin Kim Kimberly Kyle Larry Laura
    Lauren Lawrence Lee Leo Liam Linda Lisa Louis Louise Lucas Lucy Luis Luke Maggie Margaret Maria Marie Martha Martin
    Mary Matt Matthew Megan Melissa Michael Michelle Mickey Mike Mohammed Molly Nancy Nathan Nicholas Nicole Noah Oliver
    Olivia Oscar Pamela Patricia Patrick Paul Peter Philip Phillip Rachel Ralph Randy Raymond Rebecca Richard Robert
    Roger Ronald Roy Russell Ruth Ryan Sally Samantha Samuel Sandra Sara Sarah Scott Sean Sharon Shirley Simon Sophia
    Sophie Stephanie Stephen Steve Steven Susan Susie Teresa Terry Theresa Thomas Tim Timmy Timothy Tina Todd Tom Tommy
    Tony Tyler Victor Victoria Vincent Virginia Walter Wayne William Zach Zachary Zoe
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July September October November
    December Christmas Easter Halloween Santa God Jesus America American Africa African Asia Asian Australia
    Britain British Canada Canadian China Chinese England English Europe European France French Germany German Greece
    Greek India Indian Ireland Irish Italy Italian Japan Japanese London Mexico Mexican Paris Portugal Portuguese Russia
    Russian Scotland Scottish Spain Spanish Boston Chicago Florida Texas California Washington Disney Disneyland Google
    Facebook YouTube Zoom Mr Mrs Ms Dr
"""
PROPER_NAMES = frozenset(_NAME_LIST.split())
"""English names that are hardly ever another word; *Will*, *Mark*, *May* and *Bill* are not among them."""

_WORD = re.compile(r"[^\W\d_][\w'’]*")
_SENTENCE = re.compile(r"[.?!:…\n]+[\"”’)\]]*\s*|^\W*|[-–—\"“„«»(\[<>*♪¿¡][\s¿¡\"“„«]*")
_BRACKETED = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|<[^<>]*>")
_APOSTROPHE = re.compile("['’]")
_MIN_SMALL = 0.5
"""Least share of small words in a text whose capitals tell something: titles and capital texts have fewer."""


def names_in(texts: Iterable[str], language: str) -> frozenset[str]:
    """Return the proper names in ``texts``: capital within a sentence, never small; for English also common names.

    >>> sorted(names_in(["I saw Rex.", "Rex ran to the Dog. The dog ran."], "eng") - PROPER_NAMES)
    ['Rex']
    """
    inside: set[str] = set()
    small: set[str] = set()
    behind: set[str] = set()  # the words behind the first one, where nothing but a sentence can begin with a capital
    for raw in set(texts):
        if plain := plain_sentence(raw, language):
            first, *words = plain[0].split()
            behind.update(words)
            if raw[1:] == raw[1:].lower():
                small.add(first[1:].lstrip("'"))
            elif first[0].islower():
                small.add(first)
            continue
        text = read_marks(_BRACKETED.sub(" ", raw), language)
        if text[1:].islower() or not any(map(str.isupper, text[1:])):
            small.update(_WORD.findall(text[1:]))
            continue
        begins = {match.end() for match in _SENTENCE.finditer(text)}
        for match in _WORD.finditer(text):
            word = match.group()
            if word[0].islower():
                small.add(word)
            elif match.start() not in begins and not word.isupper():
                inside.add(word)
    small.update(word for word in behind if word[0].islower())
    inside.update(word for word in behind if word[0].isupper() and not word.isupper())
    small.discard("")
    common = PROPER_NAMES if language == "eng" else frozenset()
    capital = {word for word in inside if word.lower() not in small}
    return common | (capital if len(small) >= _MIN_SMALL * len(inside) else set())


def with_names(tier: str, names: frozenset[str], language: str) -> str:
    """Return the main tier with its first word capital if it is a name, and small if it follows unintelligible speech.

    >>> with_names("&-um johnny's here .", frozenset(["Johnny"]), "eng")
    "&-um Johnny's here ."
    >>> with_names("xxx Sorry .", frozenset(), "eng"), with_names("it ran .", frozenset(["Johnny"]), "eng")
    ('xxx sorry .', 'it ran .')
    """
    at, behind, sounds = 0, False, fillers(language)
    for piece in tier.split(" "):
        word = piece.lstrip("<")
        if word[:1].isalpha() and word != "xxx" and word not in sounds:
            bare = _APOSTROPHE.split(word, maxsplit=1)[0]
            start = at + len(piece) - len(word)
            if bare[:1].upper() + bare[1:] in names:
                word = word[0].upper() + word[1:]
            elif behind:
                word = uncapitalized(word, language)
            return f"{tier[:start]}{word}{tier[start + len(word) :]}"
        behind = behind or word == "xxx"
        at += len(piece) + 1
    return tier
