"""JSON: CHAT text, verbatim and fluent words, and disfluencies of each utterance."""

from __future__ import annotations

import json
from typing import Any

from lsa_whisper.chat import Transcript, Utterance


def serialize(transcript: Transcript) -> str:
    """Return an object with ``media``, ``languages``, ``participants`` and ``utterances``.

    Times are whole milliseconds, ``null`` when unknown; ``start`` and ``end`` of an event count words of ``verbatim``.
    """
    content = {
        "media": transcript.media,
        "languages": transcript.languages,
        "participants": {code: each.role for code, each in transcript.participants.items()},
        "utterances": [_utterance(utterance) for utterance in transcript.utterances],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _utterance(each: Utterance) -> dict[str, Any]:
    return {
        "speaker": each.speaker,
        "start_ms": each.span.start_ms if each.span else None,
        "end_ms": each.span.end_ms if each.span else None,
        "chat": each.text,
        "verbatim": each.verbatim(),
        "fluent": each.fluent(),
        "events": [{"kind": e.kind.value, "start": e.start, "end": e.end} for e in each.events()],
        "words": [{"word": w, "start_ms": at.start_ms, "end_ms": at.end_ms} for w, at in each.word_times],
    }
