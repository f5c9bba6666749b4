"""Words that pages and commands show in the place of values of the data (docs/style.md)."""

from collections.abc import Mapping
from types import MappingProxyType

_ACTIONS: Mapping[str, str] = MappingProxyType({"discharged": "closed"})


def action_word(action: str) -> str:
    """The word for the state of an action; data, queries and anchors keep the value."""
    return _ACTIONS.get(action, action)
