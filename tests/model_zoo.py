"""Tiny random models of every published shape of Whisper, with the published tokenizers and settings.

The tokenizers of OpenAI's models are those of ``shared/data/whisper``. CrisperWhisper's are made from them as its
authors describe: version 1 has no token that begins with a space, version 2 has 31 more tokens.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.checkpoint.whisper_constants import PROMPT_MARKS
from lsa_whisper.labels.decode import EVENT_TOKENS

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "whisper"
TEACHER_HEADS = [[7, 0], [10, 17], [12, 18], [13, 12], [16, 1], [17, 14], [19, 11], [21, 4], [24, 1], [25, 6]]
TURBO_HEADS = [[2, 4], [2, 11], [3, 3], [3, 6], [3, 11], [3, 14]]


@dataclass(frozen=True)
class Kind:
    """A published shape.

    Attributes:
        examples: Names of models of this shape.
        processor: The folder of its tokenizer.
        layers: Of encoder and decoder.
        width: ``d_model`` and attention heads.
        heads: The published alignment heads; ``None`` for those of ``generation``.
        generation: The folder of its generation settings, if it is another.
        crisper: Version of CrisperWhisper.
    """

    examples: str
    processor: str
    mels: int
    rows: int
    layers: tuple[int, int]
    width: tuple[int, int]
    heads: list | None = None
    generation: str = ""
    crisper: int = 0


ZOO = {
    "whisper": Kind(
        "`whisper-tiny` to `whisper-large-v2`", "processor", 80, 51865, (32, 32), (1280, 20), None,
        "generation_configs/large-v2",
    ),
    "en": Kind("`whisper-tiny.en` to `whisper-medium.en`", "processor-tiny.en", 80, 51864, (4, 4), (384, 6)),
    "large-v3": Kind("`whisper-large-v3`", "processor-large-v3", 128, 51866, (32, 32), (1280, 20)),
    "turbo": Kind("`whisper-large-v3-turbo`", "processor-large-v3", 128, 51866, (32, 4), (1280, 20), TURBO_HEADS),
    "distil": Kind("`distil-large-v3`", "processor-large-v3", 128, 51866, (32, 2), (1280, 20), []),
    "kotoba": Kind(
        "`kotoba-whisper-v2.0`, `-bilingual`", "processor-large-v3", 128, 51866, (32, 2), (1280, 20), TEACHER_HEADS
    ),
    "crisper-1": Kind("CrisperWhisper 1", "processor-large-v3", 128, 51866, (32, 32), (1280, 20), crisper=1),
    "crisper-2": Kind(
        "CrisperWhisper 2", "processor", 80, 51896, (32, 32), (1280, 20), None, "generation_configs/large-v2", crisper=2
    ),
}  # fmt: skip


def are_here():
    return all((SHARED / kind.processor / "tokenizer.json").is_file() for kind in ZOO.values())


def _with_spaces_apart(tokenizer):
    """Make the spaces of a byte-pair vocabulary tokens of their own: CrisperWhisper 1."""
    model = tokenizer["model"]
    known = {token for token in model["vocab"] if not token.startswith("Ġ") or token == "Ġ"}
    vocabulary = {}
    for token, index in model["vocab"].items():
        bare = token.lstrip("Ġ")
        if token in known:
            vocabulary[token] = index
        elif bare and bare not in known:
            vocabulary.setdefault(bare, index)
    merges = {}
    for merge in model["merges"]:
        left, right = (part.replace("Ġ", "") for part in (merge if isinstance(merge, list) else merge.split(" ")))
        if left in vocabulary and right in vocabulary and left + right in vocabulary:
            merges.setdefault((left, right))
    tokenizer["model"] = model | {"vocab": vocabulary, "merges": [list(pair) for pair in merges]}


def write_tokenizer(kind, folder):
    """Write the tokenizer of a kind."""
    source = SHARED / kind.processor
    tokenizer = json.loads((source / "tokenizer.json").read_text("utf-8"))
    if kind.crisper == 1:
        _with_spaces_apart(tokenizer)
    if kind.crisper == 2:
        first = max(token["id"] for token in tokenizer["added_tokens"]) + 1
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
        tokenizer["added_tokens"] += [
            {"id": first + at, "content": token} | flags for at, token in enumerate((*EVENT_TOKENS, *PROMPT_MARKS))
        ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")
    (folder / "tokenizer_config.json").write_bytes((source / "tokenizer_config.json").read_bytes())


def _settings(kind, layers, width, heads, listed):
    ids = {"bos_token_id": 50257, "eos_token_id": 50257, "pad_token_id": 50257, "decoder_start_token_id": 50258}
    if kind.processor.endswith(".en"):
        ids = {name: index - 1 for name, index in ids.items()}
    generation = json.loads((SHARED / (kind.generation or kind.processor) / "generation_config.json").read_text())
    generation |= ids
    if listed is not None:
        generation["alignment_heads"] = listed
    config = {
        "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "vocab_size": kind.rows,
        "num_mel_bins": kind.mels, "d_model": width, "encoder_layers": layers[0], "decoder_layers": layers[1],
        "encoder_attention_heads": heads, "decoder_attention_heads": heads, "encoder_ffn_dim": 4 * width,
        "decoder_ffn_dim": 4 * width, "max_source_positions": 1500, "max_target_positions": 448, **ids,
    }  # fmt: skip
    extractor = {"feature_size": kind.mels, "chunk_length": 30, "hop_length": 160, "n_fft": 400}
    return (
        config,
        generation,
        extractor | {"sampling_rate": 16_000, "feature_extractor_type": "WhisperFeatureExtractor"},
    )


def _write_settings(folder, config, generation, extractor):
    for name, content in (
        ("config.json", config),
        ("generation_config.json", generation),
        ("preprocessor_config.json", extractor),
    ):
        (folder / name).write_text(json.dumps(content, indent=1), "utf-8")


def write_published(name, folder):
    """Write a model folder with the published sizes; its weights file holds their shapes and a hole."""
    kind = ZOO[name]
    write_tokenizer(kind, folder)
    config, generation, extractor = _settings(kind, kind.layers, *kind.width, kind.heads)
    _write_settings(folder, config, generation, extractor)
    width, inner = config["d_model"], config["encoder_ffn_dim"]
    shapes = {
        "encoder.conv1.weight": (width, kind.mels, 3),
        "encoder.embed_positions.weight": (1500, width),
        "decoder.embed_positions.weight": (448, width),
        "decoder.embed_tokens.weight": (kind.rows, width),
    }
    for stack, count in zip(("encoder", "decoder"), kind.layers, strict=True):
        shapes |= {f"{stack}.layers.{at}.fc1.weight": (inner, width) for at in range(count)}
    header, at = {}, 0
    for tensor, shape in shapes.items():
        size = 2 * shape[0] * shape[1] * (shape[2] if len(shape) > 2 else 1)
        header[f"model.{tensor}"] = {"dtype": "F16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)
    return folder


def write_tiny(name, folder):
    """Write a model of this kind with random weights: tiny, with the published vocabulary and decoder layers."""
    import torch
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    kind = ZOO[name]
    layers = (3, min(2, kind.layers[1])) if kind.layers[1] < kind.layers[0] else (2, 2)
    write_tokenizer(kind, folder)
    listed = kind.heads if kind.heads in ([], TEACHER_HEADS) else [[1, 0]]
    config, generation, extractor = _settings(kind, layers, 16, 2, listed)
    torch.manual_seed(0)
    WhisperForConditionalGeneration(WhisperConfig(**config, suppress_tokens=None)).save_pretrained(folder)
    _write_settings(folder, config, generation, extractor)
    return folder


HEAD = ("models", "mel bins", "tokens", "first timestamp", "layers", "alignment heads", "languages", "what to know")


def table(folder):
    """Return the table of all kinds as Markdown, from what ``doctor --model`` finds in their published shapes."""
    from lsa_whisper.checkpoint import model_overview

    lines = [f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
    for name, kind in ZOO.items():
        rows = {row.name: row for row in model_overview(write_published(name, folder / name))}
        rows.pop("disfluencies", None)  # of every kind; the page has a section about them
        remarks = [f"{row.name}: {row.remedy}" for row in rows.values() if row.state == "warn"]
        if kind.crisper:
            remarks.insert(0, rows["model"].fact.partition(": ")[2])
        heads = rows["alignment heads"]
        cells = (
            kind.examples,
            rows["mels"].fact.split()[0],
            rows["vocabulary"].fact.split()[2],
            rows["timestamps"].fact.partition("token ")[2].partition(";")[0],
            "{0[0]} + {0[1]}".format([word for word in rows["layers"].fact.split() if word.isdecimal()]),
            heads.fact.split()[0] if heads.state == "ok" else "of the teacher" if "distilled" in heads.fact else "none",
            rows["languages"].fact.removesuffix(" languages"),
            "; ".join(remarks) or "nothing",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        print(table(Path(place)))
