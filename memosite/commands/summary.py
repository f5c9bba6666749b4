"""Writes the summary of a build, which its command prints at its end."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memosite.commands.nouns import plural
from memosite.commands.withheld import withheld_lines
from memosite.facts.characters import printable
from memosite.facts.parsed import Ref

if TYPE_CHECKING:  # reports are slow to import
    from memosite.remake.report import BuildReport

_LEDGER_LOST = (
    "archive/ledger.jsonl: found none in a site that memosite made, expected that of the last build. A new one was "
    "written: addresses and feed ids may have changed. Restore the old one from a backup and build again"
)
_TAKEN_BACK = (
    "warning   {count} published before {are} withheld now, and removed from this site. Copies elsewhere remain: "
    "rotate what was secret in {it}, publish this site, purge caches, and remove {it} from the host's history"
)
_SHOWN = 20


def summary(report: "BuildReport", *, index: str, check: str, audience: str = "", is_seen: bool = False) -> str:
    """What a build did, in four lines: read, written, findings, where to look; and for which audience, if given.

    Names of what was published and is withheld now are told only where `is_seen` by a person.
    """
    what = ", ".join(f"{number} {plural(kind, number)}" for kind, number in report.kinds.items()) or "nothing"
    sources = f"{report.sources} {plural('source', report.sources)}"
    numbers = {name: report.findings.get(name, 0) for name in ("error", "warning", "note")}
    findings = ", ".join(f"{number} {plural(name, number)}" for name, number in numbers.items())
    changed = f"{report.written} {plural('file', report.written)}, {report.unchanged} unchanged"
    changed += f", {report.removed} removed" if report.removed else ""
    hint = f"  ({check})" if report.findings else ""
    return "\n".join(
        (
            *([f"audience  {audience}"] if audience else ()),
            f"read      {what} from {sources}",
            f"written   {changed}",
            *(printable(f"failed    {source}") for source in report.failed),
            *_labelled("withheld", withheld_lines(report.withheld, check)),
            *_redacted(*report.redacted),
            *(f"skipped   {path}: two pages share this path; please report this bug" for path in report.collisions),
            *([f"warning   {index.removesuffix('index.html')}{_LEDGER_LOST}"] if report.is_ledger_lost else ()),
            *_taken_back(report.taken_back, is_seen=is_seen),
            f"findings  {findings}{hint}" if report.findings else "findings  none",
            f"done      in {report.seconds:.1f} s: {index}",
        )
    )


def _labelled(label: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines below each other, the first behind a label."""
    return (f"{'' if number else label:<10}{line}" for number, line in enumerate(lines))


def _redacted(secrets: int, files: int) -> Iterator[str]:
    if secrets:
        yield f"redacted  {secrets} {plural('secret', secrets)} in {files} {plural('file', files)}"


def _taken_back(refs: Sequence[Ref], *, is_seen: bool) -> Iterator[str]:
    if not refs:
        return
    are, it = ("is", "it") if len(refs) == 1 else ("are", "them")
    yield _TAKEN_BACK.format(count=f"{len(refs)} {plural('item', len(refs))}", are=are, it=it)
    if not is_seen:
        yield "          names are listed only on a terminal, since logs may be public; the published site's"
        yield "          archive/ledger.jsonl has them"
        return
    yield from (printable(f"          {kind} {id_}") for kind, id_ in refs[:_SHOWN])
    if len(refs) > _SHOWN:
        yield f"          and {len(refs) - _SHOWN} more"
