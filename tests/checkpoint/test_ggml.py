"""The file for whisper.cpp, run by whisper.cpp itself: the same text and times as ours."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech_energy import find_speech
from lsa_whisper.audio.speech_windows import pack_windows
from lsa_whisper.checkpoint.exporting_ggml import GGML_FILE
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import CheckpointError

ROOT = Path(__file__).resolve().parents[2]
NANO = ROOT / "models" / "nano"
STOCK = ROOT.parent / "shared" / "data" / "whisper" / "tiny.en-relearned-2"


@pytest.fixture(scope="module")
def windows():
    """The first windows of a recording, cut in silence."""
    recording = Recording.open(ROOT / "corpora" / "storybook" / "test" / "test01.flac")
    speech = find_speech(recording.stream(), 16_000)
    spans = pack_windows(speech, context_s=6.0, duration_s=recording.duration_s)
    return [recording.load(span) for span in spans[:6]]


def in_whisper_cpp(file, windows):
    """Decode with whisper.cpp as we do: greedily, and with the end of text allowed at once."""
    model = pytest.importorskip("pywhispercpp.model", reason="pywhispercpp is not installed (the dev extra has it)")
    # Flash attention, its default, computes less precisely and changes a word now and then.
    context = {"flash_attn": False}
    options = {"temperature_inc": 0.0, "suppress_blank": False, "no_context": True, "max_initial_ts": 6.0}
    program = model.Model(
        str(file), context_params=context, redirect_whispercpp_logs_to=None, n_threads=1, language="en", **options
    )
    return [[(each.text.strip(), each.t0 / 100) for each in program.transcribe(window)] for window in windows]


def test_whisper_cpp_writes_what_nano_writes(windows, tmp_path):
    file = checkpoint.export(NANO, tmp_path / "out", to="ggml") / GGML_FILE
    expected = TransformersDecoder(checkpoint.load(NANO)).decode(windows)
    found = in_whisper_cpp(file, windows)
    assert [[text for text, _ in each] for each in found] == [[s.text for s in each.segments] for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert [at for _, at in one] == pytest.approx([each.start_s for each in other.segments], abs=0.06)


@pytest.mark.slow
def test_an_english_model_of_openais_vocabulary_is_written_as_it_is(tmp_path):
    if not STOCK.is_dir():
        pytest.skip("needs ../shared/data/whisper")
    file = checkpoint.export(STOCK, tmp_path / "out", to="ggml") / GGML_FILE
    sizes = struct.unpack("<i11i2i", file.read_bytes()[:56])
    assert sizes == (0x67676D6C, 51864, 1500, 384, 6, 4, 448, 384, 6, 4, 80, 1, 80, 201)


def test_the_file_has_every_tensor_and_the_bytes_of_every_token(tmp_path):
    folder = build_checkpoint(tmp_path / "tiny")
    loaded = checkpoint.load(folder)
    with_shift = loaded.model.get_decoder().layer_norm
    with_shift.bias.data += 0.1
    made = checkpoint.export(loaded, tmp_path / "out", to="ggml") / GGML_FILE
    data = made.read_bytes()
    at = 4 + 11 * 4 + 8 + 40 * 201 * 4
    (count,) = struct.unpack_from("<i", data, at)
    texts, at = [], at + 4
    for _ in range(count):
        (length,) = struct.unpack_from("<i", data, at)
        texts.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    assert texts[loaded.tokenizer.convert_tokens_to_ids("Ġwant")] == b" want" and count == 50256
    tensors = {}
    while at < len(data):
        dims, length, kind = struct.unpack_from("<3i", data, at)
        shape = struct.unpack_from(f"<{dims}i", data, at + 12)[::-1]
        name = data[at + 12 + 4 * dims : at + 12 + 4 * dims + length].decode()
        at += 12 + 4 * dims + length
        tensors[name] = np.frombuffer(data, ("<f4", "<f2")[kind], int(np.prod(shape)), at).reshape(shape)
        at += tensors[name].nbytes
    assert len(tensors) == len(loaded.model.state_dict()) - 1
    embedding = tensors["decoder.token_embedding.weight"].astype(np.float32)
    end = loaded.model.generation_config.eos_token_id
    original = loaded.model.state_dict()["model.decoder.embed_tokens.weight"].numpy()
    assert embedding.shape[0] == 51864 and np.allclose(embedding[50256], original[end], atol=1e-3)
    assert np.allclose(embedding[:end], original[:end], atol=1e-3)
    state = with_shift(loaded.model.get_decoder().embed_positions.weight[:5]).detach().numpy()
    assert (state @ embedding[40_000] < -90).all()  # a token that no model has


def test_what_whisper_cpp_cannot_run_is_refused_in_one_sentence(tiny_languages, tmp_path):
    with pytest.raises(CheckpointError, match=r"no place for its token '<\|xx\|>'; use `to=hf`") as refused:
        checkpoint.export(tiny_languages, tmp_path / "out", to="ggml")
    assert str(refused.value).startswith(f"{tiny_languages}: "), "its own folder, and not a temporary one"
    with pytest.raises(CheckpointError, match=r"whisper\.cpp computes in float16, not in int8"):
        checkpoint.export(NANO, tmp_path / "out", to="ggml", dtype="int8")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def tiny_languages(tmp_path):
    return build_checkpoint(tmp_path / "languages", languages=("en", "xx"), multilingual=True)
