"""Stores on disk: the cache, the output folder, and the shelf of texts."""
