"""The language of pages: English, or one that has a catalogue of translations in ``locale``.

Code that makes a page calls :func:`gettext` with the English text; ``page_language`` chooses what it returns. Texts
with values are translated before the values are put in: ``gettext("{n} files").format(n=2)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from string import Formatter

from lsa_whisper.errors import LsaWhisperError

PAGE_LANGUAGES = ("en", "de", "es")
LOCALE = Path(__file__).with_name("locale")
"""The folder of the catalogues, in gettext's layout."""
DOMAIN = "lsa_whisper"
_COMMA = str.maketrans(".,", ",.")
_chosen: ContextVar[str] = ContextVar("page_language", default="en")


@contextmanager
def page_language(code: str) -> Iterator[None]:
    """Translate into a language of :data:`PAGE_LANGUAGES` what is made inside.

    >>> with page_language("de"):
    ...     gettext("Filled pauses"), in_sentence(gettext("Filled pauses"))
    ('Gefüllte Pausen', 'gefüllte Pausen')

    Raises:
        LsaWhisperError: There is no such language.
    """
    check_page_language(code)
    token = _chosen.set(code)
    try:
        yield
    finally:
        _chosen.reset(token)


def check_page_language(code: str) -> None:
    """Raise if pages cannot be written in a language.

    Raises:
        LsaWhisperError: Always with the known ones.
    """
    if code not in PAGE_LANGUAGES:
        codes = ", ".join(PAGE_LANGUAGES)
        raise LsaWhisperError(f"`page_language={code}`: pages are not translated into it; choose one of {codes}")


def language_of_page() -> str:
    """Return the code of the language of the page that is being made."""
    return _chosen.get()


def page_number(digits: str) -> str:
    """Return a number in digits as the language of the page writes it.

    >>> with page_language("de"):
    ...     page_number("1,234.5")
    '1.234,5'
    """
    return digits if _chosen.get() == "en" else digits.translate(_COMMA)


class _Numbers(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        text = format(value, format_spec)
        return page_number(text) if isinstance(value, int | float) else text


class _PageText(str):
    """A text whose ``format`` writes numbers as the language of the page does."""

    def format(self, *values: object, **named: object) -> str:
        return _Numbers().vformat(self, values, named)


def gettext(text: str) -> str:
    """Return a text in the language of the page; English where it has no translation."""
    return _PageText(_catalogue(_chosen.get()).gettext(text)) if text else ""  # under it, gettext has its header


@cache
def _catalogue(code: str) -> NullTranslations:
    if code == "en":
        return NullTranslations()
    with (LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.mo").open("rb") as file:
        return GNUTranslations(file)


def in_sentence(title: str) -> str:
    """Return a translated title as it is written inside a sentence.

    German nouns keep their capital: only a title of several words begins with an adjective.
    """
    if _chosen.get() != "de":
        return title.lower()
    return title[:1].lower() + title[1:] if " " in title.partition(",")[0] else title
