"""Training windows from transcripts and recordings: pair, screen, pack, split, count, write."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.whisper_constants import CONTEXT_S
from lsa_whisper.corpus import Session, discover, discover_listed, find_card, is_listed
from lsa_whisper.errors import CorpusError
from lsa_whisper.labels import Labels
from lsa_whisper.languages import known_code
from lsa_whisper.preparation.advice import bullet_hint, grouping_notes, recording_notes, same_name_notes
from lsa_whisper.preparation.assign_splits import assign_splits, unmatched_card_ids
from lsa_whisper.preparation.folder import PARTS_FOLDER, SUMMARY, finish_part, join
from lsa_whisper.preparation.parallel import map_parallel
from lsa_whisper.preparation.relabelling import MIN_PROBABILITY, RELABELLED_FOLDER, Relabelling
from lsa_whisper.preparation.session import PrepareOptions
from lsa_whisper.preparation.spliced_session import profile_of
from lsa_whisper.preparation.statistics import Prepared
from lsa_whisper.splice import read_profile
from lsa_whisper.system.disk import disk_error_reason
from lsa_whisper.system.files import FailedFile, path_of, paths_of
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.own_files import own_folder
from lsa_whisper.system.terminal import with_progress_bar
from lsa_whisper.system.umask import private_umask

__all__ = ["Prepared", "prepare"]

_Find = Callable[[Path], tuple[list[Session], list[FailedFile]]]


@private_umask()
def prepare(
    corpora: Sequence[Path | str] | Path | str,
    out: Path | str,
    *,
    labels: str = "chat",
    speaker_codes: bool = False,
    audio: Path | None = None,
    card: Path | None = None,
    context_s: float = CONTEXT_S,
    one_utterance: bool = False,
    without_timestamps: float = 0.2,
    prompt_kind: str = "previous",
    with_prompt: float | None = None,
    non_speech: float = 0.01,
    seed: int = 0,
    reviewed: bool = False,
    language: str | None = None,
    shards: int = 0,
    processes: int = 1,
    repair_bullets: bool = False,
    speaker_from: str | None = None,
    splice: float = 0.0,
    splice_profile: Path | None = None,
    train_only: bool = False,
    relabel: str | Path | None = None,
    relabel_threshold: float = MIN_PROBABILITY,
) -> Prepared:
    """Write training windows of ``corpora`` to the folder ``out`` and return a summary.

    No window is longer than the context. A longer utterance is split where ``%wor`` has word times, else rejected.
    The folder holds the manifests ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl``, ``rejected.jsonl`` (each rejected
    utterance with file, line and reason) and ``prepared.json`` (options, counts, skipped files). The output is
    deterministic. If interrupted, the same call resumes.

    Args:
        corpora: Folders of CHAT transcripts, at any depth; Kaldi's data folders; manifests of NeMo or Lhotse
            (``.jsonl``, ``.json``, ``.jsonl.gz``); folders of the library ``datasets``. Each may hold a ``card.yaml``.
            The texts of all but the first become CHAT transcripts in ``transcripts`` of the output folder.
        out: Output folder; created if missing.
        labels: Label style: ``chat``, ``verbatim`` or ``fluent``; ``chat/1`` uses CHAT's own codes, and
            ``chat+roles`` is ``chat`` with ``speaker_codes``.
        speaker_codes: Prefix each utterance with its speaker code.
        audio: Root folder of the recordings, if they are not next to the transcripts.
        card: The corpus card of all ``corpora``. Default: ``card.yaml`` in each folder.
        context_s: The model's context in seconds.
        one_utterance: One utterance per window, no packing.
        without_timestamps: Share of windows whose text has no timestamp tokens, 0 to 1.
        prompt_kind: What a window's prompt is: the text of the ``previous`` one, or its own ``fluent`` text, which
            trains a model for ``lsa-whisper verbatimize``.
        with_prompt: Share of windows with a prompt, 0 to 1. Default: none, or all with ``prompt_kind="fluent"``.
        non_speech: Share of silent windows with empty text, at least 0 and below 1; fewer if silence is scarce.
        seed: Random seed for margins and shares; the splits do not depend on it.
        reviewed: Take only utterances that a person has marked as reviewed (``%xrev``, see ``lsa-whisper review``).
        language: Language of all windows, in place of the transcripts': for one that the model does not know.
        shards: Also write each split with its audio as this many Parquet files
            (:mod:`lsa_whisper.preparation.shards`), or fewer if it has fewer windows; 0 writes none.
        processes: Number of worker processes, about 50 MB each; does not affect the output. A script that uses more
            than one must guard the call with ``if __name__ == "__main__"``, as multiprocessing requires.
        repair_bullets: Use times that lost their control characters (``dog . 500_900``, ``dog . •500_900•``).
        speaker_from: Pattern of the files' names, such as ``{speaker}_{visit}``, that says who is the same person.
        splice: Number of spliced versions of each train utterance with word times, 0 to 10: new utterances in which
            the same speaker has one or two disfluencies more (:mod:`lsa_whisper.splice`). They are added to train,
            never to dev or test, and marked in the column ``spliced``; their recordings are in ``spliced``.
        splice_profile: How often each class is spliced and how long it is, as ``inspect --profile --json`` counts it,
            or ``fluent-adults`` for the shipped profile of adults in meetings. Default: that of the train sessions.
        train_only: Put all sessions into train that no card assigns: of very little data, a dev or test set says
            nothing.
        relabel: A model that listens to the train recordings. Filled pauses, repetitions and cut-off words that it
            hears and the transcripts lack are added to copies of these in ``relabelled`` of the output folder, and
            train is made of the copies. Dev and test, and the transcripts themselves, stay as they are. A copy that a
            person has corrected is kept.
        relabel_threshold: The least probability of what is added, above 0 and at most 1.

    Raises:
        AudioError: A recording was removed before it was written to a shard.
        CheckpointError: The model of ``relabel`` cannot be used.
        CorpusError: A corpus is missing, has no transcript with a readable recording, or no usable utterance; or a
            split that has sessions has no usable utterance; or a transcript that is to be relabelled has no times.
        LsaWhisperError: ``labels`` is not a label style.
    """
    style, out = Labels.from_name(labels), path_of(out)
    options = PrepareOptions(
        labels=dataclasses.replace(style, roles=speaker_codes or style.roles),
        context_s=context_s,
        one_utterance=one_utterance,
        without_timestamps=without_timestamps,
        prompt=prompt_kind,
        with_prompt=float(prompt_kind == "fluent") if with_prompt is None else with_prompt,
        non_speech=non_speech,
        seed=seed,
        reviewed=reviewed,
        language=language and known_code(language),
        splice=splice,
        relabel=str(relabel) if relabel is not None else None,
        relabel_threshold=relabel_threshold if relabel is not None else None,
    )
    _check(out, options, shards, processes)
    relabelling = Relabelling.of(options.relabel, relabel_threshold, out) if options.relabel is not None else None
    given = read_profile(splice_profile) if splice_profile else None
    find = partial(discover, media=audio, card=card, repair_bullets=repair_bullets, speaker_from=speaker_from)
    listed = partial(discover_listed, out=out, media=audio, card=card, speaker_from=speaker_from)
    sessions, skipped_files, absent = _discover(paths_of(corpora), card, find, listed)
    copies = out.absolute() / RELABELLED_FOLDER
    sessions = [session for session in sessions if not session.path.absolute().is_relative_to(copies)]
    splits, notes = ([session.split or "train" for session in sessions], []) if train_only else assign_splits(sessions)
    notes += [*absent, *grouping_notes(sessions), *same_name_notes(sessions), *recording_notes(sessions)]
    facts: dict[str, Any] = {"corpora": sorted({session.corpus for session in sessions}), "notes": notes}
    pairs = list(zip(sessions, splits, strict=True))
    if relabelling:
        relabelling.verify(pairs)
    try:
        with write_lock(out / SUMMARY):
            own_folder(out / PARTS_FOLDER)
            if relabelling:
                pairs, facts["relabelled"] = relabelling.relabel(pairs)
                notes.append(relabelling.note(facts["relabelled"]))
            if splice:
                train = [session for session, split in pairs if split == "train"]
                options = dataclasses.replace(options, profile=given or profile_of(train))
            finish = partial(finish_part, options=options, parts=out / PARTS_FOLDER)
            paths = _finish_parts(pairs, finish, processes, skipped_files)
            return join(
                paths,
                out,
                options=options,
                skipped_files=skipped_files,
                facts=facts,
                shards=shards,
                processes=processes,
                hint=partial(bullet_hint, sessions),
                assigned={split: [each.path.name for each, its in pairs if its == split] for split in set(splits)},
            )
    except OSError as error:
        reason = disk_error_reason(error) or error.strerror or error
        raise CorpusError(f"{out}: cannot be written to ({reason}); free space or choose another folder") from error
    finally:
        with suppress(OSError):
            out.rmdir()  # if it is empty


def _finish_parts(
    pairs: Sequence[tuple[Session, str]],
    finish: Callable[[tuple[Session, str]], tuple[Path | None, str]],
    processes: int,
    skipped_files: list[FailedFile],
) -> list[Path]:
    """Return the paths of the sessions' results, in order; failed sessions are added to ``skipped_files``."""
    ends: list[tuple[Path | None, str]] = [(None, "")] * len(pairs)
    with closing(map_parallel(finish, pairs, processes, name=lambda pair: str(pair[0].path))) as results:
        for at, end in with_progress_bar(results, "preparing", len(pairs)):
            ends[at] = end
    skipped_files += [
        FailedFile(session.path, problem) for (session, _), (path, problem) in zip(pairs, ends, strict=True) if not path
    ]
    return [path for path, _ in ends if path]


def _check(out: Path, options: PrepareOptions, shards: int, processes: int) -> None:
    if out.exists() and not out.is_dir():
        raise CorpusError(f"{out}: is a file; choose an output folder")
    if not 1 <= options.context_s <= 30:
        raise CorpusError(f"`context_s={options.context_s}`: the context must be between 1 and 30 seconds")
    if options.prompt not in ("previous", "fluent"):
        raise CorpusError(f"`prompt_kind={options.prompt}`: it must be previous or fluent")
    if options.labels.style == "fluent" and (options.relabel or options.prompt == "fluent"):
        raise CorpusError("fluent labels leave out disfluencies; choose others with `labels`, such as chat")
    for name, share in (("without-timestamps", options.without_timestamps), ("with-prompt", options.with_prompt)):
        if not 0 <= share <= 1:
            raise CorpusError(f"--{name} is {share}; it must be a share between 0 and 1")
    if not 0 <= options.non_speech < 1:
        raise CorpusError(f"`non_speech={options.non_speech}`: it must be a share of at least 0 and below 1")
    if not 0 <= options.splice <= 10:
        raise CorpusError(f"`splice={options.splice}`: it must be a number of versions from 0 to 10")
    if shards < 0:
        raise CorpusError(f"`shards={shards}`: it must be a number of files per split, or 0 for none")
    if processes < 1:
        raise CorpusError(f"`processes={processes}`: it must be at least 1")


def _discover(
    corpora: Sequence[Path], card: Path | None, find: _Find, listed: _Find
) -> tuple[list[Session], list[FailedFile], list[str]]:
    """Return the sessions, the skipped files, and notes on card ids that match no speaker."""
    if not corpora:
        raise CorpusError("no corpus; name at least one folder of CHAT transcripts")
    sessions: list[Session] = []
    skipped_files: list[FailedFile] = []
    card_ids: set[tuple[str, str]] = set()
    written: dict[Path, Path] = {}
    for folder in corpora:
        found, without = (listed if is_listed(folder) else find)(folder)
        if is_listed(folder):
            _verify_own_transcripts(folder, found, written)
        if not found:
            first = f"; {without[0].path}: {without[0].reason.removeprefix(f'{without[0].path}: ')}" if without else ""
            raise CorpusError(f"{folder}: no transcript has a readable recording{first}")
        sessions += found
        skipped_files += without
        if Path(folder).is_dir():  # a single transcript need not contain all speakers of the card
            facts = find_card(Path(folder), card)
            card_ids |= {(facts.name, card_id) for card_id in facts.split_of}
    return sessions, skipped_files, unmatched_card_ids(sorted(card_ids), sessions)


def _verify_own_transcripts(folder: Path, sessions: Sequence[Session], written: dict[Path, Path]) -> None:
    """Return if no other corpus has written these transcripts; ``written`` has the corpus of each, and gets these.

    Raises:
        CorpusError: If two corpora of one name have recordings of one name: the first would get the second's texts.
    """
    for session in sessions:
        if (other := written.setdefault(session.path, folder)).resolve() != folder.resolve():
            raise CorpusError(
                f"{folder}: has a recording {session.name} as {other} has, and both are of a corpus "
                f"{session.corpus!r}; write a card.yaml with a 'name: ...' of its own into each"
            )
