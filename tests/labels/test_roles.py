"""Any legal speaker code can be read back from a label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper.chat import utterance
from lsa_whisper.chat.codes import MAX_SPEAKER_CODE
from lsa_whisper.labels import Labels, codes_in, decode, encode

LETTERS = "ABCXYZabcxyz0123456789_'-"


@given(st.text(LETTERS, min_size=1, max_size=MAX_SPEAKER_CODE), st.sampled_from(["chat", "verbatim", "fluent"]))
def test_every_legal_code_is_read_back(code, style):
    labels = Labels(style, roles=True)
    texts = [encode(utterance(speaker, text), labels) for speaker, text in ((code, "yes ."), ("MOT", "a dog ran ."))]
    made = decode(" ".join(texts), labels)
    assert [one.speaker for one in made.utterances] == [code, "MOT"]
    assert made.utterances[0].fluent()[0].casefold() == "yes"
    assert codes_in(" ".join(texts)) == {code, "MOT"}


@pytest.mark.parametrize("code", ["206", "Theo", "F_A_T", "A'B", "A-B", "x"])
def test_a_code_is_no_word(code):
    (one,) = decode(f"*{code}: yes.", Labels("chat", roles=True)).utterances
    assert (one.speaker, one.text) == (code, "yes .")


@pytest.mark.parametrize("text", ["*CHI: yes. *MO", "*CHI: yes. *", "*CHI: yes. *MOT:", "*CHI: yes. *MOT: "])
def test_a_code_at_which_the_text_ends_is_dropped(text):
    (one,) = decode(text, Labels("chat", roles=True)).utterances
    assert (one.speaker, one.text) == ("CHI", "yes .")
