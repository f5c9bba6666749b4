"""Sources: reads files and their history from folders, git refs and git remotes."""
