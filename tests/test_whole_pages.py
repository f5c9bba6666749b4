"""Nothing is left off a page silently: what has no date, what is too much, what memosite has no use for (SPEC 2.2)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import html

from memosite.facts import Ref
from memosite.ledger import Ledger
from memosite.model import Archive
from memosite.pages import Page
from memosite.plan import Context, plan
from memosite.render import Renderer
from memosite.shelf import Shelf
from tests.small_repos import read_repos, write_file
from tests.test_record_pages import SITE, TEXTS, THEME, planned, record


def words(page: Page | Any) -> str:
    """All the words of a rendered page, on one line."""
    tree = html.fromstring(Renderer(THEME, TEXTS.__getitem__).render(page).decode())
    return " ".join(tree.text_content().split())


def mentioned(*by: tuple[str, str | None]) -> Any:
    """The page of a record that these mention; each is a key, and whether it has a date."""
    others = [
        replace(record(key, system="wyren"), **({} if date else {"date": None}))  # type: ignore[arg-type]
        for key, date in by
    ]
    refs: tuple[Ref, ...] = tuple(one.ref for one in others)
    return planned(record("0a", system="mif", backlinks=refs), *others)["records/mif/quay.0a/index.html"]


def test_what_mentions_an_artifact_is_listed_without_a_date_too() -> None:
    """The bullets of a memory seldom have one."""
    page = mentioned(("decisions.1", "2026-05-01"), ("decisions.2", None))
    assert [row.subject for row in page.backlinks] == ["Title of decisions.1", "Title of decisions.2"]


def test_of_many_that_mention_an_artifact_the_rest_is_counted_and_linked() -> None:
    """The twin has all of them."""
    page = mentioned(*((f"decisions.{number}", "2026-05-01") for number in range(201)))
    assert (len(page.backlinks), page.backlinks_total) == (200, 201)
    assert "The newest 200 of 201. All of them: json, md." in words(page)


def test_what_a_record_says_of_a_relation_stands_beside_it_at_both_ends(tmp_path: Path) -> None:
    """A reason, the day of a resolution, the words of a link; not those that the target's title repeats."""
    write_file(tmp_path / "quay", "a.memory.md", _memory("a1", "The gate", _RELATIONS))
    write_file(tmp_path / "quay", "b.memory.md", _memory("b2", "The mole"))
    with read_repos(tmp_path / "quay") as (archive, shelf):
        found = _pages(archive, shelf)
    a, b = (found[f"records/mif/quay.{key}/index.html"] for key in ("a1", "b2"))
    assert [(one.predicate, one.label) for one in a.relations] == [
        ("derived from", "copied in 2026"),
        ("conflicts with", "resolved 2026-01-23"),
        ("uses", ""),
    ]
    assert [one.label for one in b.relations] == ["resolved 2026-01-23", "copied in 2026", ""]
    twin = json.loads(found["records/mif/quay.a1/index.json"].data)
    assert [one["label"] for one in twin["record"]["relations"]] == ["copied in 2026", "resolved 2026-01-23", "The mole"]


_RELATIONS = """\
relationships:
  - {type: derived-from, target: b2, label: copied in 2026}
conflicts:
  - {memory_id: b2, resolution: merged, resolved_at: 2026-01-23}
"""


def _memory(id_: str, title: str, fields: str = "") -> str:
    head = f"id: {id_}\ntype: semantic\ncreated: 2026-01-24T10:30:00Z\nnamespace: gates/project\ntitle: {title}\n"
    return f"---\n{head}{fields}---\n\n# {title}\n" + ("\n- uses [[b2|The mole]]\n" if fields else "")


def _pages(archive: Archive, shelf: Shelf) -> dict[str, Any]:
    """Everything that is planned of an archive, by its path."""
    context = Context(archive=archive, site=SITE, read_text=shelf.text)
    arrived = Ledger().with_arrivals((*ref, ref[1]) for ref in archive.artifacts)
    return {one.path: one for one in plan(context, arrived)}


def test_the_bullets_of_a_memory_stand_in_the_order_of_their_file(tmp_path: Path) -> None:
    """Without dates nothing else says what belongs together; ids are hashes."""
    bullets = [f"Rule {number} of the reading room" for number in range(9)]
    text = "## Decisions\n" + "".join(f"- {bullet} [session 7a2e, turn 1]\n" for bullet in bullets)
    write_file(tmp_path / "quay", ".wyren/memory.md", text)
    with read_repos(tmp_path / "quay") as (archive, shelf):
        found = _pages(archive, shelf)
    for path in ("systems/wyren/index.html", "decisions/index.html"):
        assert [row.subject for row in found[path].sections[0].rows] == bullets
