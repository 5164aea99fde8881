"""The languages of a transcript whose language was detected: the order of ``@Languages``, and a remark for the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.languages import chat_code


def spoken_languages(decoded: Sequence[DecodedWindow]) -> list[str]:
    """Return the detected languages in ISO 639-3, that of most text first; those of no text come last or not at all.

    >>> from lsa_whisper.decoding.decoder import DecodedSegment
    >>> said = [("en", "hi ."), ("es", "quiero el cuento ."), ("fr", "")]
    >>> spoken_languages([DecodedWindow((DecodedSegment(text, 0, 1),), language=code) for code, text in said])
    ['spa', 'eng']
    """
    written = Counter[str]()
    for window in decoded:
        if window.language:
            written[chat_code(window.language)] += sum(len(segment.text) for segment in window.segments)
    main = [code for code, length in written.most_common() if length]
    return main or list(written)[:1]


def language_remarks(decoded: Sequence[DecodedWindow]) -> Iterator[str]:
    """Yield which languages were detected.

    >>> list(language_remarks([DecodedWindow((), language="en"), DecodedWindow((), language="es")]))
    ['languages were detected: eng in 1 of 2 windows, spa in 1 of 2 windows']
    """
    heard = Counter(chat_code(window.language) for window in decoded if window.language)
    if len(heard) == 1:
        yield f"the language was detected: {next(iter(heard))}"
    elif heard:
        parts = (f"{code} in {count} of {heard.total()} windows" for code, count in heard.most_common())
        yield f"languages were detected: {', '.join(parts)}"
