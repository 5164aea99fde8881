"""Subtitles as programs and people write them: two speakers in a cue, captions that roll up, damaged cues."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.convert import convert
from lsa_whisper.formats.reading import ReadingOptions, read_transcripts

FIRST = "1\n00:00:01,000 --> 00:00:02,000\n"


def read(tmp_path, text, name="a.srt", **options):
    (tmp_path / name).write_text(text)
    return read_transcripts(tmp_path / name, ReadingOptions(**options))[0]


def said(found):
    spans = ((each.span.start_ms, each.span.end_ms) if each.span else None for each in found.transcript.utterances)
    return [(each.speaker, each.text, span) for each, span in zip(found.transcript.utterances, spans, strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        *("- Hello.\n- Hi there.", "Hello.\n- Hi there.", "-Hello.\n-Hi there.", "- Hello. - Hi there."),
        "-Hello. -Hi there.",
        *("– Hello.\n— Hi there.", ">> Hello.\n>> Hi there.", ">> Hello. >> Hi there."),
        "&gt;&gt; Hello.\n&gt;&gt; Hi there.",
    ],
)
def test_dashes_tell_two_speakers_apart(text, tmp_path):
    found = read(tmp_path, f"{FIRST}{text}\n")
    assert [(speaker, words) for speaker, words, _ in said(found)] == [("PAR", "hello ."), ("PAR0", "hi there .")]
    first, second = (span for *_, span in said(found))
    assert first[0] == 1000 and first[1] == second[0] and second[1] == 2000
    assert found.notes == ("cues with a second speaker, whom the file does not name: 1",)


@pytest.mark.parametrize(
    ("texts", "speakers"),
    [
        (["[MAN] Who is it?", "[WOMAN] It's me.", "[laughs] No."], ["MAN", "WOMAN", "PAR"]),
        (["(Man) Who is it?", "(Woman 2): It's me.", "(door slams) No."], ["Man", "Woman 2", ""]),
        (
            ["[REX] Who is it?", "[REX:] It's me.", "[MUSIC PLAYING] No.", "[MUSIC PLAYING] Yes."],
            ["REX"] * 2 + [""] * 2,
        ),
        (["- [MAN] Who is it?\n- [WOMAN] Me.", "No."], ["MAN", "WOMAN", ""]),
        ([">> JOHN: Who is it?", ">> John Smith: It's me.", ">> No."], ["JOHN", "John Smith", ""]),
        (["[BARKS] Who is it?", "[BARKS] It's me.", "[SIGHS] No."], [""] * 3),
        (["[BOB] Who is it?", "It's me."], [""] * 2),
        (["Lee, Ann: Who is it?", "Bob: It's me.", "Lee, Ann: No."], ["Lee Ann", "Bob", "Lee Ann"]),
        (["MAN: Who is it?", "It's me.", "No.", "Yes.", "MAN: Come in!"], ["MAN", "", "", "", "MAN"]),
    ],
)
def test_names_before_the_words_are_speakers_and_sounds_are_not(texts, speakers, tmp_path):
    cues = (f"{at}\n00:00:0{at},000 --> 00:00:0{at},900\n{text}\n" for at, text in enumerate(texts, 1))
    found = read(tmp_path, "\n".join(cues)).transcript
    names = [found.participants[each.speaker].name or each.speaker for each in found.utterances]
    assert [name.replace("_", " ") for name in names] == [speaker or "PAR" for speaker in speakers]
    heard = [word for each in found.utterances for word in each.verbatim()]
    assert not {"man", "woman", "rex", "john", "bob"} & {word.lower() for word in heard}


def test_voices_in_a_cue_share_its_time_in_order(tmp_path):
    text = "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ann>What? <i>Who?</i>\n<v Bob>No.</v>\n"
    spoken = said(read(tmp_path, text, name="a.vtt"))
    assert [words for _, words, _ in spoken] == ["what ?", "who ?", "no ."]
    assert spoken[0][2][0] == 1000 and spoken[1][2][1] == spoken[2][2][0] and spoken[2][2][1] == 3000


@pytest.mark.parametrize("text", ["- Hello there.", "Hello\nthere.", "<i>Hello</i>\n{\\an8}there.", "- Hello\nthere."])
def test_one_speaker_is_one_utterance(text, tmp_path):
    assert said(read(tmp_path, f"{FIRST}{text}\n")) == [("PAR", "hello there .", (1000, 2000))]


def test_a_cue_that_a_dash_begins_does_not_go_on_with_the_one_above(tmp_path):
    below = "\n2\n00:00:02,000 --> 00:00:03,000\n{}Yes.\n"
    assert [words for _, words, _ in said(read(tmp_path, f"{FIRST}Oh no\n{below.format('')}"))] == ["oh no Yes ."]
    found = read(tmp_path, f"{FIRST}Oh no\n{below.format('- ')}")
    assert [words for _, words, _ in said(found)] == ["oh no .", "yes ."]


@pytest.mark.parametrize("more", ["", "\n2\n00:00:03,000 --> 00:00:04,000\nAnd then I ran.\n" * 3])
def test_names_in_a_cue_are_its_speakers(more, tmp_path):
    found = read(tmp_path, f"{FIRST}ANN: What?\nBOB: I saw\na dog.\n{more}")
    people = [each.name for each in found.transcript.participants.values()]
    assert {"ANN", "BOB"} <= {*people, *found.transcript.participants}
    assert [words for _, words, _ in said(found)][:2] == ["what ?", "I saw a dog ."]
    named = read(tmp_path, f"{FIRST}Ann: Hello.\nBob: Hi.\n\n2\n00:00:03,000 --> 00:00:04,000\nAnn: Yes.\n")
    assert [(speaker, words) for speaker, words, _ in said(named)] == [
        ("PAR0", "hello ."),
        ("PAR1", "hi ."),
        ("PAR0", "yes ."),
    ]


def test_words_of_two_speakers_are_not_joined(tmp_path):
    cues = ("so um the dog", ">> Yes. >> No.", "And I", "- Who?", "I see")
    times = (f"{at}\n00:00:0{at},000 --> 00:00:0{at},999\n{text}\n" for at, text in enumerate(cues, 1))
    found = read(tmp_path, "\n".join(times))
    words = ["so &-um the dog .", "yes .", "no .", "and I .", "who ?", "I see ."]
    assert [words for _, words, _ in said(found)] == words


@pytest.mark.parametrize(
    ("language", "text"), [("ell", "- Ναι; - Όχι."), ("ara", "- نعم؟ - لا."), ("jpn", "- はい。 - いや。")]
)
def test_dashes_behind_other_marks_tell_two_speakers_apart(language, text, tmp_path):
    assert [speaker for speaker, *_ in said(read(tmp_path, f"{FIRST}{text}\n", language=language))] == ["PAR", "PAR0"]


def test_a_hyphen_within_a_line_is_no_turn(tmp_path):
    assert [
        words for _, words, _ in said(read(tmp_path, f"{FIRST}I saw a - a well-known dog.\n", infer_marks=False))
    ] == ["I saw a a well-known dog ."]


TWO = "2\n00:00:03,000 --> 00:00:04,000\nHi.\n"
HELLO = ("hello .", (1000, 2000))
HI = ("hi .", (3000, 4000))
DAMAGED = [
    ("1\n00:00:01 --> 00:00:02\nHello.\n", [HELLO], None),
    (f"{FIRST}\n{FIRST}Hello.\n", [HELLO], "a cue has no text: line 2"),
    (f"{FIRST}Hello.\n{TWO}", [HELLO, HI], "a cue begins without an empty line above it: line 5"),
    (f"{FIRST}Hello.\n\n{TWO}".replace("03,", "0x,"), [HELLO, ("hi .", None)], "its cue has no times: line 6"),
    ("1\n00:00:09,000 --> 00:00:02,000\nHello.\n", [("hello .", None)], "its cue has no times: line 2"),
    (f"{FIRST}Hello\n\nthere.\n", [("hello there .", (1000, 2000))], "belongs to the cue above it: line 5"),
    (f"{FIRST}Hello\n \nthere.\n", [("hello there .", (1000, 2000))], None),
    (f"{FIRST}Hello.\n \n{TWO}", [HELLO, HI], None),
]


@pytest.mark.parametrize(("text", "expected", "note"), DAMAGED)
def test_a_damaged_cue_is_named_and_the_file_goes_on(text, expected, note, tmp_path):
    found = read(tmp_path, text)
    assert [(words, span) for _, words, span in said(found)] == expected
    assert len(found.notes) == (note is not None) and all(note in each for each in found.notes)


def test_a_file_without_cues_is_a_sentence(tmp_path):
    with pytest.raises(FormatError, match=r"a\.srt:1: no cue follows"):
        read(tmp_path, "Hello.\n\nHi.\n")


ROLLING = """WEBVTT
Kind: captions
Language: de

00:00:01.000 --> 00:00:03.000 align:start position:0%
\x20
so<00:00:01.500><c> I</c><00:00:02.000><c> ran</c>

00:00:02.990 --> 00:00:03.000 align:start position:0%
so I ran
\x20

00:00:04.000 --> 00:00:05.000 align:start position:0%
so I ran
uh

00:00:04.990 --> 00:00:05.000 align:start position:0%
uh
\x20

00:00:06.000 --> 00:00:08.000 align:start position:0%
uh
and<00:00:07.000><c> uh</c>
"""


def test_captions_that_roll_up_are_read_once_with_the_times_of_words(tmp_path):
    found = read(tmp_path, ROLLING.replace("\\x20", " "), "a.vtt", infer_marks=False)
    assert said(found) == [
        ("PAR", "so I ran .", (1000, 3000)),
        ("PAR", "uh .", (4000, 5000)),
        ("PAR", "and uh .", (6000, 8000)),
    ]
    assert found.transcript.languages == ["deu"] and not found.notes
    times = [(word, at.start_ms, at.end_ms) for word, at in found.transcript.utterances[0].word_times]
    assert times == [("so", 1000, 1500), ("I", 1500, 2000), ("ran", 2000, 3000)]


def test_captions_without_word_times_roll_up_too(tmp_path):
    lines = ["one.", "two.", "three.", "four.", "five."]
    cues = [
        f"00:0{at}.000 --> 00:0{at}.900\n{above}\n{below}\n" for at, (above, below) in enumerate(pairwise(lines), 1)
    ]
    found = read(tmp_path, "WEBVTT\n\n" + "\n".join(cues), "a.vtt")
    assert [words for _, words, _ in said(found)] == ["one .", "two .", "three .", "four .", "five ."]


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("-¿Vienes?\n-¡No!", [("PAR", "vienes ?"), ("PAR0", "no !")]),
        ('-"Yes."\n-"No."', [("PAR", "yes ."), ("PAR0", "no .")]),
        ("－ はい。\n－ いいえ。", [("PAR", "はい ."), ("PAR0", "いいえ .")]),
        ("АННА: да.\nБОРИС: нет.", [("PAR0", "да ."), ("PAR1", "нет .")]),
        ("ANN (on the phone): Hi.\nBOB: No.", [("ANN", "&=on_the_phone hi ."), ("BOB", "no .")]),
        ("-5 degrees.", [("PAR", "minus five degrees .")]),
        ("<ruby>犬<rt>いぬ</rt></ruby>です。", [("PAR", "犬です .")]),
        ("R&amp;D &lrm;yes.", [("PAR", "R and D yes .")]),
    ],
)
def test_signs_and_names_of_other_scripts(text, turns, tmp_path):
    found = read(tmp_path, f"{FIRST}{text}\n")
    assert [(who, words) for who, words, _ in said(found)] == turns


def test_a_name_within_a_line_begins_a_turn(tmp_path):
    found = read(tmp_path, f"{FIRST}ANN: Hello. BOB: Hi.\n\n{FIRST}BOB: Yes.\n\n{FIRST}(speaker ?) No.\n")
    turns = [("ANN", "hello ."), ("BOB", "hi ."), ("BOB", "yes ."), ("PAR", "no .")]
    assert sorted((who, words) for who, words, _ in said(found)) == turns


def test_cues_that_only_move_lines_are_not_read(tmp_path):
    """As yt-dlp converts the captions of YouTube."""
    cues = ("1,000 --> 00:00:03,000\n \none two", "3,000 --> 00:00:03,010\none two\n ")
    last = "3,010 --> 00:00:05,000\none two\nthree"
    found = read(tmp_path, "\n\n".join(f"00:00:0{cue}" for cue in (*cues, last)))
    assert [words for _, words, _ in said(found)] == ["one two .", "three ."]


def test_what_is_said_twice_is_read_twice(tmp_path):
    found = read(tmp_path, f"{FIRST}No.\n\n{FIRST}No.\n\n{FIRST}No.\n")
    assert [words for _, words, _ in said(found)] == ["no ."] * 3


@pytest.mark.slow
def test_a_hundred_thousand_cues(tmp_path):
    starts = (f"{at // 1200:02}:{at // 20 % 60:02}:{3 * at % 60:02}" for at in range(100_000))
    cues = (
        f"{at}\n{start},000 --> {start},900\nA dog {'abcdefgh'[at % 8]} ran\nto the {'mnopqrst'[at // 8 % 8]} house.\n"
        for at, start in enumerate(starts)
    )
    (tmp_path / "a.srt").write_text("\n".join(cues))
    found = convert([tmp_path / "a.srt"], tmp_path / "out")
    assert found.after.utterances == found.after.times == 100_000
    assert not found.losses


def test_youtubes_own_subtitles(tmp_path):
    text = "0:00:00.599,0:00:04.160\nI want[br]it.\n\n1:00:04.100,1:00:06.000\n>> JOHN: Where?\n"
    found = said(read(tmp_path, text, "talk.sbv"))
    assert found == [("PAR", "I want it .", (599, 4160)), ("JOHN", "where ?", (3_604_100, 3_606_000))]


COMPOUNDS = {
    "a well-\nknown man": "a well-known man .",
    "my mother-\nin-law": "my mother-in-law .",
    "he is self-\nmade": "he is self-made .",
    "I have twenty-\nthree dogs": "I have twenty-three dogs .",
    "yes well-\nyou see": "yes &+well you see .",
    "the twenty-\ntwenty two": "the &+twenty twenty two .",
    "I wa-\nwant it": "I &+wa want it .",
    "I am self-\nI am": "I am &+self I am .",
    "I am well-": "I am &+well .",
}


@pytest.mark.parametrize("text", COMPOUNDS)
def test_a_compound_that_a_line_divides_is_one_word(text, tmp_path):
    found = [words for _, words, _ in said(read(tmp_path, f"{FIRST}{text}\n"))]
    assert [words.replace("<I am> [/] ", "I am ") for words in found] == [COMPOUNDS[text]]


@pytest.mark.parametrize("name", ["{}: {}", "<v {}>{}</v>"])
def test_meetings_name_a_speaker_once_for_several_cues(name, tmp_path):
    texts = [
        name.format("Ann Lee", "Hello."),
        name.format("Bob", "Hi."),
        "How are you?",
        name.format("Ann Lee", "Fine."),
    ]
    cues = (f"{at}\n00:00:0{at}.000 --> 00:00:0{at}.900\n{text}\n" for at, text in enumerate(texts, 1))
    found = read(tmp_path, "WEBVTT\n\n" + "\n".join(cues), name="a.vtt")
    assert [who for who, *_ in said(found)] == ["PAR0", "PAR1", "PAR1", "PAR0"]
    assert "texts without a speaker, which go on with the speaker above: 1" in found.notes
