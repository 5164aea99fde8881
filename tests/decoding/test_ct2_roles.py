"""Speaker codes with CTranslate2, which chooses tokens itself: the same text as transformers, and no broken code."""

import re
from pathlib import Path

import pytest
import torch
from tiny_whisper import build_checkpoint, teach, voice

from lsa_whisper import checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.audio.speech_energy import find_speech
from lsa_whisper.audio.speech_windows import pack_windows
from lsa_whisper.decoding import verified_rows
from lsa_whisper.decoding.no_speech import WHISPERS_RULE, NoSpeechRule
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.labels import Labels
from lsa_whisper.system.shipped import NANO, shipped

pytest.importorskip("ctranslate2")
STORYBOOK = Path(__file__).resolve().parents[2] / "corpora" / "storybook" / "test"
CODES = ("CHI", "206", "Theo", "A'B")
ROLES = Labels("chat", roles=True)
SEEDS = range(12)


def saved(loaded, out, codes=CODES):
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer}
    return checkpoint.save(out, model=loaded.model, labels=ROLES, trained_codes=set(codes), **parts)


def shaken(folder, out, seed, codes=CODES):
    """Write a checkpoint of random weights that says something else at each step, signs of codes more often."""
    loaded = checkpoint.load(folder)
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, weight in loaded.model.model.named_parameters():
            if weight.dim() > 1 and not name.startswith("encoder.embed_positions"):
                weight.normal_(0, 0.5 if "embed_positions" in name else 0.25 if "embed_tokens" in name else 0.15)
        table = loaded.model.model.decoder.embed_tokens.weight
        table[loaded.tokenizer.encode(". *CHI: ... *Theo: ? ** ...", add_special_tokens=False)] *= 1.6
        table[loaded.model.config.eos_token_id] *= 1.3
        table[list(checkpoint.timestamp_tokens(loaded.tokenizer))] *= 0.7
    settings = loaded.model.generation_config
    if seed % 2:  # as in OpenAI's models
        settings.begin_suppress_tokens = [loaded.tokenizer.convert_tokens_to_ids("Ġ"), settings.eos_token_id]
    if seed % 4 == 3:  # a model without timestamps
        settings.suppress_tokens = [*settings.suppress_tokens, *checkpoint.timestamp_tokens(loaded.tokenizer)]
    return saved(loaded, out, codes)


def ct2(folder, out, **options):
    from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

    dtype = options.pop("dtype", "float32")
    made = checkpoint.export(folder, out, to="ct2", dtype=dtype)
    return CTranslate2Decoder(checkpoint.load_converted(made), **options)


def verify(windows):
    """Raise unless each code in the texts is whole, known and at the start of an utterance, and each text begins so."""
    whole = rf"(?:^|[.?!] ?)\s*\*({'|'.join(map(re.escape, CODES))}):"
    texts = [segment.text for window in windows for segment in window.segments]
    for text in texts:
        stripped = re.sub(r"(?:^|\s)\*[^\s:]*$", "", text)  # the limit of tokens stopped within a code
        assert stripped.count("*") == len(re.findall(whole, stripped)), text
        assert not stripped.strip() or re.match(whole, stripped), text
    return texts


def content(windows):
    return [
        (window.complete, [(each.text, each.start_s, each.end_s, each.closed) for each in window.segments])
        for window in windows
    ]


def same(one, other):
    assert content(one) == content(other)
    for a, b in zip(one, other, strict=True):
        assert a.avg_logprob == pytest.approx(b.avg_logprob, abs=1e-3)
        assert a.no_speech_prob == pytest.approx(b.no_speech_prob, abs=1e-3)


def windows_of(seed, count=25):
    lengths_s = torch.rand(count, generator=torch.Generator().manual_seed(seed)) * 4 + 0.3
    return [voice(length_s, seed=100 * seed + n) for n, length_s in enumerate(lengths_s.tolist())]


@pytest.fixture(scope="module")
def tiny_with_roles(tmp_path_factory):
    return build_checkpoint(
        tmp_path_factory.mktemp("roles"),
        languages=("en", "es"),
        multilingual=True,
        special=("<|nospeech|>",),
        labels=ROLES,
    )


@pytest.fixture
def proposals(monkeypatch, set_threads):
    """The batches that CTranslate2 was asked to continue, as lists of the tokens that were there.

    It decodes one batch at a time, so that windows of one length share it on any machine.
    """
    set_threads(1)
    asked, original = [], verified_rows.complete_rows

    def counted(rows, rules, propose):
        def ask(indices, begun):
            asked.append([list(tokens) for tokens in begun])
            return propose(indices, begun)

        return original(rows, rules, ask)

    monkeypatch.setattr("lsa_whisper.decoding.ctranslate2_search.complete_rows", counted)
    return asked


@pytest.mark.slow(minutes=1)
def test_random_weights_give_the_same_text_in_both_engines(tiny_with_roles, tmp_path):
    texts, decoded, silent = [], 0, 0
    for seed in SEEDS:
        folder, windows = shaken(tiny_with_roles, tmp_path / f"{seed}", seed), windows_of(seed)
        rule = NoSpeechRule(1e-3, -3.0) if seed % 3 else WHISPERS_RULE  # of random weights, some windows are silent
        expected = TransformersDecoder(checkpoint.load(folder), silence=rule).decode(windows)
        found = ct2(folder, tmp_path / f"{seed}-ct2", silence=rule).decode(windows)
        same(found, expected)
        silent += sum(rule.is_likely(each.no_speech_prob) for each in found)
        texts += verify(found)
        decoded += len(windows)
    assert decoded == 300 and 0 < silent < 300 and len(set(texts)) > 150
    assert {code for text in texts for code in CODES if f"*{code}:" in text} == set(CODES)


SPEECH = "<|0.00|> *CHI: the cat sat .<|0.80|><|0.80|> *Theo: the dog ?<|1.60|>"


@pytest.fixture(scope="module")
def taught(tiny_with_roles, tmp_path_factory):
    folder = tmp_path_factory.mktemp("taught")
    return saved(checkpoint.load(teach(tiny_with_roles, folder / "a", SPEECH)), folder / "b")


def test_a_trained_model_needs_no_second_proposal(taught, tmp_path, proposals):
    windows = [voice(3.0), voice(3.0, seed=1)]
    found = ct2(taught, tmp_path / "ct2").decode(windows)
    same(found, TransformersDecoder(checkpoint.load(taught)).decode(windows))
    assert verify(found)[:2] == ["*CHI: the cat sat .", "*Theo: the dog ?"]
    assert proposals == [[[], []]]


def test_windows_of_several_lengths_with_word_times(taught, tmp_path, proposals):
    windows = [voice(3.0), voice(2.0, seed=1), voice(0.5, seed=2)]
    expected = TransformersDecoder(checkpoint.load(taught), word_times=True).decode(windows)
    found = ct2(taught, tmp_path / "ct2", word_times=True).decode(windows)
    same(found, expected)
    assert len(proposals) > 1 and {len(begun) for begun in proposals} > {1}
    for one, other in zip(found, expected, strict=True):
        for a, b in zip(one.segments, other.segments, strict=True):
            assert [token.text for token in a.timed] == [token.text for token in b.timed] and a.timed
            assert all(0 <= token.start_s <= token.end_s <= 3.0 for token in a.timed)


@pytest.mark.slow
def test_int8_writes_no_broken_code(tiny_with_roles, tmp_path):
    texts = []
    for seed in (20, 21, 22):
        folder = shaken(tiny_with_roles, tmp_path / f"{seed}", seed)
        texts += verify(ct2(folder, tmp_path / f"{seed}-ct2", dtype="int8").decode(windows_of(seed)))
    assert len(set(texts)) > 30


@pytest.mark.slow
def test_speech_gives_the_same_text_in_both_engines(tmp_path, proposals):
    """The shipped model was trained without codes: it ends most windows where one must come, and proposes none."""
    folder, windows = saved(checkpoint.load(shipped(NANO)), tmp_path / "nano"), []
    loaded = checkpoint.load(folder)
    for path in sorted(STORYBOOK.glob("*.flac")):
        recording = Recording.open(path)
        speech = find_speech(recording.stream(), SAMPLE_RATE_HZ)
        spans = pack_windows(speech, context_s=loaded.context_s, duration_s=recording.duration_s)
        windows += [recording.load(span) for span in spans]
    found = ct2(folder, tmp_path / "ct2", batch_size=16).decode(windows)
    assert len(windows) > 100 and len(verify(found)) > 5 and len(proposals) > 10
    expected = TransformersDecoder(loaded, batch_size=16).decode(windows)
    same(found, expected)


def test_a_model_without_codes_is_decoded_as_before(tiny_with_roles, tmp_path, proposals):
    folder = saved(checkpoint.load(tiny_with_roles), tmp_path / "none", codes=())
    decoder = ct2(folder, tmp_path / "ct2")
    same(decoder.decode([voice(2.0)]), TransformersDecoder(checkpoint.load(folder)).decode([voice(2.0)]))
    assert proposals == [] and decoder._rules is None
