"""Decoded windows -> a CHAT transcript whose time bullets increase, lie inside the recording and never overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.audio.speech_energy import SpeechActivity
from lsa_whisper.chat import Line, Participant, Transcript, Utterance, compose, utterance
from lsa_whisper.decoding.confidences import WordScores
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.word_times import adjacent_spans, align_words, spans_of_words
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats.reading.speakers import ROLES
from lsa_whisper.labels import Labels, decode
from lsa_whisper.languages import chat_code
from lsa_whisper.manifest import is_unicode
from lsa_whisper.retraces import Tagger
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.confidence import cleaned, word_logprobs
from lsa_whisper.transcription.assembly.placement import (
    SpeakerLookup,
    attribute_speakers,
    between_pauses,
    place_utterances,
)
from lsa_whisper.transcription.assembly.recognized import stretches
from lsa_whisper.transcription.assembly.remarks import language_remarks, missed_speech, spoken_languages, window_remarks
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns


@dataclass(frozen=True)
class TranscriptHeader:
    """The headers of a transcript.

    Attributes:
        media: File name of the recording without its suffix.
        media_kind: ``audio`` or ``video``.
        language: ISO 639-3.
        speaker: Code of the speaker, for models that do not write speakers.
        role: That speaker's role, one of CHAT's.
        corpus: Corpus name for ``@ID``; if empty, ``corpus_name``, because Batchalign rejects an empty one.
        comments: One ``@Comment`` each.
        turns: Speaker turns from external diarization; they override the model's speakers.
    """

    media: str
    media_kind: str = "audio"
    language: str = "eng"
    speaker: str = "PAR"
    role: str = "Participant"
    corpus: str = ""
    comments: tuple[str, ...] = ()
    turns: SpeakerTurns | None = None


@dataclass(frozen=True)
class ScoredTranscript:
    """A transcript, the word scores of each utterance, and remarks on what a reader should check.

    ``missed`` are the stretches of speech for which words seem to be missing.
    """

    transcript: Transcript
    scores: tuple[WordScores, ...] = ()
    remarks: tuple[str, ...] = ()
    missed: tuple[TimeSpan, ...] = ()


@dataclass(frozen=True)
class _Draft:
    """An utterance before its final time is known."""

    utterance: Utterance
    scores: WordScores = ()
    language: str = ""
    comments: tuple[Line, ...] = ()


def assemble(
    windows: Sequence[TimeSpan],
    decoded: Sequence[DecodedWindow],
    *,
    labels: Labels,
    duration_ms: int,
    header: TranscriptHeader,
    speech: SpeechActivity | None = None,
    tagger: Callable[[str], Tagger | None] = lambda _: None,
    word_tiers: bool = True,
    is_stock: bool = False,
    is_cleaned: bool = False,
) -> ScoredTranscript:
    """Return the transcript of a recording; without windows or words, a valid empty one with a remark.

    Args:
        windows: Span of each decoded window in the recording, in order.
        decoded: One per window.
        labels: Style of the decoded text, where the model learned labels.
        duration_ms: The length of the recording.
        header: The headers of the transcript.
        speech: Where speech was heard, to tell where words are missed.
        tagger: What sets the retraces that the model left out, in each language (ISO 639-3).
        word_tiers: Whether to write the times of words that are known; the times of utterances follow them anyway.
        is_stock: Whether the model never learned labels: its segments end anywhere, and its text is read as that of
            other recognizers is.
        is_cleaned: Whether disfluencies are left out; speech that they cover is not missed.
    """
    drafts = (
        list(_stock_drafts(windows, decoded, header))
        if is_stock
        else [draft for pair in zip(windows, decoded, strict=True) for draft in _drafts(*pair, labels, header, tagger)]
    )
    languages = spoken_languages(decoded) or [header.language]
    header = replace(header, language=languages[0])
    drafts = _attributed(drafts, header)
    spoken = utterances = _utterances(drafts, languages[0], duration_ms, word_tiers)
    if is_cleaned:
        pairs = [(draft, cleaned(draft.utterance, draft.scores)) for draft in drafts]
        drafts = [replace(draft, utterance=found[0], scores=found[1]) for draft, found in pairs if found]
        utterances = _utterances(drafts, languages[0], duration_ms, word_tiers)
    any_words = any(tier.verbatim() for tier in spoken)
    remarks = (*language_remarks(decoded), *window_remarks(windows, decoded, any_words))
    transcript = compose(
        languages=languages,
        participants=_participants(utterances, header),
        utterances=utterances,
        media=header.media,
        media_kind=header.media_kind,
        comments=[*header.comments, *remarks],
    )
    missed = missed_speech(spoken, speech, duration_ms) if speech else []
    return ScoredTranscript(transcript, tuple(draft.scores for draft in drafts), remarks, tuple(missed))


def _utterances(drafts: Sequence[_Draft], main: str, duration_ms: int, word_tiers: bool) -> list[Utterance]:
    marked = [_with_language(draft, main) for draft in drafts]
    placed = marked if word_tiers else [utterance(draft.speaker, draft.text, draft.span) for draft in marked]
    tiers = place_utterances(placed, duration_ms)
    return [replace(tier, tiers=tier.tiers + draft.comments) for tier, draft in zip(tiers, drafts, strict=True)]


def verify_header(header: TranscriptHeader, path: Path) -> None:
    """Raise an error if CHAT does not allow such headers in the file at ``path``; called before decoding.

    Raises:
        LsaWhisperError: CHAT does not allow the language, or the name of the recording or of the corpus.
    """
    empty = assemble([], [], labels=Labels(), duration_ms=0, header=header).transcript
    empty.path = str(path)
    if problems := chat.check(empty):
        raise LsaWhisperError(f"{path}: {problems[0].message}; change the setting, or rename the recording")
    if not is_unicode(chat.serialize(empty)):
        raise LsaWhisperError(f"{path}: the recording's name is not UTF-8, which CHAT is in; rename it")


def _with_language(draft: _Draft, main: str) -> Utterance:
    """Return an utterance that says its language, as CHAT requires of all but the main one."""
    spoken = draft.utterance
    if draft.language == main:
        return spoken
    return utterance(spoken.speaker, f"[- {draft.language}] {spoken.text}", spoken.span, spoken.word_times)


def _drafts(
    window: TimeSpan,
    result: DecodedWindow,
    labels: Labels,
    header: TranscriptHeader,
    tagger: Callable[[str], Tagger | None],
) -> Iterator[_Draft]:
    language = chat_code(result.language) if result.language else header.language
    segments = _with_room(result.segments)
    if not labels.timestamps:
        segments = [part for segment in segments for part in between_pauses(segment, language)]
    for segment in segments:
        span = TimeSpan(round(segment.start_s * 1000), round(segment.end_s * 1000)).shift(window.start_ms)
        text = decode(segment.text, labels, speaker=header.speaker, language=language, tagger=tagger(language))
        words = align_words(text.utterances, segment.timed, window.start_ms)
        spans = split_span(text.utterances, span)
        if segment.timed:
            spans = (adjacent_spans if segment.closed else spans_of_words)(spans, words)
        logprobs = word_logprobs(text.utterances, segment)
        for turn, at, timed, scores in zip(text.utterances, spans, words, logprobs, strict=True):
            yield _Draft(utterance(turn.speaker, turn.text, at, timed), scores, language)


def _stock_drafts(
    windows: Sequence[TimeSpan], decoded: Sequence[DecodedWindow], header: TranscriptHeader
) -> Iterator[_Draft]:
    turns = SpeakerLookup(header.turns, header.speaker) if header.turns else None
    for stretch in stretches(
        windows,
        [replace(result, segments=tuple(_with_room(result.segments))) for result in decoded],
        speaker=header.speaker,
        language=header.language,
        speaker_in=turns.near if turns else None,
    ):
        segment = stretch.segment
        words = align_words(stretch.utterances, segment.timed)
        spans = list(stretch.spans)
        if segment.timed:
            spans = spans_of_words(spans, words)
        logprobs = word_logprobs(stretch.utterances, segment)
        for turn, at, timed, scores in zip(stretch.utterances, spans, words, logprobs, strict=True):
            tier = utterance(turn.speaker, turn.text, at, timed)
            yield _Draft(tier, scores, stretch.language, turn.tiers)


def _attributed(drafts: Sequence[_Draft], header: TranscriptHeader) -> list[_Draft]:
    """Return the drafts with the speakers of the turns they fall into, if turns are given."""
    if header.turns is None:
        return list(drafts)
    speakers = SpeakerLookup(header.turns, header.speaker)
    attributed = []
    for draft in drafts:
        scores, comments = draft.scores, draft.comments
        for part in attribute_speakers(draft.utterance, speakers):
            words = len(part.verbatim())
            attributed.append(_Draft(part, scores[:words], draft.language, comments))
            scores, comments = scores[words:], ()
    return attributed


def _with_room(segments: Sequence[DecodedSegment]) -> list[DecodedSegment]:
    """Return the segments, those without duration joined to the previous segment."""
    merged: list[DecodedSegment] = []
    for segment in segments:
        if merged and segment.end_s <= segment.start_s:
            before = merged[-1]
            merged[-1] = replace(
                before,
                text=f"{before.text} {segment.text}",
                timed=before.timed + segment.timed,
                logprobs=before.logprobs + segment.logprobs,
            )
        else:
            merged.append(segment)
    return merged


def split_span(utterances: Sequence[Utterance], span: TimeSpan) -> list[TimeSpan]:
    """Return one span for each utterance, proportional to the length of its words.

    >>> split_span([utterance("PAR", "one ."), utterance("PAR", "one two three .")], TimeSpan(0, 1000))
    [TimeSpan(start_ms=0, end_ms=250), TimeSpan(start_ms=250, end_ms=1000)]
    """
    lengths = [1 + sum(len(word) for word in tier.verbatim()) for tier in utterances]
    edges = [span.start_ms + round(span.duration_ms * part / (sum(lengths) or 1)) for part in accumulate(lengths)]
    return [TimeSpan(*pair) for pair in zip([span.start_ms, *edges], edges, strict=False)]


def _participants(utterances: Sequence[Utterance], header: TranscriptHeader) -> list[Participant]:
    people = {participant.code: participant for participant in header.turns.participants} if header.turns else {}
    # Everyone with a turn is a participant, even if none of their words was recognized.
    codes = dict.fromkeys([*people, *(tier.speaker for tier in utterances)]) or {header.speaker: None}
    return [
        replace(
            people.get(code) or Participant(code, _role(code, header)),
            language=header.language,
            corpus=header.corpus or (people[code].corpus if code in people else "") or "corpus_name",
        )
        for code in codes
    ]


def _role(code: str, header: TranscriptHeader) -> str:
    return header.role if code == header.speaker else ROLES.get(code, "Unidentified")
