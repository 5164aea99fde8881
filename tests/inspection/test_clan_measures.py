"""Measures as CLAN defines them: words, morphemes and lemmas, and coded errors."""

from __future__ import annotations

import pytest

from lsa_whisper import chat
from lsa_whisper.inspection import inspect
from lsa_whisper.inspection.measures import measure_speakers
from lsa_whisper.inspection.morphology import lemmas, mlu_morphemes, morphemes
from lsa_whisper.scoring.language_sample import count_words, sample_of


def measured(*tiers):
    return measure_speakers(chat.parse("".join(f"{tier}\n" for tier in tiers)))["CHI"]


@pytest.mark.parametrize(
    ("tier", "mlu", "words", "different"),
    [
        # a compound is one word
        ("all_of_a_sudden she ran .", 3, 3, 3),
        ("you_know I went to Montclair_State_University .", 5, 5, 5),
        ("merry-go-round and ice+cream .", 3, 3, 3),
        ("&-you_know <all_at_once> [/] all_at_once it fell .", 3, 3, 3),
        ("it [: all_of_it] broke .", 2, 2, 2),
        ("Thank_you thank_you .", 2, 2, 1),
        # other words
        ("choo@o choo .", 2, 2, 2), ("a@l a A .", 3, 3, 2), ("hola@s:spa hola .", 2, 2, 2),
        ("xxx@s:spa hi .", None, 1, 1),
        ("'cause cause dogs' dogs .", 4, 4, 4), ("(be)cause because goin(g) .", 3, 3, 2), ("wa:ter water .", 2, 2, 1),
        ("0is she 0 &=laughs here &*INV:mhm .", 2, 2, 2), ("no ‡ Mommy , yes „ okay .", 4, 4, 4),
        ("wanna [: want to] go .", 3, 3, 3), ("I goed [: went] [* m] home [?] .", 3, 3, 3), ("I [x 3] want .", 2, 2, 2),
        ("[- spa] hola amigo .", 2, 2, 2), ("+< the (.) dog (1.5) ran +...", 3, 3, 3),
        ("↫w-w↫water &~ga &+wa .", 1, 1, 1),
        ("um I uh go .", 2, 4, 4), ("um .", None, 1, 1), ("0 .", None, 0, 0), ("&=laughs .", None, 0, 0),
        ("xxx [//] the dog .", 2, 2, 2), ("<xxx want> [/] I want .", 2, 2, 2), ("xxx [: more] milk .", 2, 2, 2),
        ("xx go .", None, 1, 1), ("(xxx) go .", None, 1, 1), ("I yyy go .", None, 2, 2), ("www .", None, 0, 0),
        ("the [/?] the <big dog> [///] dog <and the> [/-] no .", 3, 3, 3),
    ],
)  # fmt: skip
def test_words_of_mlu_and_freq(tier, mlu, words, different):
    sample = measured(f"*CHI:\t{tier}").sample
    assert (sample.mlu_words, sample.total_words, sample.different_words) == (mlu, words, different)


@pytest.mark.parametrize(
    ("tiers", "mlu"),
    [
        (["I want +/.", "+, to go ."], 4),
        (["I want +/.", "+, to +/.", "+, go ."], 4),
        (["I want +/.", "xxx .", "+, to go ."], 4),
        (["I want +/.", "no .", "+, to go ."], 5 / 3),
        (["I want +//.", "+, to go ."], 2),
        (["I want +...", "+, to go ."], 2),
        (["I want +/.", "to go ."], 2),
        (["I want +.", "to go ."], 4),
    ],
)
def test_an_interrupted_utterance_and_its_completion_are_one(tiers, mlu):
    assert measured(*(f"*CHI:\t{tier}" for tier in tiers)).sample.mlu_words == pytest.approx(mlu)
    with_mor = (
        f"*CHI:\t{tier}\n%mor:\t" + " ".join(f"v|{word}" if word.isalpha() else word for word in tier.split())
        for tier in tiers
    )
    assert measured(*(tier.replace("v|xxx", "unk|xxx") for tier in with_mor)).mlu_morphemes == pytest.approx(mlu)


def test_what_another_says_between_changes_nothing():
    tiers = ("*CHI:\tI want +/.", "*MOT:\twhat ?", "*CHI:\t+, to go .", "*CHI:\tnow .")
    assert measured(*tiers).sample.mlu_words == 2.5
    everyone = sample_of(count_words(chat.parse("".join(f"{tier}\n" for tier in tiers)).utterances))
    assert everyone.mlu_words == 2


def test_a_compound_adds_no_maze_words():
    assert measured("*CHI:\tall_of_a_sudden she ran .").sample.maze_share == 0
    assert measured("*CHI:\t&-you_know she ran .").sample.maze_share == pytest.approx(1 / 3)


def test_characters_stay_words_where_nothing_separates_them():
    assert measured("*CHI:\t我要_球 .").sample.total_words == 3


def test_utterances_that_mlu_leaves_out():
    sample = measured("*CHI:\tno .", "*CHI:\tgo home now . [+ mlue]", "*CHI:\txxx go home .").sample
    assert (sample.mlu_words, sample.total_words) == (1, 6)


@pytest.mark.parametrize(
    ("item", "count"),
    [
        ("n|dog", 1), ("n|dog-PL", 2), ("v|call-PAST", 2), ("part|go-PRESP", 2), ("part|call-PASTP", 2),
        ("v|go&PAST", 1), ("v|start-3S", 1), ("adj|old-CP", 1), ("pro|it~cop|be&3S", 2), ("n:prop|Tom~poss|s", 2),
        ("n|+n|week+n|end-PL", 2), ("noun|dog-Plur", 2), ("noun|dog-Plur-Acc", 2), ("verb|run-Fin-Ind-Past-S3-irr", 2),
        ("verb|go-Fin-Ind-Pres-S3", 1), ("verb|run-Part-Pres-S", 2), ("verb|rip-Part-Past-S", 2),
        ("pron|he-Prs-Nom-S3", 1), ("det|the-Def-Art", 1), ("pron|that-Dem~aux|be-Fin-Ind-Pres-S3", 2), ("cm|cm", 0),
        ("0aux|be", 0), ("verb|go-Inf-S=ir", 1), ("verb|fall-Ger-S", 2), ("n|walk^v|walk-PAST", 1), ("unk|xxx", 0),
        ("bq|bq", 0), ("end|end", 0), ("un#adj|do&dv-ABLE", 1), ("adj|big-Cmp-S1", 1),
        ("aux|have-Fin-Ind-Pres-S3~part|not", 2),
        ("prep|a$pro|me", 2), ("n|dog-DIM-PL", 2), ("pron|we-Prs-Nom-P1", 1), ("n|+adj|black+n|bird-PL~poss|s", 3),
    ],
)  # fmt: skip
def test_morphemes_of_both_forms_of_mor(item, count):
    (utterance,) = chat.parse(f"*CHI:\tx .\n%mor:\t{item} .\n").utterances
    assert sum(1 + one.traced for one in morphemes(utterance)) == count


def test_mlu_in_morphemes_of_universal_dependencies():
    tiers = [
        ("the dogs ran .", "det|the-Def-Art noun|dog-Plur verb|run-Fin-Ind-Past-S3 ."),
        ("he goes .", "pron|he-Prs-Nom-S3 verb|go-Fin-Ind-Pres-S3 ."),
        ("running .", "verb|run-Part-Pres-S ."),
    ]
    text = "".join(f"*CHI:\t{main}\n%mor:\t{mor}\n" for main, mor in tiers)
    assert mlu_morphemes(chat.parse(text).utterances) == 3.0


def test_lemmas_of_compounds_clitics_and_translations():
    tier = "pro|it~cop|be&3S n|+n|week+n|end-PL verb|run-Fin-Ind-Past-S3 un#adj|do&dv-ABLE n|perro-PL=dog cm|cm ."
    (utterance,) = chat.parse(f"*CHI:\tx .\n%mor:\t{tier}\n").utterances
    assert lemmas([utterance]) == ["it", "be", "weekend", "run", "do", "perro"]


def test_d_of_lemmas_is_below_that_of_their_forms():
    tiers = []
    for n in range(30):
        tiers += [
            f"*CHI:\twalk{n % 15} walks{n % 15} walked{n % 15} .",
            f"%mor:\t{' '.join(['v|walk' + str(n % 15)] * 3)} .",
        ]
    found = measured(*tiers)
    assert found.vocd < found.vocd_word_forms / 2


def test_errors_are_counted_where_any_is_coded():
    coded = measured(
        "*CHI:\the goed [: went] [* m:=ed] home .", "*CHI:\tno more .", "*CHI:\t<him go> [* f] home . [+ gram]",
        "*CHI:\tthem xxx .", "*CHI:\tI want +...",
    )  # fmt: skip
    assert (coded.word_errors, coded.grammatical_share) == (2, pytest.approx(1 / 3))
    sounds = measured("*CHI:\twed [: red] [* p:w] dog .", "*CHI:\tno more .")
    assert (sounds.word_errors, sounds.grammatical_share) == (1, None)
    both = measured("*CHI:\twed [: red] [* p:w] dog .", "*CHI:\the goed [* m:=ed] .")
    assert (both.word_errors, both.grammatical_share) == (2, 0.5)
    plain = measured("*CHI:\tno more .")
    assert (plain.word_errors, plain.grammatical_share) == (None, None)


def test_the_table_says_which_measures_are_those_of_clan(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    path = tmp_path / "a.cha"
    path.write_text(
        "@Begin\n*CHI:\the goed [* m:=ed] .\n%mor:\tpro|he v|go-PAST .\n*CHI:\tgoed [* m:=ed] no [* s] .\n@End\n"
    )
    table = inspect(path, measures=True)
    assert "CLAN's definitions: words, MLU" in table and "not CLAN's: maze words" in table
    assert "D (VOCD) of lemmas" in table and "D of word forms" in table
    assert "error codes of CHI: m:=ed 2, s 1" in table
