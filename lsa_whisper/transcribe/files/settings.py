"""What a transcript depends on besides its recording."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

from lsa_whisper import checkpoint
from lsa_whisper.languages import chat_code
from lsa_whisper.transcribe.assembly.assemble import TranscriptHeader
from lsa_whisper.transcribe.assembly.speaker_turns import SpeakerTurns
from lsa_whisper.transcribe.files.provenance import digest_inputs
from lsa_whisper.transcribe.transcriber import Transcriber
from lsa_whisper.version import __version__


@dataclass(frozen=True)
class Settings:
    """What a transcript depends on besides its recording."""

    model: str | Path
    language: str
    batch_size: int
    device: str
    dtype: str
    engine: str
    speaker: str
    role: str
    corpus: str
    word_times: bool
    windows: str
    vad: str
    draft: str | Path | None = None

    @cached_property
    def transcriber(self) -> Transcriber:
        """The loaded model: loaded for the first recording that needs it."""
        return Transcriber(**{each.name: getattr(self, each.name) for each in fields(self)})

    def header(self, audio: Path, turns: SpeakerTurns | None = None) -> TranscriptHeader:
        """Return what these settings put above a transcript."""
        return TranscriptHeader(
            audio.stem,
            language=chat_code(self.language),
            speaker=self.speaker,
            role=self.role,
            corpus=self.corpus,
            turns=turns,
        )

    @cached_property
    def model_digest(self) -> str:
        """The content of the model."""
        return checkpoint.digest(self.model)

    def on(self, device: str, dtype: str | None = None) -> Settings:
        """Return the same for another device, and another number format where one is given."""
        moved = replace(self, device=device, dtype=dtype or self.dtype)
        vars(moved)["model_digest"] = self.model_digest  # gigabytes are read once, not in every process
        return moved

    def digest(self, audio: Path, turns: Path | None = None) -> str:
        """Return a name for everything the transcript of ``audio`` depends on (the size of batches is not part)."""
        chosen = ("engine", "dtype", "speaker", "role", "corpus", "windows", "vad")
        settings = {name: str(getattr(self, name)) for name in chosen}
        settings |= {"language": chat_code(self.language), "version": __version__, "name": Path(self.model).name}
        settings |= {"word_times": "yes"} if self.word_times else {}
        settings |= {"turns": turns.name, "who": digest_inputs(turns, "", {})} if turns else {}
        return digest_inputs(audio, self.model_digest, settings | {"audio": audio.stem})
