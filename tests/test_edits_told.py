"""The page of changes tells edits after receipt as a person would, with the words that changed (SPEC 4)."""

import json
from pathlib import Path

from lxml import html

from memosite.render.edits import tell
from tests.support.lives import NAME, commit_memo
from tests.support.repos import Repo
from tests.support.sites import build_site

MEMO: dict[str, object] = {
    "catdef": "1.4", "memodef": "0.4.0", "type": "memodef:Memo", "from": "mill", "to": ["lock"],
    "subject": "The gate", "sent": "2026-05-01T10:00:00Z", "body": "It is green.", "action_required": True,
}  # fmt: skip


def envelope(**fields: object) -> str:
    """The file of a memo; a field that is None is not in it."""
    return json.dumps({name: value for name, value in (MEMO | fields).items() if value is not None}, indent=1)


def said(after: dict[str, object], before: dict[str, object] | None = None) -> list[str]:
    """What is said of an edit."""
    return list(tell("m.openthing", envelope(**before or {}), envelope(**after), limit=10_000).said)


def pieces(old: str, new: str, *, limit: int = 1_000_000) -> str:
    """What changed in a text: [-removed-] and {+added+}, a line each; gaps are dots."""
    told = tell("m.body.md", old, new, limit=limit)
    form = {"same": "%s", "del": "[-%s-]", "ins": "{+%s+}"}
    return "\n".join("".join(form[kind] % words for words, kind in line) if line else "..." for line in told.text)


def test_an_edit_of_an_envelope_is_told_as_a_person_would() -> None:
    """By what its fields mean, whatever order and spaces they are in."""
    closed = {"discharged": {"on": "2026-05-06", "by": "web-engineer", "disposition": "Shown on all pages."}}
    assert said({"metadata": closed}) == [
        "Closed by web-engineer on 2026-05-06", "Closing note: “Shown on all pages.”",
    ]  # fmt: skip
    assert said({}, {"metadata": closed}) == ["Opened again"]
    assert said({"to": ["lock", "weir", "mill"]}) == ["Recipient added: weir, mill"]
    assert said({"to": ["weir"]}) == ["Recipient added: weir", "Recipient removed: lock"]
    assert said({"action_required": None}) == ["No action is requested any more"]
    assert said({"subject": "The gates"}) == ["Subject changed from “The gate” to “The gates”"]
    assert said({"thread_id": "gates", "in_reply_to": "2026-04-01-0900--lock--mill--first.openthing"}) == [
        "Replies to 2026-04-01-0900--lock--mill--first.openthing now", "Thread added: “gates”",
    ]  # fmt: skip
    assert said({"x.mill.weight": 3, "metadata": {"x": 1}}) == ["Other field added: x.mill.weight, metadata.x"]
    assert said({"body": "It is dark green."}) == ["1 word added to the text"]
    assert said({"body": "It was open."}) == ["2 words of the text changed"]
    layout = ["No word changed: only spaces, line ends, or the order of fields"]
    told = tell("m.openthing", envelope(), json.dumps(dict(reversed(MEMO.items()))), limit=100)
    assert list(told.said) == layout
    assert tell("m.openthing", "{", envelope(), limit=100).said == ("An invalid file became valid",)


def test_what_two_copies_have_otherwise_is_told_by_every_field_and_not_as_an_edit() -> None:
    """Of transcripts, too; of a copy that is no memo file nothing else is said."""
    talk: dict[str, object] = {
        "memodef": "0.4.0", "type": "memodef:Transcript", "subject": "Talk", "started": "2026-05-01T10:00:00Z",
        "participants": [{"position": "mill"}], "body_ref": "talk.body.md",
    }  # fmt: skip
    later = talk | {
        "participants": [{"position": "mill"}, {"position": "lock"}], "transport": "web", "capture_tool": "tape",
        "ended": "2026-05-01T11:00:00Z", "metadata": {"redaction_status": "partial"}, "related_memos": ["a.openthing"],
    }  # fmt: skip
    before, after = (json.dumps(fields) for fields in (talk, later))
    assert tell("talk.openthing", before, after, limit=1_000, of_copies=True).said == (
        "Related memo added: a", "Participant added: lock", "End added: “2026-05-01 11:00 UTC”",
        "Transport added: “web”", "Capture tool added: “tape”", "Redaction added: “partial”",
    )  # fmt: skip
    for one, other, words in (
        ("{", envelope(), "That copy is not a valid memo file"),
        (envelope(), "{", "The copy above is not a valid memo file"),
        (envelope(), envelope() + " ", "No word differs: only spaces, line ends, or the order of fields"),
    ):  # fmt: skip
        assert tell("m.openthing", one, other, limit=1_000, of_copies=True).said == (words,)


def test_the_words_of_a_text_that_changed_are_shown_between_those_that_did_not() -> None:
    """Several in a line, whole lines, and gaps where nothing changed; of long lines around, the beginning."""
    assert pieces("The gate is 4 m wide and green.", "The gate is 4.1 m wide and red.") == (
        "The gate is [-4-]{+4.1+} m wide and [-green.-]{+red.+}"
    )
    assert pieces("One.\n\nTwo.", "One.\n\nTwo.\n\nThree.\n") == "Two.\n{+\nThree.+}"
    old = "\n".join(["w " * 200, *(f"Line {number}." for number in range(20)), "End."])
    shown = pieces(old, old.replace("w ", "x w ", 1).replace("Line 15.", "Line fifteen."))
    assert shown.startswith("{+x +}w w ") and "\n...\nLine 13.\nLine 14.\nLine [-15.-]{+fifteen.+}\n" in shown


def test_what_is_told_of_hostile_edits_is_bounded() -> None:
    """Long texts of the same words in another order, thousands of names, names of many characters."""
    words = [f"w{number % 7}" for number in range(60_000)]
    told = tell("m.body.md", " ".join(words), " ".join(reversed(words)), limit=50_000)
    assert told.is_cut and told.bytes < 60_000
    lines = tell("m.body.md", "\n".join(words), "\n".join(words[::-1]), limit=50_000)
    assert lines.is_cut and lines.bytes < 60_000
    many = {"to": [f"p{number}" for number in range(5_000)], "subject": "s" * 100_000, "y" * 9_000: 1}
    assert all(len(sentence) < 600 for sentence in said(many))


def test_the_page_of_changes_says_it_and_has_the_json_behind_raw(tmp_path: Path) -> None:
    """What a memo says is shown as it is written, and is no markup."""
    repo = Repo(tmp_path / "office")
    commit_memo(repo, body="It is green.\n\nSee <b>it</b>.")
    commit_memo(repo, body="It is <script>alert(1)</script> green.\n\nSee <b>it</b>.", to="weir, mill")
    page = build_site(tmp_path, "--quiet") / f"memos/{NAME}/changes/index.html"
    [section] = html.parse(page).xpath("//main//section")
    assert [item.text_content() for item in section.xpath("./ul/li")][-1] == "1 word added to the text"
    assert section.xpath("./div[@class='diff text']/ins/text()") == ["<script>alert(1)</script> "]
    assert "See <b>it</b>." in section.xpath("string(./div[@class='diff text'])")
    assert "\\n" not in section.xpath("string(./div[@class='diff text'])")
    [raw] = section.xpath("./details[summary='Both files, line by line']/pre")
    assert '"body"' in raw.text_content() and not section.xpath(".//script | .//b")
