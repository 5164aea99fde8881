"""The process of one case: call its function, which writes figures to the record as soon as they are known.

    python -m benchmarks.gpu.case MODULE:FUNCTION RECORD SETTING OPTIONS

The last two are JSON. :mod:`benchmarks.gpu.campaign` starts it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import signal
import sys
from pathlib import Path

from benchmarks import result
from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting

PACKAGES = ("lsa-whisper", "torch", "transformers", "peft", "accelerate", "deepspeed", "torchao", "bitsandbytes")
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Run the case that the command line describes."""
    run, path, setting, options = sys.argv[1:]
    with contextlib.suppress(OSError, AttributeError):  # a killed campaign must not leave a case on the GPU
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    import torch  # before the description of the machine, which names the GPU that torch finds

    record = Record(Path(path))
    record.add("made_on", result.made_on(PACKAGES) | {"cuda": torch.version.cuda})
    module, _, function = run.partition(":")
    getattr(importlib.import_module(module), function)(Setting(**json.loads(setting)), record, **json.loads(options))


if __name__ == "__main__":
    main()
