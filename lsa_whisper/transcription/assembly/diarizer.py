"""What ``--speakers auto`` uses: pyannote.audio with its model where both are here, or the voices alone.

pyannote.audio is an optional library that finds out who speaks when; :mod:`voices` needs one small package.

Nothing leaves the machine. The model is a folder on it, or what the cache of the Hugging Face hub holds; the hub is not
asked, and pyannote.audio's own telemetry is switched off. Of a model's ``config.yaml``, only the pipeline that computes
on this machine is accepted: such a file can name any Python function, and pyannote.audio has pipelines that send the
sound to a service.

The library is imported when the first recording needs it. Releases 3 and 4 are used as their documentation describes.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.checkpoint import hub
from lsa_whisper.errors import CheckpointError, LsaWhisperError, first_line
from lsa_whisper.system import plain_yaml
from lsa_whisper.system.machine import hub_cache_folder, is_out_of_memory
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns, named_turns
from lsa_whisper.transcription.assembly.voices import VoiceDiarizer, find_weights

COMMUNITY_MODEL = "pyannote/speaker-diarization-community-1"
_PACKAGE = "pyannote.audio"
_AUTO = re.compile(r"auto(?::([0-9]+))?")
_PIPELINES = (
    "pyannote.audio.pipelines.SpeakerDiarization",
    "pyannote.audio.pipelines.speaker_diarization.SpeakerDiarization",
)
_GET_MODEL = f"get {COMMUNITY_MODEL} once, and name its folder with --speakers-model"


@dataclass(frozen=True)
class Diarizer:
    """A diarization model before its weights are loaded: picklable.

    ``speakers`` is how many people speak; ``None`` if the model finds out.
    """

    config: Path
    speakers: int | None = None

    @cached_property
    def settings(self) -> dict[str, str]:
        """What the turns depend on besides the recording."""
        name = f"{self.config.parent.name}/{self.config.name}"
        program = f"{_PACKAGE} {_version()} {name} {plain_yaml.read(self.config)}"
        return {"turns": f"auto:{self.speakers or ''}", "diarizer": program}

    def load(self, device: str) -> None:
        """Load the model, unless it is loaded.

        Raises:
            CheckpointError: pyannote.audio or the model cannot be loaded.
        """
        if "pipeline" not in vars(self):
            vars(self)["pipeline"] = _load(self.config, device)

    def turns(self, recording: Recording, device: str) -> SpeakerTurns | None:
        """Return the speaker turns of a recording, which is held in memory whole; ``None`` if it has none.

        Raises:
            CheckpointError: pyannote.audio or the model cannot be loaded.
            LsaWhisperError: pyannote.audio fails.
        """
        import torch

        self.load(device)
        sound = {"waveform": torch.from_numpy(recording.load())[None], "sample_rate": SAMPLE_RATE_HZ}
        count = {} if self.speakers is None else {"num_speakers": self.speakers}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                turn_spans = list(_spans(vars(self)["pipeline"](sound, **count)))
        except Exception as error:  # of many types
            if is_out_of_memory(error):
                raise
            raise LsaWhisperError(
                f"{recording.path}: {_PACKAGE} cannot find the speakers ({first_line(error)}); leave out --speakers, "
                "or give turns of another diarizer: --speakers turns.rttm"
            ) from error
        turns = named_turns(turn_spans, int(recording.duration_s * 1000))
        return turns if turns.spans else None


def _spans(result: Any) -> Iterator[tuple[str, TimeSpan]]:
    """Yield the turns in a result: an ``Annotation``, or, since release 4, an object that has several of them.

    The exclusive one has one speaker at a time, as a transcript of words needs it.
    """
    annotation = getattr(result, "exclusive_speaker_diarization", None)
    annotation = getattr(result, "speaker_diarization", result) if annotation is None else annotation
    for segment, _, name in annotation.itertracks(yield_label=True):
        span = TimeSpan(max(0, round(1000 * segment.start)), max(0, round(1000 * segment.end)))
        if span.duration_ms > 0:
            yield str(name), span


def find_diarizer(speakers: Path | str, model: Path | str | None) -> Diarizer | VoiceDiarizer | None:
    """Return the diarizer that ``speakers`` asks for; ``None`` if it names files with turns.

    Args:
        speakers: ``auto``, ``auto:2`` for two people, or a path.
        model: A folder with a ``config.yaml``, such a file, or a hub name in the cache; by default
            :data:`COMMUNITY_MODEL` in the cache.

    Raises:
        CheckpointError: There is no such model, or its ``config.yaml`` is not accepted.
        LsaWhisperError: A model is given without ``auto``, the number of people is 0, or pyannote.audio is not
            installed.
    """
    match = _AUTO.fullmatch(str(speakers))
    if not match:
        if model is not None:
            raise LsaWhisperError("--speakers-model is the model of --speakers auto; give both")
        if re.fullmatch(r"[0-9]+|auto:.*", str(speakers)) and not Path(speakers).exists():
            raise LsaWhisperError(f"--speakers {speakers}: give auto, or auto:2 if two people speak")
        return None
    if match[1] and not int(match[1]):
        raise LsaWhisperError(f"--speakers {speakers}: at least one person must speak; give auto:1, auto:2 ... or auto")
    count = int(match[1]) if match[1] else None
    if model is None and not _is_complete() and (weights := find_weights()):
        return VoiceDiarizer(weights, count)
    if not _is_installed():
        raise LsaWhisperError(
            "--speakers auto needs resemblyzer (pip install --no-deps resemblyzer), or pyannote.audio, which is not "
            f"installed: pip install pyannote.audio, {_GET_MODEL}; or give the turns of another diarizer: --speakers "
            "turns.rttm"
        )
    config = _find_config(model)
    _verify_config(config)
    return Diarizer(config.absolute(), count)


def _is_installed() -> bool:
    try:
        return util.find_spec(_PACKAGE) is not None
    except ImportError:  # not even the package that contains it
        return False


def _is_complete() -> bool:
    """Return whether pyannote.audio and its own model are here."""
    try:
        return _is_installed() and _find_config(None).is_file()
    except CheckpointError:
        return False


def _version() -> str:
    try:
        return metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _find_config(model: Path | str | None) -> Path:
    path = Path(model or COMMUNITY_MODEL)
    if model is not None and path.is_file():
        return path
    if model is not None and path.is_dir():
        if (path / "config.yaml").is_file():
            return path / "config.yaml"
        raise CheckpointError(f"{path}: holds no config.yaml of a diarization model; {_GET_MODEL}")
    from huggingface_hub import try_to_load_from_cache

    name = path.as_posix()
    is_name = re.fullmatch(r"[\w.-]+/[\w.-]+", name)
    cached = try_to_load_from_cache(name, "config.yaml", cache_dir=hub_cache_folder()) if is_name else None
    if not isinstance(cached, str):
        place = "no such folder, and no model of this name in the cache of the Hugging Face hub"
        raise CheckpointError(f"{name}: {place}; {_GET_MODEL}")
    return Path(cached)


def _verify_config(config: Path) -> None:
    """Check that a model computes on this machine, and that its settings run nothing else.

    Raises:
        CheckpointError: It does not.
    """
    try:
        settings = plain_yaml.parse(plain_yaml.read(config))
    except (OSError, yaml.YAMLError) as error:
        raise CheckpointError(f"{config}: cannot be read ({first_line(error)}); {_GET_MODEL}") from error
    pipeline = settings.get("pipeline") if isinstance(settings, dict) else None
    name = pipeline.get("name") if isinstance(pipeline, dict) else None
    if name not in _PIPELINES:
        raise CheckpointError(
            f"{config}: names the pipeline {name}, which may not compute on this machine alone; {_GET_MODEL}"
        )
    if "preprocessors" in settings:
        raise CheckpointError(f"{config}: names preprocessors, which can be any program; remove them, or {_GET_MODEL}")


def _load(config: Path, device: str) -> Any:
    import torch

    # Read by pyannote.audio at each call. It would report the length of each recording to its makers.
    os.environ["PYANNOTE_METRICS_ENABLED"] = "false"
    with warnings.catch_warnings(), hub.offline():
        warnings.simplefilter("ignore")
        try:
            # By its name, because it is not a dependency, not even an optional one: it needs torchaudio.
            library = import_module(_PACKAGE)
        except Exception as error:  # its own dependencies may be broken in many ways
            raise CheckpointError(
                f"{_PACKAGE} is installed, but cannot be imported ({first_line(error)}); install it in an environment "
                "of its own, and give its turns: --speakers turns.rttm"
            ) from error
        try:
            pipeline = library.Pipeline.from_pretrained(str(config))
            if pipeline is None:
                raise ValueError("a part of it is missing")
            pipeline.to(torch.device(device))
        except Exception as error:  # of many types
            if is_out_of_memory(error):
                raise
            raise CheckpointError(f"{config}: {_PACKAGE} cannot load it ({first_line(error)}); {_GET_MODEL}") from error
    return pipeline
