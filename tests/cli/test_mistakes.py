"""What people type by mistake is answered in one sentence, before a model is loaded, and leaves nothing behind."""

from __future__ import annotations

import shlex
import socket
from pathlib import Path

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner

from lsa_whisper import checkpoint
from lsa_whisper.cli import main
from lsa_whisper.system.shipped import NANO, STORYBOOK, shipped

CORPUS = shipped(STORYBOOK).absolute() / "test"
MODEL = shipped(NANO).absolute()

MISTAKES = """
transcribe visit.flac -o /dev/null/x            | /dev/null/x: cannot be written (Not a directory)
transcribe visit.flac -o visit.srt              | visit.srt: name a folder, or a file that ends in .cha
transcribe visit.flac -o out/first.cha          | write -o out/visit.cha
transcribe visit.flac -o visit.flac             | is a file; name a folder for the transcripts
transcribe visit.flac "my visit.flac" -o a.cha  | is one file, but there may be several
transcribe visit.flac -o ""                     | '--out': is empty
transcribe ""                                   | 'INPUTS...': is empty
transcribe                                      | Missing argument 'INPUTS...'; see 'lsa-whisper transcribe --help'
transcribe visit.wav                            | visit.wav: no such recording
transcribe missing/visit.flac                   | missing/visit.flac: no such recording
transcribe empty                                | no recording was found
transcribe visit.cha                            | is a transcript, not a recording; 'lsa-whisper align'
transcribe letter.docx                          | letter.docx: is a text, not a recording
transcribe notes.txt                            | notes.txt: is a text, not a recording
transcribe empty.wav                            | the file is empty (0 bytes)
transcribe text.wav                             | no audio can be read from it
transcribe film.mp4                             | no audio can be read from it
transcribe soundless.wav                        | soundless.wav
transcribe my visit.flac                        | a name with spaces needs quotes
transcribe visit.flac --model whsiper-base      | a short name such as base
transcribe visit.flac --model large-v4          | a short name such as large
transcribe visit.flac --model no/such           | no/such
transcribe visit.flac --model empty             | not a model (no config.json)
transcribe visit.flac --model visit.flac        | is a file, not a model
transcribe visit.flac --language Englsih        | name it, such as English, en or eng
transcribe visit.flac --language ""             | language '' is not known
transcribe visit.flac --language eng,spa        | say auto or mixed
transcribe visit.flac --format word             | format 'word' is not known; choose among
transcribe visit.flac --format srt,docs         | format 'docs' is not known; choose among
transcribe visit.flac --style verbatm           | choose verbatim or fluent
transcribe visit.flac --words missing.txt       | missing.txt: cannot be read
transcribe visit.flac --words empty             | empty: cannot be read
transcribe visit.flac --speakers 2              | give auto, or auto:2 if two people speak
transcribe visit.flac --speakers auto:x         | give auto, or auto:2 if two people speak
transcribe visit.flac --speakers auto:0         | at least one person must speak
transcribe visit.flac --roles CHI               | name one code for each of several speakers
transcribe visit.flac --channels left           | channels 'left' are not known
transcribe visit.flac --channels CHI            | one speaker per channel, such as CHI,INV
transcribe visit.flac --speaker "C H"           | the speaker code 'C H' has other characters
transcribe visit.flac --beams 0                 | beams 0: give 1 to
transcribe visit.flac --beams 1000              | beams 1000: give 1 to
transcribe visit.flac --beams five              | '--beams': 'five' is not a valid integer
transcribe visit.flac --engine whisper          | choose transformers or ct2
transcribe visit.flac --device gpu              | choose auto, cpu, cuda, cuda:1 or mps
transcribe visit.flac --batch-size 0            | batch size 0
transcribe visit.flac --vad webrtc              | 'webrtc' is not known
transcribe visit.flac --no-speech-threshold 7   | --no-speech-threshold 7.0: give a probability from 0 to 1
transcribe visit.flac --logprob-threshold 5     | --logprob-threshold 5.0: give the logarithm of a probability
transcribe visit.flac --logprob-threshold nan   | --logprob-threshold nan: give the logarithm of a probability
transcribe visit.flac --review empty            | empty: is a folder; name the file to write
transcribe visit.flac --log empty               | empty: is a folder; name the file to write
transcribe visit.flac --log /dev/null/x         | /dev/null/x: cannot be written
transcribe visit.flac --processes 0             | processes is 0
transcribe visit.flac --lang eng                | No such option '--lang'
transcribe visit.flac --model                   | Option '--model' requires an argument
transcrbe visit.flac                            | Did you mean 'transcribe'?
review missing                                  | missing: no such file or folder
review empty                                    | contains no transcript
review letter.docx                              | is neither a CHAT transcript (.cha) nor a recording
review visit.cha --model none                   | none: no such folder
review visit.cha --audio missing                | no such folder of recordings
review visit.cha --compare visit.flac           | is not a CHAT transcript
review visit.cha --flag abc                     | give a percentage such as 10%
review visit.cha --port 99999                   | port 99999 cannot be used (ports are 0 to 65535); leave out --port
review my visit.cha                             | a name with spaces needs quotes
inspect missing.cha                             | no such file or folder
inspect empty.cha                               | has no utterances
inspect words.cha                               | has no utterances
inspect visit.flac                              | nothing to inspect here
inspect visit.cha -o page.docx                  | page.docx: name a file that ends in .html
inspect visit.cha -o /dev/null/x                | /dev/null/x: cannot be written
inspect visit.cha --csv visit.cha               | visit.cha: name a file that ends in .csv
inspect visit.cha --against empty               | no CHAT files to compare with
inspect visit.cha --mode flucal                 | 'flucal' is not one of 'strict', 'flucalc'
evaluate missing.cha visit.cha                  | there is no such reference
evaluate visit.cha missing.cha                  | there is no such hypothesis
evaluate visit.cha visit.flac                   | the hypothesis is not a transcript
evaluate visit.cha letter.docx                  | the hypothesis is not a transcript
evaluate visit.cha                              | needs at least one hypothesis
evaluate visit.cha lonely -o notes.txt          | notes.txt: is a file; name a folder
evaluate visit.cha lonely --as nothing          | --as nothing: there is no such mode
evaluate visit.cha lonely --samples 2           | 2 is not in the range
prepare missing -o out                          | no such corpus folder
prepare empty -o out                            | contains no CHAT transcript
prepare lonely -o out                           | lonely
prepare lonely -o /dev/null/x                   | /dev/null/x: cannot be written
prepare lonely -o out --labels chatt            | choose one of chat, verbatim, fluent
prepare lonely -o out --context 60              | between 1 and 30 seconds
prepare lonely -o out --language Klingon        | language 'Klingon' is not known
prepare lonely -o out --relabel lonely          | not a model (no config.json)
finetune missing                                | no such recipe
finetune whisper-large-v3-lroa                  | did you mean 'whisper-large-v3-lora'?
finetune missing.yaml                           | missing.yaml
finetune visit.flac                             | is not a recipe (.yaml)
finetune lonely --set a                         | override
finetune lonely --set training.learning_rate=x  | training.learning_rate
finetune lonely --model missing                 | missing: no such folder
finetune lonely -o /dev/null/x                  | /dev/null/x: cannot be written
convert missing -o out                          | no such file or folder
convert visit.cha                               | Missing option '-o' / '--out'
convert visit.cha -o out --format xyz           | no such format
convert visit.cha -o out.srt --format srt       | a folder for the results is asked for, not a file
convert visit.cha -o /dev/null/x --format srt   | /dev/null/x: cannot be written
convert visit.cha -o out --from xyz             | no transcripts of such files can be read
convert notes.txt -o out --speaker "C H"        | --speaker C H: the speaker code
convert notes.txt -o out --language Klingon     | language 'Klingon' is not known
convert notes.txt -o out --notation x           | no such notation
align missing.cha                               | no such transcript
align visit.flac                                | this is a recording; name its transcript
align letter.docx                               | is neither CHAT (.cha) nor plain text (.txt)
align empty.cha                                 | contains no utterance
align lonely/a.cha                              | no recording named 'a' in lonely; name it with --audio
align visit.cha --audio text.wav                | no audio can be read from it
align visit.cha --audio visit.cha               | no audio can be read from it
align visit.cha --model missing                 | missing: no such folder
align visit.cha --language Klingon              | language 'Klingon' is not known
align visit.cha --vad webrtc                    | 'webrtc' is not one of
align visit.cha --batch-size 0                  | 0 is not in the range
align visit.cha --device gpu                    | device 'gpu' is not known
align visit.cha -o /dev/null/x                  | /dev/null/x: cannot be written
align visit.cha --in-place -o out               | --in-place writes into the transcripts themselves
verbatimize visit.flac                          | this is a recording; name its transcript
verbatimize notes.txt                           | contains no utterance
verbatimize visit.cha -o notes.txt              | notes.txt: is a file; name a folder
mark empty -o out                               | no .cha file in this folder
mark visit.cha -o /dev/null/x                   | /dev/null/x: cannot be written
mark visit.cha -o out --threshold 7             | a probability above 0 and below 1
models use missing                              | missing: no such folder
models use visit.flac                           | is a file, not a model
models us nano                                  | Did you mean 'use'?
recipes show missing                            | no such recipe
recipes new visit.cha -o r.yaml                 | not prepared data
recipes new lonely -o r.docx                    | r.docx: name a file that ends in .yaml
demo --seed -1 -o out                           | -1 is not in the range
demo --corpus missing -o out                    | missing: no such file or folder
demo --model missing -o out                     | missing: no such folder
demo -o notes.txt                               | notes.txt: is a file; name a folder
merge missing -o out                            | two or more checkpoints
merge missing also-missing -o out               | missing: no such folder
merge nano nano -o out --weight x               | 'x' is not a valid float
export missing -o out                           | missing: no such folder
export nano -o /dev/null/x                      | /dev/null/x: cannot be written
export nano -o out --to docx                    | 'docx' is not one of
calibrate nano missing                          | missing
calibrate missing .                             | missing: no such folder; name the folder of a model
choose-heads nano missing                       | missing
compare-runs missing                            | missing
estimate-memory huge                            | huge
estimate-memory tiny --gpus -1                  | -1
estimate-memory tiny --gpu-memory -5            | -5
estimate-memory tiny --batch-size 0             | 0
"""
"""Each line: what is typed, and a part of the answer."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Inputs that people really have: files that are empty, mislabelled, or lack their other half."""
    folder = tmp_path_factory.mktemp("mistakes")
    sound, rate = soundfile.read(CORPUS / "test01.flac", stop=16_000)
    for name in ("visit.flac", "my visit.flac"):
        soundfile.write(folder / name, sound, rate)
    soundfile.write(folder / "soundless.wav", np.zeros(0), rate)
    text = (CORPUS / "test01.cha").read_text().replace("test01", "visit")
    (folder / "visit.cha").write_text(text)
    for name in ("empty", "lonely"):
        (folder / name).mkdir()
    (folder / "lonely" / "a.cha").write_text(text.replace("@Media:\tvisit", "@Media:\ta"))
    for name in ("empty.wav", "empty.cha"):
        (folder / name).touch()
    for name in ("text.wav", "words.cha", "notes.txt", "film.mp4"):
        (folder / name).write_text("this is no sound\n")
    (folder / "letter.docx").write_bytes(b"PK\x03\x04" + bytes(99))
    return folder


def rows():
    """Yield what is typed and what is said."""
    for line in MISTAKES.strip().splitlines():
        typed, _, said = line.partition("|")
        yield typed.strip(), said.strip()


@pytest.fixture(autouse=True)
def _in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LSA_WHISPER_MODEL", str(MODEL))
    load = checkpoint.load

    def without_weights(model, *, weights=True, **options):
        return pytest.fail("the model is loaded") if weights else load(model, weights=False, **options)

    monkeypatch.setattr("lsa_whisper.checkpoint.load", without_weights)
    monkeypatch.setattr("lsa_whisper.transcription.files.spec.Transcriber", without_weights)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: pytest.fail("a server is started"))


@pytest.mark.parametrize(("typed", "said"), rows(), ids=lambda each: each[:40])
def test_a_mistake_is_answered_in_one_sentence(typed, said, folder):
    before = sorted(folder.rglob("*"))
    found = CliRunner().invoke(main, shlex.split(typed), catch_exceptions=False)
    assert found.exit_code in (1, 2) and said in found.stderr, found.output
    is_ours = found.stderr.startswith("lsa-whisper: ")
    assert is_ours and found.stderr.count("\n") == 1 and not found.stdout
    assert sorted(folder.rglob("*")) == before


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux has this folder")
@pytest.mark.parametrize("command", ["transcribe visit.flac", "align visit.cha", "mark visit.cha", "convert visit.cha"])
def test_a_place_that_only_seems_writable_is_found_out_at_once(command):
    found = CliRunner().invoke(main, [*command.split(), "-o", "/proc/x"], catch_exceptions=False)
    assert found.exit_code == 1 and found.stderr.startswith("lsa-whisper: /proc/x: cannot be written")


def test_the_kinds_of_a_format_may_be_written_as_people_write_them():
    found = CliRunner().invoke(main, ["transcribe", "visit.flac", "--format", "SRT .eaf", "--language", "xx"])
    assert "language 'xx'" in found.stderr


@pytest.mark.parametrize("command", ["transcribe visit.flac -o", "transcribe", "evaluate visit.cha", "review"])
def test_a_name_too_long_for_a_disk_is_told(command):
    found = CliRunner().invoke(main, [*command.split(), f"{'x' * 300}.docx"])
    assert found.exit_code == 1 and found.stderr.startswith("lsa-whisper: ") and found.stderr.count("\n") == 1
    assert "x" * 30 in found.stderr


def test_a_file_whose_name_begins_like_an_option_is_found(folder, monkeypatch):
    Path("-d.wav").touch()
    monkeypatch.setattr("sys.argv", ["lsa-whisper", "transcribe", "-d.wav"])
    found = CliRunner().invoke(main, ["transcribe", "-d.wav"])
    assert found.exit_code == 2 and "the file of this name is ./-d.wav" in found.stderr


def test_a_port_in_use_is_told_in_words():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = CliRunner().invoke(main, ["review", "visit.cha", "--port", str(taken.getsockname()[1])])
    assert "cannot be used (Address already in use); leave out --port" in found.stderr
