"""What plain words show in languages other than English, and speaker codes in labels."""

import pytest

from lsa_whisper.labels import Labels, decode
from lsa_whisper.scoring.normalize import normalize


@pytest.mark.parametrize(
    ("language", "written", "tier"),
    [
        ("spa", "Eh, quiero quiero 21 perros.", "&-eh quiero [/] quiero veintiuno perros ."),
        ("spa", "Este perro.", "este perro ."),
        ("fra", "Euh, je je veux 3 chats.", "&-euh je [/] je veux trois chats ."),
        ("deu", "Äh, um drei kommt er er heim.", "&-äh um drei kommt er [/] er heim ."),
        ("deu", "Der Hund bellt.", "der Hund bellt ."),
        ("deu", "Hunde bellen.", "Hunde bellen ."),
        ("ita", "Ehm, I bambini hanno 2 cani.", "&-ehm i bambini hanno due cani ."),
        ("nld", "Uh, er zijn 2 honden.", "&-uh er zijn twee honden ."),
        ("jpn", "えーと 犬 が いる.", "&-えーと 犬 が いる ."),
        ("jpn", "犬 が 3 匹.", "犬 が 三 匹 ."),
        ("zho", "呃 我 要 3 个.", "&-呃 我 要 3 个 ."),
        ("yue", "呃 我 要 3 个.", "&-呃 我 要 3 个 ."),
        ("heb", "אה 3 כלבים.", "&-אה שלוש כלבים ."),
        ("eng", "Um, I want 3 dogs.", "&-um I want three dogs ."),
    ],
)
def test_fillers_capitals_and_numbers(language, written, tier):
    assert [one.text for one in decode(written, Labels("verbatim"), language=language).utterances] == [tier]


@pytest.mark.parametrize("filler", ["&-euh", "&-este", "&-äh", "&-えーと", "&-אה"])
def test_marked_fillers_survive_in_every_style_that_keeps_them(filler):
    (spoken,) = decode(f"{filler} a .", Labels("chat", version=1), language="spa").utterances
    assert spoken.text == f"{filler} a ." and spoken.events()[0].kind == "filled_pause"


@pytest.mark.parametrize("code", ["CHI", "206", "Theo", "F_A_T", "INV1"])
def test_speaker_codes_are_read_back(code):
    (spoken,) = decode(f"*{code}: um hello.", Labels("chat", roles=True)).utterances
    assert (spoken.speaker, spoken.text) == (code, "&-um hello .")


def test_words_of_scripts_without_spaces_are_scored_by_character():
    assert normalize(["我", "想要", "小狗-"]) == ["我", "想", "要", "小", "狗-"]
    assert normalize(["いぬ", "T恤", "dog"]) == ["い", "ぬ", "t", "恤", "dog"]
    assert normalize(["собака", "chien", "xxx"]) == ["собака", "chien", "xxx"]
