"""Words that a model writes where nobody speaks: eleven sounds of a minute, alone and between real speech.

    python -m benchmarks.invented_speech ../shared/data

The sounds are made from seeds (``non_speech``). Each is transcribed by OpenAI's base, alone and between the two halves
of ``paired/michael``, with ``--style verbatim``, its default, and ``fluent``. Every utterance in a sound is invented.
The words around it are compared with the transcript by hand, and their errors with those around a minute of silence.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from benchmarks import non_speech, result
from benchmarks.real_speech import Score, words
from lsa_whisper import chat
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.chat import Utterance
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber

CUT_MS = 25_800
"""A pause in the middle of ``paired/michael``."""
SILENCE = "digital silence"
NEAR = 10
"""Words beside a sound that an utterance may have whose time lies in it: a model's timestamps are seconds off."""


@dataclass(frozen=True)
class Placed:
    """A recording with a sound: where that is, what is said before, and what after it."""

    sound: str
    path: Path
    place: TimeSpan
    before: str = ""
    after: str = ""

    @property
    def said(self) -> str:
        """All that is said."""
        return f"{self.before} {self.after}".strip()

    def is_invented(self, utterance: Utterance) -> bool:
        """Return whether an utterance is in the sound; not if it has the words beside it, at a wrong time."""
        span, text = utterance.span, " ".join(words(" ".join(utterance.verbatim())))
        beside = (words(self.before)[-NEAR:], words(self.after)[:NEAR])
        if any(f" {text} " in f" {' '.join(near)} " for near in beside):
            return False
        return span is None or self.place.start_ms <= (span.start_ms + span.end_ms) / 2 < self.place.end_ms


def main() -> None:
    """Transcribe every recording with every style and engine, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--engines", nargs="+", default=["transformers", "ct2"])
    parser.add_argument("--styles", nargs="+", default=["verbatim", "fluent"])
    parser.add_argument("--vad", nargs="+", default=["either", "energy"])
    parser.add_argument("--sounds", nargs="+", help="Names of sounds; the figures of others are kept.")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        every = list(placed(options.data, Path(name), options.seed))
        recordings = [each for each in every if options.sounds is None or each.sound in options.sounds]
        for engine in options.engines:
            for style in options.styles:
                for detector in options.vad:
                    load = {"engine": engine, "style": style, "vad": detector}
                    system = f"{engine}, {style}, {detector}"
                    found[system] = measure(Transcriber(options.data / "whisper" / "base", **load), recordings, system)
    known = result.last("invented_speech").get("systems", {})
    found = {system: joined(known.get(system, {}), each) for system, each in found.items()}
    about = f"{len(every)} recordings: {len(non_speech.MADE) + 1} sounds of a minute, alone and between real speech"
    packages = ("torch", "transformers", "ctranslate2", "silero-vad")
    result.write(
        "invented_speech", packages, about, model="OpenAI's whisper-base", seed=options.seed, systems=known | found
    )


def measure(transcriber: Transcriber, recordings: Sequence[Placed], system: str) -> dict[str, Any]:
    """Return the invented utterances of each recording, and the errors of the words around."""
    alone, between, errors = dict[str, list[str]](), dict[str, list[str]](), dict[str, int]()
    for each in recordings:
        written = transcriber.transcribe(each.path).transcript.utterances
        inside = [one for one in written if each.is_invented(one)]
        (between if each.said else alone)[each.sound] = [one.text for one in inside]
        if each.said:
            around = " ".join(word for one in written if one not in inside for word in one.verbatim())
            score = Score()
            score.add(words(each.said), words(around))
            errors[each.sound] = score.errors
        print(
            f"{system}: {each.sound}, {'between' if each.said else 'alone'}: {[one.text for one in inside]}", flush=True
        )
    invented = [text for texts in (*alone.values(), *between.values()) for text in texts]
    return {
        "invented_utterances": len(invented),
        "errors_around": errors,
        "alone": {name: texts for name, texts in alone.items() if texts},
        "between": {name: texts for name, texts in between.items() if texts},
    }


def joined(before: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a system with those of sounds that were measured before.

    >>> joined({"errors_around": {"hum": 3}, "alone": {"hum": ["a"], "rain": ["b"]}, "between": {}},
    ...        {"errors_around": {"hum": 1}, "alone": {}, "between": {"hum": ["you ."]}})
    {'invented_utterances': 2, 'errors_around': {'hum': 1}, 'alone': {'rain': ['b']}, 'between': {'hum': ['you .']}}
    """
    again = found["errors_around"]
    errors = before.get("errors_around", {}) | again
    texts = {
        where: {name: said for name, said in before.get(where, {}).items() if name not in again} | found[where]
        for where in ("alone", "between")
    }
    count = sum(len(said) for each in texts.values() for said in each.values())
    return {"invented_utterances": count, "errors_around": errors, **texts}


def placed(data: Path, folder: Path, seed: int = 0) -> Iterator[Placed]:
    """Yield each sound alone, and each and silence between the halves of ``paired/michael``."""
    made = non_speech.sounds(sorted((data / "ami").glob("*.flac")), seed=seed)
    michael = Recording.open(data / "paired" / "michael.flac").load()
    said = chat.read(data / "paired" / "michael.cha").utterances
    before, after = (
        " ".join(word for each in said if (each.span.start_ms < CUT_MS) == is_before for word in each.verbatim())
        for is_before in (True, False)
    )
    cut = CUT_MS * SAMPLE_RATE_HZ // 1000
    length_ms = round(1000 * non_speech.LENGTH_S)
    for name, sound in made.items():
        yield Placed(name, _written(folder / f"{name}.wav", sound), TimeSpan(0, length_ms))
    for name, sound in (made | {SILENCE: np.zeros_like(made["hum"])}).items():
        whole = np.concatenate([michael[:cut], sound, michael[cut:]])
        path = _written(folder / f"between {name}.wav", whole)
        yield Placed(name, path, TimeSpan(CUT_MS, CUT_MS + length_ms), before, after)


def _written(path: Path, samples: non_speech.Samples) -> Path:
    soundfile.write(path, samples, SAMPLE_RATE_HZ)
    return path


if __name__ == "__main__":
    main()
