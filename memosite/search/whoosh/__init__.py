"""The index on disk by Whoosh."""
