"""The record system memory-layer."""
