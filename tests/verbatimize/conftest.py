from __future__ import annotations

from model_fixtures import scripted, tiny, visit

__all__ = ["scripted", "tiny", "visit"]
