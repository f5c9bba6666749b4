"""Feeds as values; writes RSS, JSON Feed and OPML, reads RSS."""
