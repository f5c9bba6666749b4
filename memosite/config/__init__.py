"""Reads `memosite.yml`, or discovers what to read without one."""
