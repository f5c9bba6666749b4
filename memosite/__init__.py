"""Turns the memos, notes and transcripts in an organization's git repos into an HTML archive to browse."""

__version__ = "0.1.0"
