"""The page on transcripts: measures, disfluencies, their timeline, trends over the sessions of a child, clips."""

from lsa_whisper.inspection.sample.page import write_sample_page

__all__ = ["write_sample_page"]
