"""Opens archives: lists, reads, parses and resolves sources."""
