"""Passwords, hashes, cookies and keys as people and programs write them: nothing of them is left in the text."""

from collections.abc import Mapping, Sequence

import pytest

from memosite.secrets import find_secrets
from tests.support.planted_secrets import Maker, of_form

Layouts = Mapping[str, tuple[str, Sequence[str]]]


def left_of(text: str) -> str:
    """What is left of a text once all that is found in it is out."""
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}*{text[secret.end :]}"
    return text


def missed(form: str, layouts: Sequence[str], seeds: Sequence[int] = range(3)) -> list[str]:
    """The texts that a key of this form is still in; it stands where `KEY` is."""
    texts = [
        (layout.replace("KEY", key), key)
        for layout in layouts
        for key in (of_form(form, Maker(seed)) for seed in seeds)
    ]
    return [text for text, key in texts if key[2:-2] in left_of(text)]


HASHES: Layouts = {
    "of Windows": ("{H32}", (
        "Administrator:500:aad3b435b51404eeaad3b435b51404ee:KEY:::",
        "CORP\\ann:1103:KEY:aad3b435b51404eeaad3b435b51404ee:::",
        "bob:1000:XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX:KEY:[U          ]:LCT-5F:",
        "bob:1000:NO PASSWORD*********************:KEY:::",
        "NTLM hash: KEY", '{"nt_hash": "KEY"}',
    )),
    "of Windows, as an answer": ("{H32}:{H200}", ("bob::CORP:1122334455667788:KEY",)),
    "of Cisco, 7": ("08{X16}", (
        "enable password 7 KEY", "username bob password 7 KEY\n!", "tacacs-server key 7 KEY", " key-string 7 KEY",
        '"cfg": "\\n key 7 KEY\\n"',
    )),
    "of Cisco, 4 and 9": ("{S43}", ("enable secret 4 KEY", "username bob secret 9 $9$aBcD1eFgH2iJkL$KEY")),
    "of MySQL": ("*{X40}", ("IDENTIFIED BY PASSWORD 'KEY'", "('bob','KEY')", "bob:KEY", "bob\tKEY")),
    "traditional": ("a7{S5}B{S4}.", ("bob:KEY:1001:100:Bob:/home/bob:/bin/sh", "root:KEY:19700:0:99999:7:::",
    "bob:KEY\nann:x", "bob:KEY")),
}  # fmt: skip


@pytest.mark.parametrize(("form", "layouts"), HASHES.values(), ids=list(HASHES))
def test_hashes_of_passwords_are_found_where_programs_write_them(form: str, layouts: Sequence[str]) -> None:
    """Those without a form of their own, by their place in a line or their name."""
    assert missed(form, layouts) == []
