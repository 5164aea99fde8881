# Development commands. Everything is installed into .venv; nothing is installed elsewhere.
PYTHON ?= python3
BIN := .venv/bin
BASE := .venv/.base
READY := .venv/.ready
# Waiting threads sleep instead of spinning: on a busy machine, torch is three times as fast.
export OMP_WAIT_POLICY ?= PASSIVE
# Container images often set this; without bytecode, each process compiles torch and transformers again (20 s, not 8).
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-long test-slow test-faults test-batchalign test-lowest coverage mutation fuzz lint docs storybook nano bench bench-long gpu-campaign clean

setup: $(READY)

# torch is installed first and in an exact version, so that no other package pulls in the newest build with gigabytes of
# GPU libraries. With a GPU, or from another index: make setup TORCH='torch==2.13.0 --index-url ...'
# Python compiles what is imported when it is first imported; to compile all of torch takes longer than to install it.
TORCH ?= torch==2.13.0
INSTALL := $(BIN)/python -m pip install --quiet --no-compile
$(BASE): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lsa-whisper needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(INSTALL) $(TORCH)
	$(INSTALL) --constraint constraints.txt --editable .
	@touch $@

$(READY): $(BASE)
	$(INSTALL) --constraint constraints.txt --editable '.[dev]'
	@touch $@

# The demo needs none of the tools for development.
demo: $(BASE)
	$(BIN)/lsa-whisper demo

# Test files run in parallel, because most of their time is spent loading on one core; WORKERS=0 runs them one by one.
WORKERS ?= 2
# A second thread makes models as small as those of the tests slower.
test test-long test-slow test-faults: export OMP_NUM_THREADS ?= 1
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --ignore tests/faults
test: $(READY)
	$(PYTEST) -m 'not slow' $(ARGS)

# Properties of generated texts, with 10,000 new examples each instead of the same 100 of `make test`: a quarter of an hour.
test-long: $(READY)
	LSA_WHISPER_TEST_EXAMPLES=10000 $(PYTEST) -m hypothesis

# Training in several processes, whole commands from end to end, pages in a browser: half an hour on two cores.
test-slow: $(READY)
	$(PYTEST) -m slow --durations 20

# Killed commands, full and read-only disks, two commands at once: takes some minutes; most tests need root (to mount a disk).
test-faults: $(READY)
	$(BIN)/python -m pytest tests/faults

# Batchalign needs an older pyarrow than datasets 5, therefore it has its own environment.
BATCHALIGN := .venv-batchalign/bin
.venv-batchalign/.ready: pyproject.toml constraints-batchalign.txt
	$(PYTHON) -m venv .venv-batchalign
	$(BATCHALIGN)/python -m pip install --quiet --no-compile $(TORCH)
	$(BATCHALIGN)/python -m pip install --quiet --no-compile --constraint constraints-batchalign.txt --editable '.[batchalign]' pytest
	@touch $@

test-batchalign: .venv-batchalign/.ready
	$(BATCHALIGN)/python -m pytest tests/batchalign lsa_whisper/batchalign_engine

# The lowest transformers that pyproject.toml declares, with the newest of everything else: an environment of its own
# that takes the other packages from .venv. Training, decoding and checkpoints are tested, and the first steps of the demo's
# recipes are taken: their losses are kept in benchmarks/results/demo_steps.json.
LOWEST := .venv-lowest/bin
.venv-lowest/.ready: $(READY) pyproject.toml
	$(PYTHON) -m venv --clear .venv-lowest
	$(BIN)/python -c 'import site; print(f"import site; site.addsitedir({site.getsitepackages()[0]!r})")' \
	  > $$(ls -d .venv-lowest/lib/python3*/site-packages)/zz-venv.pth
	$(LOWEST)/python -m pip install --quiet --ignore-installed --no-deps \
	  "transformers==$$(sed -n 's/.*"transformers>=\([0-9.]*\).*/\1/p' pyproject.toml).*" 'huggingface-hub<2' httpx httpcore
	@touch $@

test-lowest: .venv-lowest/.ready
	$(LOWEST)/python -m pytest -p no:cacheprovider tests/checkpoint tests/decoding tests/dataset \
	  tests/system/test_library_internals.py tests/finetuning/training
	$(LOWEST)/python -m benchmarks.demo_steps

# Line and branch coverage of the packages without torch; fails below 95 % in any of them. Takes about three minutes on one
# core with the default number of generated texts.
MEASURED := chat labels scoring evaluation manifest system/plain_yaml.py
coverage: $(READY)
	$(BIN)/python -m coverage run -m pytest -q -m 'not slow' tests/chat tests/scoring tests/evaluation tests/inspection \
	  tests/labels tests/manifest tests/system/test_plain_yaml.py \
	  $(addprefix lsa_whisper/,$(MEASURED))
	set -e; for room in $(MEASURED:%.py=%); do echo "$$room"; \
	  $(BIN)/python -m coverage report --include="lsa_whisper/$$room/*,lsa_whisper/$$room.py"; done

# Mutation testing of the code that reads and scores disfluencies: about ten minutes on two cores. Resumes when stopped.
mutation: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[mutation]'
	$(BIN)/python -m benchmarks.mutation

fuzz: $(READY)
	$(BIN)/python -m benchmarks.fuzz --minutes 15

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.lint_style
	$(BIN)/python -m tests.lint_advisories

# Build the pages in docs/ into build/site. Broken links and pages that load external resources are errors. Needs no network
# once installed.
.venv/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@! grep -rnE '<(script|link|img)[^>]* (src|href)="https?:' build/site --include='*.html'
	@echo build/site/index.html

# Generating the synthetic corpus needs the libraries of espeak-ng and flite (Debian: libespeak-ng1 libflite1).
storybook: $(READY)
	$(BIN)/python -m corpora.storybook.generator --out corpora/storybook

# Train the demo's base model from scratch: about five hours on two cores. Each recipe continues from the one before.
HOURS := $(BIN)/python -m corpora.storybook.generator
PREPARE := $(BIN)/lsa-whisper prepare --context 6 --labels chat/2
nano: $(READY)
	$(HOURS) --out build/nano/read --hours 10 --seed 1 --style read
	$(HOURS) --out build/nano/talk --hours 24 --seed 2 --captions cleaned
	$(HOURS) --out build/nano/lists --hours 12 --seed 3 --style lists
	$(HOURS) --out build/nano/tidy --hours 8 --seed 4 --captions cleaned
	$(HOURS) --out build/nano/captions --hours 12 --seed 5 --captions web
	$(HOURS) --out build/nano/stammer --hours 7 --seed 6 --style stammer --captions words
	$(HOURS) --out build/nano/more-stammer --hours 10 --seed 11 --style stammer
	$(HOURS) --out build/nano/more-talk --hours 8 --seed 12
	$(HOURS) --out build/nano/fresh-stammer --hours 12 --seed 13 --style stammer
	$(HOURS) --out build/nano/fresh-talk --hours 8 --seed 14
	$(HOURS) --out build/nano/sounds/rare --hours 6 --seed 15 --style rare --captions sounds
	$(HOURS) --out build/nano/sounds/talk --hours 4 --seed 16 --captions sounds
	$(HOURS) --out build/nano/sounds/stammer --hours 2 --seed 17 --style stammer --captions sounds
	$(PREPARE) build/nano/read --out build/nano/short --context 3 --one-utterance --without-timestamps 0.5
	$(PREPARE) corpora/storybook --out build/nano/chat
	$(PREPARE) build/nano/talk --out build/nano/cleaned
	$(PREPARE) build/nano/lists build/nano/read --out build/nano/listen
	$(PREPARE) build/nano/captions build/nano/lists/000 build/nano/lists/001 --out build/nano/web-and-lists
	$(PREPARE) build/nano/stammer --out build/nano/stammered
	$(PREPARE) build/nano/more-stammer build/nano/more-talk --out build/nano/words --labels verbatim
	$(PREPARE) build/nano/fresh-stammer build/nano/fresh-talk --out build/nano/fresh --labels verbatim
	mkdir -p build/nano/all-words && cat build/nano/words/train.jsonl build/nano/fresh/train.jsonl \
	  > build/nano/all-words/train.jsonl
	$(PREPARE) build/nano/sounds --out build/nano/sounds-and-roles --labels verbatim
	$(PREPARE) build/nano/tidy --out build/nano/tidied
	for recipe in recipes/nano/*.yaml; do $(BIN)/lsa-whisper finetune $$recipe --processes 2 || exit 1; done
	$(BIN)/lsa-whisper export build/nano/9-cleaned-decoder --out models/nano --dtype float16
	$(BIN)/lsa-whisper choose-heads models/nano corpora/storybook/train

# Measure the claims of the documentation on this machine: `bench` in twenty minutes on two cores, `bench-long` (three demos,
# larger models, a recording of two hours) in some hours.
bench: .venv/.bench
	$(BIN)/python -m benchmarks.word_times models/nano corpora/storybook/test
	$(BIN)/python -m benchmarks.transformers_4 models/nano corpora/storybook/test
	$(BIN)/python -m benchmarks.prepare_scale --processes 2
	$(BIN)/python -m benchmarks.scoring_speed
	$(BIN)/python -m benchmarks.convert_speed
	$(BIN)/python -m benchmarks.parity
	$(BIN)/python -m benchmarks.memory_cpu --sizes tiny
	$(BIN)/python -m benchmarks.table

bench-long: .venv/.bench
	$(BIN)/python -m benchmarks.demo_seeds --seeds 3
	$(BIN)/python -m benchmarks.splice --seeds 3
	$(BIN)/python -m benchmarks.alignment_loss --seeds 3
	$(BIN)/python -m benchmarks.memory_cpu --sizes small
	$(BIN)/python -m benchmarks.long_recording models/nano corpora/storybook/test
	$(BIN)/python -m benchmarks.lora_rank
	$(BIN)/python -m benchmarks.table

.venv/.bench: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	@touch $@

# All measurements that need a GPU, most valuable first; again until all is done. ARGS=--dry runs every case at a tiny size
# on the CPU, in some minutes. PROCESSOR is a folder with the tokenizer and generation settings of openai/whisper-large-v3
# (no weights: they are random). For a machine without network: python -m benchmarks.gpu.pack.
gpu-campaign: $(READY)
	$(if $(findstring --dry,$(ARGS)),,$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench,torchao,quantize]')
	$(BIN)/python -m benchmarks.gpu.campaign $(if $(PROCESSOR),--processor $(PROCESSOR)) $(ARGS)

clean:
	rm -rf build runs mutants
