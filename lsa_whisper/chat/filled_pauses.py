"""The filled pauses, by language: the one list that transcripts, labels, scores and other formats read.

Words that may also be something else are not always fillers: German *um* and *er*, Dutch *er*, Spanish *este*, Japanese
*ano*. Where a transcript marks them (``&-este``), they are filled pauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ALWAYS = {
    "eng": "um uh uhm er erm ehm hm hmm uhh umm",
    "spa": "eh ehm em mmm hm hmm uhm",
    "fra": "euh heu euhm hum hm hmm",
    "deu": "äh ähm öh öhm hm hmm ehm uhm",
    "ita": "ehm uhm eeh mmm hm hmm",
    "nld": "eh ehm uh uhm euh hm hmm",
    "zho": "呃 额 hm",
    "cmn": "呃 额 hm",
    "yue": "呃 hm",
    "jpn": "えーと えっと えと えー うーん eeto etto",
    "heb": "אה אהה אהמ אממ hm",
    "pol": "yyy yy yyyy eee ymm hm hmm uhm",
    "rus": "э ээ эээ эм эмм э-э э-э-э ммм хм hm",
    "ukr": "е-е ем емм ммм хм hm",
    "ces": "ehm eee hm hmm uhm",
    "swe": "eh ehm öh öhm hm hmm",
    "dan": "øh øhm æh hm hmm",
    "nor": "eh ehm øh æh hm hmm",
    "por": "ã ãh ahn hum hm hmm ehm uhm",
    "tur": "ııı ıı eee ımm hm hmm",
    "cym": "ymm yym uh um hm hmm",
    "ell": "εε εεε εμ μμμ hm",
    "fin": "öö ööö öh öhm hm hmm",
    "hun": "öö ööö őő őőő hm hmm",
    "kor": "음 으음 어어 흠",
    "ron": "ăă ăăă îî hm hmm",
    "cat": "eh ehm mmm hm hmm",
    "hin": "उम उम्म अम्म hm hmm",
}
_ANY = frozenset(("uh", "uhm", "ehm", "hm", "hmm", "uhh", "umm"))
_ALWAYS |= dict.fromkeys(("nob", "nno"), _ALWAYS["nor"])
FILLERS = {language: frozenset(words.split()) for language, words in _ALWAYS.items()}
"""By ISO 639-3 code, the words that are always fillers."""
ALL_FILLERS = frozenset().union(*FILLERS.values())
"""Those of every language."""
UNMARKED_FILLERS = tuple(_ALWAYS["eng"].split()[:5])
"""The fillers without a symbol in labels, as models know them; the commonest come first."""
MARKED_FILLERS = FILLERS["eng"] | {"ah", "eh", "em", "mm", "mmm", "mhm", "uhuh", "euh", "heu"}
MARKED_FILLERS |= {word for word in ALL_FILLERS if not word.isascii()}
"""The fillers of a transcript that marks disfluencies without saying which (``&ah``, or SALT's mazes): elsewhere, some
of them are answers."""


def fillers(language: str) -> frozenset[str]:
    """Return the words that are always fillers in ``language`` (ISO 639-3).

    >>> "um" in fillers("eng"), "um" in fillers("deu"), "euh" in fillers("fra")
    (True, False, True)
    """
    return FILLERS.get(language, _ANY)


ANSWERS = (("uh", "huh"), ("uh", "oh"))
"""Answers in two words, of which the first is not a filled pause."""
_HUM = re.compile(r"(?:&-)?h?m+|[^\w&]+", re.IGNORECASE)


def is_hummed(words: Iterable[str]) -> bool:
    """Return whether an utterance is a hum and nothing else: an answer, not a filled pause.

    >>> is_hummed(["Hmm", "."]), is_hummed(["&-hm"]), is_hummed(["hmm", "the", "dog"]), is_hummed(["um", "."])
    (True, True, False, False)
    """
    return all(_HUM.fullmatch(word) for word in words)
