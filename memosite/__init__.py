"""Turns the memos, notes and transcripts in an organization's git repos into a searchable HTML archive."""

__version__ = "0.1.0"
