"""Both engines, and a model with a draft, write the same text; what CTranslate2 cannot do is said."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from rapidfuzz.distance import Levenshtein
from tiny_whisper import CONTEXT_S, build_checkpoint, silence, teach, voice

from lsa_whisper import chat, checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.audio.speech_energy import find_speech
from lsa_whisper.audio.speech_windows import pack_windows
from lsa_whisper.decoding.assisted import AssistedDecoder
from lsa_whisper.decoding.cross_attention import alignment_heads, cross_attention
from lsa_whisper.decoding.text_limits import token_limit
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import CheckpointError, LsaWhisperError, MissingExtraError
from lsa_whisper.transcription import transcribe

pytest.importorskip("ctranslate2")
ROOT = Path(__file__).resolve().parents[2]
LENGTHS_S = (1.0, 8.0, 0.3, 5.0, 2.0, 7.98)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A cache folder for this module's converted checkpoints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield checkpoint.cached_conversion


def ct2_decoder(folder, *, dtype="auto", **options):
    from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

    return CTranslate2Decoder(checkpoint.load_converted(folder, dtype=dtype), **options)


def same(one, other, tolerance=1e-3):
    assert [[(p.text, p.start_s, p.end_s) for p in w.segments] for w in one] == [
        [(p.text, p.start_s, p.end_s) for p in w.segments] for w in other
    ]
    assert [w.complete for w in one] == [w.complete for w in other]
    for a, b in zip(one, other, strict=True):
        assert a.avg_logprob == pytest.approx(b.avg_logprob, abs=tolerance)
        for p, q in zip(a.segments, b.segments, strict=True):
            assert p.avg_logprob == pytest.approx(q.avg_logprob, abs=tolerance)


@pytest.mark.parametrize("name", ["tiny", "scripted"])
def test_ctranslate2_equals_transformers(name, kept, request):
    folder = request.getfixturevalue(name)
    windows = [voice(length, seed=n) for n, length in enumerate(LENGTHS_S)]
    expected = TransformersDecoder(checkpoint.load(folder)).decode(windows)
    same(ct2_decoder(kept(folder), batch_size=4).decode(windows), expected)
    assert any(window.segments for window in expected)


@pytest.mark.parametrize(("name", "rate", "loops"), [("tiny", 5.0, 3), ("scripted", 0.0, 0)])
def test_of_a_loop_only_the_beginning_is_decoded(name, rate, loops, kept, request, monkeypatch):
    folder = request.getfixturevalue(name)
    windows = [voice(length, seed=n) for n, length in enumerate(LENGTHS_S)]
    loaded = checkpoint.load(folder)
    whole = TransformersDecoder(loaded).decode(windows)
    monkeypatch.setattr("lsa_whisper.decoding.window_decoder.usual_tokens_per_s", lambda _: rate)
    decoder = TransformersDecoder(loaded)
    found = decoder.decode(windows)
    same(ct2_decoder(kept(folder), batch_size=3).decode(windows), found)
    same(AssistedDecoder(loaded, draft=loaded).decode(windows), found)
    assert any(window.tokens > token_limit(0.0, 0, 128, rate) for window in whole)
    given_up = 0
    for length_s, full, cut in zip(LENGTHS_S, whole, found, strict=True):
        if cut.tokens == full.tokens:
            assert [segment.text for segment in cut.segments] == [segment.text for segment in full.segments]
            assert cut.complete == full.complete
        else:
            assert cut.tokens == token_limit(length_s, len(decoder.prompt), 128, rate) and not cut.complete
            assert "".join(s.text for s in full.segments).startswith("".join(s.text for s in cut.segments)[:-1])
            given_up += 1
    assert given_up == loops


def test_a_window_without_text_stays_empty(tiny, kept, tmp_path):
    folder = teach(tiny, tmp_path / "mute", "")
    windows = [silence(3.0), voice(2.0)]
    expected = TransformersDecoder(checkpoint.load(folder)).decode(windows)
    assert [window.segments for window in expected] == [(), ()]
    same(ct2_decoder(kept(folder)).decode(windows), expected)


def test_a_timestamp_after_the_audio_is_decoded_again(tiny, kept, tmp_path):
    folder = teach(tiny, tmp_path / "late", "<|0.20|>the cat sat .<|4.00|>")
    windows = [voice(5.0), voice(3.0, seed=1)]
    expected = TransformersDecoder(checkpoint.load(folder)).decode(windows)
    decoder = ct2_decoder(kept(folder))
    same(decoder.decode(windows), expected)
    assert expected[0].segments[0].end_s == 4.0 and expected[1].segments[-1].end_s <= 3.0


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "int16"])
def test_the_attention_of_a_converted_model_is_that_of_its_source(scripted, tmp_path, monkeypatch, dtype):
    from lsa_whisper.decoding.ctranslate2_attention import ConvertedAttention

    monkeypatch.setattr("lsa_whisper.decoding.ctranslate2_attention.fast_dtype", lambda _: torch.float32)
    model = checkpoint.load(scripted).model
    converted = checkpoint.load_converted(checkpoint.export(scripted, tmp_path / dtype, to="ct2", dtype=dtype))
    noise = torch.randn(2, 400, model.config.d_model, generator=torch.Generator().manual_seed(1))
    hidden, full = 20 * noise, model.config.max_target_positions - 2
    for rows in ([[5, 6, 7], [8]], [[5] * full, []]):
        with torch.inference_mode():
            expected = [*cross_attention(model, hidden, [1, 2], rows, alignment_heads(model))]
            found = [*ConvertedAttention(converted).of_rows(hidden, [1, 2], rows)]
        for own, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(own, theirs, atol=1e-5 if dtype == "float32" else 0.05)


def test_both_engines_time_the_same_tokens_alike(scripted, kept, monkeypatch):
    monkeypatch.setattr("lsa_whisper.decoding.ctranslate2_attention.fast_dtype", lambda _: torch.float32)
    windows = [voice(length, seed=n) for n, length in enumerate(LENGTHS_S)]
    expected = TransformersDecoder(checkpoint.load(scripted), word_times=True).decode(windows)
    found = ct2_decoder(kept(scripted), word_times=True).decode(windows)
    ours, theirs = (
        [
            edge
            for text in texts
            for part in text.segments
            for token in part.timed
            for edge in (token.start_s, token.end_s)
        ]
        for texts in (found, expected)
    )
    assert len(ours) > 20 and ours == pytest.approx(theirs, abs=0.02)


def test_weights_that_are_stored_once_have_all_their_names(tiny, kept):
    """The norms of untrained layers are equal, and stored once."""
    from lsa_whisper.checkpoint.converted_weights import ConvertedWeights

    weights = ConvertedWeights(Path(kept(tiny)))
    assert weights.layers() == checkpoint.load(tiny).model.config.decoder_layers
    first, last = (weights.tensor(f"decoder/layer_{layer}/ffn/layer_norm/gamma") for layer in (0, weights.layers() - 1))
    assert torch.equal(first, last)


@pytest.mark.parametrize("content", [b"", b"\x07\0\0\0", b"\x06\0\0\0\x04\0Gpt\0\x01\0\0\0"])
def test_weights_of_another_format_are_refused(tmp_path, content):
    from lsa_whisper.checkpoint.converted_weights import ConvertedWeights

    (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(CheckpointError, match="export the model again"):
        ConvertedWeights(tmp_path)


def test_a_model_without_timestamps_writes_none(scripted, kept, tmp_path):
    loaded = checkpoint.load(scripted)
    timestamps = sorted(checkpoint.timestamp_tokens(loaded.tokenizer))
    folder = Path(shutil.copytree(scripted, tmp_path / "without"))
    settings = json.loads((folder / "generation_config.json").read_text())
    settings["suppress_tokens"] = [*(settings.get("suppress_tokens") or []), *timestamps]
    (folder / "generation_config.json").write_text(json.dumps(settings))
    windows = [voice(3.0), voice(1.0)]
    out = checkpoint.export(folder, tmp_path / "ct2", to="ct2")
    expected = TransformersDecoder(checkpoint.load(folder)).decode(windows)
    same(ct2_decoder(out).decode(windows), expected)
    assert all((p.start_s, p.end_s) in ((0.0, 3.0), (0.0, 1.0)) for window in expected for p in window.segments)


def test_both_engines_give_the_same_chat(visit, scripted, kept, tmp_path):
    texts = []
    for engine in ("transformers", "ct2"):
        transcribe([visit], model=scripted, out=tmp_path / engine, engine=engine, dtype="float32", word_times=True)
        lines = (tmp_path / engine / "visit.cha").read_text().splitlines()
        texts.append([line for line in lines if line.startswith("*")])
        assert chat.check(chat.read(tmp_path / engine / "visit.cha", strict=True)) == []
        assert any(line.startswith("%wor") for line in lines)
    assert texts[0] == texts[1] and len(texts[0]) == 4


def test_a_checkpoint_is_converted_once(visit, scripted, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = transcribe([visit], model=scripted, out=tmp_path / "a", engine="ct2")
    told = capsys.readouterr().err
    (folder,) = (tmp_path / "cache" / "lsa-whisper" / "ct2").iterdir()
    assert str(folder) in told and "once" in told
    transcribe([visit], model=scripted, out=tmp_path / "b", engine="ct2")
    assert "once" not in capsys.readouterr().err
    exported = transcribe([visit], model=folder, out=tmp_path / "c", engine="ct2")
    texts = [[each.text for each in chat.read(done.done[0].transcript).utterances] for done in (first, exported)]
    assert texts[0] == texts[1] and texts[0]


CPU_INFO = Path("/proc/cpuinfo")
NO_VNNI = CPU_INFO.is_file() and "vnni" not in CPU_INFO.read_text("utf-8", errors="replace")
INT8 = pytest.param("int8", marks=pytest.mark.skipif(NO_VNNI, reason="without VNNI, sums of int8 products overflow"))


@pytest.mark.parametrize("dtype", [INT8, "float16"])
def test_smaller_exports_write_the_same(dtype, scripted, tmp_path):
    out = checkpoint.export(scripted, tmp_path / "out", to="ct2", dtype=dtype)
    assert not list(out.glob("*.safetensors")) and not list(out.glob("*.pt"))
    assert checkpoint.load_converted(out).labels == checkpoint.load(scripted).labels
    windows = [voice(4.0)]
    expected = TransformersDecoder(checkpoint.load(scripted)).decode(windows)
    same(ct2_decoder(out).decode(windows), expected, tolerance=0.1)


def test_limits_of_ctranslate2_are_reported(visit, tiny, scripted, kept, tmp_path, monkeypatch):
    with pytest.raises(CheckpointError, match="float8"):
        checkpoint.export(tiny, tmp_path / "out", to="ct2", dtype="float8")
    with pytest.raises(CheckpointError, match="use the engine ct2"):
        checkpoint.load(kept(scripted))
    with pytest.raises(CheckpointError, match="holds no CTranslate2 model"):
        checkpoint.load_converted(scripted)
    with pytest.raises(CheckpointError, match="nowhere"):
        checkpoint.load_converted(kept(scripted), device="nowhere")
    holed = Path(shutil.copytree(kept(scripted), tmp_path / "holed"))
    (holed / "generation_config.json").unlink()
    with pytest.raises(CheckpointError, match="no generation_config"):
        checkpoint.load_converted(holed)
    with pytest.raises(LsaWhisperError, match="draft"):
        transcribe([visit], model=scripted, out=tmp_path / "out", engine="ct2", draft=tiny)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(MissingExtraError, match=r"lsa-whisper\[ct2\]"):
        transcribe([visit], model=scripted, out=tmp_path / "out", engine="ct2")
    assert not (tmp_path / "out").exists()


def test_a_vocabulary_in_another_order_is_refused(tiny, tmp_path):
    loaded = checkpoint.load(tiny)
    loaded.tokenizer.add_tokens(["xyzzy"])
    loaded.model.generation_config.eos_token_id += 1
    with pytest.raises(CheckpointError, match=r"copy tokenizer\.json and generation_config\.json from the same model"):
        checkpoint.export(loaded, tmp_path / "out", to="ct2")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("dtype", "damage"), [("float32", 0.1), ("int8", 3.0)])
def test_a_conversion_that_went_wrong_is_not_kept(dtype, damage, tiny, tmp_path, monkeypatch):
    from lsa_whisper.checkpoint import exporting

    original = exporting.convert

    def damaged(loaded, *args, **options):
        with torch.no_grad():
            loaded.model.model.decoder.layer_norm.bias.add_(damage)
        return original(loaded, *args, **options)

    monkeypatch.setattr(exporting, "convert", damaged)
    with pytest.raises(CheckpointError, match="differs"):
        checkpoint.export(tiny, tmp_path / "out", to="ct2", dtype=dtype)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("guessing", ["tiny", "scripted"])
def test_a_draft_does_not_change_the_text(guessing, scripted, request):
    windows = [voice(length, seed=n) for n, length in enumerate(LENGTHS_S)]
    large, small = checkpoint.load(scripted), checkpoint.load(request.getfixturevalue(guessing))
    same(AssistedDecoder(large, draft=small).decode(windows), TransformersDecoder(large).decode(windows))
    same(AssistedDecoder(small, draft=large).decode(windows), TransformersDecoder(small).decode(windows))


def test_a_good_draft_saves_steps_of_the_model(scripted):
    calls = []
    loaded, draft = checkpoint.load(scripted), checkpoint.load(scripted)
    decoder = AssistedDecoder(loaded, draft=draft)
    loaded.model.model.decoder.register_forward_hook(lambda *_: calls.append(1))
    (result,) = decoder.decode([voice(4.0)])
    tokens = loaded.tokenizer.encode("".join(segment.text for segment in result.segments), add_special_tokens=False)
    assert 0 < len(calls) < len(tokens) / 3


def test_a_draft_with_another_vocabulary_is_refused(tiny, tmp_path):
    other = build_checkpoint(tmp_path, languages=("en", "es"))
    with pytest.raises(CheckpointError, match="its vocabulary differs"):
        AssistedDecoder(checkpoint.load(tiny), draft=checkpoint.load(other))


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "allowed"), [("float32", 0.005), ("int8", 0.04 if NO_VNNI else 0.02)])
def test_words_of_a_trained_model_are_the_same(dtype, allowed, kept):
    model = ROOT / "models" / "nano"
    loaded, windows = checkpoint.load(model), []
    for path in sorted((ROOT / "corpora" / "storybook" / "test").glob("*.flac")):
        recording = Recording.open(path)
        speech = find_speech(recording.stream(), SAMPLE_RATE_HZ)
        spans = pack_windows(speech, context_s=loaded.context_s, duration_s=recording.duration_s)
        windows += [recording.load(span) for span in spans]
    words = [
        [word for window in decoder.decode(windows) for segment in window.segments for word in segment.text.split()]
        for decoder in (TransformersDecoder(loaded), ct2_decoder(kept(model), dtype=dtype))
    ]
    assert len(words[0]) > 1000
    assert Levenshtein.distance(*words) <= allowed * len(words[0])


def test_the_context_is_the_same_in_both(tiny, kept):
    converted = checkpoint.load_converted(kept(tiny))
    assert converted.context_s == CONTEXT_S and converted.time_precision_s == 0.02
