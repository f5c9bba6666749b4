"""Undo text that was encoded as UTF-8 twice, and leave everything else alone."""


def repair(text: str) -> str:
    """Give the text as it was before the second encoding, or unchanged if it was encoded once."""
    try:
        once = text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text
    return once if len(once) < len(text) else text
