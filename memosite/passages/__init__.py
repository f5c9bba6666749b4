"""What can be cited: the passages of bodies, with their place in the sources (SPEC 7, docs/citations.md)."""
