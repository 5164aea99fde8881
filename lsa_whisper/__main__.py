"""The program, as ``lsa-whisper`` and as ``python -m lsa_whisper``, which launchers run."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it without a traceback."""
    try:
        from lsa_whisper.cli import main as run
        from lsa_whisper.system.process import repeat_lost_interrupts
    except KeyboardInterrupt:
        sys.exit(130)
    repeat_lost_interrupts()
    run()


if __name__ == "__main__":
    main()
