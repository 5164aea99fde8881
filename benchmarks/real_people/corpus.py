"""Recordings with transcripts, in sets, and the people in them: a folder of your own, or the one of public samples."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Participant, Utterance
from lsa_whisper.chat.filled_pauses import fillers
from lsa_whisper.corpus import Session, discover
from lsa_whisper.preparation.assign_splits import persons
from lsa_whisper.retraces import mark_retraces
from lsa_whisper.timespan import TimeSpan

_MARKED = {"meetings": "ami/marked", "michael": "paired/michael.cha", "batchalign": "batchalign/test.cha"}
_READ = ("jfk", "1089", "LDC93S1", "spk")
_CHILDREN = 8
"""Children of whom the first clip is clean speech."""
CLEAN = "clean"
"""The set of read and prompted speech: nobody trains on it, and each model transcribes a part of it."""


@dataclass(frozen=True)
class Clip:
    """A recording, what is said in it, the set that it belongs to, and its people."""

    sound: Path
    transcript: Path
    set: str
    people: frozenset[str] = frozenset()

    @property
    def said(self) -> Sequence[Utterance]:
        """The utterances of the transcript."""
        return chat.read(self.transcript).utterances


def clips_of(folder: Path, scratch: Path) -> list[Clip]:
    """Return the clips of a corpus; each of its folders is a set. Public samples are first copied to ``scratch``."""
    if (folder / "ami/marked").is_dir():
        _copy_samples(folder, scratch)
        folder = scratch
    return [_clip(session) for session in discover(folder)[0]]


def _clip(session: Session) -> Clip:
    name = session.name.partition("/")[0] if "/" in session.name else session.corpus
    return Clip(session.recording.path, session.path, name, frozenset(persons(session)))


def folds_of(clips: Sequence[Clip], count: int) -> list[list[Clip]]:
    """Return ``count`` parts that share no person, about equally long; the clean set is divided among them."""
    groups: list[list[Clip]] = []
    for clip in (one for one in clips if one.set != CLEAN):
        shared = [group for group in groups if any(clip.people & one.people for one in group)]
        groups = [group for group in groups if group not in shared] + [
            [clip, *(one for group in shared for one in group)]
        ]
    folds: list[list[Clip]] = [[] for _ in range(min(count, len(groups)))]
    for group in sorted(groups, key=lambda group: (-_bytes(group), str(group[0].sound))):
        min(folds, key=_bytes).extend(group)
    for at, clip in enumerate(one for one in clips if one.set == CLEAN):
        folds[at % len(folds)].append(clip)
    return folds


def copy_corpus(clips: Sequence[Clip], folder: Path) -> Path:
    """Put the clips that are not clean speech into ``folder``, for training, and return it."""
    for clip in clips:
        if clip.set != CLEAN:
            place = folder / clip.set
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(clip.transcript, place)
            if not (target := place / clip.sound.name).exists():
                os.link(clip.sound.resolve(), target) if _same_disk(clip.sound, place) else shutil.copy(
                    clip.sound, target
                )
    return folder


def _same_disk(one: Path, other: Path) -> bool:
    return one.resolve().stat().st_dev == other.stat().st_dev


def _bytes(clips: Sequence[Clip]) -> int:
    return sum(clip.sound.stat().st_size for clip in clips if clip.set != CLEAN)


def _copy_samples(data: Path, out: Path) -> None:
    """Write the public samples as a corpus: marked transcripts as they are, plain texts as one utterance each."""
    for name, place in _MARKED.items():
        paths = sorted((data / place).glob("*.cha")) if (data / place).is_dir() else [data / place]
        (out / name).mkdir(parents=True, exist_ok=True)
        for path in paths:
            sound = next(
                each for folder in (path.parent, path.parent.parent) for each in folder.glob(f"{path.stem}.flac")
            )
            shutil.copy(path, out / name)
            shutil.copy(sound, out / name)
    for name, sound, text, speaker in _plain_samples(data):
        (out / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(sound, out / name)
        span = TimeSpan(0, int(1000 * Recording.open(sound).duration_s))
        code = re.sub(r"[^A-Z0-9]", "", speaker.upper())[-7:]
        transcript = chat.compose(
            languages=["eng"],
            participants=[Participant(code, "Adult", corpus=name)],
            utterances=[chat.utterance(code, marked(text), span)],
            media=sound.stem,
        )
        chat.write(transcript, out / name / f"{sound.stem}.cha")


def _plain_samples(data: Path) -> Iterator[tuple[str, Path, str, str]]:
    """Yield set, recording, text and speaker of the samples that have a plain text."""
    for line in (data / "cv-spontaneous/texts.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        yield "volunteers", data / "cv-spontaneous" / one["audio"], one["text"], one["speaker"]
    for one in json.loads((data / "speech/manifest.json").read_text("utf-8")):
        sound = data / "speech" / one["file"]
        if one["file"].startswith("multilingual_ipa"):
            yield "broadcast", sound, one["text"], "hosts"
        elif one["file"].startswith(_READ):
            yield CLEAN, sound, one["text"], sound.stem
    children = json.loads((data / "children/manifest.json").read_text("utf-8"))
    first = {one["speaker"]: one for one in reversed(children)}
    for speaker in sorted(first)[:_CHILDREN]:
        yield CLEAN, data / "children" / first[speaker]["file"], first[speaker]["text"], speaker


def marked(text: str) -> str:
    """Return a text without marks as a main tier: its fillers and repeated words are marked.

    >>> marked("uh I I think so.")
    '&-uh i [/] i think so .'
    """
    words = text.lower().replace(",", "").rstrip(".").split()
    return mark_retraces(" ".join(f"&-{word}" if word in fillers("eng") else word for word in words) + " .").text
