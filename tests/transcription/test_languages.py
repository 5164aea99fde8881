"""The language is detected, in each recording or in each window, and written where CHAT keeps it; by both engines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from tiny_whisper import build_checkpoint, silence, teach_sounds, voice

from lsa_whisper import chat, checkpoint
from lsa_whisper.decoding.window_decoder import LastEncoded
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.labels import Labels
from lsa_whisper.transcription import Transcriber, TranscriptionOptions, transcribe

ROOT = Path(__file__).resolve().parents[2]
GAP = silence(6.0, level=1e-4)


def buzz(duration_s):
    return (voice(duration_s, seed=5) * np.sign(np.sin(np.arange(round(duration_s * 16_000)) * 1.5))).astype(np.float32)


def taught(folder, **options):
    """A model that takes a voice for English and a buzz for Spanish."""
    made = build_checkpoint(folder, languages=("en", "es"), multilingual=True, **options)
    tokenizer = checkpoint.load(made, weights=False).tokenizer

    def text(words):
        said = tokenizer.encode(f"<|0.20|>{words}<|1.60|>", add_special_tokens=False)
        return lambda: said

    lessons = [(voice(3.0), "en", "<|en|>", text("the cat .")), (buzz(3.0), "es", "<|es|>", text("the dog ."))]
    return teach_sounds(made, folder / "taught", lessons)


@pytest.fixture(scope="module")
def bilingual(tmp_path_factory):
    return taught(tmp_path_factory.mktemp("bilingual"))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """A recording in each language, and one in both."""
    folder = tmp_path_factory.mktemp("sound")
    sounds = {"eng": [voice(3.0)], "spa": [buzz(3.0)], "both": [voice(3.0), buzz(3.0), voice(3.0)]}
    for name, parts in sounds.items():
        sound = np.concatenate([piece for part in parts for piece in (GAP, part)] + [GAP])
        soundfile.write(folder / f"{name}.wav", sound, 16_000)
    return folder


def written(folder, name):
    transcript = chat.read(folder / f"{name}.cha", strict=True)
    assert chat.check(transcript) == []
    return transcript, [each.text for each in transcript.utterances]


@pytest.mark.parametrize("engine", ["transformers", "ct2"])
def test_each_recording_has_the_language_that_is_heard(bilingual, recordings, engine, tmp_path):
    if engine == "ct2":
        pytest.importorskip("ctranslate2")
    chosen = [recordings / "eng.wav", recordings / "spa.wav"]
    transcribe(chosen, bilingual, out=tmp_path, language="auto", engine=engine, log=tmp_path / "log")
    for name, text in (("eng", "the cat ."), ("spa", "the dog .")):
        transcript, texts = written(tmp_path, name)
        assert (transcript.languages, texts) == ([name], [text])
        assert transcript.participants["PAR"].language == name
        assert f"the language was detected: {name}" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("engine", ["transformers", "ct2"])
def test_each_window_has_its_own_language(bilingual, recordings, engine):
    result = Transcriber(bilingual, language="mixed", engine=engine, batch_size=2).transcribe(recordings / "both.wav")
    assert result.transcript.languages == ["eng", "spa"] and result.language == "eng"
    assert [each.text for each in result.utterances] == ["the cat .", "[- spa] the dog .", "the cat ."]
    assert [word.text for word in result.utterances[1].words] == ["the", "dog"]
    assert result.utterances[1].words[0].confidence > 0.5
    assert chat.check(result.transcript) == []


def test_most_windows_decide_the_language_of_a_recording(bilingual, recordings):
    result = Transcriber(bilingual, language="auto").transcribe(recordings / "both.wav")
    assert result.transcript.languages == ["eng"] and len(result.utterances) == 3


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["transformers", "ct2"])
def test_another_language_is_not_translated_if_no_language_is_named(recordings, engine, tmp_path, monkeypatch):
    """A model without fine-tuning writes the language that it detects for certain, and English otherwise."""
    if engine == "ct2":
        pytest.importorskip("ctranslate2")
    monkeypatch.setattr("lsa_whisper.transcription.long_form.decode.MIN_SOUND_S", 0.5)
    stock = taught(tmp_path / "stock", labels=Labels("fluent"))
    transcriber = Transcriber(stock, engine=engine)
    results = {name: transcriber.transcribe(recordings / f"{name}.wav") for name in ("eng", "spa", "both")}
    assert {name: result.language for name, result in results.items()} == {"eng": "eng", "spa": "spa", "both": "eng"}
    assert [each.text for each in results["spa"].utterances] == ["the dog ."]
    comment = "this sounds Spanish and was transcribed as such; name another language with --language"
    assert [comment in result.remarks for result in results.values()] == [False, True, False]
    for options in ({"language": "eng"}, {"style": "verbatim"}):
        named = Transcriber(stock, engine=engine, **options).transcribe(recordings / "spa.wav")
        assert named.language == "eng" and any("again with --language Spanish" in remark for remark in named.remarks)
    encoded, original = [], LastEncoded.encoded

    def counted(self, windows, encode, *others):
        return original(self, windows, lambda some: encoded.append(len(some)) or encode(some), *others)

    monkeypatch.setattr(LastEncoded, "encoded", counted)
    Transcriber(stock, engine=engine, language="eng").transcribe(recordings / "both.wav")
    assert sum(encoded) == 3, "the window in which the language is heard is encoded once"


def test_silence_has_no_language(bilingual, tmp_path):
    soundfile.write(tmp_path / "still.wav", silence(3.0), 16_000)
    transcribe(tmp_path / "still.wav", bilingual, language="auto")
    assert written(tmp_path, "still")[0].languages == ["und"]


def test_what_a_stock_model_leaves_out_is_not_said_before_its_language_is_known(tmp_path, capsys):
    soundfile.write(tmp_path / "still.wav", silence(3.0), 16_000)
    transcribe(tmp_path / "still.wav", taught(tmp_path / "stock", labels=Labels("fluent")), language="auto")
    assert "NOTE: which disfluencies this model leaves out depends on the language" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["transformers", "ct2"])
def test_a_model_with_one_language_refuses_in_one_sentence(tiny, engine):
    for model in (tiny, ROOT / "models" / "nano"):
        with pytest.raises(CheckpointError, match="knows one language only, so none can be detected"):
            Transcriber(model, language="auto", engine=engine)


def test_a_prompt_needs_one_language():
    with pytest.raises(LsaWhisperError, match="use --windows speech"):
        TranscriptionOptions(language="mixed", windows="sequential")


def test_a_prompt_follows_the_language_of_the_recording(bilingual, recordings):
    result = Transcriber(bilingual, language="auto", windows="sequential").transcribe(recordings / "spa.wav")
    assert result.transcript.languages == ["spa"] and {each.text for each in result.utterances} == {"the dog ."}
