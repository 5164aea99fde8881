"""What pytest must not import where it cannot: examples in modules that need Batchalign."""

from importlib.util import find_spec

if find_spec("batchalign") is None:
    collect_ignore_glob = [f"lsa_whisper/batchalign_engine/{name}.py" for name in ("backend", "finish", "wording")]
