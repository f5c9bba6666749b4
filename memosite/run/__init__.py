"""How pure functions are run: by processes, by a cluster, memoized, with progress."""
