"""Estimates of the memory that fine-tuning needs, from the model's shape alone, before anything is loaded.

Model states per trained parameter follow Rajbhandari et al. 2020 (ZeRO): weight, gradient and two moments of AdamW, 4
bytes each in fp32, and what each strategy adds, halves, shares or moves. Activations follow from the layers' shapes.
Overheads were measured on a CPU (``benchmarks/memory_cpu.py``); on GPUs they are derived.
"""

from lsa_whisper.finetuning.memory.check import Resources, require_fit
from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration
from lsa_whisper.finetuning.memory.estimate import estimate_memory, estimate_run
from lsa_whisper.finetuning.memory.plan import Hardware, Plan, TrainingJob
from lsa_whisper.finetuning.memory.shape import SHAPES, Shape
from lsa_whisper.finetuning.memory.table import Estimate

__all__ = [
    "SHAPES",
    "Estimate",
    "Hardware",
    "Plan",
    "Resources",
    "Shape",
    "TrainingConfiguration",
    "TrainingJob",
    "estimate_memory",
    "estimate_run",
    "require_fit",
]
