"""The errors that the comparison on real speech counts."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.real_speech import Score, words

SAID = words("The cat sat on the mat, and the dog that it saw ran away from it.")


def counted(written):
    score = Score()
    score.add(SAID, words(written))
    found = {name: number for name, number in asdict(score).items() if number and "seconds" not in name}
    assert found.pop("written") == len(words(written))
    return found


def test_what_is_right_has_no_errors():
    assert counted("the CAT sat on the mat and the dog that it saw ran away from it") == {"words": 16}


def test_fillers_count_unless_the_transcript_leaves_them_out():
    for fillers, errors in ((True, 2), (False, 0)):
        score = Score()
        score.add(words("uh the cat sat"), words("the cat um sat"), fillers=fillers)
        assert (score.errors, score.written) == (errors, 4)


def test_missing_words_are_a_lost_passage_from_five_on():
    assert counted("the cat sat on the mat and it") == {"words": 16, "errors": 8, "lost_passages": 1}
    assert counted("the cat sat on the mat and the dog that it saw") == {"words": 16, "errors": 4}


def test_a_loop_is_also_an_invented_passage():
    looping = "the cat sat on the mat and the dog that it saw ran away from it" + " thanks for watching" * 4
    assert counted(looping) == {"words": 16, "errors": 12, "invented_passages": 1, "invented_words": 12, "loops": 1}
