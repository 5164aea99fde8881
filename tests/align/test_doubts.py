"""A transcript in another language than its recording is refused, and one of another recording is doubted."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile

from lsa_whisper import chat
from lsa_whisper.align import align_transcripts
from lsa_whisper.align.aligner import AlignedText
from lsa_whisper.align.anchors import DecodedWord, match_words
from lsa_whisper.align.doubts import is_misfit
from lsa_whisper.align.model import AlignmentModel
from lsa_whisper.align.text import text_words
from lsa_whisper.audio import Recording
from lsa_whisper.chat import utterance
from lsa_whisper.errors import CorpusError
from lsa_whisper.timespan import TimeSpan

ROOT = Path(__file__).resolve().parents[2]
NANO = ROOT / "models" / "nano"
SHARED = ROOT.parent / "shared" / "data"
SESSION = ROOT / "corpora" / "storybook" / "test" / "test02"
GERMAN = ["ich möchte den kleinen Bär haben ."]
OTHER = ["please turn your computer off before lunch .", "nobody ever told him about those expensive taxes ."]


@pytest.fixture
def folder(tmp_path, known_heads):
    sound = Recording.open(SESSION.with_suffix(".flac")).load(TimeSpan(0, 14_000))
    soundfile.write(tmp_path / "a.wav", sound, 16_000)
    return tmp_path


def transcript(path, lines, language="eng"):
    head = f"@UTF8\n@Begin\n@Languages:\t{language}\n@Participants:\tCHI Child\n@ID:\t{language}|s|CHI|||||Child|||\n"
    path.write_text(head + "".join(f"*CHI:\t{line}\n" for line in lines) + "@End\n", encoding="utf-8")
    return path


def heard(monkeypatch, **probabilities):
    monkeypatch.setattr(AlignmentModel, "detect_languages", lambda _, windows: [probabilities] * len(windows))


def align(path, model=NANO, **options):
    return align_transcripts(path, model=model, vad="energy", device="cpu", **options).table()


def test_a_text_in_another_language_than_the_sound_is_refused(folder, monkeypatch):
    heard(monkeypatch, es=0.97, en=0.02)
    path = transcript(folder / "a.cha", OTHER)
    with pytest.raises(
        CorpusError, match=r"is in English, but a.wav sounds Spanish; choose the recording with `audio`"
    ):
        align(path)
    assert not list((folder / "aligned").iterdir())
    assert "aligned" in align(path, language="eng")  # who names the language knows it


@pytest.mark.parametrize("probabilities", [{"es": 0.8, "en": 0.1}, {"es": 0.99}, {"es": 0.05, "en": 0.94}])
def test_a_language_that_is_uncertain_or_unknown_to_the_model_proves_nothing(folder, monkeypatch, probabilities):
    heard(monkeypatch, **probabilities)
    assert "sounds" not in align(transcript(folder / "a.cha", OTHER))


def test_languages_are_not_asked_where_the_words_are_recognized(folder, monkeypatch):
    monkeypatch.setattr(AlignmentModel, "detect_languages", lambda _, windows: pytest.fail("asked") if windows else [])
    spoken = [each.text for each in chat.read(SESSION.with_suffix(".cha")).utterances if each.span.end_ms < 14_000]
    assert "DOUBTED" not in align(transcript(folder / "a.cha", spoken))


@pytest.mark.parametrize("cut", [TimeSpan(0, 14_000), TimeSpan(18_500, 34_600)])
def test_what_has_no_room_in_the_sound_gets_no_time(cut, folder):
    whole = chat.read(SESSION.with_suffix(".cha")).utterances[:12]
    soundfile.write(folder / "a.wav", Recording.open(SESSION.with_suffix(".flac")).load(cut), 16_000)
    said = align(transcript(folder / "a.cha", [utterance.text for utterance in whole]))
    for known, found in zip(whole, chat.read(folder / "aligned" / "a.cha").utterances, strict=True):
        inside = known.span & cut
        if not inside:
            assert found.span is None and f"was not found: {known.text}" in said
        elif inside == known.span:
            assert found.span and abs(found.span.start_ms + cut.start_ms - known.span.start_ms) < 300


def test_a_transcript_of_another_recording_is_doubted(folder):
    said = align(transcript(folder / "a.cha", OTHER))
    assert "a.cha: hardly a word was recognized; is it the transcript of this recording?" in said


@pytest.mark.parametrize(
    ("bullets", "words", "heard", "doubted"),
    [(0, 60, 2, True), (0, 12, 2, False), (100, 12, 12, False), (100, 0, 0, False), (0, 12, 12, False)],
)
def test_only_words_without_bullets_can_be_missed(bullets, words, heard, doubted):
    timed = [utterance("CHI", f"dog{at} .", TimeSpan(at, at + 1)) for at in range(bullets)]
    said = [*timed, *(utterance("CHI", f"cat{at} .") for at in range(words))]
    spoken = text_words(said)
    decoded = [DecodedWord(word.key, word.key, TimeSpan(0, 1), 0) for word in spoken[bullets:][:heard]]
    aligned = AlignedText(tuple(spoken), {}, tuple(decoded), match_words(spoken, decoded))
    assert is_misfit(said, aligned) == doubted


def test_single_words_that_any_recording_has_do_not_make_a_transcript_its_own():
    said = [utterance("CHI", "and rare0 so rare1 I rare2 the rare3 my rare4 .")]
    spoken = text_words(said)
    heard = [DecodedWord(key, key, TimeSpan(0, 1), 0) for at in range(5) for key in (spoken[2 * at].key, f"x{at}")]
    aligned = AlignedText(tuple(spoken), {}, tuple(heard), match_words(spoken, heard))
    assert aligned.matches.alignment.equal.sum() == 5 and is_misfit(said, aligned)


@pytest.mark.slow(minutes=0.5)
def test_the_real_whisper_hears_what_does_not_belong_together(tmp_path):
    if not (SHARED / "whisper" / "base").is_dir():
        pytest.skip("the real whisper-base is not beside this checkout")
    sound = Recording.open(SHARED / "paired" / "michael.flac").load(TimeSpan(0, 20_000))
    soundfile.write(tmp_path / "a.wav", sound, 16_000)
    base = SHARED / "whisper" / "base"
    with pytest.raises(CorpusError, match=r"is in German, but a.wav sounds English"):
        align(transcript(tmp_path / "a.cha", GERMAN, "deu"), base)
    assert "DOUBTED" in align(transcript(tmp_path / "a.cha", OTHER), base)
