"""The table in benchmarks/README.md: each claim, where it is made, its script, and its latest result.

    python -m benchmarks.table

The results come from ``benchmarks/results/``; none is typed by hand. ``tests/docs/test_claims.py`` fails when the table
is out of date, and when a page states a figure for which there is no row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import accuracy_summaries, result, summaries
from benchmarks.summaries import Figures

PAGE = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes:
        statement: The claim.
        script: Module in ``benchmarks``, which writes the result of the same name.
        summarize: Returns the text of the result column from the result.
        places: Pages and sections that state figures of this result.
        gpu: Whether the script needs a GPU.
    """

    statement: str
    script: str
    summarize: Callable[[Figures], str]
    places: tuple[tuple[str, str], ...] = ()
    gpu: bool = False


CLAIMS = (
    Claim(
        "Fine-tuning trains nano to keep disfluencies",
        "demo_seeds",
        accuracy_summaries.demo,
        (("docs/how-it-is-built.md", "What the demo shows"),),
    ),
    Claim(
        "The demo's recipes on more hours of synthetic speech: F1 of each class, rare test set",
        "hours_heard",
        accuracy_summaries.learning_curve,
        (("docs/training-data.md", "Measured: more hours"),),
    ),
    Claim(
        "Labels with a revision's sign after its repair, beside the usual ones, and the tagger of retraces",
        "sign_after_repair",
        accuracy_summaries.sign_after_repair,
        (("docs/labels-and-scores.md", "Measured: a sign after the repair"),),
    ),
    Claim(
        "Averages of the demo's LoRA runs, in and out of domain (`merge`)",
        "merge",
        accuracy_summaries.merged,
        (("docs/adapters.md", "Measured: averages of runs"),),
    ),
    Claim(
        "All strategies give the same model as a single process (largest differences)",
        "parity",
        summaries.parity,
        (("docs/parallelism.md", "Measured: parity of strategies"),),
    ),
    Claim(
        "Estimated memory is close to measured memory, on a CPU",
        "memory_cpu",
        summaries.memory,
        (("docs/strategy.md", "Measured: accuracy of the plan"),),
    ),
    Claim("Training in pure-bf16 goes as far as in fp32", "stochastic_rounding", summaries.stochastic_rounding),
    Claim(
        "Loading under ZeRO-3 needs the host memory of one copy for two ranks",
        "zero_loading",
        summaries.loading,
        (("docs/parallelism.md", "Measured: loading under ZeRO-3"),),
    ),
    Claim(
        "Memory and speed on a GPU, compared with the estimate and with other programs",
        "gpu.campaign",
        summaries.gpu,
        gpu=True,
    ),
    Claim("Speed of transcription compared with other programs, on a CPU", "transcribe_speed", summaries.speed),
    Claim(
        "Where the time of a transcription goes, on a CPU (engine transformers)",
        "transcribe_profile",
        summaries.profile,
    ),
    Claim("Who speaks, from voices alone (`--speakers auto`)", "speakers", summaries.speakers),
    Claim("Word errors with trimmed encoder inputs, beside whole ones", "trimming", accuracy_summaries.trimmed),
    Claim(
        "Word errors on real English speech, beside other programs with the same weights",
        "real_speech",
        accuracy_summaries.real_speech,
        (("docs/base-models.md", "Measured: real speech"), ("docs/base-models.md", "Measured: speed")),
    ),
    Claim(
        "Words that whisper-base invents in eleven sounds without speech, alone and between sentences",
        "invented_speech",
        accuracy_summaries.invented,
        (("docs/base-models.md", "Measured: sounds without speech"),),
    ),
    Claim(
        "Phrases that people say three to eight times: copies kept, and words in sounds that make models loop",
        "repetition_truth",
        accuracy_summaries.repeated,
        (("docs/base-models.md", "Measured: true repetitions"),),
    ),
    Claim(
        "Verbatim WER of other programs with the same checkpoint, by `evaluate` ([all](peers.md))",
        "peers",
        accuracy_summaries.peers,
    ),
    Claim(
        "Coverage of intervals and errors of verdicts, on simulated recordings",
        "verdicts",
        summaries.verdicts,
        (("docs/labels-and-scores.md", "Measured: intervals and verdicts"),),
    ),
    Claim(
        "Measures of a language sample, beside pylangacq's and CLAN's published counts",
        "measures",
        summaries.measures,
        (("docs/labels-and-scores.md", "Measured: measures beside pylangacq and CLAN"),),
    ),
    Claim(
        "Deleted words that `transcribe --review` lists as speech without words",
        "missed_speech",
        accuracy_summaries.missed,
    ),
    Claim(
        "Accuracy of the times of words and utterances of `transcribe --wor`",
        "word_times",
        accuracy_summaries.words_in_time,
    ),
    Claim(
        "Accuracy of the word onsets of `transcribe --wor` after fine-tuning, with and without the alignment loss",
        "alignment_loss",
        accuracy_summaries.alignment_loss,
        (("docs/training-data.md", "Measured: the alignment loss"),),
    ),
    Claim(
        "F1 of each class of disfluency with and without spliced speech",
        "splice",
        accuracy_summaries.spliced,
        (("docs/training-data.md", "Measured: splicing"),),
    ),
    Claim(
        "Accuracy of the word onsets of `align`, beside simpler methods",
        "align_times",
        accuracy_summaries.aligned,
        (("docs/align.md", "Measured"),),
    ),
    Claim(
        "Aligning a long recording needs no more memory than a short one",
        "align_long",
        summaries.align_long,
        (("docs/align.md", "Measured: long recordings"),),
    ),
    Claim(
        "Retraces found from words alone, 28 hand-annotated meetings, speakers held out",
        "retraces",
        accuracy_summaries.retraces,
        (("docs/labels-and-scores.md", "Measured: retraces from words alone"),),
    ),
    Claim(
        "`verbatimize` on cleaned transcripts, beside free transcription with the same model, and `prepare --relabel`",
        "verbatimize",
        accuracy_summaries.verbatimize,
        (("docs/verbatimize.md", "Measured"),),
    ),
    Claim(
        "Revisions in the transcripts of models fine-tuned on storybook, with a tagger that sets missing codes",
        "model_retraces",
        accuracy_summaries.model_retraces,
        (("docs/labels-and-scores.md", "Measured: revisions that a tagger adds"),),
    ),
    Claim("Malformed and hostile texts give a one-line error, not a traceback", "fuzz", summaries.fuzz),
    Claim(
        "An export gives the same text in transformers 4",
        "transformers_4",
        lambda found: f"transformers {found['other_transformers']}: same text {str(found['same_text']).lower()}",
    ),
    Claim(
        "The lowest supported transformers trains the demo's recipes (losses of five steps)",
        "demo_steps",
        summaries.steps,
    ),
    Claim("Processor time for decoding m4a, mp4 and webm, whole and for a cut of 5 s", "decoding", summaries.decoding),
    Claim("Time and memory of `convert` for 100,000 cues, and for ELAN of 10 MB", "convert_speed", summaries.convert),
    Claim("Memory for scoring hardly grows with the number of files", "scoring_speed", summaries.scoring),
    Claim(
        "Time for preparation grows linearly, and a killed run resumes with the same result",
        "prepare_scale",
        summaries.prepare,
    ),
    Claim("A killed run ends with the weights of an undisturbed run", "kill_resume", summaries.killed),
    Claim(
        "Damaged labels of real utterances decode to CHAT that passes the check", "damaged_labels", summaries.damaged
    ),
    Claim("The tests detect mutations of the code that reads and scores disfluencies", "mutation", summaries.mutation),
    Claim("A recording of hours needs no more memory than one of minutes", "long_recording", summaries.long),
    Claim(
        "Three hours with 3,000 utterances on the review page",
        "review_scale",
        summaries.review_scale,
    ),
    Claim(
        "Words and fillers of real people: a stock model that is asked for them, finetune, and the plain example",
        "real_people",
        summaries.real_people,
        (("docs/base-models.md", "Measured: disfluencies of real people"),),
    ),
    Claim(
        "Choices of the training on a few minutes of real people, changed one at a time",
        "real_people.variants",
        summaries.real_people,
        (("docs/base-models.md", "Measured: choices for a few minutes of speech"),),
    ),
    Claim("Wrong words that the review page flags, by whisper-base", "doubt_flags", summaries.doubt_flags),
    Claim(
        "Errors corrected against time spent: doubtful first, or from start to end",
        "review_time",
        summaries.review_time,
        (("docs/check-and-correct.md", "Measured: doubtful first"),),
    ),
    Claim(
        "Effect of the rank of a LoRA on the verbatim WER",
        "lora_rank",
        accuracy_summaries.rank,
        (("docs/adapters.md", "Measured: LoRA rank"),),
    ),
)


def row(claim: Claim) -> str:
    """Return the table row of a claim."""
    where = ", ".join(f"{page} ({section})" for page, section in claim.places) or "-"
    found = result.last(claim.script)
    if not found:
        last, made = "no result yet", "needs a GPU" if claim.gpu else "-"
    else:
        last, made = claim.summarize(found), f"{found['date']}, {_machine(found)}"
    cells = (claim.statement, where, f"`python -m benchmarks.{claim.script}`", last, made)
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"


def _machine(found: Figures) -> str:
    """Return the GPU, else the CPU; for rows from several machines, all of them."""
    device = found.get("device", "cpu")
    machines = dict.fromkeys(row.get("machine", found["machine"]) for row in found.get("rows", ()))
    return (" and ".join(machines) or found["machine"]) if device == "cpu" else device


def update_page(text: str) -> str:
    """Return the page with an updated table."""
    head = ("| claim | claimed in | measured by | latest result | date, machine |", "|---|---|---|---|---|")
    before, rest = text.split(BEGIN)
    table = "\n".join((*head, *map(row, CLAIMS)))
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(update_page(PAGE.read_text("utf-8")), "utf-8")
