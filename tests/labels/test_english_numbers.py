"""English numbers as people say them; none becomes a disfluency, no spoken word is lost, the digits are kept."""

from __future__ import annotations

import re

import pytest

from lsa_whisper.chat import Disfluency
from lsa_whisper.formats.convert import convert
from lsa_whisper.labels import Labels, decode

SAID = [
    ("in 9.58s, 2/3rds", "in nine point five eight s two thirds"),
    ("We met at 7:00 and 12:00.", "we met at seven o'clock and twelve o'clock"),
    ("at 7:00 o'clock", "at seven o'clock"),
    ("It is 10:30.", "it is ten thirty"),
    ("It is 3:05 now.", "it is three oh five now"),
    ("at 7am or 7:30pm or 8:00 p.m. today.", "at seven a m or seven thirty p m or eight p m today"),
    ("from 7:00-8:00 or 9am-5pm", "from seven to eight o'clock or nine a m to five p m"),
    ("from 10:30–11:15 a.m. on", "from ten thirty to eleven fifteen a m on"),
    ("3:00 a.m.-5:00 p.m. or 3 p.m.-5 p.m.", "three a m to five p m or three p m to five p m"),
    ("from 7:30-8, I am-5.", "from seven thirty to eight I am five"),
    ("my number is 5 5 5 1 2 1 2.", "my number is five five five one two one two"),
    ("on 9 9 1999, code 7 7 3", "on nine nine nineteen ninety nine code seven seven three"),
    ("He paid $5 and $1.", "he paid five dollars and one dollar"),
    ("It costs $5.50.", "it costs five dollars and fifty cents"),
    ("a $20 bill, an $80 ticket, a $5", "a twenty dollar bill an eighty dollar ticket a five dollars"),
    ("about $3.5 million", "about three point five million dollars"),
    ("for £20 or 50¢", "for twenty pounds or fifty cents"),
    ("I'm not 100% sure.", "I'm not one hundred percent sure"),
    ("5-10% of 5-10 people", "five to ten percent of five to ten people"),
    ("It was 1999.", "it was nineteen ninety nine"),
    ("in 1905, 1900, 2005 and 2019", "in nineteen oh five nineteen hundred two thousand five and twenty nineteen"),
    ("the 1990s, the '90s and the 50s", "the nineteen nineties the nineties and the fifties"),
    ("the mid-'80s and mid-1990s", "the mid eighties and mid nineteen nineties"),
    ("1 000 000 or 25'000, not 0800 000 123", "one million or twenty five thousand not "
     "zero eight zero zero zero zero zero one two three"),
    ("1,999 dogs", "one thousand nine hundred ninety nine dogs"),
    ("I need 3.5 of 1,000.", "I need three point five of one thousand"),
    ("on the 2nd and the 21st", "on the second and the twenty first"),
    ("on May 5th, 2019 and June 3", "on May fifth twenty nineteen and June third"),
    ("Call 911 now.", "call nine one one now"),
    ("my number is 555-0011", "my number is five five five zero zero one one"),
    ("or 555-1234", "or five five five one two three four"),
    ("(555) 123-4567", "five five five one two three four five six seven"),
    ("The score was 0-0.", "the score was zero zero"),
    ("24/7 and 9/11", "twenty four seven and nine eleven"),
    ("1/2 cup, 3/4 mile, 2 1/2 hours", "one half cup three quarters mile two and a half hours"),
    ("it is 20°C or 70 °F", "it is twenty degrees Celsius or seventy degrees Fahrenheit"),
    ("5kg at 60 mph", "five kilograms at sixty miles per hour"),
    ("agent 007", "agent zero zero seven"),
    ("#1 of 10", "number one of ten"),
    ("Me & you @ home.", "me and you at home"),
    ("& then us, & $5 & them.", "and then us and five dollars and them"),
    ("He left w/out me", "he left without me"),
    ("Email bob@mail.com.", "email bob at mail dot com"),
    ("it took 10:30:15 or 1:05:00", "it took ten thirty fifteen or one oh five zero zero"),
    ("from 7-8pm, at 10.30 p.m.", "from seven to eight p m at ten thirty p m"),
    (
        "5-3=2 and 2x3 = 6 and 8/2=4",
        "five minus three equals two and two times three equals six and eight divided by two equals four",
    ),
    ("10÷2, 3×5, 1+1", "ten divided by two three by five one plus one"),
    (
        "+1 212 555 0199 or 212 555 0199",
        "one two one two five five five zero one nine nine or two one two five five five zero one nine nine",
    ),
    ("ZIP 90210 or 10001-1234", "ZIP nine zero two one zero or one zero zero zero one one two three four"),
    (
        "on 12/25/2020, 2020-12-25 or 4.5.2019",
        "on twelve twenty five twenty twenty twenty twenty twelve twenty five or four five twenty nineteen",
    ),
    ("5$, $.50, US$5 and $5-10", "five dollars fifty cents five US dollars and five to ten dollars"),
    ("it was -5, +5 or - 5", "it was minus five plus five or five"),
    ("# 5 and No. 7", "number five and number seven"),
    ("5² and 10³, √4, 10^6, x²", "five squared and ten cubed square root of four ten to the six x squared"),
    ("see www.a1.com, https://site.com/1 @home", "see www dot a one dot com http site dot com slash one at home"),
    ("He scored 98.5/100.", "he scored ninety eight point five one hundred"),
    (
        "10%-20%, +5% or ±5, for ages 18+",
        "ten to twenty percent plus five percent or plus or minus five for ages eighteen plus",
    ),
    ("$5/hour for the 10th–12th grade", "five dollars per hour for the tenth to twelfth grade"),
    ("class of '05 and two 2s", "class of oh five and two twos"),
    ("call 0800 123 456", "call zero eight zero zero one two three four five six"),
    ("+44 20 7946 0958", "four four two zero seven nine four six zero nine five eight"),
    ("(020) 7946 0958", "zero two zero seven nine four six zero nine five eight"),
    ("10-15°C, -5%", "ten to fifteen degrees Celsius minus five percent"),
    ("150 lbs. and Vol. 2, pp. 3-5", "one hundred fifty pounds and Vol two pp three to five"),
    ("me+you at example.org", "me plus you at example dot org"),
    ("MP3, B2B, H2O, COVID-19 and R2D2", "MP three B two B H two O COVID nineteen and R two D two"),
    ("a 3-year-old with a 6-pack, size 10.5", "a three year-old with a six pack size ten point five"),
    (
        "1000 and 1100, 1,234,567",
        "one thousand and eleven hundred one million two hundred thirty four thousand five hundred sixty seven",
    ),
    ("in World War II, Part III", "in World War II Part III"),
    ("the 101st, 22nd and 11th", "the one hundred first twenty second and eleventh"),
    ("0.5 of .25", "zero point five of point two five"),
    ("-5°C or 98.6°F", "minus five degrees Celsius or ninety eight point six degrees Fahrenheit"),
    ("⅓ cup, 2⅓ cups, a ¼ mile, a 1/2 hour", "one third cup two and a third cups a quarter mile a half hour"),
    ("1/3, 2/3, 5/8 and ½", "one third two thirds five eighths and half"),
    ("Mr. Smith came at 10:30 a.m. on Sunday.", "Mr Smith came at ten thirty a m on Sunday"),
    ("I want--no, I need it.", "I want no I need it"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said"), SAID)
def test_how_people_say_it(written, said):
    (utterance,) = decode(written, Labels("verbatim")).utterances
    assert utterance.text.removesuffix(" .") == said
    retraced = [event for event in utterance.events() if event.kind is not Disfluency.FILLED_PAUSE]
    assert not retraced
    assert not re.search(r"\d", utterance.text)


def test_time_of_day_ends_a_sentence():
    found = decode("It was 10:30 p.m. We left.", Labels("verbatim")).utterances
    assert [one.text for one in found] == ["it was ten thirty p m .", "we left ."]


@pytest.mark.parametrize(
    ("written", "tier"),
    [
        ("two two dogs", "two [/] two dogs ."),
        ("I have 3 um 3 dogs", "I have three [/] &-um three dogs ."),
        ("at 7:30 7:30 today", "at <seven thirty> [/] seven thirty today ."),
        ("I have 3 3 3 dogs", "I have three [/] three [/] three dogs ."),
    ],
)
def test_a_repeated_number_is_a_repetition(written, tier):
    assert decode(written, Labels("verbatim")).utterances[0].text == tier


def test_digits_stay_in_a_comment(tmp_path):
    (tmp_path / "a.txt").write_text("It cost $5 at 7:00.\nNo numbers here.\n")
    convert([tmp_path / "a.txt"], out=tmp_path / "out")
    text = (tmp_path / "out" / "a.cha").read_text("utf-8")
    assert "it cost five dollars at seven o'clock .\n%com:\twritten in digits: $5, 7:00\n" in text
    assert text.count("%com") == 1


def test_digits_of_a_number_in_parts_are_one_comment(tmp_path):
    (tmp_path / "a.txt").write_text("Ruf 5 5 1 2 an.\n")
    convert([tmp_path / "a.txt"], out=tmp_path / "out", language="deu")
    text = (tmp_path / "out" / "a.cha").read_text("utf-8")
    assert "Ruf fünf fünf eins zwei an .\n%com:\twritten in digits: 5 5 1 2\n" in text


def test_units_that_are_spelled_out_are_not_lost_words(tmp_path):
    (tmp_path / "a.txt").write_text("Es sind 5 km mit 80 km/h für 12,50 Euro und 3/4 Stunde, 8-10 Uhr.\n")
    assert not convert([tmp_path / "a.txt"], out=tmp_path / "out", language="deu").losses
    text = (tmp_path / "out" / "a.cha").read_text("utf-8")
    assert "fünf Kilometer mit achtzig Stundenkilometer für zwölf Euro fünfzig und drei viertel Stunde" in text
    assert "%com:\twritten in digits: 5, 80, 12,50 €, 3, 8 bis 10\n" in text


@pytest.mark.parametrize("style", ["chat", "verbatim", "fluent"])
def test_no_label_style_doubles_a_number(style):
    (utterance,) = decode("the score was 0-0.", Labels(style)).utterances
    assert utterance.text == "the score was zero zero ."


@pytest.mark.parametrize(("language", "one"), [("eng", "one"), ("deu", "eins")])
def test_a_line_of_digits_takes_no_time(language, one):
    (utterance,) = decode("1" * 20_000, Labels("verbatim"), language=language).utterances
    assert utterance.text == f"{' '.join([one] * 20_000)} ."


def test_times_of_other_languages():
    def said(text, language):
        return decode(text, Labels("verbatim"), language=language).utterances[0].text

    assert said("um 7:00 und 12:30 Uhr", "deu") == "um sieben Uhr und zwölf Uhr dreißig ."
    assert said("a las 7:00", "spa") == "a las siete ."
    assert said("50 % der Hunde", "deu") == "fünfzig Prozent der Hunde ."
