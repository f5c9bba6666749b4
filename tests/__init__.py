"""The tests of memosite."""
