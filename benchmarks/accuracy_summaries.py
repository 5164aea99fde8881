"""The latest results of the benchmarks of accuracy in a few words, for the table in benchmarks/README.md."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.summaries import Figures
from lsa_whisper.preparation.relabelling import MIN_PROBABILITY


def demo(found: Figures) -> str:
    def percent(system: Figures, key: str) -> str:
        value = system[key]["value"]
        return "-" if value is None else f"{100 * value:.1f} %"

    return "; ".join(
        f"{each['system']}: {percent(each, 'wer_verbatim')} verbatim WER, F1 of disfluencies "
        f"{percent(each, 'disfluency_f1')}"
        for each in found["systems"]
    )


def learning_curve(found: Figures) -> str:
    def mean(speech: str, kind: str) -> str:
        scores = [each["classes"][kind]["f1"] for each in found["rare"] if f", {speech}, " in each["system"]]
        return f"{sum(score or 0.0 for score in scores) / len(scores):.2f}"

    kinds = list(found["rare"][0]["classes"])
    speeches = {", ".join(each["system"].split(", ")[1:3]) for each in found["rare"]}  # such as "8 h, splice 1"
    in_order = sorted(speeches, key=lambda speech: [float(word) for word in speech.split() if word[0].isdigit()])
    return "; ".join(f"{speech}: {', '.join(f'{kind} {mean(speech, kind)}' for kind in kinds)}" for speech in in_order)


def sign_after_repair(found: Figures) -> str:
    return "; ".join(
        f"{name}: F1 of revisions {each['revision_f1']:.2f}, of all classes {each['disfluency_f1']:.2f}, "
        f"verbatim WER {100 * each['wer_verbatim']:.1f} %"
        for name, each in found["means"].items()
    )


def alignment_loss(found: Figures) -> str:
    def change(adaptation: str, key: str) -> str:
        own = {each["loss"]: each[key] for each in found["means"] if each["adaptation"] == adaptation}
        return f"{100 * own['without']:.1f} -> {100 * own['with']:.1f} %"

    return "; ".join(
        f"{adaptation}, weight 0 -> {weight:g}: {change(adaptation, 'within_50_ms')} within 50 ms, "
        f"verbatim WER {change(adaptation, 'wer_verbatim')}"
        for adaptation, weight in found["weights"].items()
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
    def shares(times: Figures) -> str:
        return " / ".join(f"{100 * share:.0f}" for share in times["share_within_ms"].values())

    rows = [
        f"{row['model']} ({row['engine']}) on {row['data']}: words {shares(row)} % (ends {shares(row['ends'])}), "
        f"utterances {shares(row['utterance_starts'])} % (ends {shares(row['utterance_ends'])})"
        for row in found["rows"]
    ]
    return "; ".join(rows) + " (words within 20 / 50 / 100 / 200 ms, utterances within 200 / 500 / 1000 ms)"


def aligned(found: Figures) -> str:
    def shares(methods: Figures) -> str:
        within = {name: methods[name]["share_within_ms"] for name in ("align", "transcribe and match", "uniform")}
        return ", ".join(
            f"{name} {each['50']:.0%} / {each['200']:.0%}".replace("%", " %") for name, each in within.items()
        )

    return "; ".join(f"{name}: {shares(each['methods'])}" for name, each in found["folders"].items()) + (
        " (within 50 / 200 ms)"
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


def rank(found: Figures) -> str:
    key = "eval_out_of_domain_wer_verbatim"
    return ", ".join(f"{each['rank']}: {each[key]['mean']:.1%}".replace("%", " %") for each in found["chosen"])


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

    def of_meetings(name: str, each: Figures) -> str:
        right, missed, wrong = each["verbatimized"]["counts"]["filled_pause"]
        return f"{name} on real meetings: {right} of {right + missed} filled pauses, {wrong} invented"

    def added(kind: str, part: Figures) -> str:
        right, missed, wrong = (sum(counts) for counts in zip(*(each[kind] for each in part), strict=True))
        return f"{right} of {right + missed} {kind.replace('_', ' ')}s, {wrong} invented"

    def relabelled(name: str, part: Iterable[Figures], speech: str) -> str:
        rows = [each[str(MIN_PROBABILITY)] for each in part]
        kinds = ", ".join(added(kind, rows) for kind in ("filled_pause", "repetition"))
        return f"{name}, relabelled {speech} speech: {kinds}"

    meetings = [of_meetings(*each) for each in found.get("meetings", {}).items()]
    real = [relabelled(name, each.values(), "real") for name, each in found.get("relabel_real", {}).items()]
    own = [relabelled(name, [each], "synthetic") for name, each in found.get("relabel_synthetic", {}).items()]
    return "; ".join([*(f"{name}: {scores(each)}" for name, each in found["models"].items()), *meetings, *real, *own])


def invented(found: Figures) -> str:
    def around(system: Figures) -> str:
        errors = system["errors_around"]
        return f"{sum(errors.values()) / len(errors):.1f} word errors around a sound"

    return "; ".join(
        f"{name}: {each['invented_utterances']} invented utterances, {around(each)}"
        for name, each in found["systems"].items()
    )


def repeated(found: Figures) -> str:
    def decoded(system: Figures | str) -> str:
        if isinstance(system, str):
            return "not installed"
        return f"{system['kept']} kept, {system['invented']} added, {system['words_in_sounds']} words in sounds"

    rules = [f"{name}: {each['kept']} of {each['said']} kept" for name, each in found["rules"].items()]
    systems = [f"{name}, decoded: {decoded(each)}" for name, each in found["systems"].items()]
    return "; ".join((*rules, *systems))
