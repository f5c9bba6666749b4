"""Page models to bytes."""
