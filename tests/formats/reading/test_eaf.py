"""ELAN documents as laboratories have them: slots without a value, codes, untimed words, video, and large ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lsa_whisper.formats.reading import read_transcripts

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT AUTHOR="" DATE="" FORMAT="3.0" VERSION="3.0">\n'
READS = """
import re, sys
from pathlib import Path
from lsa_whisper.formats.reading import read_transcripts

read_transcripts(Path(sys.argv[1]))
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def slots(*times):
    values = ("" if at is None else f' TIME_VALUE="{at}"' for at in times)
    inside = "".join(f'<TIME_SLOT TIME_SLOT_ID="t{number}"{value}/>' for number, value in enumerate(values))
    return f"<TIME_ORDER>{inside}</TIME_ORDER>\n"


def aligned(name, start, end, text):
    return (
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="{name}" TIME_SLOT_REF1="t{start}" TIME_SLOT_REF2="t{end}">'
        f"<ANNOTATION_VALUE>{text}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>\n"
    )


def refers(name, parent, text):
    return (
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="{name}" ANNOTATION_REF="{parent}">'
        f"<ANNOTATION_VALUE>{text}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>\n"
    )


def tier(name, *annotations, kind="utt", parent="", speaker=""):
    attributes = f' PARENT_REF="{parent}"' if parent else ""
    attributes += f' PARTICIPANT="{speaker}"' if speaker else ""
    return f'<TIER LINGUISTIC_TYPE_REF="{kind}" TIER_ID="{name}"{attributes}>{"".join(annotations)}</TIER>\n'


def read(tmp_path, *parts, media=""):
    types = '<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="cv" CONTROLLED_VOCABULARY_REF="v"/>'
    text = f"{HEAD}<HEADER>{media}</HEADER>{''.join(parts)}{types}</ANNOTATION_DOCUMENT>\n"
    (tmp_path / "visit.eaf").write_text(text)
    return read_transcripts(tmp_path / "visit.eaf")[0]


def spans(found):
    return [each.span and (each.span.start_ms, each.span.end_ms) for each in found.transcript.utterances]


def tiers(found):
    return [[(line.name, line.value) for line in each.tiers] for each in found.transcript.utterances]


def test_a_slot_without_a_value_is_placed_between_its_neighbours(tmp_path):
    chain = [aligned(f"a{at}", at, at + 1, f"a [/] a dog {word} .") for at, word in enumerate(("one", "two", "three"))]
    found = read(tmp_path, slots(1000, None, None, 4000), tier("CHI", *chain))
    assert spans(found) == [(1000, 2000), (2000, 3000), (3000, 4000)]
    assert [note for note in found.notes if "without a value: 2, of which 2" in note]


def test_the_recording_is_called_as_its_file_is(tmp_path):
    for url, name, written in (
        ("file:///C:/x/my%20mic.wav", "my mic", "my mic, audio"),
        ("./Mic, 1.wav", "Mic, 1", '"Mic, 1", audio'),
    ):
        media = f'<MEDIA_DESCRIPTOR MEDIA_URL="{url}" MIME_TYPE="audio/x-wav"/>'
        found = read(tmp_path, slots(0, 900), tier("CHI", aligned("a", 0, 1, "it ran .")), media=media).transcript
        assert (found.media, found.header("@Media")) == (name, written)


def test_a_sound_without_words_is_no_number(tmp_path):
    cry = (tier("CHI", aligned("a", 0, 1, "0."), aligned("b", 1, 2, "um yes.")), tier("MOT", aligned("c", 0, 1, "Hi.")))
    found = read(tmp_path, slots(0, 400, 900), *cry)
    assert [each.text for each in found.transcript.utterances] == ["0 .", "hi .", "&-um yes ."]


def test_text_below_identifiers_is_the_text_whatever_parts_the_names(tmp_path):
    found = read(
        tmp_path,
        slots(0, 900),
        tier("A_ref", aligned("a", 0, 1, "1")),
        tier("A_tx", refers("b", "a", "um yes"), parent="A_ref"),
        tier("A_ge", refers("c", "a", "oui"), parent="A_ref"),
    )
    (spoken,) = found.transcript.utterances
    assert (spoken.text, tiers(found)) == ("&-um yes .", [[("%xa", "oui")]])


def test_words_with_times_are_words_whatever_parts_the_names(tmp_path):
    words = [aligned("b", 0, 1, "it"), aligned("c", 1, 2, "ran")]
    for name in ("CHI-words", "CHI_words", "words@CHI"):
        parts = (tier("CHI", aligned("a", 0, 2, "it ran .")), tier(name, *words, parent="CHI"))
        (spoken,) = read(tmp_path, slots(0, 400, 900), *parts).transcript.utterances
        assert [(word, at.end_ms) for word, at in spoken.word_times] == [("it", 400), ("ran", 900)]


@pytest.mark.parametrize("name", ["A-words", "A Wörter", "mots@A", "words"])
@pytest.mark.parametrize("parent", ["A-utterance", "Ann speaks"])
def test_words_below_a_speaker_s_tier_of_another_name_are_its_words(name, parent, tmp_path):
    words = (aligned("b", 0, 1, "it"), aligned("c", 1, 2, "ran"))
    parts = (tier(parent, aligned("a", 0, 2, "it ran ."), speaker="Ann"), tier(name, *words, parent=parent))
    other = tier("B-utterance", aligned("d", 0, 1, "yes ."))
    spoken, answer = read(tmp_path, slots(0, 400, 900), *parts, other).transcript.utterances
    assert [(word, at.end_ms) for word, at in spoken.word_times] == [("it", 400), ("ran", 900)]
    assert (spoken.text, answer.text) == ("it ran .", "yes .")


def test_times_that_a_dependent_tier_cannot_hold_are_noted(tmp_path):
    gaze = tier("gaze", aligned("b", 0, 1, "mother"), parent="CHI")
    found = read(tmp_path, slots(0, 400, 900), tier("CHI", aligned("a", 0, 2, "it ran .")), gaze)
    assert tiers(found) == [[("%xgaze", "mother")]]
    assert found.notes == ("times of texts in tier 'gaze' that a dependent tier cannot hold: 1",)


def test_an_end_and_the_next_start_without_values_are_one_time(tmp_path):
    said = [aligned("a", 0, 1, "one ."), aligned("b", 2, 3, "two .")]
    assert spans(read(tmp_path, slots(0, None, None, 900), tier("CHI", *said))) == [(0, 450), (450, 900)]


@pytest.mark.parametrize(
    ("said", "expected", "first"),
    [
        ([aligned("a", 0, 1, "it ran ."), aligned("b", 1, 7, "no ."), aligned("c", 7, 2, "yes .")],
         [(0, 600), (600, 750), (750, 900)], "t7 of annotation b"),
        ([aligned("a", 0, 9, "it ran ."), aligned("b", 1, 2, "no .")], [(0, 300), (600, 900)], "t9 of annotation a"),
        ([aligned("a", 0, 1, "it ran ."), aligned("b", 8, 9, "no .")], [(0, 600), None], "t8 of annotation b"),
        ([aligned("a", 0, 1, "it ran ."), aligned("b", 2, "", "no .").replace(' TIME_SLOT_REF2="t"', "")],
         [(0, 600), None], "end of b of annotation b"),
    ],
)  # fmt: skip
def test_a_slot_that_is_missing_costs_no_annotation(said, expected, first, tmp_path):
    found = read(tmp_path, slots(0, 600, 900), tier("CHI", *said))
    assert spans(found) == expected
    assert f"first {first} at" in found.notes[0]


def test_slots_at_the_ends_of_a_tier_are_bounded_by_the_document_or_stay_unknown(tmp_path):
    other = tier("MOT", aligned("m", 0, 3, "yes ."))
    inner = tier("CHI", aligned("a", 1, 2, "one ."))
    assert spans(read(tmp_path, slots(600, None, None, 1200), other, inner)) == [(600, 1200), (800, 1000)]
    last = tier("CHI", aligned("a", 0, 1, "one ."), aligned("b", 1, 2, "two ."))
    assert spans(read(tmp_path, slots(0, 500, None), last)) == [(0, 500), None]


def test_codes_and_dependent_tiers_become_dependent_tiers(tmp_path):
    found = read(
        tmp_path,
        slots(1000, None, None, 2500),
        tier("CHI", aligned("a", 0, 1, "a dog ."), aligned("b", 2, 3, "it ran ."), speaker="Ann"),
        tier("act@CHI", refers("c", "b", "points"), kind="cv", parent="CHI"),
        tier("CHI_gaze", refers("d", "a", "at mother"), kind="cv", parent="CHI"),
        tier("gesture", refers("f", "a", "nods"), kind="cv", parent="CHI"),
        tier("act", refers("g", "a", "runs"), kind="wd", parent="CHI"),
        tier("Ann pointing", aligned("e", 2, 3, "index"), kind="cv", speaker="Ann"),
    )
    assert tiers(found) == [
        [("%xgaze", "at mother"), ("%xgestur", "nods"), ("%act", "runs")],
        [("%act", "points"), ("%xpointi", "index")],
    ]
    assert [each.text for each in found.transcript.utterances] == ["a dog .", "it ran ."]


def test_a_name_of_signs_is_read_at_once(tmp_path):
    """With a pattern that takes quadratic time, it lasts minutes."""
    found = read(tmp_path, slots(0, 500), tier("-" * 50_000, aligned("a", 0, 1, "a dog .")))
    assert [each.text for each in found.transcript.utterances] == ["a dog ."]


def test_what_no_utterance_holds_is_named(tmp_path):
    found = read(
        tmp_path,
        slots(0, 500, 700, 900),
        tier("CHI", aligned("a", 0, 1, "a dog .")),
        tier("act@CHI", aligned("b", 2, 3, "runs off"), parent="CHI"),
        tier("light", aligned("c", 0, 1, "on"), kind="cv"),
    )
    assert [note.split(":")[0] for note in found.notes] == [
        "tier 'act@CHI'",
        "tier 'light' belongs to no speaker's tier, and is not used",
    ]
    assert "1 of 1 texts lie in no utterance" in found.notes[0]


def test_words_without_times_of_their_own_keep_the_words(tmp_path):
    words = tier("word@CHI", refers("c", "a", "it"), refers("d", "a", "ran"), kind="wd", parent="CHI")
    found = read(tmp_path, slots(0, 500), tier("CHI", aligned("a", 0, 1, "it ran .")), words)
    assert tiers(found) == [[("%wor", "it ran .")]] and found.transcript.utterances[0].word_times == []


def test_a_video_is_one_and_other_recordings_are_named(tmp_path):
    media = (
        '<MEDIA_DESCRIPTOR MEDIA_URL="file:///C:/x/cam.mp4" MIME_TYPE="video/mp4" RELATIVE_MEDIA_URL="./cam.mp4"/>'
        '<MEDIA_DESCRIPTOR MEDIA_URL="file:///C:/x/mic.wav" MIME_TYPE="audio/x-wav" TIME_ORIGIN="5000"/>'
    )
    found = read(tmp_path, slots(0, 500), tier("CHI", aligned("a", 0, 1, "it ran .")), media=media)
    assert found.transcript.header("@Media") == "cam, video"
    assert [note for note in found.notes if "mic.wav begins 5000 ms" in note]
    assert [note for note in found.notes if "the others: mic.wav" in note]


def test_times_count_from_the_beginning_of_the_recording(tmp_path):
    media = '<MEDIA_DESCRIPTOR MEDIA_URL="file:///C:/x/mic.wav" MIME_TYPE="audio/x-wav" TIME_ORIGIN="2000"/>'
    found = read(tmp_path, slots(1000, 1500), tier("CHI", aligned("a", 0, 1, "it ran .")), media=media)
    assert spans(found) == [(3000, 3500)]


def test_a_tier_of_gestures_is_not_speech(tmp_path):
    gesture = tier("gesture", aligned("b", 0, 1, "points at it"))
    found = read(tmp_path, slots(0, 500), tier("CHI", aligned("a", 0, 1, "it ran .")), gesture)
    assert [each.text for each in found.transcript.utterances] == ["it ran ."]
    assert "tier 'gesture' is not used" in found.losses


@pytest.mark.slow
def test_ten_megabytes_take_little_memory(tmp_path):
    count = 28_000
    said = [
        aligned(f"a{at}", 2 * at, 2 * at + 1, f"the [/] the dog ran &amp;-um home {at % 7 * 'x'} .")
        for at in range(count)
    ]
    coded = [refers(f"c{at}", f"a{at}", "points") for at in range(0, count, 2)]
    found = read(
        tmp_path, slots(*range(0, 1000 * count, 500)), tier("CHI", *said), tier("act@CHI", *coded, parent="CHI")
    )
    assert (tmp_path / "visit.eaf").stat().st_size > 10_000_000 * 0.9
    assert len(found.transcript.utterances) == count
    # In a process of its own, and not by ru_maxrss: that is inherited from the process that ran other tests.
    done = subprocess.run(
        [sys.executable, "-c", READS, tmp_path / "visit.eaf"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 600_000


def test_remarks_in_german_and_spanish_are_not_speech(tmp_path):
    for name in ("Kommentar", "Notizen", "comentarios"):
        parts = (tier("Kind", aligned("a", 0, 1, "Ja.")), tier(name, aligned("b", 0, 1, "lacht")))
        found = read(tmp_path, slots(0, 900), *parts)
        assert [(each.speaker, each.text) for each in found.transcript.utterances] == [("CHI", "ja .")]
        assert found.notes == (f"tier {name!r} is not used",)
