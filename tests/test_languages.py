"""One table of languages for all verbs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats.convert import convert
from lsa_whisper.languages import WHISPER_CODES, chat_code, whisper_code
from lsa_whisper.preparation import prepare

STORYBOOK = Path("corpora/storybook/test").absolute()


def test_the_codes_are_those_of_whispers_tokenizer() -> None:
    from transformers.models.whisper.tokenization_whisper import LANGUAGES

    assert set(LANGUAGES) == WHISPER_CODES


@pytest.mark.parametrize("code", sorted(WHISPER_CODES))
def test_every_whisper_language_round_trips_through_chat(code: str) -> None:
    assert len(chat_code(code)) == 3
    assert whisper_code(chat_code(code)) == code
    assert whisper_code(code) == code
    assert chat_code(chat_code(code)) == chat_code(code)


@pytest.mark.parametrize(
    ("iso", "whisper"),
    [
        ("zho", "zh"), ("cmn", "zh"), ("chi", "zh"), ("yue", "yue"), ("arb", "ar"), ("zsm", "ms"), ("nob", "no"),
        ("nor", "no"), ("nno", "nn"), ("pes", "fa"), ("prs", "fa"), ("lvs", "lv"), ("azj", "az"), ("ekk", "et"),
        ("npi", "ne"), ("khk", "mn"), ("swh", "sw"), ("ydd", "yi"), ("uzn", "uz"), ("fil", "tl"), ("tgl", "tl"),
        ("plt", "mg"), ("jav", "jw"), ("jv", "jw"), ("haw", "haw"), ("iw", "he"), ("en-US", "en"), ("ENG", "en"),
    ],
)  # fmt: skip
def test_codes_of_corpora_and_users(iso: str, whisper: str) -> None:
    assert whisper_code(iso) == whisper


@pytest.mark.parametrize("code", ["nan", "vec", "xyz", "?", "", "not a language"])
def test_a_language_unknown_to_whisper_keeps_its_code(code: str) -> None:
    assert whisper_code(code) == code
    assert chat_code(code) == code


@pytest.mark.parametrize("code", ["cmn", "yue", "nob", "hbs", "tgl", "fil", "prs", "arb"])
def test_an_iso_639_3_code_is_kept_in_chat(code: str) -> None:
    assert chat_code(code) == code


def test_importing_the_table_does_not_load_langcodes() -> None:
    code = "import sys, lsa_whisper.languages; sys.exit('langcodes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_language_is_taken_by_its_name_and_an_unknown_one_refused(tmp_path: Path) -> None:
    (tmp_path / "visit.txt").write_text("hello there\n")
    convert([tmp_path / "visit.txt"], out=tmp_path / "out", language="English")
    assert "@Languages:\teng\n" in (tmp_path / "out" / "visit.cha").read_text()
    for call in (
        lambda: convert([tmp_path / "visit.txt"], out=tmp_path / "other", language="Klingon"),
        lambda: prepare(STORYBOOK, tmp_path / "other", language="Klingon"),
    ):
        with pytest.raises(LsaWhisperError, match="'Klingon' is not known"):
            call()
    assert not (tmp_path / "other").exists()
