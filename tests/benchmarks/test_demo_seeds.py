"""The transcripts of several demos in one report; here they are copies of the references, some without marks."""

from pathlib import Path

import pytest

from benchmarks import demo_seeds, result
from lsa_whisper import chat
from lsa_whisper.demo import ADAPTATIONS

NAMES = ["base", "lora seed 0", "lora seed 1", "full seed 0", "full seed 1"]


def bare(path):
    """The transcript at ``path`` as a model writes it that drops disfluencies."""
    read = chat.read(path)
    said = [chat.utterance(u.speaker, " ".join([*u.fluent(), "."]), u.span) for u in read.utterances if u.fluent()]
    return chat.compose(languages=["eng"], participants=list(read.participants.values()), utterances=said)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Two seeds: the base model and seed 1 of ``lora`` drop every disfluency, the others keep all."""
    folder = tmp_path_factory.mktemp("seeds")
    for seed in range(2):
        for name in ("before", *ADAPTATIONS):
            place = folder / str(seed) / "transcripts" / name
            place.mkdir(parents=True)
            for path in sorted(demo_seeds.TEST.glob("*.cha"))[:2]:
                drops = name == "before" or (name, seed) == ("lora", 1)
                chat.write(bare(path) if drops else chat.read(path), place / path.name)
    return folder


@pytest.mark.slow
def test_all_seeds_are_in_one_report(out, monkeypatch):
    monkeypatch.setattr(demo_seeds, "TEST", _two_references(out))
    report = demo_seeds.joint_report(demo_seeds.transcripts(out, 2), out / "report")
    assert report == out / "report" / "report.html"
    assert all(name in report.read_text("utf-8") for name in NAMES)
    systems = {each["system"]: each for each in demo_seeds.scores(report.with_suffix(".json"))}
    assert list(systems) == NAMES
    for name in ("lora seed 0", "full seed 0", "full seed 1"):
        assert systems[name]["wer_verbatim"] == {"value": 0, "interval": None}  # of two persons
        assert systems[name]["classes"]["filled_pause"] == {"precision": 1, "recall": 1, "f1": 1}
    for name in ("base", "lora seed 1"):
        assert systems[name]["wer_verbatim"]["value"] > 0.05 and systems[name]["wer_fluent"]["value"] == 0
        assert systems[name]["classes"]["filled_pause"]["recall"] == 0


def test_a_finished_seed_keeps_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(result, "last", lambda _: {"demo_seconds": [345]})
    monkeypatch.setattr(demo_seeds, "demo", lambda out, seed: out.mkdir(exist_ok=True))
    for seed in (0, 1):
        (tmp_path / str(seed)).mkdir()
    assert demo_seeds.timed(tmp_path, 3) == [345, None, 0]


def _two_references(out: Path) -> Path:
    (out / "test").mkdir()
    for path in sorted(demo_seeds.TEST.glob("*.cha"))[:2]:
        (out / "test" / path.name).write_bytes(path.read_bytes())
    return out / "test"
