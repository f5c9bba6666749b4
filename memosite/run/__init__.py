"""Runs pure functions: in processes, on a cluster, memoized, with progress."""
