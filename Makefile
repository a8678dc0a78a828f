# make demo   installs into .venv and shows a faulty training script and its sound twin under watch
# make test   installs the development tools and runs every check
# A virtual environment elsewhere: make test VENV=/path/to/venv. Another Python: make demo PYTHON=python3.12

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test clean

demo: $(VENV)/.demo
	$(BIN)/torchcaliper run demo/digits_faulty.py
	$(BIN)/torchcaliper run recipes/train_and_land.py --epochs 3

test: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest

clean:
	rm -rf build dist .torchcaliper .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f $(VENV)/.demo $(VENV)/.test

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The marks spare a second installation; both are made anew when the requirements change.
$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable . torch numpy scikit-learn
	touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[dev]' torch
	touch $@
