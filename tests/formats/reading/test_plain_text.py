"""Plain text of TextGrids, texts and subtitles: tags, unintelligible speech, several sentences, names."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from lsa_whisper.formats.reading import ReadingOptions, read_transcripts
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.notation import all_plain_to_chat
from lsa_whisper.timespan import TimeSpan


def tiers(text, **options):
    marks = {"language": "eng", "infer_marks": True} | options
    return list(all_plain_to_chat([text], Conventions(), **marks)[0].tiers)


@pytest.mark.parametrize(
    "mark",
    [
        *("<UNIN/>", "<INAUDIBLE_SPEECH/>", "<unk>", "(())", "(( ))", "[unclear]", "(inaudible)", "{unintelligible}"),
        *("[inaudible 00:01:02]", "[unclear speech]", "(?)", "[???]", "[crosstalk]", "&lt;unintelligible&gt;"),
        *("<?>", "[2 words unintelligible]", "[inaudible at 00:12]", "«inaudible»", "/unclear/", "***", "____", "???"),
        *("[indistinct]", "<gap reason='x'/>", "{{unclear}}", "**inaudible**", "[UI]"),
        *("<xxx>", "<UNSURE></UNSURE>", "<unclear/>", "[unknown words]", "<UNINTELLIGIBLE_SPEECH />"),
        *("(unv.)", "[unverständlich]", "<ininteligible/>", "(inaudible)", "[inintelligible 00:12]", "[听不清]"),
    ],
)
def test_unintelligible_speech_stays(mark):
    assert tiers(f"He saw {mark} there.") == ["he saw xxx there ."]
    assert tiers(mark) == ["xxx ."] or mark == "???"
    assert tiers(f"He saw {mark} there.", infer_marks=False) == ["he saw xxx there ."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He <UNSURE>saw it</UNSURE> there.", "he <saw it> [?] there ."),
        ("He ((saw)) it.", "he saw [?] it ."),
        ("He [unclear: saw] it.", "he saw [?] it ."),
        ("He &lt;laugh&gt; ran.", "he &=laughs ran ."),
        ("[laughter] He ran.", "&=laughs he ran ."),
        ("[[whispering]] He {(laughs)} ran.", "&=whispering he &=laughs ran ."),
        ("((coughing)) He ran.", "&=coughs he ran ."),
        ("He <b>ran</b> <i>home</i>.", "he ran home ."),
        ("He <silence/> ran.", "he (.) ran ."),
        ("I <want it> now.", "I want it now ."),
        ("He [points at dog] ran.", "he &=points_at_dog ran ."),
        ("<UNIN/> Sorry to hear.", "xxx sorry to hear ."),
        ("[unclear] [inaudible] I saw <unk> <unk>.", "xxx xxx I saw xxx xxx ."),
        ("He said: go home.", "he said go home ."),
        ("A [dog?] ran (sounds like: home).", "a dog [?] ran home [?] ."),
        ("Who is it ???", "who is it ?"),
        ("The d**n dog [3.0] ran [3].", "the xxx dog ran ."),
        ("The d*mn *big* dog wa* wants it.", "the xxx big dog &+wa wants it ."),
        ("I **really mean** the s*** and the d**n **big dog**.", "I really mean the xxx and the xxx big dog ."),
        ("I went 00:01:05 home 00:12.", "I went home ."),
        ("He [pause 2s] ran [2 second pause] home.", "he (.) ran (.) home ."),
        ("（laughs） He ran 【music】.", "&=laughs he ran &=music ."),
        ("(I think) he and (a dog) ran.", "I think he and &=a_dog ran ."),
        ("I [th]ink so[mhm], some[body] saw [laughs]it.", "I think so mhm somebody saw &=laughs it ."),
        ("I (I) want the dog (the dog).", "I [/] I want <the dog> [/] the dog ."),
        ("(I'm) going [sic] and (laughs) laughs.", "I'm going and &=laughs laughs ."),
        ("Ssso I mmmmy dog .hh mmm.", "s::o I m::y dog &=breathes mmm ."),
        ("um- I want uh- it, gr::eat.", "&-um I want &-uh it gr::eat ."),
        ("In (2020) he ran.", "in twenty twenty he ran ."),
        ("Call (212) 555-0199.", "call two one two five five five zero one nine nine ."),
    ],
)
def test_tags_and_brackets(text, expected):
    assert tiers(text) == [expected]


def test_all_that_otter_writes_above_a_few_turns_is_a_comment(tmp_path):
    above = (
        "Visit 2\nTue, Mar 05, 2024 10:00AM • 0:45\n\nSUMMARY KEYWORDS\ndog, cat\n\nSPEAKERS\nAnn Lee, Speaker 2\n\n"
    )
    found = read(tmp_path, f"{above}Ann Lee  00:00\nA dog?\n\nSpeaker 2  00:04\nYes.\n", "a.txt")
    turns = [(turn.speaker, turn.text, turn.span) for turn in found.transcript.utterances]
    assert turns == [("PAR0", "a dog ?", TimeSpan(0, 4000)), ("PAR1", "yes .", None)]
    assert found.notes[0] == "lines above the first speaker, which stand in @Comment: 6"


@pytest.mark.parametrize("above", ["", "Transcript\n", "Visit - Transcript\nAttendees\nAnn Lee, Bob\nTranscript\n"])
@pytest.mark.parametrize("turns", [4, 90])
def test_the_times_of_a_meeting_every_five_minutes_are_no_turns(above, turns, tmp_path):
    part = "Ann Lee: A dog?\nBob: Yes.\n" * (turns // 2)
    found = read(tmp_path, f"{above}00:00:00\n\n{part}00:05:00\n\n{part}Meeting ended after 00:06:10\n", "a.txt")
    said = found.transcript.utterances
    assert [turn.text for turn in said] == ["a dog ?", "yes ."] * turns
    assert {turn.speaker for turn in said} == {"PAR0", "PAR1"} and found.lost_words == 0
    times = [(at, tier.value) for at, turn in enumerate(said) for tier in turn.tiers if tier.name == "%tim"]
    assert times in ([(0, "00:00:00"), (turns, "00:05:00")], []) and (times or said[0].span)


def test_what_teams_writes_above_turns_and_below_them_is_not_speech(tmp_path):
    text = "Weekly Recording\nApril 5, 2024, 2:00PM\n1m 3s\n\nAnn Lee started transcription\n\n"
    text += "Ann Lee   0:03\nHi.\n\nBob Ray   0:06\nI think so.\n\nAnn Lee stopped transcription\n"
    assert [each.text for each in read(tmp_path, text, "a.txt").transcript.utterances] == ["hi .", "I think so ."]


def test_brackets_of_overlaps_hold_words(tmp_path):
    text = "A: so I went [home]\nB: [oh]\nA: [yes] [laughs]\nB: [pardon]\n"
    found = read(tmp_path, text, "a.txt").transcript
    assert [each.text for each in found.utterances] == ["so I went home .", "oh .", "yes &=laughs .", "pardon ."]
    found = read(tmp_path, text.replace("[oh]", "oh").replace("[yes]", "yes"), "a.txt").transcript
    assert found.utterances[0].text == "so I went &=home ."


@pytest.mark.parametrize(
    "text", ["qzqaaaqzq ran.", "[laughs] qzqaaqzq", "&#02;7&#03; ran", "&#21;1_2&#21; ran", "&#10;ran"]
)
def test_places_of_marks_are_not_taken_for_speech(text):
    (tier,) = tiers(text)
    assert not set("\x02\x03\x15\n") & set(tier) and len(tier) > 4


def test_sounds_stay_without_marks():
    assert tiers("[laughs] I [pause] I um want it.", infer_marks=False) == ["&=laughs I (.) I um want it ."]


def grid(*intervals):
    body = "".join(f'{start}\n{end}\n"{text}"\n' for start, end, text in intervals)
    last = intervals[-1][1]
    return (
        f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n{last}\n<exists>\n1\n"IntervalTier"\n"Doctor"\n'
        f"0\n{last}\n{len(intervals)}\n{body}"
    )


def read(tmp_path, text, name="visit.TextGrid", **options):
    (tmp_path / name).write_text(text)
    return read_transcripts(tmp_path / name, ReadingOptions(**options))[0]


def test_chat_without_headers_keeps_its_tiers(tmp_path):
    text = "*CHI:\tder [/] der Hund . \x15100_900\x15\n%mor:\tdet|der n|Hund .\n%wor:\tder \x15100_200\x15 der Hund .\n"
    found = read(tmp_path, text + "*MOT:\tja ,\n\tgut .\n%com:\tlaut\n", name="a.txt").transcript
    assert [turn.text for turn in found.utterances] == ["der [/] der Hund .", "ja , gut ."]
    assert [[tier.raw for tier in turn.tiers] for turn in found.utterances] == [
        ["%wor:\tder \x15100_200\x15 der Hund .\n", "%mor:\tdet|der n|Hund .\n"],
        ["%com:\tlaut\n"],
    ]
    assert [*found.participants] == ["CHI", "MOT"] and found.utterances[0].span.end_ms == 900


def test_a_length_of_a_pause_and_a_time_are_comments():
    found = all_plain_to_chat(["He (1.2) ran [pause 2s] on 00:01:05."], Conventions(), language="eng")[0]
    assert found.tiers == ("he (..) ran (.) on .",)
    assert set(found.comments) == {"pause of 1.2 s", "pause 2s", "00:01:05"}


@pytest.mark.parametrize(
    ("line", "speaker", "text"),
    [
        ("He said: go home.", "PAR", "he said go home ."),
        ("She told him: Go!", "PAR", "she told him Go !"),
        ("Note: go home.", "PAR", "note go home ."),
        ("Non : rentre.", "PAR", "non rentre ."),
        ("他说：走！", "PAR", "他说 走 !"),
        ("Ann: go home.", "PAR0", "go home ."),
        ("SPEAKER_00: go home.", "PAR0", "go home ."),
        ("mother: go home.", "MOT", "go home ."),
        ("Kind: go home.", "CHI", "go home ."),
        ("Logopädin: go home.", "THE", "go home ."),
        ("Mamá: go home.", "MOT", "go home ."),
        ("张三：走。\n李四：好。\n张三：好。", "PAR0", "走 ."),
    ],
)
@pytest.mark.parametrize("form", ["txt", "srt"])
def test_who_speaks_before_a_colon(line, speaker, text, form, tmp_path):
    cues = [f"{at}\n00:00:0{at},000 --> 00:00:0{at},900\n{each}\n" for at, each in enumerate(line.split("\n"))]
    found = read(tmp_path, line if form == "txt" else "\n".join(cues), f"a.{form}")
    first = found.transcript.utterances[0]
    assert (first.speaker, first.text) == (speaker, text) and found.lost_words == 0


DIALOG = "Ann Lee: Two sisters.\nBob's iPhone: Oh.\nAnn Lee: Twins.\n{}\nDr. Eva van der Laan: So.\nAnn Lee: Yes.\n"


@pytest.mark.parametrize(
    ("line", "speaker", "text"),
    [
        ("Note: no.", "Ann_Lee", "note no ."),
        ("One thing: no.", "Ann_Lee", "one thing no ."),
        ("He told me: no.", "Ann_Lee", "he told me no ."),
        ("My fear is: no.\nMy fear was: no.", "Ann_Lee", "my fear is no ."),
        ("He said: no.\nHe said: yes.", "Ann_Lee", "he said no ."),
        ("Older brother: no.", "Older_brother", "no ."),
        ("Mum: no.", "", "no ."),
        ("Cem's iPad: no.", "Cem's_iPad", "no ."),
    ],
)
@pytest.mark.parametrize("form", ["txt", "vtt"])
def test_words_before_a_colon_within_a_turn_are_no_speaker(line, speaker, text, form, tmp_path):
    lines = DIALOG.format(line).splitlines()
    cues = [f"00:0{at}.000 --> 00:0{at}.900\n{each}\n" for at, each in enumerate(lines)]
    found = read(tmp_path, "\n".join(lines) if form == "txt" else "WEBVTT\n\n" + "\n".join(cues), f"a.{form}")
    names = {person.code: person.name for person in found.transcript.participants.values()}
    said = found.transcript.utterances[3]
    assert (names[said.speaker], said.text) == (speaker, text) and found.lost_words == 0
    assert set(names.values()) == {"Ann_Lee", "Bob's_iPhone", "Dr._Eva_van_der_Laan", speaker}
    spoken = "words before a colon that are not taken for a speaker"
    assert [note.split(":")[0] for note in found.notes][:1] == ([spoken] if speaker == "Ann_Lee" else [])


@pytest.mark.parametrize("text", ["I want mmmore ssssnow.", "w/ a dog w/o it b/c of me, w/out her"])
def test_words_that_are_written_in_full_are_not_lost(text, tmp_path):
    assert read(tmp_path, f"CHI: {text}\n", "a.txt").lost_words == 0


def test_a_text_that_ends_when_it_begins_has_no_times(tmp_path):
    found = read(
        tmp_path,
        '{"segments": [{"start": 1, "end": 1, "text": "Go."}, {"start": 1, "end": 2, "text": "No."}]}',
        "a.json",
    )
    assert [each.span and each.span.duration_ms for each in found.transcript.utterances] == [None, 1000]
    assert found.notes == ("texts that end when they begin, which have no times: 1",)


def test_points_and_words_without_utterances_of_aligners(tmp_path):
    one, two = grid((0, 1, "the"), (1, 2, "spn"), (2, 3, "sil")), '"TextTier"\n"clicks"\n0\n9\n1\n0.5\n"click"\n'
    found = read(tmp_path, one.replace('"Doctor"', '"Ann - words"'))
    assert [each.text for each in found.transcript.utterances] == ["the xxx ."]
    assert found.transcript.participants["PAR0"].name == "Ann"
    found = read(tmp_path, one.replace("<exists>\n1", "<exists>\n2") + two)
    assert [tier.raw for tier in found.transcript.utterances[0].tiers] == ["%xclicks:\tclick\n"]


def test_an_interval_of_several_sentences_is_an_utterance_each(tmp_path):
    found = read(tmp_path, grid((0, 2, "Hello? Hi. Yes, okay."), (2, 4, "I ran.")))
    said = [(each.text, each.span.start_ms, each.span.end_ms) for each in found.transcript.utterances]
    assert [text for text, *_ in said] == ["hello ?", "hi .", "yes okay .", "I ran ."]
    assert said[0][1] == 0 and said[2][2] == 2000 and said[3][1:] == (2000, 4000)
    assert all(one[2] == other[1] and one[1] < one[2] for one, other in pairwise(said))
    assert found.notes == (
        "texts of several sentences: 1; each sentence has a share of the time by its length, which `align` corrects",
    )


def test_unknown_tags_are_comments_and_are_listed(tmp_path):
    found = read(
        tmp_path, grid((0, 2, "I saw <PII type='name'/> and <FOREIGN>nada</FOREIGN> there"), (2, 4, "<STATIC/>"))
    )
    first, second = found.transcript.utterances
    assert first.text == "I saw and nada there ." and second.text == "0 ."
    assert [tier.value for tier in second.tiers] == ["<STATIC/>"]
    assert {part.strip() for part in first.tiers[0].value.split(";")} == {"<PII type='name'/>", "<FOREIGN>"}
    assert len(found.notes) == 1 and "<STATIC/> (1)" in found.notes[0]


@pytest.mark.parametrize("infer_marks", [True, False])
def test_names_stay_capital_at_the_beginning(infer_marks, tmp_path):
    text = "Johnny went home.\nRex barked.\nI saw Rex.\nThe dog ran.\nDog food.\nMonday came.\nUm, Sarah's here.\n"
    found = read(tmp_path, text, "visit.txt", infer_marks=infer_marks)
    said = [each.text for each in found.transcript.utterances]
    um = "&-um" if infer_marks else "um"
    assert said[:4] == ["Johnny went home .", "Rex barked .", "I saw Rex .", "the dog ran ."]
    assert said[4:] == ["dog food .", "Monday came .", f"{um} Sarah's here ."]


def test_few_lines_of_long_turns_begin_with_names(tmp_path):
    turns = "Ann: Hello, I was\ngoing home\nand fell.\nBob: Okay,\nso what?\nThen?\nAnn: No.\nI went.\nHome.\n"
    assert [each.speaker for each in read(tmp_path, turns, "a.txt").transcript.utterances] == [
        "PAR0", *["PAR1"] * 2, *["PAR0"] * 3]  # fmt: skip
    alone = "Hello there.\nThis is a test.\nWarning: it is hot.\nI see.\nResult: it is cold.\nWarning: no.\n"
    assert {each.speaker for each in read(tmp_path, alone, "b.txt").transcript.utterances} == {"PAR"}


WRAPPED = "I was going to the store and saw that they\nhad closed it. So I went home.\n{}Okay. What did you\ndo then?\n"


@pytest.mark.parametrize("between", ["", "\n"])
def test_lines_that_end_within_a_sentence_go_on_in_the_next_one(between, tmp_path):
    found = read(tmp_path, WRAPPED.format(between), "a.txt")
    assert [each.text for each in found.transcript.utterances] == [
        "I was going to the store and saw that they had closed it .",
        "so I went home .",
        "okay .",
        "what did you do then ?",
    ]
    assert "lines that end within a sentence, which go on in the next one: 2" in found.notes


def test_lines_go_on_before_speakers_are_counted(tmp_path):
    turn = "then we went\n" * 20 + "home.\n"
    found = read(tmp_path, f"Ann: So we ran,\n{turn}Bob: And,\n{turn}Ann: Yes.\n", "a.txt").transcript.utterances
    assert [(each.speaker, len(each.verbatim())) for each in found] == [("PAR0", 64), ("PAR1", 62), ("PAR0", 1)]


def test_full_lines_go_on_before_capitals(tmp_path):
    wide = "Ann: We wanted to see the whole old town with\nBob, and the market, and then the park there\nI like. So.\n"
    found = read(tmp_path, f"{wide}Bob: No.\nAnn: I go.\n", "a.txt").transcript.utterances
    assert [each.text for each in found] == [
        "we wanted to see the whole old town with Bob and the market and then the park there I like .",
        "so .",
        "no .",
        "I go .",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I want it\nit is big. No it\nis not\n",  # the last line has no mark
        "i want it. yes\nit is mine\nno.\n",  # sentences begin with small letters
        "I want it.\nI -\nwe go.\nYes...\nno.\n",  # broken off
    ],
)
def test_other_lines_are_an_utterance_each(text, tmp_path):
    found = read(tmp_path, text, "a.txt")
    assert len(found.transcript.utterances) == text.count("\n") + text.count(". ")
    assert not any("within a sentence" in note for note in found.notes)


def test_capital_texts_tell_no_names(tmp_path):
    found = read(tmp_path, "The Big Dog.\nBig Dogs Ran.\n", "visit.txt")
    assert [each.text for each in found.transcript.utterances] == ["the Big Dog .", "big Dogs Ran ."]


@pytest.mark.parametrize("sign", ["½", "a ", "1,", "*'a", "[00:"])
def test_a_line_of_very_many_signs_takes_time_by_its_length(sign, tmp_path):
    (tmp_path / "a.txt").write_text(60_000 * sign)
    began = time.process_time()
    read_transcripts(tmp_path / "a.txt")
    assert time.process_time() - began < 30  # by its square, it would be minutes


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("I go (be)cause I'm goin(g).", "I go (be)cause I'm goin(g) ."),
        ("It's ye(h)s (laughs) no.", "it's ye(h)s &=laughs no ."),
        ("I <um> want.", "I &-um want ."),
        ("Uh huh, uh, yes.", "uh huh &-uh yes ."),
        ("<pause> Yes.", "(.) yes ."),
    ],
)
def test_sounds_within_words_and_answers_are_no_events(text, tier, tmp_path):
    found = read(tmp_path, f"{text}\n", "a.txt").transcript
    assert [each.text for each in found.utterances] == [tier]


@pytest.mark.parametrize("bullet", ["100_900", "\x15100_900\x15"])
@pytest.mark.parametrize("below", ["", "%com:\tpoints\n"])
def test_times_of_chat_without_headers_are_times(bullet, below, tmp_path):
    found = read(tmp_path, f"*CHI:\tthe dog . {bullet}\n{below}*MOT:\tit is . 1000_1900\n*CHI:\tno .\n", "a.txt")
    said = [(each.text, each.span) for each in found.transcript.utterances]
    assert said == [("the dog .", TimeSpan(100, 900)), ("it is .", TimeSpan(1000, 1900)), ("no .", None)]


def test_times_that_end_before_they_begin_are_told(tmp_path):
    found = read(tmp_path, "*CHI: the dog . 900_100\n*MOT: yes .\n", "a.txt")
    assert found.transcript.utterances[0].text == "the dog ." and not found.transcript.utterances[0].span
    assert "a.txt:1: ends at 0.1 s, before it starts" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:01\nhello\n0:05\nthis is it\n", ["hello .", "this is it ."]),
        ("Speaker 1  0:05\nback\n\nSpeaker 1  0:01\nforth\n", ["back .", "forth ."]),
        ("(0:01) hello there (0:05) this is it\n", ["hello there this is it ."]),
        ("When?\n7:00\nOk.\n", ["when ?", "seven o'clock .", "ok ."]),
    ],
)
def test_no_time_of_a_turn_is_a_word_and_no_word_is_a_name(text, expected, tmp_path):
    found = read(tmp_path, text, "visit.txt")
    assert [each.text for each in found.transcript.utterances] == expected


def test_french_with_blanks_before_its_marks_is_not_chat(tmp_path):
    text = "M. : Bonjour !\nE. : Euh bonjour.\nM. : Ça va ?\nE. : Oui.\n"
    found = read(tmp_path, text, "a.txt", language="fra")
    assert [each.text for each in found.transcript.utterances] == ["bonjour !", "&-euh bonjour .", "ça va ?", "oui ."]


@pytest.mark.parametrize(
    ("language", "text", "count"), [("ell", "Θέλω 3 μήλα (1.5) το 1821.", 2), ("hin", "मेरे ३ सेब।", 1)]
)
def test_numbers_that_stay_in_digits_are_noted(language, text, count, tmp_path):
    assert any(
        f"write them in words: {count}" in note for note in read(tmp_path, text, "a.txt", language=language).notes
    )
    assert not read(tmp_path, text, "a.txt", language="vie").notes
