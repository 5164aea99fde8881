"""Many recordings in one call: finished ones are left alone, a bad one does not stop the rest.

The CHAT file is always written, for it is the transcript and knows what it was made from (see ``record``); other
formats are made from it. So a second call skips what is finished, a new format costs no decoding, and what a person has
corrected in a CHAT file goes into its subtitles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path

from lsa_whisper import __version__, chat, checkpoint
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.errors import AudioError, CheckpointError, LsaWhisperError
from lsa_whisper.formats import NAMES, SUFFIXES, write
from lsa_whisper.transcribe.assemble import Heading, verify_heading
from lsa_whisper.transcribe.crew import Pool, Task, share_out
from lsa_whisper.transcribe.language import chat_code
from lsa_whisper.transcribe.lock import only_writer
from lsa_whisper.transcribe.outcome import Done, Failure, Transcribed
from lsa_whisper.transcribe.processes import processes as processes_of
from lsa_whisper.transcribe.progress import Meter, meter
from lsa_whisper.transcribe.ray_jobs import Cluster, cluster
from lsa_whisper.transcribe.record import digest_inputs, is_finished, stamped
from lsa_whisper.transcribe.transcriber import Transcriber, placement, verify_engine


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

    @cached_property
    def transcriber(self) -> Transcriber:
        """The loaded model: loaded for the first recording that needs it."""
        return Transcriber(**{each.name: getattr(self, each.name) for each in fields(self)})

    def heading(self, audio: Path) -> Heading:
        """Return what these settings put above a transcript."""
        return Heading(
            audio.stem,
            language=chat_code(self.language),
            speaker=self.speaker,
            role=self.role,
            corpus=self.corpus,
        )

    @cached_property
    def model_digest(self) -> str:
        """The content of the model."""
        return checkpoint.digest(self.model)

    def on(self, device: str, dtype: str | None = None) -> Settings:
        """Return the same for another device, and another number format where one is given."""
        moved = replace(self, device=device, dtype=dtype or self.dtype)
        vars(moved)["model_digest"] = self.model_digest  # gigabytes are read once, not in every process
        return moved

    def digest(self, audio: Path) -> str:
        """Return a name for everything the transcript of ``audio`` depends on (the size of batches is not part)."""
        chosen = ("engine", "dtype", "speaker", "role", "corpus")
        settings = {name: str(getattr(self, name)) for name in chosen}
        settings |= {"language": chat_code(self.language), "version": __version__, "name": Path(self.model).name}
        settings |= {"word_times": "yes"} if self.word_times else {}
        return digest_inputs(audio, self.model_digest, settings | {"audio": audio.stem})


def transcribe(
    inputs: Sequence[Path | str] | Path | str,
    *,
    model: str | Path,
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
    processes: int | None = None,
    ray: str | None = None,
) -> Transcribed:
    """Write a transcript for each recording and return what became of each.

    Args:
        inputs: recordings, and folders that are searched for recordings; one or several.
        model: a checkpoint folder or a hub name.
        out: the folder for transcripts (folders among the inputs keep their inner folders); beside the audio if absent.
        formats: what to write besides ``cha``, which is always written.
        language: ISO 639-3 (``eng``) or Whisper's code (``en``).
        batch_size: windows decoded together.
        device: ``auto`` takes a GPU where there is one.
        dtype: ``auto`` is float32 on a CPU, bfloat16 or float16 on a GPU.
        engine: the decoder.
        speaker: the code of whoever speaks, where the model does not write roles.
        role: that speaker's role in ``@ID``.
        corpus: a name for ``@ID``.
        word_times: write ``%wor``, the time of each word.
        processes: how many recordings are worked on at once, whatever that changes nothing in the transcripts; the
            default is one for each GPU, or one where there is none (on a cluster, one for each core).
        ray: address of a Ray cluster that does the work; ``local`` makes one of this machine. All its machines must
            see recordings, model and transcripts under the same paths.

    Raises:
        AudioError: there is nothing to transcribe, or the only recording cannot be.
        CheckpointError: the model cannot be loaded.
        LsaWhisperError: an unknown format or engine.
    """
    verify_engine(engine)
    wanted = _known_formats(formats)
    if processes is not None and processes < 1:
        raise LsaWhisperError(f"processes is {processes}; at least one must do the work")
    jobs = list(find_jobs([inputs] if isinstance(inputs, str | Path) else inputs, out))
    if not jobs:
        raise AudioError("no recording was found; name audio files, or folders that hold some")
    model = Path(model).absolute() if checkpoint.is_local(model) else model
    settings = Settings(model, language, batch_size, device, dtype, engine, speaker, role, corpus, word_times)
    settings.model_digest  # noqa: B018 -- a model that is not there must fail before any recording is opened
    recordings = {audio: _open(audio) for audio, _ in jobs}
    if ray is not None:
        with cluster(ray) as machines:
            settings = _placed_there(settings, machines)
            count = processes or (machines.gpus() if settings.device == "cuda" else machines.cores())
            pool = machines.pool(partial(_transcribe_one, settings, wanted), gpus=int(settings.device == "cuda"))
            return _run_pool(jobs, recordings, pool, count)
    settings = settings.on(*placement(device, dtype))
    devices = _devices(settings.device, processes, len(jobs))
    if len(devices) > 1:
        with processes_of([partial(_transcribe_one, settings.on(each), wanted) for each in devices]) as pool:
            return _run_pool(jobs, recordings, pool, len(devices))

    def do(audio: Path, target: Path, progress: Meter) -> Done:
        recording = recordings[audio]
        if isinstance(recording, AudioError):
            raise recording
        return _transcribe_one(settings, wanted, recording, target, progress.at)

    return run_jobs(jobs, [_length_s(recordings[audio]) for audio, _ in jobs], do, alone_raises=True)


def _placed_there(settings: Settings, machines: Cluster) -> Settings:
    """Return the settings with the device and number format that ``auto`` stands for on a cluster's machines."""
    if settings.device not in ("auto", "cpu", "cuda"):
        raise LsaWhisperError(f"device {settings.device!r}: Ray deals out its GPUs itself; give auto, cuda or cpu")
    if settings.device == "auto":
        settings = settings.on("cuda" if machines.gpus() else "cpu")
    on_gpu = settings.device == "cuda"
    if on_gpu and not machines.gpus():
        raise LsaWhisperError("device 'cuda': the Ray cluster has no GPU; give cpu, or add a machine that has one")
    if not on_gpu:
        return settings.on(*placement("cpu", settings.dtype))
    return settings.on(*machines.ask(placement, settings.device, settings.dtype, gpus=1))


def _devices(device: str, processes: int | None, jobs: int) -> list[str]:
    """Return the device of each process: the GPUs in turn where any may be used."""
    if device != "cuda":
        return [device] * min(processes or 1, jobs)
    import torch

    gpus = torch.cuda.device_count()
    return [f"cuda:{number % gpus}" for number in range(min(processes or gpus, jobs))]


def _run_pool(
    jobs: Sequence[tuple[Path, Path]], recordings: Mapping[Path, Recording | AudioError], pool: Pool, workers: int
) -> Transcribed:
    """Let a pool of workers do the jobs; return what became of each, in the order of the jobs."""
    tasks: dict[int, Task] = {}
    outcomes: dict[int, Done | Failure] = {}
    taken: dict[Path, Path] = {}
    for number, (audio, target) in enumerate(jobs):
        recording = recordings[audio]
        if isinstance(recording, AudioError):
            outcomes[number] = Failure(audio, str(recording))
        elif target in taken:
            outcomes[number] = Failure(audio, _same_name(audio, taken[target]))
        else:
            tasks[number], taken[target] = Task(recording, target), audio
    with (
        meter(sum(task.recording.duration_s for task in tasks.values())) as progress,
        closing(share_out(tasks, pool, workers, lambda number, at_s: progress.at(at_s, number))) as ended,
    ):
        for number, outcome in ended:
            audio, target = jobs[number]
            # Workers on other machines know the files by longer names than the user.
            paths = {"audio": audio} | ({"transcript": target} if isinstance(outcome, Done) else {})
            outcomes[number] = replace(outcome, **paths)
            progress.finish(audio.name, tasks[number].recording.duration_s, number)
    ordered = [outcomes[number] for number in sorted(outcomes)]
    done = tuple(each for each in ordered if isinstance(each, Done))
    return Transcribed(done, tuple(each for each in ordered if isinstance(each, Failure)))


def _length_s(recording: Recording | AudioError) -> float:
    return recording.duration_s if isinstance(recording, Recording) else 0.0


def _same_name(audio: Path, first: Path) -> str:
    return f"{audio}: {first.name} has the same name; rename one of the two"


def _known_formats(names: Sequence[str]) -> tuple[str, ...]:
    if unknown := [name for name in names if name not in NAMES]:
        raise LsaWhisperError(f"format {unknown[0]!r} is not known; choose among {', '.join(NAMES)}")
    return tuple(dict.fromkeys(name for name in names if name != "cha"))


def find_jobs(inputs: Sequence[Path | str], out: Path | str | None) -> Iterator[tuple[Path, Path]]:
    """Yield each recording with the place of its transcript.

    Args:
        inputs: recordings, and folders that are searched for recordings.
        out: the folder for transcripts, which keeps the inner folders of a folder; beside the audio if absent.
    """
    out = Path(out) if out else None
    for each in map(Path, inputs):
        if each.is_dir():
            for audio in sorted(each.rglob("*")):
                if audio.suffix.lower() in AUDIO_SUFFIXES and not audio.name.startswith("."):
                    place = out / audio.relative_to(each) if out else audio
                    yield audio, place.with_name(f"{audio.stem}.cha")
        else:
            yield each, (out or each.parent) / f"{each.stem}.cha"


def run_jobs(
    jobs: Sequence[tuple[Path, Path]],
    lengths_s: Sequence[float],
    do: Callable[[Path, Path, Meter], Done],
    *,
    alone_raises: bool = False,
) -> Transcribed:
    """Do the jobs one after another; what goes wrong with one is noted, and the rest goes on.

    Args:
        jobs: each recording with the place of its transcript.
        lengths_s: how long each recording is, for the progress that is shown.
        do: writes one transcript.
        alone_raises: of a single job, raise what went wrong instead.

    Raises:
        CheckpointError: the model cannot be loaded, so that no job can be done.
    """
    done, failed, written = [], [], dict[Path, Path]()
    with meter(sum(lengths_s)) as progress:
        for (audio, target), length_s in zip(jobs, lengths_s, strict=True):
            try:
                if target in written:
                    raise AudioError(_same_name(audio, written[target]))
                done.append(do(audio, target, progress))
                written[target] = audio
            except CheckpointError:
                raise
            except (LsaWhisperError, OSError, RuntimeError) as error:
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
    settings: Settings, wanted: Sequence[str], recording: Recording, target: Path, say: Callable[[float], None]
) -> Done:
    verify_heading(settings.heading(recording.path), target)
    inputs = settings.digest(recording.path)
    finished = is_finished(target, inputs)
    if not finished:
        target.parent.mkdir(parents=True, exist_ok=True)
        with only_writer(target):
            finished = is_finished(target, inputs)  # by another call, for which this one has waited
            if not finished:
                chat.write(stamped(settings.transcriber.transcribe(recording, progress=say), inputs), target)
    transcript = chat.read(target) if wanted else None
    for name in wanted:
        write(transcript, target.with_suffix(f".{SUFFIXES[name]}"), name)
    return Done(recording.path, target, skipped=finished)
