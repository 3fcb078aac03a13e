# Two commands: `make check` checks a real engine, `make test` passes the tests. Both set up .venv themselves, on a
# machine with Python (3.11 or newer), pip, venv and make, and start at once the second time.
# PYTHON=python3.12 names another Python: it has an environment of its own, .venv-3.12, with what the tests need and
# the engines that you check there. The Python of .venv is python3, or the one named first where python3 is too old.

PYTHON ?= python3
version_of = $(1) -c 'import sys; sys.version_info < (3, 11) or print("%d.%d" % sys.version_info[:2])' 2>/dev/null
UNFIT = kvspec needs Python 3.11 or newer, and PYTHON=$(PYTHON) says "$(shell $(PYTHON) --version 2>&1 | head -n 1)": name one that fits, by its command or its path
VENV := .venv
ifneq ($(origin PYTHON),file)
  VERSION := $(shell $(call version_of,$(PYTHON)))
  $(if $(VERSION),,$(error $(UNFIT)))
  OWNER := $(or $(shell $(call version_of,.venv/bin/python)),$(shell $(call version_of,python3)),$(VERSION))
  VENV := .venv$(if $(filter $(OWNER),$(VERSION)),,-$(VERSION))
endif
ENGINE ?= transformers
ARGS ?=
PROFILE ?= ci
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt
ENGINES := conformance/kvengines
KNOWN := transformers vllm mini-infer torch-sdpa kvoptimized

QUANTIZERS := gguf hqq ml-dtypes quantized-cache torchao
SMALL := smol-vllm kvstream bllm
EVERY := $(patsubst %,$(VENV)/.%,$(KNOWN) $(QUANTIZERS) $(SMALL))

# Engines whose dependencies conflict with those of the others: each has an environment of its own, .venv-NAME.
APART := sglang lmcache
PACKAGES := $(ENGINE:%-hybrid=%)
CHECKED_IN := $(VENV)$(patsubst %,-%,$(filter $(PACKAGES),$(APART)))

# What must be installed for the engine that is checked: its own packages, or nothing for an engine of yours. A file that
# is not empty says which package has no wheel for this Python.
NEEDED := $(filter $(VENV)/.$(PACKAGES),$(EVERY)) $(patsubst %,$(VENV)-%/.engine,$(filter $(PACKAGES),$(APART)))

.PHONY: engines check test portable pythons venv lint bench engines-table power soundness static traffic quality imposters mutants explore prove campaign format clean help

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make check [ENGINE=transformers|vllm|...|module:object] [ARGS=...]   check an engine; the README names them all
check: $(VENV)/.base $(NEEDED)
	@! grep -h . /dev/null $(NEEDED)
	$(CHECKED_IN)/bin/kvspec check $(ENGINE) $(ARGS)

## make test        set everything up and run the tests; with PYTHON=python3.12, those that need no engine
TESTED := $(VENV)/.dev $(VENV)/.mutants $(VENV)/.proofs
test: $(if $(filter .venv,$(VENV)),venv,$(TESTED))
	KVSPEC_HYPOTHESIS=$(PROFILE) $(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

## make venv        only set everything up
venv: $(TESTED) $(EVERY) $(VENV)/.triton-3.6

## make pythons     the tests that need no engine, and the check of the reference, on every Python that is installed
PYENV := $(or $(PYENV_ROOT),$(HOME)/.pyenv)
PYTHONS ?= python3 $(patsubst %,python3.%,11 12 13 14 15) $(wildcard $(PYENV)/versions/3.*/bin/python)
pythons:
	@failed=0; seen=::; for python in $(PYTHONS); do \
	  version=$$($(call version_of,$$python)); \
	  case $$seen in *:$$version:*) continue;; esac; \
	  seen=$$seen$$version:; log=.venv-$$version/pythons.log; mkdir -p .venv-$$version; \
	  $(MAKE) check test ENGINE=reference PYTHON=$$python VENV=.venv-$$version >$$log 2>&1; status=$$?; \
	  [ $$status = 0 ] || failed=1; [ $$status = 0 ] && word=passes || word="FAILS ($$log)"; \
	  echo "Python $$version $$word: $$(grep ' in [0-9][0-9.]*s' $$log | tail -n 1)"; \
	done; exit $$failed

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
mutants: $(VENV)/.dev $(VENV)/.mutants
	$(BIN)/python -m tests.mutation $(ARGS)

## make engines-table   check every engine for its default minute; write conformance/engines.json and ENGINES.md
TABLE := reference hybrid kvoptimized transformers vllm vllm-hybrid mini-infer torch-sdpa gguf ml-dtypes torchao quantized-cache hqq $(SMALL) $(APART) sglang-hybrid
engines-table: venv $(patsubst %,$(VENV)-%/.engine,$(filter $(APART),$(TABLE)))
	mkdir -p $(VENV)/reports
	for engine in $(TABLE); do bin=$(VENV)-$${engine%-hybrid}/bin; [ -d $$bin ] || bin=$(BIN); \
	  $$bin/kvspec check $$engine --json $(VENV)/reports/$$engine.json || true; done
	$(BIN)/python -m kvconformance.telling.table $(patsubst %,$(VENV)/reports/%.json,$(TABLE))

## make explore     the large scopes of the explorer: millions of states, minutes, a gigabyte or two
explore: $(VENV)/.base
	$(BIN)/kvspec explore --large $(ARGS)

## make engines     check the engines that have an environment of their own, and pass their tests there
engines: $(patsubst %,$(VENV)-%/.engine,$(APART))
	for engine in $(APART); do ! grep . $(VENV)-$$engine/.engine || continue; \
	  $(VENV)-$$engine/bin/kvspec check $$engine $(ARGS) || [ $$? = 1 ] || exit; \
	  $(VENV)-$$engine/bin/python -m pytest tests/engines/test_$$engine*.py || exit; done

## make campaign    the long run: the reference and every engine, 20,000 examples each
campaign: venv
	for engine in reference contiguous $(KNOWN) $(QUANTIZERS); do $(BIN)/kvspec check $$engine --examples 20000 || true; done

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .venv-*

$(VENV)/.made:
	@echo "setting up $(VENV) ..."
	@[ "$(shell $(call version_of,$(PYTHON)))" ] || { echo '$(UNFIT)' >&2; exit 2; }
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

# An engine, or `mutants` or `proofs`: its extra of pyproject.toml, or the requirements that stand beside its adapter.
$(VENV)/.%: $(VENV)/.base
	@echo "installing $* (a few minutes the first time, where it needs torch) ..."
	@$(BIN)/python conformance/install.py $* $@

$(VENV)/.vllm: $(ENGINES)/vllm/requirements.txt $(ENGINES)/vllm/nodeps.txt

$(VENV)-%/.engine: $(ENGINES)/%/requirements.txt $(ENGINES)/%/nodeps.txt pyproject.toml constraints.txt
	@echo "setting up $(@D) (a few minutes) ..."
	$(PYTHON) -m venv $(@D)
	$(subst $(BIN),$(@D)/bin,$(PIP)) -e . pytest pytest-benchmark pytest-timeout
	@$(@D)/bin/python conformance/install.py $* $@

# The oldest Triton that the kernels support, beside the one that is installed: tests put it first on the path.
$(VENV)/.triton-3.6: $(VENV)/.made
	@echo "installing triton 3.6 beside the current one ..."
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps --upgrade --target $(VENV)/triton-3.6 triton==3.6.0
	@touch $@
