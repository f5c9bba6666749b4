"""The relations that MIF names, and the prefix that an id may have."""

from collections.abc import Mapping
from types import MappingProxyType

URN = "urn:mif:"

_PAIRS = (
    ("relates-to", "relates-to"),
    ("conflicts-with", "conflicts-with"),
    ("derived-from", "derives"),
    ("supersedes", "superseded-by"),
    ("contradicts", "contradicted-by"),
    ("part-of", "contains"),
    ("implements", "implemented-by"),
    ("uses", "used-by"),
    ("created", "created-by"),
    ("mentioned-in", "mentions"),
    ("blocks", "blocked-by"),
    ("reinforces", "reinforced-by"),
)
"""Relations and how they are called from their other end (MIF 1.0, 8.2; `blocks` is 0.1's); some are their own."""

INVERSE: Mapping[str, str] = MappingProxyType({**dict(_PAIRS), **{inverse: name for name, inverse in _PAIRS}})
