"""Which models this machine knows, and which of them is used where none is named.

``settings`` keeps the chosen model in the user's configuration folder, ``choose`` decides, and ``known`` lists. Nothing
here loads a model library.
"""

from lsa_whisper.checkpoint.choice.choose import choose_model, resolve_model, use_model
from lsa_whisper.checkpoint.choice.known import list_models
from lsa_whisper.checkpoint.choice.settings import remember_model

__all__ = ["choose_model", "list_models", "remember_model", "resolve_model", "use_model"]
