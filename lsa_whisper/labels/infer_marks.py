"""Disfluency marks inferred from plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache, partial

from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.chat.filled_pauses import ANSWERS, FILLERS, fillers, is_hummed
from lsa_whisper.labels.sentence_borders import is_initial, uncapitalized
from lsa_whisper.retraces import mark_all_retraces
from lsa_whisper.retraces.retrace import EMPHATIC

MAX_REPEAT_LENGTH = 6
"""Longer repeats are more often refrains than disfluencies."""

PLAIN_FILLERS = FILLERS["eng"]
"""English words that are always fillers; ``ah`` and ``mhm`` may be answers."""


def infer_all_marks(texts: Sequence[str], *, repetitions: bool, language: str = "eng") -> list[str]:
    """Return ``texts`` with fillers as ``&-``; with ``repetitions``, also ``↫`` for part words, and retraces.

    In English (ISO 639-3 ``eng``), retraces are found by :mod:`lsa_whisper.retraces`; in other languages, exact repeats
    are marked as ``[/]`` by rule. A hum alone (``hmm``) is an answer, and stays a word.

    >>> infer_all_marks(["Um I want um I want the &+b &+b ball"], repetitions=True)
    ['&-um <I want> [/] &-um I want the ↫b-b↫ball']
    """
    utterances = [_with_fillers(text, language) for text in texts]
    if not repetitions:
        return [" ".join(words) for words in utterances]
    utterances = [
        _apart(words, language) if "-" in text or "&+" in text else words
        for text, words in zip(texts, utterances, strict=True)
    ]
    if language == "eng":
        tiers = [result.text for result in mark_all_retraces([" ".join(words) for words in utterances])]
    else:
        tiers = [" ".join(_repeats(words, language)) for words in utterances]
    return list(map(without_spelled_repeats, tiers))


_SPELLED = re.compile(r"(?<!\S)[^\W\d_](?: (?:\[//?\] )?[^\W\d_])+(?!\S)")
_OTHER_WORD = re.compile(r"(?<!\S)([^\W\d_]{2,}) \[/\] ([^\W\d_]{2,})(?!\S)")


def without_spelled_repeats(text: str) -> str:
    """Return a main tier without repetitions of letters that are spelled, and of a word and an acronym.

    >>> without_spelled_repeats("J [/] J Abrams"), without_spelled_repeats("I [/] I [/] I went")
    ('J J Abrams', 'I [/] I [/] I went')
    >>> without_spelled_repeats("R and D at [/] AT and T"), without_spelled_repeats("a [//] k a Bob")
    ('R and D at AT and T', 'a k a Bob')
    """
    if "[/" not in text:
        return text
    text = _SPELLED.sub(_as_spelled, text)
    return _OTHER_WORD.sub(lambda hit: f"{hit[1]} {hit[2]}" if hit[1].isupper() != hit[2].isupper() else hit[0], text)


def _with_fillers(text: str, language: str) -> list[str]:
    sounds = fillers(language)
    words, lowered = text.split(), text.lower().split()
    if (
        not sounds.isdisjoint(word.removeprefix("&+") for word in lowered) or _long_sound(sounds).search(text)
    ) and not is_hummed(words):
        behind = [*lowered[1:], ""]
        words = [
            f"&-{sound}" if is_filler(sound, sounds) and (sound, after) not in ANSWERS else word
            for word, low, after in zip(words, lowered, behind, strict=True)
            for sound in [low.removeprefix("&+")]  # um- is no other word than um
        ]
    for at, word in enumerate(words):
        if word.startswith("&+"):
            words[at] = word.lower()
        elif len(word) > 1 or not is_initial(word, " ".join(words[at + 1 : at + 2]), language):
            words[at] = uncapitalized(word, language)
        if not word.startswith(("&", "(")) and any(map(str.isalnum, word)):
            break
    return words


_LONG = re.compile(r"([^\W\d_])\1\1+")


@cache
def _long_sound(sounds: frozenset[str]) -> re.Pattern[str]:
    """Return what matches a letter of ``sounds`` that is written three times: without one, no word is a long filler."""
    letters = "".join(sorted({letter for sound in sounds for letter in (*sound, *sound.upper())}))
    return re.compile(rf"([{re.escape(letters)}])\1\1")


def is_filler(word: str, sounds: Set[str]) -> bool:
    """Return whether ``word`` is one of ``sounds``, also if it is written longer.

    >>> [is_filler(word, {"um", "hmm"}) for word in ("um", "ummm", "hmmmm", "mmm", "umm")]
    [True, True, True, False, False]
    """
    return word in sounds or bool(_LONG.search(word) and {_LONG.sub(r"\1", word), _LONG.sub(r"\1\1", word)} & sounds)


def _as_spelled(run: re.Match[str]) -> str:
    letters = [part for part in run[0].split() if part[0] != "["]
    if "[//]" in run[0] and not {"I", "i", "A", "a", "O", "o"}.issuperset(letters):
        return " ".join(letters)
    capital = all(map(str.isupper, letters)) and not {"I", "A", "Я"}.issuperset(letters)
    return " ".join(letters) if capital or {*letters} == {"μ"} or len({*letters} - {"I", "a"}) > 2 else run[0]


def _apart(words: list[str], language: str) -> list[str]:
    """Return ``words`` with the parts of repeated ones as CHAT writes them."""
    if any("-" in word for word in words):
        words = " ".join(with_repeated_parts(word, language) for word in words).split()
    return _part_words(_with_whole_copies(words, language))


_UNMARKED = frozenset(["okay", "well", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
"""English words whose copies are not marked everywhere: *twenty, twenty two*."""


def _with_whole_copies(words: Sequence[str], language: str) -> list[str]:
    """Return ``words``, of which those that are cut off, but whole beside another copy, are not fragments.

    >>> " ".join(_with_whole_copies("&+the the dog &+I &-um &+I &+I want &+wan want &+no no".split(), "eng"))
    'the the dog I &-um I I want &+wan want &+no no'
    """
    result = list(words)
    common = _FUNCTION_WORDS.get(language, frozenset())
    on_purpose = _on_purpose(words, language) | (_UNMARKED if language == "eng" else frozenset())
    speech = [at for at, word in enumerate(words) if not word.startswith(("&-", "(."))]
    for before, at, after in reversed([*zip([None, *speech], speech, [*speech[1:], None], strict=False)]):
        part = result[at].removeprefix("&+")
        low = part.casefold()
        if result[at] == part or low in on_purpose or not (low in common or len(part) > 1):
            continue
        above, below = ("" if place is None else result[place].casefold() for place in (before, after))
        others = {low, f"&+{low}"} if low in common else {low}
        if above in others or below in others or below.startswith(f"{low}'"):
            result[at] = "I" if language == "eng" and part == "i" else part
    return result


def _part_words(words: list[str]) -> list[str]:
    """Join ``&+b &+b ball`` into a part-word repetition; a single fragment stays a fragment."""
    if not any(word.startswith("&+") for word in words):
        return words
    result: list[str] = []
    cuts = 0
    for word in words:
        if word.startswith("&+"):
            cuts += 1
        else:
            parts = [part[2:] for part in result[len(result) - cuts :]]
            if cuts > 1 and not word.startswith("&") and all(word.lower().startswith(p.lower()) for p in parts):
                del result[-cuts:]
                word = f"↫{'-'.join(parts)}↫{word}"
            cuts = 0
        result.append(word)
    return result


_EMPHATIC_WORDS = {
    "deu": "sehr ganz viel ja nein doch tschüs tschüss immer weit",
    "fra": "très vraiment oui ouais non si nous vous",
    "spa": "muy mucho sí adiós",
    "ita": "molto proprio sì ciao piano",
    "por": "muito sim não tchau",
    "nld": "heel erg ja nee doei dag",
    "swe": "mycket ja nej jo",
    "dan": "meget ja nej jo",
    "nor": "veldig ja nei jo",
    "pol": "bardzo tak nie",
    "rus": "очень да нет",
    "jpn": "はい うん いいえ",
    "ell": "ναι όχι πολύ",
    "ara": "نعم لا جدا جداً",
}
_EMPHATIC = {language: frozenset(words.split()) for language, words in _EMPHATIC_WORDS.items()}
"""Answers, and words for *very*, that are said twice on purpose, as *yes* and *very* are; French *nous nous lavons*."""

_WORDS_LIKE_SOUNDS = {
    **dict.fromkeys(["fra", "spa", "ita", "cat", "ron"], "la"),
    **dict.fromkeys(["por", "glg"], "na no"),
    **dict.fromkeys(["pol", "ces", "slk", "hrv", "slv", "srp", "nld"], "na"),
}
"""Articles and prepositions of other languages that are spelled as what English repeats on purpose."""


def _on_purpose(words: Sequence[str], language: str) -> Set[str]:
    """Return the words that are said twice on purpose in an utterance of ``words``: *la la la* alone is sung."""
    sounds = EMPHATIC
    if not sounds.issuperset(map(str.casefold, words)):
        sounds = sounds.difference(_WORDS_LIKE_SOUNDS.get(language, "").split())
    return sounds | _EMPHATIC.get(language, frozenset())


def _repeats(words: list[str], language: str) -> list[str]:
    pieces: list[str] = []
    position = 0
    for at, length in repeats_from(words, partial(_repeat_at, on_purpose=_on_purpose(words, language))):
        copy = " ".join(words[at : at + length])
        pieces += [*words[position:at], f"{copy} [/]" if length == 1 else f"<{copy}> [/]"]
        position = at + length
    return [*pieces, *words[position:]]


def repeats_from(words: Sequence[str], length_at: Callable[[list[str], int], int]) -> Iterator[tuple[int, int]]:
    """Yield the first word and the length of each repeat that ``length_at`` finds at a place of the lowered words."""
    lowered, at = [word.casefold() for word in words], 0
    while at < len(lowered):
        if length := length_at(lowered, at):
            yield at, length
        at += max(length, 1)


def _repeat_at(lowered: list[str], at: int, on_purpose: Set[str]) -> int:
    """Return the length of the repeated word sequence at ``at`` (fillers may intervene); 0 for none."""
    for length in range(min(MAX_REPEAT_LENGTH, (len(lowered) - at) // 2), 0, -1):
        copy = lowered[at : at + length]
        again = at + length
        while again < len(lowered) and lowered[again].startswith(("&-", "(.")):
            again += 1
        marked = any(word.startswith(("&", "(")) for word in copy)
        if copy == lowered[again : again + length] and not marked and is_disfluent_repeat(copy, on_purpose):
            return length
    return 0


def is_disfluent_repeat(copy: Sequence[str], on_purpose: Set[str] = EMPHATIC) -> bool:
    """Return whether repeating ``copy`` is a disfluency: not *very very*, and not itself periodic."""
    if len(copy) == 1:
        return copy[0] not in on_purpose | UNTRANSCRIBED
    periods = (period for period in range(1, len(copy)) if len(copy) % period == 0)
    return all(list(copy) != list(copy[:period]) * (len(copy) // period) for period in periods)


_PREFIXES = frozenset(["anti", "counter", "e", "mini", "multi", "no", "non", "semi", "super"])
_COMPOUND_LIST = """
    b-ball co-coach co-conspirator co-conspirators co-constructed co-construire co-contributor co-coordinator co-counsel
    d-day re-read re-reading re-reads re-record re-recorded re-register re-release re-released re-render re-rent
    re-report re-review s-shaped t-table t-test
"""
_COMPOUNDS = frozenset(_COMPOUND_LIST.split())
"""Whole words that begin with their own first sounds, as all words do that begin with one of the prefixes twice."""
_WORDS = {
    "eng": "a and but he i i'm if in is it it's my of she so that the they this to was we what when you",
    "deu": "aber das der die er es ich ist sie und wir",
    "fra": "c'est de et il je la le les on un une",
    "spa": "de el en es la los que un una y yo",
    "ita": "che di e è il io la ma un una",
    "por": "a de e ela ele eu não o que um uma",
    "nld": "de die een en het ik je maar",
}
_FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()}
"""Words that hyphens join only where they are repeated; *bye-bye* and *so-so* are words."""


def with_repeated_parts(word: str, language: str) -> str:
    """Return a part-word repetition as CHAT writes it, and a word with its copies apart; any other word as it is.

    >>> [with_repeated_parts(word, "eng") for word in ("st-st-stop", "b-b-ball", "th-the", "I-I-I'm", "re-read")]
    ['↫st-st↫stop', '↫b-b↫ball', '↫th↫the', "I I I'm", 're-read']
    """
    if "-" not in word[1:-1] or word[0] == "&" or "↫" in word:
        return word
    *parts, last = word.split("-")
    lowered = [part.casefold() for part in parts]
    whole = last.casefold()
    is_copied = set(lowered) == {lowered[0]} and (whole == lowered[0] or whole.startswith(f"{lowered[0]}'"))
    if is_copied and lowered[0] in _FUNCTION_WORDS.get(language, frozenset()):
        return " ".join(uncapitalized(part, language) for part in (*parts, last))
    if not all(part and part.isalpha() and len(part) < len(last) and whole.startswith(part) for part in lowered):
        return word
    if len(parts) == 1 and (lowered[0] in _PREFIXES or word.casefold() in _COMPOUNDS):
        return word
    return f"↫{'-'.join(_like(part, last) for part in parts)}↫{last}"


def _like(part: str, word: str) -> str:
    """Return ``part`` with a capital only if ``word`` has one: *St-st-stop* begins a sentence."""
    return part if word[:1].isupper() else part.lower()
