"""Characters that no terminal may act on, and that no file may hold."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.characters import masked, printable, printable_json, without_surrogates

TEXTS = st.text(st.characters())  # lone surrogates, too


def test_what_a_terminal_would_act_on_is_escaped_or_masked_and_halves_replaced_for_a_file() -> None:
    """No text clears the screen, begins a line or turns the direction; whole characters stay in a file."""
    text = "a\x1b[2Jb\nc\u202ed\ud800 Ж"
    assert printable(text) == r"a\x1b[2Jb\nc\u202ed\ud800 Ж"
    assert masked(text) == "a\ufffd[2Jb\ufffdc\ufffdd\ufffd Ж"
    assert without_surrogates("a\ud83d b\udc80 \U0001f600\x1b\n") == "a\ufffd b\ufffd \U0001f600\x1b\n"


@given(TEXTS)
def test_whatever_a_text_holds_it_can_be_shown_and_written(text: str) -> None:
    """Any text becomes one printable line, and text that is UTF-8; a clean text is left as it is."""
    assert printable(text).isprintable()
    written = printable_json({text: [text]})
    assert written.isprintable()
    json.loads(written)
    assert masked(text).isprintable()
    assert len(masked(text)) == len(text)
    assert json.loads(json.dumps(without_surrogates(text)).encode()) == without_surrogates(text)
    without_surrogates(text).encode()
    if all(unicodedata.category(char)[0] in "LNPS" for char in text):
        assert printable(text) == masked(text) == text
