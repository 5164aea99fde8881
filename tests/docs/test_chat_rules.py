"""The table of CHAT's rules is that of the code; ``python tests/docs/test_chat_rules.py`` writes it anew."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper.chat import rules

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "chat-rules.md"
PARTS = {
    "The file": rules.FILE_RULES,
    "Headers": rules.HEADER_RULES,
    "Participants": rules.PARTICIPANT_RULES,
    "Times": rules.TIME_RULES,
    "Main tiers": rules.TIER_RULES,
    "Words": rules.WORD_RULES,
    "Dependent tiers": rules.DEPENDENT_RULES,
}


def tables() -> str:
    """Return all tables as Markdown."""
    return "\n".join(
        f"## {title}\n\n| code | CHECK | violation | what to do | `--fix` |\n|---|---|---|---|---|\n"
        + "".join(_row(code, rule) for code, rule in part.items())
        for title, part in PARTS.items()
    )


def _row(code: str, rule: rules.Rule) -> str:
    number = str(rule.check_number or "") + (" (remark)" if rule.remark else "")
    cells = (f"`{code}`", number.strip(), rule.meaning, rule.remedy, "yes" if rule.fixable else "")
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |\n"


def _escape(text: str) -> str:
    for sign in "|<>[]*_":
        text = text.replace(sign, f"&#{ord(sign)};")
    return text.replace("\t", " ")


def test_the_page_has_the_rules_of_the_code():
    text = PAGE.read_text("utf-8")
    assert text[text.index("## The file") :] == tables(), "run: python tests/docs/test_chat_rules.py"


def test_every_rule_is_in_one_part():
    assert sum(len(part) for part in PARTS.values()) == len(rules.RULES)


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text("utf-8").partition("## The file")[0] + tables(), "utf-8")
