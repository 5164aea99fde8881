"""One open transcript on disk: saved after every edit, with its original and a journal, so that a crash loses nothing.

The hidden folder ``.review`` next to a transcript holds, for each transcript, the original (under the same name), the
journal with every step, and other versions where another program changed the file at the same time. A step is added to
the journal first; then the transcript is replaced atomically. So after a crash at any moment, either the journal has
the last step and the transcript is saved again from it, or neither has it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import Any

from lsa_whisper import chat
from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.chat.serialize import encoded
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.review.edits import Change, EditError, verify_edit, with_checked_state
from lsa_whisper.review.history import History, step_as_dict, step_from_dict
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import remove_leftovers, write_atomic
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.own_files import append_own, own_folder, read_own, verify_plain

FOLDER = ".review"


class RevisionError(EditError):
    """The transcript was changed by another window or another program."""


class SavedTranscript:
    """A transcript that is saved after each edit.

    Attributes:
        path: The CHAT file.
        history: Its steps; :attr:`transcript` is the result.
        revision: Number of journal entries but those of time worked; an edit names the one that it was made for.
        pending: Text that was typed but is not valid CHAT yet, by utterance number.
        active_s: Seconds that a person has worked on it.
        remark: What happened to the file since the last session, or an empty string.
    """

    def __init__(self, path: Path):
        """Open the transcript and repeat what the journal has.

        Raises:
            LsaWhisperError: It cannot be read, or another program of this package writes it.
        """
        self.path = path
        self.kept = path.parent / FOLDER / path.name
        self._journal = self.kept.with_name(f"{path.name}.jsonl")
        self.pending: dict[int, str] = {}
        self.active_s, self.revision, self.remark = 0.0, 0, ""
        self.foreign: bytes | None = None
        self._open = ExitStack()
        self._open.enter_context(write_lock(path, wait=False))
        try:
            remove_leftovers(path)
            self.history = History(chat.read(path))  # first: it refuses what is not a file
            self._digest = _digest(path.read_bytes())
            if self.kept.parent.exists() or self.kept.parent.is_symlink():
                own_folder(self.kept.parent)
                verify_plain(self.kept)
                verify_plain(self._journal)
            if self._journal.is_file() and self.kept.is_file():
                self._replay()
        except BaseException:
            self.close()
            raise

    @property
    def transcript(self) -> Transcript:
        """The transcript as it is now."""
        return self.history.transcript

    @property
    def original(self) -> Transcript:
        """The transcript before its first edit."""
        return chat.read(self.kept) if self.kept.is_file() else self.transcript

    def close(self) -> None:
        """Let other programs write the file."""
        self._open.close()

    def edit(
        self, revision: int, kind: str, make: Callable[[Transcript], Transcript], *, joins: bool = False
    ) -> Change | None:
        """Make an edit, save it, and return the change; ``None`` if the edit changes nothing.

        Raises:
            RevisionError: The edit was made for another revision, or the file was changed.
            EditError: The edit cannot be made, or breaks a rule of CHAT; nothing is changed.
        """
        self.verify(revision)
        before = self.transcript
        after = with_checked_state(make(before))
        verify_edit(before, after)
        step = self.history.take(after, kind, at_s=time.time(), joins=joins)
        if step is None:
            return None
        self._carry(before, after, typed=kind == "text")
        self._save({"step": step_as_dict(step)})
        return step.change

    def undo(self, revision: int) -> Change | None:
        """Undo the last step, save, and return the change."""
        return self._move(revision, "undo", self.history.undo)

    def redo(self, revision: int) -> Change | None:
        """Redo the step that was undone last, save, and return the change."""
        return self._move(revision, "redo", self.history.redo)

    def pend(self, revision: int, number: int, text: str | None) -> None:
        """Keep text that is not valid CHAT yet in the journal, in case the browser or this program ends; or drop it."""
        self.verify(revision)
        self._pend(number, text)
        self._append({"pending": {"number": number, "text": text}})

    def _pend(self, number: int, text: str | None) -> None:
        self.pending.pop(number, None)
        if text is not None:
            self.pending[number] = text

    def _carry(self, before: Transcript, after: Transcript, *, typed: bool = False) -> None:
        """Give text that is not valid yet the new number of its utterance, unless that is gone or has a typed text."""
        at, removed, added = Change.between(before, after).utterances(before)
        moved, end = len(added) - len(removed), at + len(removed)
        if moved:  # another program's version is read anew: the same lines have other numbers
            first = _alike(removed, added)
            at, end = at + first, end - _alike(removed[first:][::-1], added[first:][::-1])
        gone = range(at, end) if moved or typed else ()
        self.pending = {n + moved * (n >= end): text for n, text in self.pending.items() if n not in gone}

    def add_activity(self, seconds: float) -> None:
        """Add the seconds that a person has worked."""
        self.active_s += seconds
        if self.kept.is_file():
            self._append({"active_s": round(seconds, 1)})

    def verify(self, revision: int) -> None:
        """Return when an edit for ``revision`` can be made now.

        Raises:
            RevisionError: Another window made an edit since, or another program changed the file.
            LsaWhisperError: The file cannot be read.
        """
        if revision != self.revision:
            raise RevisionError("another window has changed this transcript; it is shown as it is now")
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise LsaWhisperError(f"{self.path.name} cannot be read ({error.strerror}); restore it") from error
        if _digest(data) != self._digest:
            self.foreign = data
            self._keep_other(data)
            raise RevisionError(f"another program has changed {self.path.name}; choose a version")

    def take_foreign(self) -> None:
        """Take the version of another program as the transcript; it is one step, so undoing it gives one's own."""
        data, self.foreign, self.remark = self.path.read_bytes(), None, ""
        self._keep_other(encoded(self.transcript))
        self._digest = _digest(data)
        before = self.transcript
        step = self.history.take(chat.read(self.path), "other_program", at_s=time.time())
        self._carry(before, self.transcript)
        self._append({"step": step_as_dict(step)} if step else {"active_s": 0.0})

    def keep_own(self) -> None:
        """Write one's own version over that of another program, which stays in the hidden folder."""
        self._keep_other(self.path.read_bytes())
        self.foreign, self.remark = None, ""
        self._save({"active_s": 0.0})

    def _move(self, revision: int, name: str, move: Callable[[], bool]) -> Change | None:
        self.verify(revision)
        before = self.transcript
        if not move():
            return None
        self._carry(before, self.transcript)
        self._save({name: True})
        return Change.between(before, self.transcript)

    def _save(self, entry: dict[str, Any]) -> None:
        data = encoded(self.transcript)
        self._digest = _digest(data)
        self._append(entry)
        write_atomic(data, self.path)

    def _append(self, entry: dict[str, Any]) -> None:
        if not self.kept.is_file():
            write_atomic(self.path.read_bytes(), self.kept, own=True)
            self._journal.unlink(missing_ok=True)
        line = json.dumps(entry | {"digest": self._digest}) + "\n"
        try:
            append_own(self._journal, line.encode(), own=True)
        except OSError as error:
            raise LsaWhisperError(f"{self._journal}: cannot be written ({error.strerror}); make room") from error
        self.revision += not entry.get("active_s")

    def _replay(self) -> None:
        """Repeat the journal on the original; save again, ask, or take the changes of another program."""
        transcript, history = self.history.transcript, History(chat.read(self.kept))
        states = [_digest(self.kept.read_bytes())]
        history.transcript.path = str(self.path)
        for entry in self._entries():
            before = history.transcript
            if "step" in entry:
                history.repeat(step_from_dict(entry["step"]))
            elif "undo" in entry:
                history.undo()
            elif "redo" in entry:
                history.redo()
            if "pending" in entry:
                self._pend(int(entry["pending"]["number"]), entry["pending"]["text"])
            elif history.transcript is not before:
                self._carry(before, history.transcript, typed="step" in entry and entry["step"]["kind"] == "text")
            self.active_s += float(entry.get("active_s", 0))
            self.revision += not entry.get("active_s")
            states.append(entry["digest"])
        self.history = history
        own = encoded(history.transcript)
        if _digest(own) == self._digest:
            return
        if self._digest in states[-2:] and self._ended_in_save():
            self._digest = _digest(own)
            write_atomic(own, self.path)
            return
        if self._digest in states:
            self.foreign, self._digest = self.path.read_bytes(), _digest(own)
            self.remark = f"{self.path.name} is an earlier version again, as from a backup; choose a version"
            return
        self._keep_other(own)
        step = history.take(transcript, "other_program", at_s=time.time())
        self._append({"step": step_as_dict(step)} if step else {"active_s": 0.0})
        self.remark = f"{self.path.name} was changed by another program; undo gives the version before"

    def _ended_in_save(self) -> bool:
        """Return whether the file was not touched since the last step, so that a crash kept the step from it.

        A file that was restored from a backup has a later time of change, whatever time its copy shows.
        """
        return self.path.stat().st_ctime_ns <= self._journal.stat().st_mtime_ns

    def _entries(self) -> Iterator[dict[str, Any]]:
        data = read_own(self._journal, own=True)
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:  # a killed server left half a line
            write_atomic(whole, self._journal, own=True)
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = plain_json.parse(line)
                yield entry | {"digest": str(entry["digest"])}
            except (ValueError, KeyError, TypeError) as error:
                raise LsaWhisperError(
                    f"{self._journal}:{number}: is damaged ({error}); move the folder {FOLDER} away"
                ) from error

    def _keep_other(self, data: bytes) -> None:
        name = f"{self.path.stem}.{_digest(data)[:8]}{self.path.suffix}"
        write_atomic(data, self.kept.with_name(name), own=True)


def _alike(some: Sequence[Utterance], others: Sequence[Utterance]) -> int:
    """Return how many utterances are the same on the main line, from the first on."""
    return len(list(takewhile(lambda pair: pair[0].main == pair[1].main, zip(some, others, strict=False))))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
