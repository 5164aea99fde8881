"""Violations of CHAT's rules in transcripts: a list of them, and the repair of those with one correct repair."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from lsa_whisper import chat
from lsa_whisper.chat import Problem
from lsa_whisper.chat.rules import RULES
from lsa_whisper.errors import ChatSyntaxError, LsaWhisperError, printable
from lsa_whisper.inspection.text_output import as_json
from lsa_whisper.languages import is_language
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.files import FailedFile
from lsa_whisper.system.own_files import verify_inside


class ProblemsReport(str):
    """The report as text; ``errors`` is their number, which decides the exit status of ``inspect --check``."""

    errors: int

    def __new__(cls, text: str, errors: int) -> ProblemsReport:
        """Return ``text`` as a report with so many ``errors``."""
        report = super().__new__(cls, text)
        report.errors = errors
        return report


@dataclass(frozen=True)
class RepairedFile:
    """A file that was repaired: the difference, and where the original is kept."""

    path: Path
    original: Path
    difference: str


def problems_report(
    files: Sequence[Path],
    unreadable_folders: Sequence[FailedFile],
    json: bool,
    *,
    fix: bool = False,
    strict: bool = False,
    folder: Path | None = None,
) -> ProblemsReport:
    """Return the violations of CHAT's rules in ``files``, one line each, and their number.

    With ``json``, differences go to standard error. With ``fix``, what has one correct repair is repaired first, and
    the originals are kept; links that lead out of ``folder`` are not followed for that. With ``strict``, remarks count
    as errors.

    Raises:
        LsaWhisperError: A repaired file cannot be written, or is outside ``folder``.
    """
    if fix and folder is not None:
        for file in files:
            verify_inside(Path(os.path.realpath(file)), folder)
    repairs = [repair for file in files if (repair := repair_file(file))] if fix else []
    problems = [Problem(str(failure.path), 1, 1, "unreadable", failure.reason) for failure in unreadable_folders]
    for file in files:
        problems += _problems(file)
    if json:
        for repair in repairs:
            print(printable(repair.difference), file=sys.stderr)
        return ProblemsReport(as_json([_as_dict(problem) for problem in problems]), _errors(problems, strict))
    remarks = sum(problem.is_remark for problem in problems)
    broken = len({problem.path for problem in problems if not problem.is_remark})
    counts = f"{len(problems) - remarks} problem(s) in {broken} of {len(files) + len(unreadable_folders)} file(s)"
    summary = [f"{counts}, and {remarks} remark(s), which CLAN's CHECK does not make" if remarks else counts]
    summary += [f"{repair.path}: repaired; the original is {repair.original}" for repair in repairs]
    if not fix and any(RULES[problem.code].fixable for problem in problems if problem.code in RULES):
        summary.append("some have one correct repair: --fix makes it and keeps the original")
    lines = [*(repair.difference for repair in repairs), *(str(problem) for problem in problems), *summary]
    return ProblemsReport("\n".join(lines), _errors(problems, strict))


def _errors(problems: Sequence[Problem], strict: bool) -> int:
    return sum(strict or not problem.is_remark for problem in problems)


def _problems(file: Path) -> list[Problem]:
    try:
        return chat.check(chat.read(file), known_language=is_language)
    except ChatSyntaxError as error:
        return [Problem(str(file), 1, 1, "unreadable", str(error).removeprefix(f"{file}: "))]


def _as_dict(problem: Problem) -> dict[str, Any]:
    fixable = problem.code in RULES and RULES[problem.code].fixable
    extra = {"check_number": problem.check_number, "remedy": problem.remedy, "fixable": fixable}
    extra["severity"] = "remark" if problem.is_remark else "error"
    return {**vars(problem), **extra}


def repair_file(file: Path) -> RepairedFile | None:
    """Repair what has one correct repair in ``file`` and keep the original next to it.

    ``None`` stands for its difference if there was nothing to repair or the file cannot be read.

    Raises:
        LsaWhisperError: A file cannot be written; the transcript is then unchanged.
    """
    try:
        transcript = chat.read(file)
    except ChatSyntaxError:  # reported with the other problems
        return None
    before = chat.serialize(transcript)
    after = chat.fix(before)
    target = file.resolve()
    data = target.read_bytes()
    if after.encode() == data:
        return None
    original = _unused_name(target)
    write_atomic(data, original)
    write_atomic(after, target)
    lines = unified_diff(before.splitlines(), after.splitlines(), f"{file} (original)", str(file), lineterm="", n=0)
    return RepairedFile(file, original, "\n".join(line.replace("\x15", "•") for line in lines))


def _unused_name(path: Path) -> Path:
    """Return the name for an original, which never is that of an existing file."""
    names = (path.with_name(f"{path.name}.original{at or ''}") for at in range(10_000))
    for name in names:
        if not name.exists() and not name.is_symlink():
            return name
    raise LsaWhisperError(f"{path}: too many originals are kept next to it; remove some")
