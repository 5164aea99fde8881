"""``review``: serve the page on the loopback interface until the user stops it.

The page is opened without its secret on a command line, which every user of the machine can read.
"""

from __future__ import annotations

import html
import secrets
import shutil
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lsa_whisper.chat.files import is_transcript
from lsa_whisper.checkpoint import overview_line
from lsa_whisper.checkpoint.choice import choose_model
from lsa_whisper.decoding.confidences import load_calibration
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.page.language import check_page_language
from lsa_whisper.review.word_confidence import DEFAULT_SHARE, parse_share
from lsa_whisper.system.lock import is_abandoned, write_lock
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

if TYPE_CHECKING:
    import uvicorn

    from lsa_whisper.review.open_files import OpenFiles

_HOST = "127.0.0.1"


@private_umask()
def review(
    path: Path | str,
    *,
    audio: Path | str | None = None,
    model: str | Path | None = None,
    compare: Path | str | None = None,
    flag: str = DEFAULT_SHARE,
    open_page: bool = True,
    port: int = 0,
    page_language: str = "en",
) -> str:
    """Serve the review page for transcripts and recordings until Ctrl-C, and return a last line.

    Args:
        path: A CHAT file, a recording, or a folder of both.
        audio: Folder of the recordings, if they are not next to the transcripts.
        model: Model that transcribes recordings without a transcript, and whose calibration is used.
        compare: A second transcript of the same recording, or a folder of them with the same names.
        flag: Share of the words that are flagged as doubtful, the worst of each recording, in percent.
        open_page: Whether to open the page in the browser.
        port: Port on this machine; 0 takes a free one.
        page_language: The language of the page: ``en``, ``de`` or ``es``.

    Raises:
        CorpusError: There is nothing to review.
        LsaWhisperError: The port is in use, or a file cannot be opened.
    """
    from lsa_whisper.review.open_files import OpenFiles
    from lsa_whisper.review.transcription import TranscriptionJob

    check_page_language(page_language)
    compare = Path(compare) if compare else None
    if compare is not None and not compare.exists():
        raise LsaWhisperError(f"{compare}: no such transcript or folder to compare with; check the path")
    if compare is not None and compare.is_file() and not is_transcript(compare):
        raise LsaWhisperError(f"{compare}: is not a CHAT transcript (.cha), so it cannot be compared; name one")
    if model:
        overview_line(choose_model(model))  # an hour of review may pass until it is needed
    files = OpenFiles(
        Path(path),
        audio=Path(audio) if audio else None,
        compare=compare,
        calibration=load_calibration(model) if model else None,
        flag=parse_share(flag),
        job=TranscriptionJob(str(model) if model else None),
    )
    with bound_socket(port) as bound:
        server, address = make_server(files, bound, page_language)
        print_progress(f"review: {address}\nreview: press Ctrl-C here to end; every change is saved as you make it")
        with redirecting_file(address) as file:
            if open_page:
                threading.Timer(0.5, webbrowser.open, (file,)).start()
            try:
                server.run(sockets=[bound])
            except KeyboardInterrupt:
                pass
            finally:
                files.close()
    return "review ended; every change is saved"


def make_server(files: OpenFiles, bound: socket.socket, language: str = "en") -> tuple[uvicorn.Server, str]:
    """Return a server for ``files`` on a bound socket, and the address of its page with the secret."""
    import uvicorn

    from lsa_whisper.review.application import make_application
    from lsa_whisper.review.guard import RequestGuard

    port, secret = bound.getsockname()[1], secrets.token_urlsafe(24)
    guard = RequestGuard(make_application(files, language), secret, port)
    settings = uvicorn.Config(
        guard,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        access_log=False,
        log_level="error",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(settings), f"http://{_HOST}:{port}/{secret}/"


@contextmanager
def bound_socket(port: int) -> Iterator[socket.socket]:
    """Give a socket on the loopback interface only.

    Raises:
        LsaWhisperError: The port is in use or not allowed.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_HOST, port))
            listening.listen()
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "ports are 0 to 65535"
            raise LsaWhisperError(f"port {port} cannot be used ({reason}); leave out `port`") from error
        yield listening


_PREFIX = "lsa-whisper-"
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><title>Review</title><a href="{address}">Review</a></html>
"""


@contextmanager
def redirecting_file(address: str) -> Iterator[str]:
    """Give the address of a file that leads to ``address``; only this user can read it, and it is removed at the end.

    >>> with redirecting_file("http://127.0.0.1:1/secret/") as found:
    ...     path = Path(found.removeprefix("file://"))
    ...     "secret" in found, oct(path.stat().st_mode), oct(path.parent.stat().st_mode)
    (False, '0o100600', '0o40700')
    """
    with TemporaryDirectory(prefix=_PREFIX) as folder, write_lock(path := Path(folder, "review.html")):
        for left in Path(folder).parent.glob(f"{_PREFIX}*/review.html"):
            if left.parent.lstat().st_uid == path.parent.stat().st_uid and is_abandoned(left):  # its review was killed
                shutil.rmtree(left.parent, ignore_errors=True)
        path.touch(0o600)
        path.write_text(_PAGE.format(address=html.escape(address)), "utf-8")
        yield path.as_uri()
