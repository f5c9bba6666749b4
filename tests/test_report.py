"""Findings come out as text, JSON and SARIF, the same for the same findings in any order."""

import json
import random
from typing import Any, Literal, get_args
from urllib.parse import unquote_to_bytes

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from memosite.commands.report import fails, to_json, to_sarif, to_text
from memosite.facts import rules
from memosite.facts.findings import Finding, Location, Rule
from memosite.facts.values import replace
from memosite.formats.systems import ALL_RULES


def found(rule: Rule, message: str, source: str, path: str, line: int | None = None) -> Finding:
    """A finding at a place."""
    return Finding(rule=rule, location=Location(source=source, path=path, line=line), message=message)


SOON, LAST = '"sent" is "soon", expected ISO 8601', '"sent" is "later", expected ISO 8601'
LATE = found(rules.DATE_INVALID, SOON, "governance", "memos/inbox/x.openthing", 7)
LATER = found(rules.DATE_INVALID, LAST, "governance", "memos/inbox/y.openthing", 3)
SPLIT = found(rules.BODY_SPLIT, "the body is in inbox", "engine", "memos/read/z.openthing")
GHOST = found(rules.GHOST, "no such", "engine", "memos/a b.openthing", 2)
SOME = (LATER, SPLIT, LATE, GHOST)
Threshold = Literal["error", "warning", "never"]
ROOTS = {"governance": "example-org/governance", "engine": "../engine"}


def test_text_names_places_as_editors_open_them_and_once_where_clauses_can_be_read() -> None:
    """A line a finding, relative to the current folder, remedy and clause below; no character moves the cursor."""
    assert to_text(SOME, root_of=ROOTS).splitlines() == [
        "../engine/memos/a b.openthing:2: note: no such [ghost]",
        "    Add its repo to the sources. (SPEC 3, threads)",
        "../engine/memos/read/z.openthing:1: warning: the body is in inbox [body-split]",
        "    Move both to one mailbox with git mv. (memodef README, mark-as-read moves both; SPEC 2.2)",
        'example-org/governance/memos/inbox/x.openthing:7: error: "sent" is "soon", expected ISO 8601 [date-invalid]',
        "    Write it like 2026-05-01T14:30:00Z. (memodef SCHEMA, memodef:Memo, sent; SPEC 2.2)",
        'example-org/governance/memos/inbox/y.openthing:3: error: "sent" is "later", expected ISO 8601 [date-invalid]',
        "2 errors, 1 warning, 1 note",
    ]
    lines = to_text(SOME, root_of=ROOTS, contract="/opt/memosite/docs/\x1bspec").splitlines()
    assert lines[:-2] == to_text(SOME, root_of=ROOTS).splitlines()[:-1]
    assert lines[-2] == (
        r"Sources: SPEC n is section n of /opt/memosite/docs/\x1bspec/memosite.md; "
        r"/opt/memosite/docs/\x1bspec/README.md lists the others. A built site shows both at spec/index.html."
    )
    assert to_text((), root_of={}, contract="/opt/memosite") == to_text((), root_of={}) == "no findings"
    for root, place in (
        ({}, "engine/"), ({"engine": "."}, ""), ({"engine": ""}, ""), ({"engine": "./repos/engine/"}, "repos/engine/"),
        ({"engine": "/srv/engine"}, "/srv/engine/"),
    ):  # fmt: skip
        assert to_text([SPLIT], root_of=root).startswith(f"{place}memos/read/z.openthing:1: warning: ")
    where = Location(source="s", path="memos/\x1b[2J\nok.openthing")
    line = to_text([Finding(rule=rules.GHOST, location=where, message="a\rb\u202e\x9b\udcff")], root_of={})
    assert line.splitlines()[0] == r"s/memos/\x1b[2J\nok.openthing:1: note: a\rb\u202e\x9b\udcff [ghost]"


def test_json_gives_every_finding_with_its_rule_in_any_order_the_same() -> None:
    """One object a finding; a line that is not known is null; the same findings make the same bytes."""
    objects = json.loads(to_json(SOME))
    names = ("a b", "read/z", "inbox/x", "inbox/y")
    assert [entry["path"] for entry in objects] == [f"memos/{name}.openthing" for name in names]
    assert objects[1] == {
        "rule": "body-split", "severity": "warning", "source": "engine", "path": "memos/read/z.openthing", "line": None,
        "message": "the body is in inbox", "remedy": rules.BODY_SPLIT.remedy, "clause": rules.BODY_SPLIT.clause,
    }  # fmt: skip
    assert json.loads(to_json(())) == []
    shuffled = list(SOME)
    for seed in range(5):
        random.Random(seed).shuffle(shuffled)
        assert to_text(shuffled, root_of=ROOTS) == to_text(SOME, root_of=ROOTS)
        assert to_json(shuffled) == to_json(SOME)
        assert to_sarif(shuffled, version="1", root_of=ROOTS) == to_sarif(SOME, version="1", root_of=ROOTS)


def closed(*required: str, **properties: object) -> dict[str, Any]:
    """The schema of an object with these fields and no others."""
    return {"type": "object", "required": [*required], "additionalProperties": False, "properties": properties}


def several(items: object, **others: object) -> dict[str, Any]:
    """The schema of an array."""
    return {"type": "array", "items": items, **others}


WORDS = {"type": "string", "minLength": 1}
TEXT = {"type": "object", "required": ["text"], "properties": {"text": WORDS}}
HELP = {"type": "object", "required": ["text"], "properties": {"text": WORDS, "markdown": WORDS}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
URI = {"type": "string", "pattern": r"^(file:///)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"}
RULE = closed(
    "id", id=WORDS, shortDescription=TEXT, fullDescription=TEXT, help=HELP, defaultConfiguration=closed(level=LEVEL),
    helpUri={"type": "string", "pattern": "^https://"},
)  # fmt: skip
REGION = closed(startLine={"type": "integer", "minimum": 1})
PLACE = closed("artifactLocation", artifactLocation=closed("uri", uri=URI), region=REGION)
RESULT = closed(
    "message", ruleId={"type": "string"}, ruleIndex={"type": "integer", "minimum": -1}, level=LEVEL, message=TEXT,
    properties={"type": "object"}, locations=several(closed("physicalLocation", physicalLocation=PLACE)),
)  # fmt: skip
DRIVER = closed("name", name=WORDS, version={"type": "string"}, rules=several(RULE, uniqueItems=True))
RUN = closed(
    "tool", "results", columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    tool=closed("driver", driver=DRIVER), results=several(RESULT),
)  # fmt: skip
SARIF = closed("version", "runs", version={"const": "2.1.0"}, runs=several(RUN))
SARIF["properties"] |= {"$schema": {"type": "string", "format": "uri"}}
"""The parts of SARIF 2.1.0 (OASIS, sections 3.13 to 3.50) that memosite writes, and nothing besides."""
STANDARD = jsonschema.Draft202012Validator(SARIF)
STANDARD.check_schema(SARIF)


def check(log: str) -> dict[str, Any]:
    """The log as JSON, after it was held to the standard."""
    value: dict[str, Any] = json.loads(log)
    STANDARD.validate(value)
    (run,) = value["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return value


def test_sarif_keeps_the_standard_with_encoded_addresses_and_leads_to_known_documents() -> None:
    """Rules, results with place, level and clause; no path is taken for a scheme, query or fragment."""
    for root, path, uri in [
        ("", "a:b/ä?#%.md", "a%3Ab/%C3%A4%3F%23%25.md"),
        ("/srv/my repos", "x.md", "file:///srv/my%20repos/x.md"),
        (".", "bytes\udcff.md", "bytes%FF.md"),
    ]:
        finding = found(rules.GHOST, "x", "s", path)
        (run,) = check(to_sarif([finding], version="0.1.0", root_of={"s": root}))["runs"]
        assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri, root
        assert unquote_to_bytes(uri).endswith(path.encode("utf-8", "surrogateescape")), root
    (run,) = check(to_sarif(SOME, version="0.1.0", root_of=ROOTS))["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("memosite", "0.1.0")
    assert [rule["id"] for rule in driver["rules"]] == [rule.id for rule in ALL_RULES]
    dated = driver["rules"][run["results"][2]["ruleIndex"]]
    assert dated["shortDescription"] == {"text": rules.DATE_INVALID.meaning}
    assert dated["help"] == {"text": rules.DATE_INVALID.remedy}
    assert dated["defaultConfiguration"] == {"level": "error"}
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places == [
        {"artifactLocation": {"uri": "../engine/memos/a%20b.openthing"}, "region": {"startLine": 2}},
        {"artifactLocation": {"uri": "../engine/memos/read/z.openthing"}},
        {"artifactLocation": {"uri": "example-org/governance/memos/inbox/x.openthing"}, "region": {"startLine": 7}},
        {"artifactLocation": {"uri": "example-org/governance/memos/inbox/y.openthing"}, "region": {"startLine": 3}},
    ]
    assert [result["level"] for result in run["results"]] == ["note", "warning", "error", "error"]
    (run,) = check(to_sarif((), version="0.1.0", root_of={}))["runs"]
    assert run["results"] == []
    by_id = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    json_rule = by_id["json-invalid"]
    assert json_rule["helpUri"] == "https://www.rfc-editor.org/rfc/rfc8259"
    assert json_rule["help"]["markdown"] == (
        f"{json_rule['help']['text']} Source: [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259), 2; SPEC 2.2."
    )
    with_address = {id_ for id_, rule in by_id.items() if "helpUri" in rule or "markdown" in rule["help"]}
    assert with_address == {rule.id for rule in ALL_RULES if "RFC" in rule.clause}
    other = replace(LATE, broken_clause="memory-layer format")
    results = check(to_sarif((LATE, other), version="0.1.0", root_of=ROOTS))["runs"][0]["results"]
    assert [result.get("properties") for result in results] == [None, {"clause": "memory-layer format"}]
    assert "(memory-layer format)" in to_text((LATE, other), root_of=ROOTS)
    assert [one["clause"] for one in json.loads(to_json((LATE, other)))][1] == "memory-layer format"


@settings(deadline=None, max_examples=40)
@given(
    source=st.text(max_size=8),
    path=st.text(st.characters(), min_size=1),
    message=st.text(st.characters()),
    line=st.none() | st.integers(1),
)
def test_any_text_makes_a_report_that_can_be_written(source: str, path: str, message: str, line: int | None) -> None:
    """Whatever is in a name or a message, each report is UTF-8, and one line of text stays one line."""
    finding = found(rules.GHOST, message, source, path, line)
    check(to_sarif([finding], version="0.1.0", root_of={source: "r"}))
    assert json.loads(to_json([finding]))[0]["rule"] == "ghost"
    text = to_text([finding], root_of={})
    for report in (text, to_json([finding]), to_sarif([finding], version="0", root_of={})):
        report.encode("utf-8")
    assert len(text.splitlines()) == 3


def test_a_note_never_fails() -> None:
    """Errors fail at `error`, warnings too at `warning`, nothing at `never`."""

    def failing(*findings: Finding) -> list[str]:
        severities = [finding.severity for finding in findings]
        return [one for one in get_args(Threshold) if fails(iter(severities), one)]

    assert [failing(*found) for found in ((), (GHOST,), (SPLIT, GHOST), (LATE,), SOME)] == [
        [], [], ["warning"], ["error", "warning"], ["error", "warning"]
    ]  # fmt: skip
