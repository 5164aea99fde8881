"""The spelling of single words: what CLAN's CHECK rejects is reported, with its place."""

import pytest

from lsa_whisper.chat import check, parse, read
from lsa_whisper.chat.checks.words import pause_faults, spelling_faults

HEAD = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR Adult\n@ID:\teng|a|PAR|||||Adult|||\n"
ILLEGAL = (
    ":hoo &-:uh &+:-uh ≠:so ^:so who'' 'cause'' i-'s o'-clock &+'a &-'um ↫:o↫I ↫↫ball ↫b-↫ball ↫-b↫ball ↫b-bball "
    "a:_b a:+b pi^ pi^^zza pi^-zza you__know &-you_ dog&-um dog&um a/c and/or &-u:::m "
    "(be(cause be)cause (())be ()be be((cause)) so≠"
)
LEGAL = (
    "s:o ba:::by mm::: 'cause dogs' o'clock don't merry-go-round uh-huh &-u:m &-uh: &+fr &~mu ≠ball ≠↫b↫ball pi^zza "
    "↫b-b-b↫ball ra↫b↫bbit↫it↫ he↫e-e↫ &-you_know (be)cause goin(g) ice+cream xxx &=head:yes &=ges:a/b &*INV:mhm "
    "dog@s:spa dog@s:eng&spa hao3@s °yes° ⌈2dog⌉2 stu//pid naïve col·le 狗"
)


@pytest.mark.parametrize("word", ILLEGAL.split())
def test_illegal_spellings_are_reported(word):
    assert spelling_faults(word)
    problems = check(parse(f"{HEAD}*PAR:\twell {word} .\n@End\n"))
    assert [problem for problem in problems if problem.line == 6], problems


@pytest.mark.parametrize("word", LEGAL.split())
def test_legal_spellings_are_not(word):
    assert spelling_faults(word) == ()


def test_a_pause_before_the_end_of_a_retrace():
    assert [found[0] for found in pause_faults("<can you open (.)> [/] <a (1.5)> [//] b .")] == [14, 26]
    assert not list(pause_faults("<foo (.)> [<] bar <a (.) > [/] a (.) ."))
    (problem,) = check(parse(f"{HEAD}*PAR:\t<can you (.)> [/] can you .\n@End\n"))
    assert (problem.line, problem.column, problem.code) == (6, 16, "pause-place")


def test_no_word_of_the_reference_files_is_reported(real_files):
    places = [path for path in real_files if {"reference", "good", "fluency"} & set(path.parts)]
    codes = {code for word in ILLEGAL.split() for _, code, _ in spelling_faults(word)} | {"pause-place"}
    wrong = [str(problem) for path in places for problem in check(read(path)) if problem.code in codes]
    assert len(places) > 250 and not wrong
