"""Markdown to safe HTML."""
