"""Files of other formats next to a transcript: derived from it, and never written over another person's file.

Among them is the cleaned text of a transcript, without its disfluencies: for readers, from the same decoding.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Transcript, Utterance, compose
from lsa_whisper.corpus import CLEANED_TEXT
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats import FORMAT_SUFFIXES, serialize
from lsa_whisper.formats.readable_text import plain_text
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import remove_leftovers, truncate_name, write_atomic
from lsa_whisper.system.own_files import own_folder, read_own
from lsa_whisper.transcription.assembly.confidence import cleaned
from lsa_whisper.transcription.files.provenance import fingerprint

FLUENT = ("fluent cha", "fluent txt")
"""The names of the files with cleaned text among the formats."""


def serialize_fluent(transcript: Transcript, name: str) -> str:
    """Return the cleaned text as CHAT or as plain text; ``name`` is one of :data:`FLUENT`.

    >>> from lsa_whisper.chat import Participant, utterance
    >>> original = utterance("PAR", "&-um I want [/] want the &+sto story .")
    >>> made = compose(languages=["eng"], participants=[Participant("PAR", "Participant")], utterances=[original])
    >>> serialize_fluent(made, "fluent txt").strip()
    'I want the story.'
    """
    fluent = [found[0] for original in transcript.utterances if (found := cleaned(original))]
    if name == "fluent txt":
        return plain_text(_composed(transcript, fluent))
    return chat.serialize(_composed(transcript, fluent))


def _composed(transcript: Transcript, utterances: list[Utterance]) -> Transcript:
    people = list(transcript.participants.values())
    return compose(
        languages=transcript.languages or ["eng"],
        participants=people,
        utterances=utterances,
        media=transcript.media,
        comments=[CLEANED_TEXT],
    )


class DerivedFiles:
    """The files of other formats that are derived from one transcript.

    A file may be replaced when it equals what the transcript gives, or when a hidden list next to the transcript has
    its fingerprint, from an earlier call. So files derived from an older transcript are updated, and files that a
    person changed are kept.
    """

    def __init__(self, target: Path, names: Sequence[str]):
        """Derive files from the transcript at ``target``.

        The names are those of formats (:data:`lsa_whisper.formats.FORMATS`) and of the cleaned text (:data:`FLUENT`).
        """
        self._target, self._list = target, target.with_name(f".{truncate_name(target.stem)}.made.json")
        self.paths = {name: _path(target, name) for name in names}

    def verify(self) -> None:
        """Return when each file is absent or may be replaced.

        Raises:
            LsaWhisperError: A file is not derived from the transcript, or was changed since.
        """
        digests = self._known()
        for name, path in self.paths.items():
            if path.exists() and not self._is_derived(name, digests.get(self._key(path))):
                raise LsaWhisperError(
                    f"{path}: was not made from {self._target.name}, or was changed since; move it, or choose another "
                    "output folder"
                )

    def write(self, transcript: Transcript) -> None:
        """Write the files of ``transcript``, the one at the target, after verifying again that they may be replaced."""
        if not self.paths:
            return
        self.verify()
        remove_leftovers(self._list, *self.paths.values())
        digests = self._known()
        for name, path in self.paths.items():
            text = _serialized(transcript, name)
            if path.parent != self._target.parent:
                own_folder(path.parent)
            write_atomic(text, path)
            digests[self._key(path)] = fingerprint(text)
        write_atomic(json.dumps(digests) + "\n", self._list)

    def _key(self, path: Path) -> str:
        return path.relative_to(self._target.parent).as_posix()

    def _known(self) -> dict[str, str]:
        # Where the list is absent or damaged, only files that equal the transcript are derived.
        return {name: str(digest) for name, digest in plain_json.read_mapping(self._list).items()}

    def _is_derived(self, name: str, digest: str | None) -> bool:
        data = read_own(self.paths[name])
        if fingerprint(data) == digest:
            return True
        return self._target.exists() and fingerprint(_serialized(chat.read(self._target), name)) == fingerprint(data)


def _path(target: Path, name: str) -> Path:
    """Return the path of a file; the cleaned text has a folder of its own, for ``@Media`` needs the same name."""
    if name in FLUENT:
        return target.parent / "fluent" / target.with_suffix(f".{name.split()[1]}").name
    return target.with_suffix(f".{FORMAT_SUFFIXES[name]}")


def _serialized(transcript: Transcript, name: str) -> str | bytes:
    return serialize_fluent(transcript, name) if name in FLUENT else serialize(transcript, name)
