"""Speaker turns from the likeness of voices: short windows of speech are described by a network, and clustered.

Only the weights of the package ``resemblyzer`` are used (17 MB, in its wheel, so that no hub is asked): a network that
was trained to tell speakers apart (Wan et al. 2018). The package itself is never imported: it needs a compiler, and
draws in what nothing here uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata, util
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording, vad
from lsa_whisper.audio.speech_windows import speech_spans
from lsa_whisper.errors import CheckpointError
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns, named_turns

PACKAGE = "resemblyzer"
_BANDS, _WIDTH, _FRAME_MS, _WINDOW = 40, 256, 10, 160  # as the network was trained: 1.6 s of mel spectrogram
_MIN_FRAMES = 30  # frames of speech of which a voice is described
_QUIET_DB = -30.0  # quieter windows are made as loud as this, as in its training
STEP = 20
"""Frames from one window to the next. On fourteen recordings of real people (12 to 52 s), with speech and number of
voices known, 11 % of the speech had the wrong voice with 20 or 40 frames, 16 % with windows half as long."""
DIFFERENT = 0.4
"""Cosine distance, on average over all pairs, from which two clusters are different voices. On the same recordings
12 % of the speech had the wrong voice (26 % if all is one voice); with 0.35 or 0.5 it was 14 to 22 %."""
MAX_CLUSTERED = 4000
"""Windows that are clustered, 13 minutes of speech; of more, so many are clustered that lie evenly over the recording,
and the others get the voice that they are most like. The distances of all pairs are held in memory: 64 MB."""

_Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class VoiceDiarizer:
    """The weights of the network before they are loaded: picklable.

    ``speakers`` is how many people speak; ``None`` to find out.
    """

    weights: Path
    speakers: int | None = None

    @property
    def settings(self) -> dict[str, str]:
        """What the turns depend on besides the recording."""
        return {"turns": f"voices:{self.speakers or ''}", "diarizer": f"{PACKAGE} {metadata.version(PACKAGE)}"}

    def load(self, device: str) -> None:
        """Load the network.

        The device is not used: on a processor, the voices of an hour take a minute or two.

        Raises:
            CheckpointError: It cannot be read.
        """
        self._network  # noqa: B018 -- loads it

    @cached_property
    def _network(self) -> Any:
        import torch
        from torch import nn

        layers = nn.ModuleDict(
            {"lstm": nn.LSTM(_BANDS, _WIDTH, 3, batch_first=True), "linear": nn.Linear(_WIDTH, _WIDTH)}
        )
        try:
            state = torch.load(self.weights, map_location="cpu", weights_only=True)["model_state"]
            layers.load_state_dict({name: state[name] for name in layers.state_dict()})
        except Exception as error:  # of many types, some with the advice to run what is in the file
            raise CheckpointError(
                f"{self.weights}: is damaged, or holds other weights; install it again: pip install --no-deps {PACKAGE}"
            ) from error
        return layers.eval()

    def turns(self, recording: Recording, device: str) -> SpeakerTurns | None:
        """Return the speaker turns of a recording; ``None`` if it has no speech.

        Raises:
            CheckpointError: The network cannot be read.
        """
        speech = vad.detect_speech("energy", recording.stream())
        spans = speech_spans(speech, duration_s=recording.duration_s)
        middles, vectors = self._described(recording, spans)
        if not len(middles):
            return None
        voices = cluster(vectors, self.speakers)
        turns = named_turns(_turns(spans, middles, voices), int(recording.duration_s * 1000))
        return turns if turns.spans else None

    def _described(self, recording: Recording, spans: list[TimeSpan]) -> tuple[npt.NDArray[np.int64], _Vectors]:
        """Return the middle of each window in ms, (n,), and the voice in it as a vector of length 1, (n, 256)."""
        import torch

        middles: list[int] = []
        vectors = [np.zeros((0, _WIDTH), np.float32)]
        for span in spans:
            mel = _mel(recording.load(span))
            if len(mel) < _MIN_FRAMES:
                continue
            starts = list(range(0, max(1, len(mel) - _WINDOW + 1), STEP))
            middles += [span.start_ms + _FRAME_MS * (start + min(len(mel), _WINDOW) // 2) for start in starts]
            padded = np.pad(mel, ((0, max(0, _WINDOW - len(mel))), (0, 0)))
            for first in range(0, len(starts), 64):
                windows = np.stack([padded[start : start + _WINDOW] for start in starts[first : first + 64]])
                with torch.inference_mode():
                    _, (states, _) = self._network["lstm"](torch.from_numpy(windows))
                    vectors.append(self._network["linear"](states[-1]).relu().numpy())
        matrix = np.concatenate(vectors)
        return np.array(middles, np.int64), matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)


def find_weights() -> Path | None:
    """Return the file of the network, found without importing its package; ``None`` if it is not installed."""
    package = util.find_spec(PACKAGE)
    for folder in (package.submodule_search_locations or ()) if package else ():
        path = Path(folder) / "pretrained.pt"
        if path.is_file():
            return path
    return None


def cluster(vectors: _Vectors, voices: int | None) -> npt.NDArray[np.int64]:
    """Return the voice of each vector, from 0 on: average linkage of cosine distances.

    Args:
        vectors: (n, d), of length 1.
        voices: How many there are; ``None`` for as many as differ by :data:`DIFFERENT`.

    >>> cluster(np.eye(3, dtype=np.float32)[[0, 1, 0, 1, 1]], None).tolist()
    [0, 1, 0, 1, 1]
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(vectors) < 2:
        return np.zeros(len(vectors), np.int64)
    sample = np.unique(np.linspace(0, len(vectors) - 1, min(len(vectors), MAX_CLUSTERED)).astype(int))
    tree = linkage(vectors[sample], "average", metric="cosine")
    labels = fcluster(tree, DIFFERENT, "distance") if voices is None else fcluster(tree, voices, "maxclust")
    names = list(dict.fromkeys(labels.tolist()))
    centers = np.stack([vectors[sample][labels == name].mean(0) for name in names])
    centers /= np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-9)
    nearest: npt.NDArray[np.int64] = (vectors @ centers.T).argmax(1)
    nearest[sample] = [names.index(name) for name in labels.tolist()]
    return nearest


def _turns(
    spans: list[TimeSpan], middles: npt.NDArray[np.int64], voices: npt.NDArray[np.int64]
) -> Iterator[tuple[str, TimeSpan]]:
    """Yield the speech between two changes of voice; a change is half-way between two windows."""
    for span in spans:
        near = int(np.abs(middles - (span.start_ms + span.end_ms) // 2).argmin())
        inside = np.flatnonzero((middles >= span.start_ms) & (middles < span.end_ms)).tolist() or [near]
        start_ms = span.start_ms
        for voice, run in groupby(inside, key=lambda at: int(voices[at])):
            last = list(run)[-1]
            after = inside.index(last) + 1
            end_ms = (middles[last] + middles[inside[after]]) // 2 if after < len(inside) else span.end_ms
            yield f"SPEAKER_{voice:02d}", TimeSpan(start_ms, int(end_ms))
            start_ms = int(end_ms)


def _mel(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the power mel spectrogram, (frames, 40): of windows of 25 ms every 10 ms, not on a logarithmic scale."""
    import librosa

    level = float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0
    gain = max(1.0, 10 ** (_QUIET_DB / 20) / max(level, 1e-6))
    frames = librosa.feature.melspectrogram(
        y=samples * np.float32(gain), sr=SAMPLE_RATE_HZ, n_fft=400, hop_length=SAMPLE_RATE_HZ // 100, n_mels=_BANDS
    )
    mel: npt.NDArray[np.float32] = frames.T.astype(np.float32)
    return mel
