"""An open transcript as the page shows it: plain values, ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.decoding.confidences import Calibration, ScoredUtterance, read_confidences
from lsa_whisper.review.corrections import Corrections, errors_left, expected_errors, word_changes
from lsa_whisper.review.edits import Change, WrittenWord, comment_of, draft_banner, written_words
from lsa_whisper.review.saved import SavedTranscript
from lsa_whisper.review.word_confidence import ConfidenceTable, flag_limit
from lsa_whisper.timespan import TimeSpan


class TranscriptView:
    """What the page needs to know of a transcript, kept up to date with its edits."""

    def __init__(self, saved: SavedTranscript, calibration: Calibration | None = None, flag: float = 0.1):
        """Read the confidences of the draft next to the transcript, if there are any.

        ``calibration`` overrides that of the draft; ``flag`` is the share of its words that are flagged as doubtful.
        """
        self._saved = saved
        scores = read_confidences(saved.path)
        self._table = ConfidenceTable(saved.transcript.utterances, scores, calibration)
        drafts = scores.utterances if scores else _as_drafts(saved)
        self._drafts = {draft.span: draft for draft in drafts}
        self._promised = {
            draft.span: expected_errors(confidences)
            for draft, confidences in zip(drafts, self._table.of_drafts, strict=False)
        }
        self._corrections = Corrections(self._drafts, saved.transcript.utterances)
        confidences = (word for words in self._table.of_drafts for word in words)
        self._flag_below = flag_limit((confidence for confidence in confidences if confidence is not None), flag)
        self._missed = [[span.start_ms, span.end_ms] for span in scores.missed] if scores else []
        self._errors: dict[str, float] = {}

    def all(self) -> dict[str, Any]:
        """Return the whole transcript."""
        transcript = self._saved.transcript
        return {
            "name": self._saved.path.name,
            "participants": self._participants(),
            "utterances": [self._utterance(utterance) for utterance in transcript.utterances],
            "pending": {str(number): text for number, text in self._saved.pending.items()},
            "remark": self._saved.remark,
            "missed": self._missed,
            "flag_below": self._flag_below,
            **self.state(),
        }

    def state(self) -> dict[str, Any]:
        """Return what changes with an edit: revision, what can be undone, progress, and the banner of a draft."""
        return {
            "revision": self._saved.revision,
            "can_undo": bool(self._saved.history.done),
            "can_redo": bool(self._saved.history.undone),
            "progress": self.progress(),
            "draft": draft_banner(self._saved.transcript),
        }

    def changed(self, change: Change | None, before: Transcript) -> dict[str, Any]:
        """Return the utterances that a change of ``before`` replaced, with the new state."""
        if change is None:
            return {"at": 0, "removed": 0, "added": [], **self.state()}
        at, removed, added = change.utterances(before)
        self._table.carry(removed, added)
        self._corrections.replace(removed, added)
        answer = {"at": at, "removed": len(removed), "added": [*map(self._utterance, added)], **self.state()}
        if len(removed) < len(change.removed) or len(added) < len(change.added):  # headers
            answer["participants"] = self._participants()
        return answer

    def _participants(self) -> dict[str, dict[str, str]]:
        people = self._saved.transcript.participants.items()
        return {code: {"role": who.role, "name": who.name, "age": who.age, "sex": who.sex} for code, who in people}

    def progress(self) -> dict[str, Any]:
        """Return how much is reviewed, what is probably left, the time spent, and the corrections by class."""
        utterances = self._saved.transcript.utterances
        reviewed = [utterance for utterance in utterances if utterance.reviewed]
        estimate = None
        if self._table.known:
            unreviewed = [self._expected(utterance) for utterance in utterances if not utterance.reviewed]
            promised, errors_found = self._reviewed_errors(reviewed)
            estimate = errors_left(unreviewed, promised, errors_found).rounded
        return {
            "reviewed": len(reviewed),
            "utterances": len(utterances),
            "errors_left": estimate,
            "minutes": round(self._saved.active_s / 60, 1),
            "corrections": self._corrections.as_dict(),
        }

    def _reviewed_errors(self, reviewed: list[Utterance]) -> tuple[list[float], int]:
        """Return the errors that the draft of the reviewed utterances promised, and those that were found."""
        promised, errors_found = [], 0
        for utterance in reviewed:
            draft = self._drafts.get(utterance.span)
            if draft is not None:
                promised.append(self._promised.get(utterance.span, 0.0))
                errors_found += word_changes(draft.words, utterance.reading.verbatim)
        return promised, errors_found

    def _expected(self, utterance: Utterance) -> float:
        if utterance.main not in self._errors:
            self._errors[utterance.main] = expected_errors(self._table.of(utterance))
        return self._errors[utterance.main]

    def _utterance(self, utterance: Utterance) -> dict[str, Any]:
        confidences = self._table.of(utterance)
        spans = utterance.word_spans() if utterance.word_times else ()
        words = [_word(word, confidences, spans) for word in written_words(utterance)]
        return {
            "speaker": utterance.speaker,
            "text": utterance.text,
            "readable": " ".join(utterance.reading.verbatim),
            "start_ms": utterance.span.start_ms if utterance.span else None,
            "end_ms": utterance.span.end_ms if utterance.span else None,
            "words": words,
            "kinds": sorted({event.kind.value for event in utterance.reading.events}),
            "expected": round(self._expected(utterance), 3) if self._table.known else None,
            "reviewed": utterance.reviewed,
            "comment": comment_of(utterance),
        }


def _word(
    word: WrittenWord, confidences: Sequence[float | None], spans: Sequence[TimeSpan | None]
) -> list[int | float | None]:
    """Return a written word's place in the text, its lowest confidence, its times, and its first spoken word."""
    _, start, end, first, last = word
    values = [value for value in confidences[first:last] if value is not None]
    confidence = round(min(values), 3) if values else None
    times = [span for span in spans[first:last] if span] if spans else None
    if not times:
        return [start, end, confidence, None, None, first]
    return [start, end, confidence, times[0].start_ms, times[-1].end_ms, first]


def _as_drafts(saved: SavedTranscript) -> tuple[ScoredUtterance, ...]:
    """Return the original of a transcript without confidences."""
    pairs = ((utterance, tuple(utterance.verbatim())) for utterance in saved.original.utterances)
    return tuple(ScoredUtterance(own.speaker, own.text, own.span, words, (None,) * len(words)) for own, words in pairs)
