"""The corpus cards that ship can be read, say what a user must know, and work from inside a corpus folder."""

import re
import shutil
from pathlib import Path

import pytest

from lsa_whisper.corpus import discover, read_card
from lsa_whisper.system import plain_yaml

CORPORA = Path(__file__).parents[2] / "corpora"
CARDS = sorted([*CORPORA.glob("*.yaml"), *CORPORA.glob("*/card.yaml")])


def test_there_are_cards_with_names_of_their_own():
    names = [read_card(path).name for path in CARDS]
    assert len(CARDS) >= 9 and len(set(names)) == len(names)
    index = (CORPORA / "README.md").read_text(encoding="utf-8")
    assert all(f"`{path.name}`" in index for path in CARDS if path.parent == CORPORA)


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.relative_to(CORPORA).as_posix())
def test_a_card_has_the_required_facts(path):
    card = read_card(path)
    assert card.name == (path.parent.name if path.name == "card.yaml" else path.stem)
    facts = plain_yaml.parse(plain_yaml.read(path))
    assert re.fullmatch("[a-z]{3}", card.language) and facts["link"] and facts["licence"]
    assert facts.get("roles") or "roles" in facts["unchecked"]
    assert {"about", "how_to_get"} <= set(facts)
    if path.parent == CORPORA:
        assert facts["link"].startswith("https://") and facts["terms"] and facts["cite"] and facts["media"]
        assert not card.splits, "nobody but its publisher fixes a corpus' splits"


def test_splits_as_the_index_shows_them_keep_two_files_of_a_person_together(tmp_path):
    for task in ("reading", "interview"):
        for person, source in (("24fa", "test01"), ("31ma", "test02")):
            target = tmp_path / task / person
            target.parent.mkdir(exist_ok=True)
            shutil.copy(CORPORA / "storybook" / "test" / f"{source}.flac", target.with_suffix(".flac"))
            text = (CORPORA / "storybook" / "test" / f"{source}.cha").read_text(encoding="utf-8")
            anonymous = re.sub(r"(CHI|ADU) [A-Z][a-z]+ ", r"\1 ", text.replace(source, person).replace("*CHI", "*PAR"))
            target.with_suffix(".cha").write_text(anonymous.replace("CHI", "PAR"), encoding="utf-8")
    card = (CORPORA / "fluencybank-voices-aws.yaml").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    splits:\n(?:      .+\n)+", (CORPORA / "README.md").read_text(encoding="utf-8"), re.M)
    (tmp_path / "card.yaml").write_text(card + shown.replace("    splits", "splits"), encoding="utf-8")
    sessions, _ = discover(tmp_path)
    assert {session.name: session.split for session in sessions} == {
        **{f"{task}/24fa": "dev" for task in ("reading", "interview")},
        **{f"{task}/31ma": "test" for task in ("reading", "interview")},
    }


def test_a_card_copied_into_a_folder_names_its_speakers(tmp_path):
    for name in ("test01.cha", "test01.flac"):
        shutil.copy(CORPORA / "storybook" / "test" / name, tmp_path)
    shutil.copy(CORPORA / "aphasiabank-adler.yaml", tmp_path / "card.yaml")
    ((session, *_), _) = discover(tmp_path)
    assert session.corpus == "aphasiabank-adler" and session.split is None
    assert all(who.startswith("aphasiabank-adler/") for who in session.speakers.values())
