"""The latest result of each benchmark in a few words: the last but one column of the table in benchmarks/README.md."""

from __future__ import annotations

from typing import Any

Figures = dict[str, Any]
"""A file of ``benchmarks/results``."""


def demo(found: Figures) -> str:
    def percent(system: Figures, key: str) -> str:
        value = system[key]["value"]
        return "-" if value is None else f"{100 * value:.1f} %"

    return "; ".join(
        f"{each['system']}: {percent(each, 'wer_verbatim')} verbatim WER, F1 of disfluencies "
        f"{percent(each, 'disfluency_f1')}"
        for each in found["systems"]
    )


def alignment_loss(found: Figures) -> str:
    def mean(weight: float, limit: str) -> float:
        shares = [each["share_within_ms"][limit] for each in found["systems"] if each["weight"] == weight]
        return 100 * sum(shares) / len(shares)

    weights = sorted({each["weight"] for each in found["systems"]})
    return "; ".join(
        f"weight {weight:g}: {mean(weight, '50'):.1f} % within 50 ms, {mean(weight, '200'):.1f} % within 200 ms"
        for weight in weights
    )


def spliced(found: Figures) -> str:
    def mean(how: str, kind: str) -> str:
        scores = [each["classes"][kind]["f1"] for each in found["rare"] if f" {how} " in each["system"]]
        return f"{sum(score or 0.0 for score in scores) / len(scores):.2f}"

    kinds = list(found["rare"][0]["classes"])
    return "; ".join(f"{kind} {mean('without', kind)} -> {mean('with', kind)}" for kind in kinds)


def merged(found: Figures) -> str:
    def percent(scores: Figures, key: str) -> str:
        return f"{100 * scores[key]['value']:.1f} %"

    return "; ".join(
        f"{each['system']}: verbatim WER {percent(each['in_domain'], 'wer_verbatim')}, F1 of disfluencies "
        f"{percent(each['in_domain'], 'disfluency_f1')}, out of domain WER "
        f"{percent(each['out_of_domain'], 'wer_verbatim')}"
        for each in found["systems"]
    )


def steps(found: Figures) -> str:
    return "; ".join(
        f"transformers {version}, {name}: {', '.join(f'{loss:.3f}' for loss in losses)}"
        for version, runs in found["losses"].items()
        for name, losses in runs.items()
    )


def killed(found: Figures) -> str:
    return (
        f"{found['kills']} kills in {found['steps']} steps: weights differ by "
        f"{found['max_abs_weight_difference']:.1e}, {found['began_again']} of {found['starts_with_a_checkpoint']} "
        f"restarts began again, at most {found['most_steps_lost']} steps lost"
    )


def parity(found: Figures) -> str:
    worst = {
        name: max(row[f"max_abs_{name}_difference"] for row in found["rows"]) for name in ("loss", "weight", "logit")
    }
    return f"{len(found['rows'])} runs; " + ", ".join(f"{name} {value:.1e}" for name, value in worst.items())


def memory(found: Figures) -> str:
    return "; ".join(
        f"{row['size']}, {row['case']}: planned {row['planned_gib']}, "
        + (f"measured {row['measured_gib']} GiB" if "measured_gib" in row else "failed")
        for row in found["rows"]
    )


def loading(found: Figures) -> str:
    return "; ".join(
        f"{row['size']}, {row['adapter']}: peak {row['peak_gib']:.2f} GiB, one copy {row['one_copy_gib']:.2f} GiB"
        for row in found["rows"]
    )


def missed(found: Figures) -> str:
    def recalls(deleted: Figures) -> str:
        return ", ".join(f"{each['recall']:.0%}".replace("%", " %") for each in deleted.values())

    timed = found["with_word_times"]
    rates = [each["false_alarms_per_minute"] for each in timed.values()]
    return (
        f"1, 2, 3 and 5 deleted words: {recalls(timed)} with word times ({min(rates)} to {max(rates)} other places a "
        f"minute), {recalls(found['without_word_times'])} without (SYNTHETIC speech)"
    )


def words_in_time(found: Figures) -> str:
    def shares(row: Figures) -> str:
        return ", ".join(f"{100 * share:.0f} % within {ms} ms" for ms, share in row["share_within_ms"].items())

    return "; ".join(f"{row['model']} on {row['data']}: {shares(row)}" for row in found["rows"])


def aligned(found: Figures) -> str:
    def shares(methods: Figures) -> str:
        within = {name: methods[name]["share_within_ms"] for name in ("align", "transcribe and match", "uniform")}
        return ", ".join(
            f"{name} {each['50']:.0%} / {each['200']:.0%}".replace("%", " %") for name, each in within.items()
        )

    return "; ".join(f"{name}: {shares(each['methods'])}" for name, each in found["folders"].items()) + (
        " (within 50 / 200 ms)"
    )


def chat(found: Figures) -> str:
    speeds = found["utterances_per_second_and_core"]
    return ", ".join(f"{name} {speed:,} utterances/s" for name, speed in speeds.items())


def scoring(found: Figures) -> str:
    return (
        f"{found['files_1000']['utterances']:,} utterances in {found['files_1000']['wall_s']} s, "
        f"{found['memory_per_further_file_kb']} kB for each further file"
    )


def prepare(found: Figures) -> str:
    most = found["runs"][-1]
    same = "the same bytes" if found["kills"]["same_bytes"] else "OTHER BYTES"
    return f"{most['sessions']:,} sessions: {most['cpu_seconds']} s of CPU time, {most['peak_mb']} MB; killed: {same}"


def tokens(found: Figures) -> str:
    kinds = next(iter(found["tokens_per_utterance"].values()))["disfluent"]
    return ", ".join(f"{name} {kinds[name]['ratio']}" for name in ("chat/4", "chat/1", "verbatim")) + " x bare words"


def damaged(found: Figures) -> str:
    return f"{found['labels']:,} labels, {found['utterances']:,} utterances: {found['rejected']} rejected"


def padding(found: Figures) -> str:
    return ", ".join(f"{name}: x{variant['times_the_first']}" for name, variant in found["variants"].items())


def gpu(found: Figures) -> str:
    return "; ".join(f"{case}: {_of_case(figures)}" for case, figures in found["cases"].items())


def _of_case(figures: Figures) -> str:
    """Return the figures of the largest batch that ran, else those of the case, else its state."""
    if "audio_s_per_s" in figures:
        return f"x{figures['audio_s_per_s']} real time"
    if "largest_difference" in figures and isinstance(figures["largest_difference"], dict):
        return ", ".join(f"{name} differs by {value:.1e}" for name, value in figures["largest_difference"].items())
    sizes = [name for name in figures if name.startswith("batch ") and "failed" not in figures[name]]
    if not sizes:
        return str(figures.get("state", "failed"))
    largest = figures[sizes[-1]]
    if "samples_per_s" in largest:
        memory = f", {largest['gpu_gib']} GiB (planned {largest['planned_gpu_gib']})" if "gpu_gib" in largest else ""
        return f"{sizes[-1]}, {largest['samples_per_s']} windows/s{memory}"
    factors = {name: each["real_time_factor"] for name, each in largest.items() if "real_time_factor" in each}
    return f"{sizes[-1]}, " + ", ".join(f"{name} x{factor}" for name, factor in factors.items())


def speed(found: Figures) -> str:
    return "; ".join(
        f"{size}: " + ", ".join(f"{name} x{speed['clock']}" for name, speed in programs.items())
        for size, programs in found["seconds_of_sound_per_second"].items()
    )


def profile(found: Figures) -> str:
    def shares(parts: Figures) -> str:
        return ", ".join(
            f"{part} {seconds / parts['all']:.0%}".replace("%", " %")
            for part, seconds in parts.items()
            if part != "all"
        )

    return "; ".join(
        f"{size} {inputs} ({parts['all']} s): {shares(parts)}"
        for size, runs in found["processor_seconds"].items()
        for inputs, parts in runs.items()
    )


def trimmed(found: Figures) -> str:
    return "; ".join(
        f"{model}, {engine}: {100 * rates['whole']['wer_verbatim']:.2f} % whole, "
        f"{100 * rates['trimmed']['wer_verbatim']:.2f} % trimmed"
        for model, engines in found["models"].items()
        for engine, rates in engines.items()
        if engine != "margin_s"
    )


def real_speech(found: Figures) -> str:
    def errors(sets: Figures) -> str:
        return ", ".join(f"{name} {100 * score['errors'] / score['words']:.1f} %" for name, score in sets.items())

    return "; ".join(
        f"{program}, {task}: {errors(sets)}; invented passages {sum(s['invented_passages'] for s in sets.values())}"
        for program, tasks in found["scores"].items()
        if isinstance(tasks, dict)
        for task, sets in tasks.items()
    )


def peers(found: Figures) -> str:
    return "; ".join(
        f"{model}: "
        + ", ".join(
            f"{name} {100 * one['wer_verbatim']['value']:.1f} %"
            for name, one in judged["programs"].items()
            if "failed" not in one
        )
        for model, judged in found["models"].items()
    )


def measures(found: Figures) -> str:
    parts = [f"{name}: {each['equal']} of {each['of']} files" for name, each in found["children"].items()]
    same = all(each["ours"] == each["pylangacq"] for each in found["plain"].values())
    plain = f"{'equal' if same else 'NOT EQUAL'} over {found['plain_utterances']} plain utterances"
    return f"{', '.join(parts)}; {plain}; FluCalc: {found['flucalc']['equal']} of {found['flucalc']['of']} counts"


def long(found: Figures) -> str:
    same = "the same bytes" if found["same_bytes_after_kill"] else "OTHER BYTES"
    return f"{found['grown_mb']} MB more; killed: {same}"


def rank(found: Figures) -> str:
    key = "eval_out_of_domain_wer_verbatim"
    return ", ".join(f"{each['rank']}: {each[key]['mean']:.1%}".replace("%", " %") for each in found["chosen"])


def fuzz(found: Figures) -> str:
    return f"{found['texts']:,} texts in {found['minutes']} minutes on a busy machine, no traceback"


def mutation(found: Figures) -> str:
    def detected(each: Figures) -> str:
        tried = each["changes"] - each["not_tried"]
        return f"{each['noticed_percent']} % of {tried} (of {each['changes']})"

    return "; ".join(f"{path.removeprefix('lsa_whisper/')}: {detected(each)}" for path, each in found["files"].items())


def review_scale(found: Figures) -> str:
    keys = found["keystroke_ms"]
    return (
        f"opened in {found['opening_s']} s, keystroke {keys['median']} ms (largest {keys['largest']}), saved edit "
        f"{found['saved_edit_ms']['median']} ms, server {found['server_mb']} MB, page {found['page_mb']} MB"
    )


def review_time(found: Figures) -> str:
    return "; ".join(
        f"{name}: {100 * points['50%']['errors_corrected']:.0f} % of the errors in half of the time"
        for name, points in found["orders"].items()
    )


def model_retraces(found: Figures) -> str:
    def revisions(kind: str) -> str:
        counts = [model[kind]["revision"] for model in found["models"]]
        hits, extra, missed = (sum(one[key] for one in counts) for key in ("found", "invented", "missed"))
        return f"{kind}: {hits} of {hits + missed} revisions found, {extra} invented"

    return "; ".join(map(revisions, ("written", "shipped tagger", "own tagger")))


def retraces(found: Figures) -> str:
    def scores(each: Figures) -> str:
        return f"F1 {each['f1']:.2f}, precision {each['precision']:.2f}, recall {each['recall']:.2f}"

    return f"rules: {scores(found['rules'])}; `mark`: {scores(found['marks'])}"


def verbatimize(found: Figures) -> str:
    def scores(each: Figures) -> str:
        free, ours = (100 * each[name]["f1"] for name in ("free_transcription", "verbatimized"))
        return (
            f"F1 {free:.1f} % free, {ours:.1f} % verbatimized, {100 * each['words_unchanged']:.0f} % of words unchanged"
        )

    return "; ".join(f"{name}: {scores(each)}" for name, each in found["models"].items())
