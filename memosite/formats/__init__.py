"""The formats memosite reads: one adapter per format, a folder per record system."""
