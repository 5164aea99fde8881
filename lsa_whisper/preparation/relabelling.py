"""Disfluencies that a model finds in train recordings, in copies of transcripts that leave them out.

The copies are CHAT files of their own in the prepared folder. A person can correct them: a later call with the same
inputs takes them as they are then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Transcript
from lsa_whisper.checkpoint.choice import choose_model
from lsa_whisper.corpus import Session
from lsa_whisper.errors import AudioError, ChatSyntaxError, CorpusError
from lsa_whisper.page.terms import class_name
from lsa_whisper.system.own_files import own_folder, verify_inside
from lsa_whisper.system.terminal import with_progress_bar
from lsa_whisper.verbatimize.jobs import VerbatimSettings, verify_times

RELABELLED_FOLDER = "relabelled"
MIN_PROBABILITY = 0.7
"""Least probability of what is added. On 24 real recordings, whisper-base invented two repetitions with it; with 0.5,
six and two cut-off words. With 0.9, it found 12 filled pauses of 26, not 15."""
_Pairs = Sequence[tuple[Session, str]]


@dataclass(frozen=True)
class Relabelling:
    """Relabelling with one model."""

    settings: VerbatimSettings
    folder: Path

    @classmethod
    def of(cls, model: str, least: float, out: Path) -> Relabelling:
        """Return the relabelling with ``model``, which can be used but is not loaded.

        Raises:
            CheckpointError: The model is missing, or not a Whisper that writes disfluencies.
            CorpusError: The threshold is not a probability.
        """
        if not 0 < least <= 1:
            raise CorpusError(f"`relabel_threshold={least}`: it must be a probability above 0 and at most 1")
        settings = VerbatimSettings(choose_model(model), least=least)
        settings.verify()
        return cls(settings, out / RELABELLED_FOLDER)

    def verify(self, pairs: _Pairs) -> None:
        """Return when all train sessions can be relabelled.

        Raises:
            CheckpointError: The model does not write disfluencies in the language of one.
            CorpusError: A transcript has no times, or a copy is there that was made from other inputs.
        """
        train = [session for session, split in pairs if split == "train"]
        for language in sorted({session.language for session in train}):
            self.settings.verify(language)
        for session in train:
            source = session.transcript
            verify_times(source, session.path)
            self._verify_copy(session, source)

    def relabel(self, pairs: _Pairs) -> tuple[list[tuple[Session, str]], dict[str, Any]]:
        """Return the verified sessions, those of train with copies of their transcripts, and what was added.

        A session whose files cannot be read stays as it is, because :func:`finish_part` says why.
        """
        relabelled, added, milliseconds, files = list(pairs), Counter[Disfluency](), 0, 0
        for at, (session, split) in enumerate(with_progress_bar(pairs, "relabelling", len(pairs))):
            if split != "train":
                continue
            try:
                source = session.transcript
                copy = self._copy(session, source)
            except (AudioError, ChatSyntaxError):
                continue
            relabelled[at] = replace(session, path=self._target(session), repair_bullets=False), split
            added.update(_kinds(copy))
            added.subtract(_kinds(source))
            milliseconds, files = milliseconds + round(session.recording.duration_s * 1000), files + 1
        counts = {kind.value: added[kind] for kind in Disfluency if added[kind] > 0}
        return relabelled, {"recordings": files, "audio_h": round(milliseconds / 3_600_000, 6), "added": counts}

    def _copy(self, session: Session, source: Transcript) -> Transcript:
        target = self._target(session)
        own_folder(self.folder)
        verify_inside(target, self.folder)
        if target.exists():
            return chat.read(target)
        return self.settings.write(source, session.recording, target, session.language)[0]

    def _verify_copy(self, session: Session, source: Transcript) -> None:
        """Return when the copy is not there, or was made from the same, perhaps with the corrections of a person."""
        target = self._target(session)
        if not target.exists():
            return
        inputs = self.settings.partial(target, source, session.recording, session.language).inputs
        if not any(f"(inputs {inputs})" in " ".join(line.value.split()) for line in chat.read(target).headers):
            raise CorpusError(
                f"{target}: was made with another model, threshold, transcript or recording; move it, or choose "
                "another output folder"
            )

    def _target(self, session: Session) -> Path:
        return self.folder / session.corpus / f"{session.name}.cha"

    def note(self, counts: dict[str, Any]) -> str:
        """Return what was added, in a sentence.

        >>> one = Relabelling(VerbatimSettings("m/base", least=0.9), Path("data/relabelled"))
        >>> one.note({"recordings": 2, "audio_h": 0.5, "added": {"filled_pause": 3, "repetition": 1}})
        "base found in 2 train recordings (30.0 minutes), with a probability of at least 0.9, what their transcripts
        lack: filled pauses: 3, repetitions: 1; check these in data/relabelled with 'lsa-whisper review', and prepare
        again"
        """
        added = ", ".join(f"{class_name(Disfluency(kind))}: {count}" for kind, count in counts["added"].items())
        return (
            f"{Path(self.settings.model).name} found in {counts['recordings']} train recordings "
            f"({counts['audio_h'] * 60:.1f} minutes), with a probability of at least {self.settings.least}, what their "
            f"transcripts lack: {added or 'nothing'}; check these in {self.folder} with 'lsa-whisper review', and "
            "prepare again"
        )


def _kinds(transcript: Transcript) -> Counter[Disfluency]:
    return Counter(event.kind for utterance in transcript.utterances for event in utterance.events())
