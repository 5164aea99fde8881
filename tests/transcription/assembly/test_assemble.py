"""Whatever a model writes becomes valid CHAT: bullets forward, inside the recording, no word lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper import chat
from lsa_whisper.chat import utterance
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.labels import STYLES, Labels
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.assemble import TranscriptHeader, assemble, place_utterances


def assembled(segments, *, labels=None, windows=None, duration_ms=10_000, **header):
    windows = windows or [TimeSpan(1000, 9000)]
    return assemble(
        windows,
        [DecodedWindow(tuple(segments))] * len(windows),
        labels=labels or Labels("chat"),
        duration_ms=duration_ms,
        header=TranscriptHeader("visit", **header),
    ).transcript


def valid(transcript, duration_ms):
    """Tell whether CHAT's rules and ours hold, also after reading the file's own text again."""
    assert chat.check(chat.parse(chat.serialize(transcript), strict=True)) == []
    free, latest = {}, 0
    for each in transcript.utterances:
        if each.span:
            assert latest <= each.span.start_ms < each.span.end_ms <= duration_ms
            assert free.get(each.speaker, 0) <= each.span.start_ms
            latest, free[each.speaker] = each.span.start_ms, each.span.end_ms
    return True


def test_numbers_are_spelled_in_the_language_of_the_transcript():
    segment = [DecodedSegment("quiero 3 .", 0.0, 1.0)]
    assert [each.text for each in assembled(segment, language="spa").utterances] == ["quiero tres ."]


def test_disfluencies_and_times_are_kept():
    transcript = assembled(
        [DecodedSegment("&-um I want [/] want it .", 0.5, 2.0), DecodedSegment("the cat [//] the dog .", 2.5, 4.0)]
    )
    assert [(each.text, each.span) for each in transcript.utterances] == [
        ("&-um I want [/] want it .", TimeSpan(1500, 3000)),
        ("the cat [//] the dog .", TimeSpan(3500, 5000)),
    ]
    assert valid(transcript, 10_000)
    assert transcript.media == "visit" and transcript.participants["PAR"].role == "Participant"


def test_several_utterances_share_their_segments_by_length():
    transcript = assembled([DecodedSegment("no . I do not want to go there .", 0.0, 4.0)])
    first, second = (each.span for each in transcript.utterances)
    assert first.start_ms == 1000 and first.end_ms == second.start_ms and second.end_ms == 5000
    assert first.duration_ms < second.duration_ms / 3


def test_no_speech_gives_a_valid_empty_transcript():
    for windows, reason in (([], "no speech"), ([TimeSpan(0, 1000)], "no words")):
        empty = [DecodedWindow(())] * len(windows)
        header = TranscriptHeader("quiet", comments=("how it was made",))
        transcript = assemble(windows, empty, labels=Labels(), duration_ms=5000, header=header).transcript
        assert transcript.utterances == [] and valid(transcript, 5000)
        text = chat.serialize(transcript)
        assert reason in text and "how it was made" in text


def test_a_window_that_was_stopped_is_named():
    cut = [DecodedWindow((DecodedSegment("a .", 0.0, 1.0),), complete=False)]
    header = TranscriptHeader("visit")
    made = assemble([TimeSpan(2500, 9000)], cut, labels=Labels(), duration_ms=9000, header=header)
    text = chat.serialize(made.transcript)
    assert "stopped the model at 2.5 to 9.0 s" in text


def test_roles_the_model_wrote_become_participants():
    segments = [
        DecodedSegment("*CHI: &-um dog .", 0.0, 1.0),
        DecodedSegment("*MOT: a dog ?", 0.8, 2.0),
        DecodedSegment("*ZZZ: hm .", 3.0, 4.0),
    ]
    transcript = assembled(segments, labels=Labels("chat", roles=True))
    assert {code: each.role for code, each in transcript.participants.items()} == {
        "CHI": "Target_Child",
        "MOT": "Mother",
        "ZZZ": "Unidentified",
    }
    assert valid(transcript, 10_000)
    assert transcript.utterances[1].span.start_ms < transcript.utterances[0].span.end_ms


def test_the_heading_is_kept():
    transcript = assembled(
        [DecodedSegment("si .", 0, 1)], language="spa", speaker="CHI", role="Target_Child", corpus="Visits"
    )
    child = transcript.participants["CHI"]
    assert (child.role, child.language, child.corpus) == ("Target_Child", "spa", "Visits")
    assert transcript.languages == ["spa"] and valid(transcript, 10_000)


def test_a_recording_too_short_for_its_utterances_keeps_the_words():
    drafts = [utterance("PAR", f"{word} .", TimeSpan(5, 9)) for word in ("a", "b", "c", "d")]
    placed = place_utterances(drafts, 3)
    assert [each.text for each in placed] == ["a .", "b .", "c .", "d ."]
    assert [each.span for each in placed] == [None, TimeSpan(0, 1), TimeSpan(1, 2), TimeSpan(2, 3)]


times = st.floats(0, 8, allow_nan=False)
texts = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            ["I", "want", "&-um", "&+fr", "[/]", "[//]", "<", ">", ".", "?", "+...", "*CHI:", "12", "xxx", "@", "\x15"]
        ),
        max_size=12,
    ).map(" ".join),
)


@given(
    rows=st.lists(st.tuples(texts, times, times), max_size=8),
    duration_ms=st.integers(9000, 20_000),
    style=st.sampled_from(STYLES),
    roles=st.booleans(),
)
def test_whatever_is_written_becomes_valid_chat(rows, duration_ms, style, roles):
    segments = [DecodedSegment(text, min(a, b), max(a, b)) for text, a, b in rows]
    windows = [TimeSpan(0, 8000), TimeSpan(duration_ms - 8000, duration_ms)]
    transcript = assembled(segments, labels=Labels(style, roles=roles), windows=windows, duration_ms=duration_ms)
    assert valid(transcript, duration_ms)


def test_numbers_are_spelled_in_the_language_of_the_recording():
    (made,) = assembled([DecodedSegment("dos 3 .", 0.0, 1.0)], language="spa").utterances
    assert made.text == "dos tres ."
