"""Spliced speech of a train session: a recording and a transcript of its own in the prepared folder.

Both are ordinary files: the transcript passes the check of CHAT's rules, and its windows are screened and packed as
those of any session. Their names hold a digest of their content, so that a call that resumes finds the same files.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.audio.clip import encode_audio
from lsa_whisper.chat import Disfluency, Participant
from lsa_whisper.corpus import Session
from lsa_whisper.errors import AudioError, ChatSyntaxError
from lsa_whisper.preparation.session import PrepareOptions, SessionResult, WindowRow, process_session
from lsa_whisper.splice import DisfluencyProfile, SplicedSpeech, count_profile, splice_speech
from lsa_whisper.system.atomic_write import replace_file, truncate_name

SPLICED_FOLDER = "spliced"
_OURS = re.compile(r".+-[0-9a-f]{12}\.(?:flac|cha)")


def profile_of(sessions: Iterable[Session]) -> DisfluencyProfile:
    """Return the profile of all utterances of ``sessions``; transcripts that can no longer be read are left out."""

    def utterances() -> Iterable[chat.Utterance]:
        for session in sessions:
            try:
                yield from session.transcript.utterances
            except ChatSyntaxError:
                continue

    return count_profile(utterances())


def with_spliced(result: SessionResult, session: Session, options: PrepareOptions, out: Path) -> SessionResult:
    """Return ``result`` with windows of spliced speech, whose recording is written to ``out``.

    Only utterances that are in the windows of ``result`` are used.

    Raises:
        AudioError: The recording can no longer be read.
        OSError: The files cannot be written.
    """
    transcript, recording = session.transcript, session.recording
    accepted = {member.line for row in result.rows for member in row.members}
    speech = splice_speech(
        transcript.utterances,
        recording.load,
        round(recording.duration_s * 1000),
        profile=options.profile or DisfluencyProfile(0),
        rate=options.splice,
        rng=random.Random(f"{options.seed} {session.corpus} {session.name}"),
        usable=lambda utterance: utterance.line in accepted,
    )
    if not speech.utterances:
        return result
    spliced = _write(speech, session, out / SPLICED_FOLDER)
    plain = replace(options, splice=0.0, profile=None, non_speech=0.0, reviewed=False)
    kinds = _kinds_by_line(speech, spliced)
    rows = tuple(_marked(row, kinds) for row in process_session(spliced, "train", plain).rows)
    return replace(result, rows=(*result.rows, *rows))


def _write(speech: SplicedSpeech, session: Session, folder: Path) -> Session:
    """Write recording and transcript, and return them as a session of the same speakers."""
    _, sound = encode_audio(speech.samples, mp3=False)
    text = "".join(utterance.main + utterance.tiers[0].raw for utterance in speech.utterances)
    digest = hashlib.sha256(speech.samples.tobytes() + text.encode(errors="replace")).hexdigest()[:12]
    name = f"{truncate_name(session.name.replace('/', '-'))}-{digest}"
    transcript = session.transcript
    codes = dict.fromkeys(utterance.speaker for utterance in speech.utterances)
    spliced = chat.compose(
        languages=transcript.languages or [session.language],
        participants=[transcript.participants.get(code) or Participant(code, "Unidentified") for code in codes],
        utterances=speech.utterances,
        media=name,
        comments=[f"Spliced by a program from the recording {session.name}; no person spoke these utterances."],
    )
    replace_file(sound, folder / f"{name}.flac", own=True)
    replace_file(chat.serialize(spliced), folder / f"{name}.cha", own=True)
    recording = Recording.open(folder / f"{name}.flac")
    return replace(session, path=folder / f"{name}.cha", recording=recording, repair_bullets=False)


def _kinds_by_line(speech: SplicedSpeech, session: Session) -> dict[int | None, Counter[Disfluency]]:
    utterances = session.transcript.utterances
    if len(utterances) != len(speech.kinds):
        raise AudioError(f"{session.path}: was changed while it was prepared; prepare the data again")
    return {utterance.line: kinds for utterance, kinds in zip(utterances, speech.kinds, strict=True)}


def _marked(row: WindowRow, kinds: dict[int | None, Counter[Disfluency]]) -> WindowRow:
    counts = sum((kinds[member.line] for member in row.members), Counter[Disfluency]())
    names = " ".join(kind.value for kind in Disfluency if counts[kind])
    return replace(row, segment=replace(row.segment, spliced=names))


def remove_spliced(out: Path, but: Collection[str]) -> None:
    """Remove the spliced recordings and transcripts of earlier calls from the prepared folder ``out``."""
    folder = out / SPLICED_FOLDER
    if not folder.is_dir():
        return
    kept = {Path(name).stem for name in but}
    for path in list(folder.iterdir()):
        if _OURS.fullmatch(path.name) and path.stem not in kept:
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
