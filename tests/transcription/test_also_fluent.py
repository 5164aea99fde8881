"""The cleaned text comes from the same decoding, is valid CHAT, and is never written over what a person wrote."""

from __future__ import annotations

import pytest
from tiny_whisper import teach

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.corpus import discover
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription import Transcriber, transcribe


def test_the_cleaned_text_is_written_beside_the_transcript(visit, scripted, tmp_path, monkeypatch):
    transcribe([visit], model=scripted, out=tmp_path)
    monkeypatch.delattr(Transcriber, "transcribe_with_scores")  # nothing is decoded again
    result = transcribe([visit], model=scripted, out=tmp_path, formats=["txt"], also_fluent=True)
    assert result.done[0].skipped
    cleaned = chat.read(tmp_path / "fluent" / "visit.cha", strict=True)
    assert chat.check(cleaned) == [] and cleaned.media == "visit"
    assert [each.text for each in cleaned.utterances] == ["I want it .", "the the dog sat ."] * 2
    written = chat.read(tmp_path / "visit.cha")
    assert [each.span for each in cleaned.utterances] == [each.span for each in written.utterances]
    assert (tmp_path / "fluent" / "visit.txt").read_text().splitlines() == ["I want it.", "the the dog sat."] * 2
    assert (tmp_path / "visit.txt").read_text().startswith("um I I I I want it.")


def test_the_fluent_style_of_a_trained_model_is_its_verbatim_text_without_disfluencies(visit, scripted, tmp_path):
    verbatim, fluent = (
        Transcriber(scripted, device="cpu", style=style, word_times=True).transcribe(visit)
        for style in (None, "fluent")
    )
    assert [each.text for each in fluent.transcript.utterances] == ["I want it .", "the the dog sat ."] * 2
    assert chat.check(fluent.transcript) == []
    said, kept = ({(each.text, each.start_ms, each.confidence) for each in one.words} for one in (verbatim, fluent))
    assert said > kept and len(fluent.words) == 14 and all(each.end_ms for each in fluent.words)
    before, after = (chat.serialize(one.transcript) for one in (verbatim, fluent))
    assert "not transcribed: filled pause" in after and "without its disfluencies" in after
    assert "without its disfluencies" not in before


def test_a_model_that_leaves_disfluencies_out_as_asked_needs_no_remedy(visit, scripted, capfd):
    transcribe([visit], model=scripted, style="fluent")
    assert "finetune" not in capfd.readouterr().err


def test_speech_of_disfluencies_that_are_left_out_is_not_missed(visit, tiny, tmp_path):
    model = teach(tiny, tmp_path / "model", "<|0.00|>&-um &-uh .<|4.00|>")
    verbatim, fluent = (
        Transcriber(model, device="cpu", style=style).transcribe_with_scores(Recording.open(visit))
        for style in (None, "fluent")
    )
    assert verbatim.transcript.utterances and not fluent.transcript.utterances
    assert fluent.missed == verbatim.missed
    assert not any("no words" in remark for remark in fluent.remarks)


def test_a_cleaned_text_that_was_changed_is_kept_and_corrections_go_into_others(visit, scripted, tmp_path):
    transcribe([visit], model=scripted, out=tmp_path, also_fluent=True)
    target, text = tmp_path / "visit.cha", tmp_path / "fluent" / "visit.txt"
    target.write_text(target.read_text().replace("the dog sat", "the frog sat"))
    transcribe([visit], model=scripted, out=tmp_path, also_fluent=True)
    assert "the the frog sat." in text.read_text()
    text.write_text("by hand")
    with pytest.raises(LsaWhisperError, match="changed since"):
        transcribe([visit], model=scripted, out=tmp_path, also_fluent=True)
    assert text.read_text() == "by hand"


def test_a_cleaned_text_is_no_session_of_a_corpus(visit, scripted):
    transcribe([visit], model=scripted, also_fluent=True)
    sessions, unused = discover(visit.parent)
    assert [each.path for each in sessions] == [visit.with_suffix(".cha")]
    (left,) = [each for each in unused if each.path.parent.name == "fluent"]
    assert "cleaned text of another transcript" in left.reason
