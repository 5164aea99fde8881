"""A figure in README or on a page was measured by a script, whose latest result agrees."""

from __future__ import annotations

import json
import re

import pytest
import soundfile
from pages import PAGES, ROOT, sections, text_of

from benchmarks import memory_cpu, result, table
from corpora.storybook.generator.voices import VOICES

FIGURE = re.compile(
    r"(\d[\d,]*(?:\.\d+)?(?:e-\d+)?)\s?(%|GiB|ms|seconds?|minutes?|hours?|s\b|times as)|\b(\d\.\d+e-\d+)\b"
)
EXAMPLE_RESULTS = {
    "demo_seeds": {"systems": [{"system": "base", "wer_verbatim": {"value": 0.2}, "disfluency_f1": {"value": None}}]},
    "gpu.campaign": {
        "cases": {
            "lora": {"batch 1": {"samples_per_s": 1.0, "gpu_gib": 7.5, "planned_gpu_gib": 8.0}, "failed": "no time"},
            "packed": {"audio_s_per_s": 90.5},
            "plain": {"failed": "stopped after 110 s", "state": "failed"},
            "transcribe": {"batch 16": {"ours": {"real_time_factor": 90.0}, "other": {"failed": "no library"}}},
            "curve": {"largest_difference": {"fp32": 0.00012}},
        }
    },
    "memory_cpu": {
        "rows": [
            {"size": "tiny", "case": "LoRA", "planned_gib": 1.0, "measured_gib": 0.9},
            {"size": "tiny", "case": "all", "planned_gib": 2.0, "failed": "killed"},
        ]
    },
    "transcribe_speed": {"seconds_of_sound_per_second": {"tiny": {"lsa-whisper": {"clock": 30.1, "processor": 15.0}}}},
    "long_recording": {"grown_mb": {"transformers": 3, "ct2": 4}, "same_bytes_after_kill": True},
    "lora_rank": {"chosen": [{"rank": "8", "eval_out_of_domain_wer_verbatim": {"mean": 0.25}}]},
}
"""The format of results that may not exist yet."""
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
CLAIMED = {place: claim for claim in table.CLAIMS for place in claim.places}
STATED = [
    (page, heading, [found[1] or found[3] for found in FIGURE.finditer(prose)])
    for page in PAGES
    for heading, prose, comments in sections(page)
    if not any(comment.startswith("not measured: ") for comment in comments)
]


def test_the_table_is_up_to_date():
    text = table.PAGE.read_text("utf-8")
    assert table.update_page(text) == text, "type: python -m benchmarks.table"


def test_every_claim_names_an_existing_section_and_script():
    existing = {(page, heading) for page in PAGES for heading, *_ in sections(page)}
    assert set(CLAIMED) <= existing
    scripts = [ROOT / "benchmarks" / claim.script.replace(".", "/") for claim in table.CLAIMS]
    assert all(path.with_suffix(".py").is_file() or (path / "__main__.py").is_file() for path in scripts)


@pytest.mark.parametrize(
    "script, text",
    [
        ("demo_seeds", "base: 20.0 % verbatim WER, F1 of disfluencies -"),
        (
            "gpu.campaign",
            "lora: batch 1, 1.0 windows/s, 7.5 GiB (planned 8.0); packed: x90.5 real time; plain: failed; "
            "transcribe: batch 16, ours x90.0; curve: fp32 differs by 1.2e-04",
        ),
        ("memory_cpu", "tiny, LoRA: planned 1.0, measured 0.9 GiB; tiny, all: planned 2.0, failed"),
        ("transcribe_speed", "tiny: lsa-whisper x30.1"),
        ("long_recording", "transformers 3 MB more, ct2 4 MB more; killed: the same bytes"),
        ("lora_rank", "8: 25.0 %"),
    ],
)
def test_summaries_of_results(script, text):
    claim = next(claim for claim in table.CLAIMS if claim.script == script)
    assert claim.summarize(EXAMPLE_RESULTS[script]) == text


def test_a_later_failure_keeps_the_earlier_measurement(tmp_path, monkeypatch):
    monkeypatch.setattr(result, "FOLDER", tmp_path)
    (measured, _), failed = EXAMPLE_RESULTS["memory_cpu"]["rows"], {"failed": "killed", "planned_gib": 1.1}
    again = [{"size": "tiny", "case": case, **failed} for case in ("LoRA", "all")]
    memory_cpu.written([measured], "")
    memory_cpu.written(again, "")
    assert result.last("memory_cpu")["rows"] == [measured, again[1]]
    memory_cpu.written([measured | {"measured_gib": 0.8}], "")
    assert result.last("memory_cpu")["rows"][0]["measured_gib"] == 0.8


def test_every_result_has_a_row():
    assert {path.stem for path in RESULTS} <= {claim.script for claim in table.CLAIMS}


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_records_how_it_was_made(path):
    found = json.loads(path.read_text("utf-8"))
    assert found["command"].startswith(f"python -m benchmarks.{path.stem}")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"]) and found["machine"] and found["data"]
    assert found["versions"] and all(found["versions"].values())


@pytest.mark.parametrize("page, heading, figures", STATED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_stated_figure_was_measured(page, heading, figures):
    if not figures:
        return
    claim = CLAIMED.get((page, heading))
    assert claim, (
        f"{figures}: give {page} ({heading}) a row in benchmarks/table.py, or write <!-- not measured: WHY -->"
    )
    found = result.last(claim.script)
    if not found:
        pytest.skip(f"benchmarks.{claim.script} has no result yet")
    known = list(numbers(found))
    for figure in figures:
        assert any(matches(figure, number) for number in known), f"{figure} is not in {claim.script}.json"


def numbers(found):
    """Yield every number of a result, and the names that are numbers, such as the limits of ``share_within_ms``."""
    if isinstance(found, bool) or found is None or isinstance(found, str):
        return
    if isinstance(found, int | float):
        yield found
    elif isinstance(found, dict):
        yield from (int(name) for name in found if name.isdecimal())
        yield from numbers(list(found.values()))
    else:
        for each in found:
            yield from numbers(each)


def matches(figure, number):
    """Return whether a figure is this number, as it is or in percent, rounded as the figure is."""
    if "e" in figure:
        return f"{number:.1e}" == figure
    decimals = len(figure.partition(".")[2])
    return figure.replace(",", "") in (f"{number:.{decimals}f}", f"{100 * number:.{decimals}f}")


def test_the_table_of_speed_adds_up_the_sets_of_real_speech():
    table = text_of("docs/base-models.md").partition("## Measured: speed")[2]
    rows = re.findall(r"^\| (\S.*?) \| (\d.*) \|$", table, re.MULTILINE)
    assert len(rows) >= 9
    for program, cells in rows:
        tasks = result.last("real_speech")["scores"][program]
        of = ["conversation"] if cells.count("|") == 2 else ["one by one", "joined"]
        sums = [
            [sum(each[key] for each in tasks[name].values()) for key in ("processor_seconds", "written", "errors")]
            for name in of
        ]
        stated = [f"{seconds:.0f} s | {words:,} | {errors:,}" for seconds, words, errors in sums]
        assert cells == " | ".join(stated)


def test_the_size_of_storybook_is_stated_correctly():
    page = text_of("corpora/storybook/README.md")
    assert f"({len(VOICES)} of them" in page
    for split in ("train", "dev", "test"):
        lengths = [soundfile.info(path).duration for path in (ROOT / "corpora/storybook" / split).glob("*.flac")]
        voices = sum(voice.split == split for voice in VOICES)
        assert f"| {split} | {len(lengths)} | {sum(lengths) / 60:.0f} | {voices} |" in page


def test_numbers_of_a_result():
    assert list(numbers({"share_within_ms": {"50": 0.9}, "seeds": [3, True], "note": "2"})) == [50, 0.9, 3]


def test_a_figure_is_compared_as_it_is_rounded():
    assert matches("71", 0.711) and matches("1.43", 1.43) and matches("3.3e-06", 3.337e-6)
    assert not matches("72", 0.711) and not matches("1.4", 1.46)
