"""Everything this package touches of DeepSpeed's private or undocumented parts, each with its reason.

As in :mod:`lsa_whisper.system.library_internals`, which has the other libraries'. Checked with DeepSpeed 0.19.8.
"""

from __future__ import annotations

import copyreg
import sys
from typing import Any


def init_deepspeed(backend: str) -> None:
    """Create DeepSpeed's process group from the environment's ranks, without MPI and without compiling.

    DeepSpeed's own exchange through shared memory is disabled: it would be compiled even where it is not used. Pythons
    before 3.11.4 pickle a member of an enumeration as a call of ``getattr``, which a restricted unpickler refuses, so
    DeepSpeed's one is registered with a plain constructor.
    """
    import deepspeed
    from deepspeed.runtime.zero.config import ZeroStageEnum

    copyreg.pickle(ZeroStageEnum, lambda stage: (ZeroStageEnum, (stage.value,)))
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    deepspeed.init_distributed(dist_backend=backend, auto_mpi_discovery=False)


def scale_deepspeed_loss(engine: Any, initial: float) -> None:
    """Scale the loss of a DeepSpeed engine that computes in fp16 by autocast, as it does for weights in fp16.

    Under ``torch_autocast`` it uses torch's scaler, which removes the scale after gradients were clipped, and once for
    each group of weights. Its own scaler, for which there is a setting with fp16 weights only, does so before. A
    resumed run has its scaler already.
    """
    import torch
    from deepspeed.runtime.fp16.loss_scaler import DynamicLossScaler

    optimizer = engine.optimizer
    optimizer.torch_autocast_gradscaler = None
    if not isinstance(optimizer.loss_scaler, DynamicLossScaler):
        optimizer.loss_scaler = DynamicLossScaler(
            initial, 2000, 2.0**-24, 1, False, raise_error_at_min_scale=False, dtype=torch.half
        )
    optimizer.dynamic_loss_scale = optimizer.check_grad_overflow = True


def destroy_engine(accelerator: Any) -> None:
    """Let go of an accelerator's DeepSpeed engine, if any, with its model, so that their memory can be used again.

    DeepSpeed's hooks keep both for good: each run under ZeRO-3 left buffers of 2 GB. The process group must be there.
    """
    wrapped = getattr(accelerator, "deepspeed_engine_wrapped", None)
    if wrapped is None:
        return
    from deepspeed.runtime.zero import parameter_offload

    engine = wrapped.engine
    engine.destroy()
    parameter_offload.FWD_MODULE_STACK.clear()
    if hasattr(engine.optimizer, "parameter_offload"):  # classes that ZeRO-3 makes for each layer are never collected
        for weight in engine.module.parameters():
            weight.data, weight.ds_tensor = weight.data.new_empty(0), None
        engine.optimizer.optimizer.state.clear()
        engine.optimizer.optimizer.param_groups.clear()
        vars(engine.optimizer).clear()
    accelerator.deepspeed_engine_wrapped = None


def destroy_deepspeed() -> None:
    """Destroy DeepSpeed's process groups, if any, and the globals that it would reuse in the next run.

    After a run with autocast it would scale the loss of the next one, whatever its precision.
    """
    if "deepspeed" not in sys.modules:
        return
    from deepspeed import comm
    from deepspeed.runtime import torch_autocast
    from torch import distributed

    if comm.comm.cdb is not None and distributed.is_initialized():
        comm.destroy_process_group()
    comm.comm.cdb = None
    torch_autocast.TORCH_AUTOCAST_INITIALIZED, torch_autocast.TORCH_AUTOCAST_DTYPE = False, None


def deepspeed_state_classes() -> list[Any]:
    """Return the classes in DeepSpeed's optimizer states besides tensors; no class of DeepSpeed is documented so."""
    if "deepspeed" not in sys.modules:
        return []
    from deepspeed.runtime.fp16.loss_scaler import DynamicLossScaler, LossScaler
    from deepspeed.runtime.zero.config import ZeroStageEnum
    from deepspeed.utils.tensor_fragment import fragment_address

    return [ZeroStageEnum, LossScaler, DynamicLossScaler, fragment_address]
