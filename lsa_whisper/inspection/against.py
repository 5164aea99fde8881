"""A language sample beside the user's own reference samples, as percentiles.

Conventions:

- Reference speakers have the role of the speaker, and an age in the same band where ``@ID`` gives the speaker's age
  (:func:`lsa_whisper.scoring.groups.age_band`). The sample itself, where it lies in the folder, is left out.
- Percentile: the share of reference speakers with a lower value, and half of those with the same one.
- Fewer than :data:`MIN_REFERENCES` speakers with a value give no percentile.
- Only measures that do not grow with the length of the sample are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lsa_whisper.chat import Transcript
from lsa_whisper.corpus import list_transcripts
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection.left_out import banner_lines
from lsa_whisper.inspection.measure_names import measure_cell, measure_name
from lsa_whisper.inspection.measures import measure_speakers
from lsa_whisper.inspection.text_output import as_json
from lsa_whisper.inspection.transcript_report import readable_transcripts
from lsa_whisper.scoring.groups import age_band, speaker_role
from lsa_whisper.system.terminal import TerminalTable, render_text

MIN_REFERENCES = 5
"""With fewer, a percentile moves by more than 20 points with each speaker."""
COMPARED = (
    "mlu_words", "mlu_morphemes", "ndw_100", "mattr", "vocd", "vocd_word_forms", "maze_share", "words_per_minute",
    "utterances_per_minute", "intelligible_share", "words_per_turn", "grammatical_share", "sld_per_100_words",
    "td_per_100_words", "weighted_sld",
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """The measures of one speaker of one file, and whom they can be compared with."""

    file: str
    code: str
    role: str
    age: str
    """The age band; empty where ``@ID`` gives no age."""
    measures: dict[str, Any]

    def comparable(self, other: Sample) -> bool:
        """Return whether ``other`` may stand as a reference: same role, same age band if this age is known."""
        same_file = Path(self.file).resolve() == Path(other.file).resolve()
        return not same_file and other.role == self.role and (not self.age or other.age == self.age)


def against_report(files: Sequence[Path], references: Path, mode: str, json: bool) -> str:
    """Return the measures of each speaker of ``files`` with their percentiles among the samples in ``references``.

    Raises:
        CorpusError: ``references`` is not a folder with transcripts.
        ChatSyntaxError: No file is readable.
    """
    if not references.is_dir() or not (found := list_transcripts(references)[0]):
        raise CorpusError(f"{references}: no CHAT files to compare with; name a folder of reference samples")
    read, unread = readable_transcripts(files)
    known, unread_references = readable_transcripts(found)
    samples, others = list(_samples(read, mode)), list(_samples(known, mode))
    compared = [(one, [other for other in others if one.comparable(other)]) for one in samples]
    if json:
        return as_json([_as_dict(one, peers) for one, peers in compared])
    first = banner_lines(read)
    tables = [_table(one, peers) for one, peers in compared]
    note = "percentile: share of reference samples below this value; n: reference samples that have one"
    return "\n\n".join([*first, *tables, "\n".join([note, *unread, *unread_references])])


def percentile(value: float, others: Sequence[float]) -> float | None:
    """Return the percentile of ``value`` among ``others``, 0 to 100; ``None`` of too few.

    >>> percentile(3, [1, 2, 3, 4, 5]), percentile(3, [1, 2])
    (50.0, None)
    """
    if len(others) < MIN_REFERENCES:
        return None
    return 100 * sum((other < value) + (other == value) / 2 for other in others) / len(others)


def _samples(transcripts: Iterable[tuple[str, Transcript]], mode: str) -> Iterable[Sample]:
    for file, transcript in transcripts:
        for code, measured in measure_speakers(transcript, mode).items():
            person = transcript.participants.get(code)
            role = speaker_role(code, transcript.participants)
            yield Sample(file, code, role, age_band(person.age if person else ""), measured.as_dict())


def _values(name: str, peers: Sequence[Sample]) -> list[float]:
    return [value for peer in peers if isinstance(value := peer.measures[name], int | float)]


def _as_dict(one: Sample, peers: Sequence[Sample]) -> dict[str, Any]:
    compared = {}
    for name in COMPARED:
        value, values = one.measures[name], _values(name, peers)
        compared[name] = {
            "value": value,
            "percentile": percentile(value, values) if isinstance(value, int | float) else None,
            "n": len(values),
            "median": median(values) if values else None,
        }
    whom = {"file": one.file, "speaker": one.code, "role": one.role, "age_band": one.age}
    return whom | {"reference_samples": len(peers), "measures": compared}


def _table(one: Sample, peers: Sequence[Sample]) -> str:
    rows = []
    for name, found in _as_dict(one, peers)["measures"].items():
        if found["value"] is None:
            continue
        rank = "-" if found["percentile"] is None else f"{found['percentile']:.0f}"
        typical = measure_cell({name: found["median"]}, name)
        rows.append([measure_name(name), measure_cell(one.measures, name), rank, typical, str(found["n"])])
    whom = f"{one.role}{f', {one.age}' if one.age else ', of any age (the sample gives none)'}"
    title = f"{Path(one.file).stem} {one.code} among {len(peers)} reference samples ({whom})"
    if len(peers) < MIN_REFERENCES:
        title += f": too few for percentiles, {MIN_REFERENCES} are needed"
    return render_text(TerminalTable(title, ["", "value", "percentile", "median", "n"], rows))
