"""Edits of a transcript: functions from transcript to transcript that keep everything they do not change.

An edit returns a new :class:`~lsa_whisper.chat.Transcript` that shares every untouched block with the old one, so the
text of untouched lines is the same bytes. An edit that would break a rule of CHAT raises :class:`EditError` instead.
Utterances are counted from 0 in the order of the file, words within the text of an utterance as written.
"""

from lsa_whisper.review.edits.change import Change, EditError
from lsa_whisper.review.edits.marks import MARKS, mark_words, question_about
from lsa_whisper.review.edits.people import assign_speaker, describe_person, merge_people, name_transcribers
from lsa_whisper.review.edits.problems import find_problems, propose, propose_marks, verify_edit
from lsa_whisper.review.edits.reviewed import comment_of, draft_banner, set_comment, set_reviewed, with_checked_state
from lsa_whisper.review.edits.times import set_span, set_word_span
from lsa_whisper.review.edits.utterances import (
    delete_utterance,
    insert_copy,
    insert_utterance,
    join_utterances,
    set_speaker,
    set_text,
    set_texts,
    split_at_word,
    take_utterance,
)
from lsa_whisper.review.edits.words import WrittenWord, written_words

__all__ = [
    "MARKS",
    "Change",
    "EditError",
    "WrittenWord",
    "assign_speaker",
    "comment_of",
    "delete_utterance",
    "describe_person",
    "draft_banner",
    "find_problems",
    "insert_copy",
    "insert_utterance",
    "join_utterances",
    "mark_words",
    "merge_people",
    "name_transcribers",
    "propose",
    "propose_marks",
    "question_about",
    "set_comment",
    "set_reviewed",
    "set_span",
    "set_speaker",
    "set_text",
    "set_texts",
    "set_word_span",
    "split_at_word",
    "take_utterance",
    "verify_edit",
    "with_checked_state",
    "written_words",
]
