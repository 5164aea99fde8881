"""Decoded segments -> a CHAT transcript: utterances, speakers, word times and confidences."""
