"""Files as real programs write them: fields left out, null values, other units and encodings, merged documents."""

from __future__ import annotations

import json

import pytest

from lsa_whisper.formats.reading import read_transcripts

SLOTS = "".join(f'<TIME_SLOT TIME_SLOT_ID="t{at}" TIME_VALUE="{at}000"/>' for at in range(4))


def eaf(*tiers, encoding="UTF-8"):
    head = f'<?xml version="1.0" encoding="{encoding}"?>\n<ANNOTATION_DOCUMENT>'
    return f"{head}<TIME_ORDER>{SLOTS}</TIME_ORDER>{''.join(tiers)}</ANNOTATION_DOCUMENT>".encode(encoding)


def tier(name, *said, ids=""):
    parts = (
        f'<ANNOTATION><ALIGNABLE_ANNOTATION {ids} TIME_SLOT_REF1="t{at}" TIME_SLOT_REF2="t{at + 1}">'
        f"<ANNOTATION_VALUE>{text}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>"
        for at, text in enumerate(said)
    )
    return f'<TIER TIER_ID="{name}">{"".join(parts)}</TIER>'


def textgrid(**tiers):
    lines = ['File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n9\n<exists>\n', str(len(tiers))]
    for name, said in tiers.items():
        lines += ['"IntervalTier"', f'"{name.replace("_", " ")}"', "0", "9", str(len(said))]
        lines += [f'{at}\n{at + 1}\n"{text}"' for at, text in enumerate(said)]
    return "\n".join(lines)


def item(word, start, channel):
    return {
        "type": "pronunciation",
        "start_time": str(start),
        "end_time": str(start + 0.4),
        "channel_label": f"ch_{channel}",
        "alternatives": [{"content": word}],
    }


HELLO, BYE = ("PAR", "hello there .", (1000, 2000)), ("PAR", "bye now .", (3000, 4000))
SEGMENTS = [("00:00:01,000", "00:00:02,000", " Hello there."), ("00:00:03,000", "00:00:04,000", " Bye now.")]
SENTENCES = [{"start": 1.0, "end": 2, "text": "Hello there."}, {"start": 3, "end": 4, "text": "Bye now."}]
TWICE = 'ANNOTATION_ID="a1"'
FILES = {
    "whisper.cpp without offsets.json": (
        {"transcription": [{"timestamps": {"from": start, "to": end}, "text": text} for start, end, text in SEGMENTS]},
        [HELLO, BYE],
    ),
    "whisper.cpp, speaker on both channels.json": (
        {"transcription": [{"offsets": {"from": 1000, "to": 2000}, "text": " Hello there.", "speaker": "?"}]},
        [HELLO],
    ),
    "Deepgram with paragraphs only.json": (
        {"results": {"channels": [{"alternatives": [{"words": None, "paragraphs": {"paragraphs": [
            {"sentences": SENTENCES[:1]}, {"speaker": None, "sentences": SENTENCES[1:]}]}}]}], "utterances": None}},
        [HELLO, BYE],
    ),
    "AWS with channels.json": (
        {"results": {"transcripts": [], "speaker_labels": None, "items": [item("Yes", 1, 0), item("no", 2, 1)]}},
        [("PAR0", "yes .", (1000, 1400)), ("PAR1", "no .", (2000, 2400))],
    ),
    "Azure without phrases.json": (
        {"phrases": [], "combinedPhrases": [{"text": "Hello there."}]},
        [("PAR", "hello there .", None)],
    ),
    "AssemblyAI with utterances only.json": (
        {"text": "", "words": None, "utterances": [
            {"speaker": "A", "start": 1000, "end": 2000, "text": "Yes.", "words": []},
            {"speaker": "B", "words": [{"text": "No.", "start": 3000, "end": 3500, "speaker": "B"}]}]},
        [("PAR0", "yes .", (1000, 2000)), ("PAR1", "no .", (3000, 3500))],
    ),
    "times of clocks.json": (
        {"segments": [{"start": start, "end": end, "text": text} for start, end, text in SEGMENTS]},
        [HELLO, BYE],
    ),
    "Label Studio, cancelled first.json": (
        [{"data": {"audio": "a.wav"}, "annotations": [
            {"was_cancelled": True, "result": [{"value": {"start": 0, "end": 1, "text": ["no"]}}]},
            {"result": []},
            {"result": [{"value": {"start": 1, "end": 2, "text": ["Hello there."]}}]}]}],
        [HELLO],
    ),
    "Gladia without words.json": (
        {"result": {"transcription": {"full_transcript": "", "languages": [], "utterances": [
            {"start": 1, "end": 2, "text": "Hello there.", "words": None, "speaker": None},
            {"text": "", "words": []}]}}},
        [HELLO],
    ),
    "Gladia without utterances.json": (
        {"payload": {"transcription": {"full_transcript": "Hello there."}}},
        [("PAR", "hello there .", None)],
    ),
    "podcast.json": (
        {"version": "1.0.0", "segments": [
            {"speaker": "Ann", "startTime": 1.0, "endTime": 2.0, "body": "Hello there."},
            {"speaker": "Bob", "startTime": 3.0, "endTime": 4.0, "body": "Bye now."}]},
        [("PAR0", *HELLO[1:]), ("PAR1", *BYE[1:])],
    ),
    "insanely-fast-whisper.json": (
        {"text": "x", "chunks": [{"timestamp": [1.0, 2.0], "text": " Hello there."}], "speakers": [
            {"speaker": "SPEAKER_00", "timestamp": [1.0, 2.0], "text": " Hello there."},
            {"speaker": "SPEAKER_01", "timestamp": [3.0, 4.0], "text": " Bye now."}]},
        [("PAR0", *HELLO[1:]), ("PAR1", *BYE[1:])],
    ),
    "a service that runs Whisper.json": (
        {"id": "a", "status": "succeeded", "output": {"detected_language": "en", "segments": [
            {"start": 1.0, "end": 2.0, "text": " Hello there."}]}},
        [HELLO],
    ),
    "YouTube.json3": (
        {"events": [
            {"tStartMs": 0, "dDurationMs": 4000, "id": 1},
            {"tStartMs": 1000, "dDurationMs": 1000, "segs": [{"utf8": "Hello"}, {"utf8": " there.", "tOffsetMs": 300}]},
            {"tStartMs": 2000, "aAppend": 1, "segs": [{"utf8": "\n"}]},
            {"tStartMs": 3000, "dDurationMs": 1000, "segs": [{"utf8": "Bye now."}]}]},
        [HELLO, BYE],
    ),
    "Webex.vtt": (
        'WEBVTT\n\n1 "Ann Lee" (12)\n00:00:01.000 --> 00:00:02.000\nHello there.\n\n'
        '2 "Bob" (34)\n00:00:03.000 --> 00:00:04.000\nBye now.\n',
        [("PAR0", *HELLO[1:]), ("PAR1", *BYE[1:])],
    ),
    "seconds.tsv": ("start\tend\ttext\n1\t2.0\tHello there.\n3\t4.0\tBye now.\n", [HELLO, BYE]),
    "tab in the text.tsv": ("\ufeffstart\tend\ttext\r\n1000\t2000\tHello\tthere.\r\n", [HELLO]),
    "tags in braces.srt": ("1\n00:00:01,000 --> 00:00:02,000\n{b}Hello{/b} {i}there{/i}.\n", [HELLO]),
    "Zoom as text.txt": (
        "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\nAnn: Yes.\n\n2\n00:00:03.000 --> 00:00:04.000\nBob: No.\n",
        [("PAR0", "yes .", (1000, 2000)), ("PAR1", "no .", (3000, 4000))],
    ),
    "subtitles as text.txt": ("1\r\n00:00:01,000 --> 00:00:02,000\r\nHello there.\r\n", [HELLO]),
    "Rev with crosstalk.txt": (
        "Ann (00:01):\nYes [crosstalk 00:06] no [door slams 00:07].\n\nBob (00:09):\nNo.\n",
        [("PAR0", "yes xxx no &=door_slams .", (1000, 9000)), ("PAR1", "no .", None)],
    ),
    "times of parts.ttml": (
        '<tt><body begin="0.5s"><div begin="500ms"><p end="1s" begin="0s">Hello there.</p>'
        '<p><span begin="2s" end="2.5s">Bye</span> <span begin="2.5s" dur="0.5s">now.</span></p></div></body></tt>',
        [HELLO, BYE],
    ),
    "time without a number.otr": (
        {"text": '<p><span class="timestamp" data-timestamp="1">0:01</span>Hello there.</p>'
                 '<p><span class="timestamp" data-timestamp="">0:02</span>Bye now.</p>', "media": None},
        [HELLO, ("PAR", "bye now .", None)],
    ),
    "one tier, named default.eaf": (eaf(tier("default", "", "Hello there."), encoding="UTF-16"), [
        ("PAR0", "hello there .", (1000, 2000))]),
    "without identifiers.eaf": (eaf(tier("A", "Yes.", "No.")), [
        ("PAR0", "yes .", (0, 1000)), ("PAR0", "no .", (1000, 2000))]),
    "identifiers used twice.eaf": (eaf(tier("A", "Yes.", ids=TWICE), tier("B", "No.", ids=TWICE)), [
        ("PAR0", "yes .", (0, 1000)), ("PAR1", "no .", (0, 1000))]),
    "utterances beside words.TextGrid": (
        textgrid(**{"MOT_-_utterances": ["Hello there.", ""], "MOT_-_words": ["hello", "there"], "MOT_phones": ["HH"]}),
        [("MOT", "hello there .", (0, 1000))],
    ),
    "tiers about words of another.TextGrid": (
        textgrid(**{"MOT": ["Hello there.", "silence"], "act@MOT": ["points"], "MOT_gesture": ["nods"]}),
        [("MOT", "hello there .", (0, 1000))],
    ),
    "WebMAUS.TextGrid": (
        textgrid(**{"ORT-MAU": ["hello", "there", "<p:>"], "KAN-MAU": ["h@", "DE", ""], "MAU": ["h", "@"]}),
        [("PAR", "hello there .", (0, 2000))],
    ),
    "WebMAUS with sentences.TextGrid": (
        textgrid(**{"TRN": ["hello there"], "ORT-MAU": ["hello there"], "KAN-MAU": ["h@"], "MAU": ["h"]}),
        [("TRN", "hello there .", (0, 1000))],
    ),
    "phones of a speaker.TextGrid": (
        textgrid(**{"MOT": ["Hello there."], "MOT-phones": ["h"]}), [("MOT", "hello there .", (0, 1000))],
    ),
    "tiers of sounds.TextGrid": (
        textgrid(**{"Utterance": ["Hello there."], "Word": ["hello"], "Syllable": ["S"], "A_Gesture": ["p"]}),
        [("PAR0", "hello there .", (0, 1000))],
    ),
    "names of ELAN.TextGrid": (
        textgrid(**{"tx@MOT": ["Hello there."], "act@MOT": ["points"]}),
        [("MOT", "hello there .", (0, 1000))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_as_programs_write_them(name, tmp_path):
    content, expected = FILES[name]
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    found = read_transcripts(tmp_path / name)[0].transcript
    spans = (each.span and (each.span.start_ms, each.span.end_ms) for each in found.utterances)
    said = [(each.speaker, each.text, span) for each, span in zip(found.utterances, spans, strict=True)]
    assert said == expected


def test_turns_of_whisper_cpp_are_not_events_and_times_that_are_not_read_are_told(tmp_path):
    offsets = [{"from": 0, "to": 1000}, {"from": 1000, "to": 2000}]
    texts = ["Hello [SPEAKER_TURN]", "Bye now."]
    segments = [
        {"offsets": at, "text": text, "speaker_turn_next": text != texts[1]}
        for at, text in zip(offsets, texts, strict=True)
    ]
    (tmp_path / "a.json").write_text(json.dumps({"transcription": segments}))
    (tmp_path / "b.json").write_text(json.dumps([{"key": "a", "text": "Hello", "timestamp": [[1, 300]]}]))
    found, other = (read_transcripts(tmp_path / name)[0] for name in ("a.json", "b.json"))
    assert [each.text for each in found.transcript.utterances] == ["hello .", "bye now ."]
    assert found.notes == ("places where another speaker begins, whom the file does not name: 1",)
    assert any("times are of a form that is not read" in note for note in other.notes)


@pytest.mark.parametrize("suffix", [" Wörter", "-words", " - mots", "_Blick", "-Übersetzung", " traducción"])
@pytest.mark.parametrize("base", ["CHI", "Ann-utterance", "Ann Lee"])
def test_a_tier_named_after_a_speaker_does_not_speak(base, suffix, tmp_path):
    tiers = {base: ["Hello there.", "", "Yes."], f"{base.removesuffix('-utterance')}{suffix}": ["so"], "Ann B": ["Hi."]}
    (tmp_path / "a.TextGrid").write_text(textgrid(**tiers))
    found = read_transcripts(tmp_path / "a.TextGrid")[0].transcript
    assert [turn.text for turn in found.utterances] == ["hello there .", "hi .", "yes ."]
    assert [tier.name[:2] for tier in found.utterances[0].tiers] == ["%x" if suffix[1] in "BÜt" else "%w"]


@pytest.mark.parametrize("suffix", [" Lee", " 2", "-B"])
def test_a_tier_named_after_a_speaker_speaks_outside_the_speaker_s_utterances(suffix, tmp_path):
    (tmp_path / "a.TextGrid").write_text(textgrid(**{"Ann": ["Hello.", "", "Yes."], f"Ann{suffix}": ["", "Hi."]}))
    found = read_transcripts(tmp_path / "a.TextGrid")[0].transcript
    assert [turn.speaker for turn in found.utterances] == ["PAR0", "PAR1", "PAR0"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["Uh,", "<laugh>", "no."], [("uh", 0), ("no", 2000)]),
        (["Uh,", "[laughs]", "no."], [("uh", 0), ("no", 2000)]),
        (["Uh,", "<unk>", "no."], [("uh", 0), ("xxx", 1000), ("no", 2000)]),
    ],
)
def test_sounds_that_recognizers_name_have_no_word_time(words, expected, tmp_path):
    timed = [{"word": word, "start": at, "end": at + 0.5} for at, word in enumerate(words)]
    (tmp_path / "a.json").write_text(json.dumps({"segments": [{"start": 0, "end": 3, "words": timed}]}))
    (found,) = read_transcripts(tmp_path / "a.json")[0].transcript.utterances
    assert [(word, at.start_ms) for word, at in found.word_times] == expected
