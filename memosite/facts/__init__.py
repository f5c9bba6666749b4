"""Facts read from single files, and the basic value types that all other packages use."""
