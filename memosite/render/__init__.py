"""Renders page models to bytes."""
