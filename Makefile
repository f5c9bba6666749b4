# make soak: what the test command does for a short while, done long: the fault simulation of `memosite watch` with ever
# new seeds, then kill -9 anywhere, each SECONDS long; EDITS random edits (of ten organizations), KILLS killed builds,
# faults of the disk and power losses; the past at PAST commits, CHAINS chains; and each fuzzer for FUZZ seconds of
# processor time, which says how many inputs it tried. For a short form: make soak SECONDS=10 EDITS=20 KILLS=2 …
SECONDS ?= 600
EDITS ?= 500
KILLS ?= 100
PAST ?= 100
CHAINS ?= 200
FUZZ ?= 60
PYTHON ?= .venv/bin/python

.PHONY: soak lock upgrade man audit bill-of-materials
soak:
	MEMOSITE_SOAK=$(SECONDS) $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_watch_faults.py
	MEMOSITE_EDITS=$(EDITS) MEMOSITE_KILLS=$(KILLS) $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_edits.py tests/test_incremental.py tests/test_faults_output.py
	MEMOSITE_PAST=$(PAST) MEMOSITE_CHAINS=$(CHAINS) $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_as_of.py tests/test_why.py
	MEMOSITE_FUZZ=$(FUZZ) $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_fuzz_*.py

# make lock: requirements/*.txt again, when pyproject.toml has changed; make upgrade: with the newest of everything.
lock:
	scripts/lock

upgrade:
	scripts/lock --upgrade

# make man: docs/man/memosite.1 again, when the command line has changed.
man:
	$(PYTHON) scripts/man

# make audit: known vulnerabilities of what is locked. make bill-of-materials: what memosite consists of (CycloneDX).
audit:
	$(PYTHON) scripts/audit

bill-of-materials:
	$(PYTHON) scripts/bill-of-materials dist/memosite.cdx.json
