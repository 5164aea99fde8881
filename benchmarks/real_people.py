"""Words and filled pauses of real people, as a model writes them: with disfluencies, and without being asked for them.

    python -m benchmarks.real_people ../shared/data ../shared/data/whisper/base

Every recording that has a transcript with reliable fillers, and twenty clips of clean speech, are transcribed whole, in
each style, with the defaults of ``transcribe``. Word errors are counted on all words as spoken, and without
disfluencies. There are few people and few events: one filler is five points and more.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.chat.filled_pauses import fillers
from lsa_whisper.decoding.style import DECODING_STYLES
from lsa_whisper.scoring.counts import Detections, WordErrors
from lsa_whisper.scoring.file_scores import FileScores
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import ScoringOptions, score_file
from lsa_whisper.transcription import Transcriber

_MARKED = {"meetings": "ami/marked", "michael": "paired/michael.cha", "batchalign": "batchalign/test.cha"}
_READ = ("jfk", "1089", "LDC93S1", "spk")
_CHILDREN = 8
"""Children of whom the first clip is clean speech."""


@dataclass(frozen=True)
class Clip:
    """A recording and what is said in it."""

    sound: Path
    said: tuple[Utterance, ...]


def main() -> None:
    """Transcribe every set in each style, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    options = parser.parse_args()
    sets = dict(clips(options.data))
    rows = {}
    for style in DECODING_STYLES:
        transcriber = Transcriber(options.model, style=style)
        rows[style] = {name: row([scores(transcriber, clip) for clip in found]) for name, found in sets.items()}
        print(style, json.dumps(rows[style], indent=1), flush=True)
    files = {name: len(found) for name, found in sets.items()}
    about = f"real English: {', '.join(f'{count} {name}' for name, count in files.items())}"
    result.write("real_people", ("torch", "transformers"), about, model=options.model.name, styles=rows)


def scores(transcriber: Transcriber, clip: Clip) -> FileScores:
    """Return the scores of one recording."""
    found = transcriber.transcribe(clip.sound).transcript.utterances
    parsed = (ParsedTranscript(tuple(said), {}) for said in (clip.said, found))
    return score_file(clip.sound.stem, *parsed, ScoringOptions(keep_alignment=False))


def row(files: list[FileScores]) -> dict[str, float | int | None]:
    """Return the figures of a set: word errors in per cent, and filled pauses found, missed and invented."""
    verbatim, fluent = (
        sum((getattr(one, name) for one in files), WordErrors()).rate for name in ("verbatim", "fluent")
    )
    pauses = sum((one.disfluency[Disfluency.FILLED_PAUSE] for one in files), Detections())
    return {
        "word_errors": None if verbatim is None else round(100 * verbatim, 1),
        "word_errors_without_disfluencies": None if fluent is None else round(100 * fluent, 1),
        "found": pauses.true_positives,
        "missed": pauses.false_negatives,
        "invented": pauses.false_positives,
    }


def clips(data: Path) -> Iterator[tuple[str, list[Clip]]]:
    """Yield each set with its recordings."""
    for name, place in _MARKED.items():
        paths = sorted((data / place).glob("*.cha")) if (data / place).is_dir() else [data / place]
        yield name, [Clip(_sound(path), tuple(chat.read(path).utterances)) for path in paths]
    volunteers = [json.loads(line) for line in (data / "cv-spontaneous/texts.jsonl").read_text("utf-8").splitlines()]
    yield "volunteers", [plain(data / "cv-spontaneous" / one["audio"], one["text"]) for one in volunteers]
    speech = json.loads((data / "speech/manifest.json").read_text("utf-8"))
    broadcast = [one for one in speech if one["file"].startswith("multilingual_ipa")]
    yield "broadcast", [plain(data / "speech" / one["file"], one["text"]) for one in broadcast]
    read = [plain(data / "speech" / one["file"], one["text"]) for one in speech if one["file"].startswith(_READ)]
    children = json.loads((data / "children/manifest.json").read_text("utf-8"))
    first = {one["speaker"]: one for one in reversed(children)}
    chosen = [first[speaker] for speaker in sorted(first)][:_CHILDREN]
    yield "clean", [*read, *(plain(data / "children" / one["file"], one["text"]) for one in chosen)]


def plain(sound: Path, text: str) -> Clip:
    """Return a recording whose text has no marks: its fillers are marked.

    >>> plain(Path("a.flac"), "Mostly uh family.").said[0].text
    'mostly &-uh family .'
    """
    words = text.lower().replace(",", "").rstrip(".").split()
    marked = (f"&-{word}" if word in fillers("eng") else word for word in words)
    return Clip(sound, (chat.utterance("PAR", f"{' '.join(marked)} ."),))


def _sound(transcript: Path) -> Path:
    folders = (transcript.parent, transcript.parent.parent)
    places = (folder / f"{transcript.stem}{ending}" for folder in folders for ending in (".flac", ".mp3"))
    return next(place for place in places if place.exists())


if __name__ == "__main__":
    main()
