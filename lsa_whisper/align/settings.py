"""The model of a run and how it is used; models are loaded when the first transcript needs them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsa_whisper import checkpoint
from lsa_whisper.align.aligner import Aligner
from lsa_whisper.align.files import stored_windows
from lsa_whisper.align.measuring import model_heads
from lsa_whisper.align.model import AlignmentModel
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.decoding.partial import PartialDecoding
from lsa_whisper.languages import whisper_code


@dataclass(frozen=True)
class AlignmentSettings:
    """Everything that an alignment depends on besides the transcript and the recording."""

    model: str | Path
    language: str | None
    detector: str
    batch_size: int
    device: str

    def aligner(self, language: str) -> Aligner:
        """Return an aligner for a transcript in ``language``, unless another language was chosen.

        Raises:
            CheckpointError: The model cannot be loaded, or does not know the language.
        """
        code = whisper_code(self.language or language)
        model = AlignmentModel(self._checkpoint, language=code, batch_size=self.batch_size)
        return Aligner(model, model_heads(model, self.model), detector=self.detector, batch_size=self.batch_size)

    def partial(self, target: Path, source: Transcript, recording: Recording, language: str) -> PartialDecoding:
        """Return the stored windows of an interrupted run with the same inputs."""
        return stored_windows(target, source, recording, self._digest, self.language or language, self.detector)

    @cached_property
    def _digest(self) -> str:
        return checkpoint.digest(self.model)  # reads all weights, so once for all transcripts

    @cached_property
    def _checkpoint(self) -> checkpoint.Checkpoint:
        device, _ = resolve_device(self.device, "float32")
        return checkpoint.load(self.model, device=device)
