"""Finds the document that a status such as "superseded by ADR 12" names."""

import re

from memosite.archive.model import Document


def is_named(document: Document, status: str) -> bool:
    """Whether a status such as "superseded by ADR 12" names this document: its name, its title or its number."""
    said = status.casefold().partition(" by ")[2].strip(" .")
    stem, title = document.head.file.name.casefold().removesuffix(".md"), document.head.title.casefold()
    numbers = {int(number) for number in re.findall(r"(?<!\d)\d{1,6}(?!\d)", said)}
    leading = re.match(r"(?:adr-?)?(\d{1,6})(?!\d|-\d\d-\d\d)", stem)
    if not said:
        return False
    return stem in said or (bool(title) and title in said) or (leading is not None and int(leading[1]) in numbers)
