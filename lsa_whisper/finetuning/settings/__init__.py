"""The settings of a fine-tuning run as plain values; :mod:`lsa_whisper.finetuning.recipe` reads and checks them."""
