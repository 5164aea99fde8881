"""``LsaWhisperBackend``: speech recognition and utterance segmentation for Batchalign, by one of our models."""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from batchalign._core.proto import (
    AsrInput,
    AsrOutput,
    AsrSegment,
    AsrWord,
    UtSegInput,
    UtSegOutput,
    UtteranceSpan,
)
from batchalign.backends.base import ASR, BatchPolicy, UtSeg

from lsa_whisper import checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.batchalign_engine.sound import held
from lsa_whisper.batchalign_engine.wording import UNINTELLIGIBLE, wording
from lsa_whisper.chat import Transcript, Utterance, utterance
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe import Transcriber
from lsa_whisper.version import __version__

Listener = Callable[[float], None]


class Writer(Protocol):
    """What writes the transcripts: a :class:`~lsa_whisper.transcribe.Transcriber`."""

    def transcribe(self, recording: Recording, *, progress: Listener | None = None) -> Transcript:
        """Return the transcript of a recording."""
        ...


class LsaWhisperBackend(ASR, UtSeg):
    """Two tasks of Batchalign in one; give the same object for both.

    Example::

        backend = LsaWhisperBackend.load("runs/demo/full", language="eng")
        pipeline = batchalign.recipes.transcribe(asr_backend=backend, utseg_backend=backend, workers=1)
        (outcome,) = pipeline.run([batchalign.inputs.media_from_path("visit.wav", language="eng")])
        outcome.write("visit.cha")
        finish(Path("visit.cha"), backend.pop("visit"))  # Batchalign forgets who spoke
    """

    def __init__(self, writer: Writer, identity: str, *, language: str = "eng", listener: Listener | None = None):
        """Take a loaded transcriber; :meth:`load` makes one.

        Args:
            writer: the transcriber.
            identity: a name for its model's content and settings.
            language: ISO 639-3, what the transcriber was made for; Batchalign's rules for words depend on it.
            listener: called with the seconds of a recording that are done.
        """
        self._writer, self._language, self._listener = writer, language, listener
        # Were one task answered from Batchalign's cache, the other would not know the recording: nothing of this
        # backend may be found there again, not even by itself in another process.
        self._name = f"lsa-whisper:{__version__}:{identity}:{language}:{uuid.uuid4().hex[:12]}"
        self._one_at_a_time = threading.Lock()
        self._transcripts: dict[str, Transcript] = {}
        self._waiting: dict[tuple[str, int, int], deque[Utterance]] = defaultdict(deque)

    @classmethod
    def load(
        cls,
        model: str | Path,
        *,
        language: str = "eng",
        batch_size: int = 8,
        device: str = "auto",
        dtype: str = "auto",
        word_times: bool = False,
        speaker: str = "PAR",
        role: str = "Participant",
        corpus: str = "batchalign",
        listener: Listener | None = None,
    ) -> LsaWhisperBackend:
        """Return a backend with a model of its own.

        Args:
            model: a checkpoint folder (an adapter is merged) or a hub name.
            language: ISO 639-3.
            batch_size: windows decoded together.
            device: ``auto`` takes a GPU where there is one.
            dtype: ``auto`` is float32 on a CPU, bfloat16 or float16 on a GPU.
            word_times: find the time of each word, for ``%wor``.
            speaker: the code of whoever speaks, where the model does not write roles.
            role: that speaker's role.
            corpus: a name for ``@ID``.
            listener: called with the seconds of a recording that are done.

        Raises:
            CheckpointError: the model cannot be loaded, or does not know the language.
        """
        transcriber = Transcriber(
            model,
            language=language,
            batch_size=batch_size,
            device=device,
            dtype=dtype,
            speaker=speaker,
            role=role,
            corpus=corpus,
            word_times=word_times,
        )
        settings = (checkpoint.digest(model), device, dtype, speaker, role, *(["words"] if word_times else []))
        return cls(transcriber, ":".join(settings), language=language, listener=listener)

    @property
    def name(self) -> str:
        """The name under which Batchalign keeps results, never the same for two backends."""
        return self._name

    @property
    def batch_policy(self) -> BatchPolicy:
        """One recording at a time: windows of one recording already fill the model's batches."""
        return BatchPolicy.one()

    def call(self, batch: list[Any], *, progress: Any = None, **_: Any) -> list[Any]:
        """Return one result for each input: what was heard, or how an ``xxx`` of ours reads.

        Args:
            batch: ``AsrInput`` and ``UtSegInput`` items.
            progress: Batchalign's own callback, ``(done, total)``.

        Raises:
            LsaWhisperError: an input of another task, or of a recording that this backend has not heard.
        """
        results = []
        for item in batch:
            if isinstance(item, AsrInput):
                results.append(self._hear(item, progress))
            elif isinstance(item, UtSegInput):
                results.append(self._read(item))
            else:
                raise LsaWhisperError(f"the engine lsa does ASR and utterance segmentation, not {type(item).__name__}")
        return results

    def pop(self, source_id: str) -> Transcript:
        """Return what was written for a recording, and forget it; the transcript names speakers and roles."""
        return self._transcripts.pop(source_id)

    def _hear(self, item: AsrInput, progress: Any) -> AsrOutput:
        audio = item.audio
        recording = held(item.source_id, audio.pcm_f32le, audio.sample_rate, audio.channels)

        def tell(seconds: float) -> None:
            if progress:
                progress(min(round(1000 * seconds), total_ms), total_ms)
            if self._listener:
                self._listener(seconds)

        total_ms = max(1, int(1000 * recording.duration_s))
        with self._one_at_a_time:
            transcript = self._writer.transcribe(recording, progress=tell)
        spoken = _timed(transcript.utterances, total_ms)
        self._transcripts[item.source_id] = transcript
        for key in [key for key in self._waiting if key[0] == item.source_id]:
            del self._waiting[key]  # of an earlier run of the same recording that was broken off
        for each, span in spoken:
            self._waiting[(item.source_id, span.start_ms, span.end_ms)].append(each)
        return AsrOutput(source_id=item.source_id, segments=[_opaque(each.speaker, span) for each, span in spoken])

    def _read(self, item: UtSegInput) -> UtSegOutput:
        rows = item.segments
        span = TimeSpan(min(row.start_ms for row in rows), max(row.end_ms for row in rows))
        waiting = self._waiting.get((item.source_id, span.start_ms, span.end_ms))
        if not waiting:
            raise LsaWhisperError(
                f"{item.source_id}: the engine lsa segments only what it has transcribed itself; give the same backend "
                "as asr_backend and as utseg_backend"
            )
        each = waiting.popleft()
        text, own = wording(each, self._language)
        times = each.word_times if own else []
        # Without a word Batchalign keeps its xxx, so an utterance without word times shows one for all of them;
        # ``finish`` takes such a line out again.
        words = [_word(word, at) for word, at in times] or [_word("xxx", span)]
        said = UtteranceSpan(start_ms=span.start_ms, end_ms=span.end_ms, text=text, words=words)
        return UtSegOutput(source_id=item.source_id, utterances=[said])


def _timed(utterances: Sequence[Utterance], total_ms: int) -> list[tuple[Utterance, TimeSpan]]:
    """Return each utterance with a time; one ``xxx`` over the whole recording where nothing was said.

    Batchalign refuses a file without utterances. One without a time stands where the last one ended.
    """
    timed: list[tuple[Utterance, TimeSpan]] = []
    last_ms = 0
    for each in utterances:
        span = each.span or TimeSpan(last_ms, last_ms + 1)
        timed.append((each, span))
        last_ms = span.end_ms
    return timed or [(utterance("PAR", UNINTELLIGIBLE), TimeSpan(0, total_ms))]


def _opaque(speaker: str, span: TimeSpan) -> AsrSegment:
    return AsrSegment(
        start_ms=span.start_ms, end_ms=span.end_ms, text="xxx", speaker=speaker, words=[_word("xxx", span)]
    )


def _word(text: str, span: TimeSpan) -> AsrWord:
    return AsrWord(text=text, start_ms=span.start_ms, end_ms=span.end_ms)
