"""Every row of the table of marks: written form -> words spoken, words meant, events."""

import pytest

from lsa_whisper.chat import utterance
from lsa_whisper.chat.word import read_word

ROWS = [
    ("&-um .", "um", "", [("filled_pause", 0, 1)]),
    ("&-you_know .", "you know", "", [("filled_pause", 0, 2)]),
    ("&-u:m .", "um", "", [("filled_pause", 0, 1), ("prolongation", 0, 1)]),
    ("&um .", "um", "", [("filled_pause", 0, 1)]),
    ("&uh: .", "uh", "", [("filled_pause", 0, 1), ("prolongation", 0, 1)]),
    ("&äh &euh &呃 &a\u0308hm .", "äh euh 呃 a\u0308hm", "", [("filled_pause", at, at + 1) for at in range(4)]),
    ("um@fp .", "um", "", [("filled_pause", 0, 1)]),
    ("&+fr friend .", "fr- friend", "friend", [("fragment", 0, 1)]),
    ("&fr friend .", "fr- friend", "friend", [("fragment", 0, 1)]),
    ("&~goo .", "goo", "", [("nonword", 0, 1)]),
    ("↫b-b-b↫ball .", "b- b- b- ball", "ball", [("part_word_repetition", 0, 3)]),
    ("ra↫b↫bbit↫it↫ .", "ra-b-bbit-it", "rabbit", [("part_word_repetition", 0, 1)] * 2),
    ("he↫e-e↫ .", "he-e-e", "he", [("part_word_repetition", 0, 1)]),
    ("the [/] the .", "the the", "the", [("repetition", 0, 1)]),
    ("<I want> [/] I want .", "I want I want", "I want", [("repetition", 0, 2)]),
    ("<the dog> [//] the cat .", "the dog the cat", "the cat", [("revision", 0, 2)]),
    ("<the dog> [///] a cat .", "the dog a cat", "a cat", [("reformulation", 0, 2)]),
    ("<the dog> [/-] a cat .", "the dog a cat", "a cat", [("false_start", 0, 2)]),
    ("dog [/?] cat .", "dog cat", "cat", [("unspecified_retrace", 0, 1)]),
    ("go [x 3] .", "go go go", "go", [("repetition", 0, 1), ("repetition", 1, 2)]),
    ("s:o .", "so", "so", [("prolongation", 0, 1)]),
    ("ba:::by .", "baby", "baby", [("prolongation", 0, 1)]),
    ("hm: .", "hm", "hm", [("prolongation", 0, 1)]),
    ("≠word .", "word", "word", [("block", 0, 1)]),
    ("^word .", "word", "word", [("block", 0, 1)]),
    ("pi^zza .", "pizza", "pizza", [("broken_word", 0, 1)]),
    ("a (.) b (..) c (...) d .", "a b c d", "a b c d", [("pause", 1, 1), ("pause", 2, 2), ("pause", 3, 3)]),
    ("a (1.5) b (1:05.) c (2.) d .", "a b c d", "a b c d", [("pause", 1, 1), ("pause", 2, 2), ("pause", 3, 3)]),
    ("(be)cause goin(g) .", "cause goin", "because going", []),
    ("Wi(nnie_the)_Pooh .", "Wi Pooh", "Winnie the Pooh", []),
    ("0am 0det 0 cat .", "cat", "cat", []),
    ("he goed [: went] home .", "he goed home", "he went home", []),
    ("he goed [:: went out] [* m:=ed] .", "he goed", "he went out", []),
    ("<a b> [: c d] .", "a b", "c d", []),
    ("<a [* m] b> [: c d] .", "a b", "c d", []),
    ("<a <b>> [: c d] .", "a b", "c d", []),
    ("<<a b> [* m]> [: c d] .", "a b", "c d", []),
    ("he <goed [: went]> [: left] .", "he goed", "he left", []),
    ("&=laughs [/] &=laughs [x 2] go .", "go", "go", []),
    ("one ice+s:o .", "one ice so", None, [("prolongation", 2, 3)]),
    ("dada@c woof@o b@l agua@s:spa so@q cat$n dog@x$n .", "dada woof b agua so cat dog", None, []),
    ("hao3@s:eng+zho no@s .", "hao3 no", "hao3 no", []),
    ("xxx wants www .", "xxx wants www", "xxx wants www", []),
    ("&=laughs &=head:yes yes .", "yes", "yes", []),
    ("&{l=X deal with &}l=X it .", "deal with it", "deal with it", []),
    ("no [=! cries] [% a b] [= c] [?] [!] [^ d] [>] [<1] way .", "no way", "no way", []),
    ("[- spa] sí . [+ gram]", "sí", "sí", []),
    ("yes &*INV:mhm &*PAR:okay no .", "yes no", "yes no", []),
    ("ice+cream Mary_Poppins .", "ice cream Mary Poppins", None, []),
    ("well ‡ you know „ don't you , dear .", "well you know don't you dear", None, []),
    ("°↑soft° ∆fast∆ ⌈2 over ⌉2 sh⌈out ˈhello .", "soft fast over shout hello", None, []),
    ("yes; no→ right ↗", "yes no right", "yes no right", []),
    ("in~the stu//pid hey .", "inthe stupid hey", None, []),
    ("don’t “go” .", "don't go", "don't go", []),
    ("hey man- .", "hey man", "hey man", []),
]


@pytest.mark.parametrize(("text", "verbatim", "fluent", "events"), ROWS, ids=range(len(ROWS)))
def test_row_of_the_table(text, verbatim, fluent, events):
    spoken = utterance("PAR", text)
    assert spoken.verbatim() == verbatim.split()
    assert spoken.fluent() == (verbatim if fluent is None else fluent).split()
    assert [(event.kind, event.start, event.end) for event in spoken.events()] == events


NESTED = [
    ("<the [/] the dog> [//] the cat .", "the cat", [("repetition", 0, 1, 1, 2), ("revision", 0, 3, 3, 5)]),
    ("the [/] the [/] the dog .", "the dog", [("repetition", 0, 1, 2, 3), ("repetition", 1, 2, 2, 3)]),
    ("I [/] &-um (.) I go .", "I go", [("repetition", 0, 1, 2, 3), ("filled_pause", 1, 2), ("pause", 2, 2)]),
    ("<I &-um> [/] I go .", "I go", [("repetition", 0, 2, 2, 3), ("filled_pause", 1, 2)]),
    ("<I &+w want> [//] I need .", "I need", [("revision", 0, 3, 3, 5), ("fragment", 1, 2)]),
    ("<ingroup [/]> [<] after .", "after", [("repetition", 0, 1, 1, 2)]),
    ("dog [* p:w] [/] dog .", "dog", [("repetition", 0, 1, 1, 2)]),
    ("dog [/] [* p:w] dog .", "dog", [("repetition", 0, 1, 1, 2)]),
    ("a [: b] [/] a [: b] .", "b", [("repetition", 0, 1, 1, 2)]),
    ("<I want> [//] +...", "", [("revision", 0, 2)]),
    ("↫b-b↫ball [/] ball .", "ball", [("part_word_repetition", 0, 2, 2, 3), ("repetition", 0, 3, 3, 4)]),
    ("one ice+↫b-b↫ball [/] ball .", "one ball", [("part_word_repetition", 2, 4, 4, 5), ("repetition", 1, 5, 5, 6)]),
    ("I [/] &~goo I go .", "I go", [("repetition", 0, 1, 2, 3), ("nonword", 1, 2)]),
    ("xxx [//] xxx go .", "xxx go", [("revision", 0, 1, 1, 2)]),
    ("<I go> [x 2] .", "I go", [("repetition", 0, 2, 2, 4)]),
    ("go [x 2] up [x 2] .", "go up", [("repetition", 0, 1, 1, 2), ("repetition", 2, 3, 3, 4)]),
    ("dog [* p:w] go [x 2] .", "dog go", [("repetition", 1, 2, 2, 3)]),
    ("<go [x 2]> [x 2] .", "go", [("repetition", 0, 1, 1, 2)]),
    ("<a [* m] b [x 2]> [x 2] .", "a b", [("repetition", 0, 2, 2, 4)]),
]


@pytest.mark.parametrize(("text", "fluent", "events"), NESTED, ids=range(len(NESTED)))
def test_retraces_in_and_around_each_other(text, fluent, events):
    spoken = utterance("PAR", text)
    assert spoken.fluent() == fluent.split()
    found = [
        (e.kind, e.start, e.end, *((e.repair_start, e.repair_end) if e.repair_end else ())) for e in spoken.events()
    ]
    assert sorted(found) == sorted(events)


ODD = [
    ("01", "01", "01", "01", []),
    ("‘til", "'til", "'til", "'til", []),
    ("Xa", "Xa", "Xa", "Xa", []),
    ("a_'_b", "a b", "a b", "a b", []),
    ("'", "", "", "", []),
    ("&", "", "", "", []),
    ("&-", "", "", "", []),
    ("&-you_know", "&-you_know", "you know", "", [("filled_pause", 0, 2)]),
    ("&m", "&+m", "m-", "", [("fragment", 0, 1)]),
    ("&+maX", "&+maX", "maX-", "", [("fragment", 0, 1)]),
    ("&+↫f-f↫fr", "&+↫f-f↫fr", "f- f- fr-", "", [("fragment", 0, 3), ("part_word_repetition", 0, 2)]),
    # Markers: the first one ends the word, wherever others stand; one in front of the word is none.
    ("dog@s:spa@q", "dog", "dog", "dog", []),
    ("@a@b", "a", "a", "a", []),
    ("$a$b", "a", "a", "a", []),
    ("a$n", "a", "a", "a", []),
    ("a$n$v", "a", "a", "a", []),
    # Parentheses that do not pair, or hold all there is.
    ("go)", "go", "go", "go", []),
    ("(be)", "be", "be", "be", []),
    ("((be))", "be", "be", "be", []),
    # Segments that do not pair, that hold all there is, or none.
    ("b↫all", "ball", "ball", "ball", []),
    ("↫b-b↫ba↫ll", "↫b-b↫ball", "b- b- ball", "ball", [("part_word_repetition", 0, 2)]),
    ("↫b-b↫", "b-b", "b-b", "", []),
    ("↫b↫ball", "↫b↫ball", "b- ball", "ball", [("part_word_repetition", 0, 1)]),
    ("↫X-X↫Xa", "↫X-X↫Xa", "X- X- Xa", "Xa", [("part_word_repetition", 0, 2)]),
    ("↫-↫ball", "↫-↫ball", "ball", "ball", [("part_word_repetition", 0, 1)]),
    ("ice+↫-↫ball", "ice ↫-↫ball", "ice ball", "ice ball", [("part_word_repetition", 1, 2)]),
    (
        "↫b-b↫ba↫l-l↫l",
        "↫b-b↫ba↫l-l↫l",
        "b- b- ba-l-l-l",
        "bal",
        [("part_word_repetition", 0, 2), ("part_word_repetition", 2, 3)],
    ),
]


@pytest.mark.parametrize(("written", "surface", "verbatim", "fluent", "events"), ODD, ids=range(len(ODD)))
def test_words_that_are_written_oddly(written, surface, verbatim, fluent, events):
    word = read_word(written)
    assert [" ".join(words) for words in (word.surface, word.verbatim, word.fluent)] == [surface, verbatim, fluent]
    assert [(event.kind, event.start, event.end) for event in word.disfluencies] == events


def test_a_mark_without_a_word_keeps_its_kind():
    assert [read_word(written).kind for written in ("&-", "&+", "&~", "-")] == ["filler", "fragment", "nonword", "word"]


def test_events_come_in_the_order_of_their_words():
    events = utterance("PAR", "the [/] &-um the dog .").events()
    assert [(event.kind, event.start) for event in events] == [("repetition", 0), ("filled_pause", 1)]


def test_iterations_of_part_words():
    assert [e.iterations for e in utterance("PAR", "↫b-b-b↫ball ra↫b↫bbit he↫e-e↫ .").events()] == [3, 1, 2]


@pytest.mark.parametrize(("written", "said"), [(0, 1), (1, 1), (2, 2), (20, 20), (21, 1), (999, 1)])
def test_implausibly_many_copies_are_an_error(written, said):
    assert utterance("PAR", f"go [x {written}] .").verbatim() == ["go"] * said


@pytest.mark.parametrize("mark", [". ", "? ", "! ", "+...", "+..?", "+/.", "+/?", "+//.", "+//?", "+!?", '+"/.', '+".'])
def test_terminators(mark):
    spoken = utterance("PAR", f'+" I go {mark} [+ gram]')
    assert spoken.terminator == mark.strip()
    assert spoken.verbatim() == ["I", "go"]
    assert spoken.abandoned == (mark in ("+...", "+..?", "+/.", "+/?", "+//.", "+//?"))


@pytest.mark.parametrize("linker", ["+<", "+^", "+,", "++", '+"'])
def test_linkers_are_no_words(linker):
    assert utterance("PAR", f"{linker} I go .").verbatim() == ["I", "go"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I go .", None),
        ("xxx go .", "untranscribed"),
        ("XX go .", "untranscribed"),
        ("yes &*INV:mhm no .", "other speaker"),
        ("tika@u [: kitty] .", "phonetic"),
        ("xxx &*INV:mhm .", "untranscribed"),
    ],
)
def test_unusable(text, reason):
    assert utterance("PAR", text).unusable() == reason


def test_greek_letters_are_letters_in_greek():
    assert utterance("PAR", "ξέρω ξbreathyξ .").verbatim() == ["ξέρω", "breathy"]
