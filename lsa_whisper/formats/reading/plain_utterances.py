"""Plain text as utterances: one for each sentence, each with its share of the times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from lsa_whisper.chat import Utterance
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.names import names_in
from lsa_whisper.formats.reading.notation import plain_to_chat, without_end
from lsa_whisper.formats.reading.source import CONTROLS, Source, SpokenText, shared_spans, spoken_utterance

_SENTENCE_END = re.compile(r"[.?!…]+[\"”’)\]]*$")


class PlainReader:
    """Makes utterances of the plain texts of one source, and counts what a note must say."""

    def __init__(self, source: Source, conventions: Conventions, language: str, infer_marks: bool):
        """Read the names in the texts of ``source``; ``language`` is an ISO 639-3 code."""
        self._source = source
        to_chat = partial(
            plain_to_chat,
            conventions=conventions,
            language=language,
            infer_marks=infer_marks,
            names=names_in((each.text for each in source.spoken), language),
        )
        self._read = lru_cache(maxsize=1 << 12)(to_chat)  # "yes" and "mhm" are half of many conversations
        self._tags: Counter[str] = Counter()
        self._shared = 0

    def utterances(self, each: SpokenText, code: str) -> Iterator[Utterance]:
        """Yield the utterances of one text, whose speaker has this ``code``."""
        for part in _timed_sentences(each):
            found = self._read(CONTROLS.sub(" ", part.text))
            self._tags.update(found.tags)
            tiers = found.tiers or (("0 .",) if found.comments or part.tiers else ())
            remarks = (*part.tiers, *(("%com", one) for one in found.comments))
            for number, (tier, shared) in enumerate(self._shares(part, tiers)):
                yield spoken_utterance(replace(shared, tiers=remarks if number == 0 else ()), code, tier)

    def _shares(self, part: SpokenText, tiers: Sequence[str]) -> Iterator[tuple[str, SpokenText]]:
        """Yield each tier with its part of the times and words; several of one text share them by length."""
        if len(tiers) < 2:
            yield from ((tier, part) for tier in tiers)
            return
        counts = [len(spoken_utterance(part, "", tier).verbatim()) for tier in tiers]
        if (part.words and sum(counts) != len(part.words)) or not self._source.shares_times:
            yield " ".join([*(without_end(tier) for tier in tiers[:-1]), tiers[-1]]), part
            return
        self._shared += part.span is not None
        at = 0
        for tier, count, span in zip(tiers, counts, shared_spans(part.span, tiers), strict=True):
            words = part.words[at : at + count] if part.words else ()
            yield tier, replace(part, span=span, words=words)
            at += count

    def add_notes(self) -> None:
        """Note unknown tags, and sentences whose times are estimated."""
        if self._tags:
            named = ", ".join(f"{tag} ({count})" for tag, count in self._tags.most_common(10))
            more = f" and {len(self._tags) - 10} others" if len(self._tags) > 10 else ""
            self._source.notes.append(f"tags that are not known stand in comments: {named}{more}")
        if self._shared:
            self._source.notes.append(
                f"texts of several sentences: {self._shared}; each sentence has a share of the time by its length, "
                "which `align` corrects"
            )


def _timed_sentences(each: SpokenText) -> list[SpokenText]:
    """Return the sentences of a text whose words have times, each with its own; any other text stays one."""
    if not each.words or len(each.text.split()) != len(each.words):
        return [each]
    parts, start = [], 0
    for at, (word, _) in enumerate(each.words):
        if at + 1 == len(each.words) or _SENTENCE_END.search(word):
            words = each.words[start : at + 1]
            timed = [at for _, at in words if at]
            span = timed[0] | timed[-1] if timed else None
            parts.append(replace(each, text=" ".join(word for word, _ in words), span=span, words=words))
            start = at + 1
    return parts
