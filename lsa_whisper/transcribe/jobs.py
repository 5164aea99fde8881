"""Many recordings in one call: finished ones are left alone, a bad one does not stop the rest.

The CHAT file is always written, for it is the transcript and knows what it was made from (see ``files.record``); other
formats are made from it. So a second call skips what is finished, a new format costs no decoding, and what a person has
corrected in a CHAT file goes into its subtitles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lsa_whisper import checkpoint
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import AudioError, LsaWhisperError
from lsa_whisper.formats import FORMATS
from lsa_whisper.models import choose_model
from lsa_whisper.transcribe.assembly.review import collect_reviews
from lsa_whisper.transcribe.files.log import RunLog
from lsa_whisper.transcribe.files.outcome import TranscriptionSummary
from lsa_whisper.transcribe.files.settings import Settings
from lsa_whisper.transcribe.files.transcribe_file import OutputOptions
from lsa_whisper.transcribe.speech import vad as voice_activity
from lsa_whisper.transcribe.transcriber import verify_options
from lsa_whisper.transcribe.workers.parallel import (
    transcribe_here,
    transcribe_on_cluster,
    transcribe_on_devices,
    worker_devices,
)
from lsa_whisper.umask import private_umask


@private_umask()
def transcribe(
    inputs: Sequence[Path | str] | Path | str,
    *,
    model: str | Path | None = None,
    out: Path | str | None = None,
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
    processes: int | None = None,
    ray: str | None = None,
) -> TranscriptionSummary:
    """Write a transcript for each recording and return what became of each.

    Args:
        inputs: recordings, and folders that are searched for recordings; one or several.
        model: a checkpoint folder or a hub name; for ``ct2`` also a folder that ``export --to ct2`` wrote. If not
            given, :func:`~lsa_whisper.models.choose.choose_model` decides.
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
        processes: how many recordings are worked on at once, whatever that changes nothing in the transcripts; the
            default is one for each GPU, or one where there is none (on a cluster, one for each core).
        ray: address of a Ray cluster that does the work; ``local`` makes one of this machine. All its machines must
            see recordings, model and transcripts under the same paths.

    Raises:
        AudioError: there is nothing to transcribe, or the only recording cannot be.
        CheckpointError: the model cannot be loaded.
        DiskError: the disk takes no transcripts.
        LsaWhisperError: an unknown format or engine.
    """
    verify_options(engine, windows, batch_size, draft)
    vad = voice_activity.resolve(vad)
    if processes is not None and processes < 1:
        raise LsaWhisperError(f"processes is {processes}; at least one must do the work")
    jobs = list(find_jobs([inputs] if isinstance(inputs, str | Path) else inputs, out))
    if not jobs:
        raise AudioError("no recording was found; name audio files, or folders that hold some")
    # Whole paths, for machines of a cluster work in other folders.
    speakers = Path(speakers).absolute() if speakers else None
    wanted = OutputOptions(_known_formats(formats), speakers, len(jobs) == 1, review is not None)
    model = choose_model(model, device=device)
    model, draft = _whole_path(model), _whole_path(draft) if draft else None
    settings = Settings(
        model, language, batch_size, device, dtype, engine, speaker, role, corpus, word_times, windows, vad, draft
    )
    settings.model_digest  # noqa: B018 -- a model that is not there must fail before any recording is opened
    result = _run(jobs, settings, wanted, processes, ray, RunLog(log))
    if review is None:
        return result
    without = collect_reviews([each.transcript for each in result.done], review)
    return replace(result, without_review=tuple(without))


def _run(
    jobs: Sequence[tuple[Path, Path]],
    settings: Settings,
    wanted: OutputOptions,
    processes: int | None,
    ray: str | None,
    log: RunLog,
) -> TranscriptionSummary:
    recordings = {audio: _open(audio) for audio, _ in jobs}
    if ray is not None:
        return transcribe_on_cluster(ray, jobs, recordings, settings, wanted, processes, log)
    if settings.engine == "ct2":
        checkpoint.require_ctranslate2("the engine ct2")
    settings = settings.on(*resolve_device(settings.device, settings.dtype, settings.engine))
    devices = worker_devices(settings.device, processes, len(jobs))
    if len(devices) > 1:
        return transcribe_on_devices(devices, jobs, recordings, settings, wanted, log)
    return transcribe_here(jobs, recordings, settings, wanted, log)


def _whole_path(model: str | Path) -> str | Path:
    return Path(model).absolute() if checkpoint.is_local(model) else model


def _known_formats(names: Sequence[str]) -> tuple[str, ...]:
    if unknown := [name for name in names if name not in FORMATS]:
        raise LsaWhisperError(f"format {unknown[0]!r} is not known; choose among {', '.join(FORMATS)}")
    return tuple(dict.fromkeys(name for name in names if name != "cha"))


def find_jobs(inputs: Sequence[Path | str], out: Path | str | None) -> Iterator[tuple[Path, Path]]:
    """Yield each recording with the place of its transcript; one that is named twice, once.

    Args:
        inputs: recordings, and folders that are searched for recordings.
        out: the folder for transcripts, which keeps the inner folders of a folder; beside the audio if absent.
    """
    yield from dict.fromkeys(job for each in map(Path, inputs) for job in _jobs_of(each, Path(out) if out else None))


def _jobs_of(named: Path, out: Path | None) -> Iterator[tuple[Path, Path]]:
    if not _is_folder(named):
        yield named, (out or named.parent) / f"{named.stem}.cha"
        return
    for audio in sorted(named.rglob("*")):
        if audio.suffix.lower() in AUDIO_SUFFIXES and not audio.name.startswith("."):
            place = out / audio.relative_to(named) if out else audio
            yield audio, place.with_name(f"{audio.stem}.cha")


def _is_folder(named: Path) -> bool:
    try:
        return named.is_dir()
    except OSError:  # its name is too long, or it lies in a closed folder: said when it is opened
        return False


def _open(audio: Path) -> Recording | AudioError:
    try:
        return Recording.open(audio)
    except AudioError as error:
        return error
    except OSError as error:
        return AudioError(f"{audio}: cannot be read ({error.strerror}); check its name and your rights")
