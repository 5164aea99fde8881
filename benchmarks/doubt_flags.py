"""Which wrong words the review page flags: recall and precision for recordings of ../shared/data, by whisper-base.

    python -m benchmarks.doubt_flags MODEL --out OUT [--flag 10%]

Transcribes ten clips of meetings and four other recordings, if OUT does not have them, and keeps for each set
how many words are wrong, the share that is flagged, and recall and precision of the flags; and in how many recordings
the range of errors left, before any review, contains the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.decoding.confidences import Calibration, Confidences, read_confidences
from lsa_whisper.review.corrections import errors_left, expected_errors, word_changes
from lsa_whisper.review.word_confidence import draft_confidences, flag_limit, parse_share
from lsa_whisper.scoring.align import UNALIGNED
from lsa_whisper.scoring.wer import align_verbatim
from lsa_whisper.scoring.words import file_words
from lsa_whisper.transcription import transcribe

SHARED = Path(__file__).parents[2] / "shared" / "data"
SETS = {
    "meetings (AMI)": [f"ami/{path.stem}" for path in sorted((SHARED / "ami").glob("*.flac"))],
    "clean (michael)": ["paired/michael"],
    "other": ["paired/eng_multi_speaker", "paired/clip", "batchalign/test"],
}
Word = tuple[float, bool]
"""The confidence of a word, and whether it is right."""


def scored(reference: chat.Transcript, draft: Confidences) -> list[Word]:
    """Return the words of a draft that have a confidence, with their confidences."""
    lines = [chat.utterance(each.speaker, each.text) for each in draft.utterances]
    words = file_words(lines, keep_unintelligible=False)
    alignment, confidences = (
        align_verbatim(file_words(reference.utterances), words),
        draft_confidences(draft.utterances, Calibration()),
    )
    rows = []
    for (_, position), equal, excluded in zip(alignment.pairs, alignment.equal, alignment.excluded, strict=True):
        if position != UNALIGNED and not excluded:
            confidence = confidences[int(words.utterance_of[position])][int(words.spoken_of[position])]
            if confidence is not None:
                rows.append((confidence, bool(equal)))
    return rows


def truth_is_in_range(reference: chat.Transcript, draft: Confidences) -> bool:
    """Return whether the estimate before any review contains the number of words that are wrong or missing."""
    found = errors_left(map(expected_errors, draft_confidences(draft.utterances, Calibration())), [], 0)
    old = [word.lower() for each in draft.utterances for word in each.words]
    new = [word.lower() for each in reference.utterances for word in each.verbatim()]
    return found.low <= word_changes(old, new) <= found.high


def figures(files: Sequence[list[Word]], share: float, contained: int) -> dict[str, float | int | None]:
    """Return the figures of a set of recordings; the limit of each recording is its own."""
    words = wrong = flagged = hits = 0
    for rows in files:
        limit = flag_limit([confidence for confidence, _ in rows], share)
        words, wrong = words + len(rows), wrong + sum(not right for _, right in rows)
        flagged += sum(confidence < limit for confidence, _ in rows)
        hits += sum(confidence < limit and not right for confidence, right in rows)
    recall, precision = (round(hits / each, 2) if each else None for each in (wrong, flagged))
    return {
        "words": words,
        "wrong": wrong,
        "flagged": round(flagged / max(1, words), 3),
        "recall": recall,
        "precision": precision,
        "recordings": len(files),
        "truth_in_range": contained,
    }


def main() -> None:
    """Write the figures of each set of recordings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--flag", default="10%")
    given = parser.parse_args()
    sets = {}
    for name, stems in SETS.items():
        pairs = []
        for stem in stems:
            sound = next(path for path in (SHARED / stem).parent.glob(f"{Path(stem).name}.*") if path.suffix != ".cha"
                         and not path.name.endswith(".json"))  # fmt: skip
            out = given.out / Path(stem).parent
            if not (out / f"{Path(stem).name}.cha").is_file():
                transcribe([sound], model=given.model, out=out)
            draft = read_confidences(out / f"{Path(stem).name}.cha")
            assert draft is not None
            pairs.append((chat.read(SHARED / f"{stem}.cha"), draft))
        contained = sum(truth_is_in_range(*pair) for pair in pairs)
        sets[name] = figures([scored(*pair) for pair in pairs], parse_share(given.flag), contained)
        print(name, sets[name])
    data = "ten clips of AMI meetings and four other recordings, transcribed by the stock whisper-base"
    result.write("doubt_flags", ("transformers", "torch"), data, sets=sets)


if __name__ == "__main__":
    main()
