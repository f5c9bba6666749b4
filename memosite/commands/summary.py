"""Writes what a command prints at its end: the summary of a build, and nouns in singular or plural."""

from typing import TYPE_CHECKING

from memosite.facts.characters import printable

if TYPE_CHECKING:  # reports are slow to import, and nouns need none
    from memosite.remake.report import BuildReport

_LEDGER_LOST = (
    "archive/ledger.jsonl: found none in a site that memosite made, expected that of the last build. A new one was "
    "written: addresses and feed ids may have changed. Restore the old one from a backup and build again"
)


def summary(report: "BuildReport", *, index: str, site: str) -> str:
    """What a build did, in four lines: read, written, findings, where to look."""
    what = ", ".join(f"{number} {plural(kind, number)}" for kind, number in report.kinds.items()) or "nothing"
    sources = f"{report.sources} {plural('source', report.sources)}"
    numbers = {name: report.findings.get(name, 0) for name in ("error", "warning", "note")}
    findings = ", ".join(f"{number} {plural(name, number)}" for name, number in numbers.items())
    changed = f"{report.written} {plural('file', report.written)}, {report.unchanged} unchanged"
    changed += f", {report.removed} removed" if report.removed else ""
    hint = f"  (memosite check {site})" if report.findings else ""
    return "\n".join(
        (
            f"read      {what} from {sources}",
            f"written   {changed}",
            *(printable(f"failed    {source}") for source in report.failed),
            *(f"left out  {path}: two files of the site have one path, please report it" for path in report.collisions),
            *([f"warning   {index.removesuffix('index.html')}{_LEDGER_LOST}"] if report.is_ledger_lost else ()),
            f"findings  {findings}{hint}" if report.findings else "findings  none",
            f"done      in {report.seconds:.1f} s: {index}",
        )
    )


def plural(noun: str, number: int) -> str:
    """A noun in singular or plural, by its number."""
    if number == 1:
        return noun
    return noun[:-1] + "ies" if noun.endswith("ry") else noun + "s"
