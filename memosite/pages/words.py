"""Words that pages and commands show in the place of values of the data (docs/style.md)."""

from collections.abc import Mapping
from types import MappingProxyType

from memosite.facts.phrases import phrase

_ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "open": phrase("open"),
        "superseded": phrase("superseded"),
        "answered": phrase("answered"),
        "discharged": phrase("closed"),
    }
)


def action_word(action: str) -> str:
    """The word for the state of an action; data, queries and anchors keep the value."""
    return _ACTIONS.get(action, action)
