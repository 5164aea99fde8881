"""What Whisper writes is read as language, by `transcribe` and by `convert` alike: a table in fifteen languages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper import chat
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading import ReadingOptions, read_transcripts
from lsa_whisper.labels import Labels
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.assemble import TranscriptHeader, assemble
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns


def transcribed(segments, language="eng", style="verbatim"):
    """Return the transcript of what a stock model wrote: (text, start_s, end_s) of each segment."""
    window = DecodedWindow(tuple(DecodedSegment(*segment) for segment in segments))
    return of_window(window, 30_000, style=style, language=language)


def of_window(window, end_ms, *, style="verbatim", is_stock=True, **header):
    """Return the transcript of a window that is the whole recording."""
    return assemble(
        [TimeSpan(0, end_ms)], [window], labels=Labels(style), duration_ms=end_ms,
        header=TranscriptHeader("a", **header), is_stock=is_stock,
    ).transcript  # fmt: skip


def converted(segments, folder, language="eng", suffix="json"):
    """Return the transcript of the same segments in a file of openai-whisper."""
    rows = [{"start": start, "end": end, "text": f" {text}"} for text, start, end in segments]
    whole = {
        "json": lambda: json.dumps({"segments": rows}),
        "tsv": lambda: (
            "start\tend\ttext\n" + "".join(f"{_ms(r['start'])}\t{_ms(r['end'])}\t{r['text']}\n" for r in rows)
        ),
        "srt": lambda: "\n".join(f"{at}\n{_cue(r, ',')}\n" for at, r in enumerate(rows, 1)),
        "vtt": lambda: "WEBVTT\n\n" + "\n".join(f"{_cue(r, '.')}\n" for r in rows),
    }[suffix]()
    (folder / f"a.{suffix}").write_text(whole, "utf-8")
    return read_transcripts(folder / f"a.{suffix}", ReadingOptions(language=language))[0].transcript


def _ms(seconds):
    return round(1000 * seconds)


def _cue(row, mark):
    start, end = (f"00:00:{int(s):02}{mark}{_ms(s) % 1000:03}" for s in (row["start"], row["end"]))
    return f"{start} --> {end}\n{row['text'].strip()}"


def lines(transcript):
    return [each.text for each in transcript.utterances]


TABLE = [
    # numbers, amounts and signs
    ("eng", "I'm a hundred percent sure.", ["I'm a hundred percent sure ."]),
    ("eng", "I'm 100% sure, a 100 % sure.", ["I'm one hundred percent sure a one hundred percent sure ."]),
    ("eng", "It's $5 & £3 & 5% & more.", ["it's five dollars and three pounds and five percent and more ."]),
    ("eng", "In 1999. It was 7:30 p.m. Yes.", ["in nineteen ninety nine .", "it was seven thirty p m .", "yes ."]),
    ("eng", "A 10-0 score.", ["a ten zero score ."]),
    ("deu", "Das sind 20 % von 3,50 €.", ["das sind zwanzig Prozent von drei Euro fünfzig ."]),
    ("deu", "Am 3. Mai kam er. Es waren 3. Dann 4.",
     ["am dritten Mai kam er .", "es waren drei .", "dann vier ."]),
    ("deu", "Der 1., 2. und 3. Platz.", ["der erste zweite und dritte Platz ."]),
    ("deu", "Am 24.12.2020 um 7:30 Uhr.",
     ["am vierundzwanzigsten zwölften zweitausendzwanzig um sieben Uhr dreißig ."]),
    ("fra", "À 7h30 ou 8h.", ["à sept heures trente ou huit heures ."]),
    ("spa", "Son 3.5 y 1.000. Es 3,5.", ["son tres punto cinco y mil .", "es tres coma cinco ."]),
    ("fra", "Le 1er avril, la 2e fois.", ["le premier avril la deuxième fois ."]),
    ("spa", "La 1ª vez. Es 0-0.", ["la primera vez .", "es cero cero ."]),
    ("por", "Custa R$ 5,00.", ["custa cinco reais ."]),
    ("fra", "J'ai 20 % de 5 €.", ["j'ai vingt pour cent de cinq euros ."]),
    ("spa", "Son las 7:00 y el 20 % & más.", ["son las siete y el veinte por ciento y más ."]),
    ("ita", "Il 20 % di 3 €.", ["il venti per cento di tre euro ."]),
    ("por", "Tem 20 % de 2,50 €.", ["tem vinte por cento de dois euros e cinquenta ."]),
    ("nld", "Ik wil 50 %.", ["ik wil vijftig procent ."]),
    ("pol", "Mam 20 %.", ["mam dwadzieścia procent ."]),
    ("jpn", "20%です。", ["二十 パーセント です ."]),
    ("zho", "20% 的人。", ["百分之20 的人 ."]),
    # abbreviations
    ("eng", "Mr. Smith and Dr. Jones came.", ["Mr Smith and Dr Jones came ."]),
    ("eng", "He lives in the U.S. They left.", ["he lives in the U S .", "they left ."]),
    ("eng", "The U.S. army. Ph.D. students.", ["the U S army .", "Ph D students ."]),
    ("eng", "Dogs, cats, etc. and so on, e.g. this.", ["dogs cats etc and so on e g this ."]),
    ("eng", "At St. Mary's vs. them. J. K. Rowling.", ["at St Mary's vs them .", "J K Rowling ."]),
    ("eng", "No. 5 is it. I said no. We left.", ["number five is it .", "I said no .", "we left ."]),
    ("eng", "Was it I. No. It was in the p.m. today.", ["was it I .", "no .", "it was in the p m today ."]),
    ("eng", "I got an A. She got a B. John got a C.", ["I got an A .", "she got a B .", "John got a C ."]),
    ("spa", "P. ej. esto. A las 5 p. m. llegó.", ["p ej esto .", "a las cinco p m llegó ."]),
    ("deu", "Ich mag z.B. Äpfel, d. h. Obst.", ["ich mag z B Äpfel d h Obst ."]),
    ("deu", "Das ist usw. Nein, bzw. ja.", ["das ist usw .", "nein bzw ja ."]),
    ("deu", "Herr Prof. Dr. Schmidt ist da.", ["Herr Prof Dr Schmidt ist da ."]),
    ("fra", "M. Dupont et Mme. Martin. C'est A. Non.", ["M Dupont et Mme Martin .", "c'est A .", "non ."]),
    ("spa", "El Sr. García y la Sra. López.", ["el Sr García y la Sra López ."]),
    ("spa", "Vive en EE. UU. con Ud. y yo.", ["vive en EE UU con Ud y yo ."]),
    ("ita", "Il sig. Rossi e la dott. Bianchi, ecc. Sì.", ["il sig Rossi e la dott Bianchi ecc .", "sì ."]),
    ("por", "O Sr. Silva e a Dra. Costa.", ["o Sr Silva e a Dra Costa ."]),
    ("nld", "Dhr. Jansen heeft bijv. honden.", ["Dhr Jansen heeft bijv honden ."]),
    ("rus", "Это т.е. хорошо и т.д. Да.", ["это т е хорошо и т д .", "да ."]),
    ("ell", "Ο κ. Παπαδόπουλος ήρθε.", ["ο κ Παπαδόπουλος ήρθε ."]),
    ("spa", "Escribe a ana@mail.com y www.bbc.co.uk ya.",
     ["escribe a ana arroba mail punto com y www punto bbc punto co punto uk ya ."]),
    # pauses, dashes, repeated sounds
    ("eng", "I saw the... the dog.", ["I saw the [/] (.) the dog ."]),
    ("eng", "Well... I think... yes.", ["well (.) I think (.) yes ."]),
    ("eng", "I was going... Never mind.", ["I was going +...", "never mind ."]),
    ("eng", "You want...?", ["you want +..?"]),
    ("eng", "So-- I went home--", ["so I went home +/."]),
    ("eng", "I want\N{EM DASH}no, I need it.", ["I want no I need it ."]),
    ("eng", "St-st-stop it.", ["↫st-st↫stop it ."]),
    ("eng", "The B-b-ball, th-the dog.", ["the ↫b-b↫ball ↫th↫the dog ."]),
    ("eng", "I-I-I want it, a-and I-I'm O.K. now.", ["I [/] I [/] I want it ↫a↫and I [//] I'm OK now ."]),
    ("eng", "I re-read it. Bye-bye, co-counsel.", ["I re-read it .", "bye-bye co-counsel ."]),
    ("eng", "Be-because re-really o-okay, e-mail, Mm-hmm.", ["↫be↫because ↫re↫really ↫o↫okay e-mail Mm-hmm ."]),
    ("eng", "I wa- want it.", ["I &+wa want it ."]),
    ("fra", "Je veux... je veux un ch-ch-chat !", ["<je veux> [/] (.) je veux un ↫ch-ch↫chat !"]),
    ("spa", "Quiero… quiero un p-p-perro.", ["quiero [/] (.) quiero un ↫p-p↫perro ."]),
    ("deu", "Ich... ich weiß. D-d-das!", ["ich [/] (.) ich weiß .", "↫d-d↫das !"]),
    ("zho", "我想……我想要这个。", ["我想 (.) 我想要这个 ."]),
    # sounds
    ("eng", "[Music] Hello there. (applause)", ["&=music hello there .", "&=applause ."]),
    ("eng", "I [laughs] want (coughing) it.", ["I &=laughs want &=coughs it ."]),
    ("eng", "\N{BEAMED EIGHTH NOTES} Happy birthday to you \N{BEAMED EIGHTH NOTES}", ["happy birthday to you ."]),
    ("eng", "\N{EIGHTH NOTE}\N{EIGHTH NOTE}", ["&=music ."]),
    ("eng", "He said [inaudible] then.", ["he said xxx then ."]),
    ("eng", "*coughs* I *really* do. [BLANK_AUDIO]", ["&=coughs I really do ."]),
    ("spa", "[Música] Hola.", ["&=música hola ."]),
    # ends of other scripts
    ("zho", "你好。你呢？好！我，要。", ["你好 .", "你呢 ?", "好 !", "我 要 ."]),
    ("jpn", "こんにちは。元気ですか？はい！", ["こんにちは .", "元気ですか ?", "はい !"]),
    ("ell", "Τι κάνεις; Καλά. Εσύ;", ["τι κάνεις ?", "καλά .", "εσύ ?"]),
    ("hin", "मैं ठीक हूँ। तुम कैसे हो?", ["मैं ठीक हूँ .", "तुम कैसे हो ?"]),
    ("ara", "كيف حالك؟ أنا بخير، شكرا.", ["كيف حالك ?", "أنا بخير شكرا ."]),
    ("urd", "میں ٹھیک ہوں۔ آپ کیسے ہیں؟", ["میں ٹھیک ہوں .", "آپ کیسے ہیں ?"]),
    ("spa", "¿Qué? ¡Hola!", ["qué ?", "hola !"]),
    ("fra", "« Bonjour », dit-il. Ça va ?", ["bonjour dit-il .", "ça va ?"]),
    # names and quotations
    ("eng", "Yes. John went. John likes it.", ["yes .", "John went .", "John likes it ."]),
    ("eng", "I like Zorbo. Zorbo ran. My dog ran.", ["I like Zorbo .", "Zorbo ran .", "my dog ran ."]),
    ("eng", '"Go!" he said. He said "Hello." and left.', ["go he said .", "he said Hello and left ."]),
    ("deu", "Ich sah Anna. Anna lief. Der Hund auch.", ["ich sah Anna .", "Anna lief .", "der Hund auch ."]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "written", "tiers"), TABLE)
def test_what_whisper_writes_is_read_as_language(language, written, tiers, tmp_path):
    segments = [(written, 0.0, 4.0)]
    found = transcribed(segments, language)
    assert lines(found) == tiers == lines(transcribed(segments, language, "fluent"))
    assert lines(converted(segments, tmp_path, language)) == tiers
    if language != "zho":  # whose numbers stay digits
        assert chat.check(chat.parse(chat.serialize(found))) == []


def test_the_table_covers_eight_languages_and_sixty_cases():
    assert len(TABLE) >= 60 and len({language for language, *_ in TABLE}) >= 8


def test_the_original_spelling_of_numbers_is_kept(tmp_path):
    segments = [("It cost $5 at 7:00. No numbers. It was 3 %.", 0.0, 6.0)]
    for found in (transcribed(segments), converted(segments, tmp_path)):
        comments = [[tier.value for tier in each.tiers if tier.name == "%com"] for each in found.utterances]
        assert comments == [["written in digits: $5, 7:00"], [], ["written in digits: 3 %"]]
    found = transcribed([("Es kostet 3,50 € und 20 %.", 0.0, 2.0)], "deu")
    assert [tier.value for tier in found.utterances[0].tiers] == ["written in digits: 3,50 €, 20 %"]


# --- segments -> utterances -------------------------------------------------------------------------------------------

SEGMENTS = [
    ("There's nothing going", 0.0, 2.0),
    ("else going on. This is", 2.0, 4.0),
    ("me. So what? And", 4.0, 6.0),
    ("I saw Mr.", 6.2, 7.0),
    ("Smith.", 7.0, 8.0),
    ("I know", 8.0, 9.0),
    ("it well", 10.6, 11.5),
    ("[Music]", 11.5, 14.0),
    ("I want...", 14.0, 15.0),
    ("...to go", 15.0, 16.0),
    ("home...", 16.0, 17.0),
    ("Yes.", 17.0, 18.0),
]
UTTERANCES = [
    "there's nothing going else going on .",
    "this is me .",
    "so what ?",
    "and I saw Mr Smith .",
    "I know .",  # a pause of 1.6 s
    "it well .",
    "&=music .",
    "I want (.) to go home +...",
    "yes .",
]


@pytest.mark.parametrize("suffix", ["json", "srt", "vtt", "tsv"])
def test_segments_that_end_within_a_sentence_go_on(suffix, tmp_path):
    found, read = transcribed(SEGMENTS), converted(SEGMENTS, tmp_path, suffix=suffix)
    assert lines(found) == lines(read) == UTTERANCES
    spans = [[(each.span.start_ms, each.span.end_ms) for each in one.utterances] for one in (found, read)]
    assert spans[0] == spans[1]
    assert spans[0][4] == (8000, 9000) and spans[0][0][0] == 0 and 2500 < spans[0][0][1] < 3800


def test_joined_segments_are_noted(tmp_path):
    rows = [{"start": start, "end": end, "text": text} for text, start, end in SEGMENTS]
    (tmp_path / "a.json").write_text(json.dumps({"segments": rows}))
    assert (
        "texts without a final mark, which go on in the next one: 6" in read_transcripts(tmp_path / "a.json")[0].notes
    )


def test_captions_without_final_marks_stay_as_they_are(tmp_path):
    segments = [("so what i mean", 0.0, 2.0), ("is that we go", 2.0, 4.0), ("home now", 4.0, 6.0)]
    assert len(lines(transcribed(segments))) == len(lines(converted(segments, tmp_path))) == 3


def test_labels_say_where_utterances_end():
    window = DecodedWindow((DecodedSegment("I want", 0.0, 1.0), DecodedSegment("it .", 1.0, 2.0)))
    for style in ("chat", "verbatim"):
        assert lines(of_window(window, 9000, style=style, is_stock=False)) == ["I want .", "it ."]


def timed(words):
    """Return tokens of (word, start_s, end_s)."""
    return tuple(TimedToken(f" {word}", start, end) for word, start, end in words)


def test_a_long_pause_ends_an_utterance_and_a_short_one_does_not(tmp_path):
    words = [("I--", 0.0, 0.2), ("know", 0.3, 0.9), ("it", 2.0, 2.2), ("and", 3.4, 3.6), ("go.", 4.0, 4.4)]
    text = " ".join(word for word, *_ in words)
    made = of_window(DecodedWindow((DecodedSegment(text, 0.0, 5.0, timed=timed(words), closed=False),)), 5000)
    row = {"text": text, "start": 0.0, "end": 5.0, "words": [{"word": w, "start": s, "end": e} for w, s, e in words]}
    (tmp_path / "a.json").write_text(json.dumps({"segments": [row]}))
    read = read_transcripts(tmp_path / "a.json")[0].transcript
    assert lines(made) == lines(read) == ["I know it .", "and go ."]
    assert [[at.start_ms for _, at in each.word_times] for each in made.utterances] == [
        [0, 300, 2000],
        [3400, 4000],
    ]
    assert [each.span.start_ms for each in read.utterances] == [0, 3400]


def test_utterances_of_a_segment_last_from_their_first_word_to_their_last():
    """The timestamps of a stock model are rounded, and cut where nobody paused."""
    words = [("Yes.", 0.4, 0.7), ("I", 1.1, 1.3), ("know.", 1.3, 1.9)]
    text = " ".join(word for word, *_ in words)
    made = of_window(DecodedWindow((DecodedSegment(text, 0.0, 5.0, timed=timed(words)),)), 5000)
    assert [each.span for each in made.utterances] == [TimeSpan(400, 700), TimeSpan(1100, 1900)]


@pytest.mark.parametrize("end", [11_000, 12_600])
def test_text_goes_on_across_the_border_of_two_windows(end):
    windows = [TimeSpan(0, 10_000), TimeSpan(end, 20_000)]
    decoded = [
        DecodedWindow((DecodedSegment(text, 0.0, seconds, -0.5, logprobs=((f" {text}", -0.5),)),))
        for text, seconds in (("Yes. I want", 10.0), ("it. No.", (20_000 - end) / 1000))
    ]
    made = assemble(
        windows, decoded, labels=Labels("verbatim"), duration_ms=20_000, header=TranscriptHeader("a"), is_stock=True
    )
    whole = end - 10_000 < 1500
    assert lines(made.transcript) == (
        ["yes .", "I want it .", "no ."] if whole else ["yes .", "I want .", "it .", "no ."]
    )
    middle = made.transcript.utterances[1].span
    assert middle.end_ms > end if whole else middle.end_ms == 10_000
    assert made.scores[1] == ((-0.5, -0.5, -0.5) if whole else (-0.5, -0.5))


def test_speakers_that_are_known_are_not_joined():
    turns = SpeakerTurns((("CHI", TimeSpan(0, 2000)), ("MOT", TimeSpan(2000, 4000))), ())
    window = DecodedWindow((DecodedSegment("I want", 0.0, 2.0), DecodedSegment("It is.", 2.0, 4.0)))
    made = of_window(window, 4000, turns=turns)
    assert [(each.speaker, each.text) for each in made.utterances] == [("CHI", "I want ."), ("MOT", "it is .")]


PIECES = ["I", "want", "the...", "...", "U.S.", "Mr.", "so--", "b-b-ball", "5%", "$3", "[Music]", "(", "<", "♪", "\x15",
          "<|0.00|>", "&", "it.", "?", "-", "x-", "3.", "…", "+...", "\u200d", "、", "qzqaqzq"]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=4))
def test_any_segments_give_the_same_main_lines(texts):
    segments = [(text, 2.0 * at, 2.0 * at + 1.5) for at, text in enumerate(texts)]
    with TemporaryDirectory() as name:
        try:
            read = lines(converted(segments, Path(name)))
        except FormatError:  # no words
            read = []
    assert lines(transcribed(segments)) == read


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=4))
def test_whatever_is_written_becomes_valid_chat(texts):
    segments = [(text, 2.0 * at, 2.0 * at + 1.5) for at, text in enumerate(texts)]
    found = transcribed(segments)
    assert chat.check(chat.parse(chat.serialize(found), strict=True)) == []
    wanted = Counter(word for text in texts for word in text.split() if word in ("I", "want"))
    said = Counter(word for each in found.utterances for word in each.verbatim() if word in ("I", "want"))
    assert said == wanted or any(sign in text for text in texts for sign in "(<")  # within brackets, words are sounds
