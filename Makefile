# make soak [SECONDS=600]: the fault simulation of `memosite watch` with ever new seeds, then kill -9 anywhere, each so long.
SECONDS ?= 600
PYTHON ?= .venv/bin/python

.PHONY: soak
soak:
	MEMOSITE_SOAK=$(SECONDS) $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_watch_faults.py
