"""All scores of one hypothesis file against its reference, and their alignment.

Conventions for disfluencies that a system transcribed in words but did not mark:

- Fillers, cut-off words and exact repeats can be recognized from the words. Of a system without any marks, all of them
  are (:func:`lsa_whisper.scoring.words.mark_from_words`), right or wrong.
- Of any system, such a disfluency, *no no* too, counts as found where the reference has it at the same words and no
  mark of the system covers them. Of a system that writes marks, nothing else is inferred: a repeat that neither marks
  is not a false alarm. So a correct mark more never makes another disfluency missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from lsa_whisper.chat import Disfluency, Event, Utterance
from lsa_whisper.scoring import published, speakers, wer
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.aligned_utterances import AlignedUtterance, aligned_utterances
from lsa_whisper.scoring.confusion import confusion
from lsa_whisper.scoring.counts import ByLabel
from lsa_whisper.scoring.disfluency import (
    INFERRED_FROM_WORDS,
    DisfluencyScores,
    Matcher,
    score_disfluencies,
    unmatched_events,
)
from lsa_whisper.scoring.file_scores import EVERYONE, FileScores, SamplesBySpeaker
from lsa_whisper.scoring.groups import ParsedTranscript, errors_by, errors_by_group, same_role
from lsa_whisper.scoring.hallucination import Hallucinations, hallucinations
from lsa_whisper.scoring.language_sample import by_speaker, count_words, sample_of
from lsa_whisper.scoring.segmentation import boundaries
from lsa_whisper.scoring.speakers import SpeakerErrors
from lsa_whisper.scoring.timing import COLLAR_MS, timed_detections
from lsa_whisper.scoring.verbatim_benchmark import character_errors_by_class, typed_detections
from lsa_whisper.scoring.words import FileWords, file_words, normalized_fluent

_REPETITION, _PART_WORD = Disfluency.REPETITION, Disfluency.PART_WORD_REPETITION


def with_recognized(
    reference: FileWords,
    hypothesis: FileWords,
    alignment: Alignment,
    from_words: Callable[[Utterance], Utterance] | None,
) -> FileWords:
    """Return the hypothesis with the unmarked disfluencies that the reference has at the same words.

    The hypothesis has its own marks only. ``from_words`` marks an utterance from its words; ``None`` if nothing is to
    be recognized. Copies of a cut-off beginning are cut-off words or a part-word repetition, as the reference has them.
    """
    hypothesis = replace(hypothesis, events=tuple(_with_cuts_of(reference, hypothesis.events, alignment)))
    if from_words is None:
        return hypothesis
    missed = {kind: _missed(reference, hypothesis, alignment, kind) for kind in (*INFERRED_FROM_WORDS, _PART_WORD)}
    unmarked = _candidates(hypothesis, _utterances(hypothesis, alignment, missed.values()), from_words)
    candidates = [event for event in _with_cuts_of(reference, unmarked, alignment) if event.kind is not _REPETITION]
    copied = list(_copied(Matcher(reference, hypothesis, alignment, _REPETITION)))
    covered = [hypothesis.disfluent[event.start : event.end] for event in copied]
    candidates += [event for event, marked in zip(copied, covered, strict=True) if not marked.any()]
    accepted: list[Event] = []
    for kind, expected in missed.items():
        of_kind = [event for event in candidates if event.kind is kind]
        matcher = Matcher(reference, hypothesis, alignment, kind)
        accepted += [of_kind[number] for number in sorted({n for _, n in matcher.matched(expected, of_kind)})]
    whole = [event for event, marked in zip(copied, covered, strict=True) if marked.any() and not marked.all()]
    if not (accepted or whole):
        return hypothesis
    words, raw_words = list(hypothesis.words), list(hypothesis.raw_words)
    cuts = (event for event in accepted if event.kind in (Disfluency.FRAGMENT, _PART_WORD))
    for at in (at for event in cuts for at in range(event.start, event.end)):
        words[at], raw_words[at] = (f"{side[at].rstrip('-')}-" for side in (words, raw_words))
    events = sorted((*hypothesis.events, *accepted), key=lambda event: (event.start, event.end))
    marked = replace(hypothesis, events=tuple(events), words=tuple(words), raw_words=tuple(raw_words))
    fluent = _fluent(hypothesis, replace(marked, events=(*events, *whole)).disfluent)
    return replace(marked, fluent=tuple(fluent))


def _with_cuts_of(reference: FileWords, events: Sequence[Event], alignment: Alignment) -> Iterator[Event]:
    """Yield ``events`` of the hypothesis; of ``&+st &+st stop`` and ``↫st-st↫stop``, what the reference has."""
    cuts, own = ({e.start for e in side if e.kind is Disfluency.FRAGMENT} for side in (reference.events, events))
    for event in reference.events:
        copies = alignment.to_hypothesis[event.start : event.end].tolist()
        if event.kind is _PART_WORD and len(copies) > 1 and own.issuperset(copies):
            yield Event(event.kind, copies[0], copies[-1] + 1, iterations=event.iterations)
            own.difference_update(copies)
    for event in events:
        copies = alignment.to_reference[event.start : event.end].tolist()
        if event.kind is _PART_WORD and len(copies) > 1 and cuts.issuperset(copies):
            yield from (Event(Disfluency.FRAGMENT, at, at + 1) for at in range(event.start, event.end))
        elif event.kind is not Disfluency.FRAGMENT or event.start in own:
            yield event


def _copied(matcher: Matcher) -> Iterator[Event]:
    """Yield the repetitions of the reference that the words of the hypothesis show."""
    for event in matcher.reference.events:
        first, again = matcher.copies(event) if event.kind is matcher.kind else ([], [])
        words, copy = (tuple(matcher.hypothesis.words[at] for at in places) for places in (first, again))
        spans = (event.start, event.end), (event.repair_start, event.repair_end)
        if copy and (words == copy or [words, copy] == [matcher.reference.words[slice(*span)] for span in spans]):
            yield Event(event.kind, first[0], first[-1] + 1, repair_start=again[0], repair_end=again[-1] + 1)


def _missed(reference: FileWords, hypothesis: FileWords, alignment: Alignment, kind: Disfluency) -> list[Event]:
    """Return the events of a class in the reference that no mark of the hypothesis matches."""
    expected, own = ([event for event in side.events if event.kind is kind] for side in (reference, hypothesis))
    hits = {number for number, _ in Matcher(reference, hypothesis, alignment, kind).matched(expected, own)}
    return [event for number, event in enumerate(expected) if number not in hits]


def _utterances(hypothesis: FileWords, alignment: Alignment, missed: Iterable[Sequence[Event]]) -> list[int]:
    """Return the utterances of the hypothesis at the words of the missed events."""
    words = [alignment.to_hypothesis[event.start : event.end] for events in missed for event in events]
    positions = np.concatenate(words) if words else np.zeros(0, dtype=np.int64)
    return sorted(set(hypothesis.utterance_of[positions[positions != UNALIGNED]].tolist()))


def _candidates(
    hypothesis: FileWords, utterances: Sequence[int], from_words: Callable[[Utterance], Utterance]
) -> list[Event]:
    """Return the events recognized from the words of some utterances, in places that no mark of the system covers."""
    marked, events = hypothesis.disfluent, []
    starts = np.searchsorted(hypothesis.utterance_of, utterances).tolist()
    ends = np.searchsorted(hypothesis.utterance_of, utterances, side="right").tolist()
    for number, start, end in zip(utterances, starts, ends, strict=True):
        own = file_words([from_words(hypothesis.utterances[number])], keep_unintelligible=False)
        if len(own.words) == end - start:
            events += [event.moved(start) for event in own.events]
    return [event for event in events if not marked[event.start : event.end].any()]


def _fluent(hypothesis: FileWords, disfluent: NDArray[np.bool_]) -> Iterator[str]:
    """Yield the fluent words of the hypothesis without those that are ``disfluent``, a flag for each spoken word."""
    starts = np.searchsorted(hypothesis.utterance_of, np.arange(len(hypothesis.utterances) + 1)).tolist()
    for utterance, start, end in zip(hypothesis.utterances, starts, starts[1:], strict=False):
        fluent = normalized_fluent(utterance, keep_unintelligible=False)
        own = [at for at in range(start, end) if not hypothesis.disfluent[at]]
        # Spoken and fluent words differ where CHAT says what is meant: (be)cause, goed [: went].
        for edit in Levenshtein.opcodes([hypothesis.words[at] for at in own], fluent):
            meant = fluent[edit.dest_start : edit.dest_end]
            places = own[edit.src_start : edit.src_end] or [UNALIGNED] * len(meant)
            yield from (word for at, word in zip(places, meant, strict=False) if at == UNALIGNED or not disfluent[at])


@dataclass(frozen=True)
class ScoringOptions:
    """Options of scoring."""

    keep_alignment: bool = True
    """Whether to keep the aligned utterances, to show them."""
    keep_times: bool = False
    """Whether the aligned words keep their times."""
    collar_ms: int = COLLAR_MS
    """Largest difference between the onsets of two events that match in time."""
    published: Sequence[str] = ()
    """Modes of :data:`lsa_whisper.scoring.published.MODES`."""
    typed: bool = False
    """Whether to score in the manner of :mod:`lsa_whisper.scoring.verbatim_benchmark`."""
    speakers: bool = False
    """Whether to compute the speaker-attributed error rates, which need meeteval."""


def score_file(
    key: str, reference: ParsedTranscript, hypothesis: ParsedTranscript | None, options: ScoringOptions | None = None
) -> FileScores:
    """Return the scores of one file.

    ``hypothesis`` is ``None`` if the system has no such file.
    """
    options, other = options or ScoringOptions(), hypothesis or ParsedTranscript((), {})
    expected, actual = file_words(reference.utterances), file_words(other.utterances, keep_unintelligible=False)
    alignment = wer.align_verbatim(expected, actual)
    written = Counter(event.kind for event in actual.events)
    own, actual = actual.events, with_recognized(expected, actual, alignment, other.from_words)
    if actual.events != own:
        alignment = wer.align_verbatim(expected, actual)
    utterances = wer.utterance_of_columns(alignment, expected, actual)
    disfluency = score_disfluencies(expected, actual, alignment)
    speaker_errors = SpeakerErrors()
    if options.speakers:
        speaker_errors = speakers.speaker_errors(reference.utterances, other.utterances)
    rows: tuple[AlignedUtterance, ...] = ()
    if options.keep_alignment:
        unmatched = unmatched_events(expected, actual, alignment)
        rows = aligned_utterances(alignment, expected, actual, utterances, unmatched, with_spans=options.keep_times)
    return FileScores(
        key=key,
        missing=hypothesis is None,
        verbatim=alignment.errors,
        verbatim_raw=_raw(expected, actual, alignment).errors,
        fluent=wer.fluent_errors(expected, actual.fluent),
        fluent_raw=wer.fluent_errors(expected, actual.words),
        characters=wer.character_errors(alignment, expected.words, actual.words),
        by_speaker=errors_by(alignment, [own.speaker for own in reference.utterances], utterances),
        disfluency=disfluency,
        written=written,
        boundaries=boundaries(expected, actual, alignment),
        fluent_words=(int((~expected.fluent_unintelligible).sum()), len(actual.fluent)),
        dropped=actual.dropped,
        samples=_samples(reference.utterances, None if hypothesis is None else hypothesis.utterances),
        fluent_characters=wer.fluent_characters(expected, actual),
        timed=DisfluencyScores(timed_detections(expected, actual, options.collar_ms)),
        confusion=confusion(expected, actual, alignment, disfluency[Disfluency.PAUSE]),
        groups=errors_by_group(alignment, expected, reference.participants, utterances),
        same_role=same_role(expected, actual, alignment, reference.participants, other.participants),
        hallucinations=Hallucinations() if hypothesis is None else hallucinations(expected, actual, alignment),
        published=ByLabel(
            (mode, published.errors(mode, reference.utterances, other.utterances, reference.language))
            for mode in options.published
        ),
        typed=typed_detections(expected, actual, alignment) if options.typed else ByLabel(),
        class_characters=character_errors_by_class(expected, actual, alignment),
        speakers=speaker_errors,
        aligned=rows,
    )


def _raw(expected: FileWords, actual: FileWords, alignment: Alignment) -> Alignment:
    """Return the alignment with fillers as spelled: the given one, if no spelling differs."""
    same = (expected.words, actual.words) == (expected.raw_words, actual.raw_words)
    return alignment if same else wer.align_verbatim(expected, actual, raw_fillers=True)


def _samples(reference: Sequence[Utterance], hypothesis: Sequence[Utterance] | None) -> SamplesBySpeaker:
    """Return the language samples of everyone together and of each reference speaker.

    A hypothesis with other speaker codes has no samples of single speakers. A missing hypothesis has no sample at all,
    rather than one of 0 words.
    """
    counts, other_counts = count_words(reference), count_words(hypothesis or ())
    expected, actual = by_speaker(counts), by_speaker(other_counts)
    samples: SamplesBySpeaker = {EVERYONE: (sample_of(counts), None if hypothesis is None else sample_of(other_counts))}
    if len(expected) > 1:
        for code, own in expected.items():
            samples[code] = sample_of(own), sample_of(actual[code]) if code in actual else None
    return samples
