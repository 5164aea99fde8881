"""Timed segments of text -> a CHAT transcript: utterances, speakers, times of words, and how sure they are."""
