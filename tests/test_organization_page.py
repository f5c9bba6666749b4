"""The page of the organization: cards with what waits, charters folded, who writes to whom and how soon; charts."""

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from statistics import median_low
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from playwright.sync_api import Browser

from memosite.pages import Reference
from memosite.plan.organization import BOX, MAX_WIDTH, Chart, ChartBox, Edge, Seated, draw, fitted
from tests.support.memos import write_memo, write_org
from tests.support.pages import bad_links
from tests.support.pictures import check_pictures
from tests.support.sites import build_site

START = dt.datetime(2026, 5, 1, 9, tzinfo=dt.UTC)
SPANS = ((0, 24), (24, 24 * 7), (24 * 7, 24 * 30), (24 * 30, 24 * 365))


def page_of(folder: Path) -> Any:
    """The page of the organization of a site folder, built."""
    return lxml_html.parse(build_site(folder, output=folder.parent / "out") / "org/index.html")


def write(repo: Path, number: int, sender: str, to: str | list[str], at: dt.datetime, **fields: Any) -> str:
    """A memo of a moment; gives its file name."""
    first = to if isinstance(to, str) else to[0]
    name = f"{at:%Y-%m-%d-%H%M}--{sender}--{first}--m-{number}"
    write_memo(repo / "memos/inbox", name, sender=sender, to=to, sent=f"{at:%Y-%m-%dT%H:%M:%SZ}", **fields)
    return f"{name}.openthing"


def matrix(page: Any) -> dict[tuple[str, str], str]:
    """The cells of who writes to whom, by sender and recipient."""
    (table,) = page.xpath("//section[@id='who-writes-to-whom']//table")
    to = [cell.text_content() for cell in table.findall("thead/tr/th")[1:]]
    return {
        (row.find("th").text_content(), name): cell.text_content()
        for row in table.findall("tbody/tr")
        for name, cell in zip(to, row.findall("td"), strict=True)
        if cell.text_content()
    }


def duration(seconds: float) -> str:
    """A time as pages say it."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}{'' if seconds < 2 * size else 's'}"
    return "at once"


def test_the_matrix_counts_memos_and_the_median_time_to_answer(tmp_path: Path) -> None:
    """Each memo once for each recipient; the first answer of that recipient counts; nobody answers himself or all."""
    chance, repo = random.Random(3), tmp_path / "site/repo"
    names = ("engineer", "director", "tester")
    counts, waits = Counter[tuple[str, str]](), defaultdict[tuple[str, str], list[float]](list)
    for number in range(0, 90, 3):
        at = START + dt.timedelta(hours=5 * number)
        sender = chance.choice(names)
        to = chance.sample([*names, "all"], chance.randint(1, 3))
        asked = write(repo, number, sender, to, at)
        recipients = [one for one in to if one not in (sender, "all")]
        counts.update((sender, one) for one in recipients)
        if recipients and chance.random() < 0.6:
            answering = chance.choice(recipients)
            for later in sorted(chance.sample(range(1, 4_000), 2)):
                moment = at + dt.timedelta(minutes=later)
                write(repo, number + later % 2 + 1, answering, sender, moment, in_reply_to=asked)
                counts[answering, sender] += 1
            first = min(
                dt.datetime.strptime(path.name[:15], "%Y-%m-%d-%H%M").replace(tzinfo=dt.UTC)
                for path in (repo / "memos/inbox").glob(f"*--{answering}--{sender}--m-*")
                if asked in path.read_text(encoding="utf-8")
            )
            waits[sender, answering].append((first - at).total_seconds())
    expected = {
        pair: f"{number} {duration(median_low(waits[pair]))}" if waits[pair] else str(number)
        for pair, number in counts.items()
    }
    assert len(waits) > 3
    assert matrix(page_of(tmp_path / "site")) == expected


def test_a_large_matrix_says_what_is_not_shown_and_several_organizations_have_contents(tmp_path: Path) -> None:
    """Twelve positions that exchange most; each organization by an anchor, its charter folded."""
    repo = tmp_path / "site/repo"
    for number in range(15):
        for again in range(2 if number < 11 else 1):
            write(repo, 2 * number + again, f"seat-{number:02d}", "director", START + dt.timedelta(hours=number))
    page = page_of(tmp_path / "site")
    assert set(matrix(page).values()) == {"2"} and len(matrix(page)) == 11
    said = " ".join(page.xpath("//section[@id='who-writes-to-whom']/p")[0].text_content().split())
    assert "The 12 positions that exchange most: 22 of 26 memos; 4 other positions not shown." in said
    tmp_path /= "two"
    for name in ("quay", "yard"):
        relationships = [{"from": "b", "to": "a", "type": "reports_to"}]
        positions = [{"id": one, "name": one.upper()} for one in "ab"]
        fields = {"positions": positions, "relationships": relationships, "vision": "Calm. " * 300}
        write_org(tmp_path / f"site/{name}/org", name, **fields)
    write(tmp_path / "site/quay", 1, "a", "b", START)
    page = page_of(tmp_path / "site")
    links = page.xpath("//nav[@class='contents']//a/@href")
    assert links == ["#map", "#org-quay", "#org-yard", "#who-writes-to-whom", "#positions"]
    assert all(len(page.xpath(f"//*[@id='{link[1:]}']")) == 1 for link in links)
    folded = page.xpath("//section[starts-with(@id, 'org-')]/details")
    assert [one.findtext("summary").split()[0].rstrip(":") for one in folded] == ["Relationships", "Charter"] * 2
    assert all("open" not in one.attrib for one in folded)
    assert list(bad_links(tmp_path / "out")) == []
    write_org(tmp_path / "one/quay/org", "quay", positions=[{"id": "a", "name": "A"}])
    page = page_of(tmp_path / "one")
    assert page.xpath("//nav[@class='contents'] | //*[@id='who-writes-to-whom']") == [], "one needs none"


def test_replies_are_a_bar_for_each_position_by_how_long_they_took(tmp_path: Path) -> None:
    """From when the memo was sent; with the median. One reply alone is no picture."""
    repo, taken = tmp_path / "site/repo", [2, 30, 24 * 3, 24 * 8, 24 * 40]
    for number, hours in enumerate(taken):
        asked = write(repo, number, "director", "engineer", START + dt.timedelta(hours=number))
        answered = START + dt.timedelta(hours=number + hours)
        write(repo, 10 + number, "engineer", "director", answered, in_reply_to=asked)
        page = page_of(tmp_path / "site")
        figures = {one.anchor: one.table for one in check_pictures(tmp_path / "out/org/index.html")}
        so_far = taken[: number + 1]
        expected = tuple(sum(low <= one < high for one in so_far) for low, high in SPANS)
        assert figures.get("time-to-reply") == ((expected,) if number else None)
    assert page.xpath("string(//section[@id='replies']//li/*[@class='facts'])") == "5 replies · median 3 days"


def test_several_organizations_are_one_map_with_a_legend(tmp_path: Path) -> None:
    """Each a box above its own positions; what is between them is a lighter line, and no second chart is drawn."""
    edges = [
        {"from": "b", "to": "a", "type": "reports_to"},
        {"from": "b", "to": "external:warden", "type": "reports_to"},
    ]
    for name, ids in (("quay", "ab"), ("yard", ("warden",))):
        positions = [{"id": one, "name": one.upper(), "status": "vacant"} for one in ids]
        relationships = edges if name == "quay" else []
        write_org(tmp_path / f"site/{name}/org", name, positions=positions, relationships=relationships)
    write(tmp_path / "site/quay", 1, "b", "warden", START)
    page = page_of(tmp_path / "site")
    (chart,) = page.xpath("//svg[@role='group']")
    boxes = {str(box.xpath("string(.//text)")): box for box in chart.xpath(".//*[contains(@class, 'box')]")}
    assert set(boxes) == {"Quay", "Yard", "a", "b", "warden"}
    assert [boxes[name].get("href") for name in ("Quay", "Yard")] == ["#org-quay", "#org-yard"]
    assert [path.get("class") for path in chart.findall("path")].count("rank") == 4 - 1
    assert chart.xpath("./path[@class='other']/title/text()") == ["b reports to external:warden"]
    legend = [" ".join(item.text_content().split()) for item in page.xpath("//ul[contains(@class, 'legend')]/li")]
    assert legend == ["organization", "vacant", "reports to, or is part of", "other relationship"]


# Charts: who stands under whom, and that nothing overlaps


def seats(ids: Iterable[str]) -> tuple[Seated, ...]:
    """A position for each id."""
    return tuple(Seated(id=id_, link=Reference(label=id_), note="", status="staffed") for id_ in ids)


def under(*pairs: str) -> tuple[Edge, ...]:
    """Each pair "ab": a reports to b."""
    return tuple(Edge(sender=pair[0], to=pair[1], words=pair, is_rank=True) for pair in pairs)


def drawn(ids: str, *edges: Edge) -> Chart:
    """A chart of positions with names of one letter."""
    chart = draw(seats(ids), edges)
    assert chart is not None
    return chart


def place(chart: Chart, label: str) -> ChartBox:
    """The box of a position."""
    return next(box for box in chart.boxes if box.label == label)


def test_a_chart_has_managers_above_cuts_cycles_and_draws_the_rest_lighter() -> None:
    """Those of one manager in one row, others in words; no column outside, no bent line; nobody makes no chart."""
    chart = drawn("abcde", *under("ba", "ca", "db", "ec"))
    a, b, c, d = (place(chart, label) for label in "abcd")
    assert a.y < b.y == c.y < d.y and (b.x + c.x) // 2 in range(a.x - BOX[0] // 2, a.x + BOX[0] // 2)
    assert [line.kind for line in chart.lines] == ["rank"] * 4
    chart = drawn("abcd", *under("ca", "cb", "dc"), Edge(sender="a", to="b", words="a peers b", is_rank=False))
    assert sorted(line.words for line in chart.lines if line.kind == "other") == ["a peers b", "cb"]
    assert place(chart, "c").y > place(chart, "a").y
    chart = drawn("abc", *under("ab", "bc", "ca", "aa"))
    assert len(chart.boxes) == 3
    assert [line.words for line in chart.lines if line.kind == "other"] == ["ca"]
    assert place(chart, "c").y < place(chart, "b").y < place(chart, "a").y
    chart = drawn("abcdefg", *under("ab", "bf", "de", "gc"))
    assert all(box.x + BOX[0] < chart.width for box in chart.boxes)
    chart = drawn("abcd", *under("ba", "cb", "db"))
    assert place(chart, "a").x == place(chart, "b").x
    x = place(chart, "a").x + BOX[0] // 2
    assert sum(line.path.startswith(f"M{x} ") and line.path.count(f"H{x}V") == 1 for line in chart.lines) == 1
    assert draw((), ()) is None
    assert drawn("a", *under("ax", "ya")).lines == ()


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200), st.booleans()), max_size=260))
def test_boxes_never_overlap_and_stand_inside(number: int, pairs: list[tuple[int, int, bool]]) -> None:
    """However an organization is made, each position has its own place within the drawing."""
    edges = [Edge(sender=f"p{one}", to=f"p{two}", words="", is_rank=is_rank) for one, two, is_rank in pairs]
    chart = draw(seats(f"p{index}" for index in range(number)), edges)
    assert chart is not None and len(chart.boxes) == number
    corners = sorted((box.y, box.x) for box in chart.boxes)
    assert all(x > 0 and x + BOX[0] < chart.width and y > 0 and y + BOX[1] < chart.height for y, x in corners)
    for index, (y, x) in enumerate(corners):
        for other_y, other_x in corners[index + 1 :]:
            if other_y >= y + BOX[1]:
                break
            assert abs(other_x - x) >= BOX[0]
    assert chart == draw(seats(f"p{index}" for index in range(number)), edges)


def test_a_wide_and_a_deep_organization_are_drawn_and_text_is_cut_to_the_box() -> None:
    """Two hundred in columns and rows, a chain as long as it likes; wide letters take more room."""
    ids = [f"p{index}" for index in range(3_000)]
    wide = draw(seats(ids[:200]), [Edge(sender=one, to="p0", words="", is_rank=True) for one in ids[1:200]])
    assert wide is not None and wide.width <= MAX_WIDTH + 100 and wide.height < 8_000
    deep = draw(seats(ids), [Edge(sender=low, to=high, words="", is_rank=True) for high, low in pairwise(ids)])
    assert deep is not None and len({box.y for box in deep.boxes}) == 3_000
    assert fitted("Strategist", 14) == "Strategist" and fitted("W" * 80, 14).endswith("W…")
    assert len(fitted("W" * 80, 14)) < len(fitted("i" * 80, 14)) < 80 and len(fitted("决" * 80, 14)) <= 14
    assert fitted("", 14) == ""


def test_on_a_phone_relationships_read_as_lines(browser: Browser, example_site: Path) -> None:
    """All of each is in view, on the page of a position and on that of the organization."""
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    for path in ("positions/director/index.html", "org/index.html"):
        page.goto((example_site / path).as_uri())
        page.locator("table.relationships").evaluate("(one) => one.closest('details')?.toggleAttribute('open', true)")
        cells = page.locator("table.relationships td").evaluate_all(
            "(cells) => cells.filter((one) => one.textContent.trim()).map((one) => one.getBoundingClientRect().right)"
        )
        assert len(cells) > 10 and all(0 < right <= 390 for right in cells)


def test_on_a_phone_tables_of_positions_keep_every_column(browser: Browser, example_site: Path) -> None:
    """Each cell that says anything is seen, with what its column says, and nothing has to be scrolled to."""
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    for path, columns in (("org/index.html", 6), ("actions/index.html", 4)):
        page.goto((example_site / path).as_uri())
        table = page.locator("table.seats")
        assert table.evaluate("(one) => one.parentElement.scrollWidth <= one.parentElement.clientWidth")
        cells = table.locator("td").all()
        said = [cell for cell in cells if cell.inner_text()]
        assert len(cells) > len(said) // 2 and all(cell.is_visible() for cell in said)
        labels = {cell.evaluate("(one) => getComputedStyle(one, '::before').content") for cell in said}
        heads = [*table.locator("thead th").all_text_contents()[1:], "Held by"]
        assert len(labels & {f'"{head} "' for head in heads}) == columns
