"""The record system MIF."""
