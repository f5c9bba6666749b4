"""Decides from the bytes of a file whether its artifact may be seen by everybody (SPEC 9, audience).

The one rule for files as they are and as git has them from before. A mark is a field of JSON, at any depth, or of the
front matter of Markdown: `x.legal.confidentiality`, or `retention_policy`, which belongs into `metadata`. The same
names in other namespaces count, too, and a mark that cannot be understood says no.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from memosite.facts.file import File
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX

_CONFIDENTIALITY, _RETENTION = "confidentiality", "retention_policy"
_PRIVATE = ("confidential", "private", "ephemeral")
_JSON = (ENVELOPE_SUFFIX, CATALOG_SUFFIX, ".json")
_MARK = re.compile(r"confidentiality|retention_policy|\\u00[2-7]", re.IGNORECASE)
_WRITTEN = re.compile(
    r"(?<![\w-])(?:[\w-]+\.)*(?P<name>confidentiality|retention_policy)['\"]?[ \t]*:"
    r"[ \t]*(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\n,}#]*)",
    re.IGNORECASE,
)
_HEAD = re.compile(r"---[ \t]*\n.*?(?:\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\Z)", re.DOTALL)


def is_confidential(file: File) -> bool:
    """Whether a file is marked as not for everybody; one of JSON that cannot be read counts as marked."""
    name = file.name.lower()
    if name.endswith(_JSON):
        return file.json.fields is None or (bool(_MARK.search(file.text)) and _is_marked_json(file.text))
    if name.endswith(".jsonl"):
        return _is_marked_text(file.text)
    head = _HEAD.match(file.markdown)
    return head is not None and _is_marked_text(head[0])


def is_raw_transcript(file: File) -> bool:
    """Whether an envelope is that of a transcript that does not say that it was redacted."""
    fields = file.json.fields or {}
    metadata = fields.get("metadata")
    status = metadata.get("redaction_status") if isinstance(metadata, dict) else None
    return not is_redacted(status)


def is_redacted(status: object) -> bool:
    """Whether a `redaction_status` says that a transcript may be read by everybody."""
    return isinstance(status, str) and status.strip().casefold() == "redacted"


def _is_marked_json(text: str) -> bool:
    """Whether any object of a JSON text has a mark. Of a key that is there twice each value counts."""
    found: list[bool] = []

    def look_at(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(_is_marked(pairs))
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=look_at, strict=False)
    except (ValueError, RecursionError):
        return _is_marked_text(text)
    return any(found)


def _is_marked(pairs: Iterable[tuple[str, object]]) -> bool:
    return any(_says_no(key.strip().casefold().rpartition(".")[2], value) for key, value in pairs)


def _is_marked_text(text: str) -> bool:
    """Whether a text that is written like YAML or JSON has a mark; one whose value is on further lines says no."""
    for found in _WRITTEN.finditer(text):
        value = found["value"].strip().strip("\"'")
        if _says_no(found["name"].casefold(), value or ()):
            return True
    return False


def _says_no(name: str, value: object) -> bool:
    if name == _CONFIDENTIALITY:
        return not _is_public(value)
    return name == _RETENTION and _is_private(value)


def _is_public(value: object) -> bool:
    return isinstance(value, str) and value.strip().casefold() == "public"


def _is_private(value: object) -> bool:
    return value is not None and (not isinstance(value, str) or value.strip().casefold() in _PRIVATE)
