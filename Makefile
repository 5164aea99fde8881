# The commands people type. Everything lives in .venv here; nothing is installed elsewhere.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Threads that wait for each other asleep, not awake: beside other work, torch is three times as fast for it.
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: setup demo test test-faults test-batchalign coverage mutation fuzz lint storybook nano bench clean

setup: $(READY)

# torch comes first and by exact version, so that no other package asks for the newest build with gigabytes of GPU
# libraries. With a GPU, or from another index: make setup TORCH='torch==2.13.0 --index-url ...'
TORCH ?= torch==2.13.0
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lsa-whisper needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/lsa-whisper demo

test: $(READY)
	$(BIN)/python -m pytest --ignore tests/faults

# Kills, full and read-only disks, two calls at once: some minutes, and most of it takes root (to mount a disk).
test-faults: $(READY)
	$(BIN)/python -m pytest tests/faults

# Batchalign needs an older pyarrow than datasets 5 does, hence an environment of its own.
BATCHALIGN := .venv-batchalign/bin
.venv-batchalign/.ready: pyproject.toml constraints-batchalign.txt
	$(PYTHON) -m venv .venv-batchalign
	$(BATCHALIGN)/python -m pip install --quiet $(TORCH)
	$(BATCHALIGN)/python -m pip install --quiet --constraint constraints-batchalign.txt --editable '.[batchalign]' pytest
	@touch $@

test-batchalign: .venv-batchalign/.ready
	$(BATCHALIGN)/python -m pytest tests/batchalign lsa_whisper/batchalign_engine

# Which lines and branches of the rooms without torch the tests go through; below 95 % it fails.
coverage: $(READY)
	$(BIN)/python -m coverage run -m pytest -q -m 'not slow' tests/chat tests/evaluate tests/test_labels.py \
	  tests/test_labels_tokens.py tests/test_manifest.py tests/test_plain_yaml.py lsa_whisper/chat lsa_whisper/evaluate \
	  lsa_whisper/labels lsa_whisper/manifest.py lsa_whisper/plain_yaml.py
	$(BIN)/python -m coverage report

# Whether the tests notice when the code that reads marks and scores them is changed; some hours on two cores.
# It can be stopped, and goes on where it was.
mutation: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[mutation]'
	$(BIN)/mutmut run --max-children 2 || true
	$(BIN)/mutmut results

fuzz: $(READY)
	$(BIN)/python -m benchmarks.fuzz --minutes 15

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Rebuilding the synthetic corpus needs the libraries of espeak-ng and flite (Debian: libespeak-ng1 libflite1).
storybook: $(READY)
	$(BIN)/python -m corpora.storybook.generator --out corpora/storybook

# The demo's base model from nothing: about an hour and three quarters on two cores.
HOURS := $(BIN)/python -m corpora.storybook.generator
nano: $(READY)
	$(HOURS) --out build/nano/read --hours 10 --seed 1 --style read
	$(HOURS) --out build/nano/talk --hours 24 --seed 2 --captions cleaned
	$(HOURS) --out build/nano/lists --hours 12 --seed 3 --style lists
	$(BIN)/lsa-whisper prepare build/nano/read --out build/nano/short --context 3 --one-utterance --without-timestamps 0.5
	$(BIN)/lsa-whisper prepare build/nano/talk --out build/nano/cleaned --context 6
	$(BIN)/lsa-whisper prepare build/nano/talk build/nano/lists --out build/nano/mixed --context 6
	$(BIN)/lsa-whisper prepare corpora/storybook --out build/nano/chat --context 6
	$(BIN)/lsa-whisper finetune recipes/nano-short.yaml --processes 2
	$(BIN)/lsa-whisper finetune recipes/nano-base.yaml --processes 2
	$(BIN)/lsa-whisper finetune recipes/nano-wild.yaml --processes 2
	$(BIN)/lsa-whisper export build/nano/wild --out models/nano --dtype float16
	$(BIN)/lsa-whisper choose-heads models/nano corpora/storybook/train

# The claims of the README, measured again on this machine.
bench: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.chat_speed corpora/storybook
	$(BIN)/python -m benchmarks.scoring_speed
	$(BIN)/python -m benchmarks.padding corpora/storybook
	$(BIN)/python -m benchmarks.word_times models/nano corpora/storybook/test
	$(BIN)/python -m benchmarks.transformers_4 models/nano corpora/storybook/test
	$(BIN)/python -m benchmarks.prepare_scale --processes 2
	$(BIN)/python -m benchmarks.parity
	$(BIN)/python -m benchmarks.demo_seeds --seeds 3
	$(BIN)/python -m benchmarks.memory_cpu --sizes tiny small

clean:
	rm -rf build runs mutants
