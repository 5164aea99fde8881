"""The two spellings of a revision hold the same: one is changed into the other and back."""

from pathlib import Path

from benchmarks.sign_after_repair import SIGN, sign_after, sign_before
from lsa_whisper import chat
from lsa_whisper.labels import encode
from lsa_whisper.labels.style import Labels

CORPUS = Path(__file__).resolve().parents[2] / "corpora" / "storybook"


def test_every_label_of_storybook_comes_back():
    labels = Labels("chat", roles=True)
    texts = [encode(each, labels) for path in CORPUS.rglob("*.cha") for each in chat.read(path).utterances]
    revised = [text for text in texts if SIGN in text.split()]
    assert len(revised) > 40 and not [text for text in texts if sign_before(sign_after(text)) != text]
    assert not [text for text in revised if sign_after(text) == text]
    assert sign_after("*CHI: < the dog > // um the cat // bird.") == "*CHI: the dog um the // // cat bird //."


def test_no_word_that_a_model_writes_is_lost():
    for text in ("//", "*CHI: //", "*CHI: um // // a.", "a // // //", "<|0.10|>*CHI: // the //.<|1.00|>", "< a //"):
        for changed in (sign_before(text), sign_after(text)):
            assert [word for word in changed if word.isalnum()] == [word for word in text if word.isalnum()]
