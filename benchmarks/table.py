"""The table in benchmarks/README.md: each claim, where it is made, its script, and its latest result.

    python -m benchmarks.table

The results come from ``benchmarks/results/``; none is typed by hand. ``tests/docs/test_claims.py`` fails when the table
is out of date, and when a page states a figure for which there is no row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import result

PAGE = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
Figures = dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes:
        statement: The claim.
        script: Module in ``benchmarks``, which writes the result of the same name.
        summarize: Returns the text of the result column from the result.
        places: Pages and sections that state figures of this result.
        gpu: Whether the script needs a GPU.
    """

    statement: str
    script: str
    summarize: Callable[[Figures], str]
    places: tuple[tuple[str, str], ...] = ()
    gpu: bool = False


def _demo(found: Figures) -> str:
    def percent(system: Figures, key: str) -> str:
        value = system[key]["value"]
        return "-" if value is None else f"{100 * value:.1f} %"

    return "; ".join(
        f"{each['system']}: {percent(each, 'wer_verbatim')} verbatim WER, F1 of disfluencies "
        f"{percent(each, 'disfluency_f1')}"
        for each in found["systems"]
    )


def _merged(found: Figures) -> str:
    def percent(scores: Figures, key: str) -> str:
        return f"{100 * scores[key]['value']:.1f} %"

    return "; ".join(
        f"{each['system']}: verbatim WER {percent(each['in_domain'], 'wer_verbatim')}, F1 of disfluencies "
        f"{percent(each['in_domain'], 'disfluency_f1')}, out of domain WER "
        f"{percent(each['out_of_domain'], 'wer_verbatim')}"
        for each in found["systems"]
    )


def _steps(found: Figures) -> str:
    return "; ".join(
        f"transformers {version}, {name}: {', '.join(f'{loss:.3f}' for loss in losses)}"
        for version, runs in found["losses"].items()
        for name, losses in runs.items()
    )


def _killed(found: Figures) -> str:
    return (
        f"{found['kills']} kills in {found['steps']} steps: weights differ by "
        f"{found['max_abs_weight_difference']:.1e}, {found['began_again']} of {found['starts_with_a_checkpoint']} "
        f"restarts began again, at most {found['most_steps_lost']} steps lost"
    )


def _parity(found: Figures) -> str:
    worst = {
        name: max(row[f"max_abs_{name}_difference"] for row in found["rows"]) for name in ("loss", "weight", "logit")
    }
    return f"{len(found['rows'])} runs; " + ", ".join(f"{name} {value:.1e}" for name, value in worst.items())


def _memory(found: Figures) -> str:
    return "; ".join(
        f"{row['size']}, {row['case']}: planned {row['planned_gib']}, "
        + (f"measured {row['measured_gib']} GiB" if "measured_gib" in row else "failed")
        for row in found["rows"]
    )


def _missed(found: Figures) -> str:
    def recalls(deleted: Figures) -> str:
        return ", ".join(f"{each['recall']:.0%}".replace("%", " %") for each in deleted.values())

    timed = found["with_word_times"]
    rates = [each["false_alarms_per_minute"] for each in timed.values()]
    return (
        f"1, 2, 3 and 5 deleted words: {recalls(timed)} with word times ({min(rates)} to {max(rates)} other places a "
        f"minute), {recalls(found['without_word_times'])} without (SYNTHETIC speech)"
    )


def _words_in_time(found: Figures) -> str:
    shares = ", ".join(f"{share:.0%} within {ms} ms" for ms, share in found["share_within_ms"].items())
    return f"{shares.replace('%', ' %')} (SYNTHETIC speech)"


def _aligned(found: Figures) -> str:
    def shares(methods: Figures) -> str:
        within = {name: methods[name]["share_within_ms"] for name in ("align", "transcribe and match", "uniform")}
        return ", ".join(
            f"{name} {each['50']:.0%} / {each['200']:.0%}".replace("%", " %") for name, each in within.items()
        )

    return "; ".join(f"{name}: {shares(each['methods'])}" for name, each in found["folders"].items()) + (
        " (within 50 / 200 ms)"
    )


def _chat(found: Figures) -> str:
    speeds = found["utterances_per_second_and_core"]
    return ", ".join(f"{name} {speed:,} utterances/s" for name, speed in speeds.items())


def _scoring(found: Figures) -> str:
    return (
        f"{found['files_1000']['utterances']:,} utterances in {found['files_1000']['wall_s']} s, "
        f"{found['memory_per_further_file_kb']} kB for each further file"
    )


def _prepare(found: Figures) -> str:
    most = found["runs"][-1]
    same = "the same bytes" if found["kills"]["same_bytes"] else "OTHER BYTES"
    return f"{most['sessions']:,} sessions: {most['cpu_seconds']} s of CPU time, {most['peak_mb']} MB; killed: {same}"


def _tokens(found: Figures) -> str:
    kinds = next(iter(found["tokens_per_utterance"].values()))["disfluent"]
    return ", ".join(f"{name} {kinds[name]['ratio']}" for name in ("chat/3", "chat/1", "verbatim")) + " x bare words"


def _damaged(found: Figures) -> str:
    return f"{found['labels']:,} labels, {found['utterances']:,} utterances: {found['rejected']} rejected"


def _padding(found: Figures) -> str:
    return ", ".join(f"{name}: x{variant['times_the_first']}" for name, variant in found["variants"].items())


def _gpu(found: Figures) -> str:
    return "; ".join(f"{case}: {_of_case(figures)}" for case, figures in found["cases"].items())


def _of_case(figures: Figures) -> str:
    sizes = [name for name in figures if name.startswith("batch ")]
    if not sizes:
        return f"x{figures['audio_s_per_s']} real time" if "audio_s_per_s" in figures else "failed"
    largest = figures[sizes[-1]]
    memory = f", {largest['gpu_gib']} GiB (planned {largest['planned_gpu_gib']})" if "gpu_gib" in largest else ""
    return f"{sizes[-1]}, {largest['samples_per_s']} windows/s{memory}"


def _speed(found: Figures) -> str:
    return "; ".join(
        f"{size}: " + ", ".join(f"{name} x{speed['clock']}" for name, speed in programs.items())
        for size, programs in found["seconds_of_sound_per_second"].items()
    )


def _long(found: Figures) -> str:
    same = "the same bytes" if found["same_bytes_after_kill"] else "OTHER BYTES"
    return f"{found['grown_mb']} MB more; killed: {same}"


def _rank(found: Figures) -> str:
    key = "eval_out_of_domain_wer_verbatim"
    return ", ".join(f"{each['rank']}: {each[key]['mean']:.1%}".replace("%", " %") for each in found["chosen"])


def _fuzz(found: Figures) -> str:
    return f"{found['texts']:,} texts in {found['minutes']} minutes on a busy machine, no traceback"


def _mutation(found: Figures) -> str:
    def detected(each: Figures) -> str:
        tried = each["changes"] - each["not_tried"]
        return f"{each['noticed_percent']} % of {tried} (of {each['changes']})"

    return "; ".join(f"{path.removeprefix('lsa_whisper/')}: {detected(each)}" for path, each in found["files"].items())


def _review_scale(found: Figures) -> str:
    keys = found["keystroke_ms"]
    return (
        f"opened in {found['opening_s']} s, keystroke {keys['median']} ms (largest {keys['largest']}), saved edit "
        f"{found['saved_edit_ms']['median']} ms, server {found['server_mb']} MB, page {found['page_mb']} MB"
    )


def _review_time(found: Figures) -> str:
    return "; ".join(
        f"{name}: {100 * points['50%']['errors_corrected']:.0f} % of the errors in half of the time"
        for name, points in found["orders"].items()
    )


def _retraces(found: Figures) -> str:
    def scores(each: Figures) -> str:
        return f"F1 {each['f1']:.2f}, precision {each['precision']:.2f}, recall {each['recall']:.2f}"

    return f"rules: {scores(found['rules'])}; `mark`: {scores(found['marks'])}"


CLAIMS = (
    Claim(
        "Fine-tuning trains nano to keep disfluencies",
        "demo_seeds",
        _demo,
        (("README.md", "What the demo shows"),),
    ),
    Claim(
        "Averages of the demo's LoRA runs, in and out of domain (`merge`)",
        "merge",
        _merged,
        (("docs/strategy.md", "Measured: averages of runs"),),
    ),
    Claim(
        "All strategies give the same model as a single process (largest differences)",
        "parity",
        _parity,
        (("docs/strategy.md", "Measured: parity of strategies"),),
    ),
    Claim(
        "Estimated memory is close to measured memory, on a CPU",
        "memory_cpu",
        _memory,
        (("docs/strategy.md", "Measured: accuracy of the plan"),),
    ),
    Claim("Memory and speed of fine-tuning on a GPU, compared with the estimate", "gpu_finetune", _gpu, gpu=True),
    Claim("Speed of transcription compared with other programs", "transcribe_speed", _speed, gpu=True),
    Claim("Deleted words that `transcribe --review` lists as speech without words", "missed_speech", _missed),
    Claim("Accuracy of the word onsets of `transcribe --wor`", "word_times", _words_in_time),
    Claim(
        "Accuracy of the word onsets of `align`, beside simpler methods",
        "align_times",
        _aligned,
    ),
    Claim(
        "Retraces found from words alone, 28 hand-annotated meetings, speakers held out",
        "retraces",
        _retraces,
        (("docs/labels-and-scores.md", "Measured: retraces from words alone"),),
    ),
    Claim("Malformed and hostile texts give a one-line error, not a traceback", "fuzz", _fuzz),
    Claim(
        "An export gives the same text in transformers 4",
        "transformers_4",
        lambda found: f"transformers {found['other_transformers']}: same text {str(found['same_text']).lower()}",
    ),
    Claim("The lowest supported transformers trains the demo's recipes (losses of five steps)", "demo_steps", _steps),
    Claim("Speed of parsing CHAT on one core", "chat_speed", _chat),
    Claim("Memory for scoring hardly grows with the number of files", "scoring_speed", _scoring),
    Claim(
        "Time for preparation grows linearly, and a killed run resumes with the same result", "prepare_scale", _prepare
    ),
    Claim("A killed run ends with the weights of an undisturbed run", "kill_resume", _killed),
    Claim("Tokens per label, for disfluent utterances", "label_tokens", _tokens),
    Claim("Damaged labels of real utterances decode to CHAT that passes the check", "damaged_labels", _damaged),
    Claim("The tests detect mutations of the code that reads and scores disfluencies", "mutation", _mutation),
    Claim("Speedup of packing and trimming over padding", "padding", _padding),
    Claim("A recording of hours needs no more memory than one of minutes", "long_recording", _long),
    Claim(
        "Three hours with 5,000 utterances on the review page (machine under full load)", "review_scale", _review_scale
    ),
    Claim(
        "Errors corrected against time spent: doubtful first, or from start to end",
        "review_time",
        _review_time,
        (("docs/check-and-correct.md", "Measured: doubtful first"),),
    ),
    Claim(
        "Effect of the rank of a LoRA on the verbatim WER",
        "lora_rank",
        _rank,
        (("docs/strategy.md", "Measured: LoRA rank"),),
    ),
)


def row(claim: Claim) -> str:
    """Return the table row of a claim."""
    where = ", ".join(f"{page} ({section})" for page, section in claim.places) or "-"
    found = result.last(claim.script)
    if not found:
        last, made = "no result yet", "needs a GPU" if claim.gpu else "-"
    else:
        last, made = claim.summarize(found), f"{found['date']}, {_machine(found)}"
    cells = (claim.statement, where, f"`python -m benchmarks.{claim.script}`", last, made)
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"


def _machine(found: Figures) -> str:
    """Return the GPU, else the CPU; for rows from several machines, all of them."""
    device = found.get("device", "cpu")
    machines = dict.fromkeys(row.get("machine", found["machine"]) for row in found.get("rows", ()))
    return (" and ".join(machines) or found["machine"]) if device == "cpu" else device


def update_page(text: str) -> str:
    """Return the page with an updated table."""
    head = ("| claim | claimed in | measured by | latest result | date, machine |", "|---|---|---|---|---|")
    before, rest = text.split(BEGIN)
    table = "\n".join((*head, *map(row, CLAIMS)))
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(update_page(PAGE.read_text("utf-8")), "utf-8")
