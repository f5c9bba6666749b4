"""Judges quotations: whether words stand in a text, in which texts, and who said them (SPEC 7, verifying)."""
