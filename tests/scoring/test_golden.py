"""Cases scored by hand: what the evaluation says must be what was counted with pencil and paper."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation import evaluate
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.score_file import score_file

GOLDEN = sorted(path for path in (Path(__file__).parent / "golden").iterdir() if path.is_dir())
SHOWN = {"=": "{0}", "s": "{0}>{1}", "d": "[-{0}-]", "i": "{{+{1}+}}", "x": "({0}>{1})"}


@pytest.fixture(params=GOLDEN, ids=lambda folder: folder.name, scope="module")
def case(request):
    folder = request.param
    evaluation = evaluate(folder / "reference.cha", [folder / "hypothesis.cha"], samples=40)
    return json.loads((folder / "scores.json").read_text(encoding="utf-8")), evaluation.systems["hypothesis"]


def side(path):
    transcript = chat.read(path)
    return ParsedTranscript(transcript.utterances, transcript.participants)


def test_there_are_enough_cases_and_each_has_its_scores():
    assert len(GOLDEN) >= 25
    for folder in GOLDEN:
        scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
        assert len(scores["comment"]) > 20 and {"verbatim", "fluent", "disfluency", "boundaries"} <= set(scores)


def test_word_errors(case):
    expected, system = case
    found = {
        "verbatim": system.word_errors_verbatim,
        "verbatim_raw": system.total.verbatim_raw,
        "fluent": system.total.fluent,
        "fluent_raw": system.total.fluent_raw,
    }
    for name, errors in found.items():
        if name in expected:
            assert asdict(errors) == expected[name], name
    for code, errors in expected.get("by_speaker", {}).items():
        assert asdict(system.total.by_speaker[code]) == errors, code


def test_rates(case):
    expected, system = case
    for metric in METRICS:
        if metric.key in expected["rates"]:
            rate = expected["rates"][metric.key]
            assert system.value(metric) == (rate if rate is None else pytest.approx(rate)), metric.key


def test_disfluencies_and_boundaries(case):
    expected, system = case
    nothing = [0, 0, 0, 0]
    for kind in Disfluency:
        assert list(asdict(system.disfluency[kind]).values()) == expected["disfluency"].get(kind.value, nothing), kind
    assert list(asdict(system.total.boundaries).values())[:3] == expected["boundaries"]
    if "fragment_exact" in expected:
        assert list(asdict(system.disfluency.fragment_exact).values())[:3] == expected["fragment_exact"]


def test_language_sample(case):
    expected, system = case
    for measure, values in expected.get("language", {}).items():
        said, heard = system.files[0].samples["everyone"]
        for sample, value in zip((said, heard), values, strict=True):
            assert getattr(sample, measure) == (value if value is None else pytest.approx(value)), measure


def test_times_and_confusions(case):
    expected, system = case
    for kind in Disfluency:
        if "timed" in expected:
            found = list(asdict(system.timed[kind]).values())
            assert found == expected["timed"].get(kind.value, [0, 0, 0, 0]), kind
    if "confusion" in expected:
        assert sorted([*pair, count] for pair, count in system.total.confusion.items()) == expected["confusion"]


def test_insertions_in_silence_runs_and_loops(case):
    expected, system = case
    if "hallucinations" in expected:
        assert asdict(system.total.hallucinations) == expected["hallucinations"]


def test_errors_by_group(case):
    expected, system = case
    for group, errors in expected.get("groups", {}).items():
        assert {label: found.errors for label, found in system.word_errors_by(group).items()} == errors, group


def test_every_metric_is_scored_by_hand_where_it_is_zero_one_and_undefined():
    scores = [json.loads((folder / "scores.json").read_text(encoding="utf-8"))["rates"] for folder in GOLDEN]
    for metric in METRICS:
        seen = {rates[metric.key] for rates in scores if metric.key in rates}
        assert {0, 1, None} <= seen, metric.key


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_the_report_has_the_same_figures(folder, tmp_path):
    evaluate(folder / "reference.cha", [folder / "hypothesis.cha"], out=tmp_path, samples=40)
    (system,) = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["systems"]
    for key, rate in json.loads((folder / "scores.json").read_text(encoding="utf-8"))["rates"].items():
        assert system["metrics"][key]["value"] == (rate if rate is None else pytest.approx(rate)), key


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_alignment(folder):
    expected = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    utterances = score_file(folder.name, side(folder / "reference.cha"), side(folder / "hypothesis.cha")).aligned
    shown = [
        " ".join(SHOWN[column.operation].format(column.reference, column.hypothesis) for column in utterance.columns)
        for utterance in utterances
        if utterance.columns
    ]
    if "alignment" in expected:
        assert shown == expected["alignment"]


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_the_cases_are_readable_chat(folder):
    for name in ("reference.cha", "hypothesis.cha"):
        assert not [p for p in chat.read(folder / name).problems if "[/?]" in p.message or "cannot" in p.message]
