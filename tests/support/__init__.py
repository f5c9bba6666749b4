"""The tools of the tests; tests/README.md says which is for what."""
