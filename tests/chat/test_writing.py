"""New transcripts: what ``compose`` writes keeps the rules, and ``check`` knows when a rule is broken."""

import pytest

from lsa_whisper.chat import Participant, check, compose, parse, read, serialize, utterance, write
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.atomic_write import remove_leftovers, truncate_name
from lsa_whisper.timespan import TimeSpan

PEOPLE = (
    Participant("CHI", "Target_Child", name="Ann", age="4;11.03", corpus="x"),
    Participant("MOT", "Mother", corpus="x"),
)


def composed(*utterances, **options):
    return compose(languages=["eng", "spa"], participants=PEOPLE, utterances=utterances, **options)


def test_a_new_transcript_is_valid_and_complete(tmp_path):
    words = [("um", TimeSpan(0, 300)), ("hello", TimeSpan(310, 900))]
    transcript = composed(
        utterance("CHI", "&-um hello .", TimeSpan(0, 1000), words),
        utterance("MOT", "<hi there> [//] hey +/.", TimeSpan(900, 2000)),
        media="tape",
        comments=["made by\n a test"],
    )
    write(transcript, tmp_path / "tape.cha")
    back = read(tmp_path / "tape.cha", strict=True)
    assert check(back) == []
    assert back.languages == ["eng", "spa"]
    assert back.participants == {person.code: person for person in PEOPLE}
    assert back.media == "tape"
    assert back.utterances[0].word_times == words
    assert [(u.speaker, u.span.start_ms, u.terminator, u.abandoned) for u in back.utterances] == [
        ("CHI", 0, ".", False),
        ("MOT", 900, "+/.", True),
    ]
    assert serialize(back) == serialize(transcript)


def test_no_times_means_unlinked_media():
    assert check(composed(utterance("CHI", "hello ."), media="tape")) == []


def test_a_transcript_without_utterances_is_valid():
    assert check(composed()) == []


def test_times_are_put_in_order():
    made = composed(
        utterance("CHI", "three .", TimeSpan(900, 950)),
        utterance("CHI", "one .", TimeSpan(0, 500)),
        utterance("MOT", "two .", TimeSpan(400, 800)),
        utterance("CHI", "within one .", TimeSpan(450, 480)),
        media="tape",
    )
    assert check(made) == []
    assert [(u.text, u.span.start_ms, u.span.end_ms) for u in made.utterances] == [
        ("one .", 0, 500),
        ("two .", 400, 800),
        ("within one .", 500, 501),
        ("three .", 900, 950),
    ]


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    target = tmp_path / "a.cha"
    target.write_text("old")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lsa_whisper.system.atomic_write.os.replace", full)
    with pytest.raises(LsaWhisperError, match="No space left"):
        write(composed(), target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(LsaWhisperError, match="cannot write it"):
        write(composed(), tmp_path / "nowhere" / "a.cha")


def test_a_name_as_long_as_a_disk_takes(tmp_path):
    target = tmp_path / ("語" * 83 + ".cha")
    write(composed(), target)
    left = target.with_name(f".{truncate_name(target.name)}.0123abcd")
    left.touch()
    remove_leftovers(target)
    assert target.is_file() and not left.exists()


BROKEN = [
    ("I see 2 dogs .", "digits"),
    ("hello", "no-terminator"),
    ("go [x 3] .", "obsolete-repetition"),
    ("<I want> [//] .", "retrace-without-repair"),
    ("I [/] &=laughs .", "retrace-without-repair"),
    ("[/] I go .", "retrace-without-words"),
    ("<I want [/] it .", "unclosed-group"),
    ("I> go .", "unmatched-close"),
    ("don’t .", "apostrophe"),
    ("I go [+ gram] .", "postcode-place"),
    ("I go \x1510_20\x15 .", "bullet-place"),
    ("I go . there", "after-terminator"),
    ("I . go .", "inner-terminator"),
    ("XXX go .", "untranscribed"),
    ("&- go .", "empty-word"),
    ("I go . \x1520_20\x15", "empty-bullet"),
]


@pytest.mark.parametrize(("text", "code"), BROKEN, ids=[code for _, code in BROKEN])
def test_a_broken_rule_is_found(text, code):
    transcript = parse(serialize(composed(media="m")).replace(", unlinked", "").replace("@End", f"*CHI:\t{text}\n@End"))
    assert code in [problem.code for problem in check(transcript)]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("@UTF8\n", "", "first-line"),
        ("@End\n", "", "no-end"),
        ("@End\n", "@End\n*CHI:\tmore .\n", "after-end"),
        ("*CHI", "*DOG", "speaker"),
        ("|x|MOT|", "|MOT|", "id-fields"),
        ("@ID:\teng|x|MOT|||||Mother|||\n", "", "missing-id"),
        ("MOT Mother", "MOT Mum", "role"),
        ("4;11.03", "4;11.3", "age-zero"),
        ("m, audio", "m, audio, unlinked", "media-unlinked"),
        ("m, audio", "m", "media-kind"),
        ("m, audio", "n, audio", "media-name"),
        ("\x1520_30\x15", "\x1510_30\x15", "bullet-overlap"),
        ("\x1520_30\x15", "\x155_30\x15", "bullet-order"),
        ("%wor:\ta \x1521_22\x15 .", "%wor:\ta \x1525_26\x15 b \x1521_22\x15 .", "word-order"),
        ("%wor:\ta", "%wor:\tx .\n%wor:\ta", "twin-tier"),
        ("*CHI:\tone", "\n*CHI:\tone", "blank-line"),
        ("*CHI:\tone", "*CHI\tone", "no-speaker"),
        ("*CHI:\tone", "hello\n*CHI:\tone", "stray-line"),
        ("*CHI:\tone", "%mor:\tx\n*CHI:\tone", "orphan-tier"),
    ],
)
def test_a_broken_rule_around_the_utterances_is_found(old, new, code):
    good = composed(
        utterance("CHI", "one .", TimeSpan(10, 20)),
        utterance("CHI", "a .", TimeSpan(20, 30), [("a", TimeSpan(21, 22))]),
        media="m",
    )
    text = serialize(good)
    assert check(parse(text, path="m.cha")) == []
    assert old in text
    assert code in [problem.code for problem in check(parse(text.replace(old, new, 1), path="m.cha"))]


def test_real_legal_files_pass(real_files):
    legal = [path for path in real_files if path.parent.name in ("good", "paired") or "reference" in path.parts]
    wrong = {path.name: [str(problem) for problem in check(read(path))] for path in legal}
    assert {name: problems for name, problems in wrong.items() if problems} == {}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("age-bad", "age-zero"),
        ("duptiers", "twin-tier"),
        ("grouprepetition", "obsolete-repetition"),
        ("media-bad-name", "media-name"),
        ("media-unlinked-bullets", "media-unlinked"),
        ("multiple-end", "after-end"),
        ("omitted-affix", "digits"),
        ("retrace-multiple-no-following", "retrace-without-repair"),
        ("role-Junk", "role"),
        ("terminators", "inner-terminator"),
        ("unintelligible-caps", "untranscribed"),
    ],
)
def test_real_illegal_files_are_found(real_files, name, code):
    path = next(path for path in real_files if path.stem == name and path.parent.name == "bad")
    assert code in [problem.code for problem in check(read(path))]


def test_something_else_than_a_transcript_is_refused_with_what_is_meant(tmp_path):
    with pytest.raises(LsaWhisperError, match=r"give a Transcript, such as `result\.transcript`, not str"):
        write("*PAR:\tno .\n", tmp_path / "a.cha")
    assert not list(tmp_path.iterdir())
