"""Distributed training: launching ranks, their environment, and DDP, FSDP2, ZeRO and tensor parallelism."""
