"""Plans what programs and robots read: the archive as lines of JSON, `llms.txt`, sitemap, sealed log, images."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from html import escape

from memosite.archive import urls
from memosite.archive.cite import position_names
from memosite.archive.history import LifeEvent
from memosite.archive.ledger import Ledger, ref_of
from memosite.archive.lines import artifact_line, dump_line
from memosite.archive.model import Artifact, Memo, Record, Transcript
from memosite.archive.seals import SEALS_PATH, Leaf, SealLog
from memosite.facts.json_text import to_json
from memosite.facts.names import WITHHELD
from memosite.pages import Reference, Seal
from memosite.plan.artifact_page import originals
from memosite.plan.context import Context, Stored, Written
from memosite.plan.dates import month_name

# Plans the archive for programs: `archive/index.json`, and every artifact as a line of JSON, a file a month.


def archive_index(context: Context, months: Mapping[str, Sequence[Artifact]]) -> Written:
    """The index of the archive by month, with what its ids in feeds are made of."""
    archive, bundles = context.archive, _bundles_by_month(context)
    readable = {month: sum(not one.is_broken for one in artifacts) for month, artifacts in months.items()}
    index = {
        "v": 1,
        "archive_id": context.archive_id,
        "authority": context.authority,
        "title": context.site.title,
        "generator": context.site.generator,
        "artifacts": len(archive.artifacts),
        "unreadable": len(archive.artifacts) - sum(readable.values()),
        "sources": [source.name for source in archive.sources],
        "positions": list(archive.positions),
        "position_names": dict(sorted(position_names(archive).items())),
        "months": [
            {"month": month, "artifacts": number, "lines": f"{month}.jsonl", **bundles.get(month, {})}
            for month, number in readable.items()
        ],
        "ledger": "ledger.jsonl",
        "seals": "seals.jsonl",
    }
    return Written(path="archive/index.json", data=to_json(index))


def _bundles_by_month(context: Context) -> dict[str, dict[str, list[dict[str, str]]]]:
    """The files of the bundles of each month, as the index has them."""
    found: dict[str, dict[str, list[dict[str, str]]]] = {}
    for bundle in dict.fromkeys(context.bundles.values()):
        files = {
            "json": urls.bundle_twins(bundle, "json"),
            "md": urls.bundle_twins(bundle, "md"),
            "files": urls.bundle_files(bundle),
        }
        listed = found.setdefault(bundle.rpartition("/")[0], {"bundles": []})["bundles"]
        listed.append({name: urls.relative("archive/", path) for name, path in files.items()})
    return found


def month_lines(context: Context, month: str, artifacts: Iterable[Artifact]) -> Written:
    """The readable artifacts of a month, in order of arrival."""
    lines = (
        dump_line(artifact_line(one, context.archive, base_url=context.site.base_url))
        for one in artifacts
        if not one.is_broken
    )
    return Written(path=urls.archive_lines(month), data="".join(f"{line}\n" for line in lines).encode())


# Plans the files that robots read at the top of a site: `llms.txt` and the sitemap.


_POSITIONS = 100  # the most that `llms.txt` names


_BESIDE = (
    "> Items, threads, positions, months, actions, decisions and systems have JSON and Markdown:",
    "> index.json and index.md beside index.html.",
)


_BUNDLED = (
    "> Positions, months, actions, decisions and systems have JSON and Markdown: index.json and index.md beside",
    "> index.html. Those of items and threads are bundled by month: archive/2026/05/twins-1.jsonl has one in each",
    "> line, with its key; twins-1.md has the same as Markdown. Each page links to its own, with the key after the #.",
    "> Original files are beside them, in files-1.zip. archive/index.json lists all bundles.",
)


_COMMANDS = "> Who has the repos can ask for less: memosite brief POSITION, memosite search WORDS, memosite show ID."


_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'


_SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def plan_for_robots(context: Context, months: Iterable[str]) -> Iterator[Written]:
    """`llms.txt`, and with a base_url the index of the sitemap, whose files are those of the months."""
    months = tuple(months)
    archive, base = context.archive, context.site.base_url
    is_cut = len(archive.positions) > _POSITIONS
    lines = [
        f"# {context.site.title}",
        "",
        "> An archive of memos, notes, transcripts and documents.",
        *(_BUNDLED if context.site.is_lean else _BESIDE),
        _COMMANDS,
        "",
        "## Where to begin",
        "",
        "- [Actions](actions/index.md): open actions and the others, by state",
        "- [Citations](citations/index.html): who cites what of this archive, and what no longer holds",
        "- [Feeds](feeds/index.html): how to subscribe to new memos",
        "- [Machine's archive](archive/index.json): every item, a JSON object a line, a file a month",
        "- [Sealed log](archive/seals.jsonl): the hash of every original, sealed month by month",
        *(
            f"- [Memos of {context.label(id_)}](positions/{id_}/index.md)"
            for id_ in list(archive.positions)[:_POSITIONS]
        ),
        *([f"- [All {len(archive.positions)} positions](org/index.html)"] if is_cut else []),
        *(f"- [Records of {system}]({urls.system_page(system)}index.md)" for system in context.records),
        *(f"- [Sessions in {here.split('/')[1]}]({here}index.md)" for here in sorted(context.sessions)),
        "",
        "## Months",
        "",
        *(f"- [{month_name(month)}]({urls.month_page(month)}index.md)" for month in reversed(months)),
        "",
    ]
    yield Written(path="llms.txt", data="\n".join(lines).encode("utf-8", "replace"))
    if base is None:
        return
    files = "".join(
        f"<sitemap><loc>{escape(urls.absolute(base, _sitemap_path(month)), quote=False)}</loc></sitemap>\n"
        for month in months
    )
    yield Written(path="sitemap.xml", data=f"{_XML}<sitemapindex {_SITEMAP}>\n{files}</sitemapindex>\n".encode())


def month_sitemap(context: Context, month: str, artifacts: Sequence[Artifact]) -> Iterator[Written]:
    """The pages of a month's artifacts as a part of the sitemap; none without a base_url."""
    base = context.site.base_url
    if base is not None:
        pages = "".join(
            f"<url><loc>{escape(urls.absolute(base, urls.page_of(one)), quote=False)}</loc></url>\n"
            for one in artifacts
        )
        yield Written(path=_sitemap_path(month), data=f"{_XML}<urlset {_SITEMAP}>\n{pages}</urlset>\n".encode())


def _sitemap_path(month: str) -> str:
    """The path of the sitemap of a month."""
    return f"sitemap-{month.replace('/', '-')}.xml"


# Plans the sealed log: which leaves what is published now adds to it (docs/sealed-log.md).


_PLACEHOLDERS = ("[REDACTED:", WITHHELD)


def continued(context: Context, ledger: Ledger, log: SealLog) -> SealLog:
    """The log with what is new: originals in order of arrival, then those that changed, then those that are gone.

    It knows nothing that the ledger does not: where that begins anew, as when something published is withheld from an
    audience, so does the log.
    """
    begun = log if ledger.published else SealLog()
    known = begun.latest()
    new: list[Leaf] = []
    changed: list[Leaf] = []
    seen: set[str] = set()
    may_hide = ledger.audience != "internal"
    for artifact in context.archive.artifacts.values():
        for _, path, sha256 in originals(artifact):
            seen.add(path)
            before = known.get(path)
            if before is None or before.sha256 != sha256:
                leaf = _leaf(context, artifact, path, sha256, is_new=before is None, may_hide=may_hide)
                (new if before is None else changed).append(leaf)
    gone = _gone(context, (leaf for path, leaf in known.items() if path not in seen))
    return begun.without_hashes(_guessable(context, begun, changed)).with_leaves((*new, *changed, *gone))


def _leaf(context: Context, artifact: Artifact, path: str, sha256: str, *, is_new: bool, may_hide: bool) -> Leaf:
    source, event = _commit(artifact, sha256)
    received = [copy.received for copy in artifact.copies if copy.received]
    arrived = min(received, key=lambda moment: moment.instant, default=artifact.date)
    moment = arrived if is_new else event.at if event else None
    text = context.text_of(sha256) if may_hide or artifact.is_redacted else ""
    return Leaf(
        id="/".join(artifact.ref),
        path=path,
        sha256=sha256,
        month=f"{moment.instant.year:04d}/{moment.instant.month:02d}" if moment else "",
        source=source,
        commit=event.commit if event else "",
        redacted=sum(text.count(mark) for mark in _PLACEHOLDERS),
    )


def _commit(artifact: Artifact, sha256: str) -> tuple[str, LifeEvent | None]:
    """The commit that made the bytes of an original, with its source; None if they are in none, or it is not known."""
    files = [copy.file for copy in artifact.copies]
    if isinstance(artifact, Memo | Transcript):
        files += [variant.body.file for variant in artifact.variants if variant.body]
    blobs = {file.blob for file in files if file.sha256 == sha256 and file.blob}
    is_part = isinstance(artifact, Record) and not blobs  # the text of an entry, whose history is its own
    for copy in artifact.copies:
        for event in reversed(copy.life.events if copy.life else ()):
            if is_part or event.after in blobs:
                return copy.file.source, event
    return "", None


def _gone(context: Context, leaves: Iterable[Leaf]) -> Iterator[Leaf]:
    """The leaves on originals that are not published any more, unless the log says so already."""
    for leaf in leaves:
        ref = ref_of(leaf.id)
        artifact = context.archive.artifacts.get(ref)
        withheld = artifact.withheld if artifact else context.archive.erased.get(ref)
        why = withheld.word if withheld else "removed"
        if leaf.sha256 or (withheld and leaf.why != why):
            yield Leaf(id=leaf.id, path=leaf.path, why=why)


def _guessable(context: Context, log: SealLog, changed: Sequence[Leaf]) -> Set[int]:
    """The leaves with a hash by which a secret could be guessed (SPEC 9): no hash of these may stay.

    Those of what is withheld or erased for a secret, and those of bytes in which less was redacted than now.
    """
    redacted = {leaf.path: leaf.redacted for leaf in changed if leaf.redacted}
    present = ((artifact.ref, artifact.withheld) for artifact in context.archive.artifacts.values())
    hidden = {
        "/".join(ref)
        for ref, withheld in (*present, *context.archive.erased.items())
        if withheld and withheld.hides_hashes
    }
    if not redacted and not hidden:
        return frozenset()
    hashes = {
        leaf.sha256
        for leaf in log.leaves
        if leaf.sha256 and (leaf.id in hidden or leaf.redacted < redacted.get(leaf.path, 0))
    }
    return {leaf.number for leaf in log.leaves if leaf.sha256 in hashes}  # files of many entries are in several leaves


def plan_seal(log: SealLog) -> Seal:
    """What the health page says of the log."""
    newest = log.months[-1] if log.months else None
    return Seal(
        log=Reference(label=SEALS_PATH.rpartition("/")[2], href=urls.relative(urls.HEALTH, SEALS_PATH)),
        month=month_name(newest.month) if newest else "",
        root=newest.root if newest else "",
        sealed=newest.leaves if newest else 0,
        waiting=len(log.leaves) - (newest.leaves if newest else 0),
    )


# Plans the files of the images that texts show, each once (SPEC 4).


def plan_images(context: Context) -> Iterator[Stored]:
    """The images of all artifacts."""
    images = (one for artifact in context.archive.artifacts.values() for one in artifact.images if one.sha256)
    found = {urls.image_file(one.sha256, one.form): one.sha256 for one in images}
    yield from (Stored(path=path, sha256=digest) for path, digest in sorted(found.items()))
