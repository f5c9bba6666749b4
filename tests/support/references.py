"""The names in references a second time, written from SPEC 3 alone, slow and plain to see.

White space and punctuation cut a value into words, and each word is looked at by itself.
"""

import re
import unicodedata


def naive_names(value: str) -> list[tuple[str, str, bool]]:
    """Form, stem, and whether it stands in parentheses."""
    text = unicodedata.normalize("NFC", value).strip()
    if re.sub(r"^\W+", "", text).lower().startswith("not in-reply-to"):
        return []
    found = []
    depth = 0
    for word in re.split(r"([\s,;()])", text):
        if word == "(":
            depth += 1
        elif word == ")":
            depth = max(0, depth - 1)
        elif (name := naive_word(word)) is not None:
            found.append((*name, depth > 0))
    if found or len(text.split()) != 1 or text.lower() in {"none", "n/a", "tbd", "-"} or re.search(r"[,;()]", text):
        return found
    last = text.rstrip(".:").split("/")[-1]
    return [("file", last, False)] if last else []


def naive_word(word: str) -> tuple[str, str] | None:
    """What one word names."""
    base = word.rstrip(".:").split("/")[-1]
    stamped = re.match(r"\d{4}-\d{2}-\d{2}(-\d{4})?--\w", base)
    for suffix, form in ((".openthing", "file"), (".body.md", "file"), (".md", "document")):
        if base.endswith(suffix) and base != suffix:
            return "stamped" if stamped and form == "file" else form, base[: -len(suffix)]
    if stamped:
        return "stamped", base
    return ("stamp", base) if re.fullmatch(r"\d{4}-\d{2}-\d{2}-\d{4}", base) else None
