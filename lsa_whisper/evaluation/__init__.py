"""Scores of transcripts against references: words, disfluencies, language-sample measures, and their intervals."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.evaluation.differences import deciding_metric
from lsa_whisper.evaluation.material import Material
from lsa_whisper.evaluation.pairing import PairedFiles, pair_files, transcript_at
from lsa_whisper.evaluation.persons import GROUPINGS, people_in, persons_of
from lsa_whisper.evaluation.report_rows import ReportRows
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.evaluation.word_counts import WordCounts
from lsa_whisper.languages import chat_code
from lsa_whisper.page.language import check_page_language
from lsa_whisper.scoring import verbatim_benchmark
from lsa_whisper.scoring.bootstrap import MIN_SAMPLES, SAMPLES, Resamples
from lsa_whisper.scoring.file_scores import FileCounts, Totals
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.published import check_modes
from lsa_whisper.scoring.score_file import ScoringOptions, score_file
from lsa_whisper.scoring.speakers import require_meeteval
from lsa_whisper.scoring.system import System
from lsa_whisper.scoring.timing import COLLAR_MS
from lsa_whisper.scoring.words import has_disfluency_marks, mark_from_words
from lsa_whisper.system.files import path_of, paths_of
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

__all__ = ["Evaluation", "System", "evaluate"]

_LONG = 4_000
"""A recording with so many utterances is announced: it takes seconds, and no file ends before."""
_PER_SECOND = 900
"""Utterances of one recording that one core scores in a second: 20,000 take 22."""
_EVERY_S = 10.0
"""Seconds between two lines in a log."""


@private_umask()
def evaluate(
    reference: Path | str,
    hypotheses: Sequence[Path | str] | Path | str = (),
    *,
    out: Path | None = None,
    names: Sequence[str] = (),
    audio: Path | None = None,
    samples: int = SAMPLES,
    collar: int = COLLAR_MS,
    speaker_errors: bool = False,
    as_: Sequence[str] = (),
    embed_audio: bool = False,
    summary: bool = True,
    decide: str = "auto",
    group: str = "auto",
    page_language: str = "en",
) -> Evaluation:
    """Return the scores of one or several systems over the same references.

    A reference without a hypothesis counts all its words as deleted, and is named in the result.

    Args:
        reference: A CHAT file, or a folder of them.
        hypotheses: One file or folder per system, CHAT or the output of another recognizer
            (:data:`lsa_whisper.formats.reading.READABLE`); files are paired with the references by path or stem.
        out: A folder for ``report.html``, ``report.json`` and ``report.md``; made if it does not exist.
        names: One name per system; their file or folder names if left out.
        audio: A folder with the recordings, to be played from the report.
        samples: The number of bootstrap resamples for the confidence intervals, at least 40.
        collar: The largest difference in milliseconds between the onsets of two disfluencies that match in time.
        speaker_errors: Also compute speaker-attributed word error rates (cpWER, tcpWER); needs meeteval.
        embed_audio: Put the sound of each utterance into ``report.html``, so that it can be sent as one file.
        summary: Also write ``summary.html``: what was found, missed and made up, and what follows, on one page.
        decide: The metric that decides which system is better, by its key in ``report.json``; ``auto`` takes F1 of all
            disfluencies where the references have enough of them, else verbatim word errors.
        group: Which recordings are of one person and are resampled together: by ``name`` in ``@Participants``, by
            ``folder``, or each ``file`` alone; ``auto`` takes the first that tells.
        as_: Scoring rules of other tools, each reported apart: see :data:`lsa_whisper.scoring.published.MODES`, and
            ``nyra`` (:mod:`lsa_whisper.scoring.verbatim_benchmark`).
        page_language: The language of the report's pages: ``en``, ``de`` or ``es``.

    Raises:
        FormatError: A transcript of another format is damaged.
        CorpusError: A path does not exist, has no transcript, or the names do not fit.
        MissingExtraError: A package for ``speaker_errors`` or ``as_`` is not installed.
        LsaWhisperError: There are too few ``samples``.
    """
    check_modes(as_)
    if group not in GROUPINGS:
        raise CorpusError(f"`group={group}`: no such grouping; choose from {', '.join(GROUPINGS)}")
    check_page_language(page_language)
    deciding_metric([], decide)
    if speaker_errors:
        require_meeteval()
    _check_options(samples, audio, embed_audio=embed_audio and out is not None)
    options = ScoringOptions(
        keep_alignment=out is not None,
        keep_times=out is not None and audio is not None,
        collar_ms=collar,
        published=tuple(mode for mode in dict.fromkeys(as_) if mode != verbatim_benchmark.MODE),
        typed=verbatim_benchmark.MODE in as_,
        speakers=speaker_errors,
    )
    hypotheses, reference = paths_of(hypotheses), path_of(reference)
    files = pair_files(reference, hypotheses, names)
    evaluation = replace(_scored(reference, files, samples, options, group), decide=decide)
    typed: list[tuple[str, object, object]] = [
        *(("--name", name, None) for name in names),
        ("-o", out, None),
        ("--audio", audio, None),
        ("--samples", samples, SAMPLES),
        ("--collar", collar, COLLAR_MS),
        *(("--as", mode, None) for mode in options.published),
        ("--as", verbatim_benchmark.MODE if options.typed else None, None),
        ("--decide", decide, "auto"),
        ("--group", group, "auto"),
        ("--page-language", page_language, "en"),
    ]
    words = [word for option, value, default in typed if value != default for word in (option, value)]
    flags = {"--embed-audio": embed_audio, "--no-summary": not summary, "--speaker-errors": speaker_errors}
    words += [flag for flag, is_set in flags.items() if is_set]
    evaluation.material.command = shlex.join(map(str, ["lsa-whisper", "evaluate", reference, *hypotheses, *words]))
    if out is None:
        return evaluation
    from lsa_whisper.evaluation.report import write_reports

    report = write_reports(
        evaluation, Path(out), audio=audio, embed_audio=embed_audio, summary=summary, language=page_language
    )
    return replace(evaluation, report=report)


def _check_options(samples: int, audio: Path | None, *, embed_audio: bool) -> None:
    """Raise for wrong options before scoring, not after it."""
    if samples < MIN_SAMPLES:
        raise LsaWhisperError(f"`samples={samples}`: too few for a 95 % interval; give {MIN_SAMPLES} or more")
    if embed_audio and audio is None:
        raise CorpusError("`embed_audio=True` needs the folder of the recordings: name it with `audio`")
    if audio is not None and not Path(audio).is_dir():
        raise CorpusError(f"{audio}: there is no such folder of recordings; leave it out or correct the path")


def _scored(reference: Path, files: PairedFiles, samples: int, options: ScoringOptions, group: str) -> Evaluation:
    """Return the scores of all files; only one file is in memory at a time, because a corpus may not fit."""
    has_marks = {name: _any_marks(paths) for name, paths in files.hypotheses.items()}
    counts: dict[str, list[FileCounts]] = {name: [] for name in has_marks}
    totals = dict.fromkeys(has_marks, Totals())
    rows, material, words = ReportRows(), Material(), {name: WordCounts() for name in has_marks}
    people = {}
    for number, (key, path) in enumerate(_track(files.references)):
        reference_transcript, alignments = transcript_at(path, key), []
        _announce_long(key, reference_transcript.utterances)
        people[key] = people_in(reference_transcript)
        material.add_reference(reference_transcript)
        expected = _parsed(reference_transcript)
        for name, paths in files.hypotheses.items():
            hypothesis = None
            if key in paths:
                transcript = transcript_at(paths[key], key)
                material.add_hypothesis(name, transcript)
                hypothesis = _parsed(transcript, has_marks=has_marks[name])
            scores = score_file(key, expected, hypothesis, options)
            counts[name].append(FileCounts.of(scores))
            totals[name] += Totals.of(scores)
            alignments.append(scores.aligned)
            words[name].add(scores.aligned)
        rows.add(number, alignments)
    persons, how = persons_of(people, group)
    resamples = Resamples(len(set(persons.tolist())), samples)
    material.persons = None if how == "file" else resamples.units
    systems = {}
    for name, own in counts.items():
        unpaired, left_out = tuple(files.unpaired[name]), material.left_out(name) - totals[name].observed
        systems[name] = System(name, own, totals[name], resamples, has_marks[name], unpaired, left_out, persons)
    return Evaluation(reference, systems, samples, options, material, rows, words)


def _any_marks(paths: Mapping[str, str]) -> bool:
    """Return whether any file of a system has a disfluency mark (true also of a system without files)."""
    return not paths or any(has_disfluency_marks(transcript_at(path, key).utterances) for key, path in paths.items())


def _parsed(transcript: Transcript, *, has_marks: bool | None = None) -> ParsedTranscript:
    """Return a transcript to score; that of a system (``has_marks`` is not ``None``) with marks from its words."""
    language = chat_code((transcript.languages or ["eng"])[0])
    if has_marks is None:
        return ParsedTranscript(transcript.utterances, transcript.participants, language=language)
    from_words = partial(_marked, language=language)
    utterances = transcript.utterances if has_marks else [*map(from_words, transcript.utterances)]
    return ParsedTranscript(utterances, transcript.participants, from_words)


def _marked(utterance: Utterance, language: str) -> Utterance:
    """Return ``utterance`` with disfluencies marked from its words; its word times are kept."""
    return replace(mark_from_words(utterance, language), tiers=utterance.tiers)


def _track(references: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the keys and paths of ``references``, and show on standard error how many are done."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(references.items(), "scoring", len(references), console=console, transient=True)
        return
    last_s = time.monotonic()
    for number, item in enumerate(references.items(), 1):
        yield item
        if time.monotonic() - last_s >= _EVERY_S:
            print_progress(f"scored {number:,} of {len(references):,} recordings")
            last_s = time.monotonic()


def _announce_long(key: str, utterances: Sequence[Utterance]) -> None:
    """Print a line before a recording that is scored for some seconds."""
    if len(utterances) >= _LONG:
        print_progress(f"{key}: scoring {len(utterances):,} utterances, about {len(utterances) / _PER_SECOND:.0f} s")
