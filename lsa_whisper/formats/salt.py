"""SALT: mazes in parentheses, as the Systematic Analysis of Language Transcripts counts them."""

from __future__ import annotations

from lsa_whisper.chat import Disfluency, Transcript, Utterance

_MAZE = (
    Disfluency.FILLED_PAUSE,
    Disfluency.FRAGMENT,
    Disfluency.NONWORD,
    Disfluency.REPETITION,
    Disfluency.REVISION,
    Disfluency.REFORMULATION,
    Disfluency.FALSE_START,
    Disfluency.UNSPECIFIED_RETRACE,
)
_ENDS = {"?": "?", "!": "!", "+...": ">", "+..?": ">", "+/.": "^", "+/?": "^", "+//.": "^", "+//?": "^"}


def serialize(transcript: Transcript) -> str:
    """Return a SALT transcript: speakers by letter, utterances with mazes, times as ``- m:ss`` lines."""
    letters = _letters(transcript)
    roles = {code: each.role for code, each in transcript.participants.items()}
    lines = ["$ " + ", ".join(roles.get(code, code).replace("_", " ") for code in letters)] if letters else ["$"]
    for each in transcript.utterances:
        if not each.verbatim():
            continue
        if each.span:
            seconds = each.span.start_ms // 1000
            lines.append(f"- {seconds // 60}:{seconds % 60:02}")
        lines.append(f"{letters[each.speaker]} {mazes(each)}")
    return "\n".join(lines) + "\n"


def mazes(utterance: Utterance) -> str:
    """Return the words with mazes in parentheses, and cut-off words with ``*``.

    >>> from lsa_whisper.chat import utterance
    >>> mazes(utterance("CHI", "&-um and you [/] you can &+g go +..."))
    '(um) and (you) you can (g*) go>'
    """
    words = utterance.verbatim()
    inside: set[int] = set()
    for event in utterance.events():
        if event.kind in _MAZE:
            inside.update(range(event.start, event.end))
    text, open_maze = [], False
    for index, word in enumerate(words):
        written = f"{word[:-1]}*" if word.endswith("-") else word
        starts = index in inside and not open_maze
        open_maze = index in inside
        ends = open_maze and index + 1 not in inside
        text.append(f"{'(' if starts else ''}{written}{')' if ends else ''}")
    return " ".join(text) + _ENDS.get(utterance.terminator, ".")


def _letters(transcript: Transcript) -> dict[str, str]:
    """Return a unique letter for each speaker, if possible the first of its code."""
    letters: dict[str, str] = {}
    for code in dict.fromkeys(each.speaker for each in transcript.utterances):
        free = (letter for letter in code + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in letters.values())
        letters[code] = next(free, code)
    return letters
