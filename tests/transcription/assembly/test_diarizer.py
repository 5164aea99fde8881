"""``--speakers auto``: speaker turns from pyannote.audio.

The library cannot be installed beside the builds of torch that these tests run with: it needs torchaudio, which breaks
transformers there. A stand-in with the documented interface takes its place: ``Pipeline.from_pretrained`` with the path
of a ``config.yaml``, ``to(device)``, a call with samples in memory and ``num_speakers``, and the results of releases 3
(an ``Annotation``) and 4 (an object with two of them).
"""

import json
import os
import pickle
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lsa_whisper import chat
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.cli import main
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.transcription import transcribe
from lsa_whisper.transcription.assembly import diarizer, voices
from lsa_whisper.transcription.assembly.diarizer import COMMUNITY_MODEL, find_diarizer

STAND_IN = """
import json, os
from pathlib import Path

import torch
from huggingface_hub import constants


class Segment:
    def __init__(self, start, end):
        self.start, self.end = start, end


class Annotation:
    def __init__(self, turns):
        self.turns = turns

    def itertracks(self, yield_label=False):
        assert yield_label
        for number, (start, end, name) in enumerate(self.turns):
            yield Segment(start, end), number, name


class Output:
    def __init__(self, exclusive, overlapping):
        self.exclusive_speaker_diarization, self.speaker_diarization = exclusive, overlapping


class Pipeline:
    @classmethod
    def from_pretrained(cls, checkpoint, token=None, cache_dir=None):
        made = cls()
        made.said = json.loads((Path(checkpoint).parent / "said.json").read_text())
        metrics = os.environ["PYANNOTE_METRICS_ENABLED"]
        made.note(checkpoint=checkpoint, offline=constants.HF_HUB_OFFLINE, metrics=metrics)
        if made.said.get("load"):
            raise RuntimeError(made.said["load"])
        return None if made.said.get("incomplete") else made

    def to(self, device):
        assert isinstance(device, torch.device)
        self.note(device=str(device))
        return self

    def __call__(self, file, num_speakers=None):
        assert file["waveform"].dtype == torch.float32
        self.note(shape=list(file["waveform"].shape), rate=file["sample_rate"], num_speakers=num_speakers)
        if self.said.get("call"):
            raise ValueError(self.said["call"])
        turns = Annotation(self.said["turns"])
        if self.said["release"] == 3:
            return turns
        return Output(turns if self.said["release"] == 4 else None, Annotation(self.said.get("overlapping", [])))

    def note(self, **what):
        with open(os.environ["NOTES"], "a") as notes:
            notes.write(json.dumps(what) + "\\n")
"""
CONFIG = (
    "pipeline:\n  name: pyannote.audio.pipelines.SpeakerDiarization\n  params: {segmentation: $model/segmentation}\n"
)
TURNS = [[2.2, 30.0, "SPEAKER_00"], [0.0, 2.0, "SPEAKER_01"], [2.0, 2.0, "SPEAKER_02"]]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install the stand-in; return the notes of its calls."""
    package = tmp_path / "installed" / "pyannote" / "audio"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STAND_IN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    monkeypatch.setenv("PYANNOTE_METRICS_ENABLED", "true")
    yield lambda: [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyannote"]:
        del sys.modules[name]


def model(folder, *, config=CONFIG, release=4, turns=TURNS, **said):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    (folder / "said.json").write_text(json.dumps({"release": release, "turns": turns} | said), encoding="utf-8")
    return folder


@pytest.mark.parametrize("release", [3, 4, "without exclusive"])
def test_results_of_every_release_become_turns(release, installed, visit, tmp_path):
    said = {"overlapping": TURNS} if release == "without exclusive" else {"overlapping": [[0, 9, "X"]]}
    folder = model(tmp_path / "model", release=release, **said)
    found = find_diarizer("auto", folder).turns(Recording.open(visit), "cpu")
    end_ms = int(Recording.open(visit).duration_s * 1000)
    assert [(code, span.start_ms, span.end_ms) for code, span in found.spans] == [
        ("PAR0", 0, 2000),
        ("PAR1", 2200, end_ms),
    ]
    assert [(person.code, person.role) for person in found.participants] == [
        ("PAR0", "Participant"),
        ("PAR1", "Participant"),
    ]


def test_the_sound_stays_in_memory_and_on_this_machine(installed, visit, tmp_path):
    folder, recording = model(tmp_path / "model"), Recording.open(visit)
    asked = pickle.loads(pickle.dumps(find_diarizer(Path("auto:2"), folder / "config.yaml")))
    asked.turns(recording, "cpu")
    asked.turns(recording, "cpu")
    loaded, moved, *calls = installed()
    assert loaded == {"checkpoint": str(folder / "config.yaml"), "offline": True, "metrics": "false"}
    assert moved == {"device": "cpu"}
    assert calls == [{"shape": [1, len(recording.load())], "rate": SAMPLE_RATE_HZ, "num_speakers": 2}] * 2
    from huggingface_hub import constants

    assert (os.environ.get("HF_HUB_OFFLINE", "") in ("1", "true")) == constants.HF_HUB_OFFLINE


def test_the_model_in_the_hubs_cache_is_the_default(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    find_spec = diarizer.util.find_spec
    monkeypatch.setattr(diarizer.util, "find_spec", lambda name: None if name == voices.PACKAGE else find_spec(name))
    with pytest.raises(CheckpointError, match=f"{COMMUNITY_MODEL}: no such folder.*--speakers-model"):
        find_diarizer("auto", None)
    stored = tmp_path / "hub" / f"models--{COMMUNITY_MODEL.replace('/', '--')}"
    snapshot = model(stored / "snapshots" / "0123456789abcdef0123456789abcdef01234567")
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text(snapshot.name)
    assert find_diarizer("auto", None).config == snapshot / "config.yaml"
    assert find_diarizer("auto", COMMUNITY_MODEL).config == snapshot / "config.yaml"


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("pipeline: {name: pyannote.audio.pipelines.pyannoteai.sdk.SDK}", "may not compute on this machine alone"),
        (CONFIG + "preprocessors: {key: {name: os.system, params: {command: ls}}}", "can be any program"),
        ("pipeline: [", "cannot be read"),
        ("- 1", "names the pipeline None"),
    ],
)
def test_a_model_that_runs_something_else_is_refused(config, reason, installed, tmp_path):
    with pytest.raises(CheckpointError, match=reason):
        find_diarizer("auto", model(tmp_path / "model", config=config))


def test_files_with_turns_are_no_diarizer(tmp_path):
    assert find_diarizer(tmp_path / "turns.rttm", None) is None
    assert find_diarizer("automatic", None) is None
    for speakers in ("turns.rttm", ""):
        with pytest.raises(LsaWhisperError, match="give both"):
            find_diarizer(speakers, tmp_path)
    with pytest.raises(LsaWhisperError, match="auto:1"):
        find_diarizer("auto:0", None)


def run(*words):
    done = CliRunner().invoke(main, ["transcribe", *map(str, words)])
    return done.exit_code, done.output


@pytest.mark.slow
def test_transcripts_have_the_speakers(installed, visit, scripted, tmp_path):
    folder, out = model(tmp_path / "model"), tmp_path / "out"
    words = (visit, "--model", scripted, "-o", out, "--speakers", "auto:2", "--speakers-model", folder)
    assert run(*words)[0] == 0
    made = chat.read(out / "visit.cha", strict=True)
    assert {each.speaker for each in made.utterances} == {"PAR0", "PAR1"}
    assert chat.check(made) == [] and "%wor" in (out / "visit.cha").read_text()
    count = len(installed())
    assert run(*words)[0] == 0 and len(installed()) == count  # finished, so nothing is loaded
    again = transcribe([visit], model=scripted, out=out, speakers="auto", speakers_model=folder)
    assert not again.done[0].skipped and len(installed()) > count


@pytest.mark.slow
def test_without_speech_the_speaker_is_the_default(installed, visit, scripted, tmp_path):
    folder = model(tmp_path / "model", turns=[])
    (done,) = transcribe([visit], model=scripted, out=tmp_path, speakers="auto", speakers_model=folder).done
    assert {each.speaker for each in chat.read(done.transcript).utterances} == {"PAR"}


def test_not_installed_is_said_before_anything_is_decoded(visit, scripted, tmp_path, monkeypatch):
    monkeypatch.setattr(diarizer.util, "find_spec", lambda name: None)
    code, said = run(visit, "--model", scripted, "-o", tmp_path / "out", "--speakers", "auto")
    assert code == 1 and not (tmp_path / "out").exists()
    assert said.count("\n") == 1 and "pip install pyannote.audio" in said and COMMUNITY_MODEL in said


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"load": "weights are damaged\nat line 3"}, r"cannot load it \(weights are damaged\)"),
        ({"incomplete": True}, "a part of it is missing"),
        ({"call": "too short"}, r"cannot find the speakers \(too short\)"),
    ],
)
def test_failures_are_one_clear_error(said, reason, installed, visit, scripted, tmp_path):
    folder = model(tmp_path / "model", **said)
    with pytest.raises(LsaWhisperError, match=reason):
        transcribe([visit], model=scripted, out=tmp_path / "out", speakers="auto", speakers_model=folder)
    code, told = run(
        visit, "--model", scripted, "-o", tmp_path / "out", "--speakers", "auto", "--speakers-model", folder
    )
    assert code == 1 and "Traceback" not in told and not (tmp_path / "out" / "visit.cha").exists()


def test_a_broken_installation_is_one_clear_error(visit, tmp_path, monkeypatch):
    package = tmp_path / "pyannote" / "audio"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise OSError('torchaudio does not fit')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CheckpointError, match=r"cannot be imported \(torchaudio does not fit\)"):
        find_diarizer("auto", model(tmp_path / "model")).turns(Recording.open(visit), "cpu")


def test_channels_and_turns_do_not_go_together(installed, visit, scripted, tmp_path):
    with pytest.raises(LsaWhisperError, match="both say who speaks"):
        transcribe([visit], model=scripted, out=tmp_path, speakers="auto", channels="CHI,INV")
