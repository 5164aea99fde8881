from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest

from lsa_whisper import chat
from lsa_whisper.decoding.confidences import Calibration
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.transcription import Transcriber, TranscriptionOptions, transcribe
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript
from lsa_whisper.transcription.options import OptionChanges
from lsa_whisper.transcription.result import TranscriptionResult


def test_keyword_arguments_are_the_fields_of_the_options():
    assert get_type_hints(OptionChanges) == get_type_hints(TranscriptionOptions)


def test_options_are_frozen_and_explained():
    with pytest.raises(FrozenInstanceError):
        TranscriptionOptions().language = "spa"
    source = Path(inspect.getfile(TranscriptionOptions)).read_text()
    for each in fields(TranscriptionOptions):
        (line,) = (line for line in source.splitlines() if line.startswith(f"    {each.name}: ") and "=" in line)
        assert f'{line}\n    """' in source, each.name


def test_every_problem_is_reported_at_once():
    with pytest.raises(LsaWhisperError) as error:
        TranscriptionOptions(engine="ct2", windows="sequential", draft="small", batch_size=0, vad="webrtc")
    for part in ("draft model", "takes no previous text", "batch size 0", "choose either, silero, energy"):
        assert part in str(error.value)
    with pytest.raises(LsaWhisperError, match="choose speech or sequential"):
        transcribe("a.wav", model="models/nano", windows="all")
    with pytest.raises(TypeError, match="langauge"):
        Transcriber("models/nano", langauge="eng")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": 0}, "`device=0`: expected str"),
        ({"beams": "5"}, "`beams='5'`: expected int or NoneType"),
        ({"retraces": "no", "channels": 1}, "`channels=1`: expected str; `retraces='no'`: expected bool"),
        ({"logprob_threshold": "-1"}, "`logprob_threshold='-1'`: expected float or NoneType or int"),
    ],
)
def test_a_value_of_another_type_is_named(options, message):
    with pytest.raises(LsaWhisperError, match=message):
        TranscriptionOptions(**options)
    assert TranscriptionOptions(words=["Ann"], logprob_threshold=-1, draft=Path("small")).words == ["Ann"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "Englsih"}, "language 'Englsih' is not known; name it"),
        ({"role": "Mothr"}, "unknown role 'Mothr'"),
    ],
)
def test_a_transcriber_refuses_what_the_command_refuses(options, message):
    with pytest.raises(LsaWhisperError, match=message):
        Transcriber("no/model/is/read", **options)


def test_keyword_arguments_change_the_given_options(visit, scripted):
    options = TranscriptionOptions(language="spa", speaker="CHI", role="Target_Child")
    result = Transcriber(scripted, options, language="eng").transcribe(visit)
    assert result.language == "eng" and {each.speaker for each in result.utterances} == {"CHI"}


def test_a_result_has_words_with_times_confidences_and_disfluencies(visit, scripted):
    result = Transcriber(scripted, word_times=True).transcribe(visit)
    first = result.utterances[0]
    assert (first.speaker, first.text) == ("PAR", "&-um I [/] I [/] I [/] I want it .")
    assert [word.text for word in first.words] == ["um", "I", "I", "I", "I", "want", "it"]
    kinds = [word.disfluency for word in first.words]
    assert kinds == ["filled_pause", *["repetition"] * 3, None, None, None]
    assert all(0 <= word.confidence <= 1 and word.start_ms < word.end_ms for word in first.words)
    assert first.start_ms <= first.words[0].start_ms and first.words[-1].end_ms <= first.end_ms
    assert len(result.words) == sum(len(each.words) for each in result.utterances) and result.duration_ms == 15_500
    assert chat.check(result.transcript) == []


def test_unknown_times_and_confidences_are_none():
    transcript = chat.compose(
        languages=["eng"],
        participants=[chat.Participant("PAR", "Participant")],
        utterances=[chat.utterance("PAR", "I see .")],
    )
    scored = ScoredTranscript(transcript, ((None, -0.5),))
    result = TranscriptionResult.of(scored, language="eng", duration_ms=0, calibration=Calibration())
    first, second = result.words
    assert (first.start_ms, first.confidence) == (None, None) and round(second.confidence, 2) == 0.61
    assert result.utterances[0].start_ms is None and round(result.utterances[0].confidence, 2) == 0.61


def test_a_transcriber_does_not_ignore_roles(scripted, visit):
    with pytest.raises(LsaWhisperError, match=r"need speaker turns, which `lsa_whisper\.transcribe` finds"):
        Transcriber(scripted, roles="CHI,MOT").transcribe(visit)


def test_samples_and_a_model_for_another_process_are_refused_with_a_remedy(scripted, visit):
    transcriber = Transcriber(scripted)
    with pytest.raises(LsaWhisperError, match=r"not ndarray; write samples to a file first: soundfile\.write"):
        transcriber.transcribe(np.zeros(16_000, np.float32))
    with pytest.raises(LsaWhisperError, match="not float32; write samples to a file"):
        transcribe(np.zeros(16_000, np.float32), scripted)
    with pytest.raises(LsaWhisperError, match="a path is empty"):
        transcribe("", scripted)
    with pytest.raises(LsaWhisperError, match="make one in each"):
        pickle.dumps(transcriber.transcribe)
    result = transcriber.transcribe(visit)
    assert pickle.loads(pickle.dumps(result)).words == result.words


def test_a_model_that_is_not_a_name_is_refused():
    with pytest.raises(CheckpointError, match="give a model's folder or name, not NoneType"):
        Transcriber(None)
