"""What the page can do: one table of actions, each an edit of an open transcript or a command to the server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lsa_whisper.chat import Participant, Transcript, Utterance
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.review import edits
from lsa_whisper.review.open_files import OpenFiles
from lsa_whisper.review.saved import RevisionError, SavedTranscript
from lsa_whisper.review.settings import write_review_settings
from lsa_whisper.review.view import TranscriptView

Request = dict[str, Any]
_Edit = Callable[[Transcript, Request], Transcript]

EDITS: dict[str, _Edit] = {
    "text": lambda t, r: edits.set_text(t, _int(r, "number"), _str(r, "text")),
    "texts": lambda t, r: edits.set_texts(t, _texts(r)),
    "mark": lambda t, r: edits.mark_words(t, _int(r, "number"), _int(r, "first"), _int(r, "last"), _str(r, "mark")),
    "speaker": lambda t, r: edits.assign_speaker(t, _int(r, "number"), _str(r, "speaker")),
    "person": lambda t, r: edits.describe_person(t, _str(r, "code"), _person(r)),
    "merge": lambda t, r: edits.merge_people(t, _str(r, "code"), _str(r, "into")),
    "span": lambda t, r: edits.set_span(t, _int(r, "number"), _int(r, "start_ms"), _int(r, "end_ms")),
    "word_span": lambda t, r: edits.set_word_span(
        t, _int(r, "number"), _int(r, "word"), _int(r, "start_ms"), _int(r, "end_ms")
    ),
    "split": lambda t, r: edits.split_at_word(t, _int(r, "number"), _int(r, "word")),
    "join": lambda t, r: edits.join_utterances(t, _int(r, "number")),
    "insert": lambda t, r: edits.insert_utterance(t, _int(r, "number"), _str(r, "speaker")),
    "fill": lambda t, r: edits.set_span(
        edits.insert_utterance(t, _int(r, "number"), _str(r, "speaker")),
        _int(r, "number"),
        _int(r, "start_ms"),
        _int(r, "end_ms"),
    ),
    "delete": lambda t, r: edits.delete_utterance(t, _int(r, "number")),
    "comment": lambda t, r: edits.set_comment(t, _int(r, "number"), _str(r, "text")),
    "reviewed": lambda t, r: edits.set_reviewed(t, _int(r, "number"), bool(r["reviewed"])),
}
"""The edits by name."""


def perform(files: OpenFiles, request: Request) -> dict[str, Any]:
    """Perform an action and return what the page shows of its result.

    Raises:
        LsaWhisperError: The action cannot be performed; nothing was changed.
        ValueError: The request is not one of our page.
    """
    name = _str(request, "action")
    if name == "transcribe":
        return _transcribe(files, request)
    if name == "stop":
        files.job.stop()
        return files.job.state()
    if name == "settings":
        return write_review_settings(request["settings"])
    number = _int(request, "file")
    if not 0 <= number < len(files.files):
        raise ValueError("no such file")
    saved, view = files.opened(number)
    before = saved.transcript
    if name == "text" and request.get("typing") is True:
        return _typed(saved, view, request)
    if name == "draft":
        return _drafted(saved, view, request)
    if name == "mark" and request.get("sure") is not True and (question := _question(saved, request)):
        return {"ask": question, **view.state()}
    if name in ("undo", "redo"):
        move = saved.undo if name == "undo" else saved.redo
        return view.changed(move(_int(request, "revision")), before)
    if name in ("mark", "split", "join", "reviewed") and request.get("reviewed") is not False:
        _verify_typed(saved, _int(request, "number"), both=name == "join")
    make = _edit(files, number, name, request)
    if make is None:
        return _other_action(files, number, saved, name, request)
    kind = _str(request, "mark") if name == "mark" else name
    change = saved.edit(_int(request, "revision"), kind, make, joins=bool(request.get("joins", False)))
    return view.changed(change, before)


def _verify_typed(saved: SavedTranscript, number: int, both: bool) -> None:
    """Raise an EditError if what was typed into an utterance, or the next one, is not in the transcript."""
    if number in saved.pending or (both and number + 1 in saved.pending):
        raise edits.EditError("the text that was typed here breaks a rule and is not saved; correct it first (Enter)")


def _edit(files: OpenFiles, number: int, name: str, request: Request) -> Callable[[Transcript], Transcript] | None:
    """Return the edit that a request asks for; ``None`` if it asks for something else."""
    if name == "take":
        other = _other_utterance(files, number, _int(request, "other"))
        take = edits.insert_copy if request.get("insert") is True else edits.take_utterance
        return lambda transcript: take(transcript, _int(request, "number"), other)
    if name == "settled":
        names = [_str(request, side) for side in ("left_name", "right_name")]
        return partial(edits.name_transcribers, names=names, remark=_settled(files, number, names))
    return (lambda transcript: EDITS[name](transcript, request)) if name in EDITS else None


def _question(saved: SavedTranscript, request: Request) -> str:
    """Return what the page must ask before it marks words, or an empty text."""
    saved.verify(_int(request, "revision"))
    first, last = _int(request, "first"), _int(request, "last")
    return edits.question_about(saved.transcript, _int(request, "number"), first, last, _str(request, "mark"))


def _typed(saved: SavedTranscript, view: TranscriptView, request: Request) -> dict[str, Any]:
    """Take text as it is typed: as an edit if it keeps CHAT's rules, else only into the journal, with what is wrong."""
    number, text, revision = _int(request, "number"), _str(request, "text"), _int(request, "revision")
    before, joins = saved.transcript, bool(request.get("joins", False))
    try:
        change = saved.edit(revision, "text", lambda t: edits.set_text(t, number, text), joins=joins)
    except RevisionError:
        raise
    except edits.EditError as error:
        answer = _check(before, number, text)
        saved.pend(revision, number, text)
        return {"error": str(error), **answer, **view.state()}
    if change is None and number in saved.pending:
        saved.pend(revision, number, None)
    return {**view.changed(change, before), "proposal": edits.propose_marks(before, text)}


def _settled(files: OpenFiles, number: int, names: list[str]) -> str:
    """Return the sentence about two transcribers for the header of their settled transcript."""
    words = files.comparison(number)["words"]
    figures = f"agreement of words {100 * words['agreement']:.1f} %" if words else "no words"
    figures += f", Cohen's kappa by word {words['kappa']:.2f}" if words and words["kappa"] is not None else ""
    return f"settled from the transcripts of {' and '.join(names)}; before that, {figures}"


def _drafted(saved: SavedTranscript, view: TranscriptView, request: Request) -> dict[str, Any]:
    """Take what was typed when the page was left: as an edit if its utterance is still the same, else as unsaved text.

    The page cannot know the revision, because the answer to its last edit may be on its way.
    """
    number, text, before, noted = _int(request, "number"), _str(request, "text"), request["before"], request["noted"]
    utterances = saved.transcript.utterances
    if not 0 <= number < len(utterances) or not isinstance(before, list) or not isinstance(noted, list):
        raise ValueError("no such utterance")
    same, now = utterances[number].text in before, {"revision": saved.revision}
    if request["field"] == "comment" and same:
        comment = edits.comment_of(utterances[number])
        if comment and comment not in [*noted, text]:  # from another window: both are kept
            text = "; ".join(filter(None, (comment, text)))
        joins = bool(saved.history.done) and saved.history.done[-1].kind == "comment"
        saved.edit(saved.revision, "comment", lambda t: edits.set_comment(t, number, text), joins=joins)
    elif request["field"] == "text" and same:
        return _typed(saved, view, request | now)
    elif request["field"] == "text" and utterances[number].text != text:
        saved.pend(saved.revision, number, text)
    return view.state()


def _other_action(files: OpenFiles, number: int, saved: SavedTranscript, name: str, request: Request) -> dict[str, Any]:
    _, view = files.opened(number)
    if name == "check":
        return _check(saved.transcript, _int(request, "number"), _str(request, "text"))
    if name == "pending":
        saved.pend(_int(request, "revision"), _int(request, "number"), _str(request, "text"))
        return view.state()
    if name == "activity":
        saved.add_activity(min(60.0, max(0.0, float(request["seconds"]))))
        return view.state()
    if name in ("take_foreign", "keep_own"):
        if saved.foreign is not None:
            (saved.take_foreign if name == "take_foreign" else saved.keep_own)()
            files.renew_view(number)
        return files.open(number)
    raise ValueError(f"no action {name!r}")


def _check(transcript: Transcript, number: int, text: str) -> dict[str, Any]:
    if not 0 <= number < len(transcript.utterances):
        raise ValueError("no such utterance")
    faults = edits.find_problems(transcript, number, text)
    problems = [
        {"column": fault.column, "code": fault.code, "message": "; ".join(filter(None, (fault.message, fault.remedy)))}
        for fault in faults
    ]
    return {"problems": problems, "proposal": edits.propose(transcript, number, text) if faults else None}


def _other_utterance(files: OpenFiles, number: int, other: int) -> Utterance:
    utterances = files.other(number).utterances
    if not 0 <= other < len(utterances):
        raise ValueError("no such utterance")
    return utterances[other]


def _transcribe(files: OpenFiles, request: Request) -> dict[str, Any]:
    numbers = request["files"]
    if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
        raise ValueError("no list of files")
    selection = [files.files[number] for number in numbers if 0 <= number < len(files.files)]
    recordings = [file.recording for file in selection if file.recording and not file.transcript]
    if not recordings:
        raise LsaWhisperError("there is no recording without a transcript; choose one")
    files.job.start(recordings)
    return files.job.state()


def _texts(request: Request) -> dict[int, str]:
    texts = request["texts"]
    if not isinstance(texts, dict) or not all(number.isdigit() and len(number) < 9 for number in texts):
        raise ValueError("no texts")
    return {int(number): _str(texts, number) for number in texts}


def _person(request: Request) -> Participant:
    new, role, name, age, sex = (_str(request, field).strip() for field in ("new", "role", "name", "age", "sex"))
    return Participant(new, role, name, age=age, sex=sex)


def _int(request: Request, name: str) -> int:
    value = request[name]
    if not isinstance(value, int) or isinstance(value, bool) or not -1 < value < 10**12:
        raise ValueError(f"{name} is not a number")
    return value


def _str(request: Request, name: str) -> str:
    value = request[name]
    if not isinstance(value, str) or len(value) > 20_000:
        raise ValueError(f"{name} is not text")
    value.encode()  # lone surrogates are not text
    return "".join(sign for sign in value if sign.isprintable() or sign in "\n\t")
