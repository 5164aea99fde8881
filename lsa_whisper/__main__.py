"""``python -m lsa_whisper``: what launchers run."""

from lsa_whisper.cli import main

if __name__ == "__main__":
    main()
