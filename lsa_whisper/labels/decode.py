"""Parse a model's text into well-formed utterances; no word is lost, and repairs are counted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from lsa_whisper.chat import Line, Utterance, utterance
from lsa_whisper.chat.codes import MAX_SPEAKER_CODE, SPEAKER_CODE
from lsa_whisper.labels.canonical import AUDIBLE_EVENTS, LABEL_TERMINATORS, canonical_words
from lsa_whisper.labels.characters import ordinary_characters
from lsa_whisper.labels.infer_marks import infer_all_marks, is_disfluent_repeat
from lsa_whisper.labels.notation import label_to_chat
from lsa_whisper.labels.numbers import without_joiners, without_revised_numbers, written_numbers
from lsa_whisper.labels.repair import repair_text, sentences
from lsa_whisper.labels.sentence_marks import plain_sentence, read_marks
from lsa_whisper.labels.style import Labels
from lsa_whisper.languages import chat_code
from lsa_whisper.retraces import Tagger, add_retraces

_ROLE = re.compile(rf"(?:^|(?<=\s))\*({SPEAKER_CODE.pattern.removesuffix('+')}{{1,{MAX_SPEAKER_CODE}}}):")
_UNFINISHED_ROLE = re.compile(r"(?:^|\s)\*[^\s:]*$")
"""The beginning of a speaker code at which the text ends: decoding stopped within it."""
_TOKEN = re.compile(r"<\|[^|<>]*\|>")
_STRAY_ROLE = re.compile(r"\*([A-Z][A-Z0-9]{0,6}):")
"""What looks like a speaker code in the text of a model that writes none."""


NUMBERS = "written in digits:"
"""Begins the comment that names the numbers of an utterance as the recognizer wrote them."""


@dataclass(frozen=True)
class Decoded:
    """The ``utterances`` in a model's text, and the number of ``repairs`` that made them well formed."""

    utterances: tuple[Utterance, ...]
    repairs: int


def decode(
    text: str, labels: Labels, *, speaker: str = "PAR", language: str = "eng", tagger: Tagger | None = None
) -> Decoded:
    """Return the utterances of a model's ``text``, without times.

    Args:
        text: One or more sentences; with ``labels.roles``, ``*CHI:`` before a sentence names its speaker.
        labels: The label style that the model was trained to write.
        speaker: The speaker of sentences without a speaker code.
        language: ISO 639-3 or Whisper's code. Digits are spelled out where num2words knows the language, and stay
            digits elsewhere and in languages whose words carry tone digits.
        tagger: Finds retraces in the words, where the labels are of style ``chat`` and no code says so.

    >>> decoded = decode("um < I want / I want it. you know", Labels("chat"))
    >>> [u.text for u in decoded.utterances], decoded.repairs
    (['&-um I want [/] I want it .', 'you know .'], 2)
    >>> decode("Um, I want I want it.", Labels("verbatim")).utterances[0].text
    '&-um <I want> [/] I want it .'
    >>> decode("[UM] I wa* want it. [laughter]", Labels("verbatim")).utterances[0].text
    '&-um I &+wa want it .'
    >>> decode("And some words. Words, words. OK.", Labels("verbatim")).utterances[0].text
    'and some words [/] words [/] words .'
    >>> decode("and some words. Words / words. OK.", Labels("chat")).utterances[0].text
    'and some words [/] words [/] words .'
    >>> [u.text for u in decode("I want it [laughs]. [Music]", Labels("chat")).utterances]
    ['I want it &=laughs .']
    """
    return decode_all([text], labels, speaker=speaker, language=language, tagger=tagger)[0]


def decode_all(
    texts: Sequence[str], labels: Labels, *, speaker: str = "PAR", language: str = "eng", tagger: Tagger | None = None
) -> list[Decoded]:
    """Return what :func:`decode` makes of each of ``texts``, in less time for each if there are many."""
    drafts = [_draft(text, labels, speaker, language) for text in texts]
    wordings = list(dict.fromkeys(sentence.words for draft in drafts for sentence in draft.sentences))
    tiers = dict(zip(wordings, wordings, strict=True))
    if labels.style != "chat":
        code, repetitions = chat_code(language), labels.style == "verbatim"
        tiers = dict(zip(wordings, infer_all_marks(wordings, repetitions=repetitions, language=code), strict=True))
        tiers = {words: without_revised_numbers(tier) for words, tier in tiers.items()}
    return [_decoded(draft, tiers, labels.style == "chat", tagger) for draft in drafts]


class _Sentence(NamedTuple):
    speaker: str
    words: str
    terminator: str
    spellings: dict[str, str]


class _Draft(NamedTuple):
    """The sentences of a text before marks are inferred, and the number of repairs."""

    sentences: list[_Sentence]
    repairs: int


def _draft(text: str, labels: Labels, speaker: str, language: str) -> _Draft:
    chat = labels.style == "chat"
    if not chat and (plain := plain_sentence(text, chat_code(language))):
        return _Draft([_Sentence(speaker, *plain, {})], 0)
    all_sentences: list[_Sentence] = []
    repairs = 0
    text = label_to_chat(text, labels.version) if chat else ordinary_characters(text)
    for role, turn in _turns(text, labels.roles):
        if role and labels.roles:
            speaker = role
        elif role:
            repairs += 1
        spellings: dict[str, str] = {}
        if not chat:
            turn = _CUT_OFF.sub("-", read_sounds(turn, _CHAT))
            turn = read_marks(_without_colons(turn, chat_code(language)), chat_code(language))
        elif labels.version > 1:
            turn = read_sounds(turn)
        body, count = repair_text(turn, marks=chat, language=language, spellings=spellings)
        repairs += count
        all_sentences += [_Sentence(speaker, words, terminator, spellings) for words, terminator in sentences(body)]
    if labels.style != "fluent":
        all_sentences = _with_copies(all_sentences, " [/] " if chat else " ")
    return _Draft(all_sentences, repairs)


def _with_copies(all_sentences: Sequence[_Sentence], between: str) -> list[_Sentence]:
    """Return the sentences, of which those that only repeat the last word of the one before belong to it.

    Whisper ends a sentence before *words, words, words*, as the speaker has not. One copy alone stays a sentence, since
    listeners say the last word again, too: *That's a dog. Dog.* ``between`` is what stands between copies.
    """
    result = list(all_sentences[:1])
    for before, sentence in pairwise(all_sentences):
        *others, last = result[-1].words.split() or [""]
        copies = [word for word in sentence.words.casefold().split() if word != between.strip()]
        is_copy = others and len(copies) > 1 and {*copies} == {last.casefold()} and is_disfluent_repeat(copies[:1])
        if is_copy and (before.speaker, before.terminator) == (sentence.speaker, "."):
            result[-1] = sentence._replace(words=" ".join([*others, between.join([last] * (1 + len(copies)))]))
        else:
            result.append(sentence)
    return result


def _decoded(draft: _Draft, tiers: Mapping[str, str], chat: bool, tagger: Tagger | None) -> Decoded:
    utterances: list[Utterance] = []
    repairs = draft.repairs
    for sentence in draft.sentences:
        tier = canonical_words(tiers[sentence.words], sentence.terminator, every_event=not chat)
        repairs += tier.dropped + (sentence.terminator not in LABEL_TERMINATORS)
        if tier.text:
            text = add_retraces(tier.text, tagger) if chat and tagger else tier.text
            utterances.append(_utterance(sentence.speaker, text, sentence.spellings))
    return Decoded(tuple(utterances), repairs)


def _utterance(speaker: str, text: str, spellings: dict[str, str]) -> Utterance:
    """Return an utterance; numbers that are words now are named in ``%com`` as they were written."""
    base = utterance(speaker, without_joiners(text) if spellings else text)
    numbers = written_numbers(text, spellings) if spellings else ()
    return replace(base, tiers=(Line(f"%com:\t{NUMBERS} {', '.join(numbers)}\n", 0),)) if numbers else base


def codes_in(text: str) -> set[str]:
    """Return the speaker codes in the labels of a window.

    >>> sorted(codes_in("<|0.00|>*CHI: um.<|0.80|><|0.80|>*F_A_T: yes. *206: no.<|2.00|>"))
    ['206', 'CHI', 'F_A_T']
    """
    return set(_ROLE.findall(_TOKEN.sub(" ", text)))


def _turns(text: str, roles: bool) -> list[tuple[str | None, str]]:
    """Split at speaker codes: ``*CHI: hello . *MOT: hi .``."""
    if roles:
        text = _UNFINISHED_ROLE.sub("", text)
    before, *rest = (_ROLE if roles else _STRAY_ROLE).split(text)
    turns: list[tuple[str | None, str]] = [(None, before), *zip(rest[::2], rest[1::2], strict=True)]
    return [turn for turn in turns if turn[1].strip()]


EVENT_TOKENS = {
    "[UM]": "um", "[UH]": "uh", "[laughter]": "&=laughs", "[sniff]": "&=sniffs", "[throatclearing]": "&=clears:throat",
    "[cough]": "&=coughs", "[sigh]": "&=sighs", "[breath]": "&=breathes", "[lipsmack]": "&=smacks:lips",
    "[yawn]": "&=yawns", "[noise]": "&=noise", "[crying]": "&=cries", "[fart]": "&=farts", "[scream]": "&=screams",
    "[sneeze]": "&=sneezes",
}  # fmt: skip
"""CrisperWhisper 2: its tokens for fillers and sounds, and the filler or CHAT event that each stands for."""
_SOUNDS = {"[music]": "&=music", "[applause]": "&=applause", "[inaudible]": "xxx"}
"""What OpenAI's models write most of all."""

_EVENT = re.compile(r"(?i)(?<!\w)[\[(*] ?(?:[a-z]{3,} (?=music|laughi|laughte))?([a-z]+)(?: playing)? ?[\])*](?!\w)")
_NO_SPEECH = frozenset(["applause", "beep", "cheering", "clapping", "music", "noise", "silence", "static", "typing"])
"""What Whisper writes in brackets where there is other sound than speech; CHAT has no audible event for it."""
_COLON = re.compile(r"&=\S+|(?<=\w)(?<!@s):+(?=[\s\"”’)]|\Z|[^\W\d_])")
"""Punctuation in plain text, which in CHAT would prolong the sound before it; but not that of an event."""
_WITH_COLONS = frozenset(["deu", "fin", "swe"])
"""Languages with words such as *Schüler:innen*, *USA:ssa* and *tv:n*."""
_CUT_OFF = re.compile(r"(?<=[^\W\d_])\*(?!\w)")
"""CrisperWhisper's sign of a cut-off word: ``wa*``."""
_CHAT = {token.lower(): chat for token, chat in {**EVENT_TOKENS, **_SOUNDS}.items()}


def read_sounds(text: str, known: Mapping[str, str] | None = None) -> str:
    """Return ``text`` with the sounds that Whisper names in brackets as CHAT's events, or without them.

    In music and noise, OpenAI's models write ``[Music]``, also after fine-tuning on labels without such brackets. Other
    text in brackets stays as it is: it may be words. ``known`` are other texts in brackets, in small letters.

    >>> read_sounds("[Music] I want (laughs) it [/] [dogs] (upbeat music)")
    '   I want  &=laughs  it [/] [dogs]   '
    >>> read_sounds("[UM] I wa* want [laughter] *sighs*", _CHAT)
    ' um  I wa* want  &=laughs   &=sighs '
    """

    def event(match: re.Match[str]) -> str:
        name = match[1].lower()
        if chat := (known or {}).get(f"[{name}]"):
            return f" {chat} "
        return " " if name in _NO_SPEECH else f" &={name} " if name in AUDIBLE_EVENTS else match[0]

    return _EVENT.sub(event, text)


def _without_colons(text: str, language: str) -> str:
    text = re.sub(r"(?<=\d):a\b", ":e", text) if language == "swe" else text  # 1:a and 3:e are ordinal alike
    instead = "" if language in _WITH_COLONS else " "
    return _COLON.sub(lambda match: instead if match[0][0] == ":" != match[0][1:2] else match[0], text)
