"""What an evaluation says, in sentences: which system is better, what each finds and misses, and how far to trust it.

Every sentence is made from counts and intervals. A system is called better only where :class:`.differences.Difference`
calls it so in the one metric that decides; a class with fewer than :data:`~lsa_whisper.scoring.bootstrap.MIN_EVENTS`
events in the reference is named as too rare to judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation.differences import CLASS_METRICS, ENOUGH_UNITS, MAIN_METRICS, Difference
from lsa_whisper.evaluation.material import Material
from lsa_whisper.page.language import gettext, in_sentence, page_number
from lsa_whisper.page.terms import class_name
from lsa_whisper.page.text import join_with_and, page_counted
from lsa_whisper.scoring.bootstrap import MIN_EVENTS, MIN_UNITS
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.metrics import Metric
from lsa_whisper.scoring.system import System

_MAX_SYSTEMS = 3
"""With more systems, only the one with the best value is compared with the others."""
_NOTABLE_FALSE_ALARMS, _NOTABLE_SHARE = 3, 0.1


def verdict(systems: Sequence[System], differences: Sequence[Difference], material: Material) -> list[str]:
    """Return paragraphs of plain sentences: the comparison, one paragraph per system, and the size of the sample."""
    if not systems[0].word_errors_verbatim.reference_words:
        return [gettext("The references have no words, so nothing can be scored."), *_sample(systems, material)]
    summary = comparison(systems, differences, material)
    details = [" ".join(_system(system, material)) for system in systems]
    sample = " ".join(_sample(systems, material))
    return [*([summary] if summary else []), *details, sample]


def comparison(systems: Sequence[System], differences: Sequence[Difference], material: Material) -> str:
    """Return how the systems compare in the metric that decides; empty for a single one."""
    return " ".join(_comparison(systems, differences, material)) if len(systems) > 1 else ""


def _comparison(systems: Sequence[System], differences: Sequence[Difference], material: Material) -> Iterator[str]:
    deciding = [d for d in differences if d.decides]
    if len(systems) > _MAX_SYSTEMS and deciding:
        best = _best(systems, deciding[0].metric)
        yield gettext(_HAS_BEST.get(deciding[0].metric.key, "{system} has the best value.")).format(system=best)
        deciding = [d for d in deciding if best in (d.first, d.second)]
    same = gettext("{first} and {second} score the same.")
    yield from (same.format(first=d.first, second=d.second) for d in deciding if _same(d, differences))
    deciding = [d for d in deciding if not _same(d, differences)]
    if deciding and all(d.p is None for d in deciding):
        too_few = gettext("{recordings} cannot show which system is better: at least {n} are needed.")
        yield too_few.format(recordings=_units(material), n=ENOUGH_UNITS)
        return
    better = gettext("{better} is better than {worse}: {rate}.")
    yield from (better.format(better=d.better, worse=d.worse(d.better), rate=_rate(d)) for d in deciding if d.better)
    equal = [d for d in deciding if not d.better]
    pairs = [[d.first, d.second] for d in equal]
    if len(equal) > 1 and len(equal) == len(deciding):
        pairs = [list(dict.fromkeys(name for pair in pairs for name in pair))]
    subject = _subject(equal[0].metric) if equal else ""
    draw = gettext("These {recordings} show no difference between {systems} beyond chance in {subject}.")
    recordings = _units(material)
    yield from (draw.format(recordings=recordings, systems=join_with_and(pair), subject=subject) for pair in pairs)


def _subject(metric: Metric) -> str:
    return gettext(_SUBJECTS[metric.key]) if metric.key in _SUBJECTS else in_sentence(gettext(metric.title))


def _best(systems: Sequence[System], metric: Metric) -> str:
    sign = 1 if metric.lower_is_better else -1
    worst = float("inf")
    return min(systems, key=lambda system: worst if (value := system.value(metric)) is None else sign * value).name


def _same(difference: Difference, differences: Sequence[Difference]) -> bool:
    """Return whether two systems have the same values in the main metrics and in all classes."""
    keys = {metric.key for metric in (*MAIN_METRICS, *CLASS_METRICS)} | {difference.metric.key}
    pair = [
        d for d in differences if (d.first, d.second) == (difference.first, difference.second) and d.metric.key in keys
    ]
    return not any(d.difference for d in pair)


def _units(material: Material) -> str:
    recordings = page_counted(material.recordings, "recording")
    if material.persons is None:
        return recordings
    return gettext("{recordings} of {persons}").format(
        recordings=recordings, persons=page_counted(material.persons, "person")
    )


def _rate(d: Difference) -> str:
    better, worse = (
        page_number(f"{100 * value:.1f}") for value in sorted(d.values, reverse=not d.metric.lower_is_better)
    )
    if d.metric.key in _PER_100:
        return gettext(_PER_100[d.metric.key]).format(better=better, worse=worse)
    return gettext("{metric} {better} instead of {worse} % ({abbreviation})").format(
        metric=in_sentence(gettext(d.metric.title)), better=better, worse=worse, abbreviation=d.metric.abbreviation
    )


_PER_100 = {
    "wer_verbatim": "{better} instead of {worse} word errors per 100 spoken words",
    "wer_fluent": "{better} instead of {worse} word errors per 100 words without disfluencies",
}
_SUBJECTS = {
    "wer_verbatim": "words",
    "wer_fluent": "words without disfluencies",
    "disfluency_f1": "the disfluencies detected",
}
_HAS_BEST = {
    "wer_verbatim": "{system} has the fewest word errors.",
    "disfluency_f1": "{system} has the best F1 of disfluencies.",
}


def _system(system: System, material: Material) -> Iterator[str]:
    """Yield what one system got right, what it missed, and what it made up."""
    errors, together = system.word_errors_verbatim, system.disfluency.together
    words = page_counted(errors.reference_words, material.unit)
    if not errors.hits + errors.substitutions + errors.insertions:
        yield gettext("{system} wrote no words: all {words} are missing.").format(system=system.name, words=words)
        return
    if not errors.errors and not (together.false_positives + together.false_negatives + together.not_scored):
        disfluencies = page_counted(together.true_positives, "disfluency")
        perfect = gettext("{system} makes no error in {words} and finds all {disfluencies}.")
        perfect = perfect if together.true_positives else gettext("{system} makes no error in {words}.")
        yield perfect.format(system=system.name, words=words, disfluencies=disfluencies)
        return
    rate, spoken = 100 * (errors.rate or 0), gettext("spoken " + material.unit + "s")
    makes = gettext("{system} makes {rate:.1f} errors per 100 {spoken} ({errors:,} in {words}).")
    yield makes.format(system=system.name, rate=rate, spoken=spoken, errors=errors.errors, words=words)
    yield from _other_language(system, material)
    if system.missing:
        missing = gettext("It has no transcript of {recordings}; all their words count as missed.")
        yield missing.format(recordings=page_counted(len(system.missing), "recording"))
    yield from _classes(system)


def _other_language(system: System, material: Material) -> Iterator[str]:
    languages = material.written_in.get(system.name, {})
    if languages and material.languages and not languages.keys() & material.languages.keys():
        here, there = join_with_and(list(languages)), join_with_and(list(material.languages))
        yield gettext(
            "Its transcripts are marked as another language ({here}) than the references ({there}): the errors may "
            "come from that alone."
        ).format(here=here, there=there)


def _classes(system: System) -> Iterator[str]:
    """Yield what a system found, missed, made up and cannot write, the most frequent class first."""
    by_class = system.disfluency.by_class
    kinds = sorted((k for k in by_class if by_class[k].reference_events), key=lambda k: -by_class[k].reference_events)
    scored = [(kind, by_class[kind]) for kind in kinds if not by_class[kind].not_scored]
    well_found = [_found(kind, d) for kind, d in scored if (d.recall or 0) >= 0.5]
    if well_found:
        yield gettext("It finds {classes}.").format(classes=join_with_and(well_found))
    all_missed = [_all(kind, d.reference_events) for kind, d in scored if not d.true_positives]
    most = gettext("most {classes} ({found} of {n:,} found)")
    few = [
        most.format(classes=class_name(kind), found=d.true_positives, n=d.reference_events)
        for kind, d in scored
        if d.true_positives and (d.recall or 0) < 0.5
    ]
    if all_missed or few:
        yield gettext("It misses {classes}.").format(classes=join_with_and([*all_missed, *few]))
    extra = [_number(kind, d.false_positives) for kind, d in by_class.items() if _is_notable(d)]
    if extra:
        yield gettext("It writes {classes} that were not spoken.").format(classes=join_with_and(extra))
    unsupported = [kind for kind in kinds if by_class[kind].not_scored]
    if other := [_number(kind, by_class[kind].not_scored) for kind in unsupported if kind not in system.left_out]:
        yield gettext("It does not write {classes}: not scored.").format(classes=join_with_and(other))
    if gaps := [_number(kind, by_class[kind].not_scored) for kind in unsupported if kind in system.left_out]:
        not_written = gettext("This model does not write {classes}, so no total of disfluencies is given.")
        yield not_written.format(classes=join_with_and(gaps))


def _is_notable(d: Detections) -> bool:
    return d.false_positives >= max(_NOTABLE_FALSE_ALARMS, _NOTABLE_SHARE * d.hypothesis_events)


def _found(kind: Disfluency, d: Detections) -> str:
    if d.true_positives == d.reference_events:
        return _all(kind, d.reference_events)
    events = _number(kind, d.reference_events)
    return gettext("{n:,} of {classes}").format(n=d.true_positives, classes=events)


def _all(kind: Disfluency, count: int) -> str:
    few = {1: gettext("the only {classes}"), 2: gettext("both {classes}")}
    text = few.get(count) or gettext("all {n:,} {classes}")
    return text.format(n=count, classes=class_name(kind, count))


def _number(kind: Disfluency, count: int) -> str:
    return f"{count:,} {class_name(kind, count)}"


def _sample(systems: Sequence[System], material: Material) -> Iterator[str]:
    """Yield the size of the sample, and what it is too small for."""
    words = systems[0].word_errors_verbatim.reference_words
    speakers = [] if material.speakers is None else [page_counted(material.speakers, "speaker")]
    recordings = page_counted(material.recordings, "recording")
    size = ", ".join([recordings, *speakers, page_counted(words, f"spoken {material.unit}")])
    yield gettext("The sample: {size}.").format(size=size)
    if material.recordings == 1:
        yield gettext("One recording shows nothing about others.")
    elif (material.persons or material.recordings) < MIN_UNITS:
        if material.persons is None:
            few = gettext("From fewer than {n} recordings, no confidence interval can be given.")
            yield few.format(n=MIN_UNITS)
        else:
            samples = page_counted(material.persons, "independent sample")
            few = gettext("By the persons studied they are {samples}; fewer than {n} give no confidence interval.")
            yield few.format(samples=samples, n=MIN_UNITS)
    rare = [kind for kind, d in systems[0].disfluency.by_class.items() if 0 < d.reference_events < MIN_EVENTS]
    if rare:
        too_few = gettext("Fewer than {n} in the references, too few to judge: {classes}.")
        yield too_few.format(n=MIN_EVENTS, classes=join_with_and([*map(class_name, rare)]))
