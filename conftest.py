"""What pytest must not import where it cannot: examples in modules that need Batchalign."""

from importlib import metadata

try:
    metadata.version("batchalign")
except metadata.PackageNotFoundError:
    collect_ignore_glob = [f"lsa_whisper/batchalign_engine/{name}.py" for name in ("backend", "finish", "wording")]
