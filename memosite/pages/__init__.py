"""Page models: what each template receives."""
