"""The page of the organization: cards with what waits, charters folded, who writes to whom and how soon it answers."""

import datetime as dt
import random
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median_low
from typing import Any

from lxml import html as lxml_html

from tests.support.memos import write_memo, write_org
from tests.support.pages import bad_links
from tests.support.sites import build_site, copy_example

START = dt.datetime(2026, 5, 1, 9, tzinfo=dt.UTC)


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
                write(
                    repo, number + later % 2 + 1, answering, sender, at + dt.timedelta(minutes=later), in_reply_to=asked
                )
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


def test_a_matrix_of_many_positions_says_what_is_not_shown(tmp_path: Path) -> None:
    """Twelve at most, those that exchange most."""
    repo = tmp_path / "site/repo"
    for number in range(15):
        for again in range(2 if number < 11 else 1):
            write(repo, 2 * number + again, f"seat-{number:02d}", "director", START + dt.timedelta(hours=number))
    page = page_of(tmp_path / "site")
    assert set(matrix(page).values()) == {"2"} and len(matrix(page)) == 11
    said = " ".join(page.xpath("//section[@id='who-writes-to-whom']/p")[0].text_content().split())
    assert "The 12 positions that exchange most: 22 of 26 memos; 4 other positions not shown." in said


def test_cards_have_the_numbers_of_the_table(tmp_path: Path) -> None:
    """Unread and to do, in words for screen readers, too."""
    site = build_site(copy_example(tmp_path / "org"))
    page = lxml_html.parse(site / "org/index.html")
    rows = {
        row.find("th").text_content().strip(): [cell.text_content() for cell in row.findall("td")]
        for row in page.xpath("//table[@class='seats glance']/tbody/tr")
    }
    found = 0
    for card in page.xpath("//a[starts-with(@class, 'box')]"):
        to_do, unread, *_ = rows[Path(card.get("href")).parent.name]
        unread = unread.strip("?")  # cards say what is known
        said = ", ".join(part for part in (unread and f"{unread} unread", to_do and f"{to_do} to do") if part)
        assert "".join(card.xpath(".//text[@class='counts']/text()")) == said
        assert card.findtext("title").endswith(said)
        found += bool(said)
    assert found > 3


def test_several_organizations_have_a_list_of_contents_and_charters_are_folded(tmp_path: Path) -> None:
    """Each organization by an anchor made of its id; a long charter pushes nothing down."""
    for name in ("quay", "yard"):
        relationships = [{"from": "b", "to": "a", "type": "reports_to"}]
        positions = [{"id": one, "name": one.upper()} for one in "ab"]
        write_org(
            tmp_path / f"site/{name}/org", name, positions=positions, relationships=relationships, vision="Calm. " * 300
        )
    write(tmp_path / "site/quay", 1, "a", "b", START)
    page = page_of(tmp_path / "site")
    links = page.xpath("//nav[@class='contents']//a/@href")
    assert links == ["#org-quay", "#org-yard", "#who-writes-to-whom", "#positions"]
    assert all(len(page.xpath(f"//*[@id='{link[1:]}']")) == 1 for link in links)
    folded = page.xpath("//section[starts-with(@id, 'org-')]/details")
    assert [one.findtext("summary").split()[0].rstrip(":") for one in folded] == ["Relationships", "Charter"] * 2
    assert all("open" not in one.attrib for one in folded)
    assert list(bad_links(tmp_path / "out")) == []


def test_one_organization_needs_no_contents(tmp_path: Path) -> None:
    """And where nobody writes, there is no matrix."""
    write_org(tmp_path / "site/quay/org", "quay", positions=[{"id": "a", "name": "A"}])
    page = page_of(tmp_path / "site")
    assert page.xpath("//nav[@class='contents']") == []
    assert page.xpath("//*[@id='who-writes-to-whom']") == []
