"""Feeds as values, RSS, JSON Feed and OPML; written and read."""
