"""What computes: the names of devices, what an NVIDIA card computes in, and whether torch has kernels for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lsa_whisper.errors import LsaWhisperError

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def verify_device(device: str) -> None:
    """Return if a device can be meant; whether this machine has it is found when it is used.

    Raises:
        LsaWhisperError: None is called so.
    """
    if not _DEVICE.fullmatch(device):
        raise LsaWhisperError(f"device {device!r} is not known; choose auto, cpu, cuda, cuda:1 or mps")


_CUDA_12_6 = "pip install 'torch<2.15' --index-url https://download.pytorch.org/whl/cu126"
_INSTALL = (((7, 0), _CUDA_12_6), ((7, 5), "pip install 'torch<2.11'"))
"""The last torch with kernels for cards below a compute capability. The wheels on PyPI have them for Volta (V100, 7.0)
until 2.10; those for CUDA 12.6 also for Maxwell and Pascal (P100, GTX 10), until 2.14 as announced."""


def has_native_bf16() -> bool:
    """Return whether the GPU computes in bfloat16 itself: torch also emulates it on older cards, slowly."""
    import torch

    return bool(torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False))


def sixteen_bit_precision() -> str:
    """Return ``fp16`` if this machine's GPU has no bfloat16 of its own, else ``bf16``, also without a GPU."""
    import torch

    return "fp16" if torch.cuda.is_available() and not has_native_bf16() else "bf16"


def fast_dtype(device: str) -> Any:
    """Return the torch number type in which a device multiplies fastest: one of 16 bits, or float32.

    A CPU without instructions of its own for bfloat16 takes longer in it than in float32.
    """
    import torch

    if device != "cpu":
        return torch.bfloat16 if has_native_bf16() else torch.float16
    can: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # not in older versions of torch
    return torch.bfloat16 if can.get("avx512_bf16") or can.get("amx_bf16") else torch.float32


def has_kernels(capability: tuple[int, int], built_for: Iterable[str]) -> bool:
    """Return whether a torch built for these architectures runs on a card.

    Kernels (``sm_80``) run on cards of the same major capability and no lower minor one; PTX (``compute_90``) is
    compiled for any later card.

    >>> has_kernels((8, 6), ["sm_80"]), has_kernels((7, 0), ["sm_75", "sm_80"]), has_kernels((12, 0), ["compute_90"])
    (True, False, True)
    """
    for kind, digits in (match.groups() for kernel in built_for if (match := re.match(r"(sm|compute)_(\d+)", kernel))):
        major, minor = int(digits[:-1]), int(digits[-1])
        if kind == "compute" and (major, minor) <= tuple(capability):
            return True
        if kind == "sm" and major == capability[0] and minor <= capability[1]:
            return True
    return False


def torch_for(capability: tuple[int, int]) -> str:
    """Return the pip command for the last torch that has kernels for a card.

    >>> torch_for((7, 0)), torch_for((9, 0))
    ("pip install 'torch<2.11'", 'pip install --upgrade torch')
    """
    return next((command for below, command in _INSTALL if tuple(capability) < below), "pip install --upgrade torch")
