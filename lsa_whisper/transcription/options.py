"""``TranscriptionOptions``: everything a transcript depends on besides the recording and the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack, get_args, get_origin, get_type_hints

from lsa_whisper.audio.vad import DETECTORS
from lsa_whisper.chat.checks.participants import role_fault, speaker_code_fault
from lsa_whisper.chat.codes import PARTICIPANT_ROLES
from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.engines import ENGINES, ENGINES_WITH_PROMPT
from lsa_whisper.decoding.no_speech import NoSpeechRule
from lsa_whisper.decoding.style import DECODING_STYLES
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.languages import chat_code, is_known

MAX_BEAMS = 50
"""More take minutes for each second of sound."""
WINDOWS = ("speech", "sequential")
AUTO, MIXED = "auto", "mixed"


@dataclass(frozen=True)
class TranscriptionOptions:
    """Options of decoding and of the CHAT header; they apply to every model and engine.

    All of them are checked when the object is made, and every problem is reported at once.

    >>> TranscriptionOptions(language="spa").with_changes(word_times=True).language
    'spa'
    >>> TranscriptionOptions(engine="onnx")
    Traceback (most recent call last):
    ...
    lsa_whisper.errors.LsaWhisperError: engine 'onnx' is not known; choose transformers or ct2

    Raises:
        LsaWhisperError: An option has a wrong value, or two do not go together.
    """

    language: str | None = None
    """Language of the speech: ISO 639-3 as in CHAT (``eng``, ``spa``), or Whisper's code (``en``, ``es``); ``auto``
    detects it in each recording, ``mixed`` in each window of a recording with several. ``None``: English, or
    another one that a stock multilingual model detects in a recording for certain."""
    style: str | None = None
    """``verbatim`` or ``fluent``: with disfluencies or without. A stock Whisper writes verbatim if asked to; of
    a model that was trained to write disfluencies, the fluent text is its verbatim text without them. ``None``: as it
    was trained, a stock model verbatim in English."""
    prompt: str = ""
    """Text that the model reads before each window, as if it had been spoken before: the topic, or a few names as they
    are spelled. It changes the whole text; for names alone, ``words`` is safer."""
    words: Path | str | tuple[str, ...] | None = None
    """Names and rare words that may be spoken, or a text file with one of them a line. The model prefers them where it
    half hears them; those that are not spoken change next to nothing."""
    batch_size: int | None = None
    """Windows of the model's full context decoded together, at least 1; of shorter encoder inputs accordingly more.
    ``None``: from the number of cores, or the free memory. Affects speed and memory, not the transcript."""
    device: str = "auto"
    """``auto`` (a GPU if there is one), ``cpu``, ``cuda``, ``cuda:1``, or ``mps`` on a Mac."""
    dtype: str = "auto"
    """``float32``, ``bfloat16``, ``float16``, or for ``ct2`` also ``int8`` and its mixed types. ``auto`` is float32 on
    a CPU or a Mac and bfloat16 (or float16) on a GPU; with ``ct2``, the type that the folder is stored in."""
    engine: str = "transformers"
    """Decoding library: ``transformers`` or ``ct2`` (CTranslate2). Both write the same text."""
    speaker: str = "PAR"
    """CHAT code of the speaker, for models that do not write speakers."""
    role: str = "Participant"
    """That speaker's role in ``@Participants`` and ``@ID``, one of CHAT's."""
    roles: str = ""
    """The CHAT codes of several speakers, such as ``CHI,MOT``: a child is told by pitch, others by how long they speak.
    Only :func:`lsa_whisper.transcribe` knows speaker turns; without, it finds them as by ``speakers="auto"``."""
    corpus_name: str = ""
    """Corpus name in ``@ID``; if empty, the name of the recording's folder."""
    word_times: bool | None = None
    """Whether to compute the time of each word and write ``%wor`` tiers; ``None``: only with speaker turns."""
    windows: str = "speech"
    """Long-form decoding: ``speech`` cuts the recording in silence; ``sequential`` starts each window after the last
    complete timestamp, with the previous text as prompt (transformers only)."""
    vad: str = "either"
    """Voice activity detection: ``silero``, ``energy``, or ``either``: what one of them hears."""
    channels: str = "mix"
    """Which channels of the recording to transcribe: ``mix`` (the mean of all, or the louder of two that cancel each
    other), the number of one, from ``1``, or one speaker code per channel: ``CHI,INV``."""
    retraces: bool = True
    """Whether to set ``[/]``, ``[//]`` and ``[///]`` where the words show a retrace and a model of ``chat`` labels
    wrote none: by the tagger that was trained with the model, else, in English, by the one of this package."""
    no_speech_threshold: float | None = 0.6
    """Probability of the model's token for no speech above which a window may be silent, as in Whisper; ``None`` or 1
    keeps all text, also what other signs of no speech would leave out."""
    logprob_threshold: float | None = LOGPROB_THRESHOLD
    """Mean log-probability above which the text of such a window is kept; ``None`` keeps none. In a very quiet
    recording, no text below it is kept, unless one of the two thresholds is ``None``, or the first is 1."""
    draft: str | Path | None = None
    """A small checkpoint with the same vocabulary for speculative decoding (transformers only): the text of greedy
    decoding in less time, for a large model on a GPU."""
    beams: int | None = None
    """How many texts of a window are followed at once, at least 1; the best is taken where it is nearly right. One is
    greedy decoding. ``None``: three for a stock model (``ct2``: only where it is asked for disfluencies), else one.
    Other numbers are for transformers alone; five take about twice as long as one."""
    second_text: bool = True
    """Whether the text of a stock model that is asked for disfluencies is compared with its fluent text. Without,
    ``ct2`` takes a fifth less time (whisper-base, int8). Of 24 recordings of about 25 people, word errors without
    disfluencies are then 22.8 % instead of 21.2 %; in 76 clips 382 instead of 373 of 1,201, and in a conversation of
    ten minutes 115 instead of 121 of 1,027."""
    find_skipped: bool | None = None
    """Whether speech between two words that no word covers is decoded once more, in ``speech`` windows; ``None``: long
    passages that a stock model leaves out, and short ones only if two or more beams are asked for."""

    def __post_init__(self) -> None:
        if problems := list(self._wrong_types()) or list(self._problems()):
            raise LsaWhisperError("; ".join(problems))

    def _wrong_types(self) -> Iterator[str]:
        for name, hint in get_type_hints(OptionChanges).items():
            kinds = [get_origin(kind) or kind for kind in get_args(hint) or (hint,)]
            kinds += [int] * (float in kinds) + [list] * (tuple in kinds)
            if not isinstance(value := getattr(self, name), tuple(kinds)):
                yield f"`{name}={value!r}`: expected {' or '.join(kind.__name__ for kind in kinds)}"

    def _problems(self) -> Iterator[str]:
        if self.language is not None and not self.detects_language and not is_known(self.language):
            yield f"language {self.language!r} is not known; name it, such as English, en or eng, or say auto or mixed"
        if self.style not in (None, *DECODING_STYLES):
            yield f"style {self.style!r} is not known; choose {' or '.join(DECODING_STYLES)}"
        if self.engine not in ENGINES:
            yield f"engine {self.engine!r} is not known; choose {' or '.join(ENGINES)}"
        elif self.draft is not None and self.engine != "transformers":
            yield f"the engine {self.engine} cannot use a draft model; leave it out, or use transformers"
        if self.beams is not None and not 1 <= self.beams <= MAX_BEAMS:
            yield f"beams {self.beams}: give 1 to {MAX_BEAMS} texts to compare, such as 5"
        elif self.compares_texts and self.engine in ENGINES and self.engine != "transformers":
            yield f"the engine {self.engine} takes no number of beams but 1; leave it out, or use transformers"
        elif self.compares_texts and self.draft is not None:
            yield "a draft model speeds up greedy decoding; leave it out, or the beams"
        if self.find_skipped and self.windows == "sequential":
            yield "`find_skipped=True`: sequential windows are not searched; use `windows=speech`, or leave it out"
        if self.windows not in WINDOWS:
            yield f"windows {self.windows!r} are not known; choose {' or '.join(WINDOWS)}"
        elif self.windows == "sequential" and self.engine in ENGINES and self.engine not in ENGINES_WITH_PROMPT:
            yield f"engine {self.engine} takes no previous text; use --windows speech, or another engine"
        if self.windows == "sequential" and self.language == MIXED:
            yield "language mixed cannot use the previous text, which may be in another one; use --windows speech"
        if self.batch_size is not None and self.batch_size < 1:
            yield f"batch size {self.batch_size}: at least one window must be decoded at a time"
        if self.vad not in DETECTORS:
            yield f"voice activity detector {self.vad!r} is not known; choose {', '.join(DETECTORS)}"
        if self.no_speech_threshold is not None and not 0 <= self.no_speech_threshold <= 1:
            yield f"`no_speech_threshold={self.no_speech_threshold}`: give a probability from 0 to 1"
        if self.logprob_threshold is not None and not self.logprob_threshold <= 0:
            yield f"`logprob_threshold={self.logprob_threshold}`: give the logarithm of a probability, so 0 or less"
        if fault := speaker_code_fault(self.speaker):
            yield f"{fault}; use three capital letters, such as CHI"
        if fault := role_fault(self.role):
            yield f"{fault}; CHAT's roles are {', '.join(sorted(PARTICIPANT_ROLES))}"
        yield from self._problems_of_roles()
        if self.channel_speakers and self.detects_language:
            yield f"language {self.language} cannot be detected for each channel; name it, or use --channels mix"
        if self.channel_speakers:
            yield from filter(None, map(speaker_code_fault, self.channel_speakers))
            if len(set(self.channel_speakers)) < len(self.channel_speakers):
                yield f"channels {self.channels!r}: each channel needs a speaker of its own; name each once"
        elif self.channels != "mix" and not (self.channels.isdecimal() and int(self.channels) > 0):
            yield (
                f"channels {self.channels!r} are not known; choose mix, the number of a channel, such as 1, or one "
                "speaker per channel, such as CHI,INV"
            )

    def _problems_of_roles(self) -> Iterator[str]:
        yield from filter(None, map(speaker_code_fault, self.named_roles))
        if self.roles and len(set(self.named_roles)) < max(2, len(self.named_roles)):
            yield f"roles {self.roles!r}: name one code for each of several speakers, such as CHI,MOT"
        if self.roles and self.channels != "mix":
            yield f"--roles {self.roles} and --channels {self.channels} both say who speaks; give one of them"

    @property
    def named_roles(self) -> tuple[str, ...]:
        """The codes of ``roles``."""
        return tuple(code.strip() for code in self.roles.split(",") if code.strip())

    @property
    def channel_index(self) -> int | None:
        """The channel to transcribe, from 0; ``None`` for all."""
        return int(self.channels) - 1 if self.channels.isdecimal() else None

    @property
    def channel_speakers(self) -> tuple[str, ...]:
        """The speaker of each channel; empty where channels are not speakers."""
        return tuple(code.strip() for code in self.channels.split(",")) if "," in self.channels else ()

    @property
    def compares_texts(self) -> bool:
        """Whether several texts of a window are compared."""
        return self.beams is not None and self.beams > 1

    @property
    def finds_skipped(self) -> bool:
        """Whether speech that no word covers is decoded once more."""
        by_default = self.compares_texts and self.windows == "speech"
        return by_default if self.find_skipped is None else self.find_skipped

    @property
    def detects_language(self) -> bool:
        """Whether the model says which language is spoken."""
        return self.language in (AUTO, MIXED)

    @property
    def depends_on_recording(self) -> bool:
        """Whether the language is not the same for every recording."""
        return self.language is None or self.detects_language

    @property
    def chat_language(self) -> str:
        """The language in ISO 639-3; ``und`` (undetermined) where it is detected later."""
        return "und" if self.detects_language else chat_code(self.language or "eng")

    @property
    def silence(self) -> NoSpeechRule:
        """When a window counts as silent."""
        return NoSpeechRule(self.no_speech_threshold, self.logprob_threshold)

    def with_changes(self, **changes: Unpack[OptionChanges]) -> TranscriptionOptions:
        """Return a copy with some options changed."""
        return replace(self, **changes)


class OptionChanges(TypedDict, total=False):
    """The fields of :class:`TranscriptionOptions` as keyword arguments, for type checkers."""

    language: str | None
    style: str | None
    prompt: str
    words: Path | str | tuple[str, ...] | None
    batch_size: int | None
    device: str
    dtype: str
    engine: str
    speaker: str
    role: str
    roles: str
    corpus_name: str
    word_times: bool | None
    windows: str
    vad: str
    channels: str
    retraces: bool
    no_speech_threshold: float | None
    logprob_threshold: float | None
    draft: str | Path | None
    beams: int | None
    second_text: bool
    find_skipped: bool | None


def combine(options: TranscriptionOptions | None, changes: OptionChanges) -> TranscriptionOptions:
    """Return ``options``, or the defaults, with the keyword arguments of a call applied."""
    return replace(options or TranscriptionOptions(), **changes)
