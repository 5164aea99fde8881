"""Sessions: transcripts with their recordings and speaker ids."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.audio import AUDIO_SUFFIXES, Recording
from lsa_whisper.chat import Participant, Transcript
from lsa_whisper.chat.files import is_transcript
from lsa_whisper.chat.fix import repair_bullets as repair
from lsa_whisper.corpus.card import Card, find_card
from lsa_whisper.corpus.files import CLEANED_TEXT, RecordingIndex
from lsa_whisper.corpus.speaker_groups import SpeakerPattern
from lsa_whisper.errors import AudioError, ChatSyntaxError, CorpusError
from lsa_whisper.formats.reading import is_readable
from lsa_whisper.manifest import SPLITS, is_unicode
from lsa_whisper.system.files import FailedFile, list_files, path_of

_AGE_NAME = re.compile(r"\d{5,6}[a-z]?")  # CHILDES names a session by the child's age: 020304 is 2;03.04
_VISIT = re.compile(r"(?<=\d)[a-z]$")  # AphasiaBank's adler01a and adler01b are two visits of one person
_ROLE_WORDS = """
adult boy brother caller caretaker child clinician conversationalpartner doctor environment examiner experimenter
father female friend girl grandfather grandmother informant interviewer investigator justice leader male man media
member mother narrator nurse observer other parent participant partner patient player playmate sibling sister
speaker student subject targetadult targetchild teacher teenager therapist unidentified visitor woman uncertain
"""
_GENERIC_NAMES = frozenset(_ROLE_WORDS.split())


@dataclass(frozen=True)
class Session:
    """One transcript and its recording.

    Attributes:
        name: Path of the transcript below the corpus folder, without extension.
        corpus: Name of the corpus.
        path: The transcript.
        recording: The audio.
        speakers: Speaker ids by code; the part before the last ``-`` identifies the person.
        split: The split that the card assigns, or ``None``.
        language: The first language of the transcript (ISO 639-3).
        card_ids: The ids of its speakers in the card.
        repair_bullets: Whether times without their control characters count as bullets.
        named: Whether the transcript or a pattern identifies a person; else the file counts as one.
    """

    name: str
    corpus: str
    path: Path
    recording: Recording
    speakers: Mapping[str, str]
    split: str | None = None
    language: str = "eng"
    card_ids: tuple[str, ...] = ()
    repair_bullets: bool = False
    named: bool = True

    @property
    def transcript(self) -> Transcript:
        """The transcript, read at each access, because thousands of transcripts would fill the memory."""
        transcript = chat.read(self.path)
        return repair(transcript) if self.repair_bullets else transcript


def discover(
    folder: Path | str,
    *,
    media: Path | str | None = None,
    card: Path | str | None = None,
    repair_bullets: bool = False,
    speaker_from: str | None = None,
) -> tuple[list[Session], list[FailedFile]]:
    """Return the sessions in ``folder``, ordered by name, and the files that are not used.

    ``folder`` has CHAT files at any depth, or is one. ``media`` is another root folder of recordings; ``card`` is
    ``card.yaml`` in ``folder`` by default. With ``repair_bullets``, times without their control characters are bullets.
    ``speaker_from`` is a pattern of session names, such as ``{speaker}_{visit}``, that says who is the same person.

    Raises:
        CorpusError: The folder is missing, unreadable or without transcripts, or the card or pattern is invalid.
    """
    try:
        sessions, skipped_files = _discover(path_of(folder), Path(media) if media is not None else None, card)
    except OSError as error:
        raise CorpusError(f"{folder}: cannot be opened ({error.strerror}); check path and permissions") from error
    return [
        replace(session, repair_bullets=repair_bullets) for session in by_pattern(sessions, speaker_from)
    ], skipped_files


def by_pattern(sessions: list[Session], speaker_from: str | None) -> list[Session]:
    """Return ``sessions`` with the persons that their names say by a pattern, if there is one."""
    pattern = SpeakerPattern(speaker_from) if speaker_from is not None else None

    def named(session: Session, person: str) -> Session:
        speakers = {code: f"{session.corpus}/{person}-{code}" for code in session.speakers}
        return replace(session, speakers=speakers, named=True)

    return [named(session, pattern.speaker(session.name)) for session in sessions] if pattern else sessions


def _discover(folder: Path, media: Path | None, card: Path | str | None) -> tuple[list[Session], list[FailedFile]]:
    if not folder.exists():
        raise CorpusError(f"{folder}: no such corpus folder; check the path")
    if media is not None and not media.is_dir():
        if media.is_file():
            raise CorpusError(f"{media}: is a file; name the folder of the recordings")
        raise CorpusError(f"{media}: no such media folder; check the path")
    alone = folder.is_file()
    root = folder.parent if alone else folder
    files, skipped_files = ([folder], []) if alone else list_files(folder)
    transcripts = [path for path in files if is_transcript(path)]
    if not transcripts:
        reason = f" ({skipped_files[0].path}: {skipped_files[0].reason})" if skipped_files else ""
        raise CorpusError(f"{folder}: contains no CHAT transcript (*.cha){reason}; {_instead_of_transcripts(files)}")
    facts = find_card(root, card)
    recordings = [path for path in root.iterdir() if path.is_file()] if alone else files
    if media is not None:
        media_files, unreadable_media = list_files(media)
        recordings, skipped_files = [*recordings, *media_files], [*skipped_files, *unreadable_media]
    recording_index = RecordingIndex(recordings)
    sessions = []
    for path in transcripts:
        try:
            sessions.append(_session(path, root, media, facts, recording_index))
        except (AudioError, ChatSyntaxError) as error:
            skipped_files.append(FailedFile(path, str(error)))
    if not alone:
        skipped_files += [FailedFile(path, "this recording has no transcript") for path in recording_index.unused()]
    return sessions, skipped_files


def _instead_of_transcripts(files: Sequence[Path]) -> str:
    """Return what to do with a folder without CHAT files, by what it holds."""
    if any(path.name == "train.jsonl" for path in files):
        return "it is prepared data, which 'lsa-whisper finetune' takes"
    if other := next((path for path in files if is_readable(path)), None):
        return f"'lsa-whisper convert' makes CHAT of other transcripts, such as {other.name}"
    if any(path.suffix.lower() in AUDIO_SUFFIXES for path in files):
        return "'lsa-whisper transcribe' writes one for each recording"
    return "name a folder of transcripts"


def _session(path: Path, root: Path, media: Path | None, card: Card, recording_index: RecordingIndex) -> Session:
    within = path.parent.relative_to(root)
    if not is_unicode(f"{within}{path.name}"):  # the name becomes part of rows and speaker ids, which are UTF-8 text
        raise ChatSyntaxError("its name or its folder's name is not UTF-8; rename it", path=str(path))
    transcript = chat.read(path)
    if not transcript.utterances:
        raise ChatSyntaxError("contains no utterance", path=str(path))
    if any(line.name == "@Comment" and line.value == CLEANED_TEXT for line in transcript.headers):
        raise ChatSyntaxError("is the cleaned text of another transcript, without its disfluencies", path=str(path))
    places = [path.parent.absolute(), *([(media / within).absolute()] if media else [])]
    names = [name for name in (transcript.media, path.stem) if name]
    paths = next((hits for name in names if (hits := recording_index.take(name, places))), [])
    if not paths:
        raise AudioError(_why_no_recording(transcript, names, media))
    name, participants = (within / path.stem).as_posix(), transcript.participants
    speakers = speaker_ids(transcript, name, card)
    language = next(iter(transcript.languages), card.language or "eng")
    card_ids = _card_ids(speakers, participants, card)
    split = _fixed_split(path, card_ids, card)
    spoken = [person for code, person in participants.items() if code in speakers]
    has_name = any(person.custom or _has_name(person, card) for person in spoken)
    return Session(
        name, card.name, path, _first_readable(paths), speakers, split, language, tuple(card_ids), named=has_name
    )


def _first_readable(paths: list[Path]) -> Recording:
    """Return the first readable recording: there may be an intact ``a.mp3`` next to a damaged ``a.wav``."""
    for path in paths[:-1]:
        try:
            return Recording.open(path)
        except AudioError:
            continue
    return Recording.open(paths[-1])


def _why_no_recording(transcript: Transcript, names: list[str], media: Path | None) -> str:
    header = transcript.header("@Media") or ""
    status = next((f", and @Media says {word!r}" for word in ("missing", "unlinked") if word in header), "")
    where = "next to the transcript" + (f" or in {media}" if media else "; name the media folder if it is elsewhere")
    title = " or ".join(repr(name) for name in dict.fromkeys(names))
    return f"no recording named {title} {where}{status}"


def speaker_ids(transcript: Transcript, session: str, card: Card) -> dict[str, str]:
    """Return the ids of those who speak, by code; the part before the last ``-`` identifies the person.

    ``session`` is the path of the transcript below the corpus folder, without extension.
    """
    codes, people = dict.fromkeys(utterance.speaker for utterance in transcript.utterances), transcript.participants
    return {code: _speaker_id(people.get(code, Participant(code, "")), session, card) for code in codes}


def _speaker_id(person: Participant, session: str, card: Card) -> str:
    """Return ``<corpus>/<person>-<CODE>``; the person by custom id, else by proper name, else by session.

    A name such as ``Mother`` identifies no person, so the session name is used: two visits (``adler01a``, ``adler01b``)
    or all ages of a child (``Adam/020304``) count as one person. Merging two persons is better than leaking one.
    """
    has_name = _has_name(person, card)
    folder, _, stem = session.rpartition("/")
    by_session = (folder or card.name) if _AGE_NAME.fullmatch(stem) else _VISIT.sub("", session)
    owner = person.custom or (person.name if has_name else by_session)
    return f"{card.name}/{owner}-{person.code}"


def _has_name(person: Participant, card: Card) -> bool:
    """Return whether a participant has a name of its own; ``Mother`` identifies no person."""
    plain = re.sub(r"[\W\d_]+", "", person.name).casefold()
    own = bool(plain) and plain not in _GENERIC_NAMES and plain != person.code.casefold()
    return person.name in card.split_of or own


def _card_ids(speakers: Mapping[str, str], participants: Mapping[str, Participant], card: Card) -> dict[str, str]:
    """Return the ids of these speakers in the card, each with the speaker's code.

    A card may list the full id, the id without corpus, the person, or the name.
    """
    ids = {}
    for code, full in speakers.items():
        bare = full.removeprefix(f"{card.name}/")
        aliases = {full, bare, bare.rpartition("-")[0], full.rpartition("-")[0]}
        aliases |= {participants[code].name, participants[code].custom} - {""} if code in participants else set()
        ids.update({alias: code for alias in sorted(aliases) if alias in card.split_of})
    return ids


def _fixed_split(path: Path, card_ids: Mapping[str, str], card: Card) -> str | None:
    splits = {card.split_of[name]: code for name, code in card_ids.items()}
    if len(splits) > 1:
        where = ", ".join(f"{splits[split]} in {split}" for split in SPLITS if split in splits)
        raise CorpusError(
            f"{path}: the card puts speakers of this session in different splits ({where}); list them in one"
        )
    return next(iter(splits), None)
