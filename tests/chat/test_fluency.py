"""FluCalc's counts, in both modes."""

import pytest

from lsa_whisper.chat import parse, read, syllables
from lsa_whisper.chat.flucalc import COUNTS, words_and_syllables
from lsa_whisper.errors import LsaWhisperError

HEAD = "@UTF8\n@Begin\n@Languages:\teng\n"


def counts(text, mode="strict"):
    found = parse(f"{HEAD}*PAR:\t{text}\n").fluency(mode)["PAR"].counts
    assert tuple(found) == COUNTS
    return {name: count for name, count in found.items() if count}


@pytest.mark.parametrize("mode", ["strict", "flucalc"])
def test_the_published_row(real_files, mode):
    path = next(path for path in real_files if path.name == "fluency.cha")
    row = read(path).fluency(mode)["PAR"]
    assert row.counts == {
        "prolongation": 4,
        "broken_word": 1,
        "block": 1,
        "part_word_repetition": 7,
        "part_word_repetition_iterations": 15,
        "whole_word_repetition": 1,
        "monosyllabic_whole_word_repetition": 1,
        "fragment": 0,
        "phrase_repetition": 0,
        "word_revision": 2,
        "phrase_revision": 0,
        "pause": 2,
        "filled_pause": 2,
    }
    assert (row.sld, row.td) == (14, 6)


@pytest.mark.parametrize(
    ("text", "strict", "flucalc"),
    [
        ("&=head:yes yes &*INV:oh:h .", {}, {"prolongation": 3}),
        ("a (1:05.) b .", {"pause": 1}, {"pause": 1, "prolongation": 1}),
        ("&uh I &fr go .", {"filled_pause": 1, "fragment": 1}, {}),
        ("&-uh I &+fr go .", {"filled_pause": 1, "fragment": 1}, {"filled_pause": 1, "fragment": 1}),
        ("<I &-um> [/] I go .",
         {"whole_word_repetition": 1, "monosyllabic_whole_word_repetition": 1, "filled_pause": 1},
         {"phrase_repetition": 1, "filled_pause": 1}),
        ("the [/] the [/] the dog .", *[{"whole_word_repetition": 2, "monosyllabic_whole_word_repetition": 2}] * 2),
        ("rabbit [/] rabbit .", *[{"whole_word_repetition": 1}] * 2),
        ("maybe [/] maybe .", *[{"whole_word_repetition": 1}] * 2),
        ("going [/] going .", {"whole_word_repetition": 1},
         {"whole_word_repetition": 1, "monosyllabic_whole_word_repetition": 1}),
        ("<I want> [/] I want .", *[{"phrase_repetition": 1}] * 2),
        ("<going> [//] else .", *[{"word_revision": 1}] * 2),
        ("<the dog> [//] the cat .", *[{"phrase_revision": 1}] * 2),
        ("<the dog> [///] a [/-] b .", {}, {}),
        ("(.) a (.) b (..) . (...)", *[{"pause": 1}] * 2),
        ("go [x 3] .", *[{"whole_word_repetition": 2, "monosyllabic_whole_word_repetition": 2}] * 2),
        ("no [x 5] !", *[{"whole_word_repetition": 4, "monosyllabic_whole_word_repetition": 4}] * 2),
        ("<a b> [x 2] .", *[{"phrase_repetition": 1}] * 2),
        ("and (.) +... \x150_900\x15", {}, {"pause": 1}),
        ("and (.) +...", {}, {}),
        ("(.) and . (..) \x150_900\x15", {}, {"pause": 1}),
        ("&=ges:one [//] two .", {}, {"word_revision": 1, "prolongation": 1}),
        ("&=laughs [/] two .", {}, {"whole_word_repetition": 1, "monosyllabic_whole_word_repetition": 1}),
        ("<&=points [//] a dog> [/] a dog .", {"phrase_repetition": 1}, {"word_revision": 1, "phrase_repetition": 1}),
        ("&-hm^&-hm: yes .", *[{"filled_pause": 2, "prolongation": 1, "broken_word": 1}] * 2),
        ("dog&-um ran .", *[{"filled_pause": 1}] * 2),
        ("^word .", {"block": 1}, {"broken_word": 1}),
        ("0am: cat .", {}, {}),
    ],
)  # fmt: skip
def test_where_the_modes_agree_and_differ(text, strict, flucalc):
    assert counts(text) == strict
    assert counts(text, "flucalc") == flucalc


def test_rates():
    fluency = parse(f"{HEAD}*PAR:\t↫r-r↫rabbit &-um s:o .\n*INV:\tyes .\n").fluency()
    assert list(fluency) == ["PAR", "INV"]
    row = fluency["PAR"].as_dict()
    assert (row["words"], row["syllables"], row["sld"], row["td"]) == (2, 3, 2, 1)
    assert row["weighted_sld"] == pytest.approx(100 * (2 + 2) / 3)
    assert row["td_per_100_words"] == pytest.approx(50)


TAGGED = """@Languages:\teng
*PAR:\t&-um <the horses> [//] the house (be)came [: was] something (.) xxx .
%mor:\tdet:art|the n|house cop|be&PAST pro:indef|something .
*PAR:\tnobody counts this one .
*INV:\tgoing home .
"""


def test_the_denominators_of_flucalc_are_those_of_the_mor_tier():
    found = parse(TAGGED).fluency("flucalc")
    assert (found["PAR"].words, found["PAR"].syllables) == (4, 1 + 1 + 1 + 2), "only the utterance with a %mor tier"
    assert found["INV"].syllables == 3, "without any %mor tier, the estimate"
    assert parse(TAGGED).fluency()["PAR"].words == 9, "strict counts all utterances, and xxx"


NO_WORDS = ("cm|", "beg|", "end|", "bq|", "eq|")  # commas and quotation marks


def test_the_words_of_flucalc_are_the_items_of_real_mor_tiers(real_files):
    checked, words, items = 0, 0, 0
    for path in (path for path in real_files if path.parent.name != "bad"):
        for each in read(path).utterances:
            tagged = [tier.value.split() for tier in each.tiers if tier.name == "%mor"]
            if tagged:
                counted = words_and_syllables([each])
                words += counted[0] if counted else 0
                items += sum("|" in item and not item.startswith(NO_WORDS) for item in tagged[0])
                checked += 1
    assert checked > 200 and abs(words - items) <= 1, "one tier tags the satellite marker with punct|"


def test_a_language_whose_syllables_are_unknown():
    row = parse("@Languages:\theb\n*PAR:\tha [/] ha kelev .\n").fluency()["PAR"].as_dict()
    assert row["counts"]["whole_word_repetition"] == 1
    unknown = [row["counts"]["monosyllabic_whole_word_repetition"]]
    unknown += [row[name] for name in ("syllables", "sld", "sld_per_100_words", "weighted_sld")]
    assert unknown == [None] * 5 and row["td"] == 0
    fluent = parse("@Languages:\theb\n*PAR:\tha kelev .\n").fluency()["PAR"].as_dict()
    assert (fluent["sld"], fluent["sld_per_100_words"]) == (0, 0.0), "nothing was repeated"


def test_an_unknown_mode():
    with pytest.raises(LsaWhisperError, match="strict, flucalc"):
        parse("*A:\ta .").fluency("clan")


BY_LENGTH = {
    1: "I the you don't can't there's think like make makes baked played walked house horse cheese times"
    " names are have "
    "loved looked stopped eight queen they've we'll once eyes use used toes leaves breathe clothes girl world ice fire",
    2: "rabbit going doing people little table didn't wouldn't isn't wasn't doesn't water mother happy any "
    "after because "
    "wanted needed houses boxes dishes watches changes giant being saying quiet cookies today uh-huh picture special "
    "nation action ocean precious gorgeous region people's it'll could've apples handled sometimes homework careful",
    3: "banana elephant grandmother another tomorrow potato umbrella hospital animal bicycle remember direction radio "
    "idea piano museum musician everything everyone somebody interesting probably wonderful exactly stepsister",
    4: "television everybody information understanding usually situation population especially caterpillar",
}


@pytest.mark.parametrize(("length", "words"), BY_LENGTH.items())
def test_syllables_of_english(length, words):
    assert {word: syllables(word) for word in words.split()} == dict.fromkeys(words.split(), length)


@pytest.mark.parametrize("word", ["", "'", "qwrt", "狗", "hao3", "собака"], ids=range(6))
def test_syllables_of_unknown_words_are_none(word):
    assert syllables(word) is None


OTHER_LANGUAGES = {
    "spa": {
        1: "yo que muy hay rey",
        2: "casa agua día está leer ciudad juego viuda gracias",
        3: "ahora abuela pingüino",
    },
    "fra": {1: "le chat eau oui cœur arbre", 2: "maison école oiseau regarde noël", 3: "animal", 4: "réalité"},
    "deu": {1: "haus ich hund die", 2: "über straße eier idee bäume", 3: "bauernhof ameise großmutter"},
    "ita": {1: "è più chi", 2: "casa zio mio uovo città giorno scuola", 3: "amico albero mangiare"},
    "nld": {1: "huis mooi ei leeuw nieuw", 2: "oma eten avond alleen", 3: "olifant boerderij eieren"},
    "cmn": {1: "狗 hao3", 2: "小狗 ni3hao3", 3: "自行车"},
    "yue": {1: "狗 m4", 2: "香港 nei5hou2"},
    "jpn": {2: "いぬ kyou きょう", 3: "watashi", 4: "がっこう gakkō しんぶん"},
    "heb": {None: "כלב ילדה"},
}


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_syllables_of_other_languages(language):
    for length, words in OTHER_LANGUAGES[language].items():
        assert {word: syllables(word, language) for word in words.split()} == dict.fromkeys(words.split(), length)


@pytest.mark.parametrize("language", ["spa", "fra", "deu", "ita", "nld", "zho", "heb", "jpn"])
def test_the_reference_files_of_other_languages(real_files, language):
    transcript = read(next(path for path in real_files if path.name == f"{language}-conversation.cha"))
    rows = [row.as_dict() for row in transcript.fluency().values() if row.words]
    assert rows
    counted = [row["syllables"] for row in rows if row["syllables"]]
    assert bool(counted) == (language != "heb")
    assert all(row["syllables"] is None or row["syllables"] >= row["words"] / 2 for row in rows)


@pytest.mark.parametrize("word", ["xxx", "yyy", "www"])
def test_the_syllables_of_what_is_not_understood_are_not_known(word):
    assert counts(f"{word} [/] {word} go .") == {"whole_word_repetition": 1}
    assert parse(f"{HEAD}*PAR:\t{word} [/] {word} go .\n").fluency()["PAR"].sld == 0
