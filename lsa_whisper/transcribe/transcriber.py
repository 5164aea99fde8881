"""``Transcriber``: one loaded model, any number of recordings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsa_whisper import __version__
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.assemble import Heading, assemble
from lsa_whisper.transcribe.decode import DecodedWindow
from lsa_whisper.transcribe.engines import ENGINES, open_engine, placement, verify_engine
from lsa_whisper.transcribe.language import chat_code, whisper_code
from lsa_whisper.transcribe.loops import decode_without_loops
from lsa_whisper.transcribe.speech import find_speech
from lsa_whisper.transcribe.windows import cut_windows

__all__ = ["ENGINES", "Transcriber", "placement", "verify_engine"]

_VIDEO = (".mp4", ".mov", ".webm", ".mkv", ".avi")
_BATCHES_AT_ONCE = 8  # windows of several batches are held in memory together, so that like lengths can meet


class Transcriber:
    """Turns recordings into CHAT with one model.

    Example::

        transcriber = Transcriber("runs/storybook")
        transcript = transcriber.transcribe(Recording.open("visit.wav"))
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
        draft: str | Path | None = None,
    ):
        """Load the model.

        Args:
            model: a checkpoint folder or a hub name; for ``ct2`` also a folder that ``export --to ct2`` wrote (such a
                folder is made of any other checkpoint, and kept in the user's cache).
            language: ISO 639-3 (``eng``) or Whisper's code (``en``).
            batch_size: windows decoded together.
            device: ``auto`` takes a GPU where there is one.
            dtype: ``auto`` is float32 on a CPU, bfloat16 or float16 on a GPU; for ``ct2``, the type that is stored.
            engine: the decoder's library, see :data:`ENGINES`; both write the same text.
            speaker: the code of whoever speaks, where the model does not write roles.
            role: that speaker's role in ``@ID``.
            corpus: a name for ``@ID``.
            word_times: find the time of each word, and write ``%wor``.
            draft: a small checkpoint with the same vocabulary that guesses what the model will write.

        Raises:
            CheckpointError: the model cannot be loaded, or does not know the language.
        """
        verify_engine(engine, draft)
        device, dtype = placement(device, dtype, engine)
        self._checkpoint, self._decoder, dtype = open_engine(
            engine,
            model,
            device=device,
            dtype=dtype,
            language=whisper_code(language),
            batch_size=batch_size,
            word_times=word_times,
            draft=draft,
        )
        self._at_once = _BATCHES_AT_ONCE * batch_size
        self._language, self._speaker, self._role, self._corpus = chat_code(language), speaker, role, corpus
        labels = self._checkpoint.labels
        self._how = (
            f"transcribed by lsa-whisper {__version__} with model {Path(model).name} (labels {labels.style}/"
            f"{labels.version}, engine {engine}, {dtype}, language {self._language}); not checked by a person"
        )

    def transcribe(self, recording: Recording, *, progress: Callable[[float], None] | None = None) -> Transcript:
        """Return the transcript of a recording; an empty one, which says so, where nobody speaks.

        Args:
            recording: opened audio; it is streamed, never held whole.
            progress: called with the seconds of the recording that are done.
        """
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
