"""Links and FIFOs planted under every name that a command writes: nothing outside the folder is touched."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from model_fixtures import scripted, tiny, visit  # noqa: F401 - fixtures

from lsa_whisper.audio import Recording
from lsa_whisper.cli import main
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.review import edits
from lsa_whisper.review.saved import FOLDER, SavedTranscript
from lsa_whisper.review.sounds import stream_peaks
from lsa_whisper.transcription import transcribe

pytestmark = pytest.mark.slow
MAX_S = 120
MAX_PLANTED = 14
"""For each command: those that decode or train take seconds."""
UNGUESSABLE = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4,})*$|\.report-|\.(?:unfinished|replaced)-")
"""Names that are new in each call: nothing can be planted under them."""
STORY = Path(__file__).parents[2] / "corpora/storybook"
RECIPE = """
data: {{train: {data}/train.jsonl, dev: {data}/train.jsonl}}
out: run
model:
  scratch: {{d_model: 16, encoder_layers: 1, decoder_layers: 1, attention_heads: 2, mel_bins: 20, context_s: 30,
            max_target_positions: 448, vocab_size: 300}}
evaluation: {{every_steps: 1, max_windows: 2, samples: 2, metric: loss, keep_best: false, plot: true}}
training: {{use_cpu: true, max_steps: 2, per_device_train_batch_size: 2, save_strategy: steps, save_steps: 1}}
"""


def typed(*words):
    return lambda: CliRunner().invoke(main, list(words))


def review():
    """What the page does first: the waveform, an edit, text that is not finished, and undo."""
    path = Path("visits/visit.cha")
    for _ in stream_peaks(Recording.open("visits/visit.wav"), path.parent / FOLDER / "visit.wav.peaks"):
        pass
    saved = SavedTranscript(path)
    try:
        saved.edit(saved.revision, "text", lambda t: edits.set_text(t, 0, "no ."))
        saved.pend(saved.revision, 0, "<not finished")
        saved.undo(saved.revision)
    finally:
        saved.close()


COMMANDS = {
    "review": review,
    "convert": typed("convert", "visits", "-o", "visits", "--format", "srt"),
    "mark": typed("mark", "visits", "-o", "out"),
    "inspect": typed("inspect", "visits", "-o", "visits/page.html", "--csv", "visits/table.csv"),
    "fix": typed("inspect", "visits", "--fix"),
    "align": typed("align", "visits", "--model", "model", "--review", "visits/doubts.csv"),
    "align in place": typed("align", "visits", "--in-place", "--model", "model"),
    "verbatimize": typed("verbatimize", "visits", "--model", "model"),
    "transcribe": typed(
        "transcribe", "sound", "--model", "model", "--format", "srt", "--also-fluent", "--wor",
        "--review", "sound/doubtful.csv", "--log", "sound/log.tsv",
    ),
    "prepare": typed("prepare", "visits", "-o", "out", "--splice", "0.5", "--shards", "1"),
    "evaluate": typed("evaluate", "visits", "visits", "-o", "out"),
    "export": typed("export", "model", "-o", "exported"),
    "merge": typed("merge", "model", "other", "-o", "merged"),
    "finetune": typed("finetune", "recipe.yaml"),
}  # fmt: skip

watching: list[set[Path]] = []


def watch(event, details):
    """Note what Python opens to write, creates and renames; names relative to a folder are noted by ``noting``."""
    if not watching:
        return
    if event == "open" and isinstance(details[0], str | bytes | os.PathLike) and isinstance(details[2], int):
        if details[2] & (os.O_WRONLY | os.O_RDWR):
            watching[-1].add(Path(os.fsdecode(details[0])))
    elif event in ("os.mkdir", "os.rename"):
        watching[-1].add(Path(os.fsdecode(details[event == "os.rename"])))


sys.addaudithook(watch)


def noting(opened):
    """Return ``os.open`` that also notes names relative to an open folder."""

    def note(path, *rest, dir_fd=None, **more):
        if dir_fd is not None and watching:
            watching[-1].add(Path(f"/proc/self/fd/{dir_fd}").readlink() / path)
        return opened(path, *rest, dir_fd=dir_fd, **more)

    return note


@pytest.fixture(scope="module")
def materials(tiny, scripted, visit, tmp_path_factory):  # noqa: F811 - fixtures
    """A folder with a recording, its transcript, a model and a recipe."""
    place = tmp_path_factory.mktemp("materials")
    for name in ("visits", "sound"):
        (place / name).mkdir()
        shutil.copy(visit, place / name)
    for name in ("model", "other"):
        shutil.copytree(scripted, place / name)
    transcribe([place / "visits" / "visit.wav"], model=scripted, vad="energy")
    for hidden in (place / "visits").glob(".*"):
        hidden.unlink()
    text = (place / "visits" / "visit.cha").read_text()
    (place / "visits" / "visit.cha").write_text(text.replace("@End\n", ""))
    CliRunner().invoke(main, ["prepare", str(place / "visits"), "-o", str(place / "data"), "--non-speech", "0"])
    (place / "recipe.yaml").write_text(RECIPE.format(data="data"))
    return place


@contextmanager
def limited():
    def late(*_):
        raise AssertionError("the command waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(MAX_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def names_written(command, folder, monkeypatch):
    """Return the names, relative to the working folder, that a call of the command writes."""
    before, seen = contents(folder), set()
    watching.append(seen)
    with monkeypatch.context() as patched:
        patched.setattr("os.open", noting(os.open))
        result = COMMANDS[command]()
    watching.pop()
    assert result is None or result.exit_code == 0, result.output
    made = {path for path, data in contents(folder).items() if before.get(path, b"") != data}
    noted = {folder / each for each in seen if each.is_absolute() or len(each.parts) > 1}
    found = {each.relative_to(folder) for each in made | noted if each.is_relative_to(folder)}
    found -= {Path(), *map(Path, ("out", "exported", "merged", "run"))}  # a folder that a person names may be a link
    return {each for each in found if not any(UNGUESSABLE.search(part) for part in each.parts)}


KINDS = {
    "symbolic": lambda place, outside: place.symlink_to(outside / "secret"),
    "dangling": lambda place, outside: place.symlink_to(outside / "new"),
    "folder": lambda place, outside: place.symlink_to(outside),
    "hard": lambda place, outside: place.hardlink_to(outside / "secret"),
    "fifo": lambda place, _: os.mkfifo(place),
}


def problem_with(command, materials, name, kind, base, monkeypatch):
    """Return what a call does wrong where something is planted under a name; ``None`` if nothing."""
    place, outside = base / "place", base / "outside"
    shutil.copytree(materials, place)
    outside.mkdir()
    (outside / "secret").write_text("kept")
    planted = place / name
    planted.parent.mkdir(parents=True, exist_ok=True)
    if planted.is_dir():
        shutil.rmtree(planted)
    planted.unlink(missing_ok=True)
    KINDS[kind](planted, outside)
    monkeypatch.chdir(place)
    try:
        with limited():
            result = COMMANDS[command]()
        error = None if result is None or isinstance(result.exception, SystemExit | None) else result.exception
    except LsaWhisperError:
        error = None
    return error or (None if contents(outside) == {outside / "secret": b"kept"} else contents(outside))


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_outside_the_folder_is_touched(command, materials, tmp_path, monkeypatch):
    """Two kinds under each name, others for the next name: more than a hundred in all."""
    first = tmp_path / "first"
    shutil.copytree(materials, first)
    monkeypatch.chdir(first)
    names = sorted(names_written(command, first, monkeypatch))
    assert names
    kinds, wrong = list(KINDS), []
    planted = [(name, kinds[(at + turn) % len(kinds)]) for at, name in enumerate(names) for turn in (0, 2)]
    for number, (name, kind) in enumerate(planted[:: -(-len(planted) // MAX_PLANTED)]):
        base = tmp_path / str(number)
        base.mkdir()
        if found := problem_with(command, materials, name, kind, base, monkeypatch):
            wrong.append((str(name), kind, found))
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(base)
    assert wrong == []
