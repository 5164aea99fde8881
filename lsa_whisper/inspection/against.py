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
from lsa_whisper.chat.files import list_transcripts
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
    if not references.is_dir() or not (paths := list_transcripts(references)[0]):
        raise CorpusError(f"{references}: no CHAT files to compare with; name a folder of reference samples")
    transcripts, unread = readable_transcripts(files)
    reference_transcripts, unread_references = readable_transcripts(paths)
    samples, reference_samples = list(_samples(transcripts, mode)), list(_samples(reference_transcripts, mode))
    comparisons = [(sample, [peer for peer in reference_samples if sample.comparable(peer)]) for sample in samples]
    if json:
        return as_json([_as_dict(sample, peers) for sample, peers in comparisons])
    first = banner_lines(transcripts)
    tables = [_table(sample, peers) for sample, peers in comparisons]
    note = "percentile: share of reference samples below this value; n: reference samples that have one"
    return "\n\n".join([*first, *tables, "\n".join([note, *unread, *unread_references])])


def percentile(value: float, peers: Sequence[float]) -> float | None:
    """Return the percentile of ``value`` among ``peers``, 0 to 100; ``None`` of too few.

    >>> percentile(3, [1, 2, 3, 4, 5]), percentile(3, [1, 2])
    (50.0, None)
    """
    if len(peers) < MIN_REFERENCES:
        return None
    return 100 * sum((peer < value) + (peer == value) / 2 for peer in peers) / len(peers)


def _samples(transcripts: Iterable[tuple[str, Transcript]], mode: str) -> Iterable[Sample]:
    for file, transcript in transcripts:
        for code, measures in measure_speakers(transcript, mode).items():
            person = transcript.participants.get(code)
            role = speaker_role(code, transcript.participants)
            yield Sample(file, code, role, age_band(person.age if person else ""), measures.as_dict())


def _as_dict(sample: Sample, peers: Sequence[Sample]) -> dict[str, Any]:
    ranks = {}
    for name in COMPARED:
        value = sample.measures[name]
        values = [other for peer in peers if isinstance(other := peer.measures[name], int | float)]
        ranks[name] = {
            "value": value,
            "percentile": percentile(value, values) if isinstance(value, int | float) else None,
            "n": len(values),
            "median": median(values) if values else None,
        }
    whom = {"file": sample.file, "speaker": sample.code, "role": sample.role, "age_band": sample.age}
    return whom | {"reference_samples": len(peers), "measures": ranks}


def _table(sample: Sample, peers: Sequence[Sample]) -> str:
    rows = []
    for name, entry in _as_dict(sample, peers)["measures"].items():
        if entry["value"] is None:
            continue
        rank = "-" if entry["percentile"] is None else f"{entry['percentile']:.0f}"
        typical = measure_cell({name: entry["median"]}, name)
        rows.append([measure_name(name), measure_cell(sample.measures, name), rank, typical, str(entry["n"])])
    whom = f"{sample.role}{f', {sample.age}' if sample.age else ', of any age (the sample gives none)'}"
    title = f"{Path(sample.file).stem} {sample.code} among {len(peers)} reference samples ({whom})"
    if len(peers) < MIN_REFERENCES:
        title += f": too few for percentiles, {MIN_REFERENCES} are needed"
    return render_text(TerminalTable(title, ["", "value", "percentile", "median", "n"], rows))
