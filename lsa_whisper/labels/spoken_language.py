"""What plain words show in each language: sounds that are always fillers, and words without a capital letter.

Words that may also be something else are not fillers here: German *um* and *er*, Dutch *er*, Spanish *este*, Japanese
*ano*. Where a transcript marks them (``&-este``), they are.
"""

from __future__ import annotations

_ENGLISH = "uh um er erm ehm uhm hm hmm uhh umm"
_FILLERS = {
    "eng": _ENGLISH,
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
}
_ANY = frozenset(("uh", "uhm", "ehm", "hm", "hmm", "uhh", "umm"))
FILLERS = {language: frozenset(words.split()) for language, words in _FILLERS.items()}
"""By ISO 639-3 code, the words that are always fillers."""

_ALWAYS_CAPITAL = frozenset(("I", "I'm", "I've", "I'll", "I'd"))
_GERMAN_WORDS = """
    aber ach alle alles als also am an auch auf aus bei beim bis da dann das dass dein deine dem den denn der des
    deshalb die dies diese dieser doch dort du durch ein eine einem einen einer er erst es euch euer für ganz gar
    geh gib gut hat hast haben hier hinter ich ihm ihn ihr ihre im immer in ist ja jetzt jeder kann kein keine
    komm mal man mein meine mir mich mit muss nach nein neben nicht nichts noch nun nur ob oben oder ohne schau
    schon sehr sein seine sich sie sind so und uns unser unten unter viel vielleicht vom von vor wann war warum
    was weil wem wen wenn wer wie wieder will wir wo zu zum zur zwischen
"""
_GERMAN_UNCAPITALIZED = frozenset(_GERMAN_WORDS.split())
"""German words that begin a sentence and are no nouns; any other first word may be one and keeps its capital."""


def fillers(language: str) -> frozenset[str]:
    """Return the words that are always fillers in ``language`` (ISO 639-3).

    >>> "um" in fillers("eng"), "um" in fillers("deu"), "euh" in fillers("fra")
    (True, False, True)
    """
    return FILLERS.get(language, _ANY)


def uncapitalized(word: str, language: str) -> str:
    """Return the first ``word`` of a sentence as CHAT writes it, which capitalizes names only, and German nouns.

    >>> uncapitalized("The", "eng"), uncapitalized("I", "eng"), uncapitalized("I", "ita"), uncapitalized("NATO", "eng")
    ('the', 'I', 'i', 'NATO')
    >>> uncapitalized("Der", "deu"), uncapitalized("Hund", "deu")
    ('der', 'Hund')
    """
    if not word[:1].isupper() or (len(word) > 1 and word.isupper()):
        return word
    if language == "eng" and word in _ALWAYS_CAPITAL:
        return word
    if language == "deu" and word.lower() not in _GERMAN_UNCAPITALIZED:
        return word
    return word[0].lower() + word[1:]
