"""Many recordings in one call: finished ones are left alone, a bad one does not stop the rest.

The CHAT file is always written, for it is the transcript and knows what it was made from (see ``record``); other
formats are made from it. So a second call skips what is finished, a new format costs no decoding, and what a person has
corrected in a CHAT file goes into its subtitles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

from lsa_whisper import __version__, chat, checkpoint
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.errors import AudioError, CheckpointError, LsaWhisperError
from lsa_whisper.formats import NAMES, SUFFIXES, write
from lsa_whisper.transcribe import vad as voice_activity
from lsa_whisper.transcribe.assemble import Heading, verify_heading
from lsa_whisper.transcribe.confidence import load_calibration
from lsa_whisper.transcribe.language import chat_code
from lsa_whisper.transcribe.log import Log
from lsa_whisper.transcribe.outcome import Done, Failure, Transcribed
from lsa_whisper.transcribe.partial import Partial
from lsa_whisper.transcribe.progress import Meter, meter
from lsa_whisper.transcribe.record import digest_inputs, is_finished, stamped
from lsa_whisper.transcribe.review import beside, doubtful, gather
from lsa_whisper.transcribe.review import write as write_review
from lsa_whisper.transcribe.transcriber import Transcriber, placement, verify_engine, verify_windows
from lsa_whisper.transcribe.turns import Turns, find_turns, read_turns


@dataclass(frozen=True)
class Settings:
    """What a transcript depends on besides its recording."""

    model: str | Path
    language: str
    batch_size: int
    device: str
    dtype: str
    engine: str
    speaker: str
    role: str
    corpus: str
    word_times: bool
    windows: str
    vad: str
    draft: str | Path | None = None

    @cached_property
    def transcriber(self) -> Transcriber:
        """The loaded model: loaded for the first recording that needs it."""
        return Transcriber(**{each.name: getattr(self, each.name) for each in fields(self)})

    def heading(self, audio: Path, turns: Turns | None = None) -> Heading:
        """Return what these settings put above a transcript."""
        return Heading(
            audio.stem,
            language=chat_code(self.language),
            speaker=self.speaker,
            role=self.role,
            corpus=self.corpus,
            turns=turns,
        )

    @cached_property
    def model_digest(self) -> str:
        """The content of the model."""
        return checkpoint.digest(self.model)

    def digest(self, audio: Path, turns: Path | None = None) -> str:
        """Return a name for everything the transcript of ``audio`` depends on (the size of batches is not part)."""
        chosen = ("engine", "dtype", "speaker", "role", "corpus", "windows", "vad")
        settings = {name: str(getattr(self, name)) for name in chosen}
        settings |= {"language": chat_code(self.language), "version": __version__, "name": Path(self.model).name}
        settings |= {"word_times": "yes"} if self.word_times else {}
        settings |= {"turns": turns.name, "who": digest_inputs(turns, "", {})} if turns else {}
        return digest_inputs(audio, self.model_digest, settings | {"audio": audio.stem})


def transcribe(
    inputs: Sequence[Path],
    *,
    model: str | Path,
    out: Path | None = None,
    formats: Sequence[str] = ("cha",),
    language: str = "eng",
    batch_size: int = 8,
    device: str = "auto",
    dtype: str = "auto",
    engine: str = "transformers",
    speaker: str = "PAR",
    role: str = "Participant",
    corpus: str = "",
    word_times: bool = False,
    draft: str | Path | None = None,
    windows: str = "speech",
    vad: str = "auto",
    speakers: Path | None = None,
    review: Path | None = None,
    log: Path | None = None,
) -> Transcribed:
    """Write a transcript for each recording and return what became of each.

    Args:
        inputs: recordings, and folders that are searched for recordings.
        model: a checkpoint folder or a hub name; for ``ct2`` also a folder that ``export --to ct2`` wrote.
        out: the folder for transcripts (folders among the inputs keep their inner folders); beside the audio if absent.
        formats: what to write besides ``cha``, which is always written.
        language: ISO 639-3 (``eng``) or Whisper's code (``en``).
        batch_size: windows decoded together.
        device: ``auto`` takes a GPU where there is one.
        dtype: ``auto`` is float32 on a CPU, bfloat16 or float16 on a GPU; for ``ct2``, the type that is stored.
        engine: ``transformers`` or ``ct2`` (CTranslate2): the same text, computed by another library.
        speaker: the code of whoever speaks, where the model does not write roles.
        role: that speaker's role in ``@ID``.
        corpus: a name for ``@ID``.
        word_times: write ``%wor``, the time of each word.
        windows: ``speech`` or ``sequential``, see :class:`Transcriber`.
        vad: ``auto``, ``silero`` or ``energy``.
        speakers: who speaks when, as RTTM, TextGrid or CHAT; or a folder with such a file for each recording.
        review: a table to write of the words and utterances the model was least sure of, worst first.
        log: a file that gets a line for each recording.
        draft: a small checkpoint with the same vocabulary that guesses what the model will write; it changes how long
            that takes, not the text.

    Raises:
        AudioError: there is nothing to transcribe, or the only recording cannot be.
        CheckpointError: the model cannot be loaded.
        LsaWhisperError: an unknown format or engine.
    """
    verify_engine(engine, draft)
    verify_windows(windows)
    vad = voice_activity.resolve(vad)
    wanted = _known_formats(formats)
    device, dtype = placement(device, dtype, engine)
    settings = Settings(
        model, language, batch_size, device, dtype, engine, speaker, role, corpus, word_times, windows, vad, draft
    )
    jobs = list(find_jobs(inputs, out))
    if not jobs:
        raise AudioError("no recording was found; name audio files, or folders that hold some")
    settings.model_digest  # noqa: B018 -- a model that is not there must fail before any recording is opened
    recordings = {audio: _open(audio) for audio, _ in jobs}
    lengths_s = [each.duration_s if isinstance(each := recordings[audio], Recording) else 0.0 for audio, _ in jobs]

    def do(audio: Path, target: Path, progress: Meter) -> Done:
        recording = recordings[audio]
        if isinstance(recording, AudioError):
            raise recording
        return _transcribe_one(recording, target, settings, wanted, progress, speakers, bool(review))

    lines = Log(log)
    try:
        result = run_jobs(jobs, lengths_s, do, alone_raises=True, log=lines)
    finally:
        lines.close()
    if review is None:
        return result
    without = gather([each.transcript for each in result.done], review)
    return replace(result, without_review=tuple(without))


def _known_formats(names: Sequence[str]) -> tuple[str, ...]:
    if unknown := [name for name in names if name not in NAMES]:
        raise LsaWhisperError(f"format {unknown[0]!r} is not known; choose among {', '.join(NAMES)}")
    return tuple(dict.fromkeys(name for name in names if name != "cha"))


def find_jobs(inputs: Sequence[Path], out: Path | None) -> Iterator[tuple[Path, Path]]:
    """Yield each recording with the place of its transcript.

    Args:
        inputs: recordings, and folders that are searched for recordings.
        out: the folder for transcripts, which keeps the inner folders of a folder; beside the audio if absent.
    """
    for each in map(Path, inputs):
        if each.is_dir():
            for audio in sorted(each.rglob("*")):
                if audio.suffix.lower() in AUDIO_SUFFIXES and not audio.name.startswith("."):
                    place = out / audio.relative_to(each) if out else audio
                    yield audio, place.with_name(f"{audio.stem}.cha")
        else:
            yield each, (Path(out) if out else each.parent) / f"{each.stem}.cha"


def run_jobs(
    jobs: Sequence[tuple[Path, Path]],
    lengths_s: Sequence[float],
    do: Callable[[Path, Path, Meter], Done],
    *,
    alone_raises: bool = False,
    log: Log | None = None,
) -> Transcribed:
    """Do the jobs one after another; what goes wrong with one is noted, and the rest goes on.

    Args:
        jobs: each recording with the place of its transcript.
        lengths_s: how long each recording is, for the progress that is shown.
        do: writes one transcript.
        alone_raises: of a single job, raise what went wrong instead.
        log: gets a line for each job.

    Raises:
        CheckpointError: the model cannot be loaded, so that no job can be done.
    """
    done, failed, written = [], [], dict[Path, Path]()
    log = log or Log(None)
    with meter(sum(lengths_s)) as progress:
        for (audio, target), length_s in zip(jobs, lengths_s, strict=True):
            try:
                if target in written:
                    raise AudioError(f"{audio}: {written[target].name} has the same name; rename one of the two")
                done.append(made := do(audio, target, progress))
                written[target] = audio
                log.line("kept" if made.skipped else "done", audio, length_s, counts=made.counts, note=made.note)
            except CheckpointError:
                raise
            except (LsaWhisperError, OSError, RuntimeError) as error:
                log.line("failed", audio, length_s, note=str(error))
                if alone_raises and len(jobs) == 1:
                    raise
                failed.append(Failure(audio, str(error)))
            progress.finish(audio.name, length_s)
    return Transcribed(tuple(done), tuple(failed))


def _open(audio: Path) -> Recording | AudioError:
    try:
        return Recording.open(audio)
    except AudioError as error:
        return error


def _transcribe_one(
    recording: Recording,
    target: Path,
    settings: Settings,
    wanted: Sequence[str],
    progress: Meter,
    speakers: Path | None,
    review: bool,
) -> Done:
    where = find_turns(speakers, recording.path) if speakers else None
    turns = read_turns(where, recording.path, int(recording.duration_s * 1000)) if where else None
    verify_heading(settings.heading(recording.path, turns), target)
    inputs = settings.digest(recording.path, where)
    finished = is_finished(target, inputs)
    note = ""
    if finished:
        transcript = chat.read(target)
    else:
        partial = Partial(target, inputs)
        made = settings.transcriber.write(recording, progress=progress.at, turns=turns, partial=partial)
        transcript, note = stamped(made.transcript, inputs), "; ".join(made.remarks)
        target.parent.mkdir(parents=True, exist_ok=True)
        if review:  # before the transcript, for a transcript that is there is finished
            write_review(doubtful(made, recording.path.name, load_calibration(settings.model)), beside(target))
        chat.write(transcript, target)
        partial.remove()
    for name in wanted:
        write(transcript, target.with_suffix(f".{SUFFIXES[name]}"), name)
    words = sum(len(each.verbatim()) for each in transcript.utterances)
    return Done(recording.path, target, finished, (len(transcript.utterances), words), note)
