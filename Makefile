# make soak: what the test command does for a short while, done long, by JOBS processes: the fault simulation of
# `memosite watch` with ever new seeds, and kill -9 anywhere, each SECONDS long; EDITS random edits (of ten
# organizations), KILLS killed builds, faults of the disk and power losses; HISTORIES random histories with merges; the
# past at PAST commits, CHAINS chains; all of the attacks and searches that are tried in part otherwise
# (tests/support/soaking.py); and each fuzzer for FUZZ seconds of processor time. It says how much each of them
# tried. For a short form: make soak SECONDS=10 EDITS=20 KILLS=2 … It runs every night (.github/workflows/soak.yml).
SECONDS ?= 600
EDITS ?= 500
KILLS ?= 100
HISTORIES ?= 60
PAST ?= 100
CHAINS ?= 200
FUZZ ?= 60
JOBS ?= 3
PYTHON ?= .venv/bin/python
SOAKED = $(addprefix tests/test_,watch_faults.py edits.py reading_again.py incremental.py faults_output.py merges.py list_history.py \
	as_of.py diff.py why.py formats.py passages.py search_language.py quotes_citations.py quotes_index.py quotes_judge.py fuzz_*.py) $(ATTACKED)
ATTACKED = $(addprefix tests/test_,attack_processes.py attack_trees.py audience.py never_echoed.py scan.py secrets.py tampering.py)

.PHONY: soak lock upgrade man audit bill-of-materials
soak:
	MEMOSITE_SOAK=$(SECONDS) MEMOSITE_EDITS=$(EDITS) MEMOSITE_KILLS=$(KILLS) \
	MEMOSITE_HISTORIES=$(HISTORIES) MEMOSITE_PAST=$(PAST) MEMOSITE_CHAINS=$(CHAINS) MEMOSITE_FUZZ=$(FUZZ) \
	$(PYTHON) -m pytest -p no:cacheprovider -n $(JOBS) --dist worksteal --timeout 3600 -rP $(SOAKED)

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
