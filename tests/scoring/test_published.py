import gzip
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.errors import CorpusError, MissingExtraError
from lsa_whisper.evaluation import evaluate
from lsa_whisper.scoring import published, speakers
from lsa_whisper.scoring.published import MODES
from lsa_whisper.timespan import TimeSpan


def installed(name):
    return importlib.util.find_spec(name) is not None


def errors(mode, reference, hypothesis):
    found = MODES[mode].errors(*([chat.utterance("CHI", text) for text in side] for side in (reference, hypothesis)))
    return found.hits, found.substitutions, found.deletions, found.insertions


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        (["&-uhm he's gonna go ."], ["&-um he is going to go ."], (6, 0, 0, 0)),
        (["I don't we'll they're ."], ["I don't we'll they're ."], (4, 0, 0, 0)),
        (["hello firstname there ."], ["hello Peter there ."], (3, 0, 0, 0)),
        (["hello firstname there ."], ["hello there ."], (3, 0, 0, 0)),
        (["a b c ."], ["a x y c ."], (2, 1, 0, 1)),
        (["a b c d ."], ["a x d ."], (2, 1, 1, 0)),
        (["ice-cream merry_go_round ."], ["ice cream merry go round ."], (5, 0, 0, 0)),
        (["xxx dog ."], ["dog ."], (1, 0, 1, 0)),
        ([], ["a ."], (0, 0, 0, 1)),
    ],
)
def test_batchalign2(reference, hypothesis, expected):
    assert errors("batchalign2", reference, hypothesis) == expected


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        (["&-um the dog ."], ["the dog ."], (2, 0, 0, 0)),
        (["the dog ."], ["the cat ."], (1, 0, 1, 1)),
        (["the dog ."], ["something else ."], (0, 0, 0, 0)),
        (["the dog .", "no way ."], ["no way ."], (2, 0, 0, 0)),
        (["the dog ."], ["oh well the dog now ."], (2, 0, 0, 3)),
        (["the dog ."], ["the dog .", "and nobody said this ."], (2, 0, 0, 0)),
        (["I see .", "you go home ."], ["I see you go home ."], (5, 0, 0, 0)),
        (["no .", "no ."], ["no .", "no ."], (1, 0, 0, 0)),
        ([], ["a ."], (0, 0, 0, 0)),
    ],
)
def test_batchalign_compare(reference, hypothesis, expected):
    """The last but one: the first reference takes the LATEST of equals, so that nothing is left for the second."""
    assert errors("batchalign-compare", reference, hypothesis) == expected


AMI = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "ami" / "disfluencies.jsonl.gz"


@pytest.mark.skipif(not installed("whisper_normalizer"), reason="whisper-normalizer is not installed")
def test_whisper_normalization_is_that_of_openai():
    """The package expands *cause*, *dunno*, *kinda* and *sorta*, too."""
    normalize = published._whisper_normalizer()
    assert normalize("'Cause I dunno, it's kinda sorta gonna cost $5") == (
        "cause i dunno it is kinda sorta going to cost $5"
    )


@pytest.mark.slow
@pytest.mark.skipif(not AMI.exists(), reason="../shared/data/ami is absent")
def test_whisper_normalization_equals_openai_whisper_on_real_speech():
    normalizers = pytest.importorskip("whisper.normalizers", reason="openai-whisper is not installed")
    theirs, ours = normalizers.EnglishTextNormalizer(), published._whisper_normalizer()
    with gzip.open(AMI, "rt") as lines:
        texts = [" ".join(token[0] for token in json.loads(line)["tokens"]) for line in lines]
    assert len(texts) == 15_140 and [text for text in texts if theirs(text) != ours(text)] == []


@pytest.mark.skipif(not installed("whisper_normalizer"), reason="whisper-normalizer is not installed")
def test_whisper_normalization_removes_fillers():
    assert errors("whisper", ["&-um I can't see twenty one colours ."], ["I can not see 21 colors ."]) == (6, 0, 0, 0)


@pytest.mark.skipif(not installed("whisper_normalizer"), reason="whisper-normalizer is not installed")
@pytest.mark.parametrize(
    ("language", "reference", "hypothesis", "hits"),
    [
        ("deu", "um sieben Uhr, ähm, kam sie .", "Um 7 Uhr ähm kam sie .", 5),
        ("spa", "¿qué hora es ?", "qué hora es .", 3),
        ("zho", "我要球 .", "我要狗 .", 2),
    ],
)
def test_whisper_normalization_of_other_languages_keeps_fillers_and_numbers(language, reference, hypothesis, hits):
    sides = ([chat.utterance("CHI", text)] for text in (reference, hypothesis))
    assert published.errors("whisper", *sides, language).hits == hits


@pytest.fixture
def folder(tmp_path):
    participants = [chat.Participant("CHI", "Target_Child"), chat.Participant("MOT", "Mother")]
    said = [
        chat.utterance("CHI", "&-um the dog ran .", TimeSpan(0, 1500)),
        chat.utterance("MOT", "where did it go ?", TimeSpan(2000, 3500)),
    ]
    swapped = [chat.utterance({"CHI": "MOT", "MOT": "CHI"}[u.speaker], u.text, u.span) for u in said]
    one = [chat.utterance("CHI", u.text, u.span) for u in said]
    for name, utterances in {"reference": said, "swapped": swapped, "one": one}.items():
        (tmp_path / name).mkdir()
        written = chat.compose(languages=["eng"], participants=participants, utterances=utterances)
        chat.write(written, tmp_path / name / "a.cha")
    return tmp_path


def test_figures_by_other_rules_are_separate(folder):
    asked = ("batchalign2", "batchalign-compare")
    with_modes = evaluate(folder / "reference", [folder / "one"], as_=asked, out=folder / "report", samples=40)
    without = evaluate(folder / "reference", [folder / "one"], samples=40)
    system = with_modes.systems["one"]
    assert system.total.published["batchalign-compare"].reference_words == 7
    assert system.word_errors_verbatim == without.systems["one"].word_errors_verbatim
    page = (folder / "report" / "report.html").read_text("utf-8")
    assert all(MODES[mode].title in page for mode in asked) and "a completely wrong transcript has no errors" in page
    assert "rules of" in with_modes.table() and "rules of" not in without.table()


def test_an_unknown_mode_is_one_clear_sentence(folder):
    with pytest.raises(CorpusError, match="choose from batchalign2, batchalign-compare, whisper, nyra"):
        evaluate(folder / "reference", [folder / "one"], as_=("sclite",))


def test_a_missing_package_is_one_line_with_the_command(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "meeteval", None)
    monkeypatch.setitem(sys.modules, "whisper_normalizer.english", None)
    published._whisper_normalizer.cache_clear()
    with pytest.raises(MissingExtraError, match=r"needs meeteval: pip install 'lsa-whisper\[speakers\]'"):
        evaluate(folder / "reference", [folder / "one"], speaker_errors=True)
    with pytest.raises(MissingExtraError, match=r"needs whisper-normalizer: pip install 'lsa-whisper\[whisper\]'"):
        evaluate(folder / "reference", [folder / "one"], as_=("whisper",))


@pytest.mark.skipif(not installed("meeteval"), reason="meeteval is not installed")
def test_speaker_attributed_errors(folder):
    evaluation = evaluate(folder / "reference", [folder / "swapped", folder / "one"], speaker_errors=True)
    swapped, one = (system.total.speakers for system in evaluation.systems.values())
    assert (swapped.cp, swapped.tcp) == (0, 0), "what speakers are called does not matter"
    assert (one.cp_errors, one.cp_words) == (8, 8), "the words of one are added to the other's, and missing there"
    late = [chat.utterance("CHI", "the dog .", TimeSpan(20_000, 21_000))]
    errors = speakers.speaker_errors([chat.utterance("CHI", "the dog .", TimeSpan(0, 1000))], late)
    assert (errors.cp_errors, errors.tcp_errors) == (0, 4)
    assert swapped.orc == 0
    assert speakers.speaker_errors([], late).cp is None and speakers.speaker_errors(late, []).cp == 1
    assert speakers.speaker_errors([chat.utterance("CHI", "the .")], late).tcp is None
