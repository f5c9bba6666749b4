"""Secrets in texts: which are found, where, and what is none."""

from memosite.secrets import DIGEST, RULES, find_secrets


def test_a_key_is_found_with_its_kind_and_place() -> None:
    """The place is that of the key, without its name."""
    key = "AKIA" + "QWERTZ23UIOP45AS"
    text = f"The key is {key}, rotate it."
    (found,) = find_secrets(text)
    assert text[found.start : found.end] == key
    assert RULES[found.rule] == "AWS access key id"
    assert DIGEST
