"""What :meth:`Transcriber.transcribe` returns: a CHAT transcript, and its utterances and words as plain objects."""

from __future__ import annotations

from dataclasses import dataclass

from lsa_whisper.chat import Disfluency, Transcript, Utterance
from lsa_whisper.chat.reading import innermost_kinds
from lsa_whisper.decoding.confidences import Calibration, WordScores
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript
from lsa_whisper.transcription.assembly.confidence import utterance_confidence


@dataclass(frozen=True, slots=True)
class TranscribedWord:
    """One spoken word; filled pauses, fragments and every copy of a repetition count as words.

    Attributes:
        text: The word as spoken, without CHAT marks (``um`` for ``&-um``).
        start_ms: Start in the recording; ``None`` without :attr:`TranscriptionOptions.word_times`.
        end_ms: End in the recording; ``None`` as for ``start_ms``.
        confidence: Estimated probability that the word is correct, 0 to 1; ``None`` where the engine gives no scores.
            It is meaningful in absolute terms once the model is calibrated (``lsa-whisper calibrate``).
        disfluency: The disfluency that the word is part of, the shortest one if several are nested.
    """

    text: str
    start_ms: int | None = None
    end_ms: int | None = None
    confidence: float | None = None
    disfluency: Disfluency | None = None


@dataclass(frozen=True, slots=True)
class TranscribedUtterance:
    """One utterance (a CHAT main tier).

    Attributes:
        speaker: CHAT code, for example ``CHI``.
        text: The main tier in CHAT, without speaker and time: ``&-um I want [/] want it .``
        start_ms: Start in the recording; ``None`` in the rare case that no time was left for the utterance.
        end_ms: End in the recording; ``None`` as for ``start_ms``.
        words: The words as spoken.
        confidence: Mean confidence of the words; ``None`` where none has one.
    """

    speaker: str
    text: str
    start_ms: int | None
    end_ms: int | None
    words: tuple[TranscribedWord, ...]
    confidence: float | None = None


@dataclass(frozen=True)
class TranscriptionResult:
    """The transcript of one recording.

    Example::

        result = Transcriber("models/nano", word_times=True).transcribe("interview.wav")
        for word in result.words:
            print(word.start_ms, word.end_ms, word.text, word.confidence, word.disfluency)
        lsa_whisper.write_chat(result.transcript, "interview.cha")

    Attributes:
        transcript: The transcript in CHAT: :func:`lsa_whisper.write_chat` writes it to a file.
        utterances: The same utterances with times, words and confidences, in order.
        language: ISO 639-3.
        duration_ms: Length of the recording.
        remarks: What a reader should check, such as a passage where the model repeated itself. The transcript has them
            as comments.
    """

    transcript: Transcript
    utterances: tuple[TranscribedUtterance, ...]
    language: str
    duration_ms: int
    remarks: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[TranscribedWord, ...]:
        """All words of all utterances, in order."""
        return tuple(word for utterance in self.utterances for word in utterance.words)

    @classmethod
    def of(
        cls, scored: ScoredTranscript, *, language: str, duration_ms: int, calibration: Calibration
    ) -> TranscriptionResult:
        """Return the result for a transcript with the scores of its words.

        ``calibration`` maps the model's log-probabilities to confidences.
        """
        utterances = (
            _utterance(tier, scores, calibration)
            for tier, scores in zip(scored.transcript.utterances, scored.scores, strict=True)
        )
        return cls(scored.transcript, tuple(utterances), language, duration_ms, scored.remarks)


def _utterance(utterance: Utterance, scores: WordScores, calibration: Calibration) -> TranscribedUtterance:
    kinds = innermost_kinds(utterance.events(), len(scores))
    words = tuple(
        TranscribedWord(
            text,
            span.start_ms if span else None,
            span.end_ms if span else None,
            None if score is None else calibration(score),
            kind,
        )
        for text, span, score, kind in zip(utterance.verbatim(), utterance.word_spans(), scores, kinds, strict=True)
    )
    span = utterance.span
    start_ms, end_ms = (span.start_ms, span.end_ms) if span else (None, None)
    confidence = utterance_confidence(scores, calibration)
    return TranscribedUtterance(utterance.speaker, utterance.text, start_ms, end_ms, words, confidence)
