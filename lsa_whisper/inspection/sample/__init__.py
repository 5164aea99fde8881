"""A self-contained HTML page on transcripts: measures, disfluencies, timelines, trends, and clips; no scripts.

The clips are of the utterances with the most disfluencies, spread over the transcripts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Utterance
from lsa_whisper.inspection.left_out import banners, is_complete
from lsa_whisper.inspection.measure_names import COUNTING, fluency_terms, unit_remarks
from lsa_whisper.inspection.sample.files import SampleFile, sample_files
from lsa_whisper.inspection.sample.plots import MAX_PERSONS, TimedEvent, timed_events, timeline, trend_plots
from lsa_whisper.inspection.sample.tables import class_table, measures_tables, summary_sentences
from lsa_whisper.inspection.transcript_report import readable_transcripts
from lsa_whisper.inspection.write_page import Clip, load_clip, write_page
from lsa_whisper.page.language import gettext, page_language, page_number
from lsa_whisper.timespan import TimeSpan

_MAX_TIMELINES = 40
MAX_CLIPS = 60
_MARGIN_MS = 100
_MAX_DURATION_MS = 60_000


def write_sample_page(path: Path, paths: Sequence[Path], mode: str, out: Path, language: str) -> None:
    """Write what can be measured of the transcripts ``paths`` at ``path`` to the HTML file ``out``, atomically.

    Raises:
        ChatSyntaxError: No file is readable, or none has an utterance.
        CorpusError: ``out`` cannot be written.
    """
    with page_language(language):
        by_path, unread = readable_transcripts(paths)
        files, transcripts = sample_files(path, by_path, mode), [transcript for _, transcript in by_path]
        terms = fluency_terms(norm=is_complete(transcripts))
        facts = {
            "path": path,
            "sentences": list(summary_sentences(files)),
            "remarks": [*unread, *unit_remarks(transcripts), *_remarks(files)],
            "measures": measures_tables(files),
            "classes": class_table(files),
            "banners": banners(by_path),
            "terms": terms | {gettext("counting"): gettext(COUNTING[mode])},
            "trends": trend_plots(files),
            "most_persons": MAX_PERSONS,
            "timelines": [timeline(file) for file in files[:_MAX_TIMELINES]],
            "files": len(files),
            "clips": utterances_with_disfluencies(files),
            "most_clips": MAX_CLIPS,
        }
        write_page("sample/page.html.jinja", facts, out)


def _remarks(files: Sequence[SampleFile]) -> Iterator[str]:
    silent = sum(file.recording is None for file in files)
    if silent and len(files) == 1:
        yield gettext("No recording with this transcript's name lies beside it, so there are no clips.")
    elif silent:
        several = gettext("{n:,} of {all:,} transcripts have no recording of their name: no clips of these.")
        yield several.format(n=silent, all=len(files))
    if len(files) > _MAX_TIMELINES:
        first = gettext("Timelines: of the first {n} of {all:,} transcripts.")
        yield first.format(n=_MAX_TIMELINES, all=len(files))


def utterances_with_disfluencies(files: Sequence[SampleFile]) -> list[dict[str, Any]]:
    """Return at most 60 utterances, those with the most disfluencies of each transcript, with their sound."""
    each_file = max(1, MAX_CLIPS // max(len(files), 1))
    return [row for file in files[:MAX_CLIPS] for row in _of_file(file, each_file)]


def _of_file(file: SampleFile, most: int) -> Iterator[dict[str, Any]]:
    """Yield what the page shows of the utterances with the most disfluencies, in their order."""
    by_utterance: dict[int, list[TimedEvent]] = {}
    for event in timed_events(file.transcript):
        by_utterance.setdefault(event.utterance, []).append(event)
    worst = sorted(by_utterance, key=lambda number: -len(by_utterance[number]))[:most]
    for number in sorted(worst):
        utterance, events = file.transcript.utterances[number], by_utterance[number]
        yield {
            "place": " ".join(filter(None, (file.name, utterance.speaker, _clock(utterance)))),
            "clip": _clip(file, utterance),
            "prompt": "",
            "lines": [(None, utterance.text)],
            "events": "; ".join(f"{event.name}: {event.words}" if event.words else event.name for event in events),
        }


def _clock(utterance: Utterance) -> str:
    if utterance.span is None:
        return gettext("line {n}").format(n=utterance.line)
    start_s = utterance.span.start_ms / 1000
    return page_number(f"{int(start_s) // 60}:{start_s % 60:04.1f}")


def _clip(file: SampleFile, utterance: Utterance) -> Clip:
    """Return the sound of an utterance; without a recording or times there is none, which the page says once."""
    if file.recording is None or utterance.span is None or utterance.span.duration_ms > _MAX_DURATION_MS:
        return Clip()
    return load_clip(
        file.recording, TimeSpan(max(utterance.span.start_ms - _MARGIN_MS, 0), utterance.span.end_ms + _MARGIN_MS)
    )
