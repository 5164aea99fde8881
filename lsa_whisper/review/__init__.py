"""Checking and correcting transcripts beside their recordings, on a page that this machine serves to itself.

``edits`` are functions from transcript to transcript; ``history`` undoes them and ``saved`` stores them. ``view`` is a
transcript as the page shows it, with confidences (``word_confidence``) and the errors that are probably left
(``corrections``). ``application`` serves page and data behind ``guard``, and ``server`` runs it.
"""

from lsa_whisper.review.server import review

__all__ = ["review"]
