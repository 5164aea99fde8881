"""Clips of the utterances with the most disfluencies, spread over the transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lsa_whisper.chat import Utterance
from lsa_whisper.inspection.sample.files import SampleFile
from lsa_whisper.inspection.sample.timeline import TimedEvent, timed_events
from lsa_whisper.inspection.write_page import Clip, load_clip
from lsa_whisper.page.language import gettext
from lsa_whisper.timespan import TimeSpan

MAX_CLIPS = 60
_MARGIN_MS = 100
_MAX_DURATION_MS = 60_000


def utterances_with_disfluencies(files: Sequence[SampleFile]) -> list[dict[str, Any]]:
    """Return at most 60 utterances, those with the most disfluencies of each transcript, with their sound."""
    each_file = max(1, MAX_CLIPS // max(len(files), 1))
    return [shown for file in files[:MAX_CLIPS] for shown in _of_file(file, each_file)]


def _of_file(file: SampleFile, most: int) -> Iterator[dict[str, Any]]:
    """Yield what the page shows of the utterances with the most disfluencies, in their order."""
    by_utterance: dict[int, list[TimedEvent]] = {}
    for event in timed_events(file.transcript):
        by_utterance.setdefault(event.utterance, []).append(event)
    worst = sorted(by_utterance, key=lambda number: -len(by_utterance[number]))[:most]
    for number in sorted(worst):
        each, events = file.transcript.utterances[number], by_utterance[number]
        yield {
            "place": " ".join(filter(None, (file.name, each.speaker, _clock(each)))),
            "clip": _clip(file, each),
            "prompt": "",
            "lines": [(None, each.text)],
            "events": "; ".join(f"{event.name}: {event.words}" if event.words else event.name for event in events),
        }


def _clock(each: Utterance) -> str:
    if each.span is None:
        return gettext("line {n}").format(n=each.line)
    start_s = each.span.start_ms / 1000
    return f"{int(start_s) // 60}:{start_s % 60:04.1f}"


def _clip(file: SampleFile, each: Utterance) -> Clip:
    """Return the sound of an utterance; without a recording or times there is none, which the page says once."""
    if file.recording is None or each.span is None or each.span.duration_ms > _MAX_DURATION_MS:
        return Clip()
    return load_clip(file.recording, TimeSpan(max(each.span.start_ms - _MARGIN_MS, 0), each.span.end_ms + _MARGIN_MS))
