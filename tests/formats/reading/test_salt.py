"""SALT's published transcription conventions, each with what it becomes in CHAT."""

from __future__ import annotations

import pytest

from lsa_whisper.chat import check, utterance
from lsa_whisper.errors import FormatError
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
    "maze at the end": ("I want (the)>", "I want the [/-] +..."),
    "unintelligible word": ("he saw X.", "he saw xxx ."),
    "unintelligible segment": ("he saw XX there.", "he saw xxx there ."),
    "unintelligible utterance": ("XXX.", "xxx ."),
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
    "root word": ("he gonna|go see.", "he gonna see ."),
    "overgeneralized form": ("he goed[EO:went].", "he goed [: went] [*] ."),
    "wrong word": ("her[EW:she] ran.", "her [: she] [*] ran ."),
    "comma": ("well, he ran.", "well he ran ."),
}


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
        [("%tim", "00:00:30")],
    ]
    comments = [line.value for line in transcript.headers if line.name == "@Comment"]
    assert comments == ["Gender: M", "CA: 5;2", "told at school"]
    assert not [problem for problem in check(transcript) if problem.code not in ("media-name",)]


def test_a_corrected_line_wins_over_the_comment_above_it(tmp_path):
    kept = "$ Child\n= @Languages:\teng\n= @Participants:\tCHI Target_Child\n= *CHI:\ta [/] a ≠dog . •10_900•\n"
    same = read(tmp_path, f"{kept}C (a) a dog.\n").utterances[0]
    assert same.text == "a [/] a ≠dog ." and same.span.end_ms == 900
    corrected = read(tmp_path, f"{kept}C (a) a cat.\n").utterances[0]
    assert corrected.text == "a [/] a cat ." and corrected.span.end_ms == 900 and corrected.speaker == "CHI"


@pytest.mark.parametrize(
    "text, place, reason",
    [
        ("$ Child\nC a dog.\n- 1:x\n", ":3:", "is not a time"),
        ("$ Child\nQ a dog.\n", ":2:", "no speaker"),
        ("$ Child\nC a dog.\n!\n", ":3:", "no speaker"),
        ("$ Child\n; soon\n", ":2:", "is not a pause"),
        ("$ Child\n", ":", "no words"),
    ],
)
def test_a_damaged_line_is_named(text, place, reason, tmp_path):
    with pytest.raises(FormatError, match=reason) as error:
        read(tmp_path, text)
    assert f"visit.slt{place}" in str(error.value)
