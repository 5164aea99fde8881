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
        "participants": {code: participant.role for code, participant in transcript.participants.items()},
        "utterances": [_utterance(utterance) for utterance in transcript.utterances],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _utterance(utterance: Utterance) -> dict[str, Any]:
    return {
        "speaker": utterance.speaker,
        "start_ms": utterance.span.start_ms if utterance.span else None,
        "end_ms": utterance.span.end_ms if utterance.span else None,
        "chat": utterance.text,
        "verbatim": utterance.verbatim(),
        "fluent": utterance.fluent(),
        "events": [{"kind": e.kind.value, "start": e.start, "end": e.end} for e in utterance.events()],
        "words": [{"word": w, "start_ms": at.start_ms, "end_ms": at.end_ms} for w, at in utterance.word_times],
    }
