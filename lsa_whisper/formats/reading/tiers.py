"""Tiers of ELAN and Praat as utterances with words and dependent tiers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from lsa_whisper.chat.codes import FREE_TEXT_TIERS
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of

_WORDS = r"words?|wor|tokens?|wort|wörter|woerter|mots|palabras?|parole|palavras?|woorden|słowa|слова"
"""In several languages; French *mot* alone is a mother's tier."""
_WORD_TIER = re.compile(rf"(?:%?wor|ortho?|{_WORDS})@(.+)|(.+?)(?: -)?[ _-](?:{_WORDS})", re.IGNORECASE)
TEXT_TIERS = frozenset(("tx", "txt", "text", "utt", "utterance", "orth", "ort", "trs", "transcription", "transcript"))
"""What stands before ``@`` in the names of tiers of utterances."""
_UTTERANCES = "utterances?|utts?|text|transcript(?:ion)?|transkript(?:ion)?|äu(?:ß|ss)erung(?:en)?|énoncés?|enunciados?"
_UTTERANCE_TIER = re.compile(rf"(?:{'|'.join(TEXT_TIERS)})@(.+)|(.+?)(?: -)?[ _-](?:{_UTTERANCES})", re.IGNORECASE)
_BESIDE = re.compile(
    r"(.*?[^ _.-])[ _.-]+(?:ipa|phon\w*|gest\w*|gaze|act\w*|trans(?:l\w*)?|gloss\w*|pos|morph\w*|notes?|comments?"
    r"|codes?|coding|errors?|prosody|tones?|[ck]om+enta\w+|noti[zc]\w*)",
    re.IGNORECASE,
)
"""A tier about the words of another one, by their names: ``CHI gesture`` beside ``CHI``."""
_BARE_WORD_TIER = re.compile(rf"{_WORDS}|ORT-MAU", re.IGNORECASE)
_SOUND_TIER = re.compile(r"(?:.*[ _-])?(?:phones?|phonemes?|segments|syllables|mau|sounds)|kan-mau", re.IGNORECASE)
"""Tiers of phones and syllables, also those of WebMAUS, whose words are in ``ORT-MAU``."""
_REMARKS = frozenset((
    "default", "note", "notes", "comment", "comments", "context", "code", "code_num", "on_off", "noise",
    "kommentar", "kommentare", "notizen", "bemerkungen", "comentario", "comentarios", "notas", "gesture", "gestures",
    "gesten", "gestos", "gaze", "action", "actions", "translation", "gloss", "ipa", "phonetic", "phonetics", "syllable",
    "tone", "tones", "tobi", "break", "breaks", "pitch", "prosody", "misc", "pos", "morph", "lemma"))  # fmt: skip
_NAME_PARTS = re.compile(r"[@\s_:/-]+|[\[\](){}]")
_CHAT_DEPENDENT = re.compile(r"%([a-z][a-z0-9]{1,9})@(.+)")


@dataclass(frozen=True, slots=True)
class TierText(SpokenText):
    """A text of a tier that may depend on texts of other tiers.

    Attributes:
        name: Its identifier.
        holders: The identifiers of the texts that it depends on, the nearest first.
        timed: Whether the times are its own.
    """

    name: str = ""
    holders: tuple[str, ...] = ()
    timed: bool = True


@dataclass(frozen=True)
class TextTier:
    """A tier: its ``name``, its ``speaker``, its ``texts`` in order, and what is known of its use.

    Attributes:
        name: The tier's name.
        speaker: The speaker that the format names.
        texts: The annotations, their speaker still empty.
        use: ``utterance`` if the format says so.
        parent: The speaker's tier that it depends on, by name; its own name if it depends on none.
        ignored: Whether another tier stands for it.
    """

    name: str
    speaker: str
    texts: Sequence[TierText]
    use: str = ""
    parent: str = ""
    ignored: bool = False


def join_tiers(tiers: Sequence[TextTier], source: Source, conventions: Conventions) -> None:
    """Add the utterances of ``tiers`` to ``source``, with their words and dependent tiers, and notes on other tiers."""
    tiers = _by_speakers(tiers)
    uses = {tier.name: _use(tier, tiers, conventions) for tier in tiers}
    utterances: dict[str, list[TierText]] = {}
    for tier in tiers:
        if uses[tier.name] == "utterance":
            texts = [replace(entry, speaker=tier.speaker) for entry in tier.texts if entry.text.strip()]
            utterances[tier.name] = [entry for _, entry in sorted(_with_starts(texts), key=itemgetter(0))]
    for tier in tiers:
        speaker = _lone_speaker(tier, {other.name for other in tiers})
        if speaker is None or uses[tier.name] == "ignore" or not _are_words(tier.texts):
            continue
        if speaker or uses[tier.name] == "utterance" or not any(utterances.values()):
            uses[tier.name], utterances[tier.name] = "utterance", _cut(tier.texts, speaker)
    for tier in tiers:
        use = uses[tier.name]
        if use == "ignore":
            if any(entry.text for entry in tier.texts) and not tier.ignored:
                source.losses.append(f"tier {tier.name!r} is not used")
            continue
        if use == "utterance":
            continue
        name = _parent_of(tier, utterances)
        if name is None:
            source.losses.append(f"tier {tier.name!r} belongs to no speaker's tier, and is not used")
            continue
        by_holder = _by_holder(utterances[name], tier, source)
        if use == "words":
            utterances[name] = _with_words(utterances[name], by_holder)
        else:
            holders = utterances[name]
            own = sum(text.timed and text.span != holders[at].span for at, texts in by_holder.items() for text in texts)
            if own:
                source.notes.append(f"times of texts in tier {tier.name!r} that a dependent tier cannot hold: {own}")
            utterances[name] = _with_dependents(holders, by_holder, _chat_name(tier, use))
    pairs = (pair for texts in utterances.values() for pair in _with_starts(texts))
    source.spoken += [entry for _, entry in sorted(pairs, key=itemgetter(0))]


def _by_speakers(tiers: Sequence[TextTier]) -> list[TextTier]:
    """Return the tiers, ``MOT - utterances`` and ``tx@MOT`` as ``MOT``, and ``act@MOT`` beside it as dependent."""
    bare = {tier.name: match[1] or match[2] for tier in tiers if (match := _UTTERANCE_TIER.fullmatch(tier.name))}
    counts = Counter([*(tier.name for tier in tiers), *bare.values()])
    bare = {name: speaker for name, speaker in bare.items() if counts[speaker] == 1}
    names = {bare.get(tier.name, tier.name) for tier in tiers}
    result = []
    for tier in tiers:
        name, speaker, parent = (bare.get(own, own) for own in (tier.name, tier.speaker, tier.parent))
        beside = _BESIDE.fullmatch(name)
        holder = (beside[1] if beside else name.partition("@")[2]) or _namesake(tier, name, tiers, bare)
        if tier.use == "utterance" and holder and holder in names:
            result.append(replace(tier, name=name, speaker=holder, parent=holder, use=""))
        else:
            result.append(replace(tier, name=name, speaker=speaker, parent=parent))
    return result


_SUFFIX = re.compile(r"[ _.-]+[^\W\d_]{2}.*")


def _namesake(tier: TextTier, name: str, tiers: Sequence[TextTier], bare: Mapping[str, str]) -> str:
    """Return the speaker after whom a tier is named whose texts all lie within the speaker's: ``CHI Blick``.

    Another speaker of such a name (*Ann* and *Ann Lee*) does not speak within the first one's utterances only.
    """
    speakers = {bare.get(other.name, other.name): other for other in tiers if other is not tier}
    for speaker in sorted(speakers, key=len, reverse=True):
        if name.startswith(speaker) and _SUFFIX.fullmatch(name[len(speaker) :]):
            texts = [text for _, text in sorted(_with_starts(speakers[speaker].texts), key=itemgetter(0)) if text.text]
            starts = [text.span.start_ms if text.span else 0 for text in texts]
            said = [entry for entry in tier.texts if entry.text.strip()]
            return speaker if said and all(_holder(texts, starts, entry) is not None for entry in said) else ""
    return ""


def _lone_speaker(tier: TextTier, names: set[str]) -> str | None:
    """Return the speaker of a tier of words that has no tier of utterances beside it, as aligners write it."""
    if tier.parent in names - {tier.name}:
        return None
    if _BARE_WORD_TIER.fullmatch(tier.name):
        return ""
    match = _WORD_TIER.fullmatch(tier.name)
    speaker = match and (match[1] or match[2])
    return speaker if speaker and speaker not in names else None


def _are_words(texts: Sequence[TierText]) -> bool:
    return all(entry.span for entry in texts) and not any(" " in entry.text.strip() for entry in texts)


def _cut(words: Sequence[TierText], speaker: str) -> list[TierText]:
    timed = (RecognizedWord(word.text, word.span, speaker, word.place) for word in words if word.span and word.text)
    return [TierText(turn.speaker, turn.text, turn.span, turn.words, place=turn.place) for turn in utterances_of(timed)]


def _with_starts(texts: Iterable[TierText]) -> Iterator[tuple[int, TierText]]:
    """Yield each text with its start; one without times has that of the text before it."""
    start_ms = 0
    for text in texts:
        start_ms = text.span.start_ms if text.span else start_ms
        yield start_ms, text


def _use(tier: TextTier, tiers: Sequence[TextTier], conventions: Conventions) -> str:
    """Return what a tier is used for: utterance, words, comment, dependent or ignore."""
    if laid_out := conventions.use_of_tier(tier.name):
        return laid_out
    if tier.ignored:
        return "ignore"
    names = {other.name for other in tiers}
    if words_speaker(tier.name, names) is not None:
        return "words"
    if _WORD_TIER.fullmatch(tier.name) and tier.parent in names - {tier.name}:
        return "words"
    if _SOUND_TIER.fullmatch(tier.name) or (_is_remark(tier) and not all(map(_is_remark, filter(_has_texts, tiers)))):
        return "ignore"
    return "dependent" if _CHAT_DEPENDENT.fullmatch(tier.name) else tier.use or "dependent"


def _is_remark(tier: TextTier) -> bool:
    name = tier.name.casefold()
    return bool(tier.use) and (name in _REMARKS or re.split("[ _-]", name)[-1] in _REMARKS - {"default"})


def _has_texts(tier: TextTier) -> bool:
    return any(entry.text.strip() for entry in tier.texts)


def words_speaker(name: str, names: set[str]) -> str | None:
    """Return the speaker's tier whose words stand in the tier ``name``; ``None`` if it holds no words.

    >>> words_speaker("CHI words", {"CHI"}), words_speaker("wor@CHI", {"CHI"}), words_speaker("CHI", {"CHI"})
    ('CHI', 'CHI', None)
    """
    match = _WORD_TIER.fullmatch(name)
    if match and (parent := match.group(1) or match.group(2)) in names:
        return parent
    others = names - {name}
    if _BARE_WORD_TIER.fullmatch(name) and others:
        return min(others) if len(others) == 1 else ""
    return None


def _parent_of(tier: TextTier, utterances: dict[str, list[TierText]]) -> str | None:
    dependent = _CHAT_DEPENDENT.fullmatch(tier.name)
    holder = words_speaker(tier.name, set(utterances) | {tier.name}) or (dependent.group(2) if dependent else None)
    return next((name for name in (holder, tier.parent) if name in utterances), None)


def _chat_name(tier: TextTier, use: str) -> str:
    """Return the CHAT name of a dependent tier: those that CHAT knows keep theirs, others begin with ``%x``."""
    if chat := _CHAT_DEPENDENT.fullmatch(tier.name):
        return f"%{chat.group(1)}"
    if use == "comment":
        return "%com"
    own = (part.lstrip("%").casefold() for part in _NAME_PARTS.split(tier.name))
    others = {name.casefold() for name in (tier.parent, tier.speaker) if name != tier.name}
    plain = next((part for part in own if part and part not in others), "tier")
    if f"%{plain}" in FREE_TEXT_TIERS:
        return f"%{plain}"
    return f"%x{re.sub(r'[^a-z0-9]', '', plain)[:6] or 'tier'}"


def _by_holder(texts: Sequence[TierText], tier: TextTier, source: Source) -> dict[int, list[TierText]]:
    """Return the texts of ``tier`` by the index of the utterance that holds them, and note those that none holds."""
    names = {text.name: at for at, text in enumerate(texts) if text.name}
    starts = [text.span.start_ms if text.span else 0 for text in texts]
    by_holder: dict[int, list[TierText]] = {}
    entries = [entry for entry in tier.texts if entry.text.strip()]
    for entry in entries:
        at = next((names[name] for name in entry.holders if name in names), None)
        at = _holder(texts, starts, entry) if at is None else at
        if at is not None:
            by_holder.setdefault(at, []).append(entry)
    stray = len(entries) - sum(map(len, by_holder.values()))
    if stray:
        source.losses.append(
            f"tier {tier.name!r}: {stray} of {len(entries)} texts lie in no utterance, and are not used"
        )
    return by_holder


def _holder(texts: Sequence[TierText], starts: Sequence[int], entry: TierText) -> int | None:
    """Return the index of the utterance in whose time the middle of ``entry`` lies."""
    if entry.span is None:
        return None
    middle = (entry.span.start_ms + entry.span.end_ms) // 2
    for at in range(bisect_right(starts, middle) - 1, -1, -1):
        span = texts[at].span
        if span and span.start_ms <= middle <= span.end_ms:
            return at
        if span and middle - span.start_ms > 600_000:
            break
    return None


def _with_words(texts: list[TierText], by_holder: Mapping[int, list[TierText]]) -> list[TierText]:
    """Return the utterances with their words, which are in order of time, or else in the order of the file."""
    utterances = list(texts)
    for at, words in by_holder.items():
        if all(word.timed for word in words):
            words = sorted(words, key=lambda word: word.span.start_ms if word.span else 0)
        pairs = ((word.text, word.span if word.timed else None) for word in words)
        utterances[at] = replace(utterances[at], words=tuple(pairs))
    return utterances


def _with_dependents(texts: list[TierText], by_holder: Mapping[int, list[TierText]], name: str) -> list[TierText]:
    result = list(texts)
    for at, dependents in by_holder.items():
        result[at] = replace(
            result[at], tiers=(*result[at].tiers, *((name, dependent.text) for dependent in dependents))
        )
    return result
