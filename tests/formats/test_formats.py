"""Each format says what the transcript says, in the form its programs read."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from lsa_whisper import formats
from lsa_whisper.chat import Participant, compose, utterance
from lsa_whisper.formats import eaf, salt, textgrid
from lsa_whisper.formats import json as json_format
from lsa_whisper.formats.readable_text import plain_text, subrip, webvtt
from lsa_whisper.timespan import TimeSpan


@pytest.fixture
def visit():
    words = [("a", TimeSpan(3_661_000, 3_661_300)), ("dog", TimeSpan(3_661_300, 3_662_005))]
    return compose(
        languages=["eng"],
        participants=[Participant("CHI", "Target_Child"), Participant("MOT", "Mother")],
        utterances=[
            utterance("CHI", "&-um I want [/] want &+d it .", TimeSpan(500, 2250)),
            utterance("MOT", "<the cat> [//] the dog +...", TimeSpan(2100, 4000)),
            utterance("CHI", "no !"),
            utterance("CHI", "a dog ?", TimeSpan(3_661_000, 3_662_005), words),
        ],
        media="visit",
    )


@pytest.fixture
def quiet():
    return compose(languages=["eng"], participants=[Participant("PAR", "Participant")], utterances=[], media="quiet")


def test_srt(visit):
    assert subrip(visit) == (
        "1\n00:00:00,500 --> 00:00:02,250\nCHI: um I want want d- it.\n\n"
        "2\n00:00:02,100 --> 00:00:04,000\nMOT: the cat the dog...\n\n"
        "3\n01:01:01,000 --> 01:01:02,005\nCHI: a dog?\n"
    )


def test_vtt(visit):
    text = webvtt(visit)
    assert text.startswith("WEBVTT\n\n00:00:00.500 --> 00:00:02.250\n<v CHI>um I want want d- it.\n\n")
    assert text.count("-->") == 3


def test_txt_keeps_utterances_without_times(visit):
    expected = ["CHI: um I want want d- it.", "MOT: the cat the dog...", "CHI: no!", "CHI: a dog?"]
    assert plain_text(visit).splitlines() == expected


def test_json_has_words_times_and_events(visit):
    content = json.loads(json_format.serialize(visit))
    first, second, third, last = content["utterances"]
    assert content["participants"] == {"CHI": "Target_Child", "MOT": "Mother"} and content["media"] == "visit"
    assert first["verbatim"] == ["um", "I", "want", "want", "d-", "it"] and first["fluent"] == ["I", "want", "it"]
    assert {event["kind"] for event in first["events"]} == {"filled_pause", "repetition", "fragment"}
    assert (second["start_ms"], second["end_ms"], second["chat"]) == (2100, 4000, "<the cat> [//] the dog +...")
    assert third["start_ms"] is None
    assert last["words"][1] == {"word": "dog", "start_ms": 3_661_300, "end_ms": 3_662_005}


def test_textgrid_tiers_have_no_gap_and_no_overlap(visit):
    text = textgrid.serialize(visit)
    assert set(re.findall(r'name = "(.*)"', text)) == {"CHI", "CHI words", "MOT"}
    assert 'text = "<the cat> [//] the dog +..."' in text
    for tier in text.split("item [")[2:]:
        bounds = [float(time) for time in re.findall(r"xm(?:in|ax) = ([\d.]+)", tier)]
        assert bounds[0] == 0.0 and bounds[1] == 3662.005
        inner = list(zip(bounds[2::2], bounds[3::2], strict=True))
        assert inner[0][0] == 0.0 and inner[-1][1] == 3662.005
        assert all(one[1] == other[0] and one[0] < one[1] for one, other in pairwise(inner))
        assert f"intervals: size = {len(inner)}" in tier


def test_textgrid_quotes_are_doubled():
    said = compose(
        languages=["eng"],
        participants=[Participant("PAR", "Participant")],
        utterances=[utterance("PAR", 'he said +"/.', TimeSpan(0, 900))],
    )
    assert 'text = "he said +""/."' in textgrid.serialize(said)


def test_eaf_is_xml_with_every_time(visit):
    document = ElementTree.fromstring(eaf.serialize(visit).encode())
    slots = {slot.get("TIME_SLOT_ID"): int(slot.get("TIME_VALUE")) for slot in document.iter("TIME_SLOT")}
    found = {}
    for tier in document.iter("TIER"):
        for each in tier.iter("ALIGNABLE_ANNOTATION"):
            span = slots[each.get("TIME_SLOT_REF1")], slots[each.get("TIME_SLOT_REF2")]
            found[each.find("ANNOTATION_VALUE").text] = (tier.get("TIER_ID"), *span)
    assert found["<the cat> [//] the dog +..."] == ("MOT", 2100, 4000)
    assert found["dog"] == ("CHI words", 3_661_300, 3_662_005)
    assert len(found) == 5
    names = [child.tag for child in document]
    assert names == ["HEADER", "TIME_ORDER", *["TIER"] * 3, *["LINGUISTIC_TYPE"] * 2, *["CONSTRAINT"] * 4]
    assert document.find("HEADER/MEDIA_DESCRIPTOR").get("RELATIVE_MEDIA_URL") == "./visit.wav"
    times = [int(slot.get("TIME_VALUE")) for slot in document.iter("TIME_SLOT")]
    assert times == sorted(times)


def test_eaf_names_the_recording(visit, tmp_path):
    document = ElementTree.fromstring(formats.serialize(visit, "eaf", recording=tmp_path / "visit.mp4").encode())
    media = document.find("HEADER/MEDIA_DESCRIPTOR")
    assert media.get("MEDIA_URL") == (tmp_path / "visit.mp4").as_uri() and media.get("MIME_TYPE") == "video/mp4"


def test_salt_puts_mazes_in_parentheses(visit):
    lines = salt.serialize(visit).splitlines()
    assert lines[6:8] == ["- 0:00", "= *CHI:\t&-um I want [/] want &+d it . •500_2250•"]
    assert [line for line in lines if line[0] != "="] == [
        "$ Child, Mother",
        "- 0:00",
        "C (um) I (want) want (d*) it.",
        "- 0:02",
        "M (the cat) the dog>",
        "C no!",
        "- 61:01",
        "C a dog?",
    ]


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_is_the_same_each_time_also_of_nothing(name, visit, quiet):
    for transcript in (visit, quiet):
        assert formats.serialize(transcript, name) == formats.serialize(transcript, name)
    if name == "eaf":
        ElementTree.fromstring(formats.serialize(quiet, name))
