"""The text that makes a model write disfluencies: its decoder reads it before each window, as if it had written it.

Whisper knows *um*: it was taught to leave it out, and goes on in the manner of the text before a window. So a prompt
with fillers, a repeated word and a cut-off one brings disfluencies back from a stock model without training, and is
where the training of a verbatim model begins best: without the prompt, the model stays what it was.
"""

from __future__ import annotations

VERBATIM_PROMPTS = {
    "eng": "um I I want uh the the dog. um uh wan- want it. Yeah.",
    "deu": "äh ähm äh ähm.",
    "fra": "euh heu euh heu.",
    "ita": "ehm eeh ehm eeh.",
    "nld": "eh uhm eh uhm.",
    "spa": "eh ehm eh ehm.",
}
"""By language (ISO 639-3), the prompt that asks for disfluencies. Only the English one was tested on recordings.

OpenAI's base on 5 minutes of real English (26 recordings of about 30 people, windows without timestamps): 22 of 27
filled pauses are written and 2 invented (0 and 0 without a prompt), word errors fall from 26 to 21 %; with timestamps,
the prompt costs words. It was chosen from 14 on the same recordings. A list of fillers (``Um, uh, hmm, er, ah.``)
brings 17 back. The sentences in it make the model end sentences.
"""
