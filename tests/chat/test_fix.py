"""Repairs: each makes its violation disappear, and no word of any transcript changes."""

import re

import pytest
from small_transcript import BASE, changed, spoken

from lsa_whisper.chat import check, fix, parse
from lsa_whisper.chat.rules import RULES

BROKEN = [
    ("first-line", changed("@UTF8\n", ""), BASE),
    ("no-begin", changed("@Begin\n", ""), BASE),
    ("no-end", changed("@End\n", ""), BASE),
    ("blank-line", changed("*MOT:\tlast", "\n\n*MOT:\tlast"), BASE),
    ("missing-colon", changed("@Comment:\ta", "@Comment\ta"), BASE),
    ("no-tab", changed("*MOT:\tlast", "*MOT:  last"), BASE),
    ("extra-tab", changed("@Comment:\ta comment", "@Comment:\t\ta\tcomment"), BASE),
    ("media-unlinked", changed("m, audio", "m, audio, unlinked"), BASE),
    ("media-extension", changed("m, audio", "m.mp3, audio"), BASE),
    ("media-space", changed("m, audio", "m , audio"), BASE),
    ("participants-comma", changed("MOT Mother\n", "MOT Mother,\n"), BASE),
    ("age-zero", changed("4;11.03", "4;9.3"), changed("4;11.03", "4;09.03")),
    ("age", changed("4;11.03", "4"), changed("4;11.03", "4;")),
    ("sex", changed("|female|", "|Female|"), BASE),
    ("sex", changed("|female|", "|m|"), changed("|female|", "|male|")),
    ("bare-bullet", spoken("I go . 20_30"), spoken("I go . \x1520_30\x15")),
    ("bare-bullet", spoken("I go . \x1520_30"), spoken("I go . \x1520_30\x15")),
    ("bare-bullet", spoken("I go . 20_30\x15"), spoken("I go . \x1520_30\x15")),
    ("bare-bullet", spoken("I go . •20_30•"), spoken("I go . \x1520_30\x15")),
    ("group-spacing", spoken("< I want > [/] I want ."), spoken("<I want> [/] I want .")),
    ("code-spacing", spoken("<I want>[/]I want ."), spoken("<I want> [/] I want .")),
    ("pause-spacing", spoken("I(.)go ."), spoken("I (.) go .")),
    ("pause-format", spoken("I (3) go ."), spoken("I (3.) go .")),
    ("obsolete-pause", spoken("I # ## go ."), spoken("I (.) (..) go .")),
    ("double-comma", spoken("go ,, you ."), spoken("go „ you .")),
    ("apostrophe", spoken("the dogs’ ’cause don’t go ."), spoken("the dogs' 'cause don't go .")),
]


@pytest.mark.parametrize(("code", "bad", "good"), BROKEN)
def test_a_violation_is_repaired(code, bad, good):
    assert code in {problem.code for problem in check(parse(bad, path="m.cha"))}
    assert fix(bad) == good
    assert fix(good) == good
    assert check(parse(good, path="m.cha")) == []


def test_a_recording_without_bullets_is_unlinked():
    text = re.sub(r" \x15.*?\x15", "", BASE)
    assert fix(text) == text.replace("m, audio", "m, audio, unlinked")


def test_every_repair_has_a_case():
    codes = {code for code, *_ in BROKEN} | {"media-linked", "encoding"}
    assert codes == {code for code, rule in RULES.items() if rule.fixable}


def test_a_terminator_gets_its_space():
    assert fix(spoken("I go.")) == spoken("I go .")
    assert fix(spoken("I (.)\n\tgo! [+ gram] \x1520_30\x15")) == spoken("I (.)\n\tgo ! [+ gram] \x1520_30\x15")


@pytest.mark.parametrize(
    "text", ["", "\n", "@UTF8\r\n@Begin\r\n*CHI:\tI go\r\n\tthere .\r\n", "hello", "*CHI:\t‘more’ ."]
)
def test_text_that_is_hardly_chat(text):
    fixed = fix(text)
    assert fix(fixed) == fixed
    assert "\n" not in fixed.replace("\r\n", "") or "\r\n" not in text


def test_no_word_of_a_real_transcript_changes(real_files):
    for path in real_files:
        text = path.read_bytes().decode("utf-8", errors="replace")
        before, after = parse(text), parse(fix(text))
        bare = re.compile(r"\d+_\d+")
        words = [[word for word in each.verbatim() if not bare.fullmatch(word)] for each in before.utterances]
        assert [each.verbatim() for each in after.utterances] == words, path
        assert len(check(after)) <= len(check(before)), path
        if not check(before):
            assert re.sub(r"\s", "", fix(text)) == re.sub(r"\s", "", text), path


def test_a_recording_begins_at_zero():
    assert "*CHI:\tI go . \x150_30\x15\n" in fix("*CHI:\tI go . 0_30\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_words_behind_spaces_are_of_the_line_above(newline):
    text = "*CHI: I go\n  home .\n%com:\tit\n is\n*MOT:\tno .\n".replace("\n", newline)
    assert [each.verbatim() for each in parse(text).utterances] == [["I", "go", "home"], ["no"]]
    assert [found.line for found in check(parse(text)) if found.code == "stray-line"] == [2, 4]
    assert "".join(block.raw for block in parse(fix(text)).blocks[2].tiers) == f"%com:\tit{newline}\tis{newline}"
    assert f"*CHI:\tI go{newline}\thome ." in fix(text)
