"""A small valid transcript, and transcripts that differ from it in one place."""

BASE = """@UTF8
@Begin
@Languages:	eng, spa
@Participants:	CHI Ann Target_Child, MOT Mother
@ID:	eng|corpus|CHI|4;11.03|female||MC|Target_Child|||
@ID:	eng|corpus|MOT|||||Mother|||
@Media:	m, audio
@Comment:	a comment
*MOT:	first . \x1510_20\x15
*CHI:	look at it . \x1520_30\x15
%mor:	v|look prep|at pro|it .
%gra:	1|0|ROOT 2|1|JCT 3|2|POBJ 4|1|PUNCT
*MOT:	last . \x1530_40\x15
@End
"""


def spoken(text):
    return "".join(line for line in BASE.splitlines(keepends=True) if not line.startswith("%")).replace(
        "look at it . \x1520_30\x15", text
    )


def changed(old, new):
    """Return the base with a part replaced; without %gra if it has no %mor any more."""
    assert old in BASE
    text = BASE.replace(old, new, 1)
    return text if "%mor" in text else "".join(line for line in text.splitlines(keepends=True) if "%gra" not in line)
