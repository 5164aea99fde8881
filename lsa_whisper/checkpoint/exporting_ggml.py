"""The file format of whisper.cpp (``ggml``), written from its description in whisper.cpp's ``models/README.md``.

One file: a magic number, eleven sizes, the mel filters, the texts of the tokens, and the tensors under OpenAI's names.
whisper.cpp has the ids of special tokens built in. So the rows of a model with a vocabulary of its own are moved to
where OpenAI's ids are (:func:`positions_of_tokens`); the rows between them, which no token has, get a logit that never
wins.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from lsa_whisper.checkpoint.loading import Checkpoint
from lsa_whisper.checkpoint.vocabulary import has_timestamps, is_multilingual, special_offset, timestamp_tokens
from lsa_whisper.checkpoint.whisper_constants import TIMESTAMP_STEP_S
from lsa_whisper.errors import CheckpointError

GGML_FILE = "ggml-model.bin"
"""The name of the file in the exported folder."""
GGML_DTYPE = "float16"
"""How its matrices are stored: whisper.cpp's convolutions take no float32."""
_MAGIC = 0x67676D6C  # "ggml"
_SINGLE, _HALF = 0, 1
_ENGLISH_ROWS, _MULTILINGUAL_ROWS = 51864, 51865  # whisper.cpp tells vocabularies apart by their number of rows
_UNUSED_LOGIT = -100.0
_MIN_SHIFT = 0.05
_PARTS = {
    "layers": "blocks", "self_attn": "attn", "encoder_attn": "cross_attn", "self_attn_layer_norm": "attn_ln",
    "encoder_attn_layer_norm": "cross_attn_ln", "final_layer_norm": "mlp_ln", "q_proj": "query", "k_proj": "key",
    "v_proj": "value", "out_proj": "out", "fc1": "mlp.0", "fc2": "mlp.2", "embed_tokens": "token_embedding",
}  # fmt: skip
"""transformers' names of the parts of a tensor's name -> OpenAI's."""


def write_ggml(checkpoint: Checkpoint, path: Path) -> Path:
    """Write a merged checkpoint as one file for whisper.cpp and return its path.

    Raises:
        CheckpointError: whisper.cpp cannot run such a model.
    """
    rows, positions = positions_of_tokens(checkpoint)
    with path.open("wb") as file:
        file.write(struct.pack("<i", _MAGIC))
        file.write(struct.pack("<11i", *_sizes(checkpoint.model.config, rows), _HALF))
        filters = checkpoint.feature_extractor.mel_filters
        bins, mels = filters.shape
        file.write(struct.pack("<2i", mels, bins) + filters.T.astype("<f4").tobytes())
        _write_texts(file, checkpoint.tokenizer, _first_special(rows))
        for name, tensor in checkpoint.model.state_dict().items():
            if name == "proj_out.weight":  # the same tensor as the embedding
                continue
            if name.endswith("embed_tokens.weight"):
                tensor = _moved(checkpoint, tensor, rows, positions)
            _write_tensor(file, _openai_name(name), tensor)
    return path


def _sizes(config: Any, rows: int) -> tuple[int, ...]:
    return (
        rows, config.max_source_positions, config.d_model, config.encoder_attention_heads, config.encoder_layers,
        config.max_target_positions, config.d_model, config.decoder_attention_heads, config.decoder_layers,
        config.num_mel_bins,
    )  # fmt: skip


def _first_special(rows: int) -> int:
    """Return the id of ``<|endoftext|>`` in OpenAI's vocabulary of this many rows."""
    return 50256 if rows < _MULTILINGUAL_ROWS else 50257


def _special_ids(rows: int) -> dict[str, int]:
    """Return OpenAI's ids of special tokens, languages and the first timestamp in a vocabulary of this many rows."""
    from transformers.models.whisper.tokenization_whisper import LANGUAGES

    end, languages = _first_special(rows), rows - 51766 if rows >= _MULTILINGUAL_ROWS else 99
    after = end + 2 + languages
    names = ("<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>")
    ids = {"<|endoftext|>": end, "<|startoftranscript|>": end + 1}
    ids |= {f"<|{code}|>": end + 2 + place for place, code in enumerate([*LANGUAGES][:languages])}
    ids |= {name: after + place for place, name in enumerate(names)}
    return ids | {"<|nocaptions|>": ids["<|nospeech|>"], "<|0.00|>": after + len(names)}


def positions_of_tokens(checkpoint: Checkpoint) -> tuple[int, dict[int, int] | None]:
    """Return the rows of the written vocabulary, and where each row goes; ``None`` if it is OpenAI's own.

    Raises:
        CheckpointError: A token has no place in OpenAI's vocabulary.
    """
    tokenizer, settings, size = checkpoint.tokenizer, checkpoint.model.generation_config, checkpoint.model.config
    vocab, stamps = tokenizer.get_added_vocab(), timestamp_tokens(tokenizer)
    if not has_timestamps(tokenizer, settings) or special_offset(tokenizer, settings):
        raise CheckpointError(f"{checkpoint.path}: whisper.cpp needs a model that writes timestamps; use `to=hf`")
    if size.vocab_size >= _ENGLISH_ROWS and vocab.get("<|0.00|>") == _special_ids(size.vocab_size)["<|0.00|>"]:
        return size.vocab_size, None
    rows = _MULTILINGUAL_ROWS if is_multilingual(settings) else _ENGLISH_ROWS
    ids, positions = _special_ids(rows), dict[int, int]()
    for token, index in tokenizer.get_vocab().items():
        if index in stamps:
            positions[index] = ids["<|0.00|>"] + round(stamps[index] / TIMESTAMP_STEP_S)
        else:
            positions[index] = ids.get(token, -1) if token in vocab else index
        if not 0 <= positions[index] < rows or (token not in vocab and index >= ids["<|endoftext|>"]):
            raise CheckpointError(f"{checkpoint.path}: whisper.cpp has no place for its token {token!r}; use `to=hf`")
    return rows, positions


def _moved(checkpoint: Checkpoint, embedding: Any, rows: int, positions: Mapping[int, int] | None) -> Any:
    """Return the embedding with each row in its place, and in the others a row of constant, very low logit.

    The decoder's last layer norm is z * w + b, where the z of each position sum to zero. So a row c / w has the logit
    c * sum(b / w), whatever is decoded.
    """
    import torch

    if positions is None:
        return embedding
    norm = checkpoint.model.get_decoder().layer_norm
    weight, bias = norm.weight.detach().float(), norm.bias.detach().float()
    shift = float((bias / weight).sum())
    if not weight.abs().min() > 0 or not abs(shift) > _MIN_SHIFT:
        raise CheckpointError(
            f"{checkpoint.path}: its last layer norm leaves no way to mark unused tokens, which whisper.cpp needs for "
            "a vocabulary of its own; use `to=hf`"
        )
    moved = (_UNUSED_LOGIT / shift / weight).to(embedding.dtype).repeat(rows, 1)
    moved[torch.tensor([*positions.values()])] = embedding[torch.tensor([*positions])]
    return moved


def _openai_name(name: str) -> str:
    """Return OpenAI's name of a tensor.

    >>> _openai_name("model.decoder.layers.0.encoder_attn.k_proj.weight")
    'decoder.blocks.0.cross_attn.key.weight'
    >>> _openai_name("model.encoder.layer_norm.bias"), _openai_name("model.decoder.embed_positions.weight")
    ('encoder.ln_post.bias', 'decoder.positional_embedding')
    """
    name = name.removeprefix("model.").replace("embed_positions.weight", "positional_embedding")
    name = re.sub(r"^(encoder|decoder)\.layer_norm\b", lambda at: f"{at[1]}.ln{'_post' * (at[1] == 'encoder')}", name)
    return ".".join(_PARTS.get(part, part) for part in name.split("."))


def _write_texts(file: IO[bytes], tokenizer: Any, end: int) -> None:
    """Write the bytes of every token of text; whisper.cpp names the special tokens itself."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    byte_of = {letter: byte for byte, letter in bytes_to_unicode().items()}
    added_ids = {*tokenizer.get_added_vocab().values()}
    words = {index: token for token, index in tokenizer.get_vocab().items() if index not in added_ids}
    file.write(struct.pack("<i", end))
    for index in range(end):
        text = bytes(byte_of[letter] for letter in words.get(index, ""))
        file.write(struct.pack("<i", len(text)) + text)


def _write_tensor(file: IO[bytes], name: str, tensor: Any) -> None:
    array = tensor.detach().float().cpu().numpy()
    if "conv" in name and name.endswith(".bias"):
        array = array.reshape(-1, 1)
    half = array.ndim > 1 and not name.endswith(("positional_embedding", ".bias"))
    title = name.encode()
    file.write(struct.pack("<3i", array.ndim, len(title), _HALF if half else _SINGLE))
    file.write(struct.pack(f"<{array.ndim}i", *array.shape[::-1]) + title)
    file.write(array.astype("<f2" if half else "<f4").tobytes())
