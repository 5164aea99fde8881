"""Inspection before training: disfluency counts and CHAT problems of transcripts, statistics of prepared data."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper.chat.files import is_transcript, list_transcripts
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection.problems import problems_report
from lsa_whisper.inspection.survey import survey
from lsa_whisper.inspection.tables import survey_report
from lsa_whisper.inspection.text_output import as_json
from lsa_whisper.inspection.tokens import token_counter
from lsa_whisper.inspection.transcript_report import (
    events_report,
    fluency_report,
    measures_report,
    profile_report,
)
from lsa_whisper.manifest import SPLITS
from lsa_whisper.page.language import check_page_language
from lsa_whisper.system.files import FailedFile, path_of
from lsa_whisper.system.umask import private_umask

__all__ = ["inspect"]


@private_umask()
def inspect(
    path: Path,
    *,
    mode: str = "strict",
    json: bool = False,
    check: bool = False,
    fix: bool = False,
    strict: bool = False,
    model: Path | None = None,
    out: Path | None = None,
    profile: bool = False,
    measures: bool = False,
    events: bool = False,
    csv: Path | None = None,
    against: Path | None = None,
    page_language: str = "en",
) -> str:
    """Return a report on transcripts or prepared data, as text to print.

    Args:
        path: A CHAT file, a folder with CHAT files at any depth, a prepared folder, or a manifest (``.jsonl``).
        mode: Counting convention for CHAT: ``strict``, or ``flucalc`` as in CLAN.
        json: Return JSON instead of tables.
        check: List violations of CHAT's rules instead of counting; the report's ``errors`` is the number of errors.
        fix: Repair the violations that have one correct repair, show the difference, keep the originals, and list the
            others as ``check`` does.
        strict: Count remarks, which CLAN's CHECK does not make, as errors.
        model: A checkpoint folder, whose tokenizer counts the tokens of prepared labels. Default: an estimate.
        out: An HTML file to write. Of prepared data: the same statistics, with plots and audio clips. Of transcripts:
            all measures, a timeline of disfluencies, trends over the sessions of a child, and audio clips.
        profile: Count how often each class of disfluency occurs in the transcripts, where in the utterance, and how
            long the silence after it is. ``prepare --splice-profile`` takes the JSON.
        measures: Return the measures of a language sample: MLU, NDW, TTR, maze words, rates (see
            :mod:`lsa_whisper.inspection.measures`).
        events: Return every disfluency with its line.
        csv: A CSV file to write with all measures, a row for each speaker of each file.
        against: A folder of your own reference samples: the measures of each speaker as percentiles among its speakers
            of the same role and age.
        page_language: The language of the page on transcripts: ``en``, ``de`` or ``es``. That of prepared data is
            in English.

    Raises:
        CorpusError: ``path`` holds nothing to inspect, or ``out`` cannot be written.
        CheckpointError: ``model`` has no tokenizer.
        ChatSyntaxError: No transcript can be read.
        ManifestError: A manifest is malformed.
        LsaWhisperError: A repaired transcript cannot be written.
    """
    path = path_of(path)
    check = check or fix
    check_page_language(page_language)
    try:
        if not path.exists():
            raise CorpusError(f"{path}: no such file or folder; check the path")
        manifests = _manifests(path)
        files, unreadable_folders = _transcripts(path)
    except OSError as error:
        raise CorpusError(f"{path}: cannot be opened ({error.strerror}); check the path and its permissions") from error
    of_transcripts = check or profile or measures or events or csv is not None or against is not None
    if manifests and not of_transcripts:
        if page_language != "en":
            raise CorpusError(f"{path}: `page_language` is for the page on transcripts; leave it out")
        statistics = survey(manifests, token_counter(model))
        text = as_json(statistics.as_dict()) if json else survey_report(path, statistics)
        if out is not None:
            from lsa_whisper.inspection.survey_page import write_survey_page

            write_survey_page(path, statistics, Path(out))
        return text if out is None or json else f"{text}\n\n{out}: the same, with plots and audio clips"
    if not files:
        accepts = "a CHAT file (*.cha), a folder of them, or a folder made by 'lsa-whisper prepare'"
        shut = f" ({unreadable_folders[0].path}: {unreadable_folders[0].reason})" if unreadable_folders else ""
        raise CorpusError(f"{path}: nothing to inspect here{shut}; name {accepts}")
    if model is not None:
        raise CorpusError(f"{path}: `model` needs prepared data; run 'lsa-whisper prepare' first")
    if check:
        if out is not None:
            raise CorpusError(f"{path}: `check=True` and `fix=True` write no page; leave out `out`")
        folder = path if path.is_dir() else None
        return problems_report(files, unreadable_folders, json, fix=fix, strict=strict, folder=folder)
    if profile:
        text = profile_report(files, json)
    elif against is not None:
        from lsa_whisper.inspection.against import against_report

        text = against_report(files, Path(against), mode, json)
    elif measures or csv is not None:
        text = measures_report(files, mode, json, csv and Path(csv))
    elif events:
        text = events_report(files, json)
    else:
        text = fluency_report(path, files, unreadable_folders, mode, json)
    if out is not None:
        from lsa_whisper.inspection.sample import write_sample_page

        write_sample_page(path, files, mode, Path(out), page_language)
    return text if out is None or json else f"{text}\n\n{out}: all measures, a timeline, trends and audio clips"


def _transcripts(path: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the transcripts at ``path``, found as ``prepare`` finds them, and the unreadable folders."""
    if path.is_dir():
        return list_transcripts(path)
    return [path] if is_transcript(path) else [], []


def _manifests(path: Path) -> dict[str, Path]:
    """Return the manifests at ``path`` by split; empty if there are none."""
    if path.is_file():
        return {path.stem: path} if path.suffix == ".jsonl" else {}
    return {split: file for split in SPLITS if (file := path / f"{split}.jsonl").is_file()}
