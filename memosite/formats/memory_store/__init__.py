"""The record system memory-store."""
