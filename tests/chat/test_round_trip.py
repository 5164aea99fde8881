"""Nothing is lost: files byte for byte, text character for character, lines token for token."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unprivileged import closed

from lsa_whisper.chat import Line, Participant, check, parse, read, serialize, write
from lsa_whisper.chat.scan import scan
from lsa_whisper.errors import ChatSyntaxError

MARKS = (
    "<", ">", "[/]", "[//]", "[x 3]", "[: a]", "[", "]", "(", ")", "(.)", "(1.5)", "&-um", "&+f", "&=x", "&*B:c", "&",
    "↫", "≠", "^", ":", "+...", "+/.", "+", "+^", "0", "0am", "xxx", "@s", "⌈", "→", "„", "’", "word", "a", ".", "?",
    "\x15", "\x151_2\x15", " ", "\t", "\n", "\r\n", "\r", "\n\t", "*A:", "\n*A:\t", "\n%wor:\t", "@End", "\ufeff", "é",
    "\u2028", "\x00", "\x85", "_", "/", "#", "1", ",",
)  # fmt: skip
anything = st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=4)), max_size=60).map("".join)


def read_everything(transcript):
    for utterance in transcript.utterances:
        assert len(utterance.verbatim()) >= max((event.end for event in utterance.events()), default=0)
        assert all(word.strip() for word in [*utterance.verbatim(), *utterance.fluent()])
        assert "\n" not in utterance.text and "\x15" not in utterance.text.replace("\x15", "", 1)
        assert utterance.unusable() in (None, "untranscribed", "other speaker", "phonetic")
        assert utterance.abandoned <= bool(utterance.terminator)
        assert utterance.span is None or utterance.span.start_ms >= 0
        assert all(word for word, _ in utterance.word_times)
    assert all(code == person.code for code, person in transcript.participants.items())
    assert "," not in "".join(transcript.languages)
    assert transcript.media is None or transcript.media.strip()
    for mode in ("strict", "flucalc"):
        assert all(min(one.counts.values()) >= 0 for one in transcript.fluency(mode).values())
    for problem in check(transcript):
        assert problem.line >= 1 and problem.column >= 1


def test_every_real_file_is_written_back_byte_for_byte(real_files, tmp_path):
    for path in real_files:
        transcript = read(path)
        read_everything(transcript)
        write(transcript, tmp_path / "copy.cha")
        assert (tmp_path / "copy.cha").read_bytes() == path.read_bytes(), path


@given(anything)
def test_any_text_is_kept_and_read_without_an_exception(text):
    transcript = parse(text)
    assert serialize(transcript) == text
    read_everything(transcript)


@given(anything)
def test_the_joined_tokens_are_the_line(line):
    tokens = list(scan(line))
    assert "".join(token.text for token in tokens) == line
    at = 0
    for token in tokens:
        assert token.offset == at
        at += len(token.text)


@given(anything)
def test_strict_raises_exactly_when_there_is_a_problem(text):
    if parse(text).problems:
        with pytest.raises(ChatSyntaxError, match=r"^f\.cha:\d+:\d+: "):
            parse(text, path="f.cha", strict=True)
    else:
        assert serialize(parse(text, strict=True)) == text


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf@UTF8\r\n@Begin\r\n*A:\tna\xc3\xafve .\r\n@End\r\n",
        "@UTF8\n*A:\tnaïve .\n".encode("utf-16"),
        b"@Begin\r*A:\tna\xefve .\r@End",
        b"@Comment:\tdon\x92t\n*A:\tna\xefve .\n",
        b"@Comment:\t\x81\n*A:\tna\xefve .\n",
        b"",
        b"*A:\tone\n\ttwo\n\tthree . \x1512_34\x15\n%com:\tx\n\ty\n\n*B:\tz",
    ],
)
def test_encodings_and_line_ends(data, tmp_path):
    (tmp_path / "in.cha").write_bytes(data)
    transcript = read(tmp_path / "in.cha")
    write(transcript, tmp_path / "out.cha")
    assert (tmp_path / "out.cha").read_bytes() == data
    if b"\xef" in data or b"\xff\xfe" in data:
        assert transcript.utterances[0].verbatim() == ["naïve"]
    assert any(problem.code == "encoding" for problem in transcript.problems) == (b"na\xefve" in data)


def test_an_apostrophe_of_windows_is_one(tmp_path):
    """Latin-1 has a control character there, without which ``don't`` would be the word ``dont``."""
    (tmp_path / "old.cha").write_bytes(b"*A:\tI don\x92t .\n")
    assert read(tmp_path / "old.cha").utterances[0].verbatim() == ["I", "don't"]


@pytest.mark.parametrize(
    ("language", "encoding", "text"),
    [
        ("ell", "cp1253", "το παιδί τρέχει"),
        ("rus", "cp1251", "я хочу"),
        ("zho", "gb18030", "你好 吗"),
        ("pol", "cp1250", "żółć jest"),
        ("deu", "cp1252", "ich möchte"),
        ("ell", "utf-8", "το παιδί"),
        ("ell", "utf-16-le", "το παιδί"),
        ("deu", "utf-16-be", "ich möchte"),
    ],
)
def test_old_encodings_are_those_of_the_language(language, encoding, text, tmp_path):
    path, written = tmp_path / "old.cha", f"@UTF8\n@Begin\n@Languages:\t{language}\n*CHI:\t{text} .\n@End\n"
    path.write_bytes(written.encode(encoding))
    transcript = read(path)
    assert transcript.utterances[0].verbatim() == text.split() and transcript.encoding == encoding
    assert serialize(transcript).encode(transcript.encoding) == path.read_bytes()
    name = encoding.replace("cp", "Windows-")
    told = [problem.message for problem in transcript.found]
    assert told == ([] if encoding.startswith("utf") else [f"not UTF-8, read as {name}"])


def test_a_file_that_would_change_is_read_in_no_old_encoding(tmp_path):
    data = b"@Languages:\tjpn\n*A:\t" + b"\xfa\x54 .\n"  # cp932 writes this sign as 81 CA
    (tmp_path / "old.cha").write_bytes(data)
    transcript = read(tmp_path / "old.cha")
    assert serialize(transcript).encode(transcript.encoding) == data


def test_strict_takes_no_file_that_is_not_utf_8(tmp_path):
    (tmp_path / "old.cha").write_bytes("@Comment:\tnaïve\n".encode("latin-1"))
    assert serialize(read(tmp_path / "old.cha")) == "@Comment:\tnaïve\n"
    with pytest.raises(ChatSyntaxError, match=r"old\.cha:1:1: not UTF-8"):
        read(tmp_path / "old.cha", strict=True)


def test_a_speaker_without_a_role_is_a_speaker():
    people = parse("@Participants:\tCHI, MOT Ann Lee Mother\n").participants
    assert people == {"CHI": Participant("CHI", ""), "MOT": Participant("MOT", "Mother", "Ann Lee")}


def test_continuation_lines_and_places():
    transcript = parse("@Begin\n*A:\tone\n\ttwo [/]\n\tthree > . \x1512_34\x15\n%wor:\tone \x1512_20\x15 .\n*B:\t> .\n")
    first, second = transcript.utterances
    assert first.text == "one two [/] three > ."
    assert (first.span.start_ms, first.span.end_ms) == (12, 34)
    assert [(word, span.end_ms) for word, span in first.word_times] == [("one", 20)]
    assert [(p.line, p.column) for p in transcript.problems] == [(4, 8), (6, 5)]
    assert second.line == 6


def test_several_bullets_span_from_the_first_to_the_last():
    (spoken,) = parse("*A:\tone \x1510_20\x15\n\ttwo \x1520_35\x15 . \x1535_40\x15\n").utterances
    assert (spoken.span.start_ms, spoken.span.end_ms) == (10, 40)


def test_a_bullet_of_more_digits_than_any_time_has_is_none():
    digits = "9" * 5000
    tiers = f"*A:\tone . \x15{digits}_{digits}\x15\n%wor:\tone \x15{digits}_{digits}\x15 .\n"
    (first, second) = parse(f"{tiers}*A:\ttwo . \x1599999_100000\x15\n").utterances
    assert first.span is None and first.word_times == [] and second.span.end_ms == 100_000


def test_what_an_encoding_cannot_hold_makes_it_utf_8(tmp_path):
    (tmp_path / "a.cha").write_bytes(b"@Begin\n*A:\tna\xefve .\n@End\n")
    old = read(tmp_path / "a.cha")
    old.blocks.append(Line("%com:\t↫ caf\udce9\n", 4))
    write(old, tmp_path / "a.cha")
    assert (tmp_path / "a.cha").read_text("utf-8").endswith("naïve .\n@End\n%com:\t↫ caf?\n")
    assert read(tmp_path / "a.cha").encoding == "utf-8"


def test_a_file_that_may_not_be_read_is_one_clear_line(tmp_path):
    path = tmp_path / "deep" / "a.cha"
    path.parent.mkdir()
    path.write_text("@UTF8\n")
    for shut in (path, path.parent):
        with (
            closed(shut, below=tmp_path),
            pytest.raises(ChatSyntaxError, match=r"a\.cha: cannot open it \(Permission denied\); check the path"),
        ):
            read(path)
    with pytest.raises(ChatSyntaxError, match=r"cannot open it \(File name too long\)"):
        read(tmp_path / ("x" * 300))


def test_a_recording_is_not_a_transcript(tmp_path):
    (tmp_path / "a.flac").write_bytes(b"fLaC\0\0\0\x22\n@\xff\n*\x01:\0")
    with pytest.raises(ChatSyntaxError, match=r"a\.flac: is a recording or a document, not text"):
        read(tmp_path / "a.flac")
    (tmp_path / "a.cha").write_bytes(b"\n*CHI:\tno\0 .\n")  # a damaged transcript stays one
    assert read(tmp_path / "a.cha").utterances


def test_a_missing_file_is_one_clear_line(tmp_path):
    with pytest.raises(ChatSyntaxError, match="cannot open it"):
        read(tmp_path / "no.cha")


@pytest.mark.parametrize(
    "unit", ["a [/] ", "<", "[a] ", "a [x 20] ", "< a [/] > [//] ", ". [x] ", "\x15", "(1", "[", "&", "↫a", ":", "> "]
)
def test_time_is_linear(unit):
    def seconds(times: int) -> float:
        text = f"*A:\t{unit * times}\n"
        best = 9.0
        for _ in range(2):
            start = time.process_time()
            (spoken,) = parse(text).utterances
            spoken.events()
            check(parse(text))
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(800), seconds(6400)
    assert large < 8 * small * 4 + 0.05, (unit, small, large)  # quadratic time would be 64 times the small one


@pytest.mark.parametrize("times", ["3000_5000", "•3000_5000•", "\x153000_5000", "3000_5000\x15"])
def test_times_without_control_characters_are_not_words(times):
    text = f"*INV:\tand [/] and you ? {times}\n"
    (bare,), (good,) = (parse(each).utterances for each in (text, text.replace(times, "")))
    assert (bare.verbatim(), bare.written(), bare.terminator) == (good.verbatim(), good.written(), "?")
    assert serialize(parse(text)) == text
    assert "bare-bullet" in {problem.code for problem in check(parse(text))}


@pytest.mark.parametrize(("encoding", "name"), [("mac_roman", "Mac Roman"), ("cp850", "DOS 850")])
def test_accents_of_other_machines_are_no_capitals_within_a_word(encoding, name, tmp_path):
    data = "*CHI:\tun café ça été où c'est très bien là .\n".encode(encoding)
    (tmp_path / "old.cha").write_bytes(data)
    transcript = read(tmp_path / "old.cha")
    assert transcript.utterances[0].text == "un café ça été où c'est très bien là ."
    assert [problem.message for problem in transcript.found] == [f"not UTF-8, read as {name}"]
    assert serialize(transcript).encode(transcript.encoding) == data


def test_one_old_line_costs_the_others_nothing(tmp_path):
    path = tmp_path / "mixed.cha"
    path.write_bytes("*CHI:\tel niño .\n".encode() + "*CHI:\tmañana .\n".encode("latin-1"))
    transcript = read(path)
    assert [utterance.text for utterance in transcript.utterances] == ["el niño .", "mañana ."]
    assert [(problem.line, problem.code) for problem in transcript.found] == [(2, "encoding")]
    write(transcript, path)
    assert path.read_text("utf-8") == "*CHI:\tel niño .\n*CHI:\tmañana .\n"
