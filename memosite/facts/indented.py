"""Writes indented JSON: one line per value, characters unescaped.

The bytes are those of `json.dumps(value, indent=1, ensure_ascii=False)`, which is written in Python and takes three
times as long.
"""

import json
from json.encoder import encode_basestring as quoted

_CONSTANTS = {None: "null", True: "true", False: "false"}


def indented(value: object, margin: str = "\n") -> str:
    """Indented JSON of a value whose dicts have texts as keys. It recurses: never pass it values read from content."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        inner = margin + " "
        lines = [
            f"{quoted(name)}: {quoted(one) if type(one) is str else indented(one, inner)}"
            for name, one in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(lines)}{margin}}}" if lines else "{}"
    if isinstance(value, (list, tuple)):
        inner = margin + " "
        lines = [indented(one, inner) for one in value]
        return f"[{inner}{f',{inner}'.join(lines)}{margin}]" if lines else "[]"
    if value is None or value is True or value is False:
        return _CONSTANTS[value]
    return json.dumps(value)
