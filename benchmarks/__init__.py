"""Benchmarks: generated organizations, and memosite measured on them beside other tools (see README.md)."""
