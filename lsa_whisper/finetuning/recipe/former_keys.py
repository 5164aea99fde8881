"""Keys of recipes that were written for earlier versions of this package."""

from __future__ import annotations

FORMER_KEYS = {
    "adapter.targets": "adapter.target_modules",
    "adapter.parts": "adapter.stacks",
    "adapter.embeddings": "adapter.token_embeddings",
    "data.untrimmed": "data.full_length_share",
    "data.augment.speed": "data.augment.speed_perturbation",
    "data.augment.snr_db": "data.augment.noise_snr_db",
    "data.augment.time_masks": "data.augment.mask_time_prob",
    "data.augment.mel_masks": "data.augment.mask_feature_prob",
    "evaluation.elsewhere": "evaluation.out_of_domain",
    "evaluation.every": "evaluation.every_steps",
    "evaluation.windows": "evaluation.max_windows",
    "fsdp.shard": "fsdp.sharding_strategy",
    "fsdp.low_ram": "fsdp.cpu_ram_efficient_loading",
    "loss.smoothing": "loss.label_smoothing",
    "loss.stay_near_base": "loss.kl_to_base",
    "model.train": "model.freeze_encoder",
    "model.scratch.heads": "model.scratch.attention_heads",
    "model.scratch.mels": "model.scratch.mel_bins",
    "model.scratch.target_positions": "model.scratch.max_target_positions",
    "model.scratch.vocabulary": "model.scratch.vocab_size",
    "model.scratch.vocabulary_texts": "model.scratch.vocab_manifests",
    "offload.path": "offload.nvme_path",
}
"""Each former key with the one that took its place."""
