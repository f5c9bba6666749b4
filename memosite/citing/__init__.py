"""Cites passages and verifies citations, by what the repos hold or what a site has published (SPEC 7)."""
