"""The report as a reader meets it: opened in Chromium, sorted, searched, played, in the dark, on a telephone."""

import json
import re
import shutil
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.evaluation import evaluate
from lsa_whisper.finetuning.compare_runs import compare_runs
from lsa_whisper.timespan import TimeSpan

STORYBOOK = Path(__file__).resolve().parents[2] / "corpora" / "storybook" / "test"
EVIL = "<script>document.title='broken_in'</script>"

pytestmark = pytest.mark.slow


def damaged(utterance, number):
    """Return what a careless listener would have written: every third filler left out, every ninth word another."""
    words = utterance.text.split()
    if number % 3 == 0:
        words = [word for word in words if not word.startswith("&-")]
    plain = [n for n, word in enumerate(words) if word.isalpha()]
    if number % 2 and len(plain) > 1:
        words[plain[0]] = "wug"
    return chat.utterance(utterance.speaker, " ".join(words), utterance.span)


def written(path, utterances, participants):
    path.parent.mkdir(parents=True, exist_ok=True)
    chat.write(chat.compose(languages=["eng"], participants=participants, utterances=utterances), path)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for path in sorted(STORYBOOK.glob("*.cha"))[:3]:
        transcript = chat.read(path)
        participants = list(transcript.participants.values())
        shutil.copy(path, folder / path.name)
        heard = [damaged(utterance, number) for number, utterance in enumerate(transcript.utterances)]
        written(folder / "heard" / path.name, heard, participants)
    speaker = [Participant("CHI", "Target_Child")]
    for name, text in (("evil.cha", f"I say {EVIL} now ."), ("heard/evil.cha", f"I say {EVIL} .")):
        written(folder / name, [chat.utterance("CHI", text)], speaker)
    (folder / "reference").mkdir()
    for path in folder.glob("*.cha"):
        path.rename(folder / "reference" / path.name)
    evaluate(folder / "reference", [folder / "heard"], out=folder / "out", audio=STORYBOOK, samples=100)
    return (folder / "out" / "report.html").as_uri()


@pytest.fixture
def page(chromium, report):
    page = chromium.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    page.goto(report)
    yield page
    assert not wrong, "a script failed, or something was fetched from elsewhere"
    page.close()


def counts(page):
    """Return (wrong, words) of the utterances that are drawn."""
    texts = page.locator("#rows .facts").all_inner_texts()
    return [tuple(int(n) for n in re.search(r"(\d+) errors? in (\d+)", text).groups()) for text in texts]


def test_the_worst_comes_first_and_other_orders_can_be_chosen(page):
    wrong = [errors for errors, _ in counts(page)]
    assert wrong == sorted(wrong, reverse=True) and wrong[0] > 0
    page.select_option("#order", "long")
    lengths = [words for _, words in counts(page)]
    assert lengths == sorted(lengths, reverse=True)
    page.select_option("#order", "share")
    shares = [errors / words for errors, words in counts(page)]
    assert shares == sorted(shares, reverse=True)
    page.select_option("#show", "wrong")
    assert all(errors for errors, _ in counts(page))


def test_wrong_disfluencies_can_be_found_without_wrong_words(chromium, tmp_path):
    people = [Participant("CHI", "Target_Child")]
    said = ["the [/] the dog (.) ran .", "no .", "he ran &-um home ."]
    for name, texts in (("a", said), ("b", ["the the dog ran .", "no .", "he [/] ran home (.) ."])):
        written(tmp_path / name / "x.cha", [chat.utterance("CHI", text) for text in texts], people)
    evaluate(tmp_path / "a", [tmp_path / "b"], out=tmp_path / "out", samples=40)
    page = chromium.new_page()
    page.goto((tmp_path / "out" / "report.html").as_uri())
    page.select_option("#show", "wrong")
    shown = page.locator("#rows .facts").all_inner_texts()
    assert len(shown) == 2 and "1 error in 4 words; missed: filled pause; made up: repetition, pause" in shown[0]
    assert shown[1].endswith("0 errors in 4 words; missed: pause"), "the repeated words are there, if unmarked"
    assert page.locator("#rows .op-m").count() == 3, "three pauses"
    titles = page.locator("#show option").all_inner_texts()
    assert "missed filled pauses" in titles and "made-up pauses" in titles
    assert "with blocks" not in titles and "missed revisions" not in titles, "only what this report has"
    page.select_option("#show", label="missed filled pauses")
    assert page.inner_text("#found") == "1 of 3 utterances"
    page.close()


def test_a_table_is_sorted_by_the_head_that_is_pressed(page):
    page.locator("summary", has_text="Words with the most errors").click()
    table = page.locator("table.sortable").first
    for sign in (-1, 1):
        table.get_by_role("button", name="Spoken").click()
        spoken = [sign * int(text) for text in table.locator("tbody td:nth-child(3)").all_inner_texts()]
        assert len(spoken) > 3 and spoken == sorted(spoken)
    assert table.locator("th[aria-sort=ascending]").count() == 1


def test_definitions_open_on_focus_and_close_on_escape(page):
    page.get_by_text("Word errors, verbatim", exact=True).first.focus()
    assert "per 100 words spoken" in page.inner_text("#definition")
    page.keyboard.press("Escape")
    assert page.locator("#definition").is_hidden()


def test_the_keyboard_reaches_the_utterances_with_two_keys(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the utterances"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#utterances-title"


def test_the_rest_is_drawn_as_one_scrolls(page):
    drawn, total = page.locator("article").count(), int(page.inner_text("#found").split(" of ")[1].split()[0])
    assert drawn < total
    page.locator("article").last.scroll_into_view_if_needed()
    page.wait_for_function(f"document.querySelectorAll('article').length > {drawn}")


def test_search_narrows_the_list(page):
    page.fill("#search", "wug chi")
    page.wait_for_function("!/^(\\d+) of \\1 /.test(document.getElementById('found').textContent)")
    shown = page.locator("article").all_inner_texts()
    assert shown and all("wug" in text and "CHI" in text for text in shown)
    page.fill("#search", "no_such_word_anywhere")
    page.wait_for_function("document.querySelectorAll('article').length === 0")
    assert page.inner_text("#found").startswith("0 of ")


def test_a_clip_plays_from_where_the_utterance_begins(page):
    page.fill("#search", "test01")
    page.select_option("#order", "")
    page.wait_for_function("document.querySelector('article b')?.textContent === 'test01'")
    page.locator("article").nth(3).get_by_role("button", name="Play").click()
    page.wait_for_function("!document.querySelector('audio').paused")
    start = float(re.search(r"#t=([\d.]+),", page.get_attribute("audio", "src")).group(1))
    page.wait_for_function(f"document.querySelector('audio').currentTime > {start}")
    assert start > 1 and page.evaluate("document.querySelector('audio').error") is None


def test_markup_in_a_transcript_stays_text(page):
    page.fill("#search", "evil")
    page.wait_for_function("document.querySelectorAll('article').length === 1")
    assert EVIL in page.inner_text("article .chat")
    assert page.title() == "Transcription evaluation"


def test_dark_colors_are_dark_and_readable(page):
    def lightness(what):
        colour = page.evaluate(f"getComputedStyle(document.body).{what}")
        return sum(int(n) for n in re.findall(r"\d+", colour)[:3])

    assert lightness("backgroundColor") > 600 > 300 > lightness("color")
    page.click("#theme")
    assert lightness("backgroundColor") < 300 < 600 < lightness("color")
    assert page.get_attribute("#theme", "aria-pressed") == "true"


def test_definitions_appear_on_hover(page):
    hint = page.get_by_text("Word errors, verbatim", exact=True).first.get_attribute("title")
    assert "per 100 words spoken" in hint
    assert page.locator("table.matrix td.right").count() > 2


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The page of a training run."""
    folder = tmp_path_factory.mktemp("run")
    logged = [{"step": n * 1000, "loss": 1.2345e-5 * n, "eval_wer_verbatim": 1 / n} for n in range(1, 20)]
    (folder / "curve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in logged))
    return compare_runs([folder], out=folder / "out").report.as_uri()


@pytest.mark.parametrize("what", ["report", "runs"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_hangs_over_the_edge(chromium, what, width, theme, request):
    page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.goto(request.getfixturevalue(what))
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = page.evaluate(
        """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
             const edge = svg.getBoundingClientRect();
             return [...svg.querySelectorAll('text')].filter(text => {
               const box = text.getBoundingClientRect();
               return box.left < edge.left - 1 || box.right > edge.right + 1 || box.bottom > edge.bottom + 1;
             }).map(text => text.textContent);
           })"""
    )
    assert not cut, "labels of a figure are cut off"
    page.close()


def test_found_and_missed_are_visible_on_a_telephone(chromium, report):
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.goto(report)
    heads = page.locator("section", has_text="Disfluency detection by class").locator("thead th")
    boxes = {head.inner_text(): head.bounding_box() for head in heads.all()}
    for name in ("In reference", "Found", "Missed", "False alarms"):
        assert boxes[name]["x"] + boxes[name]["width"] <= 390, name
    broken = page.evaluate(
        """() => [...document.querySelectorAll('#t1 th.name > span')].flatMap(name => {
             const words = document.createRange(), text = name.firstChild;
             return [...text.data.matchAll(/[^ -]+/g)].filter(word => {
               words.setStart(text, word.index);
               words.setEnd(text, word.index + word[0].length);
               return words.getClientRects().length > 1;
             }).map(word => word[0]);
           })"""
    )
    assert broken == [], "words of the summary's first column are broken"
    page.close()


@pytest.fixture(scope="module")
def summary(report):
    return report.replace("report.html", "summary.html")


def test_the_counts_of_the_summary_are_visible_on_a_telephone(chromium, summary):
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.goto(summary)
    hidden = "[...document.querySelectorAll('.scroll')].map(table => table.scrollWidth - table.clientWidth)"
    assert page.evaluate(hidden) == [0]
    page.close()


def test_a_page_of_three_systems_is_one_page(chromium, tmp_path):
    kinds = "&-um a [/] a &+b the [//] that s:o (.) ≠no pi^zza ↫b↫ball &~goo I [///] we it [/-] go ."
    people = [Participant("CHI", "Target_Child")]
    for name in ("reference", "one", "two", "three"):
        said = [chat.utterance("CHI", kinds) for _ in range(12)]
        for number in range(6):
            made = chat.compose(languages=["eng"], participants=people, utterances=said, media=f"s{number}")
            (tmp_path / name).mkdir(exist_ok=True)
            chat.write(made, tmp_path / name / f"s{number}.cha")
    folders = [tmp_path / name for name in ("one", "two", "three")]
    evaluate(tmp_path / "reference", folders, out=tmp_path / "out", samples=40)
    page = chromium.new_page()
    page.goto((tmp_path / "out" / "summary.html").as_uri())
    assert page.locator("tbody").count() >= 10 and page.locator("tbody tr").count() >= 30
    assert page.locator("p.answer").count() == 3
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) == 1
    page.close()


@pytest.mark.parametrize("which", ["report.html", "summary.html"])
def test_paper_keeps_every_column(chromium, report, which):
    page = chromium.new_page(viewport={"width": 718, "height": 1000}, color_scheme="dark")  # A4 with margins of 1 cm
    page.goto(report.replace("report.html", which))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    wide = page.evaluate(
        "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > innerWidth)"
        ".map(t => t.tHead.textContent)"
    )
    assert not wide and page.evaluate("document.documentElement.scrollWidth") <= 718
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in {
        "rgb(255, 255, 255)",
        "rgb(251, 250, 247)",
    }
    if which == "summary.html":
        pdf = page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "1cm"))
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    page.close()


@pytest.mark.parametrize("what", ["report", "runs", "summary"])
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_no_violation_of_accessibility_rules(chromium, what, width, theme, request):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra has it")
    page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.goto(request.getfixturevalue(what))
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    violations = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
    page.close()


def test_five_thousand_utterances_open_in_two_seconds(chromium, tmp_path):
    participants = [Participant("CHI", "Target_Child")]
    said = "the dog and the cat ran into the big house and found &-um a ball ."
    for number in range(50):
        spans = [TimeSpan(3000 * n, 3000 * n + 2500) for n in range(100)]
        written(tmp_path / "a" / f"{number}.cha", [chat.utterance("CHI", said, span) for span in spans], participants)
        heard = [chat.utterance("CHI", said.replace("&-um ", ""), span) for span in spans]
        written(tmp_path / "b" / f"{number}.cha", heard, participants)
    evaluate(tmp_path / "a", [tmp_path / "b"], out=tmp_path / "out", samples=100)
    page = chromium.new_page()
    page.goto((tmp_path / "out" / "report.html").as_uri())
    page.wait_for_selector("article")
    assert page.inner_text("#found") == "5000 of 5000 utterances"
    assert page.locator("article").count() < 100


def test_times_have_the_decimal_sign_of_the_language(chromium, report, tmp_path):
    folder = STORYBOOK / "test01.cha"
    evaluate(folder, [folder], out=tmp_path / "out", samples=40, page_language="de")
    page = chromium.new_page()
    page.goto((tmp_path / "out" / "report.html").as_uri())
    assert re.search(r"\d:\d\d,\d bis \d:\d\d,\d", page.inner_text("#rows")) and not re.search(
        r"\d:\d\d\.\d", page.inner_text("#rows")
    )
