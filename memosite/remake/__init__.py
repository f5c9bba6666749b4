"""Makes of a site only what has changed."""
