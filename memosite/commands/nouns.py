"""Nouns in singular or plural, for what commands print."""


def plural(noun: str, number: int) -> str:
    """A noun in singular or plural, by its number."""
    if number == 1:
        return noun
    return noun[:-1] + "ies" if noun.endswith("ry") else noun + "s"
