"""The channels of a recording with one microphone per speaker, and their transcripts merged into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from lsa_whisper.audio.recording import Recording, excerpts
from lsa_whisper.audio.samples import are_same
from lsa_whisper.chat import Utterance, compose
from lsa_whisper.decoding.confidences import WordScores
from lsa_whisper.errors import AudioError
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript, TranscriptHeader


def each_channel(recording: Recording, count: int) -> list[Recording]:
    """Return the ``count`` channels of a recording.

    Raises:
        AudioError: The recording has another number of channels, or the same sound in all.
    """
    if recording.channels == 1:
        raise AudioError(f"{recording.path}: has one channel, not {count}; leave out --channels")
    if count != recording.channels:
        raise AudioError(f"{recording.path}: has {recording.channels} channels, not {count}; name one speaker for each")
    if are_same(excerpts(recording)):
        message = "has the same sound in all its channels, so they do not tell speakers apart"
        raise AudioError(f"{recording.path}: {message}; leave out --channels, and give --speakers if you have turns")
    return [replace(recording, channel=channel, cancels=False) for channel in range(count)]


def part_of_progress(
    progress: Callable[[float], None] | None, recording: Recording, earlier: int, channels: int
) -> Callable[[float], None] | None:
    """Return a function that reports the seconds of a channel, after ``earlier`` ones, as seconds of the recording."""
    if progress is None:
        return None
    return lambda seconds: progress((earlier * recording.duration_s + seconds) / channels)


def merge_tracks(tracks: Sequence[tuple[str, ScoredTranscript]], header: TranscriptHeader) -> ScoredTranscript:
    """Return one transcript with the utterances of every track in order of time.

    ``tracks`` are the speaker and the transcript of each channel. Remarks on single channels are added to the comments
    of ``header``.
    """
    rows = sorted((row for _, track in tracks for row in _placed(track)), key=lambda row: row[0])
    people = {person.code: person for _, track in tracks for person in track.transcript.participants.values()}
    remarks = tuple(dict.fromkeys(_remarks(tracks)))
    transcript = compose(
        languages=[header.language],
        participants=list(people.values()),
        utterances=[utterance for _, utterance, _ in rows],
        media=header.media,
        media_kind=header.media_kind,
        comments=[*header.comments, *remarks],
    )
    missed = sorted(span for _, track in tracks for span in track.missed)
    return ScoredTranscript(transcript, tuple(scores for _, _, scores in rows), remarks, tuple(missed))


def _placed(track: ScoredTranscript) -> Iterator[tuple[int, Utterance, WordScores]]:
    """Yield the utterances of a track with their starts in milliseconds; one without time follows the one before."""
    latest = 0
    for utterance, scores in zip(track.transcript.utterances, track.scores, strict=True):
        latest = utterance.span.start_ms if utterance.span else latest
        yield latest, utterance, scores


def _remarks(tracks: Sequence[tuple[str, ScoredTranscript]]) -> Iterator[str]:
    for code, track in tracks:
        for remark in track.remarks:
            of_all = all(remark in other.remarks for _, other in tracks)
            yield remark if of_all else f"channel of {code}: {remark}"
