"""Distributed training: launching ranks, finding their environment, and the strategies DDP, FSDP2 and ZeRO."""
