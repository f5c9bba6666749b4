"""Formats findings as text for people and editors, as JSON, and as SARIF 2.1.0 for code scanning.

Findings are sorted by place, whatever order they come in. Text that comes from files is escaped, so that no
finding can write over the terminal it is shown on. None of the reports ends in a line break.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal
from urllib.parse import quote

from memosite.facts.characters import printable, printable_json
from memosite.facts.clauses import read_clause
from memosite.facts.findings import Finding, Rule, Severity
from memosite.formats.systems import ALL_RULES

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Threshold = Literal["error", "warning", "never"]

_NOT_A_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Lone surrogates that do not stand for a byte of a file's name (PEP 383)."""


def fails(severities: Iterable[str], threshold: Threshold) -> bool:
    """Whether a command that fails at a severity fails for findings of these. A note never fails (SPEC 8)."""
    bad = {"error": {Severity.ERROR}, "warning": {Severity.ERROR, Severity.WARNING}, "never": set()}[threshold]
    return not bad.isdisjoint(severities)


def to_text(findings: Iterable[Finding], *, root_of: Mapping[str, str], contract: str = "") -> str:
    """One line a finding, as compilers write it, and a line that counts them.

    `root_of` gives, by source, its folder as seen from the current one, so that editors can open each place; a
    source without an entry is shown by its name. A finding on a whole file points at line 1, since editors skip
    what has no line. Below the first finding of each rule are its remedy and the clause it breaks.
    `contract` is the folder in which clauses can be read; it is named once, if there are any.
    """
    ordered = _sorted(findings)
    explained: set[tuple[str, str]] = set()
    lines = []
    for finding in ordered:
        place = f"{_path_of(finding, root_of)}:{finding.location.line or 1}"
        lines.append(printable(f"{place}: {finding.severity}: {finding.message} [{finding.rule.id}]"))
        if (finding.rule.id, finding.clause) not in explained:
            explained.add((finding.rule.id, finding.clause))
            lines.append(f"    {finding.remedy} ({finding.clause})")
    if contract and any(clause for _, clause in explained):
        lines.append(_where(printable(contract)))
    return "\n".join([*lines, _count(ordered)])


def _where(contract: str) -> str:
    """Where the documents that findings name can be read."""
    main = f"SPEC n is section n of {contract}/memosite.md"
    return f"Sources: {main}; {contract}/README.md lists the others. A built site shows both at spec/index.html."


def _count(findings: list[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    parts = [f"{counts[severity]} {severity}{'' if counts[severity] == 1 else 's'}" for severity in Severity]
    return ", ".join(parts) if findings else "no findings"


def to_json(findings: Iterable[Finding]) -> str:
    """A JSON array with one object a finding; `line` is null where it is not known, `path` relative to the source."""
    objects = [
        {
            "rule": finding.rule.id,
            "severity": str(finding.severity),
            "source": finding.location.source,
            "path": finding.location.path,
            "line": finding.location.line,
            "message": finding.message,
            "remedy": finding.remedy,
            "clause": finding.clause,
        }
        for finding in _sorted(findings)
    ]
    return printable_json(objects, indent=2)


def to_sarif(findings: Iterable[Finding], *, version: str, root_of: Mapping[str, str]) -> str:
    """A SARIF 2.1.0 log with one run; `version` is memosite's, `root_of` as in `to_text`.

    All rules are listed, so that a viewer can explain also what was not found. Addresses are relative to the
    current folder wherever a source's root is.
    """
    index = {rule.id: number for number, rule in enumerate(ALL_RULES)}
    driver = {"name": "memosite", "version": version, "rules": [_sarif_rule(rule) for rule in ALL_RULES]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            {
                "ruleId": finding.rule.id,
                "ruleIndex": index[finding.rule.id],
                "level": str(finding.severity),
                "message": {"text": finding.message or finding.rule.meaning},
                "locations": [{"physicalLocation": _sarif_place(finding, root_of)}],
                **({"properties": {"clause": finding.broken_clause}} if finding.broken_clause else {}),
            }
            for finding in _sorted(findings)
        ],
    }
    return printable_json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    """A rule, with the address of a document that it rests on, where its publisher's is known."""
    cited = read_clause(rule.clause)
    address = next((one.address for one in cited if one.address), None)
    linked = "; ".join(f"[{one.document}]({one.address}){one.place}" if one.address else one.written for one in cited)
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.meaning},
        "fullDescription": {"text": f"{rule.meaning} Source: {rule.clause}."},
        "help": {"text": rule.remedy} | ({"markdown": f"{rule.remedy} Source: {linked}."} if address else {}),
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": str(rule.severity)},
    }


def _sarif_place(finding: Finding, root_of: Mapping[str, str]) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(_path_of(finding, root_of))}}
    if finding.location.line:
        place["region"] = {"startLine": finding.location.line}
    return place


def _uri(path: str) -> str:
    """A path as a URI reference (RFC 3986): the bytes of the file's name, percent-encoded; `file:` if absolute."""
    data = _NOT_A_BYTE.sub("\ufffd", path).encode("utf-8", "surrogateescape")
    return ("file://" if path.startswith("/") else "") + quote(data, safe="/~")


def _path_of(finding: Finding, root_of: Mapping[str, str]) -> str:
    where = finding.location
    return posixpath.normpath(posixpath.join(root_of.get(where.source, where.source), where.path.lstrip("/")))


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.sort_key)
