# The whole developer interface. PYTHON chooses the Python that .venv is made with.
PYTHON ?= python3
BIN := .venv/bin
export PYTHON
# Where remembr_msgs is built into a virtual environment beside a sourced ROS 2, its libraries are found by this.
export LD_LIBRARY_PATH := $(CURDIR)/.venv/lib$(if $(LD_LIBRARY_PATH),:$(LD_LIBRARY_PATH))

.PHONY: setup demo test lint bench models

setup:  ## make .venv; does nothing when nothing has changed
	@bash scripts/setup.sh

demo: setup  ## a rendered building becomes a memory, questions are answered; see demo_out/
	@$(BIN)/remembr demo --out demo_out

test: setup  ## three at once, for much of it is waiting for servers and nodes
	@$(BIN)/python -m pytest test remembr_bench/test -n 3 --dist loadfile --no-loadscope-reorder

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/hadolint docker/Dockerfile*
	@bash scripts/check_page.sh

models: setup  ## real models in .cache/models, 1.3 GB, for some tests and figures; MODELS=large adds 1.1 GB
	@$(BIN)/python scripts/fetch_models.py $(MODELS)

bench: setup  ## speed and memory, as ratios against a baseline in the same run; eMEM is one of these
	@$(BIN)/python -m pip install --quiet -c requirements/constraints.txt emem==0.3.0 || true
	@$(BIN)/python -m test.bench
