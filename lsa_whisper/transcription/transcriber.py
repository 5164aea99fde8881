"""``Transcriber``: one loaded model, any number of recordings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Unpack

from lsa_whisper.audio import Recording, vad
from lsa_whisper.audio.speech_energy import SpeechActivity
from lsa_whisper.chat.files import corpus_of, media_name
from lsa_whisper.checkpoint import Checkpoint, ConvertedCheckpoint
from lsa_whisper.decoding.confidences import load_calibration
from lsa_whisper.decoding.engines import load_engine, resolve_device
from lsa_whisper.decoding.expected_words import read_expected_words
from lsa_whisper.decoding.partial import PartialDecoding, WindowResult
from lsa_whisper.decoding.style import coverage_of
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.labels.coverage import NOT_CHECKED
from lsa_whisper.languages import chat_code, language_name, whisper_code
from lsa_whisper.retraces import Tagger, tagger_for
from lsa_whisper.retraces.corpus_tagger import CorpusTagger
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript, TranscriptHeader, assemble
from lsa_whisper.transcription.assembly.remarks import recording_remarks, text_remarks
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns, one_speaker
from lsa_whisper.transcription.assembly.tracks import each_channel, merge_tracks, part_of_progress
from lsa_whisper.transcription.long_form.decode import LongFormDecoder
from lsa_whisper.transcription.long_form.repairs import PASSAGES, REPAIRS, SKIPPED
from lsa_whisper.transcription.options import AUTO, MIXED, OptionChanges, TranscriptionOptions, combine
from lsa_whisper.transcription.result import TranscriptionResult
from lsa_whisper.version import __version__

_VIDEO = (".mp4", ".mov", ".webm", ".mkv", ".avi", ".mpg", ".mpeg")


def _model_name(model: str | Path) -> str:
    """Return the name of a model's folder, with the folder above it where that is what tells models apart.

    >>> _model_name("runs/storybook"), _model_name("/runs/storybook/model"), _model_name("runs/pilot/checkpoint-40")
    ('storybook', 'storybook/model', 'pilot/checkpoint-40')
    """
    path = Path(model)
    is_generic = path.name == "model" or path.name.startswith("checkpoint-")
    return f"{path.absolute().parent.name}/{path.name}" if is_generic else path.name


def _tagger(model: Checkpoint | ConvertedCheckpoint, language: str) -> Tagger | None:
    """Return what sets the retraces that a model leaves out: its own corpus's tagger, else the shipped one.

    Raises:
        CheckpointError: The weights in the model's folder are not a tagger's.
    """
    if model.labels.style != "chat":
        return None
    if not (weights := model.retraces.get(language)):
        return tagger_for(language)
    try:
        return CorpusTagger(weights, language)
    except ValueError as error:
        reason = f"retraces-{language}.json is not a tagger ({error})"
        raise CheckpointError(f"{model.path}: {reason}; copy the model again, or delete this file") from error


class Transcriber:
    """Transcribes recordings with one loaded model.

    Example::

        transcriber = Transcriber("runs/storybook", word_times=True)
        result = transcriber.transcribe("visit.wav")
        for utterance in result.utterances:
            print(utterance.speaker, utterance.start_ms, utterance.end_ms, utterance.text)
        for word in result.words:
            print(word.text, word.start_ms, word.end_ms, word.confidence)
        lsa_whisper.write_chat(result.transcript, "visit.cha")
    """

    def __init__(
        self, model: str | Path, options: TranscriptionOptions | None = None, **changes: Unpack[OptionChanges]
    ):
        """Load the model.

        Args:
            model: A checkpoint folder or a hub name; for ``ct2`` also a folder that ``export --to ct2`` wrote (any
                other checkpoint is converted once, into the user's cache).
            options: How to decode; the defaults of :class:`TranscriptionOptions` if absent.
            **changes: Fields of :class:`TranscriptionOptions`, applied to ``options``.

        Raises:
            CheckpointError: The model cannot be loaded, or does not know the language.
            LsaWhisperError: An option has a wrong value, or two do not go together.
            TypeError: An option is unknown.
            MissingExtraError: An option needs a package that is not installed.
        """
        if not isinstance(model, str | Path):
            raise CheckpointError(f"give a model's folder or name, not {type(model).__name__}")
        self._model, self._detected = model, ""
        self._set_up(combine(options, changes))

    def __reduce__(self) -> NoReturn:
        raise LsaWhisperError(
            "a Transcriber does not go to another process; make one in each (the `initializer` of a pool), or call "
            "`lsa_whisper.transcribe` with `processes`"
        )

    def _set_up(self, options: TranscriptionOptions, loaded: Checkpoint | ConvertedCheckpoint | None = None) -> None:
        """Make everything that depends on the options, with a model that may be loaded already."""
        device, dtype = resolve_device(options.device, options.dtype, options.engine)
        unwanted = [PASSAGES] * (options.find_skipped is False) + [SKIPPED] * (not options.finds_skipped)
        self._checkpoint, decoder, dtype = load_engine(
            options.engine,
            self._model,
            loaded=loaded,
            device=device,
            dtype=dtype,
            language=None if options.detects_language else whisper_code(options.chat_language),
            batch_size=options.batch_size,
            word_times=bool(options.word_times) or options.finds_skipped,
            silence=options.silence,
            draft=options.draft,
            beams=options.beams,
            style=options.style,
            second_text=options.second_text,
            spoken=options.chat_language,
            prompt=options.prompt,
            words=(words := read_expected_words(options.words)),
        )
        self._options, self._language = options, options.chat_language
        self._style = decoder.style
        self._long_form = LongFormDecoder(
            decoder,
            context_s=self._checkpoint.context_s,
            window_s=self._checkpoint.window_s,
            repairs=[repair for repair in REPAIRS if repair not in unwanted],
            silence=options.silence,
            # A style without timestamps, and stock models, have token times although nobody asks for them.
            # Times that only the search for skipped speech needs would change those of the utterances.
            word_times=bool(options.word_times)
            or not (options.finds_skipped and self._style.timestamps)
            or self._style.is_stock,
            sequential=options.windows == "sequential",
            by_window=options.language == MIXED,
        )
        labels = self._style.labels
        # Only OpenAI's own models are known to tell languages apart, some of them.
        self._can_doubt = self._style.is_stock and not options.detects_language
        # Channels share one header, and not every language has a prompt that asks for disfluencies.
        in_any = options.style != "verbatim" and not options.channel_speakers
        self._may_switch = self._can_doubt and options.language is None and in_any
        self._left_out = [*filter(None, [coverage_of(self._checkpoint, self._style).comment()])]
        self._tagger = functools.cache(lambda code: _tagger(self._checkpoint, code) if options.retraces else None)
        for language in (self._language, *self._checkpoint.retraces):
            self._tagger(language)  # damaged weights are reported before anything is decoded
        search = "searched" if options.finds_skipped else "not searched"
        gaps = f"{search} for skipped speech, " * (options.find_skipped is not None)
        spoken = options.language if options.detects_language else self._language
        style = "asked for by a prompt, " if labels.prompt else ""
        style += "compared with a fluent text, " if self._style.second else ""
        style += "without its disfluencies, " * self._style.is_cleaned
        style += "a prompt of the user, " * bool(options.prompt) + f"{len(words)} expected words, " * bool(words)
        self._provenance = (
            f"transcribed by lsa-whisper {__version__} with model {_model_name(self._model)} (labels {labels.style}/"
            f"{labels.version}, {style}engine {options.engine}, {dtype}, language {spoken}, windows "
            f"{options.windows}, {f'beams {self._style.beams}, ' * (self._style.beams > 1)}{gaps}voice activity "
            f"{options.vad}); {NOT_CHECKED}"
        )

    def transcribe(
        self, recording: Recording | str | Path, *, progress: Callable[[float], None] | None = None
    ) -> TranscriptionResult:
        """Return the transcript of a recording; without speech, an empty one with a remark.

        Args:
            recording: Opened audio, or the path of an audio file. It is streamed, never held whole.
            progress: Called with the number of seconds of the recording that are processed.

        Raises:
            AudioError: The recording does not exist or cannot be decoded.
            CheckpointError: The calibration next to the model cannot be read.
            LsaWhisperError: The options name ``roles``, which need speaker turns.
        """
        if self._options.roles:
            raise LsaWhisperError("`roles` need speaker turns, which `lsa_whisper.transcribe` finds; call it instead")
        if not isinstance(recording, Recording):
            recording = Recording.open(recording, channel=self._options.channel_index)
        calibration = load_calibration(self._model)
        scored = self.transcribe_with_scores(recording, progress=progress)
        return TranscriptionResult.of(
            scored,
            language=scored.transcript.languages[0],
            duration_ms=int(recording.duration_s * 1000),
            calibration=calibration,
        )

    def transcribe_with_scores(
        self,
        recording: Recording,
        *,
        progress: Callable[[float], None] | None = None,
        turns: SpeakerTurns | None = None,
        partial: PartialDecoding | None = None,
    ) -> ScoredTranscript:
        """Return the transcript of a recording with the log-probability of each word.

        Args:
            recording: Opened audio; it is streamed.
            progress: Called with the number of seconds of the recording that are processed.
            turns: Speaker turns from external diarization; they override the model's speakers.
            partial: Stores decoded windows on disk, so that an interrupted run can resume.

        Raises:
            AudioError: The options name a speaker per channel, and the recording has not that many.
            LsaWhisperError: Turns are given, too.
        """
        codes = self._options.channel_speakers
        if codes and turns is not None:
            raise LsaWhisperError("channels and turns both say who speaks; give one of them")
        tracks = []
        for at, channel in enumerate(each_channel(recording, len(codes)) if codes else [recording]):
            report, part = progress, partial
            if codes:
                turns = one_speaker(codes[at], int(recording.duration_s * 1000))
                report = part_of_progress(progress, recording, at, len(codes))
                part = partial.of_channel(at) if partial else None
            speech = vad.detect_speech(self._options.vad, channel.stream())
            other = self._in_language_of(channel, speech)
            language = other._language_remark(channel, speech)  # first, so its window need not be encoded twice
            decoded = other._long_form.decode(channel, speech, partial=part, progress=report)
            tracks.append(other._assembled(channel, speech, decoded, turns, language))
        if not codes:
            return tracks[0]
        return merge_tracks(list(zip(codes, tracks, strict=True)), self._header(recording, None, ()))

    def _in_language_of(self, recording: Recording, speech: SpeechActivity) -> Transcriber:
        """Return this transcriber, or one with the same model for the language that is detected."""
        code = ""
        if self._options.language == AUTO:
            code = self._long_form.language_of(recording, speech)
        elif self._may_switch:
            code = self._long_form.other_language(recording, speech, self._language)
        return self._in(code) if code else self

    def _in(self, code: str) -> Transcriber:
        other = object.__new__(type(self))
        other._model = self._model
        other._set_up(self._options.with_changes(language=code), self._checkpoint)
        surely = f"this sounds {language_name(code)} and was transcribed as such; name another language with --language"
        other._detected = f"the language was detected: {chat_code(code)}" if self._options.language else surely
        return other

    def _language_remark(self, recording: Recording, speech: SpeechActivity) -> str:
        """Return which language was detected, or that another one than the named one is surely spoken."""
        if self._detected or self._may_switch or not self._can_doubt:
            return self._detected
        if not (heard := self._long_form.other_language(recording, speech, self._language)):
            return ""
        sounds, expected = language_name(heard), language_name(self._language)
        return f"this sounds {sounds}, not {expected}: transcribe it again with --language {sounds}"

    def _assembled(
        self,
        recording: Recording,
        speech: SpeechActivity,
        decoded: Sequence[WindowResult],
        turns: SpeakerTurns | None,
        language: str,
    ) -> ScoredTranscript:
        duration_ms = int(recording.duration_s * 1000)
        remarks = (*recording_remarks(recording, speech), *text_remarks(decoded, speech, duration_ms))
        remarks = (*filter(None, [turns.note if turns else "", language]), *remarks)
        scored = assemble(
            [span for span, _ in decoded],
            [result for _, result in decoded],
            labels=self._style.labels,
            duration_ms=duration_ms,
            header=self._header(recording, turns, remarks),
            speech=speech,
            tagger=self._tagger,
            word_tiers=bool(self._options.word_times),
            is_stock=self._style.is_stock,
            is_cleaned=self._style.is_cleaned,
        )
        return replace(scored, remarks=(*remarks, *scored.remarks))

    def _header(self, recording: Recording, turns: SpeakerTurns | None, remarks: Sequence[str]) -> TranscriptHeader:
        return TranscriptHeader(
            media_name(recording.path.stem),
            "video" if recording.path.suffix.lower() in _VIDEO else "audio",
            self._language,
            self._options.speaker,
            self._options.role,
            self._options.corpus_name or corpus_of(recording.path.absolute().parent.name),
            (self._provenance, *self._left_out, *remarks),
            turns,
        )
