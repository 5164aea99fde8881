"""SALT's published transcription conventions, each with what it becomes in CHAT."""

from __future__ import annotations

import pytest

from lsa_whisper.chat import check, utterance
from lsa_whisper.errors import FormatError
from lsa_whisper.formats import salt
from lsa_whisper.formats.reading import read_transcripts
from lsa_whisper.formats.reading.salt_text import salt_to_chat

CONVENTIONS = {
    "end of a statement": ("The dog ran.", "The dog ran ."),
    "question": ("Where is it?", "Where is it ?"),
    "exclamation": ("Look!", "Look !"),
    "abandoned utterance": ("And then he>", "And then he +..."),
    "interrupted utterance": ("And then^", "And then +/."),
    "intonation prompt": ("You went to the~", "You went to the +..."),
    "filled pause": ("(Um) he ran.", "&-um he ran ."),
    "filled pause of several words": ("(you_know) he ran.", "&-you_know he ran ."),
    "repetition of a word": ("(the) the dog.", "the [/] the dog ."),
    "repetition of a phrase": ("(I want) I want it.", "<I want> [/] I want it ."),
    "revision of a word": ("(he) she ran.", "he [//] she ran ."),
    "revision of a phrase": ("(a dog) a cat ran.", "<a dog> [//] a cat ran ."),
    "part word": ("(st*) story.", "&+st story ."),
    "several things in a maze": ("(um the the) the dog.", "&-um the [/] the [/] the dog ."),
    "a maze said again around a filler": ("The (big um red) big red dog.", "The <big &-um red> [/] big red dog ."),
    "maze behind its words": ("I wanna (wanna) go.", "I wanna [/] wanna go ."),
    "mazes behind their words": (
        "And then (and then) (and then) he ran.",
        "<And then> [/] <and then> [/] and then he ran .",
    ),
    "maze that the next one repeats": ("(I want) (I want) I need it.", "<I want> [/] <I want> [//] I need it ."),
    "fraction": ("2 cup/s and 1/2 cup.", "two cups and one half cup ."),
    "maze in a maze": ("(the (um)) the dog.", "the [/] &-um the dog ."),
    "mazes that repeat one word": ("((he) he (he)) he ran.", "he [/] he [/] he [/] he ran ."),
    "words behind a maze in a maze": ("((a) big) a small dog.", "<a big> [//] a small dog ."),
    "maze at the end": ("I want (the)>", "I want the [/-] +..."),
    "unintelligible word": ("he saw X.", "he saw xxx ."),
    "unintelligible segment": ("he saw XX there.", "he saw xxx there ."),
    "unintelligible utterance": ("XXX.", "xxx ."),
    "unintelligible in small letters": ("he xx saw x.", "he xxx saw xxx ."),
    "adjective of a noun": ("a mud/y hole and a sun/y day.", "a muddy hole and a sunny day ."),
    "adverb": ("he gentle/ly and happy/ly ran.", "he gently and happily ran ."),
    "apostrophe before the negation": ("I can/'nt and do/'nt.", "I can't and don't ."),
    "apostrophe before the possessive": ("the kid/'z hat.", "the kid's hat ."),
    "digits": ("I have 2 dog/s.", "I have two dogs ."),
    "plural": ("two dog/s and baby/s.", "two dogs and babies ."),
    "possessive": ("mom/z hat.", "mom's hat ."),
    "plural possessive": ("the dog/s/z food.", "the dogs' food ."),
    "third person": ("he go/3s and play/3s.", "he goes and plays ."),
    "past": ("he kick/ed and carry/ed and hop/ed.", "he kicked and carried and hopped ."),
    "progressive": ("he is run/ing and make/ing.", "he is running and making ."),
    "participle": ("it was fall/en.", "it was fallen ."),
    "contraction": ("she/'s here and I/'ll go.", "she's here and I'll go ."),
    "negative contraction": ("do/n't, can/'t and wo/n't.", "don't can't and won't ."),
    "omitted word": ("give it *to me.", "give it 0to me ."),
    "pause of unknown length": ("he : ran.", "he (.) ran ."),
    "pause with seconds": ("he :03 ran.", "he (3.) ran ."),
    "pause with minutes": ("he :1:05 ran.", "he (65.) ran ."),
    "overlap": ("I <want that> one.", "I <want that> [<>] one ."),
    "overlap at the end": ("I want <that one>.", "I want <that one> [<>] ."),
    "linked words": ("Mister_Smith ran.", "Mister_Smith ran ."),
    "sound effect": ("it went %woof_woof.", "it went woof_woof@o ."),
    "overgeneralized form": ("he goed[EO:went].", "he goed [: went] [*] ."),
    "wrong word": ("her[EW:she] ran.", "her [: she] [*] ran ."),
    "comma": ("well, he ran.", "well he ran ."),
    "bound morpheme of unintelligible speech": ("the XX/s ran.", "the xxx ran ."),
    "digits around a slash": ("on 10/12 we go.", "on ten twelve we go ."),
    "signs that are not spelling": ("he said a=b and pa%pah.", "he said a b and pa pah ."),
    "ellipsis": ("well… it’s here…", "well it's here ."),
}


@pytest.mark.parametrize(
    ("language", "written", "expected"),
    [
        ("deu", "Er (er) geht um acht.", "Er [/] er geht um acht ."),
        ("deu", "(Um) um acht (äh) kommt er.", "Um [/] um acht &-äh kommt er ."),
        ("nld", "(Er) er zijn honden.", "Er [/] er zijn honden ."),
        ("spa", "(Um) yo (yo) quiero.", "&-um yo [/] yo quiero ."),
    ],
)
def test_words_of_other_languages_are_no_english_fillers(language, written, expected):
    assert salt_to_chat(written, language)[0] == expected


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_convention(name):
    written, expected = CONVENTIONS[name]
    text, comments = salt_to_chat(written)
    assert text == expected
    assert not comments
    assert not utterance("CHI", text).tree.faults


COMMENTED = {
    "comment": ("he ran {points at the dog}.", "he ran .", ["points at the dog"]),
    "utterance of a gesture": ("{nods}.", "&=nods .", []),
    "word code": ("he ran[SPI].", "he ran .", ["ran: [SPI]"]),
    "utterance code": ("he ran. [EU]", "he ran .", ["ran: [EU]"]),
    "root word": ("he falled|fall down.", "he falled down .", ["falled: root fall"]),
    "words beside the story": ("((what's that)) he ran.", "what's that he ran .", ["parenthetical: what's that"]),
    "omitted morpheme": ("two dog/*s.", "two dog .", ["omitted: dog/*s"]),
}


@pytest.mark.parametrize("name", COMMENTED)
def test_what_has_no_counterpart_is_a_comment(name):
    written, expected, comments = COMMENTED[name]
    assert salt_to_chat(written) == (expected, comments)


def read(tmp_path, text, name="visit.slt"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return read_transcripts(path)[0].transcript


def test_lines_of_a_file(tmp_path):
    transcript = read(
        tmp_path,
        "$ Child, Examiner\n+ Gender: M\n+ CA: 5;2\n= told at school\n-0:00\nE What is it?\n; :04\n"
        "C (Um) a dog {laughs}.\n= the door opens\nC it is\n\tbig.\n- :30\nE yes.\n- 1:00\n",
    )
    assert [(u.speaker, u.text) for u in transcript.utterances] == [
        ("INV", "What is it ?"),
        ("CHI", "&-um a dog ."),
        ("CHI", "it is big ."),
        ("INV", "yes ."),
    ]
    assert {code: each.role for code, each in transcript.participants.items()} == {
        "INV": "Investigator",
        "CHI": "Target_Child",
    }
    tiers = [[(tier.name, tier.value) for tier in u.tiers] for u in transcript.utterances]
    assert tiers == [
        [("%tim", "00:00:00")],
        [("%com", "pause of 4 s before the utterance; laughs")],
        [("%com", "the door opens")],
        [("%tim", "00:00:30"), ("%com", "at the end: 00:01:00")],
    ]
    comments = [line.value for line in transcript.headers if line.name == "@Comment"]
    assert comments == ["told at school"]
    child = transcript.participants["CHI"]
    assert (child.age, child.sex) == ("5;02.", "male")
    assert not [problem for problem in check(transcript) if problem.code not in ("media-name",)]


def test_a_corrected_line_wins_over_the_comment_above_it(tmp_path):
    kept = "$ Child\n= @Languages:\teng\n= @Participants:\tCHI Target_Child\n= *CHI:\ta [/] a ≠dog . •10_900•\n"
    same = read(tmp_path, f"{kept}C (a) a dog.\n").utterances[0]
    assert same.text == "a [/] a ≠dog ." and same.span.end_ms == 900
    corrected = read(tmp_path, f"{kept}C (a) a cat.\n").utterances[0]
    assert corrected.text == "a [/] a cat ." and corrected.span.end_ms == 900 and corrected.speaker == "CHI"


@pytest.mark.parametrize(
    "line",
    ["- 1:x", "Q a dog.", "!", "; soon", "C", "C .", "c", "A man came.", "Come here.", "12", "%mor: yes", "@End"],
)
def test_a_line_that_is_not_understood_costs_only_itself(line, tmp_path):
    (tmp_path / "visit.slt").write_text(f"$ Child, Examiner\nC a dog.\n{line}\nE (um) yes!\n")
    found = read_transcripts(tmp_path / "visit.slt")[0]
    assert [each.text for each in found.transcript.utterances] == ["a dog .", "&-um yes !"]
    assert [tier.value for tier in found.transcript.utterances[1].tiers] == [line]
    assert len(found.notes) == 1 and f"comments: 1 (line 3 {line!r})" in found.notes[0]


def test_overlapped_words_have_the_codes_of_chat(tmp_path):
    found = read(tmp_path, "$ Child, Examiner\nC I <want> it.\nE <No> you <do not>.\nC <Yes>.\nC <Alone>.\n")
    assert [each.text for each in found.utterances] == [
        *("I <want> [>] it .", "<No> [<] you <do not> [>] .", "<Yes> [<] .", "<Alone> [>] ."),
    ]
    assert [each.code for each in check(found) if not each.is_remark] == []


def test_small_letters_of_speakers_and_capital_words(tmp_path):
    transcript = read(tmp_path, "$ CHILD, EXAMINER\nc HE GO/3S.\ne Yes.\n")
    assert [(each.speaker, each.text) for each in transcript.utterances] == [("CHI", "HE GOES ."), ("INV", "Yes .")]


def test_pauses_between_speakers_are_pauses(tmp_path):
    transcript = read(tmp_path, "$ Child, Examiner\nE What happened?\n: :03\nC it ran.\n:\nE yes.\n: 1:05\n")
    assert [[tier.value for tier in each.tiers] for each in transcript.utterances] == [
        [],
        ["pause of 3 s before the utterance"],
        ["pause before the utterance; pause of 65 s after the utterance"],
    ]


@pytest.mark.parametrize(
    ("facts", "age", "sex", "language"),
    [
        ("+ Gender: F\n+ Ca: 5;2\n+ Language: Spanish\n", "5;02.", "female", "spa"),
        ("+ DOB: 3/4/2018\n+ DOE: 3/3/2023\n", "4;11.", "", "eng"),
        ("+ Gender: unknown\n+ CA: old\n+ Language: none\n", "", "", "eng"),
    ],
)
def test_facts_of_the_sample_describe_the_child(facts, age, sex, language, tmp_path):
    transcript = read(tmp_path, f"$ Examiner, Child\n{facts}C a dog.\nE yes.\n")
    child, other = transcript.participants["CHI"], transcript.participants["INV"]
    assert (child.age, child.sex, transcript.languages) == (age, sex, [language])
    assert (other.age, other.sex) == ("", "")
    written = salt.serialize(transcript).splitlines()
    assert ("+ CA: " + age.replace(";0", ";").rstrip(".") in written) == bool(age)


@pytest.mark.parametrize("text", ["$ Child\nQ a dog.\n", "$ Child\n; soon\n", "$ Child\n"])
def test_a_file_without_an_utterance_is_a_sentence(text, tmp_path):
    with pytest.raises(FormatError, match=r"visit\.slt.*(is it SALT|no words)"):
        read(tmp_path, text)


def test_bound_morphemes_of_other_languages_are_spelled_as_they_stand(tmp_path):
    transcript = read(tmp_path, "$ Child\n+ Language: Spanish\nC (el) las flor/es.\nC da+me+lo.\n")
    assert [each.text for each in transcript.utterances] == ["el [//] las flores .", "damelo ."]
