"""``Transcriber``: one loaded model, any number of recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.chat import Transcript
from lsa_whisper.decoding.decoder import PromptedDecoder
from lsa_whisper.decoding.engines import ENGINES_WITH_PROMPT, load_engine, resolve_device, verify_engine
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.languages import chat_code, whisper_code
from lsa_whisper.transcribe.assembly.assemble import ScoredTranscript, TranscriptHeader, assemble_with_scores
from lsa_whisper.transcribe.assembly.speaker_turns import SpeakerTurns
from lsa_whisper.transcribe.long_form.decode import decode_sequentially, decode_windows
from lsa_whisper.transcribe.long_form.partial import PartialDecoding, WindowResult
from lsa_whisper.transcribe.speech import vad as voice_activity
from lsa_whisper.transcribe.speech.energy import SpeechActivity
from lsa_whisper.version import __version__

WINDOWS = ("speech", "sequential")
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
        windows: str = "speech",
        vad: str = "auto",
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
            windows: ``speech`` cuts in silence; ``sequential`` goes on after the last complete timestamp, with the
                text before as prompt.
            vad: what finds speech: ``silero``, ``energy``, or ``auto`` for the better one that is installed.
            draft: a small checkpoint with the same vocabulary that guesses what the model will write.

        Raises:
            CheckpointError: the model cannot be loaded, or does not know the language.
            LsaWhisperError: the engine does not offer such windows, or there is no such setting.
        """
        verify_options(engine, windows, batch_size, draft)
        self._vad = voice_activity.resolve(vad)
        device, dtype = resolve_device(device, dtype, engine)
        self._checkpoint, self._decoder, dtype = load_engine(
            engine,
            model,
            device=device,
            dtype=dtype,
            language=whisper_code(language),
            batch_size=batch_size,
            word_times=word_times,
            draft=draft,
        )
        self._sequential = windows == "sequential"
        self._at_once = _BATCHES_AT_ONCE * batch_size
        self._language, self._speaker, self._role, self._corpus = chat_code(language), speaker, role, corpus
        labels = self._checkpoint.labels
        self._how = (
            f"transcribed by lsa-whisper {__version__} with model {Path(model).name} (labels {labels.style}/"
            f"{labels.version}, engine {engine}, {dtype}, language {self._language}, windows {windows}, "
            f"speech found by {self._vad}); not checked by a person"
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
        return self.transcribe_with_scores(recording, progress=progress).transcript

    def transcribe_with_scores(
        self,
        recording: Recording,
        *,
        progress: Callable[[float], None] | None = None,
        turns: SpeakerTurns | None = None,
        partial: PartialDecoding | None = None,
    ) -> ScoredTranscript:
        """Return what :meth:`transcribe` does, with how sure the model was of each word.

        Args:
            recording: opened audio; it is streamed, never held whole.
            progress: called with the seconds of the recording that are done.
            turns: who speaks when; goes before what the model says about it.
            partial: where decoded windows are kept, so that an interrupted run can go on from them.
        """
        speech = voice_activity.detect_speech(self._vad, recording.stream(), SAMPLE_RATE_HZ)
        heard: list[WindowResult] = []
        for batch in self._decode(recording, speech, partial):
            heard += batch
            if progress:  # first of all with what an earlier run did, so that speed can be told from it
                progress(heard[-1][0].end_ms / 1000 if heard else 0.0)
        kind = "video" if recording.path.suffix.lower() in _VIDEO else "audio"
        header = TranscriptHeader(
            recording.path.stem, kind, self._language, self._speaker, self._role, self._corpus, (self._how,), turns
        )
        return assemble_with_scores(
            [span for span, _ in heard],
            [result for _, result in heard],
            labels=self._checkpoint.labels,
            duration_ms=int(recording.duration_s * 1000),
            header=header,
        )

    def _decode(
        self, recording: Recording, speech: SpeechActivity, partial: PartialDecoding | None
    ) -> Iterator[Sequence[WindowResult]]:
        decoder, context_s = self._decoder, self._checkpoint.context_s
        if self._sequential and isinstance(decoder, PromptedDecoder):
            return decode_sequentially(decoder, recording, speech, context_s=context_s, partial=partial)
        return decode_windows(decoder, recording, speech, context_s=context_s, at_once=self._at_once, partial=partial)


def verify_options(engine: str, windows: str, batch_size: int, draft: str | Path | None = None) -> None:
    """Return when a :class:`Transcriber` can be made with these options, as far as that is known before it is loaded.

    Raises:
        LsaWhisperError: one of them is unknown, or they do not go together.
    """
    verify_engine(engine, draft)
    if windows not in WINDOWS:
        raise LsaWhisperError(f"windows {windows!r} are not known; choose {' or '.join(WINDOWS)}")
    if windows == "sequential" and engine not in ENGINES_WITH_PROMPT:
        raise LsaWhisperError(f"engine {engine} takes no previous text; use --windows speech, or another engine")
    if batch_size < 1:
        raise LsaWhisperError(f"batch size {batch_size}: one window at least must be decoded at a time")
