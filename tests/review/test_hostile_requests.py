"""Requests that do not come from our page are refused, and write nothing."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

UNDO = json.dumps({"action": "undo", "file": 0, "revision": 0}).encode()
TEXT = {"action": "text", "file": 0, "revision": 0, "number": 0, "text": "stolen ."}
EDIT = json.dumps(TEXT).encode()
PATHS = [
    "../", "..%2f", "%2e%2e/", "page/../../saved.py", "page/..%2f..%2fsaved.py", "page/%2e%2e/saved.py",
    "page/....//saved.py", "page//etc/passwd", "page/%00", "page/index.html.jinja", "page/.review", "etc/passwd",
    "transcript?file=-1", "transcript?file=99", "transcript?file=../../etc/passwd", "transcript?file=0x0",
    "transcript?file=%30%00", "transcript", "transcript?file=" + "9" * 5000, "sound?file=1", "sound?file=..",
    "peaks?file=7", "clip?file=0", "clip?file=0&start_ms=-5&end_ms=9", "clip?file=0&start_ms=a&end_ms=b",
    "clip?file=0&start_ms=99999999&end_ms=999999999", "comparison?file=0", "unknown", "files/../action",
]  # fmt: skip
BODIES = [
    b"", b"[]", b"null", b"{", b"\xff\xfe", b"[" * 5000, b'{"action": 1}', b'{"action": "text"}',
    b'{"action": "eval", "file": 0, "revision": 0}',
    json.dumps(TEXT | {"file": -1}).encode(), json.dumps(TEXT | {"file": "0"}).encode(),
    json.dumps(TEXT | {"file": 10**30}).encode(), json.dumps(TEXT | {"revision": 5}).encode(),
    json.dumps(TEXT | {"revision": True}).encode(), json.dumps(TEXT | {"number": 10**6}).encode(),
    json.dumps(TEXT | {"number": -1}).encode(), json.dumps(TEXT | {"text": "x " * 20_000}).encode(),
    json.dumps(TEXT | {"text": ["a"]}).encode(), json.dumps(TEXT | {"text": "\ud800 ."}).encode(),
    json.dumps(TEXT | {"action": "speaker", "speaker": "X:\n@End"}).encode(),
    json.dumps(TEXT | {"action": "span", "start_ms": 5, "end_ms": 1}).encode(),
    json.dumps(TEXT | {"action": "span", "start_ms": float("nan"), "end_ms": 1}).encode(),
    json.dumps(TEXT | {"action": "mark", "first": 0, "last": 99, "mark": "block"}).encode(),
    json.dumps(TEXT | {"action": "mark", "first": 0, "last": 0, "mark": "__class__"}).encode(),
    json.dumps({"action": "transcribe", "files": ["/etc/passwd"]}).encode(),
    json.dumps({"action": "transcribe", "files": [0, 10**9]}).encode(),
    json.dumps(TEXT | {"padding": "x" * 300_000}).encode(),
]  # fmt: skip
HEADERS = [
    {"Host": "evil.example"}, {"Host": "127.0.0.1"}, {"Host": "127.0.0.1:1"}, {"Host": "127.0.0.1.evil.example"},
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1"}, {"Origin": None},
    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Dest": "document"},
    {"Sec_Fetch_Site": "same-site"},
    {"Content_Type": "text/plain"}, {"Content_Type": "application/x-www-form-urlencoded"}, {"Content_Type": None},
    {"Content_Length": "999999999"}, {"Content_Length": "x"},
]  # fmt: skip
METHODS = ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]


def raw(served, method, path, headers, body=b""):
    """Send a request as it is, without the corrections of a library."""
    connection = http.client.HTTPConnection(urlsplit(served.address).netloc, timeout=300)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    try:
        connection.send(body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (http.client.HTTPException, ConnectionError):
        return 400, b""
    finally:
        connection.close()


def test_more_than_sixty_requests_are_refused_and_write_nothing(visit, serve):
    served = serve(visit)
    before = {path: path.read_bytes() for path in visit.rglob("*") if path.is_file()}
    place, secret = urlsplit(served.address), urlsplit(served.address).path
    good = {"Host": place.netloc, "Origin": served.origin, "Content-Type": "application/json"}
    refused = []
    for path in PATHS:
        refused.append((path, raw(served, "GET", secret + path, {"Host": place.netloc})))
    for body in BODIES:
        refused.append((body, raw(served, "POST", f"{secret}action", good | {"Content-Length": str(len(body))}, body)))
    for changed in HEADERS:
        headers = good | {"Content-Length": str(len(EDIT))}
        for name, value in changed.items():
            headers[name.replace("_", "-")] = value
        headers = {name: value for name, value in headers.items() if value is not None}
        refused.append((changed, raw(served, "POST", f"{secret}action", headers, EDIT)))
    for method in METHODS:
        refused.append((method, raw(served, method, f"{secret}files", good)))
    for wrong in ("/", "/files", "/action", "/x/files", secret[:-3] + "/files", secret.upper() + "files", "//files"):
        refused.append((wrong, raw(served, "GET", wrong, {"Host": place.netloc})))
    chunked = good | {"Transfer-Encoding": "chunked"}
    lots = b"".join(b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(8)) + b"0\r\n\r\n"
    refused.append(("chunked", raw(served, "POST", f"{secret}action", chunked, lots)))
    refused.append(("upgrade", raw(served, "GET", secret, good | {"Upgrade": "websocket", "Connection": "Upgrade",
                    "Sec-Fetch-Site": "cross-site"})))  # fmt: skip
    assert len(refused) >= 60
    assert [case for case, (status, _) in refused if not 400 <= status < 500] == []
    assert not any(b"import annotations" in body or b"root:" in body for _, (_, body) in refused)
    after = {path: path.read_bytes() for path in visit.rglob("*") if path.is_file() and not path.name.endswith("lock")}
    assert {path: data for path, data in after.items() if path in before} == before
    assert not [path for path in after if path not in before and path.suffix != ".peaks"]
    assert served.act(**TEXT)[0] == 200


def test_every_answer_has_the_security_headers(visit, serve):
    served = serve(visit)
    for path in ("", "page/main.js", "files", "transcript?file=0", "sound?file=0", "unknown"):
        _, _, headers = served.request(path)
        assert "default-src 'none'" in headers["Content-Security-Policy"], path
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in headers


def test_it_listens_on_the_loopback_interface_only(visit, serve):
    served = serve(visit)
    port = urlsplit(served.address).port
    with open("/proc/net/tcp") as file:  # noqa: PTH123
        listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
    assert [each for each in listening if each.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_sound_is_sent_in_byte_ranges(visit, serve):
    served, whole = serve(visit), (visit / "test01.flac").read_bytes()
    status, body, headers = served.request("sound?file=0", Range="bytes=100-199")
    assert status == 206 and body == whole[100:200]
    assert headers["Content-Range"] == f"bytes 100-199/{len(whole)}"
    status, body, _ = served.request("clip?file=0&start_ms=500&end_ms=1500")
    assert status == 200 and body[:4] == b"RIFF" and len(body) == 44 + 32_000


def test_a_link_out_of_the_folder_is_not_offered(visit, serve, tmp_path):
    (tmp_path / "secret.cha").write_bytes((visit / "test01.cha").read_bytes())
    (visit / "link.cha").symlink_to(tmp_path / "secret.cha")
    served = serve(visit)
    names = [each["name"] for each in json.loads(served.request("files")[1])["files"]]
    assert names == ["test01.cha"]


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>.cha", "a&b \"c' d.cha"])
def test_names_are_text(visit, serve, name):
    (visit / "test01.cha").rename(visit / name)
    served = serve(visit)
    found = json.loads(served.request("files")[1])["files"]
    assert name in [each["name"] for each in found]


def test_a_name_that_is_not_unicode_costs_only_its_letters(visit, serve):
    (visit / "M\udcfcller.cha").write_bytes((visit / "test01.cha").read_bytes())
    served = serve(visit)
    names = [each["name"] for each in json.loads(served.request("files")[1])["files"]]
    assert names == ["M\udcfcller.cha", "test01.cha"]
    status, body, _ = served.request("action", EDIT)
    assert status == 200, body
    assert "stolen" in (visit / names[0]).read_text("utf-8")


def test_the_server_starts_without_torch(visit, serve):
    served = serve(visit)
    served.request("transcript?file=0")
    with open(f"/proc/{served.process.pid}/maps") as file:  # noqa: PTH123
        assert "torch" not in file.read()
