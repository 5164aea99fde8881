"""Speaker codes: a model that writes them cannot write a broken one, whatever its weights are."""

import re

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint, labels
from lsa_whisper.chat import Participant, check, compose
from lsa_whisper.decoding.decoder import SegmentParser
from lsa_whisper.decoding.roles import SpeakerCodeRules
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.labels import Labels
from lsa_whisper.system.shipped import NANO, shipped

CODES = ("CHI", "206", "Theo", "F_A_T", "A'B")
ROLES = Labels("chat", roles=True)
BATCH, STEPS = 500, 24


def with_codes(loaded, codes=CODES):
    settings = checkpoint.fit_generation_config(loaded.model, loaded.tokenizer, ROLES, trained_codes=set(codes))
    return DecodingRules(loaded.tokenizer, settings, loaded.model.config.vocab_size)


@pytest.fixture(scope="module")
def tiny_with_roles(tmp_path_factory):
    return checkpoint.load(build_checkpoint(tmp_path_factory.mktemp("roles"), labels=ROLES))


@pytest.fixture(scope="module")
def nano():
    return checkpoint.load(shipped(NANO))


def random_rows(rules, tokenizer, seed, batch=BATCH):
    """Yield tokens that random logits choose, with asterisks, codes and ends of sentences more likely than others."""
    generator = torch.Generator().manual_seed(seed)
    size = rules._allowed.size
    bias = torch.zeros(size)
    bias[list(tokenizer.encode(". *CHI: ... *Theo: ? ** ...", add_special_tokens=False))] = 1.5
    tokens = torch.empty((batch, 0), dtype=torch.long)
    durations_s = torch.full((batch,), 6.0)
    for _ in range(STEPS):
        logits = 2 * torch.randn((batch, size), generator=generator) + bias
        chosen, logprobs = rules.choose(logits, tokens, durations_s)
        assert torch.isfinite(logprobs).all()
        ended = tokens[:, -1] == rules.end if tokens.shape[1] else torch.zeros(batch, dtype=torch.bool)
        tokens = torch.cat([tokens, chosen.masked_fill(ended, rules.end)[:, None]], dim=1)
    yield from tokens.tolist()


def verify(text, timed):
    """Raise unless each code in ``text`` is whole, known and at the start of an utterance, and each text begins so."""
    whole = rf"(?:^|[.?!] ?)\s*\*({'|'.join(map(re.escape, CODES))}):"
    stripped = re.sub(r"(?:^|\s)\*[^\s:]*$", "", text)  # the limit of tokens stopped within a code
    assert stripped.count("*") == len(re.findall(whole, stripped)), text
    if stripped.strip():
        assert re.match(whole, stripped), text
    made = labels.decode(text, ROLES).utterances
    assert {one.speaker for one in made} <= set(CODES), text
    assert not any("*" in one.text for one in made), text
    return made


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tiny_with_roles", "nano"])
@pytest.mark.parametrize("timed", [True, False])
def test_random_weights_write_no_broken_code(model, timed, request):
    loaded = request.getfixturevalue(model)
    rules = with_codes(loaded)
    if not timed:
        rules.timestamps_s, rules._text_at_begin = {}, rules._text
    parser = SegmentParser(rules.end, rules.timestamps_s, lambda ids: loaded.tokenizer.decode(ids))
    found, decoded, utterances = set(), 0, []
    for seed in range(5):  # 5 x 500 for each model, with and without timestamps: 10,000 in all
        for row in random_rows(rules, loaded.tokenizer, seed):
            decoded += 1
            for segment in parser.window(row, [0.0] * len(row), 6.0, STEPS).segments:
                made = verify(segment.text, timed)
                found.update(one.speaker for one in made)
                utterances += made[:1] if len(utterances) < 100 else []
    assert decoded == 2_500 and found == set(CODES)
    people = [Participant(code, "Participant") for code in CODES]
    transcript = compose(languages=["eng"], participants=people, utterances=utterances)
    codes = {problem.code for problem in check(transcript)}
    assert not {code for code in codes if "speaker" in code or "participant" in code}


def test_without_the_rules_codes_are_broken(tiny_with_roles):
    """The check above can fail: the same logits without speaker codes in the settings."""
    rules = with_codes(tiny_with_roles, codes=())
    texts = [
        tiny_with_roles.tokenizer.decode([index for index in row if index not in rules.timestamps_s])
        for row in random_rows(rules, tiny_with_roles.tokenizer, 0, batch=50)
    ]
    broken = 0
    for text in texts:
        try:
            verify(text.replace("<|endoftext|>", ""), True)
        except AssertionError:
            broken += 1
    assert broken > 25


@pytest.mark.slow
def test_a_random_model_decodes_with_roles(tiny_with_roles, visit):
    """The settings travel with the checkpoint, through the engine itself."""
    from lsa_whisper.audio import Recording

    tiny_with_roles.model.generation_config.speaker_codes = list(CODES)
    decoder = TransformersDecoder(tiny_with_roles)
    windows = [Recording.open(visit).load()[start : start + 80_000] for start in range(0, 160_000, 20_000)]
    results = decoder.decode(windows)
    assert any(result.segments for result in results)
    for result in results:
        for segment in result.segments:
            verify(segment.text, True)
    tiny_with_roles.model.generation_config.speaker_codes = None


def test_codes_are_saved_with_the_checkpoint(tiny_with_roles, tmp_path):
    loaded = tiny_with_roles
    parts = {"feature_extractor": loaded.feature_extractor, "tokenizer": loaded.tokenizer}
    checkpoint.save(tmp_path / "a", model=loaded.model, labels=ROLES, trained_codes={"MOT", "CHI"}, **parts)
    assert checkpoint.load(tmp_path / "a").model.generation_config.speaker_codes == ["CHI", "MOT"]
    again = checkpoint.load(tmp_path / "a").model
    checkpoint.save(tmp_path / "again", model=again, labels=ROLES, **parts)  # as ``merge`` and ``export`` do
    assert checkpoint.load(tmp_path / "again").model.generation_config.speaker_codes == ["CHI", "MOT"]
    checkpoint.save(tmp_path / "b", model=loaded.model, labels=Labels("chat"), trained_codes={"CHI"}, **parts)
    assert getattr(checkpoint.load(tmp_path / "b").model.generation_config, "speaker_codes", None) is None


def test_a_pause_ends_no_utterance(nano):
    rules = with_codes(nano)
    assert isinstance(rules._codes, SpeakerCodeRules)
    start = nano.tokenizer.encode(" *CHI: dog", add_special_tokens=False)

    def may_begin(text):
        tokens = torch.tensor([start + nano.tokenizer.encode(text, add_special_tokens=False) + [*rules._codes._space]])
        mask = rules._codes.mask(tokens, torch.tensor([2]))[0]
        return bool((mask[sorted(rules._codes._asterisks)] == 0).any())

    assert may_begin(".") and may_begin("?") and not may_begin(" cat")
