"""Every rule with a violation and the nearest valid form, without data from outside."""

import pytest
from small_transcript import BASE, changed, spoken

from lsa_whisper.chat import check, parse
from lsa_whisper.chat.rules import RULES

TIERS = {  # a main tier of CHI: violation, valid form
    "missing-text": ("", "yes ."),
    "no-terminator": ("I go", "I go ."),
    "inner-terminator": ("I . go .", "I go ."),
    "after-terminator": ("I go . there", "I go there ."),
    "obsolete-terminator": ("I go +=.", "I go +."),
    "empty-utterance": (".", "0 ."),
    "postcode-place": ("I go [+ gram] .", "I go . [+ gram]"),
    "opaque": ("I go \x15 .", "I go ."),
    "unmatched-bracket": ("I [= go .", "I [= go] go ."),
    "unclosed-group": ("<I want [/] it .", "<I want> [/] I want it ."),
    "unmatched-close": ("I want> [/] it .", "<I want> [/] I want it ."),
    "unmatched-quotation": ("“one “two” .", "“one two” ."),
    "unmatched-unit": ("‹one two .", "‹one two› ."),
    "unpaired-mark": ("°soft words .", "°soft words° ."),
    "group-without-code": ("<I want> it .", "<I want> [!] it ."),
    "empty-group": ("I <> [/] go .", "I <go> [/] go ."),
    "group-spacing": ("< I want> [/] I want .", "<I want> [/] I want ."),
    "code-spacing": ("I[/] I go .", "I [/] I go ."),
    "pause-spacing": ("I(.) go .", "I (.) go ."),
    "pause-format": ("I (3) go .", "I (3.) go ."),
    "obsolete-pause": ("I # go .", "I (.) go ."),
    "unknown-code": ("I [foo] go .", "I [= foo] go ."),
    "code-without-words": ("[= foo] I go .", "I [= foo] go ."),
    "retrace-without-words": ("[/] I go .", "I [/] I go ."),
    "retrace-without-repair": ("I go [/] .", "I go [/] go ."),
    "obsolete-repetition": ("go [x 3] .", "go [/] go [/] go ."),
    "precode-place": ("I [- spa] go .", "[- spa] voy ."),
    "precode-language": ("[- fra] bon .", "[- spa] bueno ."),
    "linker-place": ("I +, go .", "+, I go ."),
    "double-comma": ("go ,, you .", "go „ you ."),
    "comma-place": (", I go .", "I , go ."),
    "replacement-place": ("<I goed> [: I went] .", "I goed [: went] ."),
    "replacement-text": ("abua [: xxx] .", "abua [: water] ."),
    "replaced-word": ("&~abua [: water] .", "abua [: water] ."),
    "digits": ("I have 2 dogs .", "I have two dogs ."),
    "untranscribed": ("XXX go .", "xxx go ."),
    "apostrophe": ("don’t go .", "don't go ."),
    "empty-word": ("&- go .", "&-um go ."),
    "prefix": ("&uh go .", "&-uh go ."),
    "event-text": ("&= go .", "&=laughs go ."),
    "other-speaker": ("&*mhm go .", "&*MOT:mhm go ."),
    "form-marker": ("woof@junk .", "woof@o ."),
    "letter": ("word@l .", "w@l ."),
    "compound": ("choo+choo@o .", "choo+choo@c ."),
    "compound-part": ("+cream .", "ice+cream ."),
    "marker-language": ("casa@s:es .", "casa@s:spa ."),
    "parentheses": ("I want (some) more .", "I want some(thing) more ."),
    "character": ("I {go} .", "I go ."),
    "segment": ("↫b2-b↫ball .", "↫bo:-bo:↫ball ."),
    "open-parenthesis": ("some(thing .", "some(thing) ."),
    "close-parenthesis": ("some)thing .", "(some)thing ."),
    "no-sound": (":hoo .", "h:oo ."),
    "apostrophe-place": ("who'' is it .", "who' is it ."),
    "colon-place": ("a:_b .", "a:b ."),
    "caret-place": ("pi^ .", "pi^zza ."),
    "underscore-place": ("you_'know .", "you_know ."),
    "inner-ampersand": ("dog&-um .", "dog &-um ."),
    "slash": ("and/or .", "and or ."),
    "long-prolongation": ("&-u:::m .", "&-u::m ."),
    "parenthesis-place": ("some(thing)) .", "some(thing) ."),
    "block-place": ("so≠ .", "≠so ."),
    "empty-repetition": ("↫b-↫ball .", "↫b↫ball ."),
    "unpaired-repetition": ("↫b-bball .", "↫b-b↫ball ."),
    "pause-place": ("<can you (.)> [/] can you .", "<can you> [/] (.) can you ."),
    "only-segments": ("↫b-b↫ .", "↫b-b↫ball ."),
    "bare-bullet": ("I go . 20_30", "I go . \x1520_30\x15"),
    "bullet-format": ("I go . \x15a_b\x15", "I go . \x1520_30\x15"),
    "empty-bullet": ("I go . \x1530_30\x15", "I go . \x1520_30\x15"),
    "bullet-place": ("I go \x1520_30\x15 .", "I go . \x1520_30\x15"),
    "extra-tab": ("I\tgo .", "I go ."),
}
LINES = [  # code, text of BASE, violation, valid form
    ("first-line", "@UTF8\n", "", "@UTF8\n"),
    ("no-begin", "@Begin\n", "", "@Begin\n"),
    ("no-end", "@End\n", "", "@End\n"),
    ("no-languages", "@Languages:\teng, spa\n", "", "@Languages:\teng, spa\n"),
    ("no-participants", "@Participants:\tCHI Ann Target_Child, MOT Mother\n", "", None),
    ("after-end", "@End\n", "@End\n@Comment:\tmore\n", "@Comment:\tmore\n@End\n"),
    ("blank-line", "*MOT:\tlast", "\n*MOT:\tlast", "*MOT:\tthe last"),
    ("stray-line", "*MOT:\tlast", "more\n*MOT:\tlast", "*MOT:\tthe last"),
    ("no-speaker", "*MOT:\tlast", "*MOT last", "*MOT:\tthe last"),
    ("orphan-tier", "*MOT:\tfirst", "%com:\tit\n*MOT:\tfirst", "@Comment:\tit\n*MOT:\tfirst"),
    ("missing-text", "@Comment:\ta comment\n", "@Comment:\n", "@Comment:\tb\n"),
    ("missing-text", "%mor:\tv|look prep|at pro|it .\n", "%com:\n", "%com:\tb\n"),
    ("missing-colon", "@Comment:\ta comment\n", "@Comment\n", "@Comment:\tb\n"),
    ("no-tab", "*MOT:\tlast", "*MOT: last", "*MOT:\tlast"),
    ("extra-tab", "@Comment:\ta comment", "@Comment:\t\ta comment", "@Comment:\ta\n\tcomment"),
    ("unknown-header", "@Comment:\ta", "@Remark:\ta", "@Warning:\ta"),
    ("second-header", "@Begin\n", "@Begin\n@Begin\n", "@Begin\n"),
    ("second-header", "@Comment:\ta", "@Media:\tm, audio\n@Comment:\ta", "@Comment:\ta"),
    ("header-order", "@Begin\n", "@Begin\n@Comment:\ta\n", "@Begin\n"),
    ("header-order", "@Begin\n", "@Comment:\ta\n@Begin\n", "@Window:\t1_2\n@Begin\n"),
    ("header-order", "@Comment:\ta", "@Options:\tCA\n@Comment:\ta", "@Comment:\ta"),
    ("header-text", "@Begin\n", "@Begin:\tnow\n", "@Begin\n"),
    ("header-value", "@Comment:\ta comment", "@Recording Quality:\tgood", "@Recording Quality:\t4"),
    ("header-value", "@Comment:\ta comment", "@Types:\tlong", "@Types:\tlong, toyplay, TD"),
    ("option", "@ID:\teng|corpus|CHI", "@Options:\tsing\n@ID:\teng|corpus|CHI", "@Options:\tCA\n@ID:\teng|corpus|CHI"),
    ("date", "@Comment:\ta comment", "@Date:\t30-FEB-2001", "@Date:\t28-FEB-2001"),
    ("date", "@Comment:\ta comment", "@Date:\t2001-02-28", "@Date:\t28-FEB-2001"),
    ("time", "@Comment:\ta comment", "@Time Start:\tnoon", "@Time Start:\t12:00:00"),
    ("time", "@Comment:\ta comment", "@Time Duration:\t17-18", "@Time Duration:\t17:30-18:00"),
    ("time", "%mor:\tv|look prep|at pro|it .", "%tim:\tlate", "%tim:\t14:00:00"),
    ("language", "eng, spa\n", "eng, es\n", "eng, spa\n"),
    ("gem-begin", "*MOT:\tfirst", "@Bg:\ta\n*MOT:\tfirst", "@Bg:\ta\n@Eg:\ta\n*MOT:\tfirst"),
    ("gem-end", "*MOT:\tfirst", "@Bg:\ta\n@Eg:\tb\n*MOT:\tfirst", "@Bg:\ta\n@Eg:\ta\n*MOT:\tfirst"),
    ("media-kind", "m, audio", "m", "m, video"),
    ("media-kind", "m, audio", "m, audio, lost", "m, audio, missing"),
    ("media-unlinked", "m, audio", "m, audio, unlinked", "m, audio"),
    ("media-name", "m, audio", "n, audio", "m, audio"),
    ("media-extension", "m, audio", "m.wav, audio", "m, audio"),
    ("media-space", "m, audio", "m , audio", "m, audio"),
    ("participant", "CHI Ann Target_Child,", "CHI,", "CHI Target_Child,"),
    ("second-participant", "MOT Mother", "MOT Mother, MOT Mother", "MOT Mother"),
    ("participants-comma", "MOT Mother\n", "MOT Mother,\n", "MOT Mother\n"),
    ("role", "MOT Mother", "MOT Mum", "MOT Mother"),
    ("role-mismatch", "MOT Mother", "MOT Adult", "MOT Mother"),
    ("missing-id", "@ID:\teng|corpus|MOT|||||Mother|||\n", "", "@ID:\teng|corpus|MOT|||||Mother|||\n"),
    ("second-id", "|Mother|||\n", "|Mother|||\n@ID:\teng|corpus|MOT|||||Mother|||\n", "|Mother|||\n"),
    ("id-speaker", "|Mother|||\n", "|Mother|||\n@ID:\teng|corpus|FAT|||||Father|||\n", "|Mother|||\n"),
    ("id-fields", "|Mother|||\n", "|Mother||\n", "|Mother|||\n"),
    ("id-language", "@ID:\teng|corpus|MOT", "@ID:\tfra|corpus|MOT", "@ID:\tspa|corpus|MOT"),
    ("corpus", "|corpus|MOT", "||MOT", "|other|MOT"),
    ("age-zero", "4;11.03", "4;11.3", "4;"),
    ("age", "4;11.03", "4.11", "4;"),
    ("age-zero", "4;11.03", "4;0.", "4;00."),
    ("page", "@Comment:\ta comment", "@Page:\ttwo", "@Page:\t2"),
    ("media-quotes", "m, audio", "https://a.org/m.mp3, audio", '"https://a.org/m.mp3", audio'),
    ("age", "4;11.03", "4;13.", "4;12."),
    ("sex", "female", "f", "male"),
    ("ses", "|MC|", "|rich|", "|White,MC|"),
    ("speaker", "*MOT:\tlast", "*DOG:\tlast", "*CHI:\tlast"),
    ("speaker", "@Comment:\ta comment", "@Birth of DOG:\t01-JAN-2000", None),
    ("bullet-order", "\x1530_40\x15", "\x1515_40\x15", "\x1520_40\x15"),
    ("bullet-overlap", "\x1530_40\x15", "\x1519_40\x15", "\x1520_40\x15"),
    (
        "word-order",
        "%mor:\tv|look prep|at pro|it .",
        "%wor:\ta \x1525_26\x15 b \x1521_22\x15 .",
        "%wor:\ta \x1525_26\x15 b \x1527_28\x15 .",
    ),
    ("unknown-tier", "%mor:\tv|look prep|at pro|it .", "%foo:\ta", "%xfoo:\ta"),
    ("tier-name", "%mor:\tv|look prep|at pro|it .", "%xlongname:\ta", "%xlong:\ta"),
    ("twin-tier", "%mor:\tv|look prep|at pro|it .", "%com:\ta\n%com:\tb", "%com:\ta\n%act:\tb"),
    ("mor-size", "prep|at pro|it .", "prep|at .", "prep|at pro|it ."),
    ("mor-terminator", "prep|at pro|it .", "prep|at pro|it ?", "prep|at pro|it ."),
    ("mor-item", "prep|at pro|it .", "prep|at it .", "prep|at pro|it ."),
    ("mor-item", "prep|at", "prep|at=to&PL", "prep|at-PL=to"),
    ("gra-item", "3|2|POBJ", "3|POBJ", "3|2|OBJ"),
    ("gra-size", " 4|1|PUNCT", "", " 4|2|PUNCT"),
    ("gra-order", "3|2|POBJ", "3|9|POBJ", "3|1|POBJ"),
    ("pho-size", "%mor:\tv|look prep|at pro|it .", "%pho:\ta b", "%pho:\ta b c"),
]  # fmt: skip


def codes(text):
    return [problem.code for problem in check(parse(text, path="m.cha"))]


def test_the_base_is_valid():
    assert codes(BASE) == []


@pytest.mark.parametrize("code", TIERS)
def test_a_main_tier(code):
    bad, good = TIERS[code]
    assert code in codes(spoken(bad))
    assert codes(spoken(good)) == []


@pytest.mark.parametrize(("code", "old", "bad", "good"), LINES)
def test_a_line(code, old, bad, good):
    assert code in codes(changed(old, bad))
    assert good is None or codes(changed(old, good)) == []


@pytest.mark.parametrize(
    ("code", "bad", "good"),
    [
        ("unmatched-parenthesis", "(some words .", "(some words) ."),
        ("unmatched-quotation", "one” .", "“one” ."),
    ],
)
def test_conversation_analysis(code, bad, good):
    def text(tier):
        return spoken(tier).replace("@ID:\teng|corpus|CHI", "@Options:\tCA\n@ID:\teng|corpus|CHI")

    assert code in codes(text(bad)) and codes(text(good)) == []


def test_one_language():
    text = spoken("casa@s .")
    assert codes(text) == []
    assert codes(text.replace("eng, spa", "eng")) == ["no-second-language"]
    assert codes(text.replace("eng, spa", "eng").replace("@s", "@s:spa")) == []


def test_a_recording_without_bullets():
    text = "".join(line.partition(" \x15")[0].rstrip("\n") + "\n" for line in BASE.splitlines())
    assert codes(text) == ["media-linked"]
    assert codes(text.replace("m, audio", "m, audio, unlinked")) == []


@pytest.mark.parametrize("speaker", ["toolongcode", "ÄNN"])
def test_speaker_codes(speaker):
    assert codes(BASE.replace("MOT", speaker)) == ["speaker-code"]
    assert codes(BASE.replace("MOT", "M_T1")) == []


def test_languages_that_do_not_exist():
    assert [problem.code for problem in check(parse(BASE), known_language="eng".__eq__)] == ["unknown-language"]


@pytest.mark.parametrize(
    ("text", "language"), [("hao3 .", "zho"), ("[- zho] hao3 .", "eng"), ("hao3@s:zho .", "eng"), ("hao3 .", "yue")]
)
def test_tones_belong_to_the_language_of_the_utterance(text, language):
    whole = spoken(text).replace("eng, spa", f"{language}, spa, zho").replace("eng|", f"{language}|")
    assert codes(whole) == []
    assert codes(whole.replace("[- zho] ", "").replace("@s:zho", "")) == (["digits"] if language == "eng" else [])


FALSE_ALARMS = [
    "xxx .\n%mor:\t.",
    "xxx .\n%mor:\tunk|xxx .",
    "(..) .\n%pho:\t*",
    "yes (..) no .\n%pho:\tjɛs # noʊ",
    "↫bo:-bo:↫both .",
]


@pytest.mark.parametrize("tier", FALSE_ALARMS)
def test_what_clan_accepts_is_no_problem(tier):
    assert codes(spoken(tier)) == []


def test_two_who_speak_together_are_participants():
    text = BASE.replace("*MOT:", "*CHI+MOT:")
    assert "speaker" not in codes(text) and "speaker" in codes(text.replace("CHI+MOT", "CHI+DOG"))


REMARKS = {"media-linked", "media-name", "bullet-overlap", "precode-place", "segment", "slash", "word-order"}
REMARKS |= {"gra-size", "gra-order", "pho-size"}


def test_remarks_are_what_clan_accepts():
    assert {code for code, rule in RULES.items() if rule.remark} == REMARKS
    text = spoken("I said [- spa] hola .").replace("\x1530_40\x15", "\x1519_40\x15")
    found = check(parse(text, path="m.cha"))
    assert {problem.code for problem in found} == {"precode-place", "bullet-overlap"}
    assert all(problem.is_remark for problem in found)


def test_a_placeholder_is_no_language():
    text = BASE.replace("eng, spa", "eng, aaa")
    assert [problem.code for problem in check(parse(text), known_language=lambda code: True)] == ["unknown-language"]


def test_omitted_words_may_have_items_in_mor():
    text = changed("look at it", "look at 0is it")
    assert codes(text) == []
    more = text.replace("prep|at pro|it .", "prep|at cop|be pro|it .").replace("4|1|PUNCT", "4|1|COP 5|1|PUNCT")
    assert codes(more) == []
    assert codes(more.replace("0is", "there 0is the")) == ["mor-size"]


def test_a_place_is_that_of_the_violation():
    problem = check(parse(BASE.replace("Mother|||\n", "Mum|||\n"), path="m.cha"))[0]
    assert (problem.line, problem.column, problem.code, problem.check_number) == (6, 25, "role-mismatch", 142)
    assert str(problem).startswith("m.cha:6:25: @ID gives MOT the role 'Mum'") and problem.remedy in str(problem)
    assert str(problem).endswith("[role-mismatch, CHECK 142]")


def test_every_rule_has_a_case():
    special = {"unreadable", "encoding", "unmatched-parenthesis", "no-second-language", "media-linked"}
    special |= {"speaker-code", "unknown-language"}
    assert set(RULES) == special | set(TIERS) | {code for code, *_ in LINES}


def test_rules_are_described():
    numbers = [rule.check_number for rule in RULES.values() if rule.check_number is not None]
    assert all(1 <= number <= 161 for number in numbers)
    assert all(rule.meaning and rule.remedy and not rule.meaning.endswith(".") for rule in RULES.values())
