"""After the review: its utterances become training data, and the draft is scored against what was corrected."""

from __future__ import annotations

import json

import pytest
from review_page import opened, press, texts, type_text, until

from lsa_whisper.evaluation import evaluate
from lsa_whisper.preparation import prepare

pytestmark = pytest.mark.slow


def test_what_was_corrected_in_the_browser_is_trained_on_and_scores_the_draft(visit, serve, chromium, tmp_path):
    """Two words are left out of the second utterance and a filled pause is marked; two utterances are reviewed."""
    path = visit / "test01.cha"
    page = opened(chromium, serve(visit))
    press(page, "ArrowDown")
    type_text(page, "the goat &-uh was new .")
    press(page, "y")
    press(page, "f", "f", "y")
    until(page, "document.getElementById('corrections').textContent.includes('words')")
    assert page.inner_text("#corrections") == "Corrected since the draft: words 2, filled pause 1"
    assert page.inner_text("#progress").startswith("2 of 36 reviewed")
    corrected = [text for _, text in texts(path)[1:3]]
    assert corrected == ["the goat &-uh was new .", "&-yes I see it ."]

    out = tmp_path / "data"
    prepare([visit], out, one_utterance=True, non_speech=0, reviewed=True)
    rows = [json.loads(row) for split in ("train", "dev", "test") for row in _lines(out, split)]
    assert len(rows) == 2 and "the goat uh was new" in json.dumps(rows)

    (draft,) = evaluate(visit, [visit / ".review"]).systems.values()
    assert draft.total.verbatim.insertions == 2


def _lines(out, split):
    return (out / f"{split}.jsonl").read_text().splitlines()
