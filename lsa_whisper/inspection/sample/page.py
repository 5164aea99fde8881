"""A self-contained HTML page on transcripts; no scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsa_whisper.chat import Transcript
from lsa_whisper.inspection.left_out import banners, is_complete
from lsa_whisper.inspection.measure_names import COUNTING, fluency_terms, unit_remarks
from lsa_whisper.inspection.sample.files import SampleFile, sample_files
from lsa_whisper.inspection.sample.sounds import MAX_CLIPS, utterances_with_disfluencies
from lsa_whisper.inspection.sample.tables import class_table, measures_tables, summary_sentences
from lsa_whisper.inspection.sample.timeline import timeline
from lsa_whisper.inspection.sample.trends import MAX_PERSONS, trend_plots
from lsa_whisper.inspection.write_page import write_page
from lsa_whisper.page.language import gettext, page_language

_MAX_TIMELINES = 40


def write_sample_page(
    path: Path, read: Sequence[tuple[str, Transcript]], unread: Sequence[str], mode: str, out: Path, language: str
) -> None:
    """Write what can be measured of the transcripts at ``path`` to the HTML file ``out``, atomically.

    Args:
        path: A CHAT file, or a folder of them.
        read: Its readable transcripts by path.
        unread: A message for each file that cannot be read.
        mode: How disfluencies are counted.
        out: The HTML file.
        language: The language of the page.

    Raises:
        CorpusError: ``out`` cannot be written.
    """
    with page_language(language):
        _write(path, read, unread, mode, out)


def _write(path: Path, read: Sequence[tuple[str, Transcript]], unread: Sequence[str], mode: str, out: Path) -> None:
    files = sample_files(path, read, mode)
    facts = {
        "path": path,
        "sentences": list(summary_sentences(files)),
        "remarks": [*unread, *unit_remarks(transcript for _, transcript in read), *_remarks(files)],
        "measures": measures_tables(files),
        "classes": class_table(files),
        "banners": banners(read),
        "terms": {
            **fluency_terms(norm=is_complete(one for _, one in read)),
            gettext("counting"): gettext(COUNTING[mode]),
        },
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
        some = gettext("{n:,} of {all:,} transcripts have no recording of their name: no clips of these.")
        yield some.format(n=silent, all=len(files))
    if len(files) > _MAX_TIMELINES:
        first = gettext("Timelines: of the first {n} of {all:,} transcripts.")
        yield first.format(n=_MAX_TIMELINES, all=len(files))
