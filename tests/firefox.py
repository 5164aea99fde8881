"""Firefox from the system, driven by its own remote protocol, Marionette: a length and JSON over a socket."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from pathlib import Path

START_S = 60


class Firefox:
    """A window without a screen."""

    def __init__(self, program, profile: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
        words = [program, "--marionette", "--headless", "--no-remote", "--profile", str(profile)]
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket, self._count = self._connected(port), 0
        self._stream = self._socket.makefile("rb")
        self._answer()  # the greeting
        self._send("WebDriver:NewSession")

    def _connected(self, port):
        deadline = time.monotonic() + START_S
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=START_S)
            except OSError:
                assert time.monotonic() < deadline and self._process.poll() is None, "Firefox did not start"
                time.sleep(0.2)

    def _answer(self):
        length = b""
        while (sign := self._stream.read(1)) != b":":
            length += sign
        return json.loads(self._stream.read(int(length)))

    def _send(self, command, **parameters):
        self._count += 1
        message = json.dumps([0, self._count, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._answer()
        assert error is None, error
        return result.get("value") if isinstance(result, dict) else result

    def goto(self, address):
        self._send("WebDriver:Navigate", url=address)

    def evaluate(self, expression):
        return self._send("WebDriver:ExecuteScript", script=f"return {expression}", args=[])

    def press(self, *keys):
        """Type characters, or keys of the WebDriver standard such as ``\\ue007`` (Enter)."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def chord(self, *keys):
        """Press keys together, and release them in the opposite order."""
        actions = [{"type": "keyDown", "value": key} for key in keys]
        actions += [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self._send("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def inner_text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def wait_for_timeout(self, milliseconds):
        time.sleep(milliseconds / 1000)

    def close(self):
        self._socket.close()
        self._process.terminate()
        self._process.wait(START_S)
