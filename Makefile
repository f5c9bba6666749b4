# make soak [SECONDS=600]: what the test command does for a short while, done long: the fault simulation of
# `memosite watch` with ever new seeds, then kill -9 anywhere, each so long; 500 random edits (of ten organizations), 100 killed builds,
# 100 faults of the disk, 100 power losses, the past at 100 commits, 200 chains; and each fuzzer for FUZZ seconds of processor time, which says how many
# inputs it tried.
SECONDS ?= 600
FUZZ ?= 60
PYTHON ?= .venv/bin/python

.PHONY: soak lock upgrade man audit bill-of-materials
soak:
	MEMOSITE_SOAK=$(SECONDS) $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_watch_faults.py
	MEMOSITE_EDITS=500 MEMOSITE_KILLS=100 $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_edits.py tests/test_incremental.py tests/test_faults_output.py
	MEMOSITE_PAST=100 MEMOSITE_CHAINS=200 $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_as_of.py tests/test_why.py
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
