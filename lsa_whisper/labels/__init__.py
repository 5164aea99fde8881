"""Labels: utterances encoded as training text, and model output decoded into utterances."""

from lsa_whisper.labels.coverage import NOT_TRANSCRIBED, Coverage, is_draft, read_coverage
from lsa_whisper.labels.decode import Decoded, codes_in, decode, decode_all
from lsa_whisper.labels.disfluent import disfluent_spans
from lsa_whisper.labels.style import STYLES, VERBATIM_PROMPTS, VERSION, Labels, encode
from lsa_whisper.labels.token_words import (
    TokenPlace,
    begins_word,
    characters,
    in_speaker_code,
    is_onset,
    letters_of,
    token_places,
    tokens_at_most,
    tokens_to_allow,
    without_codes,
    words_of_tokens,
)

__all__ = [
    "NOT_TRANSCRIBED",
    "STYLES",
    "VERBATIM_PROMPTS",
    "VERSION",
    "Coverage",
    "Decoded",
    "Labels",
    "TokenPlace",
    "begins_word",
    "characters",
    "codes_in",
    "decode",
    "decode_all",
    "disfluent_spans",
    "encode",
    "in_speaker_code",
    "is_draft",
    "is_onset",
    "letters_of",
    "read_coverage",
    "token_places",
    "tokens_at_most",
    "tokens_to_allow",
    "without_codes",
    "words_of_tokens",
]
