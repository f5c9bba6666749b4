"""JSON that people may read: the same bytes as the standard library writes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.indented import indented

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda one: st.lists(one) | st.lists(one).map(tuple) | st.dictionaries(st.text(), one),
)


@given(VALUES)
def test_any_value_is_written_as_the_standard_library_writes_it(value: object) -> None:
    """Empty lists stay on their line; everything else has a line of its own."""
    assert indented(value) == json.dumps(value, indent=1, ensure_ascii=False)
