"""Processes that train together: launching them, their ranks, and the strategies DDP, FSDP2 and ZeRO."""
