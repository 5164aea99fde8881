"""Tokens counted without torch are those a training sees, and the estimate is not below them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lsa_whisper import manifest
from lsa_whisper.errors import CheckpointError, CorpusError
from lsa_whisper.inspection import inspect
from lsa_whisper.inspection.tokens import token_counter
from lsa_whisper.manifest import Segment

ROOT = Path(__file__).parents[2]
NANO = ROOT / "models" / "nano"
WHISPER = ROOT.parent / "shared" / "data" / "whisper"
CHECKPOINTS = [NANO, WHISPER / "processor", WHISPER / "processor-tiny.en"]
TIMED = "<|0.00|>< the dog > / the dog ran.<|1.90|><|2.00|>um b~~ ball..<|3.10|>"
ROWS = [
    Segment("a.wav", 0, 4, TIMED),
    Segment("a.wav", 0, 4, "um I = want it."),
    Segment("a.wav", 0, 4, TIMED, prompt="where is it?"),
    Segment("a.wav", 0, 4, "no.", prompt="naïve Zoë ..."),
]


@pytest.mark.parametrize("folder", CHECKPOINTS, ids=lambda folder: folder.name)
def test_a_tokenizer_counts_what_training_encodes(folder):
    if not folder.is_dir():
        pytest.skip("OpenAI's tokenizers are not beside the project")
    transformers = pytest.importorskip("transformers")
    from lsa_whisper.dataset import LabelEncoder

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    settings = transformers.GenerationConfig.from_pretrained(folder)
    encoder, counter = LabelEncoder(tokenizer, settings), token_counter(folder)
    for row in ROWS:
        whole, _ = encoder.encode(row.text, lang=row.lang, prompt=row.prompt)
        assert counter.count(row) == len(whole) - 1, "the decoder reads all but the end"
        if folder != NANO:  # its vocabulary is small, so it needs more tokens than OpenAI's
            assert token_counter().count(row) >= counter.count(row)


def test_counts_with_a_checkpoint_are_exact_and_limited_by_it(thirty):
    guessed, counted = (json.loads(inspect(thirty, json=True, model=model))["tokens"] for model in (None, NANO))
    assert (guessed["exact"], guessed["limit"]) == (False, 448)
    limit = json.loads((NANO / "config.json").read_text())["max_target_positions"]
    assert (counted["exact"], counted["limit"]) == (True, limit)
    assert counted["lengths"]["maximum"] < guessed["lengths"]["maximum"]
    assert f"tokens of {limit}" in inspect(thirty, model=NANO)


def test_a_text_over_the_limit_is_reported(tmp_path):
    manifest.write([Segment("/x/a.wav", 0, 30, "one two three. " * 300)], tmp_path / "train.jsonl")
    assert "warning: 1 segment(s) may exceed the decoder's 448 tokens; count them exactly" in inspect(tmp_path)
    assert json.loads(inspect(tmp_path, json=True))["splits"]["train"]["over_limit"] == 1
    assert "use shorter windows" in inspect(tmp_path, model=NANO)


def test_a_folder_without_a_tokenizer(thirty, tmp_path):
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.json"):
        inspect(thirty, model=tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(CheckpointError, match="cannot be read as a tokenizer"):
        inspect(thirty, model=tmp_path)


def test_transcripts_have_no_tokens(corpus):
    with pytest.raises(CorpusError, match="`model` needs prepared data"):
        inspect(corpus(), model=NANO)


def test_nothing_here_loads_torch(thirty, tmp_path):
    code = (
        "import sys; from pathlib import Path; from lsa_whisper.inspection import inspect\n"
        f"inspect(Path({str(thirty)!r}), model=Path({str(NANO)!r}), out=Path({str(tmp_path / 'page.html')!r}))\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
