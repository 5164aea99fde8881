"""Batchalign writes what our model wrote: every mark, every speaker, every time; and reads it again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

# Its core, not its name: pytest puts tests/ on the path, where this very folder is called batchalign.
pytest.importorskip("batchalign._core", reason="Batchalign is not installed: make test-batchalign")

import batchalign
from batchalign._core.proto import AsrSegment, LanguageSpecAuto, UtSegInput
from batchalign.chat import CHATFile

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.batchalign_engine import transcribe_with_batchalign
from lsa_whisper.batchalign_engine.backend import LsaWhisperBackend
from lsa_whisper.batchalign_engine.chat import finish
from lsa_whisper.chat import Participant, compose, utterance
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription import transcribe as own_transcribe

PAIRED = Path(__file__).resolve().parents[3] / "shared" / "data" / "paired"


def events(transcript):
    """How often each disfluency, fillers and fragments by their words, and each way to end an utterance occurs."""
    found = Counter()
    for each in transcript.utterances:
        found[each.terminator] += 1
        for event in each.events():
            found[event.kind, *each.verbatim()[event.start : event.end]] += 1
    return found


def reread(path):
    """What Batchalign's parser and ours find in a file; both must accept it."""
    with path.open(encoding="utf-8") as stream:
        document = CHATFile.read(stream)
    transcript = chat.read(path, strict=True)
    assert chat.check(transcript) == []
    assert [str(each.speaker.code) for each in document.utterances] == [each.speaker for each in transcript.utterances]
    return transcript


def through(backend, audio, out, *, cache=None, wor=False):
    """Run Batchalign's recipe by hand, as its own documentation shows it, and complete the file."""
    pipeline = batchalign.recipes.transcribe(
        asr_backend=backend, utseg_backend=backend, cache=cache or batchalign.CacheSpec.bypass(), workers=1
    )
    (outcome,) = pipeline.run([batchalign.inputs.media_from_path(audio, language="eng")])
    assert not outcome.is_failed, outcome.error
    outcome.write(str(out), strip_word_timing=not wor)
    finish(out, backend.pop(audio.stem))
    return reread(out)


@pytest.mark.parametrize("model", ["nano", "scripted"])
def test_batchalign_reads_transcripts_without_errors(model, storybook, tmp_path, request):
    """Not through the engine: by our own command, whose files nobody at Batchalign has touched."""
    recordings = [storybook / "test01.flac", storybook / "test04.flac"]
    result = own_transcribe(recordings, model=request.getfixturevalue(model), out=tmp_path, word_times=True)
    for each in result.done:
        written = reread(each.transcript)
        with each.transcript.open(encoding="utf-8") as stream:
            document = CHATFile.read(stream)
        assert len(document.utterances) == len(written.utterances) > 20
        assert sum(len(u.word_times) for u in written.utterances) > 100
        again = tmp_path / "again" / each.transcript.name
        again.parent.mkdir(exist_ok=True)
        with again.open("w", encoding="utf-8") as stream:
            document.write(stream)
        assert [u.text for u in reread(again).utterances] == [u.text for u in written.utterances]


@pytest.mark.parametrize("wor", [False, True], ids=["plain", "wor"])
def test_a_recording_keeps_marks_speakers_and_word_times(wor, scripted, storybook, tmp_path):
    audio = storybook / "test01.flac"
    transcribe_with_batchalign([audio], model=scripted, lang="eng", out=tmp_path, wor=wor)
    written = reread(tmp_path / "test01.cha")
    own = Transcriber(scripted, word_times=wor).transcribe(Recording.open(audio)).transcript
    assert [(u.speaker, u.text, u.span) for u in written.utterances] == [
        (u.speaker, u.text, u.span) for u in own.utterances
    ]
    found = events(written)
    assert found == events(own)
    for kind in ("filled_pause", "fragment", "repetition", "revision", "pause"):
        assert sum(count for key, count in found.items() if key[0] == kind) > 10, kind
    assert found["+//."] > 10
    assert {code: person.role for code, person in written.participants.items()} == {
        "CHI": "Target_Child",
        "ADU": "Adult",
    }
    assert [u.word_times for u in written.utterances] == [u.word_times for u in own.utterances]
    assert any(u.word_times for u in written.utterances) is wor


@pytest.mark.skipif(not PAIRED.exists(), reason="the real recordings are not beside the project")
def test_real_recordings_of_every_rate_come_through(scripted, tmp_path):
    recordings = sorted(PAIRED.glob("*.mp3"))
    result = transcribe_with_batchalign(recordings, model=scripted, lang="eng", out=tmp_path)
    assert not result.failed and len(result.done) == len(recordings) >= 3
    transcriber = Transcriber(scripted)
    for audio in recordings:
        written, own = reread(tmp_path / f"{audio.stem}.cha"), transcriber.transcribe(Recording.open(audio)).transcript
        assert events(written) == events(own) and events(written)
        assert [u.speaker for u in written.utterances] == [u.speaker for u in own.utterances]


class ReferenceTranscriber:
    """Returns the reference transcript of each recording."""

    def __init__(self, folder):
        self.folder = folder

    def transcribe(self, recording, *, progress=None):
        if progress:
            progress(recording.duration_s)
        return SimpleNamespace(transcript=chat.read(self.folder / f"{recording.path.name}.cha"))


def test_every_human_transcript_survives(storybook, tmp_path):
    backend = LsaWhisperBackend(ReferenceTranscriber(storybook), "reference")
    for number in (1, 2, 3):
        reference = chat.read(storybook / f"test0{number}.cha")
        audio = storybook / f"test0{number}.flac"
        written = through(backend, audio, tmp_path / f"test0{number}.cha", wor=True)
        assert [u.text for u in written.utterances] == [u.text for u in reference.utterances]
        assert [u.speaker for u in written.utterances] == [u.speaker for u in reference.utterances]
        assert [u.word_times for u in written.utterances] == [u.word_times for u in reference.utterances]
        assert events(written) == events(reference)


class Says:
    """Writes the given utterances for every recording."""

    def __init__(self, *utterances):
        self.utterances = utterances

    def transcribe(self, recording, *, progress=None):
        codes = dict.fromkeys(u.speaker for u in self.utterances) or ["PAR"]
        people = [Participant(code, "Participant") for code in codes]
        names = {"languages": ["eng"], "participants": people, "media": recording.path.stem}
        return SimpleNamespace(transcript=compose(**names, utterances=self.utterances))


@pytest.fixture
def second(tmp_path):
    """A recording of ten seconds of quiet noise, called second.wav."""
    path = tmp_path / "second.wav"
    soundfile.write(path, 1e-3 * np.random.default_rng(0).normal(size=441_000), 44_100)
    return path


def test_rejected_utterances_keep_their_words(second, tmp_path):
    spans = [TimeSpan(1000 * at, 1000 * at + 900) for at in range(6)]
    said = [
        "&-um one [/] one .",
        "I saw 12 dog’s | cats ?",
        "&+b [//] .",
        "$%& .",
        "no terminator",
        "two [//] three +...",
    ]
    backend = LsaWhisperBackend(Says(*(utterance("PAR", *each) for each in zip(said, spans, strict=True))), "odd")
    written = through(backend, second, tmp_path / "second.cha")
    assert [u.text for u in written.utterances] == [
        "&-um one [/] one .",
        "I saw dog's cats ?",
        "b .",
        "xxx .",
        "no terminator .",
        "two [//] three +...",
    ]
    assert [u.span for u in written.utterances] == spans


def test_two_who_speak_at_the_same_time_are_not_mixed_up(second, tmp_path):
    span = TimeSpan(500, 1500)
    backend = LsaWhisperBackend(Says(utterance("CHI", "I [/] I go .", span), utterance("MOT", "stop !", span)), "both")
    written = through(backend, second, tmp_path / "second.cha")
    assert [(u.speaker, u.text) for u in written.utterances] == [("CHI", "I [/] I go ."), ("MOT", "stop !")]


def test_an_utterance_without_words_is_one_xxx(second, tmp_path):
    written = through(LsaWhisperBackend(Says(), "nobody"), second, tmp_path / "second.cha", wor=True)
    assert [(u.text, u.span) for u in written.utterances] == [("xxx .", TimeSpan(0, 10_000))]


def test_two_models_never_answer_for_each_other(second, tmp_path):
    cache = batchalign.CacheSpec(str(tmp_path / "cache"))
    texts = []
    for words in ("one [/] one .", "two [//] three .", "one [/] one ."):
        backend = LsaWhisperBackend(Says(utterance("PAR", words, TimeSpan(0, 900))), "same")
        texts.append(through(backend, second, tmp_path / "second.cha", cache=cache).utterances[0].text)
    assert texts == ["one [/] one .", "two [//] three .", "one [/] one ."]


def test_the_name_differs_for_models_and_settings(scripted, nano, capsys):
    names = [
        LsaWhisperBackend.load(scripted).name,
        LsaWhisperBackend.load(scripted, word_times=True).name,
        LsaWhisperBackend.load(nano).name,
        LsaWhisperBackend.load(scripted).name,
    ]
    assert len(set(names)) == 4
    assert f"{nano}: Whisper" in capsys.readouterr().err
    without_nonce = [name.rpartition(":")[0] for name in names]
    assert len(set(without_nonce)) == 3 and without_nonce[0] == without_nonce[3]


def test_it_segments_only_its_own_transcripts():
    backend = LsaWhisperBackend(Says(), "other")
    row = AsrSegment(start_ms=0, end_ms=900, text="hello")
    item = UtSegInput(source_id="visit", segments=[row], language=LanguageSpecAuto(kind="auto"))
    with pytest.raises(LsaWhisperError, match="give the same backend"):
        backend.call([item])
