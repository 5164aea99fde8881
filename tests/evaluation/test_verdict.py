"""The sentences with which a report opens, on ten constructed cases."""

import json

import pytest
from scored_transcripts import SENTENCES, write_transcript

from lsa_whisper import chat
from lsa_whisper.evaluation import evaluate


def write(path, texts, language="eng", name="Ann"):
    write_transcript(path, texts, language=language, name=name, corpus="made")


def without_fillers(text):
    return " ".join(word for word in text.split() if not word.startswith("&-"))


def without_marks(text):
    return chat.utterance("CHI", text).fluent()


SYSTEMS = {
    "perfect": lambda text: text,
    "silent": without_fillers,
    "wrong": lambda text: text.replace("the", "a").replace("no", "yes").replace("we", "you"),
    "plain": lambda text: " ".join([*without_marks(text), "."]),
    "nothing": lambda _: None,
}


@pytest.fixture
def say(tmp_path):
    """Return a function that writes references and systems and returns the paragraphs of the verdict."""

    def verdict(*systems, files=8, languages=("eng", "eng"), texts=SENTENCES, names=(), persons=99, **options):
        for number in range(files):
            chosen = [texts[(number + n) % len(texts)] for n in range(len(texts))]
            name = f"s{number}.cha"
            write(tmp_path / "reference" / name, chosen, languages[0], name=f"Child{number % persons}")
            for system in systems:
                written = [text for text in map(SYSTEMS[system], chosen) if text]
                write(tmp_path / system / name, written, languages[1])
        folders = [tmp_path / system for system in systems]
        evaluation = evaluate(
            tmp_path / "reference", folders, names=names, out=tmp_path / "report", samples=200, **options
        )
        paragraphs = evaluation.verdict
        record = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
        assert record["verdict"] == paragraphs
        page = (tmp_path / "report" / "report.html").read_text("utf-8")
        markdown = (tmp_path / "report" / "report.md").read_text("utf-8")
        assert page.index("In short") < page.index(paragraphs[0]) < page.index("<table")
        assert markdown.index(paragraphs[-1].split(":")[0]) < markdown.index("| Measure")
        assert all(paragraph in " ".join(evaluation.table().split()) for paragraph in paragraphs)
        return paragraphs

    return verdict


def test_better(say):
    comparison, _, first, sample = say("silent", "perfect")
    assert comparison == "perfect is better than silent: 0.0 instead of 8.3 word errors per 100 spoken words."
    assert first == "perfect makes no error in 192 words and finds all 40 disfluencies."
    assert sample == (
        "The sample: 8 recordings, 8 speakers, 192 spoken words. Fewer than 10 in the references, too few to judge: "
        "cut-off words, repetitions and revisions."
    )


def test_worse(say):
    comparison, _, second, _ = say("perfect", "silent")
    assert comparison.startswith("perfect is better than silent: 0.0 instead of 8.3 word errors"), (
        "the order is no matter"
    )
    assert second == (
        "silent makes 8.3 errors per 100 spoken words (16 in 192 words). It finds all 8 cut-off words, all 8 "
        "repetitions and all 8 revisions. It misses all 16 filled pauses."
    )


def test_too_few(say):
    comparison, *_ = say("silent", "perfect", files=5)
    assert comparison == "5 recordings cannot show which system is better: at least 6 are needed."


def test_a_tie(say):
    comparison, *_ = say("silent", "silent", names=["one", "other"])
    assert comparison == "one and other score the same."


def test_a_missing_class(say):
    (only, _) = say("plain")
    assert "It does not write 8 revisions: not scored." in only
    assert "It misses all 16 filled pauses, all 8 cut-off words and all 8 repetitions." in only


def test_one_file(say):
    only, sample = say("silent", files=1)
    assert only.startswith("silent makes 8.3 errors per 100 spoken words (2 in 24 words).")
    assert sample.startswith(
        "The sample: 1 recording, 1 speaker, 24 spoken words. One recording shows nothing about others."
    )


def test_two_of_two_are_both(say):
    (only, _) = say("wrong", files=2)
    assert "It finds all 4 filled pauses, both cut-off words, both repetitions and both revisions." in only


def test_perfect(say):
    assert say("perfect")[0] == "perfect makes no error in 192 words and finds all 40 disfluencies."


def test_empty(say):
    assert say("nothing")[0] == "nothing wrote no words: all 192 words are missing."


def test_empty_references(say):
    assert say("perfect", texts=["&=laughs ."])[0] == "The references have no words, so nothing can be scored."


def test_another_language(say):
    only, _ = say("wrong", languages=("eng", "deu"))
    assert "Its transcripts are marked as another language (deu) than the references (eng)" in only


def test_characters_count_where_words_are_not_separated(say):
    only, sample = say("perfect", languages=("zho", "zho"), texts=["我要球 .", "他们走了 ."])
    assert only == "perfect makes no error in 56 characters." and "56 spoken characters" in sample


def test_words_count_where_only_a_few_utterances_have_no_spaces(say):
    only, sample = say("perfect", languages=("eng", "eng"), texts=["我要球 .", "I want it .", "he ran ."])
    assert "64 words" in only and "64 spoken words" in sample


def test_three_systems(say):
    comparison, *each, _ = say("silent", "perfect", "wrong")
    assert [text.split()[0] for text in each] == ["silent", "perfect", "wrong"]
    assert "perfect is better than silent: 0.0 instead of" in comparison
    assert "perfect is better than wrong: 0.0 instead of" in comparison
    assert "silent is better than wrong: 8.3 instead of" in comparison


def test_many_systems_are_compared_with_the_best(say):
    comparison, *each, _ = say("silent", "perfect", "wrong", "plain")
    assert comparison.startswith("perfect has the fewest word errors.") and len(each) == 4
    assert comparison.count("perfect is better than") == 3 and "silent is better" not in comparison


def test_the_recordings_of_one_person_count_once(say):
    comparison, *_ = say("silent", "perfect", persons=4)
    assert comparison == "8 recordings of 4 persons cannot show which system is better: at least 6 are needed."
    comparison, *_ = say("silent", "perfect", persons=4, group="file")
    assert comparison.startswith("perfect is better than silent")


def test_the_metric_that_decides_can_be_chosen(say):
    comparison, *_ = say("silent", "perfect", decide="disfluency_f1")
    assert comparison == "perfect is better than silent: disfluencies detected 100.0 instead of 75.0 % (F1)."
