"""The commands ``transcribe``, ``calibrate``, ``choose-heads``, ``batchalign transcribe`` and ``batchalign run``."""

from __future__ import annotations

import sys
from typing import Any

import click

from lsa_whisper.cli.group import GroupedCommand, call, function_of, main, run, show
from lsa_whisper.cli.types import LANGUAGE, MODEL, OUT, PATH, TABLE, TRANSCRIPT_OR_FOLDER, device_option, verbose_option

_GROUPS = {
    "Options": ("model", "out", "formats", "language", "style", "words", "also_fluent", "review"),
    "Who speaks": ("speakers", "roles", "speakers_model", "channels", "speaker", "role", "corpus_name"),
    "How it is decoded": (
        "prompt", "beams", "second_text", "find_skipped", "windows", "vad", "word_times", "retraces",
        "no_speech_threshold", "logprob_threshold", "engine", "draft",
    ),
    "Machine and files": (
        "device", "dtype", "batch_size", "processes", "ray", "rename_media", "log", "verbose",
    ),
}  # fmt: skip


@main.command(cls=GroupedCommand, groups=_GROUPS)
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@click.option(
    "--model",
    type=MODEL,
    help="A checkpoint folder, a hub name, or base, large-v3 ...; the chosen one when not given (see models).",
)
@click.option(
    "-o",
    "--out",
    type=TRANSCRIPT_OR_FOLDER,
    help="Folder for the transcripts, or a file such as visit.cha; default: next to the audio.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=("cha",),
    help="In addition to cha: srt, vtt, txt, csv, docx, json, textgrid, eaf, salt; also srt,eaf.",
)
@click.option("--also-fluent", is_flag=True, help="Also write the text without disfluencies, into the folder fluent.")
@click.option(
    "--language",
    help="Language of the speech: English, en or eng; auto: detected in each recording, mixed: in each window. By "
    "default English, or another one that a model without fine-tuning detects for certain.",
)
@click.option(
    "--style",
    help="verbatim: with um, repeated and cut-off words. fluent: without. Default: as the model was trained; a model "
    "without fine-tuning writes verbatim in English.",
)
@click.option(
    "--words",
    type=PATH,
    help="Text file of names and rare words that may be spoken, one per line; the model prefers them where it half "
    "hears them.",
)
@click.option(
    "--prompt",
    default="",
    show_default=False,
    help="Text that the model reads before each window, as if it had been spoken before: the topic, or how names are "
    "spelled.",
)
@click.option("--speaker", default="PAR", help="Code of the speaker, if the model does not write who speaks.")
@click.option("--speaker-role", "role", default="Participant", help="That speaker's role in @ID.")
@click.option(
    "--corpus-name",
    default="",
    show_default=False,
    help="Name of the corpus in @ID; default: the folder of the recording.",
)
@click.option(
    "--rename-media/--no-rename-media",
    default=True,
    help="Write names that CLAN can read where a recording has one that it cannot.",
)
@click.option("--batch-size", type=int, help="Windows decoded together; default: as many as suit the machine.")
@device_option
@click.option("--dtype", default="auto", help="auto, float32, bfloat16, float16; for ct2 also int8.")
@click.option("--engine", default="transformers", help="Decoding library: transformers or ct2.")
@click.option(
    "--beams",
    type=int,
    help="How many possible texts of a window to compare, such as 5: often more accurate on clear speech, but slower; "
    "default: three for a model without fine-tuning (with ct2 only where it writes disfluencies), else one.",
)
@click.option(
    "--second-text/--no-second-text",
    default=True,
    help="Compare the text of a model without fine-tuning with its text without disfluencies; without: faster, and a "
    "few more words are wrong.",
)
@click.option(
    "--find-skipped/--no-find-skipped",
    default=None,
    help="Look for speech that the model left out, and transcribe it; default: for long passages, and if --beams is 2 "
    "or more.",
)
@click.option("--draft", type=MODEL, help="Small checkpoint for speculative decoding; the text is that of --beams 1.")
@click.option(
    "--wor/--nowor", "word_times", default=None, help="Write the time of each word; default: only with --speakers."
)
@click.option(
    "--retraces/--no-retraces",
    default=True,
    help="Mark retraces that the words show and the model left unmarked (chat labels).",
)
@click.option(
    "--windows",
    default="speech",
    help="How a long recording is divided. speech: it is cut in silences. sequential: each window starts where "
    "the text of the last one ends, and the model is shown that text.",
)
@click.option("--vad", default="either", help="Voice activity detection: either, silero or energy.")
@click.option("--no-speech-threshold", default=0.6, help="Probability of no speech above which a text is dropped.")
@click.option(
    "--logprob-threshold",
    default=-1.0,
    help="Mean log-probability above which such a text, or any text of a very quiet recording, is kept.",
)
@click.option(
    "--channels", default="mix", help="Channels to transcribe: mix, one (2), or one speaker per channel (CHI,INV)."
)
@click.option(
    "--speakers",
    type=PATH,
    help="Speaker turns: RTTM, TextGrid or CHAT, or a folder of such files; auto: by the voices, auto:2 if two people "
    "speak.",
)
@click.option(
    "--roles",
    default="",
    show_default=False,
    metavar="CHI,MOT",
    help="Codes of the speakers, one each: a child is told by pitch, others by how long they speak; to be checked in "
    "review.",
)
@click.option(
    "--speakers-model",
    type=PATH,
    help="Model of pyannote.audio for --speakers auto: a folder; default: the one in the hub's cache.",
)
@click.option(
    "--review", type=TABLE, help="CSV file for speech without words, and the least confident words and utterances."
)
@verbose_option
@click.option("--log", type=TABLE, help="File to append a line to for each recording.")
@click.option("--processes", type=int, help="Recordings processed in parallel; default: one per GPU, or one.")
@click.option("--ray", metavar="ADDRESS", help="Run on a Ray cluster: its address, auto, or local.")
def transcribe(**parameters: Any) -> None:
    """Transcribe recordings to CHAT, disfluencies included.

    INPUTS are recordings or folders of them; - is standard input, whose transcript is printed unless -o names a folder.

    Example: lsa-whisper transcribe interview.wav
    """
    from lsa_whisper.transcription.files.recordings import STANDARD_INPUT, spool_standard_input

    inputs, out = parameters.pop("inputs"), parameters.pop("out")
    with spool_standard_input(inputs, out) as (recordings, folder):
        summary = function_of("transcribe")(inputs=recordings, out=folder, **parameters)
        if list(inputs) == [STANDARD_INPUT] and out is None:
            for file in summary.done:
                click.echo(file.transcript.read_bytes(), nl=False)
        else:
            show(summary.table())
    sys.exit(summary.exit_code)


@main.command()
@click.argument("model", type=MODEL)
@click.argument("sessions", type=PATH)
@click.option("--language", type=LANGUAGE, default="eng", help="Language of the speech.")
@click.option("--batch-size", type=click.IntRange(1), default=8, help="Windows decoded together.")
@device_option
def calibrate(**parameters: Any) -> None:
    """Calibrate a model's confidences on held-out sessions, for transcribe --review.

    Example: lsa-whisper calibrate runs/demo/full corpora/storybook/dev
    """
    run("calibrate", **parameters)


@main.command("choose-heads")
@click.argument("model", type=MODEL)
@click.argument("corpus", nargs=-1, required=True, type=PATH)
@click.option("--window-count", type=click.IntRange(1), default=40, help="Number of windows of the corpus to decode.")
@device_option
def choose_heads(**parameters: Any) -> None:
    """Choose a model's alignment heads on a corpus with word times (%wor).

    They are stored in MODEL's generation_config.json, which transcribe --wor and other programs use.

    Example: lsa-whisper choose-heads models/nano corpora/storybook/dev
    """
    run("choose-heads", **parameters)


@main.group()
def batchalign() -> None:
    """Run a model in Batchalign, TalkBank's pipeline, keeping every mark.

    Example: lsa-whisper batchalign transcribe visits -o transcripts --model runs/demo/full --lang eng
    """


@batchalign.command("transcribe")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--model", required=True, help="A checkpoint folder, an adapter's too, or a hub name.")
@click.option(
    "--lang", type=LANGUAGE, required=True, help="Language of the speech, three letters (ISO 639-3): eng, spa."
)
@click.option("-o", "--out", type=OUT, help="Folder for the transcripts; default: next to the audio.")
@click.option("-n", "--num-speakers", type=int, help="Report transcripts with another number of speakers.")
@click.option("--force-cpu", is_flag=True, help="Run on the CPU.")
@click.option("--wor/--nowor", default=False, help="Write the time of each word.")
@click.option("--batch-size", type=click.IntRange(1), default=8, help="Windows decoded together.")
def batchalign_transcribe(**parameters: Any) -> None:
    """Transcribe recordings through Batchalign, keeping every mark.

    Example: lsa-whisper batchalign transcribe visits -o transcripts --model runs/demo/full --lang eng
    """
    run("batchalign transcribe", **parameters)


@batchalign.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("args", nargs=-1, required=True, type=click.UNPROCESSED)
def batchalign_run(**parameters: Any) -> None:
    """Run Batchalign's own command with the engine lsa among its engines.

    Example: lsa-whisper batchalign run -- transcribe visits -o out --engine lsa --model runs/demo/full --lang eng
    """
    call("batchalign run", **parameters)
