"""Sources: where the files come from. Folders now; git URLs and refs will stand beside them."""
