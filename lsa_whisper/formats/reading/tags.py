"""What stands in brackets and tags of plain text: unintelligible speech, pauses, sounds, and uncertain words."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from unicodedata import category

from lsa_whisper.formats.reading.source import CONTROLS

_HEAD = (
    r"(?:unin|unk|ui|gap|uninterpretable|indistinct|garbled|incomprehensible|"
    r"(?:un|in)[\s_-]?(?:intelligible|audible|clear|transcribed|transcribable|known)|"
    r"unv(?:\.|erständlich)|onverstaanbaar|incompr[eé]hensible|incomprensib(?:le|ile)|inaud(?:\.|[ií]bile|ível)|"
    r"inintell?ig(?:ible|ibile|ível)|ακατάληπτο|нрзб\.?|неразборчиво|听不[清懂]楚?|聞き取れ\w*)"
)
_TAIL = (
    r"(?:[\s_:,-]*(?:at|speech|word\(s\)|words?|talk(?:ing)?|section|passage|segment|syllables?|voices?|[\d:.]+s?)\b)*"
)
_UNINTELLIGIBLE = re.compile(rf"(?:\d+ words? )?(?:{_HEAD}|crosstalk){_TAIL}|\?+|x+", re.IGNORECASE)
_UNCERTAIN = re.compile(
    r"(?:(?:unclear|unsure|uncertain|guess|maybe)\s*:|sounds like:?)\s*(?P<named>\S.*)|"
    r"(?P<asked>[^\W\d_][\w' -]*?)\s*\?+",
    re.IGNORECASE,
)
_UNCERTAIN_TAG = re.compile(r"unsure|uncertain|unclear|guess", re.IGNORECASE)
_LENGTH = r"\d{1,3}(?:[.,]\d{1,3})?\s*(?:s|sec|secs|seconds?|ms|m|min)?\.?"
_PAUSE = re.compile(
    rf"(?:long |short |{_LENGTH}\s*)?(?:pause|silence|blank[_ ]audio|sil)(?:\s*[:,-]?\s*{_LENGTH})?|"
    rf"{_LENGTH}(?<=[a-z.])",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?")
_SOUNDS = (
    ("laughs", r"lg|laugh(?:s|ing|ter)?|lacht|lachen|rires?|risas?|lol|笑い?声?|大笑"),
    ("coughs", r"cg|cough(?:s|ing)?"),
    ("sighs", r"sigh(?:s|ing)?"),
    ("breathes", r"br|breath(?:e|es|ing)?|inhales?|exhales?"),
    ("sneezes", r"sneez(?:e|es|ing)"),
    ("yawns", r"yawn(?:s|ing)?"),
    ("sniffs", r"sniff(?:s|ing)?"),
    ("cries", r"cr(?:y|ies|ying)"),
    ("clears:throat", r"(?:throat[\s_-]?clear(?:s|ing)?|clear(?:s|ing)[\s_-]?(?:his |her |the )?throat)"),
    ("smacks:lips", r"ls|lip[\s_-]?smack(?:s|ing)?"),
    ("noise", r"(?:background[\s_-]?)?noise|spk|nsn|noi|ns"),
    ("music", r"music|音[乐楽]"),
    ("applause", r"applause|clap(?:s|ping)?|拍手|掌声"),
)
"""The events that CHAT's manual names, by the spellings that other formats have for them."""
_SOUND = re.compile("|".join(rf"(?P<s{at}>{spelling})" for at, (_, spelling) in enumerate(_SOUNDS)), re.IGNORECASE)
_MAY_MASK = re.compile(r"\*\*|[^\W\d_]\*[^\W\d_]|__|\?\?|[/«|#@=~]")
_MASK = re.compile(
    r"(?<![\w*])(?:(?P<word>\w+\*{2,}\w*|[^\W\d_]+\*[^\W\d_]+)|\*{3,})(?![\w*])|(?<!\S)(?:_{2,}(?!\S)|\?{2,}(?=\s+[^\W\d_A-Z]))"
)
"""Question marks alone are a word where the sentence goes on."""
_ENCLOSED = re.compile(rf"(?<!\S)[/«|#@=~_]+\s?{_HEAD}{_TAIL}\s?[/»|#@=~_]+(?!\w)", re.IGNORECASE)
_ESCAPED = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|lrm|rlm|#\d{2,6});")
_PAIRED = re.compile(r"<([A-Za-z][\w:.-]{0,40})(?:\s[^<>]{0,200})?>([^<>]{0,500})</\1\s*>")
_TAG = re.compile(r"/?([A-Za-z][\w:.-]*)(?:\s+[\w:.-]+\s*=.*)?\s*/?", re.DOTALL)
_FORMATTING = re.compile(r"b|i|u|s|em|strong|font|br|p|span|c|v|ruby|rt|lang|div", re.IGNORECASE)

Keep = Callable[[str], str]


def unescaped(text: str) -> str:
    """Return ``text`` with ``&lt;`` and the like as the characters that they stand for.

    >>> unescaped("&lt;laugh&gt; R&D"), unescaped("&-um &=laughs")
    ('<laugh> R&D', '&-um &=laughs')
    """
    if "&" not in text or ";" not in text:
        return text
    return _ESCAPED.sub(lambda match: CONTROLS.sub(" ", html.unescape(match.group())), text)


def read_pairs(text: str, unsure: Keep, tags: list[str]) -> str:
    """Return ``text`` without the tags around words: uncertain words are passed through ``unsure``, others stay."""

    def words_of(match: re.Match[str]) -> str:
        name, words = match.group(1), match.group(2).strip()
        if _FORMATTING.fullmatch(name):
            return words
        if _UNCERTAIN_TAG.fullmatch(name) or _UNINTELLIGIBLE.fullmatch(name):
            return unsure(words) if words else " xxx "
        if words:
            tags.append(f"<{name}>")
        return f" {words} " if words else f"<{name}/>"

    for _ in range(4):  # tags within tags
        text, count = _PAIRED.subn(words_of, text) if "</" in text else (text, 0)
        if not count:
            break
    return text


def read_tag(content: str, tags: list[str]) -> str:
    """Return CHAT for what stands between ``<`` and ``>``; a tag that is not known goes to ``tags``.

    >>> [read_tag(tag, []) for tag in ("UNIN/", "INAUDIBLE_SPEECH /", "laugh", "b", "I want")]
    ['xxx', 'xxx', '&=laughs', '', 'I want']
    >>> unknown: list[str] = []
    >>> read_tag("PII type='name'", unknown), unknown
    ('', ["<PII type='name'>"])
    """
    match = _TAG.fullmatch(content.strip())
    if not match:
        return chat_of(content) or content.strip()  # words in angle brackets
    name = match.group(1)
    code = chat_of(name.replace("_", " "))
    if code or _FORMATTING.fullmatch(name):
        return code
    tags.append(f"<{content.strip()}>")
    return ""


def chat_of(content: str) -> str:
    """Return CHAT for a description of unintelligible speech, a pause or a known sound; empty for any other.

    >>> [chat_of(text) for text in ("unclear", "inaudible 00:12", "pause", "laughter", "points at dog")]
    ['xxx', 'xxx', '(.)', '&=laughs', '']
    """
    content = content.strip()
    if _UNINTELLIGIBLE.fullmatch(content):
        return "xxx"
    if _PAUSE.fullmatch(content):
        return "(.)"
    match = _SOUND.fullmatch(content)
    return f"&={_SOUNDS[int((match.lastgroup or 's0')[1:])][0]}" if match else ""


def event_of(content: str) -> str:
    """Return a CHAT event for any description: ``&=points_at_dog``; empty without letters or digits.

    >>> event_of("points at [dog]"), event_of("हँसी")
    ('&=points_at_dog', '&=हँसी')
    """
    signs = (char if char.isalnum() or char in "_:" or category(char)[0] == "M" else " " for char in content)
    name = "_".join("".join(signs).split()).strip("_").lower()
    return f"&={name}" if name else ""


def uncertain_words(content: str) -> str | None:
    """Return the words of ``unclear: the dog`` and ``the dog?``; ``None`` for any other content."""
    match = _UNCERTAIN.fullmatch(content.strip())
    return match["named"] or match["asked"] if match else None


def without_masks(text: str, comments: list[str]) -> str:
    """Return ``text`` with ``xxx`` for words that are not there, such as ``___`` and ``d*mn``, which is a comment then.

    >>> comments: list[str] = []
    >>> without_masks("the ____ d**n d*mn /inaudible/ **dog** ??? ran", comments), comments
    ('the xxx xxx xxx xxx **dog** xxx ran', ['d**n', 'd*mn'])
    """
    if not _MAY_MASK.search(text):
        return text
    comments += [match[0] for match in _MASK.finditer(text) if match["word"]]
    return _ENCLOSED.sub("xxx", _MASK.sub("xxx", text))


def is_clock(content: str) -> bool:
    """Return whether brackets hold a time of the recording, such as ``00:12:03``."""
    return _CLOCK.fullmatch(content.strip()) is not None
