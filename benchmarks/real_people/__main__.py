"""Words and disfluencies of real people: as a stock model writes them, and after training on other people.

    python -m benchmarks.real_people ../shared/data ../shared/data/whisper/base
    python -m benchmarks.real_people MY_CORPUS openai/whisper-small --work my-figures

A corpus is a folder of CHAT transcripts and recordings; each folder in it is a set, and one named ``clean`` is speech
without disfluencies that nobody trains on. Recordings are transcribed whole, with the defaults of ``transcribe``. The
trained systems are cross-validated: in each fold, the people of one part are heard by a model trained on the others.
``ours`` is ``lsa-whisper finetune FOLDER --model MODEL`` as typed. Word errors are counted on all words as spoken, and
without disfluencies. What is done is kept in ``--work``, from where a stopped call goes on.
"""

from __future__ import annotations

from functools import partial

from benchmarks.real_people import plain_example
from benchmarks.real_people.measuring import System, measure
from benchmarks.real_people.variants import ADAPTER, OURS, trained

SYSTEMS = {
    "stock, fluent": System(style="fluent"),
    "stock, verbatim": System(style="verbatim"),
    "ours": OURS,
    "ours, adapter": trained(ADAPTER),
    "plain example": System(plain_example.train),
    "plain example, space": System(partial(plain_example.train, space=True)),
}

if __name__ == "__main__":
    measure("real_people", __doc__, SYSTEMS)
