"""The output of other recognizers and editors: the words, their times and their speakers, each in its own form."""

from __future__ import annotations

import json
import re

import pytest

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading import read_transcripts
from lsa_whisper.formats.reading.recognizers import RECOGNIZERS

WORDS = [("uh", 0.1, 0.3), ("the", 0.4, 0.6), ("the", 0.7, 0.9), ("dog", 1.0, 1.2), ("ran", 1.3, 1.5)]
ENDED = [*WORDS[:-1], ("ran.", 1.3, 1.5)]


def read(tmp_path, content, name="a.json"):
    (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return read_transcripts(tmp_path / name)[0]


def said(found):
    spans = ((each.span.start_ms, each.span.end_ms) if each.span else None for each in found.transcript.utterances)
    return [(each.speaker, each.text, span) for each, span in zip(found.transcript.utterances, spans, strict=True)]


def lines(found):
    return [f"{each.speaker}: {each.text}" for each in found.transcript.utterances]


def words_of(found):
    return [word for each in found.transcript.utterances for word in each.verbatim()]


def ms(seconds):
    return round(1000 * seconds)


def listed(words=ENDED, *, text="word", start="start", end="end", unit=float, **more):
    """Return ``words`` as objects with the names that a form has for text and times."""
    return [{text: word, start: unit(at), end: unit(until), **more} for word, at, until in words]


def tokens():
    pieces = [" Uh", ",", " the", " the", " do", "g", " ran", "."]
    return [{"text": text, "offsets": {"from": at * 100, "to": at * 100 + 50}} for at, text in enumerate(pieces)]


def start_of(seconds):
    return {"seconds": int(seconds), "nanos": round(seconds % 1 * 1e9)}


FORMS = {
    "whisper.cpp": {
        "result": {"language": "en"},
        "transcription": [{"offsets": {"from": 100, "to": 1500}, "text": " Uh, the the dog ran."}],
    },
    "whisper.cpp, words": {
        "transcription": [{"offsets": {"from": ms(s), "to": ms(e)}, "text": f" {w}"} for w, s, e in ENDED]
    },
    "Deepgram": {"results": {"channels": [{"alternatives": [
        {"words": [*listed(WORDS[:-1]), {"word": "ran", "punctuated_word": "ran.", "start": 1.3, "end": 1.5}]}
    ]}]}},
    "AWS": {
        "jobName": "a",
        "results": {
            "transcripts": [{"transcript": "uh the the dog ran."}],
            "items": [
                {"type": "pronunciation", "start_time": str(s), "end_time": str(e), "alternatives": [{"content": w}]}
                for w, s, e in WORDS
            ]
            + [{"type": "punctuation", "alternatives": [{"content": "."}]}],
        },
    },
    "Google": {"results": [
        {"languageCode": "en-us",
         "alternatives": [{"words": listed(start="startTime", end="endTime", unit="{}s".format)}]}
    ]},
    "Google, other names": {"response": {"results": [{"alternatives": [
        {"words": [{"word": w, "start_time": start_of(s), "endTime": f"{e}s"} for w, s, e in ENDED]}
    ]}]}},
    "Watson": {"results": [{"alternatives": [{"timestamps": [list(word) for word in ENDED], "transcript": "x"}]}]},
    "Azure, batch": {"recognizedPhrases": [
        {"offset": "PT0.1S", "duration": "PT1.4S", "nBest": [
            {"display": "Uh the the dog ran.",
             "words": [{"word": w, "offset": f"PT{s}S", "duration": "PT0.2S"} for w, s, _ in WORDS]}
        ]}
    ]},
    "Azure, fast": {"phrases": [
        {"offsetMilliseconds": 100, "durationMilliseconds": 1400, "text": "Uh the the dog ran.",
         "words": [{"text": w, "offsetMilliseconds": ms(s), "durationMilliseconds": 200} for w, s, _ in ENDED]}
    ]},
    "Azure, one utterance": {
        "DisplayText": "Uh the the dog ran.",
        "Offset": 1000000,
        "Duration": 14000000,
        "NBest": [{"Display": "Uh the the dog ran."}],
    },
    "Rev.ai": {"monologues": [
        {"elements": [{"type": "text", "value": w, "ts": s, "end_ts": e} for w, s, e in WORDS]
         + [{"type": "punct", "value": " "}, {"type": "punct", "value": "."}]}
    ]},
    "Speechmatics": {
        "metadata": {"transcription_config": {"language": "en"}},
        "results": [
            {"type": "word", "start_time": s, "end_time": e, "alternatives": [{"content": w, "speaker": "UU"}]}
            for w, s, e in WORDS
        ]
        + [{"type": "punctuation", "start_time": 1.5, "end_time": 1.5, "alternatives": [{"content": "."}]}],
    },
    "OpenAI": {"text": "x", "words": listed()},
    "ElevenLabs": {
        "language_code": "eng",
        "words": [*listed(text="text", type="word"), {"text": " ", "type": "spacing", "start": 1.5, "end": 1.5}],
    },
    "AssemblyAI": {"audio_duration": 2, "words": listed(text="text", unit=ms)},
    "Vosk": {"result": listed(conf=1), "text": "uh the the"},
    "Deepgram, utterances": {"results": {"utterances": [
        {"start": 0.1, "end": 1.5, "transcript": "Uh, the the dog ran.", "words": listed()}
    ]}},
    "Google, batch": {"results": {"gs://a/b.wav": {"transcript": {"results": [
        {"alternatives": [{"words": listed(start="startOffset", end="endOffset", unit="{}s".format)}]}
    ]}}}},
    "Gladia": {
        "id": "a",
        "status": "done",
        "result": {
            "metadata": {"audio_duration": 2.0},
            "transcription": {
                "full_transcript": "Uh, the the dog ran.",
                "languages": ["en"],
                "utterances": [
                    {"start": 0.1, "end": 1.5, "text": "Uh, the the dog ran.", "speaker": None, "channel": 0,
                     "words": [{"word": f" {w}", "start": s, "end": e, "confidence": 0.9} for w, s, e in ENDED]}
                ],
            },
        },
    },
    "Gladia, older": {
        "prediction": [
            {"words": [{"word": f" {w}", "time_begin": s, "time_end": e, "confidence": 0.9} for w, s, e in ENDED],
             "language": "en", "transcription": "Uh, the the dog ran.", "confidence": 0.9, "time_begin": 0.1,
             "time_end": 1.5, "speaker": "not_activated", "channel": "channel_0"}
        ],
        "prediction_raw": {"metadata": {"nb_channels": 1}},
    },
    "Sonix": {
        "name": "a.wav",
        "transcript": [
            {"speaker": None, "start_time": 0.1, "end_time": 1.5, "text": "Uh, the the dog ran.",
             "words": listed(text="text", start="start_time", end="end_time")}
        ],
    },
    "Fireflies": {
        "data": {"transcript": {"title": "a", "sentences": [
            {"index": 0, "speaker_name": None, "text": "Uh, the the dog ran.", "start_time": 0.1, "end_time": 1.5}
        ]}}
    },
    "Fireflies, list": [{"sentence": "Uh, the the dog ran.", "startTime": "0.1", "endTime": "1.5"}],
    "tl;dv": {"data": [{"speaker": None, "text": "Uh, the the dog ran.", "startTime": 0.1, "endTime": 1.5}]},
    "Happy Scribe": [
        {"speaker": None, "words": listed(text="text", start="data_start", end="data_end", type="text")}
    ],
    "AWS Call Analytics": {
        "JobStatus": "COMPLETED",
        "LanguageCode": "en-US",
        "Transcript": [
            {"Content": "Uh, the the dog ran.", "Items": [{"Content": "Uh", "BeginOffsetMillis": 100}], "Id": "a",
             "BeginOffsetMillis": 100, "EndOffsetMillis": 1500, "Sentiment": "NEUTRAL"}
        ],
    },
    "Azure Video Indexer": {
        "summarizedInsights": None,
        "videos": [{"insights": {"ocr": [{"text": "EXIT", "instances": []}], "transcript": [
            {"id": 1, "text": "Uh, the the dog ran.", "language": "en-US",
             "instances": [{"adjustedStart": "0:00:00.1", "start": "0:00:00.1", "end": "0:00:01.5"}]}
        ]}}],
    },
    "Premiere": {
        "language": "en-us",
        "segments": [
            {"start": 0.1, "duration": 1.4, "language": "en-us",
             "words": [{"text": w, "start": s, "duration": e - s, "eos": False, "type": "word"} for w, s, e in ENDED]}
        ],
        "speakers": [{"id": "a1", "name": "Ann"}],
    },
    "NeMo, words": listed(),
    "WhisperX, words": {"word_segments": listed()},
    "Riva": {"results": [{"alternatives": [
        {"transcript": "uh the the dog ran.", "words": listed(start="startTime", end="endTime", unit=ms)}
    ]}]},
    "Soniox": {
        "text": "uh the the dog ran.",
        "tokens": [
            {"text": text, "start_ms": ms(s), "end_ms": ms(e), "confidence": 0.9}
            for w, s, e in WORDS for text in (f" {w[0]}", w[1:])
        ] + [{"text": ".", "start_ms": 1500, "end_ms": 1500}, {"text": "<end>"}],
    },
    "Azure, list": [
        {"RecognitionStatus": "Success", "Offset": 1000000, "Duration": 14000000, "DisplayText": "Uh, the the dog ran."}
    ],
}  # fmt: skip
FORMS |= {
    "Vosk, alternatives": {"alternatives": [{"confidence": 200.0, "text": "x", "result": FORMS["Vosk"]["result"]}]},
    "AssemblyAI, sentences": {
        "audio_duration": 3,
        "sentences": [{"text": "x", "start": 100, "end": 1500, "words": FORMS["AssemblyAI"]["words"]}],
    },
    "Google, inline batch": {
        "results": {"gs://a/b.wav": {"inlineResult": FORMS["Google, batch"]["results"]["gs://a/b.wav"]}}
    },
    "NeMo, timestamp": {"text": "uh", "timestamp": {"word": FORMS["NeMo, words"], "segment": []}},
}
WITHOUT_WORD_TIMES = (
    "whisper.cpp",
    "Azure, one utterance",
    "Azure, list",
    "Fireflies",
    "Fireflies, list",
    "tl;dv",
    "AWS Call Analytics",
    "Azure Video Indexer",
)


@pytest.mark.parametrize("name", FORMS)
def test_words_and_times(name, tmp_path):
    found = read(tmp_path, FORMS[name])
    assert said(found) == [("PAR", "&-uh the [/] the dog ran .", (100, 1500))]
    assert found.transcript.languages == ["eng"]
    if name not in WITHOUT_WORD_TIMES:
        times = [(word, at.start_ms, at.end_ms) for word, at in found.transcript.utterances[0].word_times]
        assert times == [(word, round(1000 * start), round(1000 * end)) for word, start, end in WORDS]


SHORT = [{"text": word, "word": word, "start": start, "end": end} for word, start, end in WORDS]
WHOLE = "Uh, the the dog ran. We all slept."
LACKING = {
    "AssemblyAI": {"acoustic_model": "best", "text": WHOLE, "words": SHORT},
    "OpenAI": {"text": WHOLE, "words": SHORT},
    "Whisper": {"text": WHOLE, "segments": [{"text": "Uh, the the dog ran.", "start": 0, "end": 2}]},
    "Deepgram": {"results": {"channels": [{"alternatives": [{"transcript": WHOLE, "words": SHORT}]}]}},
    "Google": {
        "results": [
            {"alternatives": [{"transcript": WHOLE, "words": [{"word": "Uh,", "startTime": "0s", "endTime": "1s"}]}]},
            {"alternatives": [{"transcript": "", "words": [{"word": "the the dog ran", "endTime": "2s"}]}]},
        ]
    },
    "AWS": {
        "results": {
            "transcripts": [{"transcript": WHOLE}],
            "items": [
                {"start_time": str(start), "end_time": str(end), "alternatives": [{"content": word}]}
                for word, start, end in WORDS
            ],
        }
    },
}


@pytest.mark.parametrize("name", LACKING)
def test_words_that_the_whole_text_has_alone_are_lost(name, tmp_path):
    assert read(tmp_path, LACKING[name]).lost_words == 3
    complete = json.dumps(LACKING[name]).replace(" We all slept.", "")
    assert read(tmp_path, complete).lost_words == 0


def test_a_whole_text_in_one_piece_loses_nothing(tmp_path):
    words = [{"text": sign, "start": at, "end": at + 1} for at, sign in enumerate("我喜欢狗")]
    assert read(tmp_path, {"text": "我喜欢狗。", "words": words, "language_code": "zh"}).lost_words == 0


def test_tokens_of_whisper_cpp_are_words(tmp_path):
    segment = {"offsets": {"from": 0, "to": 800}, "text": " Uh, the the dog ran.", "tokens": tokens()}
    found = read(tmp_path, {"transcription": [segment]})
    assert [word for word, _ in found.transcript.utterances[0].word_times] == ["uh", "the", "the", "dog", "ran"]


def test_segments_of_whisper_cpp_that_divide_a_word_leave_it_whole(tmp_path):
    pieces = [" And", " fellow", " Americ", "ans", ",", " ask", " what", "'s", " up", "."]
    rows = [{"offsets": {"from": at * 100, "to": at * 100 + 100}, "text": text} for at, text in enumerate(pieces)]
    (utterance,) = read(tmp_path, {"transcription": rows}).transcript.utterances
    assert utterance.text == "and fellow Americans ask what's up ."
    assert [span.duration_ms for _, span in utterance.word_times] == [100, 100, 300, 100, 200, 200]
    long = [(" And so my fell", 0), ("ow Americans.", 500), (" Ask not.", 900)]
    rows = [{"offsets": {"from": at, "to": at + 400}, "text": text} for text, at in long]
    utterances = read(tmp_path, {"transcription": rows}).transcript.utterances
    assert [each.text for each in utterances] == ["and so my fellow Americans .", "ask not ."]


def test_words_without_marks_have_those_of_the_whole_text(tmp_path):
    words = listed([("Hello", 0.1, 0.4), ("doctor", 0.5, 0.9), ("Hi", 1.5, 1.7), ("there", 1.8, 2.1)])
    found = read(tmp_path, {"language": "english", "text": "Hello, doctor. Hi there?", "words": words})
    assert [each.text for each in found.transcript.utterances] == ["hello doctor .", "hi there ?"]
    assert [span.start_ms for each in found.transcript.utterances for _, span in each.word_times] == [
        100,
        500,
        1500,
        1800,
    ]


@pytest.mark.parametrize("name", ["Deepgram", "AWS", "Speechmatics", "ElevenLabs", "Rev.ai", "Sonix"])
def test_speakers_are_told_apart(name, tmp_path):
    text = json.dumps(FORMS[name])
    labels = {
        "Deepgram": ('"word": "dog"', '"speaker": 1, "word": "dog"'),
        "AWS": ('"start_time": "1.0"', '"speaker_label": "spk_1", "start_time": "1.0"'),
        "Speechmatics": ('"dog", "speaker": "UU"', '"dog", "speaker": "S2"'),
        "Sonix": ('{"text": "dog"', ']}, {"speaker": "B", "words": [{"text": "dog"'),
        "ElevenLabs": ('"text": "dog"', '"speaker_id": "s2", "text": "dog"'),
        "Rev.ai": (
            '{"type": "text", "value": "dog"',
            ']}, {"speaker": 1, "elements": [{"type": "text", "value": "dog"',
        ),
    }
    old, new = labels[name]
    assert old in text
    text = (
        text.replace(old, new, 1)
        .replace(', ]}, {"speaker"', ']}, {"speaker"')
        .replace('"text": "Uh, the the dog ran.", "words"', '"words"')
    )
    found = read(tmp_path, text)
    assert len({each.speaker for each in found.transcript.utterances}) == 2
    assert words_of(found) == [word for word, *_ in WORDS]


@pytest.mark.parametrize(
    ("name", "label", "speaker"),
    [("AWS Call Analytics", '"ParticipantRole": "AGENT", "Content"', "AGENT"),
     ("Azure Video Indexer", '"speakerId": 1, "text"', "speaker_1"),
     ("Premiere", '"speaker": "a1", "words"', "Ann")],
)  # fmt: skip
def test_turns_have_their_speakers(name, label, speaker, tmp_path):
    key = label.rpartition(" ")[2]
    found = read(tmp_path, re.sub(rf'{key}: (?=\[|"Uh)', f"{label}: ", json.dumps(FORMS[name])))
    assert speaker in next(line.value for line in found.transcript.headers if line.name == "@Participants")


@pytest.mark.parametrize("name", FORMS)
def test_damaged_json_is_a_sentence(name, tmp_path):
    text = json.dumps(FORMS[name])
    damages = [("0.1", '"x"'), ("0.1", "-3"), ("100", '"x"'), ("PT0.1S", "soon"), ("{", "[1, {"), ("1000000", "[]")]
    for old, new in damages:
        try:
            read(tmp_path, text.replace(old, new, 1))
        except FormatError as error:
            assert str(error).startswith(str(tmp_path)) and "\n" not in str(error)


@pytest.mark.parametrize("place", range(40))
def test_fields_of_any_type_raise_no_other_error(place, tmp_path):
    values = [None, 7, "x", [], {}, [None], [[]], {"a": 1}, True, -1.5]
    for name, form in FORMS.items():
        damaged = json.loads(json.dumps(form))
        holders = list(_holders(damaged))
        holder, key = holders[place % len(holders)]
        holder[key] = values[(place + len(name)) % len(values)]
        try:
            read(tmp_path, damaged)
        except FormatError as error:
            assert str(error).startswith(str(tmp_path))


def _holders(found):
    items = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in items:
        yield found, key
        yield from _holders(value)


def test_a_refusal_lists_what_is_read(tmp_path):
    with pytest.raises(FormatError) as refused:
        read(tmp_path, {"lines": []})
    assert all(name in str(refused.value) for name in (*RECOGNIZERS, "Label Studio", "NeMo"))
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(FormatError, match=r"\.trs.*\.ttml|\.ttml.*\.trs"):
        read_transcripts(tmp_path / "a.docx")


def test_words_without_times_keep_their_place(tmp_path):
    words = [{"word": "in", "start": 0.1, "end": 0.3}, {"word": "May"}, {"word": "we", "start": 0.6, "end": 0.8}]
    found = read(tmp_path, {"segments": [{"start": 0, "end": 1, "text": "in May we", "words": words}]})
    (tier,) = found.transcript.utterances[0].tiers
    assert tier.value.replace("\x15", "|") == "in |100_300| May we |600_800| ."


def item(text, start=None, end=None):
    return {"alternatives": [{"content": text}]} | ({"start_time": start, "end_time": end} if start else {})


def google(channel, words="", end=""):
    alternative = {"transcript": words, "words": [] if end else [{"word": words, "startTime": "1s", "endTime": "2s"}]}
    return {"alternatives": [alternative], "channelTag": channel} | ({"resultEndTime": end} if end else {})


REV = [{"type": "text", "value": "Yes", "timestamp": "00:00:01,500", "end_timestamp": "00:00:02,100"}]
PARTED = {
    "marks are elements of AWS": (
        {"results": {"items": [item("Yes", 1, 2), item("?"), item("No", 3, 4), item("!")]}},
        [("PAR", "yes ?", (1000, 2000)), ("PAR", "no !", (3000, 4000))],
    ),
    "marks are elements of Rev, whose people write clocks": (
        {"monologues": [{"speaker": 0, "elements": [*REV, {"type": "punct", "value": "?"}]}]},
        [("PAR0", "yes ?", (1500, 2100))],
    ),
    "channels of Google are speakers": (
        {"results": [google(1, "yes"), google(2, "no")]},
        [("PAR0", "yes .", (1000, 2000)), ("PAR1", "no .", (1000, 2000))],
    ),
    "results of Google end where they end, without words, too": (
        {"results": [google(1, "yes", "1.5s"), google(2, "no", "1s"), google(1, "so", "4s")]},
        [("PAR0", "yes .", (0, 1500)), ("PAR1", "no .", (0, 1000)), ("PAR0", "so .", (1500, 4000))],
    ),
    "results of Vosk in a list": (
        [{"result": [{"word": "yes", "start": 1, "end": 2, "conf": 1}], "text": "yes"}, {"text": ""}],
        [("PAR", "yes .", (1000, 2000))],
    ),
}


@pytest.mark.parametrize("name", PARTED)
def test_marks_channels_and_ends_that_stand_apart_are_kept(name, tmp_path):
    content, utterances = PARTED[name]
    assert said(read(tmp_path, content)) == utterances


def spoken(word, start, **more):
    return {"word": word, "text": word, "start": start, "end": start + 1} | more


TOLD_APART = {
    "numbers of segments": {"segments": [spoken("Yes.", 0, speaker=0), spoken("No.", 1, speaker=1)]},
    "names of segments": {"segments": [
        spoken("Yes.", 0, speaker={"name": "Ann"}), spoken("No.", 1, speaker_id="Bob")
    ]},
    "words of a segment": {
        "segments": [{"text": "Yes. No.", "words": [spoken("Yes.", 0, speaker="A"), spoken("No.", 1, speaker="B")]}]
    },
    "utterances of AssemblyAI": {
        "utterances": [
            {"speaker": who, "text": word, "words": [{"text": word, "start": at, "end": at + 1000}]}
            for who, word, at in (("A", "Yes.", 0), ("B", "No.", 1000))
        ]
    },
    "channels of Deepgram with several speakers": {
        "results": {"channels": [
            {"alternatives": [{"words": [spoken("yes.", 0, speaker=0), spoken("no.", 1, speaker=1)]}]},
            {"alternatives": [{"words": []}]},
        ]}
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD_APART)
def test_speakers_are_found_wherever_they_are_named(name, tmp_path):
    assert said(read(tmp_path, TOLD_APART[name])) == [("PAR0", "yes .", (0, 1000)), ("PAR1", "no .", (1000, 2000))]


def test_label_studio(tmp_path):
    result = [
        {"id": "a", "type": "labels", "value": {"start": 0.5, "end": 1.5, "labels": ["Child"]}},
        {"id": "a", "type": "textarea", "value": {"start": 0.5, "end": 1.5, "text": ["um a dog"]}},
        {"id": "b", "type": "textarea", "value": {"start": 2.5, "end": 3.5, "text": ["yes"]}},
    ]
    data = {"audio": "/data/upload/1/1a2b3c4d-visit.wav"}
    found = read(tmp_path, [{"id": 7, "data": data, "annotations": [{"result": result}]}])
    assert found.name == "visit"
    assert said(found) == [("CHI", "&-um a dog .", (500, 1500)), ("PAR", "yes .", (2500, 3500))]
    regions = [{"start": 0.5, "end": 1.5, "labels": ["Child"]}]
    short = read(tmp_path, [{"audio": "visit.wav", "transcription": "um a dog", "label": regions}])
    assert said(short) == [("CHI", "&-um a dog .", (500, 1500))]
    short = read(tmp_path, [{"audio": "visit.wav", "transcription": [{"text": ["um a dog"]}], "labels": regions}])
    assert said(short) == [("CHI", "&-um a dog .", (500, 1500))]


def test_hesitations_and_speakers_of_watson(tmp_path):
    words = [["the", 0.1, 0.3], ["%HESITATION", 0.3, 0.5], ["dog", 0.5, 0.9]]
    labels = [{"from": start, "to": end, "speaker": int(start > 0.4)} for _, start, end in words]
    found = read(tmp_path, {"results": [{"alternatives": [{"timestamps": words}]}], "speaker_labels": labels})
    assert [text for _, text, _ in said(found)] == ["the &-uh .", "dog ."]
    odd = read(tmp_path, {"results": [{"alternatives": [{"timestamps": words}]}], "speaker_labels": [{"from": []}]})
    assert [text for _, text, _ in said(odd)] == ["the &-uh dog ."]


def test_words_without_times_at_the_ends_of_a_segment_have_those_of_the_segment(tmp_path):
    words = [{"word": "one"}, {"word": "dog", "start": 1, "end": 2}, {"word": "20."}]
    found = read(tmp_path, {"segments": [{"start": 0, "end": 3, "text": "one dog 20.", "words": words}]})
    assert said(found) == [("PAR", "one dog twenty .", (0, 3000))]


TEXTS = {
    "a.tsv": "start\tend\ttext\n500\t1500\tUm, a dog.\n1500\t2500\tYes!\n",
    "a.ass": "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    "Dialogue: 0,0:00:00.50,0:00:01.50,D,,0,0,0,,{\\i1}Um,{\\i0}\\Na dog.\n"
    "Dialogue: 0,0:00:01.50,0:00:02.50,D,,0,0,0,,Yes!\n",
    "a.ttml": '<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en"><body><div>'
    '<p begin="00:00:00.500" end="00:00:01.500">Um,<br/>'
    '<span>a dog.</span></p><p begin="1500ms" dur="1s">Yes!</p></div></body></tt>',
    "a.trs": '<?xml version="1.0"?>\n<!DOCTYPE Trans SYSTEM "trans-14.dtd">\n<Trans><Episode><Section startTime="0.5" '
    'endTime="2.5"><Turn startTime="0.5" endTime="2.5"><Sync time="0.5"/>Um, a dog.<Sync time="1.5"/>'
    "Yes!</Turn></Section></Episode></Trans>",
    "a.html": "<html><head><title>x</title></head><body><p>visit</p><p>"
    '<a name="ts_500_1500_S00">S00: Um, a dog.</a></p><p><a name="ts_1500_2500_S00">Yes!</a></p></body></html>',
}


@pytest.mark.parametrize("name", TEXTS)
def test_other_text_formats(name, tmp_path):
    found = read(tmp_path, TEXTS[name], name)
    assert [(text, span) for _, text, span in said(found)] == [("&-um a dog .", (500, 1500)), ("yes !", (1500, 2500))]
    assert found.notes == ()


def test_a_turn_of_two_speakers_in_transcriber(tmp_path):
    found = read(
        tmp_path,
        '<Trans audio_filename="v"><Speakers><Speaker id="s1" name="Ann"/><Speaker id="s2" name="Bob"/></Speakers>'
        '<Turn speaker="s1 s2" startTime="0" endTime="2"><Sync time="0"/><Who nb="1"/>'
        'Hello.<Event desc="rire" type="noise" '
        'extent="instantaneous"/><Who nb="2"/>Hi.</Turn></Trans>',
        "a.trs",
    )
    assert lines(found) == ["PAR0: hello .", "PAR1: hi .", "PAR0: &=laughs ."]
    assert found.transcript.media == "v"


def test_words_that_transcriber_has_in_part_or_not_at_all(tmp_path):
    event = '<Event desc="pi" type="pronounce" extent="{}"/>'
    text = f"Au ci() cinéma {event.format('instantaneous')} et {event.format('begin')}là{event.format('end')}."
    turn = f'<Turn startTime="0" endTime="1"><Sync time="0"/>{text}</Turn>'
    (said,) = read(tmp_path, f'<Trans xml:lang="fr">{turn}</Trans>', "a.trs").transcript.utterances
    assert said.text == "au &+ci cinéma xxx et là ." and [tier.value for tier in said.tiers] == ["pi"]


REMARKS = {
    "a.trs": '<Trans><Topics><Topic id="t" desc="a remark"/></Topics><Turn startTime="0" endTime="1"><Sync time="0"/>'
    'Hi<Comment desc="not sure"/><Background type="music" level="high" time="0"/>.</Turn></Trans>',
    "a.ass": "[Events]\nFormat: Start, End, Name, Text\nComment: 0:00:00.00,0:00:01.00,,a remark\n"
    "Dialogue: 0:00:00.00,0:00:01.00,,Hi [music].\n",
    "a.vtt": "WEBVTT\n\nNOTE a\nremark\n\n00:00.000 --> 00:01.000\nHi [music].\n",
}


@pytest.mark.parametrize("name", REMARKS)
def test_remarks_are_comments(name, tmp_path):
    found = read(tmp_path, REMARKS[name], name)
    assert [text for _, text, _ in said(found)] == ["hi &=music ."]
    assert "a remark" in found.transcript.header("@Comment")
    assert name != "a.trs" or found.transcript.utterances[0].tiers[0].value == "not sure"


@pytest.mark.parametrize("name", ["a.trs", "a.ttml"])
def test_entities_are_refused(name, tmp_path):
    entity = '<!DOCTYPE Trans [<!ENTITY x SYSTEM "file:///etc/hostname">]><Trans>&x;</Trans>'
    with pytest.raises(FormatError, match="document type or entities"):
        read(tmp_path, entity, name)


@pytest.mark.parametrize("stamp", ["[00:00:01] ", ""])
def test_labels_and_stamps_of_noscribe_are_not_speech(stamp, tmp_path):
    text = (
        f'<p>from a.mp3</p><p><a name="ts_0_900_S00">{stamp}S00: Hi</a><a name="ts_950_999_S01"> //S01: Oh.//</a></p>'
    )
    found = read(tmp_path, text, "a.html")
    assert said(found) == [("S00", "hi .", (0, 900)), ("S01", "oh .", (950, 999))]
    assert found.transcript.header("@Comment") == "from a.mp3"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.ttml",
            '<tt xmlns="http://www.w3.org/ns/ttml"><body><p begin="00:00:00,500" end="00:00:02,500">'
            "- Here?<br/>- Yes!</p></body></tt>",
        ),
        ("a.ass", "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:00.50,0:00:02.50,- Here?\\N- Yes!\n"),
    ],
)
def test_dashes_in_other_subtitles_are_two_speakers(name, text, tmp_path):
    found = read(tmp_path, text, name)
    assert [(text, span) for _, text, span in said(found)] == [("here ?", (500, 1611)), ("yes !", (1611, 2500))]
    assert len({speaker for speaker, *_ in said(found)}) == 2


PLAIN = {
    "tabs": "Ann\tYes.\nBob\tNo.\nAnn\tOh.\n",
    "tags": "<Ann> Yes.\n<Bob> No.\n<Ann> Oh.\n",
    "numbers of lines": "1 Ann: Yes.\n2 Bob: No.\n3 Ann: Oh.\n",
    "title above": "Interview 3\nDate: 2020-01-01\nAnn: Yes.\nBob: No.\nAnn: Oh.\n",
}


@pytest.mark.parametrize("name", PLAIN)
def test_labels_of_lines_are_not_speech(name, tmp_path):
    found = read(tmp_path, PLAIN[name], "a.txt")
    assert lines(found) == ["PAR0: yes .", "PAR1: no .", "PAR0: oh ."]
    assert name != "title above" or found.transcript.header("@Comment") == "Interview 3"


def test_otranscribe(tmp_path):
    mark = '<span class="timestamp" data-timestamp="{}">0:0{}</span>'
    turns = [(0.5, " Ann: Um, a dog."), (1.5, "&nbsp;Bob: Yes!"), (3, "Ann: No.")]
    text = "".join(f"<p>{mark.format(time, int(time))}{said}</p>" for time, said in turns)
    found = read(tmp_path, {"text": text, "media": "visit.mp3", "media-time": 4}, "a.otr")
    assert said(found) == [
        ("PAR0", "&-um a dog .", (500, 1500)),
        ("PAR1", "yes !", (1500, 3000)),
        ("PAR0", "no .", None),
    ]
    assert found.transcript.media == "visit"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "begin\tstop\ttext\n0\t1\thi\n"),
        ("a.tsv", "start\tend\ttext\nx\t1\thi\n"),
        ("a.tsv", "start\tend\ttext\n1\n"),
        ("a.ass", "[Script Info]\nTitle: x\n"),
        ("a.ttml", "<a/>"),
        ("a.trs", "<a/>"),
        ("a.trs", '<Trans><Turn startTime="x" endTime="1">hi</Turn></Trans>'),
        ("a.html", "<p>hello</p>"),
        ("a.otr", "{}"),
        ("a.otr", "<p>"),
    ],
)
def test_broken_text_formats_are_sentences(name, text, tmp_path):
    with pytest.raises(FormatError) as error:
        read(tmp_path, text, name)
    assert str(error.value).startswith(str(tmp_path / name)) and len(str(error.value)) > 40


TURNS = {
    "Otter": "Ann Lee  0:01\nUm, a dog.\n\nSpeaker 2  0:03\nYes!\n\nAnn Lee  0:04\nNo.\n",
    "Zoom": "[Ann Lee] 00:00:01\nUm, a dog.\n\n[Bob] 00:00:03\nYes!\n\n[Ann Lee] 00:00:04\nNo.\n",
    "in a line": "00:00:01 Ann: Um, a dog.\n00:00:03 Bob: Yes!\n00:00:04 Ann: No.\n",
    "behind the name": "Ann (00:01): Um, a dog.\nBob (00:03): Yes!\nAnn (00:04): No.\n",
    "one space": "Ann Lee 0:01\nUm, a dog.\nBob 0:03\nYes!\nAnn Lee 0:04\nNo.\n",
    "Teams": "0:0:1.0 --> 0:0:2.9\nLee, Ann\nUm, a dog.\n\n0:0:3.0 --> 0:0:3.9\nBob\nYes!\n\n0:0:4.0 --> 0:0:5.0\n"
    "Lee, Ann\nNo.\n",
    "times alone": "00:00:01\nAnn: Um, a dog.\n00:00:03\nBob: Yes!\n00:00:04\nAnn: No.\n",
    "with a footer": "Ann Lee  0:01\nUm, a dog.\n\nBob  0:03\nYes!\n\nAnn Lee  0:04\nNo.\n\n"
    "Transcribed by https://otter.ai\n",
    "Happy Scribe": "[00:00:01.00] - Ann\nUm, a dog.\n\n[00:00:03.00] - Bob\nYes!\n\n[00:00:04.00] - Ann\nNo.\n",
    "Fathom": "0:01 - Ann Lee (Acme)\n  Um, a dog.\n\n0:03 - Bob\n  Yes!\n\n0:04 - Ann Lee (Acme)\n  No.\n",
    "Sonix": "[00:00:01] Speaker1\nUm, a dog.\n\n[00:00:03] Speaker2\nYes!\n\n[00:00:04] Speaker1\nNo.\n",
    "all in a line": "Ann Lee  0:01  Um, a dog.\nBob  0:03  Yes!\nAnn Lee  0:04  No.\n",
    "Descript": "Ann: [00:00:01] Um, a dog.\nBob: [00:00:03] Yes!\nAnn: [00:00:04] No.\n",
    "MAXQDA": "#00:00:01-0# Ann: Um, a dog.\n#00:00:03-0# Bob: Yes!\n#00:00:04-0# Ann: No.\n",
    "Premiere": "00;00;01;12 - 00;00;02;05\nSpeaker 1\nUm, a dog.\n\n00;00;03;00 - 00;00;03;29\n話者 2\nYes!\n\n"
    "00:00:04:00 - 00:00:05:00\nSpeaker 1\nNo.\n",
    "Zoom, copied": "Ann Lee\n00:00:01\nUm, a dog.\n\nBob\n00:00:03\nYes!\n\nAnn Lee\n00:00:04\nNo.\n",
    "names below times": "0:01\nAnn Lee\nUm, a dog.\n\n0:03\nBob\nYes!\n\n0:04\nAnn Lee\nNo.\n",
    "Fireflies": "Ann Lee - 00:01\nUm, a dog.\n\nBob - 00:03\nYes!\n\nAnn Lee - 00:04\nNo.\n",
    "a stroke": "Ann Lee | 00:01\nUm, a dog.\n\nBob | 00:03\nYes!\n\nAnn Lee | 00:04\nNo.\n",
    "in columns": "Ann Lee:\t00:01\tUm, a dog.\nBob:\t00:03\tYes!\nAnn Lee:\t00:04\tNo.\n",
    "time first": "0:01 Ann\nUm, a dog.\n0:03 Bob\nYes!\n0:04 Ann\nNo.\n",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Ann Lee\nA dog.\nHm.\n\nBob\nYes!\n\nAnn Lee\nNo.\n",
            ["PAR0: a dog .", "PAR0: hm .", "PAR1: yes !", "PAR0: no ."],
        ),
        ("ANN\nA dog.\n\nBOB\nYes!\n\nANN\nNo.\n", ["ANN: a dog .", "BOB: yes !", "ANN: no ."]),
        ("Q. A dog?\nA. A dog.\nA cat.\nQ. No.\n", ["PAR0: a dog ?", "PAR1: a dog .", "PAR1: a cat .", "PAR0: no ."]),
        ("Yes\nA dog\n\nNo\nA cat\n\nYes\nA dog\n", ["PAR: yes .", "PAR: a dog .", "PAR: no ."]),
        ("Q. Lee came.\nQ. Lee left.\n", ["PAR: Q Lee came .", "PAR: Q Lee left ."]),
    ],
)
def test_names_without_a_colon(text, expected, tmp_path):
    found = read(tmp_path, text, "a.txt")
    assert lines(found)[: len(expected)] == expected and found.lost_words == 0


def test_points_of_titles_end_no_turn(tmp_path):
    found = read(tmp_path, "DR. SMITH: Hello. MS. JONES: Hi.\nDR. SMITH: So?\n", "a.txt")
    assert lines(found) == ["PAR0: hello .", "PAR1: hi .", "PAR0: so ?"]


def test_times_alone_are_not_words(tmp_path):
    found = read(tmp_path, "0:00\nokay so\n0:02\nthe dog\n12:05\nran\n1:02:03\nhome\n", "a.txt")
    spans = [(0, 2000), (2000, 725_000), (725_000, 3_723_000), None]
    assert [span for *_, span in said(found)] == spans
    assert " ".join(words_of(found)) == "okay so the dog ran home"


def test_what_meet_writes_above_and_below_is_not_speech(tmp_path):
    turns = "00:00:01\nAnn: Um, a dog.\nBob: Yes!\n00:05:00\nAnn: No.\n"
    text = f"Meeting started 2025/01/05 10:00 GMT - Transcript\n{turns}Transcription ended after 00:06:00\n"
    found = read(tmp_path, text, "a.txt")
    assert [words for _, words, _ in said(found)] == ["&-um a dog .", "yes !", "no ."]
    assert sum(block.raw.startswith("@Comment") for block in found.transcript.headers) == 2


def test_captions_without_speakers_keep_their_words(tmp_path):
    cues = ("00:00:00:00 - 00:00:02:29\nShe", "00:00:03:00 - 00:00:04:00\nNo", "00:00:05:00 - 00:00:06:00\nWe ran.")
    found = read(tmp_path, "\n\n".join(cues), "a.txt")
    assert said(found) == [("PAR", "she .", (0, 3000)), ("PAR", "no .", (3000, 5000)), ("PAR", "we ran .", None)]


def test_titles_above_turns_with_times_are_comments(tmp_path):
    found = read(tmp_path, f"Meeting Transcript\nJanuary 1, 12:00PM\n\n{TURNS['Otter']}", "a.txt")
    assert [speaker for speaker, *_ in said(found)] == ["PAR0", "PAR1", "PAR0"]
    assert found.transcript.header("@Comment") == "Meeting Transcript"


@pytest.mark.parametrize("name", TURNS)
def test_turns_with_times(name, tmp_path):
    found = read(tmp_path, TURNS[name], "a.txt")
    assert said(found) == [
        ("PAR0", "&-um a dog .", (1000, 3000)),
        ("PAR1", "yes !", (3000, 4000)),
        ("PAR0", "no .", None),
    ]
    assert found.notes == ("turns without an end, which have no times: 1",)


ROWS = {
    "f4": "Ann: Um, a dog. #00:00:02-5#\nBob: Yes! #00:00:04-0#\n",
    "Audacity": "0.000000\t2.500000\tUm, a dog.\n2.500000\t4.000000\tYes!\n",
    "ELAN, tab-separated": "A\t\t00:00:00.000\t0.0\t00:00:02.500\t2.5\tUm, a dog.\n"
    "B\t\t00:00:02.500\t2.5\t00:00:04.000\t4.0\tYes!\nact@A\t\t00:00:00.000\t0.0\t00:00:02.500\t2.5\tnods\n",
    "ELAN, milliseconds": "A\tAnn\t0\t2500\t2500\tUm, a dog.\nB\tBob\t2500\t4000\t1500\tYes!\n",
    "whisper": "Detecting language using up to the first 30 seconds.\nDetected language: English\n"
    "[00:00.000 --> 00:02.500]  Um, a dog.\n[00:02.500 --> 00:04.000]  Yes!\n",
    "whisper.cpp": "[00:00:00.000 --> 00:00:02.500]   Um, a dog.\n[00:00:02.500 --> 00:00:04.000]   Yes!\n",
    "faster-whisper": "[0.00s -> 2.50s]  Um, a dog.\n[2.50s -> 4.00s]  Yes!\n",
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_with_begin_and_end(name, tmp_path):
    first, second = read(tmp_path, ROWS[name], "a.txt").transcript.utterances
    assert (first.text, second.text) == ("&-um a dog .", "yes !")
    assert [(each.span.start_ms, each.span.end_ms) for each in (first, second)] == [(0, 2500), (2500, 4000)]
    assert [tier.raw for tier in first.tiers] == (["%act:\tnods\n"] if "act@A" in ROWS[name] else [])


def test_bare_times_before_text_are_times(tmp_path):
    found = read(tmp_path, "00:00:01 Um, a dog.\n00:00:03 Yes!\n00:00:04 No.\n", "a.txt")
    assert said(found) == [("PAR", "&-um a dog .", (1000, 3000)), ("PAR", "yes !", (3000, 4000)), ("PAR", "no .", None)]


CHAT = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI Target_Child\n*CHI:\tthe [/] the dog .\n@End\n"
OTHERS = {
    "CHAT": (CHAT, "the [/] the dog ."),
    "SALT": ("$ Child, Examiner\nC (the) the dog/s.\n", "the [/] the dogs ."),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_formats_whose_names_end_in_txt(name, tmp_path):
    text, tier = OTHERS[name]
    assert said(read(tmp_path, text, "a.txt")) == [("CHI", tier, None)]


def test_alternatives_and_hesitations_of_nist(tmp_path):
    rows = ("0.1 0.2 %hesitation", "* * <ALT_BEGIN>", "0.4 0.2 two", "* * <ALT>", "0.4 0.2 too", "* * <ALT_END>")
    found = read(tmp_path, "".join(f"x A {row}\n" for row in rows), "a.ctm")
    assert said(found) == [("PAR", "&-uh two .", (100, 600))]
    found = read(tmp_path, "x A ann 0 1 <o> (%hesitation) {two / too} dogs\n", "a.stm")
    assert said(found) == [("PAR0", "&-uh two dogs .", (0, 1000))]


def test_a_last_chunk_without_an_end_is_noted(tmp_path):
    chunks = [{"timestamp": [0, 1.5], "text": " Um, yes."}, {"timestamp": [1.5, None], "text": " Hi there."}]
    found = read(tmp_path, {"text": "", "chunks": chunks})
    assert said(found) == [("PAR", "&-um yes .", (0, 1500)), ("PAR", "hi there .", None)]
    assert found.notes == ("texts that end when they begin, which have no times: 1",)


NAMED = {
    "Markdown": "**Ann:** Hello.\n\n**Bob**: Hi.\n\n**Ann:** Yes.\n",
    "in brackets": "[Ann] Hello.\n[Bob] Hi.\n[Ann] Yes.\n[Bob] No [laughs].\n",
    "in a line": "Ann: Hello. Bob: Hi.\nAnn: Yes.\nBob: [laughs]\n",
}


@pytest.mark.parametrize("name", NAMED)
def test_names_are_not_speech(name, tmp_path):
    found = read(tmp_path, NAMED[name], "a.txt")
    assert said(found)[:3] == [("PAR0", "hello .", None), ("PAR1", "hi .", None), ("PAR0", "yes .", None)]


def test_a_speaker_without_a_time_is_not_part_of_the_turn_above(tmp_path):
    text = "Ann (00:00): Hello.\nBob: Hi.\nAnn (00:02): Yes.\nBob: Note: no.\nAnn (00:04): So.\n"
    found = read(tmp_path, text, "a.txt")
    assert lines(found) == ["PAR0: hello .", "PAR1: hi .", "PAR0: yes .", "PAR1: note no .", "PAR0: so ."]


def test_an_unknown_speaker_of_whisper_cpp_is_not_speech(tmp_path):
    found = read(tmp_path, "(speaker 0) Hello.\n(speaker 1) Hi.\n(speaker ?) Yes.\n", "a.txt")
    assert [words for _, words, _ in said(found)] == ["hello .", "hi .", "yes ."]


def test_times_of_day_count_from_the_first_turn(tmp_path):
    found = read(tmp_path, "[Ann] 10:02:03\nHello.\n[Bob] 10:02:05\nHi.\n", "a.txt")
    assert [span for *_, span in said(found)] == [(0, 2000), None]


def test_times_in_speech_are_speech(tmp_path):
    text = "It was late.\nWe met at 7:00\nand left.\nAnn: it was 10:30 today.\n"
    assert all(span is None for *_, span in said(read(tmp_path, text, "a.txt")))
    assert "met" in said(read(tmp_path, text, "a.txt"))[1][1]


@pytest.mark.parametrize("times", [(2, 1), (-1, 2), (1, None), ("soon", 2), (1, 1e300)], ids=str)
@pytest.mark.parametrize("form", ["segments", "words", "transcript"])
def test_words_whose_times_cannot_be_right_stay(form, times, tmp_path):
    rows = [
        {"text": text, "start": start, "end": end}
        for text, start, end in (("yes.", 0, 1), ("a", *times), ("dog.", 3, 4))
    ]
    found = read(tmp_path, {form: rows, "language": "en"})
    assert words_of(found) == ["yes", "a", "dog"]
    assert any("cannot be right" in note and "1, first at" in note for note in found.notes)


def test_speakers_below_one_time(tmp_path):
    text = "00:00:00\nAnn Lee: Um, a dog.\nIt ran.\nBob: Yes!\n00:05:00\nAnn Lee: No.\nBob: So.\n"
    found = read(tmp_path, text, "a.txt")
    assert lines(found) == ["PAR0: &-um a dog .", "PAR0: it ran .", "PAR1: yes !", "PAR0: no .", "PAR1: so ."]


@pytest.mark.parametrize("text", ["[0:01] - Yes\n[0:03] - No\n", "0:01 - Yes\n0:03 - No\n", "[0:01] Yes\n[0:03] No\n"])
def test_a_word_behind_a_time_is_said(text, tmp_path):
    assert [words for _, words, _ in said(read(tmp_path, text, "a.txt"))] == ["yes .", "no ."]


def test_an_amount_is_as_it_was_spoken_and_loses_no_word_beside_a_blank(tmp_path):
    said_as = [{"alternatives": [{"content": word}], "start_time": at, "end_time": at + 0.2, "type": "word"}
               for at, word in enumerate(("fünf", "Euro"))]  # fmt: skip
    entity = {"type": "entity", "start_time": 0, "end_time": 1.2, "alternatives": [{"content": "5 €", "speaker": "S1"}]}
    for results in ([entity], [entity | {"spoken_form": said_as}]):
        found = read(tmp_path, {"metadata": {"transcription_config": {"language": "de"}}, "results": results})
        assert said(found) == [("S1", "fünf Euro .", (0, 1200))]
    words = [{"word": word, "start": at, "end": at + 1} for at, word in enumerate(("In", "New York", "50 %", "$ 5."))]
    found = read(tmp_path, {"words": words})
    assert said(found)[0][1] == "in New York fifty percent five dollars ."


def test_segments_without_a_speaker_between_named_ones_are_noted(tmp_path):
    texts = [("SPEAKER_00", "Hello."), ("SPEAKER_01", "Hi."), (None, "Hm."), ("SPEAKER_00", "So?")]
    segments = [
        {"start": at, "end": at + 1, "text": text} | ({"speaker": name} if name else {})
        for at, (name, text) in enumerate(texts)
    ]
    found = read(tmp_path, {"segments": segments})
    assert [turn.speaker for turn in found.transcript.utterances] == ["PAR0", "PAR1", "PAR", "PAR0"]
    assert found.notes == ("texts whose speaker the file does not name, which PAR says: 1",)


def test_words_of_a_number_share_its_time(tmp_path):
    words = [("It's", 0, 100), ("$5", 100, 600), ("[laughs]", 700, 800), ("at", 900, 1000), ("10:30.", 1000, 2000)]
    listed = [{"word": word, "start": start / 1000, "end": end / 1000} for word, start, end in words]
    found = read(
        tmp_path, {"segments": [{"start": 0, "end": 2, "text": "It's $5 [laughs] at 10:30.", "words": listed}]}
    )
    (spoken,) = found.transcript.utterances
    times = [(word, at.start_ms, at.end_ms) for word, at in spoken.word_times]
    assert [word for word, *_ in times] == spoken.verbatim() == ["it's", "five", "dollars", "at", "ten", "thirty"]
    assert (times[1][1], times[1][2], times[2][2]) == (100, times[2][1], 600) and times[3][1:] == (900, 1000)
    assert (times[4][1], times[5][2]) == (1000, 2000)
