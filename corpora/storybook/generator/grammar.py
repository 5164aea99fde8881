"""Sentences of a child and an adult looking at a picture book: a closed vocabulary and a small grammar.

Each rule is a phrase; a word in CAPITALS stands for any alternative of its rule, a slash for a choice of words.
"""

from __future__ import annotations

import numpy as np

RULES: dict[str, tuple[str, ...]] = {
    "CHILD": ("TELL .", "TELL .", "TELL .", "WISH .", "WISH .", "MOVE .", "ASK ?", "SHORT ."),
    "ADULT": ("ASK ?", "ASK ?", "ASK ?", "TELL .", "TELL .", "SHORT .", "GUIDE .", "MOVE ."),
    "TELL": (
        "THE NOUN is DOING THE THING",
        "THE NOUN is PLACE",
        "THE NOUN is LOOK",
        "THE LOOK NOUN has a LOOK THING",
        "WHO found a LOOK THING PLACE",
        "WHO saw THE NOUN PLACE",
        "THE NOUN PAST THE THING",
        "there is a LOOK NOUN PLACE",
        "WHO PAST a THING and a THING",
        "THE NOUN was LOOK and LOOK",
        "then THE NOUN PAST it PLACE",
    ),
    "WISH": (
        "I want a LOOK THING",
        "I want to VERB THE THING",
        "I like THE LOOK NOUN",
        "I can VERB THE NOUN",
        "I don't like THE NOUN",
        "we can VERB it PLACE",
        "my NOUN has a THING",
        "I think it is a NOUN",
    ),
    "MOVE": (
        "THE NOUN WENT PLACE",
        "THE NOUN WENT home",
        "WHO WENT to THE WHERE TIME",
        "THE NOUN and THE NOUN WENT PLACE",
        "WHO will go to THE WHERE TIME",
    ),
    "ASK": (
        "where is THE LOOK NOUN",
        "where did THE NOUN go",
        "what is THE NOUN DOING",
        "do you see THE NOUN PLACE",
        "can you VERB THE THING",
        "who has THE LOOK THING",
        "why is THE NOUN LOOK",
        "is THE NOUN PLACE",
        "what did you do TIME",
        "how many NOUNS do you see",
    ),
    "GUIDE": (
        "look at THE LOOK NOUN",
        "tell me about THE NOUN",
        "show me THE LOOK THING",
        "now turn THE page",
        "let us find THE THING",
        "you found THE LOOK NOUN",
    ),
    "SHORT": (
        "yes it is",
        "no it is not",
        "I don't know",
        "oh look a NOUN",
        "that is a THING",
        "very good",
        "yes I see it",
    ),
    "THE": ("the", "the", "the", "the", "this", "that", "my", "your", "a"),
    "WHO": ("I", "we", "he", "she", "they", "mommy", "daddy", "the boy", "the girl"),
    "NOUN": (
        "dog",
        "cat",
        "bear",
        "duck",
        "frog",
        "horse",
        "mouse",
        "rabbit",
        "bird",
        "fish",
        "cow",
        "sheep",
        "lion",
        "monkey",
        "turtle",
        "baby",
        "boy",
        "girl",
        "farmer",
        "teacher",
        "doctor",
        "puppy",
        "tiger",
        "spider",
        "pig",
        "goat",
        "fox",
        "family",
        "brother",
        "sister",
    ),
    "NOUNS": ("dogs", "cats", "ducks", "birds", "boys", "girls", "balls", "apples", "flowers", "horses"),
    "THING": (
        "ball",
        "book",
        "box",
        "boat",
        "car",
        "truck",
        "train",
        "kite",
        "hat",
        "shoe",
        "cake",
        "apple",
        "banana",
        "cookie",
        "sandwich",
        "cup",
        "bottle",
        "blanket",
        "pencil",
        "table",
        "chair",
        "window",
        "door",
        "bike",
        "balloon",
        "basket",
        "bucket",
        "flower",
        "present",
        "picture",
        "story",
        "guitar",
        "ladder",
        "lemon",
        "milk",
        "soup",
        "button",
        "camera",
        "pillow",
        "feather",
    ),
    "WHERE": ("park", "store", "school", "garden", "farm", "beach", "kitchen", "zoo", "library", "forest"),
    "PLACE": (
        "in the WHERE",
        "in the WHERE",
        "at the WHERE",
        "on the THING",
        "under the THING",
        "in the THING",
        "behind the THING",
        "near the WHERE",
        "over there",
        "by the river",
        "on the mountain",
    ),
    "LOOK": (
        "big",
        "little",
        "red",
        "blue",
        "green",
        "yellow",
        "happy",
        "sad",
        "funny",
        "hungry",
        "sleepy",
        "dirty",
        "new",
        "old",
        "soft",
        "fast",
        "purple",
        "broken",
        "silly",
        "nice",
        "hot",
        "cold",
        "loud",
        "tall",
    ),
    "DOING": (
        "eating",
        "holding",
        "kicking",
        "pushing",
        "washing",
        "painting",
        "reading",
        "making",
        "finding",
        "throwing",
        "carrying",
        "watching",
    ),
    "PAST": ("took", "dropped", "broke", "pushed", "carried", "washed", "painted", "opened", "wanted", "lost", "made"),
    "VERB": ("see", "find", "take", "carry", "open", "paint", "make", "hold", "push", "wash", "read", "throw", "fix"),
    "WENT": ("went", "ran", "walked", "jumped", "climbed", "came"),
    "TIME": ("today", "yesterday", "after lunch", "in the morning", "at night"),
}


def sentence(symbol: str, rng: np.random.Generator) -> tuple[list[str], str]:
    """Return the words of one sentence of rule ``symbol`` and its terminator.

    >>> words, terminator = sentence("CHILD", np.random.default_rng(0))
    >>> terminator in {".", "?"} and set(words) <= vocabulary()
    True
    """
    *words, terminator = _expand(symbol, rng)
    return words, terminator


def _expand(symbol: str, rng: np.random.Generator) -> list[str]:
    if symbol not in RULES:
        return [symbol]
    phrase = RULES[symbol][int(rng.integers(len(RULES[symbol])))]
    return [word for part in phrase.split() for word in _expand(part, rng)]


def alternative(word: str, rng: np.random.Generator) -> str | None:
    """Return another word of the same rule, what a speaker might say first and take back; ``None`` if there is none."""
    for symbol in ("NOUN", "THING", "WHERE", "LOOK", "DOING", "PAST", "VERB", "WENT"):
        if word in RULES[symbol]:
            others = [other for other in RULES[symbol] if other != word and other[0] != word[0]]
            return others[int(rng.integers(len(others)))]
    return {"is": "was", "was": "is", "I": "we", "we": "I", "he": "she", "she": "he"}.get(word)


def vocabulary() -> frozenset[str]:
    """Return every word a sentence may contain (about 230)."""
    parts = {part for phrases in RULES.values() for phrase in phrases for part in phrase.split()}
    return frozenset(parts - RULES.keys() - {".", "?"})
