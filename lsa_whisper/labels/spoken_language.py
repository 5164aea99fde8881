"""Which words a language writes with a capital letter."""

from __future__ import annotations

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
