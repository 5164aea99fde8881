"""Whatever a model writes becomes words that CHECK accepts, and no letter is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper.chat import utterance
from lsa_whisper.chat.checks.words import spelling_faults
from lsa_whisper.labels import Labels, decode, encode
from lsa_whisper.labels.canonical import legal_word

CHAT = Labels("chat")


@pytest.mark.parametrize(
    ("piece", "legal"),
    [
        (":hoo", "h:oo"),
        ("&-:uh", "&-u:h"),
        ("who''", "who'"),
        ("i-'s", "i's"),
        ("&+'a", "&+a"),
        ("↫:o↫I", "↫o↫I"),
        ("↫b-↫ball", "↫b↫ball"),
        ("↫'↫ball", "ball"),
        ("↫b↫↫b↫ball", "↫b-b↫ball"),
        ("↫b↫:↫b↫ball", "↫b-b↫ball"),
        ("≠↫b↫b:all", "≠↫b↫b:all"),
        ("pi^", "pi"),
        ("ice:_cream", "ice_cream"),
        ("&-you:_know", "&-you:_know"),
        ("a♪b☺", "ab"),
        ("'", ""),
        ("l'avió·n", "l'avió·n"),
        ("צה״ל", "צה״ל"),
        ("कि:ताब", "कि:ताब"),
        ("kɛstɰə˞", "kɛstɰə˞"),
        ("hey²", "hey²"),
        ("XX\x80", "xxx"),
        ("y§y", "yyy"),
    ],
)
def test_signs_out_of_place_are_moved_or_dropped(piece, legal):
    assert legal_word(piece) == legal


@given(st.sampled_from(["", "&-", "&+", "&~"]), st.text("ab:^'-_≠↫cdéи狗", max_size=9))
def test_any_word_becomes_legal(prefix, body):
    made = legal_word(prefix + body)
    assert legal_word(made) == made
    assert not made or not spelling_faults(made)
    assert [c for c in made if c.isalpha()] == [c for c in body if c.isalpha()]


@pytest.mark.parametrize(
    ("tier", "label", "back"),
    [
        ("<can you open (.)> [/] can you .", "< can you open > / .. can you.", "<can you open> [/] (.) can you ."),
        ("<um (.)> [/] um .", '"um / .. "um.', "um [/] (.) um ."),
        ("<<a (.)> [/] a b (..)> [//] c .", "< a .. a b > // ... c.", "<a [/] (.) a b> [//] (..) c ."),
        ("hao3@s:zho ok .", "hao3@s:zho ok.", "hao3@s:zho ok ."),
        ("el col·legi .", "el col·legi.", "el col·legi ."),
        ("« bonjour » dit-il .", "bonjour dit-il.", "bonjour dit-il ."),
        ("pre-&=1982 dog .", "pre dog.", "pre dog ."),
        ("&-hm^&-hm: yes .", "~hm ~hm: yes.", "&-hm &-hm: yes ."),
        ("dog&-um ran .", "dog um ran.", "dog &-um ran ."),
        ("the a/c is on .", "the a c is on.", "the a c is on ."),
    ],
)
def test_labels_of_unusual_tiers(tier, label, back):
    spoken = utterance("PAR", tier)
    assert encode(spoken, CHAT) == label
    (decoded,) = decode(label, CHAT).utterances
    assert decoded.text == back
    assert decoded.verbatim() == spoken.verbatim()
    assert decoded.events() == utterance("PAR", back).events()


@pytest.mark.parametrize(("language", "back"), [("zho", "hao3 ok ."), ("eng", "hao ok .")])
def test_a_tone_without_a_language_stays_where_words_have_tones(language, back):
    label = encode(utterance("PAR", "hao3@s ok ."), CHAT)
    assert label == "hao3@s ok."
    assert [one.text for one in decode(label, CHAT, language=language).utterances] == [back]


@pytest.mark.parametrize(
    ("written", "tier"),
    [
        ("hello 0_900 there.", "hello there ."),
        ("dog 12345_67890", "dog ."),
        ("pre-1982 dogs.", "pre nineteen eighty two dogs ."),
        ("pre-&=1982 dogs.", "&+pre dogs ."),
        ("hao3 ok.", "hao three ok ."),
        ("hao3@s ok.", "hao ok ."),
        ("hao3@s:zzho ok.", "hao:zzho ok ."),
        ("hao3@s:.", "hao: ."),
        ("«bonjour» dit-il.", "bonjour dit-il ."),
        ("dog&-um ran.", "dog &-um ran ."),
    ],
)
def test_what_models_write_besides_words(written, tier):
    assert [one.text for one in decode(written, CHAT).utterances] == [tier]
