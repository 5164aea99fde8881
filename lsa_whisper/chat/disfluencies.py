"""The classes of disfluency: one row describes a class to all modules that read, score, show, mark or splice it.

To add a class, add a row. A new sign inside words, or an edit that no class has yet, needs code, too.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum, auto
from typing import NamedTuple


class Family(StrEnum):
    """Classes that a system marks together: who writes one of them is taken to mark the others, too."""

    ASIDE = "aside"
    RETRACE = "retrace"
    SOUND = "sound"
    PAUSE = "pause"


class SignPlace(IntEnum):
    """Where the sign of a class stands in CHAT; the review page lists its marks in this order."""

    PREFIX = auto()
    AFTER_WORDS = auto()
    AFTER_SOUND = auto()
    BEFORE_WORD = auto()
    AROUND_COPIES = auto()
    INSIDE_WORD = auto()
    BETWEEN_WORDS = auto()


class Match(StrEnum):
    """How an event of the reference and one of the hypothesis are matched; ``NOT_SCORED`` are not."""

    OVERLAP = "overlap"
    HALF = "half"
    SAME_BEGINNING = "same_beginning"
    SAME_COPIES = "same_copies"
    GAP = "gap"
    NOT_SCORED = "not_scored"


class Splice(NamedTuple):
    """How a class is spliced: its place in random draws, the edit, and how much more often than its count says."""

    place: int
    edit: str
    weight: float = 1.0


class ClassRow(NamedTuple):
    """What the package knows about a class.

    Attributes:
        sign: In CHAT.
        place: Where the sign stands.
        title: For readers, in the plural.
        meaning: For readers, with an example.
        family: The classes that are marked together.
        match: How its events are matched.
        in_words: Whether it can be inferred from words alone.
        label: Its symbol in labels from version 2 on; empty if it has none, or if the word is written in another way.
        flucalc: ``sld`` or ``td`` if FluCalc has a column of its name in that group; empty otherwise.
        key: On the review page; empty if the class cannot be marked there.
        name: On the review page.
        splice: How it is spliced, if at all.
        underline: In a report, a border of CSS; empty for what has no words.
    """

    sign: str
    place: SignPlace
    title: str
    meaning: str
    family: Family
    match: Match
    in_words: bool
    label: str
    flucalc: str
    key: str
    name: str
    splice: Splice | None
    underline: str


class Disfluency(StrEnum):
    """The classes of disfluency in CHAT, each with its :class:`ClassRow` in ``row``."""

    row: ClassRow

    def __new__(cls, value: str, *cells: object) -> Disfluency:
        """Return the class ``value`` with its row.

        Raises:
            TypeError: The row is incomplete.
        """
        if len(cells) != len(ClassRow._fields):
            missing = ", ".join(ClassRow._fields[len(cells) :]) or "none"
            raise TypeError(
                f"chat/disfluencies.py: the row of {value!r} has {len(cells)} of {len(ClassRow._fields)} cells "
                f"(missing: {missing}); complete it"
            )
        member = str.__new__(cls, value)
        member._value_ = value
        member.row = ClassRow._make(cells)
        return member

    FILLED_PAUSE = (
        "filled_pause", "&-", SignPlace.PREFIX, "Filled pauses",
        "Fillers such as um, uh (CHAT: &-um). Which filler it is does not matter.",
        Family.ASIDE, Match.OVERLAP, True, "~", "td", "f", "filled pause", Splice(0, "filled_pause"),
        "solid var(--s0)",
    )  # fmt: skip
    FRAGMENT = (
        "fragment", "&+", SignPlace.PREFIX, "Cut-off words",
        "Phonological fragments: words broken off before their end (CHAT: &+fr). The beginning must agree.",
        Family.ASIDE, Match.SAME_BEGINNING, True, "", "td", "g", "fragment (cut-off word)", Splice(3, "fragment", 4.0),
        "dotted var(--s1)",
    )  # fmt: skip
    NONWORD = (
        "nonword", "&~", SignPlace.PREFIX, "Nonwords", "Babble and other nonwords (CHAT: &~goo).",
        Family.ASIDE, Match.OVERLAP, False, "%", "", "", "nonword", None,
        "dotted var(--s1)",
    )  # fmt: skip
    REPETITION = (
        "repetition", "[/]", SignPlace.AFTER_WORDS, "Repetitions",
        "The same words repeated (CHAT: I want [/] I want). Detected only if every copy is transcribed.",
        Family.RETRACE, Match.SAME_COPIES, True, "/", "", "r", "repetition", Splice(1, "repetition"),
        "solid var(--s2)",
    )  # fmt: skip
    REVISION = (
        "revision", "[//]", SignPlace.AFTER_WORDS, "Revisions",
        "Words retraced and changed (CHAT: the dog [//] the cat). At least half of the retraced words must agree.",
        Family.RETRACE, Match.HALF, False, "//", "", "v", "revision", Splice(4, "revision"),
        "double var(--s3)",
    )  # fmt: skip
    REFORMULATION = (
        "reformulation", "[///]", SignPlace.AFTER_WORDS, "Reformulations",
        "A retrace in which the whole phrase is reworded (CHAT: [///]).",
        Family.RETRACE, Match.HALF, False, "///", "", "t", "reformulation", None,
        "double var(--s3)",
    )  # fmt: skip
    FALSE_START = (
        "false_start", "[/-]", SignPlace.AFTER_WORDS, "False starts",
        "A beginning abandoned for a new utterance (CHAT: [/-]).",
        Family.RETRACE, Match.HALF, False, "\\", "", "s", "false start", Splice(5, "false_start"),
        "double var(--s3)",
    )  # fmt: skip
    UNSPECIFIED_RETRACE = (
        "unspecified_retrace", "[/?]", SignPlace.AFTER_WORDS, "Unspecified retraces",
        "Retraces of an unspecified kind (CHAT: [/?]); not scored.",
        Family.RETRACE, Match.NOT_SCORED, False, "", "", "", "unspecified retrace", None,
        "double var(--s3)",
    )  # fmt: skip
    PART_WORD_REPETITION = (
        "part_word_repetition", "↫", SignPlace.AROUND_COPIES, "Part-word repetitions",
        "Repeated sounds or syllables: b-b-ball (CHAT: ↫b-b↫ball).",
        Family.SOUND, Match.OVERLAP, False, "", "sld", "w", "part-word repetition", Splice(2, "part_word"),
        "dashed var(--s2)",
    )  # fmt: skip
    PROLONGATION = (
        "prolongation", ":", SignPlace.AFTER_SOUND, "Prolongations", "A lengthened sound (CHAT: s:o).",
        Family.SOUND, Match.OVERLAP, False, "", "sld", "l", "prolongation", Splice(6, "prolongation"),
        "dashed var(--s4)",
    )  # fmt: skip
    BROKEN_WORD = (
        "broken_word", "^", SignPlace.INSIDE_WORD, "Broken words", "A pause inside a word (CHAT: pi^zza).",
        Family.SOUND, Match.OVERLAP, False, "", "sld", "", "broken word", None,
        "dashed var(--s4)",
    )  # fmt: skip
    BLOCK = (
        "block", "≠", SignPlace.BEFORE_WORD, "Blocks", "An audible block before a word (CHAT: ≠word).",
        Family.SOUND, Match.OVERLAP, False, "", "sld", "b", "block", Splice(7, "block"),
        "dashed var(--s4)",
    )  # fmt: skip
    PAUSE = (
        "pause", "(.)", SignPlace.BETWEEN_WORDS, "Pauses",
        "A silence marked in the transcript (CHAT: (.)). Its length does not matter.",
        Family.PAUSE, Match.GAP, False, "..", "td", "p", "pause", Splice(8, "pause"),
        "",
    )  # fmt: skip


def classes_at(place: SignPlace) -> dict[str, Disfluency]:
    """Return the classes whose sign stands at ``place``, by their sign."""
    return {kind.row.sign: kind for kind in Disfluency if kind.row.place is place}


def classes_of(family: Family) -> frozenset[Disfluency]:
    """Return the classes of ``family``."""
    return frozenset(kind for kind in Disfluency if kind.row.family is family)


RETRACE_CODES = classes_at(SignPlace.AFTER_WORDS)
"""The classes of retraces by their code."""
