"""Session logs: what agents write while they work (SPEC 2.2, sessions). `parsing` is where to begin."""
