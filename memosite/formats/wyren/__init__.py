"""The record system wyren."""
