"""What a model leaves out stands in the header of its transcripts, and is read back from there."""

from __future__ import annotations

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency
from lsa_whisper.labels import NOT_TRANSCRIBED, Coverage, Labels, is_draft, read_coverage

PROVENANCE = "transcribed by lsa-whisper 0.1.0 with model whisper-base (labels {}, engine ct2, int8); not checked"
STYLES = [
    (Labels("chat"), True),
    (Labels("verbatim"), True),
    (Labels("verbatim", prompt="um uh"), False),
    (Labels("fluent"), False),
    (Labels("fluent"), True),
]


def transcript(*comments: str, reviewed: str = "") -> chat.Transcript:
    headers = "".join(f"@Comment:\t{comment}\n" for comment in comments)
    return chat.parse(f"@UTF8\n@Begin\n{headers}*PAR:\tyes .\n{reviewed}@End\n")


@pytest.mark.parametrize(("labels", "is_trained"), STYLES)
def test_the_comment_says_what_the_reader_reads(labels, is_trained):
    written = Coverage.of(labels, is_trained=is_trained)
    assert read_coverage(transcript(written.comment())) == written


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("fluent/4", Coverage.of(Labels("fluent"), is_trained=True)),
        ("chat+roles/2", Coverage()),
        ("verbatim/4", Coverage.of(Labels("verbatim"), is_trained=True)),
        ("verbatim/4, asked for by a prompt", Coverage.of(Labels("verbatim"), is_trained=False)),
        ("poetry/9", Coverage()),
    ],
)
def test_a_header_from_before_names_its_labels(labels, expected):
    assert read_coverage(transcript(PROVENANCE.format(labels))) == expected


def test_nothing_is_left_out_of_a_transcript_that_a_person_has_written_or_checked():
    comment = Coverage.of(Labels("fluent"), is_trained=False).comment()
    draft, done = "written; not checked by a person", "%xrev:\treviewed\n"
    assert read_coverage(transcript(comment, draft)).left_out == frozenset(Disfluency)
    assert is_draft(transcript(comment, draft))
    for checked in (transcript(comment, draft, reviewed=done), transcript(comment, "written; checked by a person")):
        assert read_coverage(checked) == Coverage() and not is_draft(checked)
    assert read_coverage(transcript()) == Coverage() and not is_draft(transcript())


def test_a_gap_stands_in_place_of_zeros_and_of_totals_only():
    coverage = Coverage(frozenset({Disfluency.BLOCK}), frozenset({Disfluency.FRAGMENT}))
    assert coverage.gap([Disfluency.BLOCK, Disfluency.FRAGMENT]) == NOT_TRANSCRIBED
    assert coverage.gap([Disfluency.FRAGMENT]) == "transcribed in part"
    assert coverage.gap([Disfluency.BLOCK], count=2) == coverage.gap([Disfluency.PAUSE]) == ""


@pytest.mark.parametrize("begin", ["not transcribed", "not transcribed by this model"])
def test_a_class_of_another_version_is_skipped(begin):
    found = read_coverage(transcript(f"{begin}: block, glottal catch; in part: yawn"))
    assert found == Coverage(frozenset({Disfluency.BLOCK}))
