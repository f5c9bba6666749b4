"""Search: one analyzer and one query language, answered by Whoosh on the command line and by blocks in the browser."""
