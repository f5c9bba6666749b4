"""What is kept on disk: the cache, the output folder, the shelf of texts."""
