"""Which classes of disfluency a model writes at all, as its transcripts say it: the comment's writer and its reader.

A model that was taught other labels than ``chat`` leaves classes out. Of such a class a count of zero says nothing,
and so does a total with it. The comment counts while the transcript is a draft: a person who has gone through all of it
has heard what the model left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lsa_whisper.chat import Disfluency, Transcript
from lsa_whisper.chat.disfluencies import Family, classes_of
from lsa_whisper.labels.style import Labels
from lsa_whisper.page.language import gettext
from lsa_whisper.page.terms import class_name
from lsa_whisper.page.text import join_with_and

NOT_TRANSCRIBED = "not transcribed"
"""What stands in place of a zero, or of a total, of classes that a model does not write, or was asked to leave out."""
IN_PART = "transcribed in part"
"""The same for classes of which a model writes some."""
NOT_CHECKED = "not checked by a person"
"""How the comment of a program on its own transcript ends."""
CHECKED = "checked by a person"
"""How it ends when a person has reviewed every utterance."""

_FROM_WORDS = frozenset(kind for kind in Disfluency if kind.row.in_words) | classes_of(Family.RETRACE)
"""The classes that words alone show: fillers, cut-off words and retraces."""
_BEGIN, _PART, _END = f"{NOT_TRANSCRIBED}: ", "in part: ", "unless a person has checked, these counts are unknown"
_OLD_BEGIN = f"{NOT_TRANSCRIBED} by this model: "
_STYLE = re.compile(r"transcribed by lsa-whisper \S+ with model .*\(labels (\w+)(?:\+roles)?/\d+, (asked for by )?")
"""The labels in the comment of a transcript, also of one from before classes were named."""


@dataclass(frozen=True)
class Coverage:
    """The classes that a model does not write, and those of which it writes some; both empty: it writes all."""

    left_out: frozenset[Disfluency] = frozenset()
    in_part: frozenset[Disfluency] = frozenset()

    @classmethod
    def of(cls, labels: Labels, *, is_trained: bool) -> Coverage:
        """Return what a model writes.

        ``is_trained`` says whether it was trained to write them, and not only prompted.

        >>> Coverage.of(Labels("chat"), is_trained=True) == Coverage()
        True
        >>> Disfluency.BLOCK in Coverage.of(Labels("verbatim"), is_trained=True).left_out
        True
        >>> Coverage.of(Labels("chat", unseen=("block", "fragment")), is_trained=True).comment()
        'not transcribed: block; in part: fragment; unless a person has checked, these counts are unknown'
        """
        if labels.style == "fluent":
            return cls(frozenset(Disfluency))
        unseen = frozenset(map(Disfluency, labels.unseen))
        unwritten, in_part = unseen - _FROM_WORDS, unseen & _FROM_WORDS
        if labels.style == "verbatim":
            unwritten |= frozenset(Disfluency) - _FROM_WORDS - {Disfluency.PART_WORD_REPETITION}
            if not is_trained:
                unwritten, in_part = unwritten | {Disfluency.PART_WORD_REPETITION}, _FROM_WORDS
        return cls(unwritten, in_part)

    def __or__(self, other: Coverage) -> Coverage:
        return Coverage(self.left_out | other.left_out, self.in_part | other.in_part)

    def gap(self, kinds: Iterable[Disfluency], count: int = 0) -> str:
        """Return what stands in place of a ``count`` of these classes; empty if the count can stand.

        >>> Coverage(in_part=frozenset({Disfluency.FRAGMENT})).gap([Disfluency.FRAGMENT])
        'transcribed in part'
        """
        classes = frozenset(kinds)
        if count or not classes & (self.left_out | self.in_part):
            return ""
        return NOT_TRANSCRIBED if classes & self.left_out else IN_PART

    def comment(self) -> str:
        """Return the comment for a CHAT header, which :func:`read_coverage` reads; empty if nothing is left out.

        >>> Coverage(frozenset({Disfluency.BLOCK}), frozenset({Disfluency.FRAGMENT})).comment()
        'not transcribed: block; in part: fragment; unless a person has checked, these counts are unknown'
        """
        parts = [_BEGIN + _names(self.left_out)] if self.left_out else []
        parts += [_PART + _names(self.in_part)] if self.in_part else []
        return "; ".join([*parts, _END]) if parts else ""

    def sentence(self) -> str:
        """Return what a person should know and do who reads or counts the transcript; empty if nothing is left out."""
        if not self.left_out:
            return ""
        names = gettext("disfluencies") if len(self.left_out) == len(Disfluency) else _titles(self.left_out)
        leaves_out = gettext("this model leaves out {classes}").format(classes=names)
        part = gettext(", and writes only some of the {classes}") if self.in_part else ""
        remedy = gettext(
            ": a count of zero says nothing. Add them with 'lsa-whisper review', or transcribe with a model that "
            "'lsa-whisper finetune' taught to write them"
        )
        return leaves_out + part.format(classes=_titles(self.in_part)) + remedy


def read_coverage(transcript: Transcript) -> Coverage:
    r"""Return what the model of a transcript leaves out, as its header says; nothing if a person has checked it.

    >>> from lsa_whisper import chat
    >>> read_coverage(chat.parse("@Comment:\tnot transcribed: block; in part: pause; zero\n")).in_part
    frozenset({<Disfluency.PAUSE: 'pause'>})
    """
    if is_checked(transcript):
        return Coverage()
    comments = [text.replace(_OLD_BEGIN, _BEGIN, 1) for text in _comments(transcript)]
    if notes := [text for text in comments if text.startswith((_BEGIN, _PART))]:
        return Coverage(_named(notes[0], _BEGIN), _named(notes[0], _PART))
    matches = [match for text in comments if (match := _STYLE.match(text))]
    styles = [(match[1], not match[2]) for match in matches if match[1] in ("chat", "verbatim", "fluent")]
    return Coverage.of(Labels(styles[0][0]), is_trained=styles[0][1]) if styles else Coverage()


def is_draft(transcript: Transcript) -> bool:
    r"""Return whether a program wrote a transcript, and no person has gone through all of it.

    >>> from lsa_whisper import chat
    >>> is_draft(chat.parse("@Comment:\ttranscribed; not checked by a person\n*PAR:\tyes .\n"))
    True
    """
    ends = [text.rpartition("; ")[2] for text in _comments(transcript)]
    return NOT_CHECKED in ends and not _all_reviewed(transcript)


def is_checked(transcript: Transcript) -> bool:
    """Return whether a program wrote a transcript, and a person has gone through all of it."""
    ends = [text.rpartition("; ")[2] for text in _comments(transcript)]
    return CHECKED in ends or (NOT_CHECKED in ends and _all_reviewed(transcript))


def _all_reviewed(transcript: Transcript) -> bool:
    return bool(transcript.utterances) and all(utterance.reviewed for utterance in transcript.utterances)


def _comments(transcript: Transcript) -> list[str]:
    return [" ".join(line.value.split()) for line in transcript.headers if line.name == "@Comment"]


def _names(kinds: Iterable[Disfluency]) -> str:
    return ", ".join(kind.value.replace("_", " ") for kind in Disfluency if kind in frozenset(kinds))


def _titles(kinds: Iterable[Disfluency]) -> str:
    return join_with_and([class_name(kind) for kind in Disfluency if kind in frozenset(kinds)])


def _named(comment: str, begin: str) -> frozenset[Disfluency]:
    """Return the classes that a comment names behind ``begin``; a name of another version is skipped."""
    part = next((part for part in comment.split("; ") if part.startswith(begin)), begin)
    names = {name.strip().replace(" ", "_") for name in part.removeprefix(begin).split(",")}
    return frozenset(kind for kind in Disfluency if kind.value in names)
