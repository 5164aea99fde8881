"""Transcripts and recordings -> training windows: pair, cut, judge, pack, split, count, write."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from lsa_whisper.corpus import Session, discover, find_card
from lsa_whisper.disk import disk_error_reason
from lsa_whisper.errors import CorpusError
from lsa_whisper.failed_files import FailedFile
from lsa_whisper.labels import Labels
from lsa_whisper.lock import write_lock
from lsa_whisper.prepare.assign_splits import assign_splits, unmatched_card_ids
from lsa_whisper.prepare.folder import PARTS_FOLDER, SUMMARY, finish_part, join
from lsa_whisper.prepare.parallel import map_parallel
from lsa_whisper.prepare.session import PrepareOptions
from lsa_whisper.prepare.statistics import Prepared
from lsa_whisper.umask import private_umask
from lsa_whisper.whisper_constants import CONTEXT_S

__all__ = ["Prepared", "prepare"]


@private_umask()
def prepare(
    corpora: Sequence[Path],
    out: Path,
    *,
    labels: str = "chat",
    roles: bool = False,
    media: Path | None = None,
    card: Path | None = None,
    context_s: float = CONTEXT_S,
    one_utterance: bool = False,
    without_timestamps: float = 0.2,
    with_prompt: float = 0.0,
    non_speech: float = 0.01,
    seed: int = 0,
    shards: int = 0,
    processes: int = 1,
) -> Prepared:
    """Write training windows for ``corpora`` to the folder ``out`` and return what was written and what was not.

    No window is longer than the context. An utterance that is longer is cut where ``%wor`` gives times, else rejected.
    The folder holds the manifests ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl``, ``rejected.jsonl`` (each rejected
    utterance with file, line and reason) and ``prepared.json`` (options, counts, skipped files). The same corpora and
    options give the same bytes. An interrupted call can be made again and goes on where it was.

    Args:
        corpora: Folders of CHAT transcripts, at any depth; each may hold a ``card.yaml``.
        out: Where to write; made when it is not there.
        labels: The style of text to learn: ``chat``, ``verbatim`` or ``fluent``; ``chat/1`` spells CHAT out, and
            ``chat+roles`` is ``chat`` with ``roles``.
        roles: Put the speaker's code in front of each utterance.
        media: Another root where the recordings lie.
        card: The corpus card, for all of ``corpora``; otherwise each folder's own ``card.yaml`` where there is one.
        context_s: Seconds a model hears at once.
        one_utterance: One window per utterance instead of as many as fit.
        without_timestamps: Share of windows whose text has no timestamp tokens, 0 to 1.
        with_prompt: Share of windows that carry the text before them as a prompt, 0 to 1.
        non_speech: Share of windows with a silence and an empty text, 0 to less than 1; fewer where silence is scarce.
        seed: For margins and shares; the splits do not depend on it.
        shards: Besides the manifests, write each split with its audio as this many Parquet files
            (:mod:`lsa_whisper.prepare.shards`), fewer where it has fewer windows; 0 writes none.
        processes: How many work at once; what is written does not depend on it. Each takes some 50 MB. The default
            is one, because a script that asks for more must guard its call by ``if __name__ == "__main__"``, as
            Python's multiprocessing wants it, and because a machine may have other users.

    Raises:
        AudioError: A recording vanished before it was written to a shard.
        CorpusError: A corpus is missing, has no transcript or no usable pair, or nothing in it can be trained on.
        LsaWhisperError: ``labels`` is no style.
    """
    named = Labels.from_name(labels)
    options = PrepareOptions(
        labels=dataclasses.replace(named, roles=roles or named.roles),
        context_s=context_s,
        one_utterance=one_utterance,
        without_timestamps=without_timestamps,
        with_prompt=with_prompt,
        non_speech=non_speech,
        seed=seed,
    )
    _check(out, options, shards, processes)
    sessions, skipped_files, absent = _discover(corpora, media, card)
    splits, notes = assign_splits(sessions)
    notes += absent
    facts: dict[str, Any] = {"corpora": sorted({session.corpus for session in sessions}), "notes": notes}
    out = Path(out)
    try:
        with write_lock(out / SUMMARY):
            (out / PARTS_FOLDER).mkdir(exist_ok=True)
            finish = partial(_finish, options=options, parts=out / PARTS_FOLDER)
            paths = _finish_parts(list(zip(sessions, splits, strict=True)), finish, processes, skipped_files)
            return join(
                paths,
                out,
                options=options,
                skipped_files=skipped_files,
                facts=facts,
                shards=shards,
                processes=processes,
            )
    except OSError as error:
        reason = disk_error_reason(error) or error.strerror or error
        raise CorpusError(f"{out}: cannot be written to ({reason}); make room or name another folder") from error
    finally:
        with suppress(OSError):
            out.rmdir()  # where nothing is in it


def _finish_parts(
    pairs: Sequence[tuple[Session, str]],
    finish: Callable[[tuple[Session, str]], tuple[Path | None, str]],
    processes: int,
    skipped_files: list[FailedFile],
) -> list[Path]:
    """Return where the sessions' results are kept, in order; sessions without one join ``skipped_files``."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    ends: list[tuple[Path | None, str]] = [(None, "")] * len(pairs)
    with closing(map_parallel(finish, pairs, processes, name=lambda pair: str(pair[0].path))) as done:
        shown = track(done, "preparing", len(pairs), console=console, transient=True, disable=not console.is_terminal)
        for at, end in shown:
            ends[at] = end
    skipped_files += [
        FailedFile(session.path, problem) for (session, _), (path, problem) in zip(pairs, ends, strict=True) if not path
    ]
    return [path for path, _ in ends if path]


def _finish(pair: tuple[Session, str], *, options: PrepareOptions, parts: Path) -> tuple[Path | None, str]:
    return finish_part(*pair, options, parts)


def _check(out: Path, options: PrepareOptions, shards: int, processes: int) -> None:
    if Path(out).exists() and not Path(out).is_dir():
        raise CorpusError(f"{out}: is a file; name a folder to write the prepared data to")
    if not 1 <= options.context_s <= 30:
        raise CorpusError(f"--context is {options.context_s}; Whisper hears between 1 and 30 seconds at once")
    for name, share in (("without-timestamps", options.without_timestamps), ("with-prompt", options.with_prompt)):
        if not 0 <= share <= 1:
            raise CorpusError(f"--{name} is {share}; it is a share of windows, between 0 and 1")
    if not 0 <= options.non_speech < 1:
        raise CorpusError(f"--non-speech is {options.non_speech}; it is a share of windows, from 0 to less than 1")
    if shards < 0:
        raise CorpusError(f"--shards is {shards}; name how many files each split is written to, or 0 for none")
    if processes < 1:
        raise CorpusError(f"--processes is {processes}; at least one must do the work")


def _discover(
    corpora: Sequence[Path], media: Path | None, card: Path | None
) -> tuple[list[Session], list[FailedFile], list[str]]:
    """Return the sessions, the files that cannot be used, and notes on speakers that a card lists and nobody is."""
    if not corpora:
        raise CorpusError("no corpus was named; name at least one folder of CHAT transcripts")
    sessions: list[Session] = []
    skipped_files: list[FailedFile] = []
    card_ids: set[tuple[str, str]] = set()
    for folder in corpora:
        found, without = discover(folder, media=media, card=card)
        if not found:
            first = f"; {without[0].path}: {without[0].reason}" if without else ""
            raise CorpusError(f"{folder}: no transcript there has a recording that can be read{first}")
        sessions += found
        skipped_files += without
        if Path(folder).is_dir():  # of a single transcript, nobody expects that it has all speakers
            facts = find_card(Path(folder), card)
            card_ids |= {(facts.name, one) for one in facts.split_of}
    return sessions, skipped_files, unmatched_card_ids(sorted(card_ids), sessions)
