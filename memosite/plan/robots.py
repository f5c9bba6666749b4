"""Plans the files that robots read at the top of a site: `llms.txt` and the sitemap."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from memosite.archive.model import Artifact
from memosite.archive.urls import absolute, month_page, page_of, system_page
from memosite.plan.context import Context
from memosite.plan.dates import month_name
from memosite.plan.files import Written

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


def _all_positions(number: int) -> Iterator[str]:
    if number > _POSITIONS:
        yield f"- [All {number} positions](org/index.html)"


def plan_for_robots(context: Context, months: Iterable[str]) -> Iterator[Written]:
    """`llms.txt`, and with a base_url the index of the sitemap, whose files are those of the months."""
    months = tuple(months)
    archive, base = context.archive, context.site.base_url
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
        *_all_positions(len(archive.positions)),
        *(f"- [Records of {system}]({system_page(system)}index.md)" for system in context.records),
        "",
        "## Months",
        "",
        *(f"- [{month_name(month)}]({month_page(month)}index.md)" for month in reversed(months)),
        "",
    ]
    yield Written(path="llms.txt", data="\n".join(lines).encode("utf-8", "replace"))
    if base is None:
        return
    files = "".join(
        f"<sitemap><loc>{escape(absolute(base, _sitemap_path(month)), quote=False)}</loc></sitemap>\n"
        for month in months
    )
    yield Written(path="sitemap.xml", data=f"{_XML}<sitemapindex {_SITEMAP}>\n{files}</sitemapindex>\n".encode())


def month_sitemap(context: Context, month: str, artifacts: Sequence[Artifact]) -> Iterator[Written]:
    """The pages of a month's artifacts as a part of the sitemap; none without a base_url."""
    base = context.site.base_url
    if base is not None:
        pages = "".join(
            f"<url><loc>{escape(absolute(base, page_of(one)), quote=False)}</loc></url>\n" for one in artifacts
        )
        yield Written(path=_sitemap_path(month), data=f"{_XML}<urlset {_SITEMAP}>\n{pages}</urlset>\n".encode())


def _sitemap_path(month: str) -> str:
    """The path of the sitemap of a month."""
    return f"sitemap-{month.replace('/', '-')}.xml"
