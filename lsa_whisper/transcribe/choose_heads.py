"""Which heads of a decoder follow the sound: chosen on a corpus whose word times are known.

OpenAI names such heads for each of its models. A model trained from nothing has none, and one that was fine-tuned far
from its base may have others. The model writes down some windows of the corpus; heads are added one by one, the best
first, as long as the words that it wrote as they were said begin nearer to where they were said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper import checkpoint, plain_json
from lsa_whisper.atomic_write import write_atomic
from lsa_whisper.chat import Utterance
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.corpus import Session, discover
from lsa_whisper.decoding.decoder import DecodedWindow, TimedToken
from lsa_whisper.decoding.token_times import alignment_heads, cross_attention, viterbi_spans
from lsa_whisper.errors import CheckpointError, CorpusError, LsaWhisperError
from lsa_whisper.labels import decode
from lsa_whisper.languages import whisper_code
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.assembly.word_times import align_words
from lsa_whisper.umask import private_umask

if TYPE_CHECKING:
    from lsa_whisper.decoding.transformers_engine import TransformersDecoder

LIMITS_MS = (50, 100, 200)
_FAR_MS = 200.0  # a word that is off by more is lost, by however much
_CANDIDATES = 12
_MARGIN_MS = 200

Head = tuple[int, int]
Errors = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HeadChoice:
    """What was chosen.

    Attributes:
        chosen: ``(layer, head)`` pairs, the best first.
        words: how many words were compared.
        within: for the heads that were in use before and for the chosen ones, the share of words that begin within
            each of ``LIMITS_MS`` of where they were said.
    """

    chosen: tuple[Head, ...]
    words: int
    within: tuple[tuple[float, ...], tuple[float, ...]]

    def table(self) -> str:
        """Return the shares before and after, and the heads.

        >>> print(HeadChoice(((1, 3), (1, 0)), 200, ((0.5, 0.6, 0.7), (0.7, 0.8, 0.9))).table())
        word starts within   50 ms  100 ms  200 ms
        before               50.0%   60.0%   70.0%
        chosen               70.0%   80.0%   90.0%
        200 words; heads (layer, head): (1, 3) (1, 0)
        """
        head = "word starts within" + "".join(f"{limit:5d} ms" for limit in LIMITS_MS)
        rows = [
            f"{name:<18}" + "".join(f"{share:8.1%}" for share in shares)
            for name, shares in zip(("before", "chosen"), self.within, strict=True)
        ]
        return "\n".join([head, *rows, f"{self.words} words; heads (layer, head): {' '.join(map(str, self.chosen))}"])


@dataclass(frozen=True)
class _Window:
    """Consecutive utterances, all of them with word times."""

    session: Session
    utterances: tuple[Utterance, ...]
    span: TimeSpan


@private_umask()
def choose_heads(
    model: Path | str, corpus: Sequence[Path | str], *, windows: int = 40, device: str = "auto"
) -> HeadChoice:
    """Choose a model's alignment heads, write them into its ``generation_config.json``, and return them.

    Args:
        model: a checkpoint folder (export an adapter first).
        corpus: folders of CHAT files with ``%wor`` and their recordings; best not those that the model is tested on.
        windows: how many windows to listen to, spread over the corpus (30 s of a large model take some 0.15 GB each).
        device: ``auto`` takes a GPU where there is one.

    Raises:
        CheckpointError: the model cannot be loaded, or is no folder with settings of its own.
        CorpusError: no word of the corpus has a time.
        LsaWhisperError: there is no window to listen to.
    """
    from lsa_whisper.decoding.engines import resolve_device

    if windows < 1:
        raise LsaWhisperError(f"windows is {windows}; one at least must be listened to")
    settings = Path(model) / "generation_config.json"
    if not settings.is_file():
        raise CheckpointError(f"{settings}: is not there; give the folder of a whole model (export merges an adapter)")
    device, _ = resolve_device(device, "float32")
    loaded = checkpoint.load(model, device=device)
    found = _windows([Path(each) for each in corpus], loaded.context_s)
    if not found:
        raise CorpusError("no utterance of the corpus has word times; give one whose transcripts have %wor")
    heard = _decode_windows(
        loaded, [found[at] for at in np.unique(np.linspace(0, len(found) - 1, windows).round().astype(int))]
    )
    before_heads = tuple(alignment_heads(loaded.model))
    before = _errors(heard, before_heads)
    if not len(before):
        raise CorpusError("the model writes no word of the corpus as it was said; give a corpus like its training data")
    chosen, after = _greedy(heard)
    if after.mean() > before.mean():
        chosen, after = before_heads, before
    whole = plain_json.read(settings) | {"alignment_heads": [list(head) for head in chosen]}
    write_atomic(json.dumps(whole, indent=2, ensure_ascii=False, sort_keys=True) + "\n", settings)
    return HeadChoice(chosen, len(after), (_within(before), _within(after)))


def _within(errors: Errors) -> tuple[float, ...]:
    return tuple(round(float((errors <= limit).mean()), 4) for limit in LIMITS_MS)


def _greedy(heard: Sequence[_Heard]) -> tuple[tuple[Head, ...], Errors]:
    """Return the heads that are best together, found one by one among those that are best alone."""
    alone = {head: float(_errors(heard, [head]).mean()) for head in heard[0].heads}
    candidates = sorted(alone, key=lambda head: alone[head])[:_CANDIDATES]
    for each in heard:
        each.keep(candidates)
    chosen: list[Head] = []
    best = np.full(1, np.inf)
    while left := [head for head in candidates if head not in chosen]:
        tried = {head: _errors(heard, [*chosen, head]) for head in left}
        head = min(left, key=lambda each: float(tried[each].mean()))
        if tried[head].mean() >= best.mean():
            break
        chosen, best = [*chosen, head], tried[head]
    return tuple(chosen), best


def _errors(heard: Sequence[_Heard], heads: Sequence[Head]) -> Errors:
    """Return how far each word's beginning is off, in ms, at most ``_FAR_MS`` and a little."""
    return np.minimum([error for each in heard for error in each.errors_ms(heads)], _FAR_MS + 1)


class _Heard:
    """A window, what the model wrote, and the attention of all heads while it did so."""

    def __init__(
        self,
        loaded: Checkpoint,
        window: _Window,
        written: DecodedWindow,
        decoder: TransformersDecoder,
        hidden: torch.Tensor,
    ):
        self._tokenizer, self._step_s, self._begin_ms = loaded.tokenizer, loaded.time_precision_s, window.span.start_ms
        self._utterances = [
            each for segment in written.segments for each in decode(segment.text, loaded.labels).utterances
        ]
        self._said = [(word.lower(), at.start_ms) for each in window.utterances for word, at in each.word_times]
        self._tokens, self._is_timestamp = _tokens_of(written, loaded.tokenizer, decoder.rules.timestamps_s)
        config = loaded.model.config
        self.heads = [
            (layer, head) for layer in range(config.decoder_layers) for head in range(config.decoder_attention_heads)
        ]
        frames = max(1, int(window.span.duration_ms / 1000 / self._step_s))
        weights = cross_attention(loaded.model, hidden, decoder.prompt, self._tokens, self.heads)[:, :, :frames]
        self._weights = dict(zip(self.heads, weights.astype(np.float16), strict=True))

    def keep(self, heads: Sequence[Head]) -> None:
        """Forget all heads but these."""
        self._weights = {head: self._weights[head] for head in heads}

    def errors_ms(self, heads: Sequence[Head]) -> Iterator[float]:
        """Yield how far the beginning is off of each word that was written as it was said."""
        spans = viterbi_spans(np.mean([self._weights[head] for head in heads], axis=0, dtype=np.float32))
        timed = [
            TimedToken(self._tokenizer.decode([token]), begin * self._step_s, end * self._step_s)
            for token, (begin, end), is_timestamp in zip(self._tokens, spans, self._is_timestamp, strict=True)
            if not is_timestamp
        ]
        found = [
            (word.lower(), at.start_ms)
            for words in align_words(self._utterances, timed, self._begin_ms)
            for word, at in words
        ]
        matcher = SequenceMatcher(None, [word for word, _ in self._said], [word for word, _ in found], autojunk=False)
        for block in matcher.get_matching_blocks():
            for at in range(block.size):
                yield abs(found[block.b + at][1] - self._said[block.a + at][1])


def _tokens_of(
    written: DecodedWindow, tokenizer: Any, timestamps_s: Mapping[int, float]
) -> tuple[list[int], list[bool]]:
    """Return the tokens of a window's segments between their timestamps, and which of them are timestamps_s."""
    timestamp_at = {round(at_s, 2): token for token, at_s in timestamps_s.items()}
    tokens: list[int] = []
    for segment in written.segments:
        words = tokenizer.encode(f" {segment.text}", add_special_tokens=False)
        edges = (timestamp_at.get(round(edge_s, 2)) for edge_s in (segment.start_s, segment.end_s))
        begin, end = ([] if edge is None else [edge] for edge in edges)
        tokens += [*begin, *words, *end]
    return tokens, [token in timestamps_s for token in tokens]


@torch.inference_mode()
def _decode_windows(loaded: Checkpoint, windows: Sequence[_Window]) -> list[_Heard]:
    """Return what the model makes of the windows, without those for which it writes nothing."""
    from lsa_whisper.decoding.transformers_engine import TransformersDecoder

    heard = []
    for window in windows:
        decoder = TransformersDecoder(loaded, language=whisper_code(window.session.language), batch_size=1)
        sound = window.session.recording.load(window.span)
        (written,) = decoder.decode([sound])
        if written.segments and written.complete:
            hidden = loaded.model.get_encoder()(decoder.features([sound])).last_hidden_state
            heard.append(_Heard(loaded, window, written, decoder, hidden))
    return heard


def _windows(folders: Sequence[Path], context_s: float) -> list[_Window]:
    found = []
    for session in (each for folder in folders for each in discover(folder)[0]):
        group: list[Utterance] = []
        for each in session.transcript.utterances:
            timed = each.span is not None and each.word_times
            if group and not (timed and (_span([*group, each]).duration_ms <= context_s * 1000)):
                found.append(_Window(session, tuple(group), _span(group)))
                group = []
            if timed and _span([each]).duration_ms <= context_s * 1000:
                group.append(each)
        if group:
            found.append(_Window(session, tuple(group), _span(group)))
    return found


def _span(utterances: Sequence[Utterance]) -> TimeSpan:
    spans = [each.span for each in utterances]
    return TimeSpan(max(0, spans[0].start_ms - _MARGIN_MS), max(each.end_ms for each in spans) + _MARGIN_MS)
