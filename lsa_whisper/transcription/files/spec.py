"""A model with its options before the weights are loaded: picklable, with a digest that identifies equal inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from lsa_whisper import checkpoint
from lsa_whisper.chat.files import media_name
from lsa_whisper.checkpoint.stored_labels import read_writing
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.decoding.style import is_stock
from lsa_whisper.transcription.assembly.assemble import TranscriptHeader
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns
from lsa_whisper.transcription.files.provenance import RecordingIdentity, digest_inputs
from lsa_whisper.transcription.options import TranscriptionOptions
from lsa_whisper.transcription.transcriber import Transcriber
from lsa_whisper.version import __version__

_IN_DIGEST = (
    "engine",
    "dtype",
    "speaker",
    "role",
    "corpus_name",
    "windows",
    "vad",
    "no_speech_threshold",
    "logprob_threshold",
    "finds_skipped",
)
"""Options that can change a transcript. The batch size and the device cannot."""


@dataclass(frozen=True)
class TranscriberSpec:
    """A model and its options, from which each worker process loads its own :class:`Transcriber`."""

    model: str | Path
    options: TranscriptionOptions

    @cached_property
    def transcriber(self) -> Transcriber:
        """The loaded model; loading is delayed until a recording needs it."""
        return Transcriber(self.model, self.options)

    def header(self, audio: Path, turns: SpeakerTurns | None = None) -> TranscriptHeader:
        """Return the CHAT header of the transcript of ``audio``, without comments."""
        return TranscriptHeader(
            media_name(audio.stem),
            language=self.options.chat_language,
            speaker=self.options.speaker,
            role=self.options.role,
            corpus=self.options.corpus_name,
            turns=turns,
        )

    @cached_property
    def model_digest(self) -> str:
        """Digest of the model's files."""
        return checkpoint.digest(self.model)

    def on(self, device: str, dtype: str | None = None) -> TranscriberSpec:
        """Return the same model on another device, with another number format if one is given."""
        dtype = dtype or self.options.dtype
        spec = replace(self, options=self.options.with_changes(device=device, dtype=dtype))
        vars(spec)["model_digest"] = self.model_digest  # gigabytes are read once, not in every process
        return spec

    @property
    def device(self) -> str:
        """The device that the model computes on."""
        return resolve_device(self.options.device, self.options.dtype, self.options.engine)[0]

    def digest(
        self,
        audio: Path,
        recording: RecordingIdentity,
        turns: Path | None = None,
        diarizer: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """Return a digest of everything that the transcript of ``audio`` depends on.

        ``turns`` is the file with its speaker turns, ``diarizer`` the settings of what finds them.
        """
        settings = {name: str(getattr(self.options, name)) for name in _IN_DIGEST}
        settings |= {
            "beams": str(1 if self.options.draft else self.options.beams or "usual"),
            "language": str(self.options.language) if self.options.depends_on_recording else self.options.chat_language,
            "version": __version__,
            "name": Path(self.model).name,
        }
        settings |= {"word_times": "yes"} if self.options.word_times else {}
        settings |= {
            name: str(value) for name in ("style", "prompt", "words", "roles") if (value := getattr(self.options, name))
        }
        settings |= {} if self.options.retraces else {"retraces": "as written"}
        only_stock = {"second_text": self.options.second_text, "passages": self.options.find_skipped is not False}
        if not all(only_stock.values()) and is_stock(read_writing(self.model)):
            settings |= {name: "no" for name, wanted in only_stock.items() if not wanted}
        settings |= {"channels": self.options.channels} if self.options.channels != "mix" else {}
        settings |= {"turns": turns.name, "who": digest_inputs(RecordingIdentity.of(turns), "", {})} if turns else {}
        settings |= diarizer
        return digest_inputs(recording, self.model_digest, settings | {"audio": audio.stem})
