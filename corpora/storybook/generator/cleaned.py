"""``python -m corpora.storybook.generator.cleaned IN OUT``: the transcripts of IN as most training data have them.

Only what the speakers meant is written, in CHAT; the recordings stay where they are and keep every disfluency. A model
that learns from such pairs learns to leave disfluencies out, as OpenAI's Whisper did.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lsa_whisper import chat


def cleaned(transcript: chat.Transcript) -> chat.Transcript:
    """Return a transcript of the same recording that holds only the fluent words."""
    return chat.compose(
        languages=transcript.languages,
        participants=list(transcript.participants.values()),
        utterances=[
            chat.utterance(said.speaker, " ".join([*said.fluent(), said.terminator]), said.span)
            for said in transcript.utterances
            if said.fluent()
        ],
        media=transcript.media,
        comments=["Synthetic speech, cleaned transcript: disfluencies are heard but not written."],
    )


def main() -> None:
    """Parse the command line and write the cleaned transcripts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    for path in sorted(options.source.rglob("*.cha")):
        place = options.out / path.relative_to(options.source)
        place.parent.mkdir(parents=True, exist_ok=True)
        chat.write(cleaned(chat.read(path)), place)


if __name__ == "__main__":
    main()
