"""What each label style costs in tokens of OpenAI's vocabularies: decoding takes one step for each of them.

python -m benchmarks.label_tokens FOLDER... --tokenizers FOLDER_OF_TOKENIZERS
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.labels import Labels, encode

STYLES = ("chat/4", "chat/2", "chat/1", "chat+roles/4", "verbatim", "fluent")


def main() -> None:
    """Count the tokens of every utterance in every style and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--tokenizers", required=True, type=Path)
    options = parser.parse_args()
    files = sorted(path for folder in options.folders for path in folder.rglob("*.cha"))
    spoken = [one for path in files for one in chat.read(path).utterances if one.verbatim() and not one.unusable()]
    disfluent = [one for one in spoken if one.events()]
    result.write(
        "label_tokens",
        ("transformers",),
        f"{len(files)} transcripts, {len(spoken)} utterances, {len(disfluent)} of them disfluent",
        tokens_per_utterance={
            folder.name: {"all": costs(spoken, folder), "disfluent": costs(disfluent, folder)}
            for folder in sorted(path.parent for path in options.tokenizers.glob("*/tokenizer*.json"))
        },
    )


def costs(utterances: Sequence[chat.Utterance], folder: Path) -> dict[str, Any]:
    """Return the mean number of tokens of an utterance's bare words and of its label in each style."""
    from transformers import WhisperTokenizerFast

    tokenizer = WhisperTokenizerFast.from_pretrained(folder)

    def mean(texts: Sequence[str]) -> float:
        return sum(len(ids) for ids in tokenizer(list(texts), add_special_tokens=False).input_ids) / len(texts)

    bare = mean([" " + " ".join(one.verbatim()) for one in utterances])
    styles = {name: mean([f" {encode(one, Labels.from_name(name))}" for one in utterances]) for name in STYLES}
    return {"bare words": round(bare, 2)} | {
        name: {"tokens": round(cost, 2), "ratio": round(cost / bare, 3)} for name, cost in styles.items()
    }


if __name__ == "__main__":
    main()
