"""What the ranks of a test do in one launch, so that Python and torch are loaded once."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
from collections import Counter
from pathlib import Path

import torch

from tests import calls
from tests.training_run import StoppedError

HANGS_AFTER_S = 1200
"""A rank whose training takes longer prints where it is, and ends."""


def run_ranks(work, ranks, *given, trainings=8, log=None, environment=None):
    """Run ``work(rank, port, *given)`` in several processes; the first that fails ends all.

    They have this process's ``environment``, which a caller with several threads has copied before one of them trains:
    DeepSpeed's own variable, which is set during a training, would make theirs one under DeepSpeed.

    The ranks meet at ``port(0)`` in their first training, at ``port(1)`` in their second. This process listens at all
    of these ports from the start: one that is only free then may be another program's when its training begins.
    They are forked from the process of :mod:`calls`, which has imported everything. What they print goes to ``log``.
    """
    import torch.multiprocessing

    stores = [torch.distributed.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False) for _ in range(trainings)]
    arguments = work, ranks, [store.port for store in stores], given, environment or dict(os.environ), log
    torch.multiprocessing.start_processes(_rank, arguments, nprocs=ranks, start_method=calls.FORKED)


def _rank(rank, work, ranks, ports, given, environment, log):
    os.environ.clear()
    os.environ |= environment
    if log:
        calls.print_to(log, os.O_APPEND)
    torch.set_num_threads(1)
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks}
    os.environ |= {name: str(value) for name, value in place.items()}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_USE_AGENT_STORE": "True"}

    def port(number):
        faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True)
        os.environ["MASTER_PORT"] = str(ports[number])

    work(rank, port, *given)
    faulthandler.cancel_dump_traceback_later()


def train_as_rank(rank, port, recipe, settings, out, force):
    """Be a rank of ``finetune --processes``."""
    from lsa_whisper.finetuning import finetune

    port(0)
    finetune(recipe, set=settings, out=out, force=force, report=lambda _: None)


def train_stop_and_resume(rank, port, recipe, settings):
    """Train without a stop (``whole``), and again with a stop after a checkpoint (``cut``)."""
    from lsa_whisper.finetuning import finetune
    from lsa_whisper.finetuning.training.callbacks import CheckpointSchedule

    recipe = Path(recipe)
    port(0)
    finetune(recipe, set=settings, out=recipe.parent / "whole", report=lambda _: None)
    saved = CheckpointSchedule.saved

    def stop(schedule, seconds):
        raise StoppedError

    port(1)
    CheckpointSchedule.saved = stop
    with contextlib.suppress(StoppedError):
        finetune(recipe, set=settings, out=recipe.parent / "cut", report=lambda _: None)
    CheckpointSchedule.saved = saved
    torch.distributed.destroy_process_group()
    lines = []
    port(2)
    finetune(recipe, set=settings, out=recipe.parent / "cut", report=lines.append)
    assert rank or any("resuming from" in line for line in lines), lines


class CountedTraffic(torch.utils._python_dispatch.TorchDispatchMode):
    """Counts the bytes of every tensor that ranks exchange, at its full size."""

    def __init__(self):
        super().__init__()
        self.found = Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name()
        if "all_reduce" in name or "allreduce" in name:
            self.found["all_reduced"] += _bytes(args[0])
        elif "allgather_base" in name or "all_gather_into_tensor" in name:
            self.found["gathered"] += _bytes(args[0])
        elif "reduce_scatter_base" in name:
            self.found["scattered"] += _bytes(args[1])
        elif name == "c10d::send":
            self.found["passed"] += _bytes(args[0])
        return function(*args, **(kwargs or {}))


def _bytes(tensors):
    every = tensors if isinstance(tensors, list | tuple) else [tensors]
    return sum(one.numel() * one.element_size() for one in every)


def count_step(rank, port, recipes, model_of, batch, out):
    """Write what one forward and backward pass exchanges under each strategy."""
    from lsa_whisper.finetuning.distributed import ranks
    from lsa_whisper.finetuning.strategies import strategy_of

    port(3)
    ranks.join_ranks()
    found = {}
    for name, recipe in recipes.items():
        model = model_of()
        if name == "ddp":
            found[name] = {"all_reduced": _ddp_bytes(model, batch)}
            continue
        if name == "fsdp2":
            _shard_as_accelerate(model)
        else:
            strategy_of(recipe).divide(model, recipe)
        with CountedTraffic() as counted:
            model(**batch).logits.sum().backward()
        found[name] = dict(counted.found)
    if rank == 0:
        Path(out).write_text(json.dumps(found), encoding="utf-8")
    torch.distributed.destroy_process_group()


def train_one_step_in_stages(rank, port, recipe, model_of, batch, cases, out):
    """Check the gradients of stages against those of the whole model, and write what this rank sent in a second step.

    Each case has the stages' numbers of layers, and whether the encoder is frozen.
    """
    from torch.nn.functional import cross_entropy

    from lsa_whisper.finetuning.distributed import ranks
    from lsa_whisper.finetuning.distributed.pipeline import Pipeline

    def loss_of(logits, part):
        return cross_entropy(logits.flatten(0, 1), part["labels"].flatten(), reduction="sum") / 27

    port(0)
    ranks.join_ranks("pipeline")
    for name, (sizes, frozen) in cases.items():
        model, whole = model_of(), model_of().train()
        for each in (model, whole):
            each.get_encoder().requires_grad_(not frozen)
            each.get_encoder().embed_positions.requires_grad_(False)
        pipeline = Pipeline(model, recipe, sizes)
        pipeline.train(batch, loss_of)
        model.zero_grad()
        with CountedTraffic() as counted:
            loss = pipeline.train(batch, loss_of)
            pipeline.share_tied_gradients()
        (Path(out) / f"{name}-{rank}.json").write_text(json.dumps(counted.found["passed"]), encoding="utf-8")
        norm = pipeline.clip_gradients(model.parameters(), 0.5)
        logits = whole(input_features=batch["input_features"], decoder_input_ids=batch["decoder_input_ids"]).logits
        expected = loss_of(logits, batch)
        expected.backward()
        torch.testing.assert_close(loss, expected.detach())
        torch.testing.assert_close(norm, torch.nn.utils.clip_grad_norm_(whole.parameters(), 0.5))
        for weight, like in zip(model.parameters(), whole.parameters(), strict=True):
            assert weight.numel() or weight.grad is None
            if weight.numel():
                torch.testing.assert_close(weight.grad, like.grad)
    torch.distributed.destroy_process_group()


def _shard_as_accelerate(model):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    for stack in (model.get_encoder(), model.get_decoder()):
        for layer in stack.layers:
            fully_shard(layer, mesh=mesh, reshard_after_forward=True)
    fully_shard(model, mesh=mesh, reshard_after_forward=True)


def _ddp_bytes(model, batch):
    counted = Counter()

    def hook(state, bucket):
        counted["bytes"] += _bytes(bucket.buffer())
        return torch.distributed.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: f.value()[0])

    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    wrapped.register_comm_hook(None, hook)
    wrapped(**batch).logits.sum().backward()
    return counted["bytes"]


class LiveBytes(torch.utils._python_dispatch.TorchDispatchMode):
    """Measures the most bytes that tensors made in this block hold at a time; those of a mapped file as far as seen."""

    def __init__(self):
        super().__init__()
        self.peak, self._live = 0, {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        from torch.multiprocessing.reductions import StorageWeakRef

        found = function(*args, **(kwargs or {}))
        for one in found if isinstance(found, list | tuple) else [found]:
            if torch.is_tensor(one) and one.device.type != "meta":
                storage = one.untyped_storage()
                _, before = self._live.get(storage._cdata, (None, 0))
                size = max(before, min(storage.nbytes(), one.nbytes))
                self._live[storage._cdata] = StorageWeakRef(storage), size
        self._live = {key: (ref, size) for key, (ref, size) in self._live.items() if not ref.expired()}
        self.peak = max(self.peak, sum(size for _, size in self._live.values()))
        return found


def train_and_watch_loading(rank, port, recipe, settings):
    """Train, and write what this rank held while loading, read from the file, and moved to its device at once."""
    for number, (name, more) in enumerate(settings.items()):
        port(number)
        found = _watched(Path(recipe), name, more)
        (Path(recipe).parent / f"{name}-{rank}.json").write_text(json.dumps(found), encoding="utf-8")


def _watched(recipe, name, settings):
    from lsa_whisper import checkpoint
    from lsa_whisper.finetuning import finetune
    from lsa_whisper.finetuning.strategies.zero3 import Zero3
    from lsa_whisper.finetuning.training import run

    found, live = Counter(moved=0, read=0), LiveBytes()
    load, divide = run.starting_checkpoint, Zero3.divide
    read, move = checkpoint.StoredWeights.read, torch.nn.Module.to

    def loaded(*given):
        live.__enter__()
        return load(*given)

    def counted(stored, weight):
        found["read"] += weight.nbytes
        return read(stored, weight)

    def divided(strategy, model, *given):
        found["whole"] = sum(each.nbytes for each in model.parameters())
        divide(strategy, model, *given)
        live.__exit__(None, None, None)
        torch.nn.Module.to = moved
        found["peak"], found["left"] = live.peak, sum(each.numel() for each in model.parameters())
        found["kept"] = sum(each.ds_tensor.nbytes for each in model.parameters())

    def moved(module, *given, **options):
        found["moved"] = max(found["moved"], sum(each.nbytes for each in module.parameters()))
        return move(module, *given, **options)

    run.starting_checkpoint, Zero3.divide, checkpoint.StoredWeights.read = loaded, divided, counted
    finetune(recipe, set=settings, out=recipe.parent / name, report=lambda _: None)
    run.starting_checkpoint, Zero3.divide, checkpoint.StoredWeights.read = load, divide, read
    torch.nn.Module.to = move
    return found


def end_run_after_run(rank, port, runs, limit_s):
    """Train a small model under DDP again and again, on one core; a rank that hangs ends after ``limit_s``."""
    from accelerate import Accelerator

    from lsa_whisper.finetuning.distributed.division import finish_distributed, reset_distributed

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # gloo's threads run late there
    for number in range(runs):
        port(number)
        faulthandler.dump_traceback_later(limit_s, exit=True)
        accelerator = Accelerator(cpu=True)
        model = accelerator.prepare(torch.nn.Linear(64, 64))
        accelerator.backward(model(torch.randn(4, 64)).sum())
        accelerator.gather(torch.ones(1000))
        finish_distributed(accelerator)
        del model, accelerator
        reset_distributed()
