"""Pages in German and Spanish: every text has a translation, and English stays what it is without one."""

from __future__ import annotations

import gettext
import json
import re
from pathlib import Path

import pytest

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.evaluation import evaluate
from lsa_whisper.evaluation.cells import percent
from lsa_whisper.inspection import inspect
from lsa_whisper.page.language import DOMAIN, LOCALE, PAGE_LANGUAGES, page_language
from lsa_whisper.page.language import gettext as gettext_of_page
from lsa_whisper.page.text import page_counted
from lsa_whisper.review.application import page_file
from lsa_whisper.scoring.bootstrap import Interval
from tests.page.catalogues import ENGLISH_ONLY, of_template, path_of, read_catalogue, texts

CORPUS = Path(__file__).parents[2] / "corpora" / "storybook" / "test"
HOLDER = re.compile(r"\{[^{} +-]*\}|%\(\w+\)s|%%")
TRANSLATED = PAGE_LANGUAGES[1:]


class Missing(gettext.NullTranslations):
    def gettext(self, message):
        return ""


def catalogue(code):
    found = gettext.translation(DOMAIN, LOCALE, [code])
    found.add_fallback(Missing())
    return found


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_text_has_a_translation_with_the_same_values_and_spaces(code):
    translate = catalogue(code).gettext
    made = {text: translate(text) for text in texts()}
    assert [text for text, other in made.items() if not other] == [], "run: python -m tests.page.catalogues"
    wrong = [text for text, other in made.items() if sorted(HOLDER.findall(text)) != sorted(HOLDER.findall(other))]
    assert wrong == []
    assert [text for text, other in made.items() if (text[-1] == " ") != (other[-1] == " ")] == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_what_is_compiled_is_what_is_written(code):
    pytest.importorskip("babel")
    written = read_catalogue(code)
    assert {each.id for each in written if each.id} == set(texts())
    assert not any(each.fuzzy for each in written if each.id) and not written.obsolete
    translate = catalogue(code).gettext
    assert all(translate(each.id) == each.string for each in written if each.id)
    assert path_of(code).with_suffix(".mo").is_file()


def test_the_page_of_prepared_data_has_no_translated_text_of_its_own():
    for name in ENGLISH_ONLY:
        assert of_template(Path(__file__).parents[2] / "lsa_whisper" / name) == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages in German: the report with its summary and text, the sample with its clips, and the review page."""
    out = tmp_path_factory.mktemp("pages")
    references, system = [CORPUS / "test01.cha"], out / "system"
    system.mkdir()
    (system / "test01.cha").write_text(references[0].read_text("utf-8").replace("&-um ", "").replace(" the ", " a "))
    for code in ("en", "de"):
        evaluate(references[0], [system / "test01.cha"], out=out / code, samples=40, audio=CORPUS, page_language=code)
    inspect(references[0], out=out / "sample.html", page_language="de")
    found = {name: (out / "de" / name).read_text("utf-8") for name in ("report.html", "report.md", "summary.html")}
    json_texts = [json.loads((out / code / "report.json").read_text("utf-8")) for code in ("en", "de")]
    found |= {
        "sample.html": (out / "sample.html").read_text("utf-8"),
        "index.html": page_file("index.html", "de").decode(),
    }
    return found, json_texts


@pytest.mark.parametrize("name", ["report.html", "report.md", "summary.html", "sample.html", "index.html"])
def test_a_german_page_has_no_english_text_of_the_catalogue(name, pages):
    page = re.sub(r"<style>.*?</style>|^//.*?$", "", pages[0][name], flags=re.DOTALL | re.MULTILINE)
    if name == "index.html":
        page = re.sub(r'<script type="application/json" id="texts">.*?</script>', "", page)
    assert name == "report.md" or '<html lang="de">' in page
    translate = catalogue("de").gettext
    sentences = [
        text for text in texts() if len(text.split()) > 2 and not HOLDER.search(text) and translate(text) != text
    ]
    assert [text for text in sentences if text in page.replace("&#39;", "'")] == []
    assert any(translate(text) in page for text in sentences)


@pytest.mark.parametrize("name", ["report.html", "report.md", "summary.html", "sample.html"])
def test_numbers_have_the_decimal_sign_of_the_language(name, pages):
    page = re.sub(r"<(style|script|code|path|use)\b.*?(?:</\1>|/>)|<[^>]*>", " ", pages[0][name], flags=re.DOTALL)
    page = re.sub(r"\(\d*\.\d*\)|`[^`]*`", " ", page)  # pauses and commands
    assert re.findall(r"(?<![\w.:-])\d+\.\d{1,2}(?![\w.])", page) == []
    assert name == "summary.html" or re.search(r"\b\d+,\d\b", page)
    with page_language("de"):
        assert gettext_of_page("{n:,} of {classes}").format(n=1234, classes="1,5") == "1,5 (davon 1.234 gefunden)"
        assert page_counted(1234, "word") == "1.234 Wörter" and percent(0.125, Interval(0.1, 0.2)).startswith("12,5 %")


def test_the_json_of_a_report_is_in_english_in_all_languages(pages):
    english, german = pages[1]
    for report in (english, german):
        for volatile in ("date", "command"):
            report["about"].pop(volatile, None)
    assert english == german


def test_english_is_the_default_and_has_no_list_of_texts():
    assert page_file("index.html") == page_file("index.html", "en")
    assert b'<html lang="en">' in page_file("index.html") and b'id="texts"' not in page_file("index.html")


def test_an_unknown_language_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(LsaWhisperError, match="choose one of en, de, es"), page_language("fr"):
        pass
    for act in (
        lambda: inspect(tmp_path / "missing", page_language="fr"),
        lambda: evaluate(tmp_path, page_language="fr"),
    ):
        with pytest.raises(LsaWhisperError, match="not translated into it"):
            act()
