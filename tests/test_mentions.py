"""Tests which mentions of names are found, however they are written, and what is left in their place."""

import json

from memosite.reading.withholding import Mentions

NAME = "2026-05-01-0900--engineer--director--gate"


def without(text: str, name: str = "a.md", *, names: tuple[str, ...] = (NAME,), decoys: tuple[str, ...] = ()) -> str:
    """A text in a file of this name, without the names."""
    data = Mentions(names, decoys).without(text.encode("utf-8", "surrogateescape"), name)
    return text if data is None else data.decode("utf-8", "surrogateescape")


def test_names_in_texts_go_with_paths_and_addresses_and_longer_ones_stay_whole() -> None:
    """However they are escaped; other bytes stay; hundreds of names are not sought one by one."""
    for text, left in [
        (f"See {NAME}.", "See [withheld]."),
        (f"See `memos/inbox/{NAME}.openthing`, and", "See `[withheld]`, and"),
        (f"C:\\memos\\{NAME}.body.md", "[withheld]"),
        (f"[x](https://h.example/memos/{NAME}/#turn-4) more", "[x]([withheld]) more"),
        (f"<https://h.example/memos/{NAME}/index.md?a=b>", "<[withheld]>"),
        (f"_{NAME}_ **{NAME.upper()}**", "_[withheld]_ **[withheld]**"),
        (NAME.replace("-", "%2D"), "[withheld]"),
        (NAME.replace("2026", "%32026"), "[withheld]"),
        (NAME.replace("-", "&#45;"), "[withheld]"),
        (NAME.replace("-", "\\-"), "[withheld]"),
        (f'`{{"a": "\\n{NAME}"}}`', '`{"a": "\\n[withheld]"}`'),
        (f"\ufeff\x00{NAME}\r\n", "\ufeff\x00[withheld]\r\n"),
        (f"\udcff {NAME}", "\udcff [withheld]"),
        (f"~~{NAME}~~ ~{NAME}~", "~~[withheld]~~ ~[withheld]~"),
        (f"\u8acb\u898b{NAME}\u7684\u5099\u5fd8", "\u8acb\u898b[withheld]\u7684\u5099\u5fd8"),
        (f"{NAME}\uc744 \u0e14\u0e39{NAME}\u3092", "[withheld]\uc744 \u0e14\u0e39[withheld]\u3092"),
        (NAME.replace("gate", "ga\u00adte"), "[withheld]"),
        (NAME.replace("--director", "--\u200bdirector\u2060"), "[withheld]"),
        (NAME.replace("-", "\u2011"), "[withheld]"),
        (NAME.replace("-", "&#8209;"), "[withheld]"),
        (NAME.replace("gate", "ga&shy;te"), "[withheld]"),
        (f"See {NAME.replace('--gate', '--' + chr(10) + 'gate')}, and", "See [withheld], and"),
        (f"> See {NAME.replace('-0900', '-' + chr(13) + chr(10) + '> 0900')}, and", "> See [withheld], and"),
        (f"See {NAME.replace('--gate', chr(10) + '  --gate')}, and", "See [withheld], and"),
        (f"\x1b[01;34m{NAME.replace('gate', chr(27) + '[0mgate')}\x1b[0m", "\x1b[01;34m[withheld]\x1b[0m"),
        (NAME.replace("-", "%252D"), "[withheld]"),
        (f'{{"a": "{{\\"b\\": \\"x\\\\n{NAME}\\"}}"}}', '{"a": "{\\"b\\": \\"x\\\\n[withheld]\\"}"}'),
        *((text, text) for text in (f"{NAME}-two", f"{NAME}--x", f"a-{NAME}", f"a{NAME}", f"{NAME}~12ab", f"{NAME}2")),
    ]:
        assert without(text) == left
    decoys = (f"{NAME}.draft", f"new.{NAME}")
    assert without(f"{NAME}.draft and new.{NAME} and {NAME}", decoys=decoys).endswith(f"new.{NAME} and [withheld]")
    assert without(f"{NAME}.draft.", decoys=decoys) == f"{NAME}.draft."
    names = tuple(f"2026-05-01-{number:04d}--a--b--{'x' * 300}-{number}" for number in range(300))
    text = f"{names[7]} {'word ' * 5_000}{names[299]}"
    assert without(text, names=names) == f"[withheld] {'word ' * 5_000}[withheld]"


def test_names_in_json_in_json_or_folded_to_other_letters_go() -> None:
    """In strings and keys, three times over; as they are written and compared."""
    for text, left in [
        (f'{{"body": "a\\n{NAME}\\nb"}}', '{"body": "a\\n[withheld]\\nb"}'),
        (f'{{"body": "a\\nmemos\\/inbox\\/{NAME}.openthing"}}', '{"body": "a\\n[withheld]"}'),
        ('{"body": "' + "".join(f"\\u{ord(char):04x}" for char in NAME) + '"}', '{"body": "[withheld]"}'),
        (f'{{"body": "{NAME.replace("-", "%2d")}"}}', '{"body": "[withheld]"}'),
        (f'{{"body": "{{\\"a\\": \\"x\\\\n{NAME}\\"}}"}}', '{"body": "{\\"a\\": \\"x\\\\n[withheld]\\"}"}'),
        (f'{{"{NAME}": 1}}', '{"[withheld]": 1}'),
        (f'{{"body": "See {NAME.replace("--gate", "--" + chr(92) + "ngate")}."}}', '{"body": "See [withheld]."}'),
        (f'{{"body": "{NAME.replace("--gate", "--" + chr(92) + "u200bgate")}."}}', '{"body": "[withheld]."}'),
    ]:
        assert without(text, "a.openthing") == left
    text = wanted = f"x\n{NAME}"
    wanted = wanted.replace(NAME, "[withheld]")
    for _ in range(4):
        text, wanted = json.dumps({"a": text}), json.dumps({"a": wanted})
        assert without(text, "a.openthing") == wanted
    for text in ("see stra\u00dfe-1!", "see STRASSE-1!", "see Stra\u00dfe-1.openthing!", "see strasse-1!"):
        assert without(text, names=("stra\u00dfe-1",)) == "see [withheld]!"
    assert (
        without("see stra\u00dfe-1.b", names=("stra\u00dfe-1",), decoys=("Stra\u00dfe-1.b",)) == "see stra\u00dfe-1.b"
    )
    for name in ("grün 1", "gru\u0308n 1"):
        for text in ("see grün 1!", "see gru\u0308n 1!", "see GR\u00dcN 1!", "see gr%C3%BCn%201!"):
            assert without(text, names=(name,)) == "see [withheld]!"
        assert without('{"a": "gr\\u00fcn 1"}', "a.json", names=(name,)) == '{"a": "[withheld]"}'
    assert without('{"a": "\\ud83d\\ude00-1"}', "a.json", names=("\U0001f600-1",)) == '{"a": "[withheld]"}'


def test_plain_words_are_names_only_in_fields_for_references_and_in_links() -> None:
    """Of memos, record systems and front matter; texts and recipients use the word."""
    for text, left in [
        (
            '{"context_references": ["plan", "x"], "related": "plan"}',
            '{"context_references": ["[withheld]", "x"], "related": "[withheld]"}',
        ),
        ('{"target": "urn:x:plan", "session_id": "plan"}', '{"target": "[withheld]", "session_id": "[withheld]"}'),
        (
            '{"retarget": "plan", "metadata.supersedes": "plan"}',
            '{"retarget": "plan", "metadata.supersedes": "[withheld]"}',
        ),
    ]:
        assert without(text, "a.json", names=("plan",)) == left
    for text, left in [
        ("supersedes: plan", "supersedes: [withheld]"),
        ("superseded_by: 'Plan'", "superseded_by: '[withheld]'"),
        ("conflicts: [a, plan, plan b]", "conflicts: [a, [withheld], plan b]"),
        ("conflicts:\n  - plan\n  - other\n  - urn:x:plan", "conflicts:\n  - [withheld]\n  - other\n  - [withheld]"),
        ("links:\n  - type: cites\n    target: urn:x:plan\n", "links:\n  - type: cites\n    target: [withheld]\n"),
        ("title: plan", "title: plan"),
        ("title: [[plan]]", "title: [withheld]"),
    ]:
        rest = "\n---\nsupersedes: plan\n"
        assert without(f"---\n{text}{rest}", names=("plan",)) == f"---\n{left}{rest}"
        assert without(f"{text}\n", names=("plan",)) == (f"{left}\n" if "[[" in text else f"{text}\n")
    names = ("plan", "director")
    text = '{"to": "director", "in_reply_to": "plan", "related_memos": ["a", "Plan"], "body": "a plan.openthing."}'
    left = '{"to": "director", "in_reply_to": "[withheld]", "related_memos": ["a", "[withheld]"], '
    left += '"body": "a [withheld]."}'
    assert without(text, "a.openthing", names=names) == left
    assert without("The plan [[plan]] in memos/plan.body.md", names=names) == "The plan [withheld] in [withheld]"
    assert without("See README.md and readme", names=("README",)) == "See README.md and readme"
    text = "[[plan#h|y]] [[ Plan |y]] [[plan]] [[plan b]] [[plans]] plan [[x|plan]]"
    assert without(text, names=("plan",)) == "[withheld] [withheld] [withheld] [[plan b]] [[plans]] plan [[x|plan]]"
