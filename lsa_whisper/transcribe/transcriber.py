"""``Transcriber``: one loaded model, any number of recordings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsa_whisper import __version__, checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.assemble import Heading, assemble
from lsa_whisper.transcribe.decode import DecodedWindow, Decoder
from lsa_whisper.transcribe.language import chat_code, whisper_code
from lsa_whisper.transcribe.loops import decode_without_loops
from lsa_whisper.transcribe.speech import find_speech
from lsa_whisper.transcribe.windows import cut_windows

ENGINES = ("transformers",)
_VIDEO = (".mp4", ".mov", ".webm", ".mkv", ".avi")
_BATCHES_AT_ONCE = 8  # windows of several batches are held in memory together, so that like lengths can meet


class Transcriber:
    """Turns recordings into CHAT with one model.

    Example::

        transcriber = Transcriber("runs/storybook")
        transcript = transcriber.transcribe("visit.wav")
        for each in transcript.utterances:
            print(each.speaker, each.span, each.text)
        chat.write(transcript, "visit.cha")
    """

    def __init__(
        self,
        model: str | Path,
        *,
        language: str = "eng",
        batch_size: int = 8,
        device: str = "auto",
        dtype: str = "auto",
        engine: str = "transformers",
        speaker: str = "PAR",
        role: str = "Participant",
        corpus: str = "",
        word_times: bool = False,
    ):
        """Load the model.

        Args:
            model: a checkpoint folder or a hub name.
            language: ISO 639-3 (``eng``) or Whisper's code (``en``).
            batch_size: windows decoded together.
            device: ``auto`` takes a GPU where there is one.
            dtype: ``auto`` is float32 on a CPU, bfloat16 or float16 on a GPU.
            engine: the decoder, see :data:`ENGINES`.
            speaker: the code of whoever speaks, where the model does not write roles.
            role: that speaker's role in ``@ID``.
            corpus: a name for ``@ID``.
            word_times: find the time of each word, and write ``%wor``.

        Raises:
            CheckpointError: the model cannot be loaded, or does not know the language.
        """
        verify_engine(engine)
        device, dtype = placement(device, dtype)
        self._checkpoint = checkpoint.load(model, dtype=dtype, device=device)
        self._decoder = _decoder(self._checkpoint, whisper_code(language), batch_size, word_times)
        self._at_once = _BATCHES_AT_ONCE * batch_size
        self._language, self._speaker, self._role, self._corpus = chat_code(language), speaker, role, corpus
        labels = self._checkpoint.labels
        self._how = (
            f"transcribed by lsa-whisper {__version__} with model {Path(model).name} (labels {labels.style}/"
            f"{labels.version}, engine {engine}, {dtype}, language {self._language}); not checked by a person"
        )

    def transcribe(
        self, recording: Recording | str | Path, *, progress: Callable[[float], None] | None = None
    ) -> Transcript:
        """Return the transcript of a recording; an empty one, which says so, where nobody speaks.

        Args:
            recording: opened audio, or the path of some; it is streamed, never held whole.
            progress: called with the seconds of the recording that are done.

        Raises:
            AudioError: there is no such recording, or no sound in it that can be read.
        """
        recording = recording if isinstance(recording, Recording) else Recording.open(recording)
        windows = self._windows(recording)
        decoded: list[DecodedWindow] = []
        for first in range(0, len(windows), self._at_once):
            spans = windows[first : first + self._at_once]
            sounds = [recording.load(span) for span in spans]
            decoded += decode_without_loops(self._decoder, sounds, SAMPLE_RATE_HZ)
            if progress:
                progress(spans[-1].end_ms / 1000)
        kind = "video" if recording.path.suffix.lower() in _VIDEO else "audio"
        heading = Heading(
            recording.path.stem, kind, self._language, self._speaker, self._role, self._corpus, (self._how,)
        )
        return assemble(
            windows,
            decoded,
            labels=self._checkpoint.labels,
            duration_ms=int(recording.duration_s * 1000),
            heading=heading,
        )

    def _windows(self, recording: Recording) -> list[TimeSpan]:
        speech = find_speech(recording.stream(), SAMPLE_RATE_HZ)
        return cut_windows(speech, context_s=self._checkpoint.context_s, duration_s=recording.duration_s)


def verify_engine(engine: str) -> None:
    """Return when there is such an engine.

    Raises:
        LsaWhisperError: there is none.
    """
    if engine not in ENGINES:
        raise LsaWhisperError(f"engine {engine!r} is not known; choose {' or '.join(ENGINES)}")


def placement(device: str, dtype: str) -> tuple[str, str]:
    """Return the device and number format that ``auto`` stands for on this machine."""
    import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if dtype == "auto":
        on_gpu = "bfloat16" if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "float16"
        dtype = on_gpu if device.startswith("cuda") else "float32"
    return device, dtype


def _decoder(loaded: Any, language: str, batch_size: int, word_times: bool) -> Decoder:
    if loaded.feature_extractor.sampling_rate != SAMPLE_RATE_HZ:
        rate_hz = loaded.feature_extractor.sampling_rate
        raise CheckpointError(f"{loaded.path}: hears {rate_hz} Hz, recordings come at {SAMPLE_RATE_HZ}; use another")
    from lsa_whisper.transcribe.decode_hf import TransformersDecoder

    return TransformersDecoder(loaded, language=language, batch_size=batch_size, word_times=word_times)
