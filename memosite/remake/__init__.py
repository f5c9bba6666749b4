"""Rebuilds a site incrementally: makes again only what has changed."""
