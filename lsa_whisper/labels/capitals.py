"""Capital letters at the beginning of a sentence, where plain text has them and CHAT has them in names only."""

from __future__ import annotations

from lsa_whisper.labels.abbreviations import titles

_ALWAYS_CAPITAL = frozenset(("I", "I'm", "I've", "I'll", "I'd", "Ph"))
_GERMAN_WORDS = """
    aber ach alle alles als also am an auch auf aus bei beim bis da dann das dass dein deine dem den denn der des
    deshalb die dies diese dieser doch dort du durch ein eine einem einen einer er erst es euch euer für ganz gar
    geh gib gut hat hast haben hier hinter ich ihm ihn ihr ihre im immer in ist ja jetzt jeder kann kein keine
    komm mal man mein meine mir mich mit muss nach nein neben nicht nichts noch nun nur ob oben oder ohne schau
    schon sehr sein seine sich sie sind so und uns unser unten unter viel vielleicht vom von vor wann war warum
    was weil wem wen wenn wer wie wieder will wir wo zu zum zur zwischen
"""
_GERMAN_UNCAPITALIZED = frozenset(_GERMAN_WORDS.split())
"""German words that begin a sentence and are not nouns; any other first word may be one and keeps its capital."""
_STARTERS = """
    A After All And Are As At Because But Can Could Did Do Does Don't For From Had Has Have He He's Her Here His How I
    I'd I'll I'm I've If In Is It It's Its Just Let Let's Like Maybe My No Not Now Of Oh Okay OK On One Or Our She So
    Some That That's The Their Then There There's These They They're They've This Those To Um Uh Was We We'll
    We're We've Well Were What What's She's When Where Which Who Why Will With Would Yeah Yes You You're Your
"""
_STARTS = {"eng": frozenset(_STARTERS.split()), "deu": frozenset(word.capitalize() for word in _GERMAN_UNCAPITALIZED)}
"""Capital words that are hardly ever a part of a name; in other languages, any capital word begins a sentence behind
an abbreviation."""


def uncapitalized(word: str, language: str) -> str:
    """Return the first ``word`` of a sentence as CHAT writes it, which capitalizes names only, and German nouns.

    >>> uncapitalized("The", "eng"), uncapitalized("I", "eng"), uncapitalized("I", "ita"), uncapitalized("NATO", "eng")
    ('the', 'I', 'i', 'NATO')
    >>> uncapitalized("Der", "deu"), uncapitalized("Hund", "deu")
    ('der', 'Hund')
    """
    if not word[:1].isupper() or (len(word) > 1 and word.isupper()):
        return word
    if word in titles(language):
        return word
    if language == "eng" and (word in _ALWAYS_CAPITAL or (len(word) == 1 and word not in "AO")):
        return word
    if language == "deu" and word.lower() not in _GERMAN_UNCAPITALIZED:
        return word
    return word[0].lower() + word[1:]


def begins_sentence(word: str, language: str) -> bool:
    """Return whether a sentence may begin with ``word`` behind the abbreviation before it.

    >>> [begins_sentence(word, "eng") for word in ("They", "Army", "they")], begins_sentence("Es", "spa")
    ([True, False, False], True)
    """
    if not word[:1].isupper():
        return False
    known = _STARTS.get(language)
    return known is None or word in known
