"""Session logs: what agents write while they work (SPEC 2.2, sessions). A module for each form that is read."""
