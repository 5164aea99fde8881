"""Values of a recipe: limits, written into the types of fields; how messages show them; how two recipes differ."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """The range of a number; not a number and infinity are in none.

    >>> list(Range(least=0, below=1).problems(1.5)), list(Range(least=1).problems(0)), list(Range(above=0).problems(2))
    (['must be at least 0 and below 1, not 1.5'], ['must be 1 or more, not 0'], [])
    """

    least: float | None = None
    above: float | None = None
    below: float | None = None
    most: float | None = None

    def problems(self, number: float) -> Iterator[str]:
        """Yield what is wrong with ``number``, nothing if it is within the range."""
        inside = (
            math.isfinite(number)
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.most is None or number <= self.most)
        )
        if not inside:
            yield f"must be {self}, not {number:g}"

    def __str__(self) -> str:
        if self.least is not None and self.most is not None:
            return f"between {self.least:g} and {self.most:.10g}"
        if self.least is not None and self.below is not None:
            return f"at least {self.least:g} and below {self.below:g}"
        if self.least is not None:
            return f"{self.least:g} or more"
        return f"more than {self.above:g}" if self.above is not None else f"at most {self.most:g}"


class TranscribeOnly:
    """The one task that is supported, with a reason why ``translate`` is not."""

    def problems(self, value: Any) -> Iterator[str]:
        """Yield what is wrong with ``value``, nothing if it is ``transcribe``."""
        if value == "translate":
            yield (
                "translate is not supported: labels made from CHAT are transcripts in the language that was spoken, "
                "and Whisper's translations have no disfluencies; leave it out"
            )
        elif value != "transcribe":
            yield f"must be transcribe, not {value!r}"

    def __repr__(self) -> str:
        return "transcribe"


class OneOf:
    """The values that a field accepts.

    >>> list(OneOf("none", "cpu").problems("disk"))
    ["must be one of none, cpu, not 'disk'"]
    """

    def __init__(self, *values: str, of: Collection[str] | None = None):
        """Accept ``values``, or what ``of`` has whenever it is asked: a registry may grow."""
        self.values = values if of is None else of

    def problems(self, value: Any) -> Iterator[str]:
        """Yield what is wrong with ``value``, nothing if it is one of them."""
        if value not in self.values:
            yield f"must be one of {', '.join(self.values)}, not {value!r}"

    def __repr__(self) -> str:
        return f"OneOf{tuple(self.values)!r}"


TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text", dict: "a mapping of keys"}
"""How messages name the type of a value."""


def similar_name(name: object, names: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to a misspelled one, ``None`` if none is.

    >>> similar_name("learning_rat", ["learning_rate", "max_steps"])
    'learning_rate'
    """
    return next(iter(difflib.get_close_matches(str(name), list(names), n=1, cutoff=cutoff)), None)


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return the question whether the known name that is most similar was meant, for the end of a message.

    >>> did_you_mean("larg-v3", ["large-v3", "tiny"]), did_you_mean("dog", ["large-v3", "tiny"])
    (" (did you mean 'large-v3'?)", '')
    """
    similar = similar_name(name, names)
    return f" (did you mean {similar!r}?)" if similar else ""


def shorten(raw: Any) -> str:
    """Return the beginning of ``raw``'s representation, for messages."""
    text = repr(raw)
    return text if len(text) <= 80 else f"{text[:77]}..."


def number_of(raw: Any) -> Any:
    """Return text such as ``1e-5`` as a number, anything else unchanged; YAML parses such numbers as text."""
    if isinstance(raw, str):
        try:
            return float(raw)
        except ValueError:
            return raw
    return raw


def flat(settings: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value in nested mappings with its dotted key.

    >>> list(flat({"strategy": "zero3", "offload": {"optimizer": "cpu"}}))
    [('strategy', 'zero3'), ('offload.optimizer', 'cpu')]
    """
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value


def changed_values(section: Any) -> dict[str, Any]:
    """Return the values of a section of a recipe that differ from its defaults."""
    plain = type(section)()
    return {key: value for key, value in vars(section).items() if value != getattr(plain, key)}


Changes = dict[str, tuple[Any, Any]]
"""The former and the present value of each key that differs."""
_LISTED = 6
"""Changes that a message names."""

HARMLESS = frozenset(
    (
        "out",
        "data.train",
        "data.workers",
        "auto_micro_batch",
        "strategy",
        "tensor_parallel",
        "pipeline.schedule",
        "pipeline.micro_batches",
        "fsdp.sharding_strategy",
        "fsdp.cpu_ram_efficient_loading",
        "offload.nvme_path",
        "evaluation.batch_size",
        "evaluation.samples",
        "evaluation.trackers",
        "evaluation.plot",
        "training.per_device_train_batch_size",
        "training.gradient_accumulation_steps",
        "training.gradient_checkpointing",
        "training.use_cpu",
        "training.logging_steps",
        "training.save_strategy",
        "training.save_steps",
        "training.save_total_limit",
    )
)
"""Settings that do not change what is trained, only where, how fast and with what logs. A resumed run also compares the
contents of the manifest, the kind of its strategy and the number of windows in an optimizer step."""


def changes(before: Mapping[str, Any], now: Mapping[str, Any], *, besides: Collection[str] = ()) -> Changes:
    """Return the keys in which two recipes differ, with both values; ``None`` where a recipe does not have the key.

    Both are from :func:`~lsa_whisper.finetuning.recipe.schema.recipe_values`; keys in ``besides`` are not compared.

    >>> changes({"adapter": {"rank": 16}, "seed": 1}, {"adapter": {"rank": 32}, "seed": 2}, besides=["seed"])
    {'adapter.rank': (16, 32)}
    """
    old, new = dict(flat(before)), dict(flat(now))
    return {
        key: (old.get(key), new.get(key))
        for key in {**old, **new}
        if key not in besides and old.get(key) != new.get(key)
    }


def describe_changes(differences: Changes) -> str:
    """Return changes as part of a sentence.

    >>> describe_changes({"seed": (1, 2), "training.learning_rate": (1e-5, 0.001)})
    'seed 1, not 2, and training.learning_rate 1e-05, not 0.001'
    """
    texts = {key: f"{key} {before!r}, not {now!r}" for key, (before, now) in differences.items()}
    if None in (rank := differences.get("adapter.rank", (0, 0))):
        others = {key: text for key, text in texts.items() if not key.startswith("adapter.")}
        texts = {"adapter": "no adapter, not with one" if rank[0] is None else "an adapter, not without", **others}
    parts = list(texts.values())[:_LISTED]
    parts += [f"{len(texts) - _LISTED} other settings"] if len(texts) > _LISTED else []
    return ", and ".join(parts)
