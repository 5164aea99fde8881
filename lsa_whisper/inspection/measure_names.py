"""The names of measures in tables, how their values are written, and what the counts of disfluencies mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lsa_whisper.chat import Transcript
from lsa_whisper.inspection.text_output import format_number
from lsa_whisper.page.language import gettext
from lsa_whisper.scoring.normalize import is_unspaced
from lsa_whisper.system.terminal import hanging_lines

SUMMARY_MEASURES = ("utterances", "total_words", "mlu_words", "different_words", "maze_share", "weighted_sld")
"""The measures of a table in which speakers are rows."""
_SHARES = ("maze_share", "intelligible_share", "grammatical_share")
_NAMES = {
    "fragment": "cut-off word",
    "part_word_repetition": "part-word repetition",
    "part_word_repetition_iterations": "part-word repetition iterations",
    "total_words": "words (NTW)",
    "different_words": "different words (NDW)",
    "abandoned": "abandoned utterances",
    "mlu_words": "MLU in words",
    "mlu_morphemes": "MLU in morphemes",
    "ndw_100": "NDW in 100 words",
    "ttr": "TTR",
    "mattr": "MATTR (50 words)",
    "vocd": "D (VOCD) of lemmas",
    "vocd_word_forms": "D of word forms",
    "word_errors": "word errors [*]",
    "grammatical_share": "grammatical utterances",
    "maze_share": "maze words",
    "intelligible_share": "intelligible words",
    "timed_pause_s": "timed pauses, seconds",
    "sld": "SLD",
    "td": "TD",
    "weighted_sld": "weighted SLD",
}

FLUENCY_TERMS = {
    "SLD": "stuttering-like disfluencies: prolongations, broken words, blocks, part-word repetitions, and repetitions "
    "of whole words of one syllable",
    "TD": "typical disfluencies: cut-off words, repetitions of phrases, revisions, pauses inside utterances and filled "
    "pauses",
    "weighted SLD": "(iterations of part-word repetitions + repetitions of words of one syllable + 2 x prolongations "
    "and blocks) per 100 syllables (Ambrose and Yairi 1999)",
}
_NORM = "; above 4 suggests stuttering in a young child"
CHARACTERS = (
    "in scripts without spaces (such as Chinese and Japanese), each character counts as a word: MLU is in characters"
)
CLAN_DEFINITIONS = (
    "CLAN's definitions: words, MLU (in morphemes: stems, clitics, plurals, pasts, possessives, present participles), "
    "NDW and TTR (of FREQ, main tier), D (of VOCD, which takes lemmas of %mor; exact, where VOCD draws at random)",
    "not CLAN's: maze words (of SALT), MATTR of word forms, intelligible words, rates per minute of speaking time, "
    "grammatical utterances (finished ones without [+ gram], or [*] other than [* p] and [* d], where any is coded)",
)
"""Which measures are CLAN's; a figure is compared with published ones only where its definition is known."""
COUNTING = {
    "strict": "strict counting, the default, counts the marks in the words that were spoken: report it",
    "flucalc": "flucalc counting repeats CLAN's, which also takes signs such as the colon of &=head:yes for marks: "
    "report it only beside figures from CLAN",
}


def fluency_terms(*, norm: bool) -> dict[str, str]:
    """Return the meaning of the sums of disfluencies, with a norm only if nothing was left out of them."""
    return {
        gettext(term): gettext(meaning) + gettext(_NORM) * (norm and term == "weighted SLD")
        for term, meaning in FLUENCY_TERMS.items()
    }


def explained(mode: str, *, measures: bool = False, norm: bool = True) -> list[str]:
    """Return what stands below a table of disfluencies: the meaning of its sums, and which counting this is.

    With ``measures``, it also says which measures of a language sample are CLAN's, and with ``norm`` from which value
    on a sum suggests stuttering.
    """
    terms = (f"{term}: {meaning}" for term, meaning in fluency_terms(norm=norm).items())
    lines = [*(CLAN_DEFINITIONS if measures else ()), *terms, COUNTING[mode]]
    return [hanging_lines(line, 2) for line in lines]


def unit_remarks(transcripts: Iterable[Transcript]) -> list[str]:
    r"""Return what to say of the unit of words: that it is the character, where a script has no spaces.

    >>> from lsa_whisper.chat import parse
    >>> unit_remarks([parse("*CHI:\t我 要 糖 .")]) == [CHARACTERS], unit_remarks([parse("*CHI:\tno .")])
    (True, [])
    """
    texts = (utterance.text for transcript in transcripts for utterance in transcript.utterances)
    return [gettext(CHARACTERS)] if any(map(is_unspaced, texts)) else []


def measure_name(name: str) -> str:
    """Return the name of a measure in a table.

    >>> measure_name("mlu_words"), measure_name("td_per_100_syllables")
    ('MLU in words', 'TD per 100 syllables')
    """
    return gettext(_NAMES.get(name, name.replace("_", " ").replace("sld", "SLD").replace("td per", "TD per")))


def measure_cell(row: Mapping[str, Any], name: str) -> str:
    """Return the value of a measure for a table; shares are in percent.

    >>> measure_cell({"maze_share": 0.125}, "maze_share")
    '12.5%'
    """
    value = row[name]
    return gettext(value) if isinstance(value, str) else format_number(value, percent=name in _SHARES)
