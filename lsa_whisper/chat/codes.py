"""CHAT's closed lists: roles, headers and their values, options, dependent tiers, form markers."""

from __future__ import annotations

import re

_ROLE_NAMES = """
    Adult Attorney Audience Boy Brother Caretaker Child Doctor Environment Father Female Friend Girl Grandfather
    Grandmother Group Guest Host Informant Investigator Justice LENA Leader Male Media Member Mother Narrator Nurse
    Other Participant Partner Player PlayRole Playmate Relative Sibling Sister Speaker Student Subject Target_Adult
    Target_Child Teacher Teenager Text Therapist Uncertain Unidentified Visitor Witness
"""
PARTICIPANT_ROLES = frozenset(_ROLE_NAMES.split())

MAX_SPEAKER_CODE = 8
"""CLAN's CHECK rejects longer speaker codes."""
SPEAKER_CODE = re.compile(r"[A-Za-z0-9_'-]+")

SEXES = ("female", "male")
SES_VALUES = ("WC", "UC", "MC", "LI")
ETHNICITIES = ("White", "Black", "Latino", "Asian", "Pacific", "Native", "Multiple", "Unknown")
AGE = re.compile(r"\d{1,3};(?:(\d\d)\.(\d\d)?)?")

OPTIONS = ("CA", "CA-Unicode", "IPA", "NoAlign", "bullets", "dummy", "heritage", "multi")
MEDIA_KINDS = ("audio", "video", "missing")
MEDIA_STATES = ("missing", "unlinked", "notrans")
WITHOUT_BULLETS = re.compile(r",\s*(?:unlinked|notrans)\b")
"""The states in ``@Media`` that say that no utterance has a bullet."""
MEDIA_EXTENSIONS = ("mp3", "wav", "mp4", "m4a", "mov", "aif", "aiff", "flac", "ogg", "mpg", "mpeg", "avi", "wmv")

LEADING_HEADERS = ("@UTF8", "@PID", "@Color words", "@Window", "@Font")
"""The headers that may stand before ``@Begin``."""
EMPTY_HEADERS = ("@UTF8", "@Begin", "@End", "@Blank", "@New Episode")
OPTIONAL_VALUE = ("@Bg", "@Eg", "@G")
PARTICIPANT_HEADERS = ("@Birth of", "@Birthplace of", "@L1 of")
"""Headers whose name ends in a speaker code."""
_VALUE_NAMES = """
    PID|Color words|Window|Font|Languages|Participants|Options|ID|Media|Angles|Location|Number|Recording Quality|
    Room Layout|Tape Location|Time Duration|Time Start|Transcriber|Transcription|Types|Videos|Warning|Activities|Bck|
    Comment|Date|Page|Situation|T
"""
VALUE_HEADERS = frozenset(f"@{name.strip()}" for name in _VALUE_NAMES.split("|"))
"""Headers that need text after the colon."""
UNIQUE_HEADERS = ("@UTF8", "@Begin", "@Languages", "@Participants", "@Options", "@Media", "@End")
HEADER_VALUES = {
    "@Number": ("1", "2", "3", "4", "5", "more", "audience"),
    "@Recording Quality": ("1", "2", "3", "4", "5"),
    "@Transcription": ("eye_dialect", "partial", "full", "detailed", "coarse", "checked", "anonymized"),
}

_TIER_NAMES = """
    act add alt cnl cod coh com def eng err exp fac flo gls gpx gra grt int mod modsyl mor ort par pho phoaln phosyl sin
    sit spa tim trn ugra umor wor
"""
DEPENDENT_TIERS = frozenset(f"%{name}" for name in _TIER_NAMES.split())
"""The declared dependent tiers; names that start with ``%x`` are free."""
_FREE_NAMES = "act add alt cod coh com eng err exp fac flo gls gpx int ort par sit spa"
FREE_TEXT_TIERS = frozenset(f"%{name}" for name in _FREE_NAMES.split())
"""The dependent tiers whose text has no form: the others need an item for each word, or a time."""

_MARKERS = """
    a b c d e f fp g i k l lp ls n o p q s sas si sl t u wp x
"""
FORM_MARKERS = frozenset(_MARKERS.split())
COMPOUND_MARKERS = frozenset(["c", "f", "n", "s", "si", "sl", "sas", "t"])
"""The markers of words that may contain ``+``."""
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")

UNTRANSCRIBED = frozenset(("xxx", "yyy", "www"))
"""These stand for words that are not known."""

TONE_LANGUAGES = frozenset(["zho", "cmn", "yue", "nan", "min", "hak", "wuu", "vie", "tha", "cym"])
"""Languages whose words may contain digits (tone marks; in Welsh by convention)."""
RECORD = "lsa-whisper record"
"""Begins the comment by which a program knows what a transcript was made of; it says nothing to people."""
