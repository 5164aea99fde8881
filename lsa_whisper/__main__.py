"""The program, as ``lsa-whisper`` and as ``python -m lsa_whisper``, which launchers run."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it without a traceback."""
    try:
        from lsa_whisper.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
