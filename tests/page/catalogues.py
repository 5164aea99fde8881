"""The texts of pages that are translated, and their catalogues.

    python -m tests.page.catalogues

Brings the catalogues (``.po``) up to the texts of the sources, and compiles them (``.mo``); needs babel. New texts are
left empty, to be translated; a text that is no longer in the sources is removed.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.chat import Disfluency, parse
from lsa_whisper.evaluation import breakdown, cells, plots, verdict
from lsa_whisper.inspection import measure_names
from lsa_whisper.inspection.measures import measure_speakers
from lsa_whisper.labels import NOT_TRANSCRIBED
from lsa_whisper.labels.coverage import IN_PART
from lsa_whisper.page import templates
from lsa_whisper.page.language import DOMAIN, LOCALE, PAGE_LANGUAGES
from lsa_whisper.page.terms import CLASSES, MEASURES
from lsa_whisper.review.edits import MARKS
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.verbatim_benchmark import TYPES
from lsa_whisper.version import __version__

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

PACKAGE = Path(__file__).resolve().parents[2] / "lsa_whisper"
ROOMS = ("page", "evaluation", "inspection", "review", "labels")
ENGLISH_ONLY = {"inspection/page.html.jinja"}
"""The page of prepared data is for engineers."""
NOUNS = (
    "recording", "speaker", "person", "independent sample", "word", "character", "spoken word", "spoken character",
    "transcript", "utterance", "fluent word", "row",
)  # fmt: skip
ABOUT = ("Corpus", "Language", "Models", "Date", "Versions", "Command")
_SAME_DATE = datetime(2026, 11, 28, tzinfo=UTC)
"""Of all files, so that only their texts change."""
_JS_CALL = re.compile(r'\btr\("((?:[^"\\]|\\.)*)"')
_JS_COMMAND = re.compile(r'^  \["[^"]+", "([^"]+)".*?(?:, "([A-Z]\w+)")?\],$', re.MULTILINE)
_JS_NAMES = re.compile(r"const NAMES = \{(.*)\};")


def texts() -> list[str]:
    """Return every text that is translated, in the order of the sources."""
    found = [*_of_code(), *_of_templates(), *_of_scripts(), *_of_tables()]
    return list(dict.fromkeys(filter(None, found)))


def _of_code() -> Iterator[str]:
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "gettext":
                    first = node.args[0]
                    if isinstance(first, ast.Constant):
                        yield str(first.value)


def of_template(path: Path) -> list[str]:
    """Return the texts of one template."""
    found = templates("lsa_whisper.page").extract_translations(path.read_text("utf-8"))
    return [text for _, _, text in found if isinstance(text, str)]


def _of_templates() -> Iterator[str]:
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.jinja")):
            yield from of_template(path)


def _of_scripts() -> Iterator[str]:
    folder = PACKAGE / "review" / "page"
    for path in sorted(folder.glob("*.js")):
        script = path.read_text("utf-8")
        yield from _JS_CALL.findall(script)
        for names in _JS_NAMES.findall(script):
            yield from re.findall(r': "([^"]+)"', names)
    for pair in _JS_COMMAND.findall((folder / "commands.js").read_text("utf-8")):
        yield from pair
    yield from (kind.value.replace("_", " ") for kind in Disfluency)


def _of_tables() -> Iterator[str]:
    """Yield the texts of constants, which are translated where they are used."""
    for pairs in (CLASSES.values(), MEASURES.values(), cells.COLUMNS.items(), measure_names.FLUENCY_TERMS.items()):
        yield from (text for pair in pairs for text in pair)
    yield from (text for metric in METRICS for text in (metric.title, metric.definition))
    yield from (kind.row.name for kind in Disfluency)
    yield from (mark.label for mark in MARKS.values())
    yield from ("Measure", "System", "Better than", "By", "Class", "Speaker", "File", "Word", "Replaced by", "Type")
    yield from (text for row in breakdown._GROUPS.values() for text in row)
    yield from (text for name, text in breakdown._OTHERS.items() for text in (name.capitalize(), text))
    yield from ("all together", *TYPES, *ABOUT, "bias", "lower limit", "upper limit", plots._ALL_CLASSES)
    for sentences in (verdict._PER_100, verdict._SUBJECTS, verdict._HAS_BEST):
        yield from sentences.values()
    yield from (*NOUNS, *(f"{noun}s" for noun in NOUNS), "disfluency", "disfluencies", "{system} has the best value.")
    yield from (
        NOT_TRANSCRIBED,
        IN_PART,
        measure_names._NORM,
        measure_names.CHARACTERS,
        *measure_names.COUNTING.values(),
    )
    (measures,) = measure_speakers(parse("*CHI:\tno .\n")).values()
    yield from map(measure_names.measure_name, measures.as_dict())


def read_catalogue(code: str) -> Catalog:
    """Return the catalogue of a language."""
    from babel.messages.pofile import read_po

    with path_of(code).open("rb") as file:
        return read_po(file, locale=code)


def path_of(code: str) -> Path:
    """Return the file of a catalogue."""
    return LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.po"


def compiled(catalogue: Catalog) -> bytes:
    """Return a catalogue as gettext reads it."""
    from babel.messages.mofile import write_mo

    made = io.BytesIO()
    write_mo(made, catalogue)
    return made.getvalue()


def main() -> None:
    """Bring all catalogues up to the sources."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    for code in PAGE_LANGUAGES[1:]:
        path = path_of(code)
        path.parent.mkdir(parents=True, exist_ok=True)
        old = {each.id: each.string for each in read_catalogue(code)} if path.exists() else {}
        catalogue = Catalog(
            locale=code,
            header_comment="# The texts of the pages; see tests/page/catalogues.py",
            project="lsa-whisper",
            version=__version__,
            creation_date=_SAME_DATE,
            revision_date=_SAME_DATE,
            fuzzy=False,
        )
        for text in texts():
            catalogue.add(text, old.get(text, ""))
        with path.open("wb") as file:
            write_po(file, catalogue, width=0)
        path.with_suffix(".mo").write_bytes(compiled(catalogue))
        left = sum(not each.string for each in catalogue if each.id)
        print(f"{path}: {len(catalogue)} texts, {left} to be translated")


if __name__ == "__main__":
    main()
