"""Formats search results for the command line: as text and as JSON."""

from collections.abc import Iterator

from memosite.archive.urls import absolute
from memosite.facts.characters import masked, printable_json
from memosite.facts.texts import cut_line
from memosite.search.answer import Query, SearchResults
from memosite.search.hits import Hit

_STATUS_CHARS = 60
_STATES = {"discharged": "closed"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def as_text(found: SearchResults, *, base_url: str | None, color: bool) -> str:
    """The hits for people: subject, who and when, excerpt, address and path; the words bold, or between `*`."""
    if not found.total:
        hint = f"; did you mean {' or '.join(found.hints)}?" if found.hints else ""
        return f"no results{hint}"
    blocks = ["\n  ".join(filter(None, _lines(hit, base_url=base_url, color=color))) for hit in found.hits]
    shown, total = len(found.hits), found.total
    many = f"{total:,} {'result' if total == 1 else 'results'}"
    end = many if shown == total else f"{many}, the first {shown} shown (--limit N)"
    return "\n\n".join((*blocks, end))


def _lines(hit: Hit, *, base_url: str | None, color: bool) -> Iterator[str]:
    opening, closing = (_BOLD, _PLAIN) if color else ("*", "*")
    yield masked(hit.subject)
    yield masked(" · ".join(filter(None, (hit.day or "no date", hit.kind, hit.who, hit.label, *_state(hit)))))
    pieces = ((masked(piece.text), piece.is_marked) for piece in hit.excerpt)
    yield "".join(f"{opening}{text}{closing}" if is_marked else text for text, is_marked in pieces)
    yield masked(_address(hit, base_url))
    yield masked(hit.path)


def _state(hit: Hit) -> Iterator[str]:
    """The state of a memo's action or the status of another item, and who owes an answer."""
    yield _STATES.get(hit.status, hit.status) if hit.kind == "memo" else cut_line(hit.status, _STATUS_CHARS)
    yield hit.owing


def _address(hit: Hit, base_url: str | None) -> str:
    """Where the hit is published: an address, or its file below the site for a site without one."""
    page, mark, anchor = hit.file.partition("#")
    return absolute(base_url, page.removesuffix("index.html")) + mark + anchor if base_url else hit.file


def as_json(found: SearchResults, query: Query, *, base_url: str | None) -> str:
    """The results as JSON: one object with `total` and `hits`; an excerpt is pieces of text and whether marked."""
    hits = [
        {
            "kind": hit.kind,
            "id": hit.id,
            "turn": hit.turn or None,
            "system": hit.system,
            "short_subject": hit.subject,
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
