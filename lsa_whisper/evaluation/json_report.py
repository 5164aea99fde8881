"""``report.json``: all counts and rates of an evaluation, for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation.material import Material
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.page.terms import MEASURES
from lsa_whisper.scoring.bootstrap import CONFIDENCE
from lsa_whisper.scoring.counts import Detections, WordErrors
from lsa_whisper.scoring.file_scores import WORD_ERRORS, FileCounts
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.published import MODES
from lsa_whisper.scoring.system import System

_SCHEMA = "lsa-whisper/evaluation"
_SCHEMA_VERSION = 2
"""Increases if a field is removed or changes its meaning, not if fields are added."""


def json_report(evaluation: Evaluation) -> dict[str, Any]:
    """Return the evaluation as plain JSON values.

    ``systems[].metrics[key]`` = value and 95 % interval (``null`` = undefined); ``word_errors`` and ``disfluency``
    hold counts with their rates; ``confusion`` is ``[reference, hypothesis, count]``; ``files[]`` the counts of each
    file; ``published[]`` the counts by the rules of other tools; ``comparisons[]`` the paired differences in metrics
    and in classes of disfluencies, with ``better`` = ``null`` if the difference is not significant. ``answers`` says
    per system whether a fluency count may be taken, ``verdict`` what the figures say; ``about`` the material, the date
    and the command.
    """
    return {
        "schema": _SCHEMA,
        "schema_version": _SCHEMA_VERSION,
        "reference": str(evaluation.reference),
        "answers": evaluation.answers,
        "verdict": evaluation.verdict,
        "about": _about(evaluation.material),
        "bootstrap": {
            "unit": "file" if evaluation.material.persons is None else "person",
            "samples": evaluation.samples,
            "confidence": CONFIDENCE,
        },
        "metrics": {m.key: {"title": m.title, "definition": m.definition} for m in METRICS},
        "systems": [_system(system) for system in evaluation.systems.values()],
        "collar_ms": evaluation.options.collar_ms,
        "published": [
            {"mode": mode, "rules": MODES[mode].rules, "system": s.name, **_word_errors(s.total.published[mode])}
            for mode in evaluation.options.published
            for s in evaluation.systems.values()
        ],
        "comparisons": [
            {
                "metric": d.metric.key,
                "first": d.first,
                "second": d.second,
                "difference": d.difference,
                "interval": d.interval and [d.interval.low, d.interval.high],
                "p": d.p,
                "decides": d.decides,
                "better": d.better,
            }
            for d in evaluation.differences
        ],
        "remarks": [*evaluation.remarks(), *evaluation.conclusions()],
    }


def _about(material: Material) -> dict[str, Any]:
    """Return what was evaluated, when and with which command and versions."""
    return {
        "date": material.date,
        "command": material.command,
        "versions": material.versions,
        "recordings": material.recordings,
        "speakers": material.speakers,
        "corpora": list(material.corpora),
        "languages": list(material.languages),
        "models": {name: list(models) for name, models in material.models.items()},
    }


def _system(system: System) -> dict[str, Any]:
    intervals = {metric.key: system.interval(metric) for metric in METRICS}
    return {
        "name": system.name,
        "has_marks": system.has_marks,
        "not_transcribed": [kind.value for kind in Disfluency if kind in system.left_out],
        "missing": system.missing,
        "unpaired": [str(path) for path in system.unpaired],
        "dropped_unintelligible": system.total.dropped,
        "metrics": {
            m.key: {"value": system.value(m), "interval": (i := intervals[m.key]) and [i.low, i.high]} for m in METRICS
        },
        "word_errors": {
            **{name: _word_errors(getattr(system.total, name)) for name in WORD_ERRORS},
            **{f"by_{group}": _by_label(system.word_errors_by(group)) for group in ("role", "age", "length")},
            "by_speaker": _by_label(system.total.by_speaker),
        },
        "disfluency": {kind.value: _detections(score) for kind, score in system.disfluency.by_class.items()},
        "disfluency_by_time": {kind.value: _detections(score) for kind, score in system.timed.by_class.items()},
        "confusion": [[*pair, count] for pair, count in sorted(system.total.confusion.items())],
        "fragment_exact": _detections(system.disfluency.fragment_exact),
        "boundaries": _detections(system.total.boundaries),
        "hallucinations": _hallucinations(system),
        "typed": {name: _detections(score) for name, score in system.total.typed.items()},
        "class_characters": _by_label(system.total.class_characters),
        "speakers": {
            **asdict(system.total.speakers),
            "cpwer": system.total.speakers.cp,
            "tcpwer": system.total.speakers.tcp,
            "orcwer": system.total.speakers.orc,
        },
        "rates_per_100_words": {k.value: asdict(system.rate_agreement(k)) for k in system.disfluency.by_class},
        "language": {
            key: {measure: asdict(system.language_agreement(measure, key)) for measure in MEASURES}
            for key in system.sample_keys
        },
        "files": [_file(scores) for scores in system.files],
    }


def _by_label(by_label: Mapping[str, WordErrors]) -> dict[str, Any]:
    return {label: _word_errors(errors) for label, errors in by_label.items()}


def _hallucinations(system: System) -> dict[str, Any]:
    counts = system.total.hallucinations
    rates = {"words_per_minute": counts.words_per_minute_of_silence, "share_with_runs": counts.share_with_runs}
    return {**asdict(counts), **rates}


def _file(scores: FileCounts) -> dict[str, Any]:
    return {
        "file": scores.key,
        "missing": scores.missing,
        "word_errors": {"verbatim": _word_errors(scores.verbatim), "fluent": _word_errors(scores.fluent)},
        "disfluency": {kind.value: _detections(score) for kind, score in scores.disfluency.by_class.items()},
        "boundaries": _detections(scores.boundaries),
        "language": {
            key: {"reference": asdict(reference), "hypothesis": hypothesis and asdict(hypothesis)}
            for key, (reference, hypothesis) in scores.samples.items()
        },
    }


def _word_errors(errors: WordErrors) -> dict[str, Any]:
    return {**asdict(errors), "rate": errors.rate}


def _detections(detections: Detections) -> dict[str, Any]:
    return {**asdict(detections), "precision": detections.precision, "recall": detections.recall, "f1": detections.f1}
