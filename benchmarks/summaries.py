"""The latest result of each benchmark in a few words: the last but one column of the table in benchmarks/README.md."""

from __future__ import annotations

from typing import Any

Figures = dict[str, Any]
"""A file of ``benchmarks/results``."""


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
    parts = []
    for precision in dict.fromkeys(row.get("precision", "fp32") for row in found["rows"]):
        rows = [row for row in found["rows"] if row.get("precision", "fp32") == precision]
        worst = {name: max(row[f"max_abs_{name}_difference"] for row in rows) for name in ("loss", "weight", "logit")}
        figures = ", ".join(f"{name} {value:.1e}" for name, value in worst.items())
        parts.append(f"{len(rows)} runs in {precision}; {figures}")
    return "; ".join(parts)


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


def decoding(found: Figures) -> str:
    return "; ".join(
        f"{suffix}: " + ", ".join(f"{way} {cost['whole']} s and {cost['cut']} s" for way, cost in ways.items())
        for suffix, ways in found["cpu_seconds"].items()
    )


def scoring(found: Figures) -> str:
    return (
        f"{found['files_1000']['utterances']:,} utterances in {found['files_1000']['core_s']} s of one core, "
        f"{found['memory_per_further_file_kb']} kB for each further file; {found['one_file']['utterances']:,} in one "
        f"file in {found['one_file']['core_s']} s and {found['one_file']['peak_memory_mb']:.0f} MB"
    )


def convert(found: Figures) -> str:
    return "; ".join(
        f"{each['from']} to {each['to']}: {each['core_s']} s of one core, {each['peak_memory_mb']} MB"
        for each in found["cases"]
    )


def prepare(found: Figures) -> str:
    most = found["runs"][-1]
    same = "the same bytes" if found["kills"]["same_bytes"] else "OTHER BYTES"
    return f"{most['sessions']:,} sessions: {most['cpu_seconds']} s of CPU time, {most['peak_mb']} MB; killed: {same}"


def damaged(found: Figures) -> str:
    return f"{found['labels']:,} labels, {found['utterances']:,} utterances: {found['rejected']} rejected"


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


def measures(found: Figures) -> str:
    parts = [f"{name}: {each['equal']} of {each['of']} files" for name, each in found["children"].items()]
    same = all(each["ours"] == each["pylangacq"] for each in found["plain"].values())
    plain = f"{'equal' if same else 'NOT EQUAL'} over {found['plain_utterances']} plain utterances"
    return f"{', '.join(parts)}; {plain}; FluCalc: {found['flucalc']['equal']} of {found['flucalc']['of']} counts"


def verdicts(found: Figures) -> str:
    covered = [row["coverage"] for row in found["coverage"] if row["persons"] >= 6]
    alarms = max(row["named"] for row in found["false_alarms"])
    return (
        f"intervals cover {100 * min(covered):.1f} to {100 * max(covered):.1f} % from 6 persons on; verdicts on equal "
        f"systems: at most {100 * alarms:.1f} %; 5 points of WER found in {100 * found['power_5_points']['20']:.0f} % "
        "with 20 recordings"
    )


def long(found: Figures) -> str:
    grown = ", ".join(f"{engine} {megabytes} MB more" for engine, megabytes in found["grown_mb"].items())
    return f"{grown}; {_after_kill(found)}"


def align_long(found: Figures) -> str:
    return f"{found['grown_mb']} MB more; {_after_kill(found)}"


def _after_kill(found: Figures) -> str:
    return f"killed: {'the same bytes' if found['same_bytes_after_kill'] else 'OTHER BYTES'}"


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
        f"{found['saved_edit_ms']['median']} ms, spectrogram tile {found['spectrogram_tile_ms']['median']} ms (largest "
        f"{found['spectrogram_tile_ms']['largest']}), server {found['server_mb']} MB, page {found['page_mb']} MB"
    )


def real_people(found: Figures) -> str:
    return "; ".join(
        f"{system}: word errors {sets['all']['word_errors']} % ({sets['all']['word_errors_without_disfluencies']} % "
        f"without disfluencies, {sets['clean']['word_errors']} % of clean speech), filled pauses F1 "
        f"{sets['all']['filled_pauses_f1']}"
        for system, sets in found["systems"].items()
    )


def speakers(found: Figures) -> str:
    return "; ".join(
        f"{name}: {each['auto']:.0%} of the speech has the wrong voice, {each['known_number']:.0%} if their number is "
        f"given, {each['one_voice']:.0%} if all is one voice; number right in {each['right_number']} of "
        f"{each['recordings']}"
        for name, each in found["sets"].items()
    )


def stochastic_rounding(found: Figures) -> str:
    far = found["distance"]
    return (
        f"{found['seeds']} seeds: {far['mean']:.4f} of the distance of fp32 ({far['least']:.3f} to {far['most']:.3f}); "
        f"rounded to the nearest {found['distance_rounded_to_nearest']:.3f}"
    )


def doubt_flags(found: Figures) -> str:
    return "; ".join(
        f"{name}: {100 * each['flagged']:.0f} % of {each['words']} words flagged, {each['wrong']} wrong, recall "
        f"{each['recall']}, precision {each['precision']}"
        for name, each in found["sets"].items()
    )


def review_time(found: Figures) -> str:
    return "; ".join(
        f"{name}: {100 * points['50%']['errors_corrected']:.0f} % of the errors in half of the time"
        for name, points in found["orders"].items()
    )
