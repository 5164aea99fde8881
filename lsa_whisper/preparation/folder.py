"""The prepared folder: written completely or not at all; an interrupted call is resumed by the next one.

The result of each finished session is kept in ``.parts`` under a digest of everything that it depends on, where a later
call finds it. When all sessions are finished, the manifests are joined from their results in the order of the sessions,
so that the files depend neither on interruptions nor on the number of processes.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper.corpus import Session
from lsa_whisper.errors import AudioError, ChatSyntaxError, CorpusError
from lsa_whisper.manifest import SPLITS, serialize_row, sha256
from lsa_whisper.preparation.advice import remedy_for, session_notes
from lsa_whisper.preparation.screening import DUPLICATE
from lsa_whisper.preparation.session import PrepareOptions, SessionResult, UtteranceRecord, WindowRow, process_session
from lsa_whisper.preparation.shards import partial_name, plan, write_shards
from lsa_whisper.preparation.spliced_session import remove_spliced, with_spliced
from lsa_whisper.preparation.statistics import Prepared, Rejections, SplicedCounts, SplitCounts
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.system.files import FailedFile
from lsa_whisper.version import __version__

PARTS_FOLDER = ".parts"
SUMMARY = "prepared.json"
_SHARD = re.compile(rf"(?:{'|'.join(SPLITS)})-\d{{5}}-of-\d{{5}}\.parquet")
MANIFESTS = (*(f"{split}.jsonl" for split in SPLITS), "rejected.jsonl")


def part_name(session: Session, split: str, options: PrepareOptions) -> str:
    """Return the file name of a session's result: a digest of everything that the result depends on."""
    audio = session.recording.path.stat()
    facts = [
        __version__,
        asdict(options),
        split,
        session.name,
        session.corpus,
        session.language,
        dict(session.speakers),
        str(session.path.absolute()),
        hashlib.sha256(session.path.read_bytes()).hexdigest(),
        str(session.recording.path.absolute()),
        audio.st_size,
        audio.st_mtime_ns,
        session.repair_bullets,
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32] + ".json"


def finish_part(pair: tuple[Session, str], *, options: PrepareOptions, parts: Path) -> tuple[Path | None, str]:
    """Return the path of the result of a session with its split, computed if missing, or why there is none."""
    session, split = pair
    try:
        path = parts / part_name(session, split, options)
        result = None if path.exists() else process_session(session, split, options)
        if result and options.splice and split == "train":
            result = with_spliced(result, session, options, parts.parent)
    except (AudioError, ChatSyntaxError, OSError) as error:  # moved or changed since the corpus was searched
        return None, str(error)
    except Exception as error:
        error.add_note(f"while preparing {session.path}")
        raise
    if result:  # a process of a killed call may still write the same file
        replace_file(json.dumps(asdict(result)), path, own=True)
    return path, ""


@dataclass
class _Counts:
    """Counts over the manifests."""

    by_split: dict[str, SplitCounts] = field(default_factory=lambda: {split: SplitCounts() for split in SPLITS})
    rejections: Rejections = field(default_factory=Rejections)
    roles: dict[str, Counter[str]] = field(default_factory=dict)
    spliced: SplicedCounts = field(default_factory=SplicedCounts)
    facts: Counter[str] = field(default_factory=Counter)

    def prepared(
        self, out: Path, options: PrepareOptions, skipped: Sequence[Mapping[str, str]], notes: Sequence[str]
    ) -> Prepared:
        """Return the counts as the result of the call."""
        splits = {split: tally.as_dict(options.context_s) for split, tally in self.by_split.items()}
        spliced = self.spliced.as_dict() if options.splice else {}
        return Prepared(out, splits, self.rejections.as_dict(), skipped, notes, spliced)


def join(
    paths: Iterable[Path],
    out: Path,
    *,
    options: PrepareOptions,
    skipped_files: Sequence[FailedFile],
    facts: Mapping[str, Any],
    hint: Callable[[Mapping[str, Mapping[str, float]]], str],
    assigned: Mapping[str, Sequence[str]],
    shards: int,
    processes: int,
) -> Prepared:
    """Write manifests, rejections, shards and summary from the sessions' results, and return their counts.

    ``facts`` is what else the summary holds, ``hint`` returns a remedy for the rejections by reason, or an empty text,
    and ``assigned`` has the names of the sessions in each split.

    Raises:
        AudioError: A recording could not be read again for the shards.
        CorpusError: No utterance was accepted, or none of a split that has sessions; nothing is written then.
        OSError: The folder cannot be written to; the files of an earlier call are unchanged.
    """
    earlier = _shards_in(out)
    _remove_hidden(out)
    try:
        counts = _write_manifests(paths, out)
        advice = hint(counts.rejections.as_dict())
        _require_segments(counts, out, skipped_files, advice, assigned)
        notes = [*facts["notes"], *session_notes(counts.facts), *([advice] if advice else [])]
        skipped = [{"path": str(file.path), "reason": file.reason} for file in skipped_files]
        prepared = counts.prepared(out, options, skipped, notes)
        names = [*MANIFESTS, *_write_shards(counts, out, shards, processes)]
        summary = {
            "version": __version__,
            "options": asdict(options),
            **facts,
            "notes": notes,
            "splits": prepared.splits,
            **({"spliced": prepared.spliced} if options.splice else {}),
            "roles": {role: dict(sorted(count.items())) for role, count in sorted(counts.roles.items())},
            "rejected": prepared.rejected,
            "skipped_files": skipped,
            "sha256": {name: sha256(out / partial_name(name)) for name in names},
        }
        (out / partial_name(SUMMARY)).write_text(plain_json.serialize(summary, indent=1) + "\n", "utf-8")
        _publish(out, [*names, SUMMARY], earlier)
        remove_spliced(out, but=counts.spliced.recordings)
    finally:
        _remove_hidden(out)
    shutil.rmtree(out / PARTS_FOLDER, ignore_errors=True)
    return prepared


def _shards_in(out: Path) -> list[Path]:
    """Return the shards that earlier calls wrote here, by their summaries; other files are not touched.

    A call that was killed while it renamed its files has left a summary under its hidden name.
    """
    names: set[str] = set()
    for summary in (out / SUMMARY, out / partial_name(SUMMARY)):
        hashes = plain_json.read_mapping(summary).get("sha256")
        names.update(name for name in (hashes if isinstance(hashes, dict) else ()) if _SHARD.fullmatch(name))
    return [out / name for name in sorted(names)]


def _remove_hidden(out: Path) -> None:
    """Remove everything with the hidden names used here: files of this or of a killed call, or planted links."""
    ours = {partial_name(name) for name in (*MANIFESTS, SUMMARY)}
    for path in out.iterdir():
        hidden = path.name.startswith(".") and path.name.endswith(".partial")
        if path.name in ours or (hidden and _SHARD.fullmatch(path.name[1:].removesuffix(".partial"))):
            path.unlink()


def _require_segments(
    counts: _Counts, out: Path, skipped_files: Sequence[FailedFile], advice: str, assigned: Mapping[str, Sequence[str]]
) -> None:
    """Raise if nothing was accepted, or nothing of a split that has sessions."""
    empty = [split for split, tally in counts.by_split.items() if assigned.get(split) and not tally.segments]
    if not empty:
        return
    shutil.rmtree(out / PARTS_FOLDER, ignore_errors=True)
    reasons = ", ".join(
        f"{reason} ({int(count['utterances'])})" for reason, count in counts.rejections.as_dict().items()
    )
    if not any(tally.segments for tally in counts.by_split.values()):
        unread = f"; {skipped_files[0].path}: {skipped_files[0].reason}" if skipped_files else ""
        advice = advice or remedy_for(counts.rejections.as_dict())
        more = f"; {advice}" if advice else ""
        raise CorpusError(f"no utterance can be trained on: {reasons or 'none was found'}{unread}{more}")
    names = [name for split in empty for name in assigned[split]]
    remedy = "correct these transcripts, or assign other speakers to the split in a card.yaml"
    raise CorpusError(
        f"{' and '.join(empty)} would be empty: no utterance of {', '.join(names[:5])}{' ...' * (len(names) > 5)} can "
        f"be used; {remedy} (in all splits rejected: {reasons}{'; ' * bool(advice)}{advice})"
    )


def _write_shards(counts: _Counts, out: Path, shards: int, processes: int) -> list[str]:
    """Write each split as so many shards under their hidden names; return their final ones."""
    planned = [
        shard
        for split, tally in counts.by_split.items()
        for shard in (plan(out / partial_name(f"{split}.jsonl"), split, tally.segments, shards) if shards else ())
    ]
    write_shards(planned, out, processes)
    return [shard.name for shard in planned]


def _write_manifests(paths: Iterable[Path], out: Path) -> _Counts:
    """Write the manifests under their hidden names and return their counts."""
    counts, folder = _Counts(), out.resolve()
    with ExitStack() as stack:
        files = [
            stack.enter_context((out / partial_name(name)).open("w", encoding="utf-8", newline="\n"))
            for name in MANIFESTS
        ]
        for item in _without_duplicates(_results(paths, counts.facts)):
            if isinstance(item, UtteranceRecord):
                counts.rejections.add(item)
                files[-1].write(plain_json.serialize(asdict(item)) + "\n")
            else:
                split = item.segment.split
                counts.by_split[split].add(item)
                for role, count in item.counts.items():
                    counts.roles.setdefault(role, Counter()).update(count)
                if split == "train":
                    counts.spliced.add(item)
                files[SPLITS.index(split)].write(serialize_row(item.segment, folder) + "\n")
    return counts


def _publish(out: Path, names: Sequence[str], earlier: Sequence[Path]) -> None:
    """Rename the files to their final names; remove the shards of earlier calls."""
    for old in earlier:
        old.unlink(missing_ok=True)
    for name in names:
        (out / partial_name(name)).replace(out / name)


def _results(paths: Iterable[Path], facts: Counter[str]) -> Iterator[SessionResult]:
    """Yield each session's result, and add its facts to ``facts``."""
    for path in paths:
        result = SessionResult.from_dict(plain_json.parse(path.read_bytes()))
        facts.update(result.facts)
        yield result


def _without_duplicates(results: Iterable[SessionResult]) -> Iterator[WindowRow | UtteranceRecord]:
    """Yield all rows and rejections; of windows with the same sound and text, only the first stays a row."""
    seen: set[bytes] = set()
    for result in results:
        for row in result.rows:
            digest = bytes.fromhex(row.digest)[:16]
            if digest in seen:
                yield from (UtteranceRecord(**{**asdict(member), "reason": DUPLICATE}) for member in row.members)
            else:
                seen.add(digest)
                yield row
        yield from result.rejected
