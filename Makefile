# make demo    install, fetch the embedded model, open the page
# make test    install what the tests need and run them all
# make check   formatting, lint, types and tests, as in continuous integration
#
# make train   teach the embedded model anew and evaluate it; make publish puts it in its place
#
# Everything stays in .venv. PYTHON=... chooses the Python it is made from, ARGS=... is
# handed on to the page, to pytest or to the training, which works in OUT=... A second make
# installs nothing unless the requirements have changed.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo test train publish check format model clean
.DEFAULT_GOAL := demo

BIN := .venv/bin
OUT ?= build/reasoner
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH := $(shell grep '^torch[<>=]' requirements.txt)
CPU_TORCH := https://download.pytorch.org/whl/cpu

# The first Python that really runs, is of a version that was tried and can make an
# environment: version managers leave commands behind that do none of it.
FITS := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for each in python3.13 python3.12 python3.11 python3; do \
	if $$each -c '$(FITS)' >/dev/null 2>&1; then echo $$each; break; fi; done)

demo: .venv/.installed model
	$(BIN)/python app.py $(ARGS)

model: .venv/.installed
	@$(BIN)/python -c 'from engine.embedded import embedded; embedded(print)'

test: .venv/.tested
	$(BIN)/python -m pytest $(ARGS)

# An interrupted training goes on where it was when it is started again.
train: .venv/.trained
	$(BIN)/python -m training.train --out $(OUT) $(ARGS)
	$(BIN)/python -m training.evaluate --adapter $(OUT)/adapter --json $(OUT)/evaluation.json

publish: .venv/.installed
	$(BIN)/python -m training.publish --run $(OUT) --evaluation $(OUT)/evaluation.json

check: .venv/.tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(ARGS)

format: .venv/.tested
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.made:
	@$(if $(PYTHON),,echo "No Python 3.11 to 3.13 with venv was found; name one: make PYTHON=/path/to/python3"; exit 1)
	$(PYTHON) -m venv --clear .venv
	@touch $@

# Without an NVIDIA GPU the CPU build of PyTorch is enough and a tenth of the size.
# PyTorch's own index has it for Linux; where that cannot be reached, or on another
# system, the package index decides.
.venv/.torch: requirements.txt .venv/.made
	@if ! nvidia-smi -L >/dev/null 2>&1 && [ "$$(uname)" = Linux ] && $(PIP) install --quiet \
		--no-deps --retries 0 --timeout 10 --index-url $(CPU_TORCH) '$(TORCH)' 2>/dev/null; \
	then :; else $(PIP) install --quiet '$(TORCH)'; fi
	@touch $@

.venv/.installed: requirements.txt .venv/.torch
	$(PIP) install --quiet -r requirements.txt
	@$(BIN)/python -c 'import torch; print("PyTorch", torch.__version__, "for", \
		f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU")'
	@touch $@

.venv/.trained: requirements-training.txt .venv/.installed
	$(PIP) install --quiet -r requirements-training.txt
	@touch $@

.venv/.tested: requirements-dev.txt requirements-training.txt .venv/.installed
	$(PIP) install --quiet -r requirements-dev.txt
	@touch $@
