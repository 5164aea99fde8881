"""A random Whisper of the demo model's shape: short context, 40 mels, a small vocabulary of its own."""

from __future__ import annotations

import json

import numpy as np

CONTEXT_S = 8
TEXT = """&-um I want [/] want it . the cat [//] the dog sat on a mat , didn't it ?
&-uh we &+fr f:riend went home +... she said <I go> [//] I went (.) and then ba:by slept !"""


def build_tokenizer(folder, *, languages=("en",), special=()):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [TEXT], trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    )
    added = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{code}|>" for code in languages)]
    added += ["<|transcribe|>", *special, "<|notimestamps|>"]
    tokenizer.add_special_tokens(added)
    tokenizer.add_tokens([f"<|{index * 0.02:.2f}|>" for index in range(CONTEXT_S * 50 + 1)])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "WhisperTokenizer",
        "bos_token": "<|endoftext|>",
        "eos_token": "<|endoftext|>",
        "unk_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "model_max_length": 128,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def build_checkpoint(folder, *, languages=("en",), multilingual=False, width=48, layers=2, labels=None, special=()):
    """Write a random checkpoint the way ``save`` writes trained ones, and return its folder."""
    import torch
    from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

    from lsa_whisper.checkpoint import save
    from lsa_whisper.labels import Labels

    tokenizer = build_tokenizer(folder / "tokenizer", languages=languages, special=special)
    ids = tokenizer.get_added_vocab()
    config = WhisperConfig(
        vocab_size=len(tokenizer) + 3,
        num_mel_bins=40,
        max_source_positions=CONTEXT_S * 50,
        max_target_positions=128,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=2 * width,
        decoder_ffn_dim=2 * width,
        pad_token_id=ids["<|endoftext|>"],
        bos_token_id=ids["<|endoftext|>"],
        eos_token_id=ids["<|endoftext|>"],
        decoder_start_token_id=ids["<|startoftranscript|>"],
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    torch.manual_seed(0)
    model = WhisperForConditionalGeneration(config)
    settings = GenerationConfig(
        decoder_start_token_id=config.decoder_start_token_id,
        eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id,
        no_timestamps_token_id=ids["<|notimestamps|>"],
        suppress_tokens=[ids["<|startoftranscript|>"], *tokenizer.encode("[/", add_special_tokens=False)],
        alignment_heads=[[1, 0], [1, 2]],
    )
    settings.is_multilingual = multilingual
    if multilingual:
        settings.lang_to_id = {f"<|{code}|>": ids[f"<|{code}|>"] for code in languages}
        settings.task_to_id = {"transcribe": ids["<|transcribe|>"]}
    model.generation_config = settings
    return save(
        folder / "model",
        model=model,
        feature_extractor=WhisperFeatureExtractor(feature_size=40, chunk_length=CONTEXT_S),
        tokenizer=tokenizer,
        labels=labels or Labels("chat"),
        provenance={"made": "for a test"},
    )


def teach(folder, out, sentence, *, steps=120):
    """Write a copy of a checkpoint that says ``sentence`` (with its time stamps) whatever it hears."""
    import torch

    from lsa_whisper import checkpoint

    loaded = checkpoint.load(folder)
    prompt = checkpoint.decoder_prompt(loaded.tokenizer, loaded.model.generation_config)
    ids = prompt + loaded.tokenizer.encode(sentence, add_special_tokens=False) + [loaded.model.config.eos_token_id]
    inputs, labels = torch.tensor([ids[:-1]]), torch.tensor([ids[1:]])
    labels[:, : len(prompt) - 1] = -100
    hidden = torch.zeros(1, loaded.model.config.max_source_positions, loaded.model.config.d_model)
    optimizer = torch.optim.AdamW(loaded.model.model.decoder.parameters(), lr=5e-3)
    for _ in range(steps):
        loss = loaded.model(
            encoder_outputs=(hidden + torch.randn_like(hidden),), decoder_input_ids=inputs, labels=labels
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer, "labels": loaded.labels}
    return checkpoint.save(out, model=loaded.model, **parts)


def teach_sounds(folder, out, lessons, *, steps=80, settings=None):
    """Write a copy of a multilingual checkpoint that tells sounds apart.

    Each lesson is a sound, the language of its prompt, the token that is due right after the start token, and a
    function that returns the tokens of its text, all of one length.
    """
    import torch

    from lsa_whisper import checkpoint
    from lsa_whisper.decoding.window_decoder import log_mel

    loaded = checkpoint.load(folder)
    model, tokenizer = loaded.model, loaded.tokenizer
    sounds, languages, heard, texts = zip(*lessons, strict=True)
    features = log_mel(loaded.feature_extractor, sounds, CONTEXT_S)
    prompts = [checkpoint.decoder_prompt(tokenizer, model.generation_config, language=each) for each in languages]
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        said = [[*prompt, *text(), model.config.eos_token_id] for prompt, text in zip(prompts, texts, strict=True)]
        rows = torch.tensor(said)
        inputs, labels = rows[:, :-1], rows[:, 1:].clone()
        labels[:, : len(prompts[0]) - 1] = -100
        labels[:, 0] = torch.tensor([tokenizer.convert_tokens_to_ids(token) for token in heard])
        loss = model(input_features=features, decoder_input_ids=inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for name, value in (settings or {}).items():
        setattr(model.generation_config, name, value)
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": tokenizer, "labels": loaded.labels}
    return checkpoint.save(out, model=model, **parts)


def voice(duration_s, *, rate_hz=16_000, seed=0):
    """Return something that rises and falls like syllables, four a second."""
    time_s = np.arange(round(duration_s * rate_hz)) / rate_hz
    noise = np.random.default_rng(seed).normal(size=len(time_s))
    tone = np.sin(2 * np.pi * 180 * time_s) + 0.5 * np.sin(2 * np.pi * 1200 * time_s) + 0.2 * noise
    return (0.2 * tone * (0.15 + np.sin(2 * np.pi * 2 * time_s) ** 2)).astype(np.float32)


def silence(duration_s, *, rate_hz=16_000, level=0.0, seed=1):
    """Return silence, or quiet noise of a standard deviation ``level``."""
    return (level * np.random.default_rng(seed).normal(size=round(duration_s * rate_hz))).astype(np.float32)
