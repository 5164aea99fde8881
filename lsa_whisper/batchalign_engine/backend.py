"""``LsaWhisperBackend``: speech recognition and utterance segmentation for Batchalign, by one of our models."""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, Unpack

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
from lsa_whisper.batchalign_engine.chat import UNINTELLIGIBLE_UTTERANCE, wording
from lsa_whisper.batchalign_engine.pcm import recording_from_pcm
from lsa_whisper.chat import Transcript, Utterance, utterance
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber, TranscriptionOptions, TranscriptionResult
from lsa_whisper.transcription.options import OptionChanges, combine
from lsa_whisper.version import __version__

ProgressListener = Callable[[float], None]


class RecordingTranscriber(Protocol):
    """The part of :class:`~lsa_whisper.transcription.Transcriber` that the backend uses."""

    def transcribe(self, recording: Recording, *, progress: ProgressListener | None = None) -> TranscriptionResult:
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

    def __init__(
        self,
        transcriber: RecordingTranscriber,
        identity: str,
        *,
        language: str = "eng",
        listener: ProgressListener | None = None,
    ):
        """Take a loaded transcriber; :meth:`load` makes one.

        ``identity`` is a name for the content of its model and its options. Batchalign's word rules depend on
        ``language`` (ISO 639-3), the transcriber's. ``listener`` is called with the number of seconds of a recording
        that are processed.
        """
        self._transcriber, self._language, self._listener = transcriber, language, listener
        # If Batchalign answered one task from its cache, the other task would not know the recording. So nothing of
        # this backend may be found in the cache, not even by the same backend in another process.
        self._name = f"lsa-whisper:{__version__}:{identity}:{language}:{uuid.uuid4().hex[:12]}"
        self._lock = threading.Lock()
        self._transcripts: dict[str, Transcript] = {}
        self._waiting: dict[tuple[str, int, int], deque[Utterance]] = defaultdict(deque)

    @classmethod
    def load(
        cls,
        model: str | Path,
        options: TranscriptionOptions | None = None,
        *,
        listener: ProgressListener | None = None,
        **changes: Unpack[OptionChanges],
    ) -> LsaWhisperBackend:
        """Return a backend with its own model.

        Args:
            model: A checkpoint folder (an adapter is merged) or a hub name.
            options: How to decode; the defaults of :class:`~lsa_whisper.transcription.TranscriptionOptions` if absent,
                with ``corpus_name="batchalign"``.
            listener: Called with the number of seconds of a recording that are processed.
            **changes: Fields of :class:`~lsa_whisper.transcription.TranscriptionOptions`, applied to ``options``.

        Raises:
            CheckpointError: The model cannot be loaded, or does not know the language.
        """
        options = combine(options or TranscriptionOptions(corpus_name="batchalign"), changes)
        print_progress(checkpoint.overview_line(model))
        transcriber = Transcriber(model, options)
        identity = [checkpoint.digest(model), options.device, options.dtype, options.speaker, options.role]
        identity += ["words"] if options.word_times else []
        return cls(transcriber, ":".join(identity), language=options.chat_language, listener=listener)

    @property
    def name(self) -> str:
        """The name under which Batchalign caches results; unique to each backend."""
        return self._name

    @property
    def batch_policy(self) -> BatchPolicy:
        """One recording at a time: the windows of one recording already fill the model's batches."""
        return BatchPolicy.one()

    def call(self, batch: list[Any], *, progress: Any = None, **_: Any) -> list[Any]:
        """Return one result for each input: the recognized utterances, or the text of one of them.

        The inputs are ``AsrInput`` and ``UtSegInput`` items; ``progress`` is Batchalign's own callback, ``(done,
        total)``.

        Raises:
            LsaWhisperError: An input of another task, or of a recording that this backend has not transcribed.
        """
        results = []
        for item in batch:
            if isinstance(item, AsrInput):
                results.append(self._recognize(item, progress))
            elif isinstance(item, UtSegInput):
                results.append(self._segment(item))
            else:
                raise LsaWhisperError(f"the engine lsa does ASR and utterance segmentation, not {type(item).__name__}")
        return results

    def pop(self, source_id: str) -> Transcript:
        """Return the transcript of a recording, with speakers and roles, and remove it from the backend."""
        return self._transcripts.pop(source_id)

    def _recognize(self, item: AsrInput, progress: Any) -> AsrOutput:
        audio = item.audio
        recording = recording_from_pcm(item.source_id, audio.pcm_f32le, audio.sample_rate, audio.channels)

        def report(seconds: float) -> None:
            if progress:
                progress(min(round(1000 * seconds), total_ms), total_ms)
            if self._listener:
                self._listener(seconds)

        total_ms = max(1, int(1000 * recording.duration_s))
        with self._lock:
            transcript = self._transcriber.transcribe(recording, progress=report).transcript
        spans = _timed(transcript.utterances, total_ms)
        self._transcripts[item.source_id] = transcript
        for key in [key for key in self._waiting if key[0] == item.source_id]:
            del self._waiting[key]  # left by an interrupted run on the same recording
        for entry, span in spans:
            self._waiting[(item.source_id, span.start_ms, span.end_ms)].append(entry)
        return AsrOutput(source_id=item.source_id, segments=[_opaque(entry.speaker, span) for entry, span in spans])

    def _segment(self, item: UtSegInput) -> UtSegOutput:
        rows = item.segments
        span = TimeSpan(min(row.start_ms for row in rows), max(row.end_ms for row in rows))
        waiting = self._waiting.get((item.source_id, span.start_ms, span.end_ms))
        if not waiting:
            raise LsaWhisperError(
                f"{item.source_id}: the engine lsa segments only what it has transcribed itself; give the same backend "
                "as asr_backend and as utseg_backend"
            )
        entry = waiting.popleft()
        text, own = wording(entry, self._language)
        times = entry.word_times if own else []
        # Without words Batchalign keeps its xxx, so an utterance without word times gets one xxx over its whole time;
        # ``finish`` removes that %wor line.
        words = [_word(word, at) for word, at in times] or [_word("xxx", span)]
        segment = UtteranceSpan(start_ms=span.start_ms, end_ms=span.end_ms, text=text, words=words)
        return UtSegOutput(source_id=item.source_id, utterances=[segment])


def _timed(utterances: Sequence[Utterance], total_ms: int) -> list[tuple[Utterance, TimeSpan]]:
    """Return each utterance with a time; for an empty transcript, one ``xxx`` over the whole recording.

    Batchalign rejects a file without utterances. An utterance without a time is put where the previous one ended.
    """
    timed: list[tuple[Utterance, TimeSpan]] = []
    last_ms = 0
    for entry in utterances:
        span = entry.span or TimeSpan(last_ms, last_ms + 1)
        timed.append((entry, span))
        last_ms = span.end_ms
    return timed or [(utterance("PAR", UNINTELLIGIBLE_UTTERANCE), TimeSpan(0, total_ms))]


def _opaque(speaker: str, span: TimeSpan) -> AsrSegment:
    return AsrSegment(
        start_ms=span.start_ms, end_ms=span.end_ms, text="xxx", speaker=speaker, words=[_word("xxx", span)]
    )


def _word(text: str, span: TimeSpan) -> AsrWord:
    return AsrWord(text=text, start_ms=span.start_ms, end_ms=span.end_ms)
