"""The query language: how texts become words, and queries become trees."""
