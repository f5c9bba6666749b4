# make soak [SECONDS=3600]: the fault simulation of `memosite watch`, long and with ever new seeds.
SECONDS ?= 600
PYTHON ?= .venv/bin/python

.PHONY: soak
soak:
	MEMOSITE_SOAK=$(SECONDS) $(PYTHON) -m pytest -p no:cacheprovider -rP tests/test_watch_faults.py
