"""What commands print: findings as text, JSON and SARIF, the summary of a build, hits, what is withheld.

Findings are sorted by place, whatever order they come in. Text that comes from files is escaped, so that no
finding can write over the terminal it is shown on. None of the reports ends in a line break.
"""

import argparse
import posixpath
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from memosite.archive.mailboxes import action_word
from memosite.archive.model import Archive
from memosite.archive.urls import absolute
from memosite.commands.arguments import Tell
from memosite.commands.places import shown_path, site_of
from memosite.config.schema import Config
from memosite.facts.characters import masked, printable, printable_json
from memosite.facts.errors import SecretsError
from memosite.facts.findings import Finding, Rule, Severity, read_clause
from memosite.facts.parsed import Ref
from memosite.facts.patterns import regex
from memosite.facts.rules import failures, withheld_for_secrets
from memosite.facts.texts import counted, cut_line
from memosite.formats.systems import ALL_RULES

if TYPE_CHECKING:
    from memosite.remake.report import BuildReport
    from memosite.search.answer import Query, SearchResults
    from memosite.search.match import Hit

# Lists that are cut, for what commands print.


def limited(lines: Sequence[str], limit: int) -> Iterator[str]:
    """The first of some lines, and how many more there are."""
    yield from lines[:limit]
    if len(lines) > limit:
        yield f"and {len(lines) - limit} more"


# Says what is not published for a secret, what to do then, and which command names every finding.


_MOST = 10
"""How many files are named."""


def check_of(options: argparse.Namespace, config: Config) -> str:
    """The same, with the audience if `check` would choose another one without it."""
    return check_command(options, config.audience if options.audience or len(config.outputs) > 1 else "")


def check_command(options: argparse.Namespace, audience: str) -> str:
    """The command that finds what this one found, with the options that lead to it; `audience` is "" if it needs none.

    It is to be typed in the current folder.
    """
    words = ["memosite", "check", shown_path(site_of(options))]
    words += ["--audience", audience] if audience else []
    words += ["--secrets", options.secrets] if options.secrets else []
    words += ["--cache", str(options.cache)] if options.cache else []
    return printable(shlex.join(words))


def withheld_lines(places: Sequence[str], check: str, *, head: str = "") -> Iterator[str]:
    """What is not published for a secret: how much, a line each, and what to do now; `check` names all of it."""
    if not places:
        return
    yield head or _withheld_count(places)
    yield from map(printable, limited(places, _MOST))
    yield f"rotate the keys; then redact the sources or allow them ({check})"


def secrets_lines(options: argparse.Namespace, error: SecretsError) -> Iterator[str]:
    """What is said of secrets for which a command does nothing."""
    check = check_command(options, options.audience or error.audience)
    return (f"memosite: {line}" for line in withheld_lines(error.places, check, head=error.said))


def say_withheld(places: Sequence[str], options: argparse.Namespace, config: Config, say: Tell) -> None:
    """Say in one short line what is not published for a secret, for a command whose result is another."""
    if places:
        them = "it" if len(places) == 1 else "them"
        say(f"memosite: {_withheld_count(places)}; {check_of(options, config)} names {them}")


def say_failures(failed: Sequence[str], say: Tell) -> bool:
    """Say what could not be read; whether all could."""
    for source in failed:
        say(f"memosite: failed: {printable(source)}")
    return not failed


def say_lacking(
    archive: Archive, options: argparse.Namespace, config: Config, say: Tell, *, left_out: Sequence[str] = ()
) -> bool:
    """Say what an archive lacks: sources that could not be read, or are left out, and what is withheld for a secret.

    Returns whether all sources could be read.
    """
    is_whole = say_failures((*failures(archive.all_findings), *left_out), say)
    say_withheld(withheld_for_secrets(archive.all_findings), options, config, say)
    return is_whole


def _withheld_count(places: Sequence[str]) -> str:
    """Of a list or a log only some records or turns are withheld."""
    return f"something in {counted(len(places), 'file')} is withheld for a secret"


# Formats findings as text for people and editors, as JSON, and as SARIF 2.1.0 for code scanning.


SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


Threshold = Literal["error", "warning", "never"]


_NOT_A_BYTE = regex("[\ud800-\udc7f\udd00-\udfff]")
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
        spec = printable(contract)
        sources = f"SPEC n is section n of {spec}/memosite.md; {spec}/README.md lists the others"
        lines.append(f"Sources: {sources}. A built site shows both at spec/index.html.")
    counts = Counter(finding.severity for finding in ordered)
    count = ", ".join(counted(counts[severity], severity) for severity in Severity) if ordered else "no findings"
    return "\n".join([*lines, count])


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
    address = next((clause.address for clause in cited if clause.address), None)
    linked = "; ".join(
        f"[{clause.document}]({clause.address}){clause.place}" if clause.address else clause.written for clause in cited
    )
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


# Writes the summary of a build, which its command prints at its end.


_LEDGER_LOST = (
    "archive/ledger.jsonl: found none in a site that memosite made, expected that of the last build. A new one was "
    "written: addresses and feed ids may have changed. Restore the old one from a backup and build again"
)


_TAKEN_BACK = (
    "warning   {count} published before {are} withheld now, and removed from this site. Copies elsewhere remain: "
    "rotate what was secret in {it}, publish this site, purge caches, and remove {it} from the host's history"
)


_SHOWN = 20


_NO_ADDRESS = (
    "address   none: feeds have paths instead of links (base_url in memosite.yml is where a site is published)"
)


def summary(
    report: "BuildReport",
    *,
    index: str,
    check: str,
    audience: str = "",
    is_seen: bool = False,
    asks_for_address: bool = False,
) -> str:
    """What a build did, in four lines: read, written, findings, where to look; and for which audience, if given.

    `asks_for_address` adds what a site lacks that does not know its address.
    Names of what was published and is withheld now are told only where `is_seen` by a person.
    """
    what = ", ".join(counted(number, kind) for kind, number in report.kinds.items()) or "nothing"
    findings = ", ".join(counted(report.findings.get(name, 0), name) for name in Severity)
    changed = f"{counted(report.written, 'file')}, {report.unchanged} unchanged"
    changed += f", {report.removed} removed" if report.removed else ""
    hint = f"  ({check})" if report.findings else ""
    secrets, files = report.redacted
    return "\n".join(
        (
            *([f"audience  {audience}"] if audience else ()),
            f"read      {what} from {counted(report.sources, 'source')}",
            f"written   {changed}",
            *(printable(f"failed    {source}") for source in report.failed),
            *(f"not read  {printable(line)}" for line in limited(report.unread, _MOST)),
            *(f"{'' if n else 'withheld':<10}{line}" for n, line in enumerate(withheld_lines(report.withheld, check))),
            *([f"redacted  {counted(secrets, 'secret')} in {counted(files, 'file')}"] if secrets else ()),
            *(f"skipped   {path}: two pages share this path; please report this bug" for path in report.collisions),
            *([f"warning   {index.removesuffix('index.html')}{_LEDGER_LOST}"] if report.is_ledger_lost else ()),
            *_taken_back(report.taken_back, is_seen=is_seen),
            f"findings  {findings}{hint}" if report.findings else "findings  none",
            *([_NO_ADDRESS] if asks_for_address else ()),
            f"done      in {report.seconds:.1f} s: {index}",
        )
    )


def _taken_back(refs: Sequence[Ref], *, is_seen: bool) -> Iterator[str]:
    if not refs:
        return
    are, it = ("is", "it") if len(refs) == 1 else ("are", "them")
    yield _TAKEN_BACK.format(count=counted(len(refs), "item"), are=are, it=it)
    if not is_seen:
        yield "          names are listed only on a terminal, since logs may be public; the published site's"
        yield "          archive/ledger.jsonl has them"
        return
    yield from (printable(f"          {line}") for line in limited([" ".join(ref) for ref in refs], _SHOWN))


# Formats search results for the command line: as text and as JSON.


_STATUS_CHARS = 60


_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def as_text(found: "SearchResults", *, base_url: str | None, color: bool) -> str:
    """The hits for people: subject, who and when, excerpt, address and path; the words bold, or between `*`."""
    if not found.total:
        hint = f"; did you mean {' or '.join(found.hints)}?" if found.hints else ""
        return f"no results{hint}"
    blocks = ["\n  ".join(filter(None, _lines(hit, base_url=base_url, color=color))) for hit in found.hits]
    shown, total = len(found.hits), found.total
    many = counted(total, "result", ",")
    end = many if shown == total else f"{many}, the first {shown} shown (--limit N)"
    return "\n\n".join((*blocks, end))


def _lines(hit: "Hit", *, base_url: str | None, color: bool) -> Iterator[str]:
    opening, closing = (_BOLD, _PLAIN) if color else ("*", "*")
    yield masked(hit.short_subject)
    state = action_word(hit.status) if hit.kind == "memo" else cut_line(hit.status, _STATUS_CHARS)
    yield masked(" · ".join(filter(None, (hit.day or "no date", hit.kind, hit.who, hit.label, state, hit.owing))))
    pieces = ((masked(piece.text), piece.is_marked) for piece in hit.excerpt)
    yield "".join(f"{opening}{text}{closing}" if is_marked else text for text, is_marked in pieces)
    yield masked(_address(hit, base_url))
    yield masked(hit.path)


def _address(hit: "Hit", base_url: str | None) -> str:
    """Where the hit is published: an address, or its file below the site for a site without one."""
    page, mark, anchor = hit.file.partition("#")
    return absolute(base_url, page.removesuffix("index.html")) + mark + anchor if base_url else hit.file


def as_json(found: "SearchResults", query: "Query", *, base_url: str | None) -> str:
    """The results as JSON: one object with `total` and `hits`; an excerpt is pieces of text and whether marked."""
    hits = [
        {
            "kind": hit.kind,
            "id": hit.id,
            "turn": hit.turn or None,
            "system": hit.system,
            "short_subject": hit.short_subject,
            "who": hit.who,
            "date": hit.date or None,
            "url": _address(hit, base_url),
            "path": hit.path,
            "status": hit.status or None,
            "waits_for": hit.waits_for.split(),
            "waits_for_total": hit.waiting,
            "excerpt": [[piece.text, piece.is_marked] for piece in hit.excerpt],
        }
        for hit in found.hits
    ]
    value = {"v": 1, "query": query.text, "total": found.total, "hits": hits, "did_you_mean": list(found.hints)}
    return printable_json(value, indent=1)
