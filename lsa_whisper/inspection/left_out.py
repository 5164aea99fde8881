"""What a model did not transcribe, in place of zeros, and the banner of a draft that no person has checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Disfluency, Transcript
from lsa_whisper.chat.disfluencies import Family, classes_of
from lsa_whisper.chat.flucalc import COUNTS
from lsa_whisper.labels import Coverage, is_draft, read_coverage
from lsa_whisper.page.language import gettext
from lsa_whisper.page.text import join_names, names_below
from lsa_whisper.system.terminal import hanging_lines

_COUNTED = {
    **{kind.value: kind for kind in Disfluency},
    "part_word_repetition_iterations": Disfluency.PART_WORD_REPETITION,
    "whole_word_repetition": Disfluency.REPETITION,
    "monosyllabic_whole_word_repetition": Disfluency.REPETITION,
    "phrase_repetition": Disfluency.REPETITION,
    "word_revision": Disfluency.REVISION,
    "phrase_revision": Disfluency.REVISION,
    "pauses": Disfluency.PAUSE,
    "timed_pause_s": Disfluency.PAUSE,
    # Only a model that writes CHAT's marks writes these, too: xxx, and how an utterance breaks off.
    "abandoned": Disfluency.PAUSE,
}
"""The class of each count."""
_SLD = frozenset(kind for kind in Disfluency if kind.row.flucalc == "sld") | {Disfluency.REPETITION}
_TD = frozenset(kind for kind in Disfluency if kind.row.flucalc == "td") | {Disfluency.REPETITION, Disfluency.REVISION}
_MAZES = classes_of(Family.ASIDE) | classes_of(Family.RETRACE)
_TOTALS = {
    "maze_share": _MAZES,
    "intelligible_share": frozenset({Disfluency.PAUSE}),
    "weighted_sld": _SLD - {Disfluency.BROKEN_WORD},
    **dict.fromkeys(("sld", "sld_per_100_words", "sld_per_100_syllables"), _SLD),
    **dict.fromkeys(("td", "td_per_100_words", "td_per_100_syllables"), _TD),
}
"""The classes that each total or share is made of; it has no value where one of them is left out."""


def with_gaps(row: Mapping[str, Any], coverage: Coverage) -> dict[str, Any]:
    """Return the measures of a speaker, with words in place of what the model of the transcript left out.

    A count above zero stays: what was written was observed.

    >>> with_gaps({"pauses": 0, "sld": 0, "words": 7}, Coverage(frozenset({Disfluency.PAUSE})))
    {'pauses': 'not transcribed', 'sld': 0, 'words': 7}
    """
    cells = {name: _value(name, value, coverage) for name, value in row.items()}
    if isinstance(counts := row.get("counts"), Mapping):
        cells["counts"] = {name: _value(name, counts[name], coverage) for name in COUNTS}
    return cells


def _value(name: str, value: Any, coverage: Coverage) -> Any:
    if name in _TOTALS:
        return coverage.gap(_TOTALS[name]) or value
    if name in _COUNTED:
        return coverage.gap([_COUNTED[name]], count=value) or value
    return value


def is_complete(transcripts: Iterable[Transcript]) -> bool:
    """Return whether totals may stand beside a norm: nothing was left out, and no transcript is a draft."""
    return not any(is_draft(transcript) or read_coverage(transcript) != Coverage() for transcript in transcripts)


def banners(transcripts: Sequence[tuple[str, Transcript]]) -> list[str]:
    """Return what a reader must know first: which transcripts are drafts, and what their models leave out."""
    lines, names_of_files = [], names_below([file for file, _ in transcripts])
    if drafts := [names_of_files[file] + Path(file).suffix for file, transcript in transcripts if is_draft(transcript)]:
        single = gettext("DRAFT: {drafts} was written by a model and has not been checked by a person")
        several = gettext("DRAFT: {drafts} were written by a model and have not been checked by a person")
        check = gettext("; check with 'lsa-whisper review' before any figure is reported")
        lines.append((single if len(drafts) == 1 else several).format(drafts=join_names(drafts)) + check)
    by_sentence: dict[str, list[str]] = {}
    for file, transcript in transcripts:
        if sentence := read_coverage(transcript).sentence():
            by_sentence.setdefault(sentence, []).append(names_of_files[file] + Path(file).suffix)
    return [*lines, *(f"{join_names(names)}: {sentence}" for sentence, names in by_sentence.items())]


def banner_lines(transcripts: Sequence[tuple[str, Transcript]]) -> list[str]:
    """Return the banners as lines for a terminal."""
    return [hanging_lines(banner, 2) for banner in banners(transcripts)]
