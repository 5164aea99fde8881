"""The label codec: what each style keeps, what it loses, and what is mended."""

import re
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lsa_whisper.chat import Disfluency, Participant, check, compose, read, utterance
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.labels import STYLES, Labels, decode, encode

CHAT, VERBATIM, FLUENT = (Labels(style) for style in STYLES)
PLAIN = Labels("chat", version=1)
SIGNED = Labels("chat", version=2)
REAL = Path(__file__).resolve().parents[3] / "shared" / "data"


def texts(decoded):
    return [one.text for one in decoded.utterances]


def passes_check(utterances):
    people = [Participant(code, "Participant") for code in sorted({one.speaker for one in utterances} | {"PAR"})]
    return check(compose(languages=["eng"], participants=people, utterances=utterances)) == []


# --- what the styles write --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tier", "chat", "verbatim", "fluent"),
    [
        ("&-um I want [/] want it .", "&-um I want [/] want it .", "um I want want it.", "I want it."),
        ("<the dog> [//] the cat ?", "<the dog> [//] the cat ?", "the dog the cat?", "The cat?"),
        ("<going> [//] else +...", "going [//] else +...", "going else.", "Else."),
        ("↫b-b↫ball !", "↫b-b↫ball !", "b- b- ball!", "Ball!"),
        ("goed [: went] [* m] &=laughs .", "goed &=laughs .", "goed.", "Went."),
        ("(be)cause 0am &=head:yes .", "cause .", "cause.", "Because."),
        ("ice+cream@c so (1.5) &*INV:mhm <no> [>] . [+ gram]", "ice cream so (..) no .", "ice cream so no.", None),
        ('+" &uh go [x 2] [/?] went +"/.', "&-uh <go [/] go> [//] went .", "uh go go went.", "Went."),
        ("<I want> [//] .", "I want .", "I want.", ""),
        ("&=clears:throat .", "&=clears:throat .", "", ""),
        ("0 .", "", "", ""),
        ("xxx it .", "xxx it .", "it.", "It."),
        ("°yes° ⌈ no ⌉ → ≠so", "yes no ≠so .", "yes no so.", "Yes no so."),
    ],
)
def test_styles(tier, chat, verbatim, fluent):
    spoken = utterance("CHI", tier)
    assert encode(spoken, PLAIN) == chat
    assert encode(spoken, VERBATIM) == verbatim
    assert encode(spoken, FLUENT) == (verbatim[:1].upper() + verbatim[1:] if fluent is None else fluent)
    assert encode(spoken, Labels("chat", roles=True, version=1)) == (f"*CHI: {chat}" if chat else "")


# --- there and back ---------------------------------------------------------------------------------------------------

WORDS = "I want the dog don't so cookie Mary naïve merry-go-round 狗"
MARKED = "s:o ba:::by ≠word pi^zza ↫b-b-b↫ball ra↫b↫bbit &-um &-you_know &-u:m &+fr &~goo xxx &=laughs (.) (...)"
MARKED += " sssnake mmm m:mmm &+sss &+mmmu ≠ooo"
words = st.sampled_from(WORDS.split())
marked = st.sampled_from(MARKED.split())
item = st.one_of(words, words, marked)


@st.composite
def retraced(draw, inner):
    body = draw(st.lists(inner, min_size=1, max_size=3))
    code = draw(st.sampled_from(["[/]", "[//]", "[///]", "[/-]"]))
    return f"<{' '.join([*body, draw(words)])}> {code}"


tier_items = st.recursive(item, lambda inner: retraced(inner), max_leaves=6)
tiers = st.builds(
    lambda body, last, end: " ".join([*body, last, end]),
    st.lists(tier_items, max_size=6),
    words,
    st.sampled_from([".", "?", "!", "+...", "+/.", "+//.", "+..?", "+!?"]),
)


@pytest.mark.parametrize("labels", [CHAT, PLAIN], ids=["signs", "plain"])
@given(tiers)
def test_chat_labels_keep_words_events_and_ending(labels, text):
    spoken = utterance("PAR", text)
    decoded = decode(encode(spoken, labels), labels)
    (back,) = decoded.utterances
    assert decoded.repairs == 0
    assert back.verbatim() == spoken.verbatim()
    assert back.fluent() == spoken.fluent()
    assert back.events() == spoken.events()
    assert back.terminator == spoken.terminator
    assert encode(back, labels) == encode(spoken, labels)
    assert passes_check([back])


@given(
    st.lists(tiers, min_size=1, max_size=4), st.lists(st.sampled_from(["CHI", "MOT", "INV1"]), min_size=4, max_size=4)
)
def test_several_utterances_with_roles(many, speakers):
    labels = Labels("chat", roles=True)
    spoken = [utterance(speaker, text) for speaker, text in zip(speakers, many, strict=False)]
    decoded = decode(" ".join(encode(one, labels) for one in spoken), labels)
    assert [one.speaker for one in decoded.utterances] == [one.speaker for one in spoken]
    assert [one.events() for one in decoded.utterances] == [one.events() for one in spoken]
    assert decoded.repairs == 0


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("Woof woof woof.", "woof woof woof ."),
        ("Ding dong, ding dong.", "ding dong ding dong ."),
        ("Uh oh, uh oh.", "uh oh uh oh ."),
        ("Dog dog.", "dog [/] dog ."),
    ],
)
def test_sounds_are_made_again_and_again(text, tier):
    assert [one.text for one in decode(text, VERBATIM).utterances] == [tier]


@given(tiers)
def test_verbatim_labels_keep_the_words(text):
    spoken = utterance("PAR", text)
    heard = [word.casefold() for word in spoken.verbatim() if word != "xxx"]
    back = [word.casefold() for one in decode(encode(spoken, VERBATIM), VERBATIM).utterances for word in one.verbatim()]
    assert back == heard


def test_chat_labels_of_real_transcripts_keep_words_and_events():
    files = sorted([*REAL.glob("chat/good/*.cha"), *REAL.glob("chat/reference/**/*.cha"), *REAL.glob("paired/*.cha")])
    if not files:
        pytest.skip("no real transcripts beside the project (../shared/data)")
    kept = 0
    for path in files:
        for spoken in read(path).utterances:
            if any(event.kind is Disfluency.UNSPECIFIED_RETRACE for event in spoken.events()):
                continue  # written as [//]: declared
            back = decode(encode(spoken, CHAT), CHAT, language="zho").utterances  # digits are tones in many of them
            assert [word for one in back for word in one.verbatim()] == spoken.verbatim(), (path.name, spoken.text)
            if len(back) == 1 and spoken.tree.faults == []:
                assert back[0].events() == spoken.events(), (path.name, spoken.text)
            kept += len(back)
    assert kept > 700


@pytest.mark.parametrize(
    ("tier", "written"),
    [
        ("&-um &-uh &-uhm &-er &-erm .", "um uh uhm er erm."),
        ("&-like &-u:m um Er .", '~like ~u:m "um "Er.'),
        ("&+fr friend &~mu .", "fr- friend %mu."),
        ("the [/] the cat [//] dog [///] it [/-] I ?", "the / the cat // dog /// it \\ I?"),
        ("<the [/] the dog> [//] a cat +...", "< the / the dog > // a cat..."),
        ("↫b-b-b↫ball ↫b-ba↫ball ra↫b-b↫bbit !", "b~~~ ball b~ba~ ball ra↫b-b↫bbit!"),
        ("l:ibrary sto:re a: mm::: +..?", ": library sto:re : a mm:::...?"),
        ("≠ball ≠↫b↫b:all pi^zza +!?", "= ball = b~ : ball pi^zza?!"),
        ("(.) so (..) no (...) .", ".. so ... no .... ."),
        ("I (.) +/.", "I .. --"),
        ("I &+w +//. ", "I w- ---"),
        ("is it +/? ", "is it --?"),
        ("&=laughs it's a merry-go-round .", "#laughs it's a merry-go-round."),
        ("xxx you_know .", "xxx you know."),
        ("u:m ≠uh .", "u:m ≠uh."),
    ],
)
def test_the_signs_of_chat_and_back(tier, written):
    spoken = utterance("CHI", tier)
    assert encode(spoken, SIGNED) == written
    (back,) = decode(written, SIGNED).utterances
    assert back.text == encode(spoken, PLAIN)


@pytest.mark.parametrize(
    ("tier", "written"),
    [
        ("the [/] the [/] the dog [/] dog .", "the the the dog dog."),
        ("<I want> [/] I want &-um want .", 'I want I want um "want.'),
        ("I want want it .", 'I want "want it.'),  # meant to come twice, for nobody took it back
        ("I [/] &-um (.) I want .", "I um .. I want."),
        ("I &-um [/] I want .", "I um / I want."),  # the um belongs to what is taken back
        ("very very [/] very good .", "very very / very good."),  # words that fluent speakers say twice keep the sign
        ("<no no> [/] no no .", "< no no > / no no."),
        ("the [//] the dog .", "the // the dog."),
        ("<the [/] the dog> [//] the [/] the cat .", "< the the dog > // the the cat."),
        ("w:ant [/] want ↫b-b↫ball [/] ball .", ": want want b-b- ball ball."),
        ("↫b↫ball ≠↫b-ba↫b:all &+b &+b ↫b↫ball .", "b~ ball = b-ba- : ball b- b- b~ ball."),
        ("The [/] the dog . ", "The the dog."),
        ("um [/] um &-um &-um dog .", '"um / "um um um dog.'),
        ("a dog . ", "a dog."),
        ("sssnake mmm many &+sss see .", '"sssnake "mmm many &+sss see.'),
    ],
)
def test_plain_repetitions_need_no_sign(tier, written):
    spoken = utterance("CHI", tier)
    assert encode(spoken, CHAT) == written
    (back,) = decode(written, CHAT).utterances
    assert back.text == encode(spoken, PLAIN)


def test_what_two_sentences_share_is_no_repetition():
    assert texts(decode("I went home. home is far", CHAT)) == ["I went home .", "home is far ."]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Um, I want", ["&-um I want ."]),  # as a model writes that was never told
        ("b~~", ["&+b &+b ."]),  # no word follows: nothing heard is lost
        ("b-b-", ["&+b &+b ."]),
        ("b~~ ball", ["↫b-b↫ball ."]),  # as version 2 has it
        ("A sssnake, sss snake.", ["A s:nake s:nake ."]),  # as captions have it
        (
            "= mmm- many llli- lion mmm. www world xxx xylophone",
            ["≠m:any &+l:i lion mmm .", "www world xxx xylophone ."],
        ),
        ("I = : want.", ["I ≠w:ant ."]),
        ("I want = .", ["I want ."]),
        ("the / dog > / .", ["the [/] dog ."]),
        ("I want.. it", ["I want +...", "it ."]),
        ("<|0.20|>I want it.<|1.00|>", ["I want it ."]),
    ],
)
def test_signs_that_do_not_fit_are_mended(written, read):
    decoded = decode(written, CHAT)
    assert texts(decoded) == read
    assert passes_check(decoded.utterances)


# --- repairs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        ("<I want [/] I want it .", ["I want [/] I want it ."]),
        ("I want> [/] I want it .", ["I want [/] I want it ."]),
        ("I want /] want it .", ["I want [/] want it ."]),
        ("I want [/ want it .", ["I want [/] want it ."]),
        ("I want [//] .", ["I want ."]),
        ("<I want> [/] &=laughs +...", ["I want &=laughs +..."]),
        ("[/] I want .", ["I want ."]),
        ("I want 3 dogs .", ["I want three dogs ."]),
        ("1,200.5 and 21st b2b", ["one thousand two hundred point five and twenty first b two b ."]),
        ("I want it", ["I want it ."]),
        ("I want it . you know ? +... yes +/.", ["I want it .", "you know ?", "yes +/."]),
        ("I want...", ["I want +..."]),
        ("[the dog] barks .", ["the dog barks ."]),
        ("[<I] goed [: went] [* m] .", ["I goed ."]),
        ("fr- friend .", ["&+fr friend ."]),
        ("&um &fr friend .", ["&-um &+fr friend ."]),
        ("go [x 3] .", ["go [/] go [/] go ."]),
        ("*CHI: hello .", ["hello ."]),
        ("a&b and/or c@d me+you (so) “yes” .", ["a b and or c d me you so yes ."]),
        ("&- &+ &~ ↫ ≠ : ^ .", []),
        ("(.) (1.5) .", ["(.) (..) ."]),
        ("<<a b> [/] a b> [//] c .", ["<<a b> [/] a b> [//] c ."]),
        ("", []),
        (" . ? !", []),
        ("<|startoftranscript|>hello .<|endoftext|>", ["hello ."]),
    ],
)
def test_malformed_output_is_mended(written, mended):
    decoded = decode(written, PLAIN)
    assert texts(decoded) == mended
    assert passes_check(decoded.utterances)


def test_repairs_are_counted_once_each():
    assert decode("&-um I [/] I see .", PLAIN).repairs == 0
    assert decode("&-um I [/ I see .", PLAIN).repairs == 1
    assert decode("<&-um I [/ I see 2", PLAIN).repairs == 4


letters = st.text("abcI' ", max_size=12)
NOISE = "< > [ ] / // [/] [//] /] [/ . ? +... +/. & &- &+ ↫ ≠ : - _ ( ) (.) , ; “ ” ’ ’s * + @ %"
noise = st.sampled_from([*NOISE.split(), "\n"])


@example("[I[]]")
@example("II.aa")
@given(st.lists(st.one_of(letters, noise), max_size=30).map("".join))
def test_whatever_was_written_becomes_valid_and_loses_no_letter(text):
    assume(not re.search(r"\[[:*+%]+\s", text))  # a linguist's comment: [* m], [: target]
    for labels in (CHAT, PLAIN, VERBATIM, FLUENT):
        decoded = decode(text, labels)
        assert passes_check(decoded.utterances), text
        # In plain text these are words: and, at, percent, plus, dot.
        if re.search(r"\w\W*[&@%]|\w\s?\+|@\w|\w\.\w", text):
            continue
        said = "".join(word for one in decoded.utterances for word in one.verbatim())
        kept = _one_of_each_run if labels is CHAT else str  # a prolonged sound is one letter
        assert kept(_letters(said)) == kept(_letters(text)), texts(decoded)
        assert decode(text, labels) == decoded


def _letters(text):
    return "".join(letter for letter in text.casefold() if letter.isalpha())


def _one_of_each_run(letters):
    return "".join(letter for letter, _ in groupby(letters))


@given(st.text(max_size=40))
def test_any_text_decodes_without_an_exception(text):
    for labels in (CHAT, PLAIN, Labels("verbatim", roles=True), FLUENT):
        for one in decode(text, labels).utterances:
            assert one.terminator and one.tree.faults == []


# --- plain words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "verbatim", "fluent"),
    [
        ("Um, I want I want it.", ["&-um <I want> [/] I want it ."], ["&-um I want I want it ."]),
        ("I I I want", ["I [/] I [/] I want ."], ["I I I want ."]),
        ('She said, "The, the dog!"', ["she said The [/] the dog !"], ["she said The the dog !"]),
        ("B- b- ball. Fr- friend.", ["↫b-b↫ball .", "&+fr friend ."], ["&+b &+b ball .", "&+fr friend ."]),
        ("I, um, I have 2 dogs...", ["I [/] &-um I have two dogs +..."], ["I &-um I have two dogs +..."]),
        ("No no. Bye bye! Very very good?", ["no no .", "bye bye !", "very very good ?"], None),
        ("a b a b a b c", ["<a b> [/] <a b> [/] a b c ."], ["a b a b a b c ."]),
        ("The dog the Dog barked.", ["<the dog> [/] the Dog barked ."], ["the dog the Dog barked ."]),
        ("I'm <here> [now].", ["I'm here now ."], None),
        ("", [], None),
    ],
)
def test_what_plain_words_show(written, verbatim, fluent):
    assert texts(decode(written, VERBATIM)) == verbatim
    assert texts(decode(written, FLUENT)) == (verbatim if fluent is None else fluent)


def test_roles_name_the_speaker():
    decoded = decode("hello . *CHI: &-um hi . yes . *MOT: good .", Labels("chat", roles=True), speaker="INV")
    assert [(one.speaker, one.text) for one in decoded.utterances] == [
        ("INV", "hello ."),
        ("CHI", "&-um hi ."),
        ("CHI", "yes ."),
        ("MOT", "good ."),
    ]
    assert decode("*CHI: hi .", CHAT, speaker="INV").utterances[0].speaker == "INV"


def test_tone_digits_stay():
    assert texts(decode("hao3 3 .", CHAT, language="zho")) == ["hao3 3 ."]


# --- what labels say about themselves ---------------------------------------------------------------------------------


def test_labels_as_a_dictionary():
    labels = Labels("verbatim", roles=True)
    assert Labels.from_dict(labels.as_dict()) == labels
    with pytest.raises(LsaWhisperError, match="chat, verbatim, fluent"):
        Labels("plain")
    with pytest.raises(LsaWhisperError, match="version 7"):
        Labels(version=7)
    with pytest.raises(LsaWhisperError, match="'chat/new' is not a style and a version"):
        Labels.from_name("chat/new")
    with pytest.raises(LsaWhisperError, match="colour"):
        Labels.from_dict({"colour": 1})


@pytest.mark.parametrize(
    ("language", "text", "tier"),
    [
        ("spa", "quiero 21 perros.", "quiero veintiún perros ."),
        ("deu", "1.905 und 3,5 .", "eintausendneunhundertfünf und drei Komma fünf ."),
        ("de", "es waren 3.", "es waren drei ."),
        ("yue", "wo3 3.", "wo3 3 ."),
        ("vec", "3 cani.", "3 cani ."),
    ],
)
def test_numbers_of_other_languages_are_spelled_out_where_num2words_knows_them(language, text, tier):
    assert texts(decode(text, CHAT, language=language)) == [tier]
