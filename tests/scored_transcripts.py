"""Small transcripts with known disfluencies, for tests of scores and reports."""

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.timespan import TimeSpan

SENTENCES = [
    "&-um I want [/] want the ball .",
    "<the dog> [//] the cat ran away .",
    "we went &+ho home &-uh yesterday .",
    "no .",
    "he is my best friend +...",
]


def write_transcript(path, texts, speaker="CHI", language="eng", name="", corpus=""):
    """Write a transcript of one speaker with an utterance of 1.5 s every two seconds, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    utterances = [chat.utterance(speaker, text, TimeSpan(2000 * n, 2000 * n + 1500)) for n, text in enumerate(texts)]
    people = [Participant(speaker, "Target_Child", name=name, corpus=corpus)]
    chat.write(chat.compose(languages=[language], participants=people, utterances=utterances), path)
    return path
