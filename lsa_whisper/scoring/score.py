"""One reference file against one hypothesis file: everything that is counted, and the alignment to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.scoring import published, speakers
from lsa_whisper.scoring.align import Alignment
from lsa_whisper.scoring.cells import aligned_rows
from lsa_whisper.scoring.confusion import confusion
from lsa_whisper.scoring.counts import ByLabel
from lsa_whisper.scoring.disfluency import DisfluencyScores, score_disfluencies
from lsa_whisper.scoring.file_scores import EVERYONE, FileScores, Samples
from lsa_whisper.scoring.groups import Side, errors_by_group, same_role
from lsa_whisper.scoring.hallucination import Hallucinations, hallucinations
from lsa_whisper.scoring.language_sample import by_speaker, count_words, sample_of
from lsa_whisper.scoring.segmentation import boundaries
from lsa_whisper.scoring.speakers import SpeakerErrors
from lsa_whisper.scoring.timed import COLLAR_MS, timed_detections
from lsa_whisper.scoring.wer import (
    align_verbatim,
    character_errors,
    errors_by_speaker,
    fluent_characters,
    fluent_errors,
    utterance_of_columns,
)
from lsa_whisper.scoring.words import FileWords, file_words


@dataclass(frozen=True)
class Wanted:
    """What is to be counted beside what always is."""

    rows: bool = True
    """The aligned utterances, to show them."""
    collar_ms: int = COLLAR_MS
    """How far apart two events may begin to agree in time."""
    published: Sequence[str] = ()
    """Modes of :data:`lsa_whisper.scoring.published.MODES`."""
    speakers: bool = False
    """The error rates that need meeteval."""


def score(key: str, reference: Side, hypothesis: Side | None, wanted: Wanted | None = None) -> FileScores:
    """Return the scores of one file.

    Args:
        key: the name of the file.
        reference: its utterances and speakers.
        hypothesis: those of the system, or ``None`` when it wrote no such file.
        wanted: what else is to be counted; the defaults of :class:`Wanted` when left out.
    """
    wanted, other = wanted or Wanted(), hypothesis or Side((), {})
    said, heard = file_words(reference.utterances), file_words(other.utterances, keep_unintelligible=False)
    alignment = align_verbatim(said, heard)
    utterances = utterance_of_columns(alignment, said, heard)
    disfluency, fluent = score_disfluencies(said, heard, alignment), fluent_errors(said, heard)
    return FileScores(
        key=key,
        missing=hypothesis is None,
        verbatim=alignment.errors,
        verbatim_raw=_raw(said, heard, alignment).errors,
        fluent=fluent.cleaned,
        fluent_raw=fluent.raw,
        characters=character_errors(said, heard, alignment),
        by_speaker=errors_by_speaker(alignment, said, utterances),
        disfluency=disfluency,
        written=Counter(event.kind for event in heard.events),
        boundaries=boundaries(said, heard, alignment),
        fluent_words=(int((~said.fluent_unintelligible).sum()), len(heard.fluent)),
        dropped=heard.dropped,
        samples=_samples(reference.utterances, None if hypothesis is None else hypothesis.utterances),
        fluent_characters=fluent_characters(said, heard),
        timed=DisfluencyScores(timed_detections(said, heard, wanted.collar_ms)),
        confusion=confusion(said, heard, alignment, disfluency[Disfluency.PAUSE]),
        groups=errors_by_group(alignment, said, reference.people, utterances),
        same_role=same_role(said, heard, alignment, reference.people, other.people),
        hallucinations=Hallucinations() if hypothesis is None else hallucinations(said, heard, alignment),
        published=ByLabel(
            (m, published.MODES[m].errors(reference.utterances, other.utterances)) for m in wanted.published
        ),
        speakers=_speakers(reference, other) if wanted.speakers else SpeakerErrors(),
        rows=aligned_rows(alignment, said, heard, utterances) if wanted.rows else (),
    )


def _raw(said: FileWords, heard: FileWords, alignment: Alignment) -> Alignment:
    """Return the alignment with fillers as spelled: the one there is, where no spelling differs."""
    same = (said.words, heard.words) == (said.raw_words, heard.raw_words)
    return alignment if same else align_verbatim(said, heard, raw_fillers=True)


def _speakers(reference: Side, hypothesis: Side) -> SpeakerErrors:
    return speakers.speaker_errors(reference.utterances, hypothesis.utterances)


def _samples(reference: Sequence[Utterance], hypothesis: Sequence[Utterance] | None) -> Samples:
    """Return the language samples of everyone, and of each speaker that has a counterpart.

    A hypothesis whose speakers are called otherwise says nothing about single speakers; one that was never written says
    nothing about anybody, and is no sample of 0 words.
    """
    counted, others = count_words(reference), count_words(hypothesis or ())
    said, heard = by_speaker(counted), by_speaker(others)
    samples: Samples = {EVERYONE: (sample_of(counted), None if hypothesis is None else sample_of(others))}
    if len(said) > 1:
        for code, own in said.items():
            samples[code] = sample_of(own), sample_of(heard[code]) if code in heard else None
    return samples
