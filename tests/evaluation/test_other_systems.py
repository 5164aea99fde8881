"""The output of any recognizer is scored as its CHAT would be."""

from __future__ import annotations

import json

import pytest

from lsa_whisper.chat import Participant, compose, utterance, write
from lsa_whisper.errors import CorpusError, FormatError
from lsa_whisper.evaluation import evaluate
from lsa_whisper.formats.convert import convert
from lsa_whisper.formats.reading import read_transcripts
from lsa_whisper.timespan import TimeSpan

REFERENCE = [("&-um the [/] the dog ran .", 500, 2000), ("it was &+b big .", 2500, 4000)]
SAID = [("Um, the the dog ran.", 0.5, 2.0), ("It was b- big.", 2.5, 4.0)]
WORDS = [
    {"word": word, "start": start + 0.2 * at, "end": start + 0.2 * at + 0.2}
    for text, start, _ in SAID
    for at, word in enumerate(text.split())
]


def clock(seconds, sign):
    return f"00:00:{int(seconds):02}{sign}{round(seconds * 1000) % 1000:03}"


SEGMENTS = [{"id": n, "start": a, "end": b, "text": f" {text}"} for n, (text, a, b) in enumerate(SAID)]
OUTPUTS = {
    "whisper.json": json.dumps({"text": " ".join(t for t, *_ in SAID), "segments": SEGMENTS, "language": "en"}),
    "faster.json": json.dumps(SEGMENTS),
    "whisperx.json": json.dumps(
        {
            "segments": [
                {"start": a, "end": b, "text": t, "speaker": "SPEAKER_00", "words": [{"word": w} for w in t.split()]}
                for t, a, b in SAID
            ],
            "word_segments": [],
        }
    ),
    "crisper.json": json.dumps(
        {
            "text": "",
            "chunks": [
                {"text": " [UM]," if w["word"] == "Um," else w["word"], "timestamp": [w["start"], w["end"]]}
                for w in WORDS
            ],
        }
    ),
    "batchalign.json": json.dumps(
        {
            "content": [
                {
                    "tier": {"id": "PAR"},
                    "content": [{"text": w, "time": None} for w in t.replace(".", " .").split()],
                    "time": [int(a * 1000), int(b * 1000)],
                }
                for t, a, b in SAID
            ],
            "langs": ["eng"],
        }
    ),
    "nemo.json": "\n".join(
        json.dumps({"audio_filepath": "x/visit.wav", "duration": b - a, "offset": a, "text": "no", "pred_text": t})
        for t, a, b in SAID
    ),
    "all.ctm": "".join(f"visit 1 {w['start']:.2f} 0.2 {w['word']} 0.9\n" for w in WORDS),
    "all.stm": "".join(f"visit 1 A {a} {b} <o,f0> {t}\n" for t, a, b in SAID),
    "visit.srt": "".join(
        f"{n}\n{clock(a, ',')} --> {clock(b, ',')}\n{t}\n\n" for n, (t, a, b) in enumerate(SAID, start=1)
    ),
    "visit.vtt": "WEBVTT\n\n" + "".join(f"{clock(a, '.')} --> {clock(b, '.')}\n<v A>{t}\n\n" for t, a, b in SAID),
    "visit.txt": "".join(f"{t}\n" for t, *_ in SAID),
}


@pytest.fixture
def reference(tmp_path):
    transcript = compose(
        languages=["eng"],
        participants=[Participant("PAR", "Participant")],
        utterances=[utterance("PAR", text, TimeSpan(start, end)) for text, start, end in REFERENCE],
        media="visit",
    )
    write(transcript, tmp_path / "visit.cha")
    return tmp_path / "visit.cha"


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_is_scored(name, reference, tmp_path):
    path = tmp_path / name
    path.write_text(OUTPUTS[name])
    system = evaluate(reference, [path], names=["it"]).systems["it"]
    assert system.word_errors_verbatim.errors == 0, name
    assert not system.has_marks


def test_a_folder_of_outputs_is_paired_by_name(reference, tmp_path):
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    (outputs / "visit.json").write_text(OUTPUTS["whisper.json"])
    assert evaluate(reference.parent, [outputs], names=["it"]).systems["it"].word_errors_verbatim.errors == 0
    (outputs / "visit.srt").write_text(OUTPUTS["visit.srt"])
    with pytest.raises(CorpusError, match=r"visit\.json and visit\.srt are both of visit"):
        evaluate(reference.parent, [outputs])


def test_what_the_program_hides_in_folders_is_not_scored(reference, tmp_path):
    """After `review` a folder holds the original in .review, after `convert` a list of what was written."""
    hidden, outputs = reference.parent / ".review", tmp_path / "outputs"
    hidden.mkdir()
    (hidden / reference.name).write_bytes(reference.read_bytes())
    convert([reference], outputs, format="srt")
    assert [path.name for path in outputs.iterdir() if path.name.startswith(".")] == [".converted.json"]
    system = evaluate(reference.parent, [outputs], names=["it"]).systems["it"]
    assert len(system.files) == 1 and system.missing == [] and system.unpaired == ()


def test_a_reference_of_a_part_of_the_recording_is_suspected(reference, tmp_path):
    more = "*PAR:\tand then we all went home . \x1560000_62000\x15\n@End"
    (tmp_path / "it.cha").write_text(reference.read_text().replace("@End", more))
    assert "6 words are from before or after everything" in evaluate(reference, [tmp_path / "it.cha"]).table()
    text = reference.read_text().replace("@End", "*PAR:\twww . \x154000_62000\x15\n@End")
    reference.write_text(text)
    said = evaluate(reference, [tmp_path / "it.cha"])
    assert said.systems["it"].word_errors_verbatim.errors == 0 and "before or after" not in said.table()


def test_damaged_output_is_a_sentence(reference, tmp_path):
    (tmp_path / "it.ctm").write_text("visit 1 nan 0.2 dog\n")
    with pytest.raises(FormatError, match=r"it\.ctm:1: 'nan' is not a time"):
        evaluate(reference, [tmp_path / "it.ctm"])


def test_a_chunk_that_ends_before_it_starts_keeps_its_words(tmp_path):
    """Transformers' pipeline writes such times where two of its windows overlap."""
    chunks = [{"text": " I want it.", "timestamp": [58.2, 57.6]}, {"text": " The dog ran.", "timestamp": [59.0, 60.0]}]
    (tmp_path / "visit.json").write_text(json.dumps({"text": "", "chunks": chunks}))
    (found,) = read_transcripts(tmp_path / "visit.json")
    assert [each.span for each in found.transcript.utterances] == [None, TimeSpan(59_000, 60_000)]
    assert [each.fluent() for each in found.transcript.utterances] == [["I", "want", "it"], ["the", "dog", "ran"]]
