"""Fetches documents over HTTP and from disk."""
