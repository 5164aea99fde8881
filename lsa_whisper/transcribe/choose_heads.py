"""Which heads of a decoder follow the sound: chosen on a corpus whose word times are known.

OpenAI names such heads for each of its models. A model trained from nothing has none, and one that was fine-tuned far
from its base may have others. The model reads what was said (nothing is decoded); heads are added one by one, the best
first, as long as words begin nearer to where they were said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper import checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ
from lsa_whisper.chat import Utterance
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt, timestamps
from lsa_whisper.corpus import Session, discover
from lsa_whisper.errors import CheckpointError, CorpusError
from lsa_whisper.formats.whole import write_whole
from lsa_whisper.labels import encode
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.decode import TimedText
from lsa_whisper.transcribe.token_times import Weights, aligned, alignment_heads, attention
from lsa_whisper.transcribe.word_times import timed_words

LIMITS_MS = (50, 100, 200)
_FAR_MS = 200.0  # a word that is off by more is lost, by however much
_CANDIDATES = 12
_MARGIN_MS = 200

Head = tuple[int, int]
Errors = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Heads:
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

        >>> print(Heads(((1, 3), (1, 0)), 200, ((0.5, 0.6, 0.7), (0.7, 0.8, 0.9))).table())
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
    """Consecutive utterances, and what the model reads when it hears them."""

    session: Session
    utterances: tuple[Utterance, ...]
    span: TimeSpan


def choose_heads(model: Path | str, corpus: Sequence[Path | str], *, windows: int = 60, device: str = "auto") -> Heads:
    """Choose a model's alignment heads, write them into its ``generation_config.json``, and return them.

    Args:
        model: a checkpoint folder (export an adapter first).
        corpus: folders of CHAT files with ``%wor`` and their recordings; best not those that the model is tested on.
        windows: how many windows to listen to, spread over the corpus.
        device: ``auto`` takes a GPU where there is one.

    Raises:
        CheckpointError: the model cannot be loaded, or is no folder with settings of its own.
        CorpusError: no word of the corpus has a time.
    """
    from lsa_whisper.transcribe.transcriber import placement

    settings = Path(model) / "generation_config.json"
    if not settings.is_file():
        raise CheckpointError(f"{settings}: is not there; give the folder of a whole model (export merges an adapter)")
    device, _ = placement(device, "float32")
    loaded = checkpoint.load(model, device=device)
    found = _windows([Path(each) for each in corpus], loaded.context_s)
    if not found:
        raise CorpusError("no utterance of the corpus has word times; give one whose transcripts have %wor")
    heard = [_Heard(loaded, found[at]) for at in np.unique(np.linspace(0, len(found) - 1, windows).round().astype(int))]
    before_heads = tuple(alignment_heads(loaded.model))
    before = _errors(heard, before_heads)
    if not len(before):
        raise CorpusError("the model's labels have other words than the corpus; give a corpus with the same labels")
    chosen, after = _greedy(heard)
    if after.mean() > before.mean():
        chosen, after = before_heads, before
    whole = json.loads(settings.read_text("utf-8")) | {"alignment_heads": [list(head) for head in chosen]}
    write_whole(json.dumps(whole, indent=2, ensure_ascii=False, sort_keys=True) + "\n", settings)
    return Heads(chosen, len(after), (_within(before), _within(after)))


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
    """A window with the attention of all heads."""

    def __init__(self, loaded: Checkpoint, window: _Window):
        self._window, self._loaded = window, loaded
        self._stamps = timestamps(loaded.tokenizer)
        config = loaded.model.config
        self.heads = [
            (at, head) for at in range(config.decoder_layers) for head in range(config.decoder_attention_heads)
        ]
        self._step_s = loaded.time_precision_s
        self._frames = max(1, int(window.span.duration_ms / 1000 / self._step_s))
        self._tokens = self._read()
        self._weights = self._attention()

    def keep(self, heads: Sequence[Head]) -> None:
        """Forget all heads but these."""
        self._weights = {head: self._weights[head] for head in heads}

    def errors_ms(self, heads: Sequence[Head]) -> Iterator[float]:
        """Yield the error of each word's beginning, of utterances all of whose words the labels hold."""
        spans = aligned(np.mean([self._weights[head] for head in heads], axis=0, dtype=np.float32))
        said = [token not in self._stamps for token in self._tokens]
        timed = [
            TimedText(self._loaded.tokenizer.decode([token]), begin * self._step_s, end * self._step_s)
            for token, (begin, end), is_said in zip(self._tokens, spans, said, strict=True)
            if is_said
        ]
        utterances = self._window.utterances
        for each, words in zip(utterances, timed_words(utterances, timed, self._window.span.start_ms), strict=True):
            if [word for word, _ in words] == [word for word, _ in each.word_times]:
                for (_, found), (_, true) in zip(words, each.word_times, strict=True):
                    yield abs(found.start_ms - true.start_ms)

    def _read(self) -> list[int]:
        stamp_of = {round(at_s / 0.02): token for token, at_s in self._stamps.items()}
        tokens: list[int] = []
        for each in self._window.utterances:
            begin, end = (
                stamp_of.get(round((edge - self._window.span.start_ms) / 20))
                for edge in (each.span.start_ms, each.span.end_ms)
            )
            words = self._loaded.tokenizer.encode(" " + encode(each, self._loaded.labels), add_special_tokens=False)
            tokens += [token for token in (begin, *words, end) if token is not None]
        return tokens[: self._loaded.model.config.max_target_positions - 8]

    @torch.inference_mode()
    def _attention(self) -> dict[Head, Weights]:
        loaded, extractor = self._loaded, self._loaded.feature_extractor
        sound = self._window.session.recording.load(self._window.span)
        features = extractor(
            sound,
            sampling_rate=SAMPLE_RATE_HZ,
            return_tensors="pt",
            padding="max_length",
            max_length=round(loaded.context_s * SAMPLE_RATE_HZ),
            truncation=True,
        ).input_features
        prompt = decoder_prompt(loaded.tokenizer, loaded.model.generation_config, with_timestamps=bool(self._stamps))
        hidden = loaded.model.get_encoder()(features.to(loaded.model.device)).last_hidden_state
        weights = attention(loaded.model, hidden, prompt, self._tokens, self.heads)[:, :, : self._frames]
        return dict(zip(self.heads, weights.astype(np.float16), strict=True))


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
