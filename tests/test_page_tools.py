"""What a script adds to pages, in Chromium: buttons that copy, tables that can be sorted."""

import shlex
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.memos import write_memo, write_org
from tests.support.servers import Handler, serve_folder
from tests.support.sites import build_site

MEMO = "2026-05-01-1430--engineer--director--tools"
TEXT = """Run this:

```sh
make all
make test
```

Then look at the boats.

| Boat | Load | Seen |
|---|---:|---|
| Ada | 1,200 kg | 2026-05-03 |
| Bertha | 90 kg | 2026-04-30 |
| Cleo | | |
| Dora | 300 kg | 2026-05-01 |
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with one memo that has code and a table."""
    folder = tmp_path_factory.mktemp("tools")
    write_org(folder, positions=("director", "engineer"))
    write_memo(folder / "memos/inbox", MEMO, body=TEXT)
    return build_site(folder)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page of a browser in which copying is allowed; what goes wrong on it fails the test."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], reduced_motion="reduce")
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert said == []


def clipboard(page: Page) -> str:
    """What was copied last."""
    return str(page.evaluate("navigator.clipboard.readText()"))


def heights(page: Page) -> object:
    """Where everything is on a page."""
    return page.evaluate("[...document.querySelectorAll('main *')].filter((one) => !one.closest('.copy')).map((one) => one.getBoundingClientRect().toJSON())")  # fmt: skip  # noqa: E501


def test_link_path_and_code_are_copied_nothing_moves_and_a_refusal_is_said(page: Page, server: str, site: Path) -> None:
    """By mouse or keyboard, as a live region says; only a script adds the buttons; else text is selected."""
    assert "Copy link" not in (site / f"memos/{MEMO}/index.html").read_text()
    page.goto(f"{server}memos/{MEMO}/index.html#para-1")
    page.get_by_role("button", name="Copy link").click()
    assert clipboard(page) == f"{server}memos/{MEMO}/index.html"
    assert page.locator("#_copied[role=status]").inner_text() == "link copied."
    page.get_by_role("button", name="Copy path").press("Enter")
    page.get_by_text("path copied.").wait_for()
    assert clipboard(page) == f"memos/inbox/{MEMO}.openthing"
    assert [page.get_by_role("button", name=name).count() for name in ("Copied path", "Copy link")] == [1, 1]
    page.goto(f"{server}memos/{MEMO}/index.html")
    before = heights(page)
    page.locator(".prose pre").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("code copied.").wait_for()
    assert clipboard(page) == "make all\nmake test" and heights(page) == before
    frame, button = (page.locator(one).bounding_box() for one in (".prose pre", ".spot"))
    assert frame and button and frame["y"] < button["y"] and frame["x"] < button["x"]
    assert button["x"] + button["width"] < frame["x"] + frame["width"]
    page.goto(f"{server}feeds/index.html")
    for number, one in enumerate(page.locator("[data-copy]").all()):
        one.click()
        assert clipboard(page) == page.locator(".how pre").nth(number).inner_text()
        assert page.locator("#_copied").inner_text().endswith(" copied.")
    assert page.locator("[data-copy]").count() == page.locator(".how pre").count() == 6
    page.goto(f"{server}memos/{MEMO}/index.html")
    page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error()), 0")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The browser does not allow copying here.").wait_for()
    page.locator(".prose pre").hover()
    page.get_by_role("button", name="Copy code").click()
    page.get_by_text("code selected: press Ctrl+C to copy.").wait_for()
    assert "make test" in page.evaluate("getSelection().toString()")


def column(page: Page, number: int) -> list[str]:
    """The cells of a column of the table, from above."""
    return page.locator(f".prose tbody tr td:nth-child({number})").all_inner_texts()


def test_tables_are_sorted_and_commands_for_subscribing_have_the_chosen_position(page: Page, server: str) -> None:
    """Either way round and as written, by keyboard, too, and screen readers are told; what is filtered away, too."""
    page.goto(f"{server}memos/{MEMO}/index.html")
    page.wait_for_selector(".prose th button")
    before = heights(page)
    load = page.get_by_role("button", name="Load")
    load.focus()
    page.keyboard.press("Enter")
    assert column(page, 1) == ["Bertha", "Dora", "Ada", "Cleo"], "numbers, and what is empty last"
    assert page.locator(".prose th[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert column(page, 1) == ["Ada", "Dora", "Bertha", "Cleo"]
    assert page.locator(".prose th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.keyboard.press("Enter")
    assert column(page, 1) == ["Ada", "Bertha", "Cleo", "Dora"]
    assert page.locator(".prose th[aria-sort]").count() == 0 and heights(page) == before
    page.get_by_role("button", name="Seen").click()
    assert column(page, 3) == ["2026-04-30", "2026-05-01", "2026-05-03", ""]
    page.get_by_role("button", name="Boat").click()
    assert page.locator(".prose th[aria-sort]").inner_text() == "Boat", "one column at a time"
    page.goto(f"{server}index.html")
    names = page.locator("table.glance tbody th")
    assert names.all_inner_texts()[0] == "director", "who has an unread memo comes first"
    page.get_by_role("button", name="Position").click()
    assert names.all_inner_texts() == sorted(names.all_inner_texts())
    page.get_by_role("button", name="Position").click()
    assert names.all_inner_texts() == sorted(names.all_inner_texts(), reverse=True)
    page.goto(f"{server}feeds/index.html")
    page.wait_for_selector("#_copied", state="attached")
    for name in ("engineer", "director"):
        page.get_by_label("Position", exact=True).select_option(name)
        page.locator("[data-of=name]", has_text=name).wait_for()
        commands = page.locator(".how pre").all_inner_texts()
        others = {"engineer": "director", "director": "engineer"}
        assert sum(f"/positions/{name}/feed" in one for one in commands) == 6
        assert not any(others[name] in one for one in commands)
        assert commands[0] == f"memosite watch {server}positions/{name}/feed.xml"
        assert f"r2e add {name} {server}positions/{name}/feed-full.xml" in commands[3]
        assert page.locator("[data-of=page]").get_attribute("href") == f"../positions/{name}/index.html#follow"
    page.get_by_label("Filter the positions").fill("engineer")
    assert page.locator("#position option").all_inner_texts() == ["engineer"]
    assert f"{server}positions/engineer/feed.xml" in page.locator("#_follow").inner_text()
    assert all("engineer" in row for row in page.locator(".feeds > li:visible").all_inner_texts())


def test_the_page_of_feeds_has_the_positions_first_that_the_reader_saw_last(page: Page, server: str) -> None:
    """On a first visit the first by name; the browser keeps the others, the last one first."""
    page.goto(f"{server}feeds/index.html")
    assert page.get_by_label("Position", exact=True).input_value() == "director"
    assert page.locator("#position optgroup").count() == 0
    page.goto(f"{server}positions/engineer/index.html")
    page.goto(f"{server}feeds/index.html")
    assert page.get_by_label("Position", exact=True).input_value() == "engineer"
    assert page.locator("#position optgroup option").all_text_contents() == ["engineer"]
    assert f"{server}positions/engineer/feed.xml" in page.locator("#_follow").inner_text()


def test_a_command_is_seen_whole_on_a_wide_page(page: Page, server: str) -> None:
    """And the button to copy it stays beside it."""
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    page.set_viewport_size({"width": 1440, "height": 800})
    page.goto(f"{server}feeds/index.html")
    assert page.locator(".copied pre").evaluate_all(cut) == []
    box, button = (page.locator(f".copied {one}").first.bounding_box() for one in ("pre", "button"))
    assert box and button and button["x"] >= box["x"] + box["width"] and button["y"] == box["y"]


def test_commands_name_the_site_where_the_reader_is(page: Page, server: str, site: Path, tmp_path: Path) -> None:
    """At any address, below a folder of any name; from disk they have ADDRESS, and the page says why, or `base_url`."""
    (tmp_path / "it's (a) site").symlink_to(site)
    with serve_folder(tmp_path) as other:
        for address, written in ((server, server), (f"{other}it's (a) site/", f"{other}it%27s%20%28a%29%20site/")):
            for path in ("feeds/", "positions/engineer/"):
                page.goto(f"{address}{path}index.html#follow")
                page.wait_for_selector("#_copied", state="attached")
                commands = page.locator(".how pre").all_text_contents()
                assert not any("ADDRESS" in one for one in commands)
                watches = [one for one in commands if one.startswith("memosite watch")]
                assert len(watches) == 3 and all(f" {written}positions/" in one for one in watches)
                assert all(shlex.split(one)[-1].startswith(written) for one in watches)
    for path in ("feeds/", "positions/engineer/"):
        page.goto(f"{site.as_uri()}/{path}index.html#follow")
        page.wait_for_selector("#_copied", state="attached")
        assert "ADDRESS/positions/" in page.locator(".how pre").first.inner_text()
        assert "put the address of the site in its place" in page.locator(".notice").inner_text()
    published = build_site(site.parent, output=tmp_path / "published", base_url="https://quay.example/boats/")
    with serve_folder(published) as other:
        for address, written in ((other, other), (f"{published.as_uri()}/", "https://quay.example/boats/")):
            page.goto(f"{address}positions/engineer/index.html#follow")
            assert page.locator("#_watch").inner_text() == f"memosite watch {written}positions/engineer/feed.xml"


def test_where_only_the_reader_can_open_the_site_its_published_address_is_offered_beside_it(
    page: Page, site: Path, tmp_path: Path
) -> None:
    """Links are copied as others can open them, or as here; commands run as they are, until the other is chosen."""
    quay = "https://quay.example/boats/"
    published = build_site(site.parent, output=tmp_path / "published", base_url=quay)
    with serve_folder(published) as other:
        for address in (other, f"{published.as_uri()}/"):
            page.goto(f"{address}memos/{MEMO}/index.html#para-1")
            page.get_by_role("button", name="Copy link", exact=True).click()
            assert clipboard(page) == f"{quay}memos/{MEMO}/"
            page.get_by_role("button", name="Copy local link").click()
            assert clipboard(page) == f"{address}memos/{MEMO}/index.html"
        for path, feed in (("feeds/", "director"), ("positions/director/", "director")):
            page.goto(f"{other}{path}index.html#follow")
            place = page.get_by_label("Address of the site")
            offered = [f"this machine only: {other}", f"published: {quay}"]
            assert place.locator("option").all_inner_texts() == offered
            links = page.locator(".how .feeds a, .list:not(.how) .feeds a")
            before = [str(link.evaluate("(one) => one.href")) for link in links.all()]
            assert before and all(one.startswith(other) for one in before)
            height = page.evaluate("document.body.scrollHeight")
            for base in (other, quay, other, quay):
                place.select_option(base)
                watches = [one for one in page.locator(".how pre").all_text_contents() if "memosite watch" in one]
                assert len(watches) == 3 and all(f" {base}positions/{feed}/feed.xml" in one for one in watches)
                found = [str(link.evaluate("(one) => one.href")) for link in links.all()]
                assert found == [one.replace(other, base) for one in before]
            assert page.evaluate("document.body.scrollHeight") == height
        page.goto(f"{other}feeds/index.html")
        page.get_by_label("Address of the site").select_option(quay)
        page.get_by_label("Position", exact=True).select_option("engineer")
        assert page.locator("#_follow").inner_text() == f"memosite watch {quay}positions/engineer/feed.xml"
    page.goto(f"{published.as_uri()}/positions/engineer/index.html#follow")
    assert page.locator("[data-place]").inner_text() == quay and page.get_by_label("Address of the site").count() == 0


class Below(Handler):
    """A host that shows the site below a prefix, and its 404.html for what is not there."""

    def translate_path(self, path: str) -> str:
        """The file of an address."""
        return super().translate_path(path.removeprefix("/prefix"))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Show the page of the site."""
        del message, explain
        data = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def looks_right(page: Page) -> bool:
    """Whether the page has the style of the site."""
    return bool(page.evaluate("getComputedStyle(document.querySelector('.find input')).borderRadius") == "3px")


def test_the_page_for_unknown_addresses_names_the_nearest(tmp_path: Path, page: Page) -> None:
    """Below a prefix, which `base_url` names, or nothing does; also from disk, where its links lead on."""
    write_org(tmp_path / "org", positions=("director", "engineer"))
    names = [f"2026-05-{day:02}-0900--engineer--director--tides" for day in (1, 2, 11)]
    for name in names:
        write_memo(tmp_path / "org/memos/inbox", name, subject=f"<b>{name}</b>", sent=f"{name[:10]}T09:00:00Z")
    site = build_site(tmp_path / "org", base_url="https://a.example/prefix/")
    context = page.context
    other = context.new_page()  # it may say that files were not found
    with serve_folder(site, Below) as address:
        other.goto(f"{address}prefix/memos/2026-05-01-0900--engineer--director--tide/")
        other.locator("#_nearest a").first.wait_for()
        links = other.locator("#_nearest a")
        assert links.first.get_attribute("href") == f"/prefix/memos/{names[0]}/index.html"
        assert links.all_inner_texts()[0] == f"<b>{names[0]}</b>" and links.count() <= 3
        assert looks_right(other)
        other.goto(f"{address}prefix/positions/directer/index.html")
        assert other.locator("#_nearest a").first.get_attribute("href") == "/prefix/positions/director/index.html"
        other.goto(f"{address}prefix/memos/nothing-like-it/")
        other.wait_for_load_state("networkidle")
        assert not other.locator("#_nearest").is_visible()
    other.goto((site / "404.html").as_uri())
    other.wait_for_selector("#_nearest[data-done]", state="attached")
    assert looks_right(other)
    other.get_by_role("link", name="timeline", exact=True).click()
    assert other.title().startswith("Timeline")
    site = build_site(tmp_path / "org", output=tmp_path / "plain")
    with serve_folder(site, Below) as address:
        other.goto(f"{address}prefix/memos/x/index.html")
        assert looks_right(other)
    other.close()


def test_the_buttons_that_copy_links_are_between_the_kind_and_the_title_at_every_width(
    page: Page, site: Path, tmp_path: Path
) -> None:
    """However long the words beside them are: on one line, inside the margins, and nothing moves when they come."""
    published = build_site(site.parent, output=tmp_path / "published", base_url="https://quay.example/boats/")
    memo = published / f"memos/{MEMO}/index.html"
    whole = memo.read_text()
    place = "[...document.querySelectorAll('.links .copy, h1')].map((one) => one.getBoundingClientRect().toJSON())"
    kinds = ("Memo", "memory-store · feature", "nothing has arrived " * 4)
    with serve_folder(published) as other:
        for width, words in product((320, 390, 700, 1440), kinds):
            page.set_viewport_size({"width": width, "height": 800})
            memo.write_text(whole.replace('<p class="kicker">memo</p>', f'<p class="kicker">{words}</p>'))
            page.goto(f"{other}memos/{MEMO}/index.html")
            page.wait_for_selector(".links")
            link, local, title = page.evaluate(place)
            assert link["y"] == local["y"] and link["height"] == local["height"] == 24
            assert link["bottom"] <= title["y"] and local["right"] <= width - 15
            assert 15 <= local["x"] - link["right"] <= 17
            page.locator(".links").evaluate("(one) => one.remove()")
            assert page.evaluate(place)[0]["y"] == title["y"]
    page.set_viewport_size({"width": 1280, "height": 720})
