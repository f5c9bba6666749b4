"""Where links lead on the pages of a built site, and in their twins: to the same places (SPEC 3, links)."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from lxml import html

from tests.support.files import write_text
from tests.support.memos import write_body, write_memo, write_note, write_org, write_transcript
from tests.support.pages import bad_links
from tests.support.sites import build_site, built_from_nothing, file_states, tree_bytes

STEM = "2026-05-01-1430--engineer--director--gate"
MEMO = f"../{STEM}/index.html"
GATE = "../../documents/acme.decisions.0001-gate.md/index.html"


def built(tmp_path: Path, body: str, **files: str) -> Path:
    """The site of a repo with a memo of this body, the memo `STEM`, one named `gate`, and these documents.

    No link of it leads nowhere, nor to no place on a page.
    """
    repo = tmp_path / "acme"
    write_memo(repo / "memos/read", "m", body=body)
    write_memo(repo / "memos/read", STEM)
    write_memo(repo / "memos/read", "gate")
    for name, text in files.items():
        write_text(repo / "decisions" / f"{name.replace('_', '/')}.md", text)
    site = build_site(tmp_path)
    assert not list(bad_links(site))
    return site


def links_of(site: Path, page: str = "memos/m") -> dict[str, str]:
    """The links of a page's text, by their labels."""
    prose = html.parse(site / page / "index.html").getroot().find_class("prose")[0]
    return {link.text_content(): link.get("href", "") for link in prose.iter("a") if "anchor" not in link.classes}


def twin_of(site: Path, page: str = "memos/m") -> Mapping[str, str]:
    """The links that a page's twin lists."""
    twin = json.loads((site / page / "index.json").read_text(encoding="utf-8"))
    assert isinstance(twin["links"], dict)
    return twin["links"]


PATHS = {
    **dict.fromkeys((STEM, f"memos/inbox/{STEM}", f"acme/memos/read/{STEM}"), MEMO),
    **dict.fromkeys((f"/srv/org/acme/memos/inbox/{STEM}", f"S:\\org\\acme\\memos\\inbox\\{STEM}"), MEMO),
    **dict.fromkeys(("memos/inbox/gate", "../inbox/gate.openthing"), "../gate/index.html"),
    **dict.fromkeys(("decisions/0001-gate", "acme/decisions/0001-gate"), GATE),
}


def test_a_path_without_its_extension_is_a_link_on_the_page_as_in_the_twin(tmp_path: Path) -> None:
    """In running text and in code, whatever is around it."""
    forms = ("See {} there.", "- `{}`\n", "_{}_, **{}**.", "({}), “{}”")
    cases = [(form, written) for form in forms for written in PATHS]
    for number, (form, written) in enumerate(cases):
        write_memo(tmp_path / "acme/memos/read", f"m{number}", body=form.format(written, written))
    site = built(tmp_path, "x", **{"0001-gate": "# The gate\n"})
    for number, (_, written) in enumerate(cases):
        page = f"memos/m{number}"
        assert links_of(site, page) == twin_of(site, page) == {written: PATHS[written]}


def test_a_path_to_something_else_is_no_link_and_pages_follow_what_theirs_lead_to(tmp_path: Path) -> None:
    """No folder, other extension or part of an address; beside comes before above; lines that move move links."""
    body = f"memos/inbox, decisions/0001-gate.py, decisions/other/0001-gate, gate, https://x.example/memos/a/{STEM}"
    site = built(tmp_path, body, **{"0001-gate": "# The gate\n"})
    assert links_of(site) == {f"https://x.example/memos/a/{STEM}": f"https://x.example/memos/a/{STEM}"}
    site = built(tmp_path / "two", "x", sub_a="# A\n\n[b](../b/)\n", sub_b="# Beside\n", b="# Above\n")
    assert links_of(site, "documents/acme.decisions.sub.a.md") == {"b": "../acme.decisions.sub.b.md/index.html"}
    site = built(tmp_path / "three", "[a](../../decisions/a.md#L3)", a="# A\n\nOne.\n\nTwo.\n")
    assert words_at(site, "memos/m", links_of(site)["a"]) == "One."
    write_text(tmp_path / "three" / "acme/decisions/a.md", "# A\n\nNew.\n\nOne.\n")
    build_site(tmp_path / "three")
    assert words_at(site, "memos/m", links_of(site)["a"]) == "New."


def test_a_link_to_a_page_of_a_documentation_site_leads_to_its_file(tmp_path: Path) -> None:
    """There `a.md` is the page `a/`, so that `../b/` is beside it; what is written as in a repo leads there, too."""
    text = "[b](../b/), [c](../c/), [d](./sub/d/), [sub](sub/), [e](../e), [b again](b/)"
    site = built(
        tmp_path, "[b](../../decisions/b/)", a=f"# A\n\n{text}\n", b="# B\n", sub_d="# D\n",
        sub_index=f"# S\n\n{text}\n",
    )  # fmt: skip
    b, sub, d = (f"../acme.decisions.{name}.md/index.html" for name in ("b", "sub.index", "sub.d"))
    assert links_of(site, "documents/acme.decisions.a.md") == {"b": b, "d": d, "sub": sub, "b again": b}
    assert links_of(site, "documents/acme.decisions.sub.index.md") == {"b": b, "d": d, "b again": b}
    assert links_of(site) == {"b": f"../../documents/{b[3:]}"}


TARGET = """---
title: The gate
---
# The gate

First passage, on line six.

## What we do & why

- one, on line ten
- two, on line eleven

```text
code, on line fourteen
```

Last passage, on line seventeen."""


def words_at(site: Path, page: str, href: str) -> str:
    """The words of the place on a page to which a link of another one leads, "" for its top."""
    path, _, fragment = href.partition("#")
    target = html.parse((site / page / path).resolve()).getroot()
    return target.get_element_by_id(fragment).text_content().strip() if fragment else ""


FRAGMENTS = {
    "L4": "The gate",
    **dict.fromkeys(("L6", "L6-L8", "L6C3-L7C1"), "First passage, on line six."),
    "lines-10:11": "one, on line ten",
    "L11": "two, on line eleven",
    "L14": "code, on line fourteen",
    "L17": "Last passage, on line seventeen.",
    **dict.fromkeys(("L2", "L18", "L99999", "L0", "history", "t1"), ""),
    **dict.fromkeys(("what-we-do--why", "what-we-do-why"), "What we do & why #"),
}


def test_a_fragment_leads_to_that_line_or_heading_or_to_no_place(tmp_path: Path) -> None:
    """As a link, in running text, in code and as a page of a forge; in the twin, too."""
    forges = [f"https://github.com/someone/acme/blob/main/decisions/a.md?plain=1#{fragment}" for fragment in FRAGMENTS]
    for number, (fragment, forge) in enumerate(zip(FRAGMENTS, forges, strict=True)):
        body = f"[a](../../decisions/a.md#{fragment}), [forge]({forge}), {forge}"
        code = f", `decisions/a.md#{fragment}`" if fragment.lower().startswith("l") else ""
        write_memo(tmp_path / "acme/memos/read", f"of-{number}", body=body + code)
    site = built(tmp_path, "x", a=TARGET)
    for number, (words, forge) in enumerate(zip(FRAGMENTS.values(), forges, strict=True)):
        page = f"memos/of-{number}"
        found = links_of(site, page)
        assert {words_at(site, page, href) for href in found.values()} == {words}, forge
        assert {"a", "forge", forge} <= set(found) and set(found.values()) <= set(twin_of(site, page).values())


def test_a_line_or_passage_of_a_memo_or_a_transcript_can_be_linked_to(tmp_path: Path) -> None:
    """Of the body's file, or by its anchor; one that is not there, or a line of an envelope, leads to the top."""
    repo = tmp_path / "acme"
    write_memo(repo / "memos/read", STEM, body="Summary.", body_ref=f"{STEM}.body.md")
    write_body(repo / "memos/read", STEM, "First.\n\nThird.\n")
    write_transcript(repo / "transcripts/engineer", "t", text="## User\n\nHello.\n\n## Assistant\n\nYes.\n")
    body = (
        f"[third]({STEM}.body.md#L3), [json]({STEM}.openthing#L3), [said](../../transcripts/engineer/t.body.md#L7), "
        "[turn](../../transcripts/engineer/t.openthing#t1), [none](../../transcripts/engineer/t.openthing#t9)"
    )
    write_memo(repo / "memos/read", "m", body=body)
    site = build_site(tmp_path)
    assert not list(bad_links(site))
    found = links_of(site)
    said = {label: words_at(site, "memos/m", href) for label, href in found.items()}
    assert said.pop("third") == "Third." and said.pop("json") == said.pop("none") == ""
    assert "Yes." in said.pop("said") and "Hello." in said.pop("turn") and not said
    tmp_path /= "two"
    repo = tmp_path / "acme"
    name = hashlib.sha256(b"It is *so*.").hexdigest()[:8]
    write_memo(repo / "memos/read", STEM, body="It is *so*.", body_ref=f"{STEM}.body.md")
    write_body(repo / "memos/read", STEM, "Other.\n")
    talk = "Before.\n\n## User\n\nHello.\n\n## Assistant\n\n> **🔧 Read**\n> a\n\nIt is *so*.\n"
    write_transcript(repo / "transcripts/engineer", "t", text=talk)
    places = {"t": f"../../transcripts/engineer/t.openthing#t2.2-p-{name}", "s": f"{STEM}.openthing#summary.p-{name}"}
    places |= {"none": "../../transcripts/engineer/t.openthing#t2-p-00000000"}
    write_memo(repo / "memos/read", "m", body=" ".join(f"[{label}]({to})" for label, to in places.items()))
    site = build_site(tmp_path)
    assert not list(bad_links(site))
    said = {label: words_at(site, "memos/m", href) for label, href in links_of(site).items()}
    assert said == {"t": "It is so.", "s": "It is so.", "none": ""}


# Previous and next of an artifact in the list that a reader pages through


NAMES = [f"2026-05-{day:02}-0900--engineer--director--step-{day}" for day in range(1, 8)]
DAYS = ("2026-05-20", "2026-05-21", "2026-05-22")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site folder with lists of each kind; memos to others are between those to the director."""
    folder = tmp_path_factory.mktemp("lists")
    write_org(folder, positions=("director", "engineer", "pilot"))
    inbox = folder / "memos/inbox"
    for number, name in enumerate(NAMES, 1):
        write_memo(inbox, name, sent=f"2026-05-{number:02}T09:00:00Z")
    write_memo(inbox, "2026-05-03-1200--engineer--pilot--aside", to="pilot", sent="2026-05-03T12:00:00Z")
    for day in DAYS:
        write_note(folder / "notes/engineer", f"{day}-0900--engineer--file--log", sent=f"{day}T09:00:00Z")
        write_note(folder / "notes/pilot", f"{day}-0930--pilot--file--log", sender="pilot", sent=f"{day}T09:30:00Z")
        write_transcript(folder / "transcripts/engineer", f"{day}-0900--engineer--talk", started=f"{day}T09:00:00Z")
        write_text(folder / f"decisions/{day}-tides.md", f"# Tides of {day}\n\nText.\n")
    build_site(folder)
    return folder


def around(folder: Path, page: str) -> tuple[str | None, str | None, str]:
    """Where the links to what is before and after lead, and what is said of them."""
    tree = html.parse(folder / "_site" / page / "index.html").getroot()
    ways = []
    for way in ("prev", "next"):
        link = tree.find(f".//div[@class='text']/nav[@class='neighbours']//a[@rel='{way}']")
        target = None if link is None else (folder / "_site" / page / link.get("href")).resolve()
        assert target is None or target.is_file()
        ways.append(None if target is None else target.parent.name)
    nav = tree.find(".//div[@class='text']/nav[@class='neighbours']")
    return ways[0], ways[1], "" if nav is None else nav.get("aria-label").removeprefix("Before and after: ")


def test_each_list_is_paged_through_in_order_and_a_new_memo_changes_one_page(folder: Path) -> None:
    """From the first to the last, without what is in others, however many there are."""
    notes = [f"{day}-0900--engineer--file--log" for day in DAYS]
    lists = {
        "memo to director": ("memos", NAMES),
        "note of engineer": ("notes", notes),
        "transcript of engineer": ("transcripts", [f"{day}-0900--engineer--talk" for day in DAYS]),
    }
    for words, (kind, names) in lists.items():
        for before, name, after in zip([None, *names], names, [*names[1:], None], strict=False):
            assert around(folder, f"{kind}/{name}") == (before, after, words)
    documents = sorted(one.name for one in (folder / "_site/documents").iterdir())
    assert len(documents) == 3
    assert around(folder, f"documents/{documents[1]}")[:2] == (documents[0], documents[2])
    assert around(folder, "memos/2026-05-03-1200--engineer--pilot--aside") == (None, None, ""), "alone in its list"
    states = file_states(folder / "_site")
    new = "2026-05-09-0900--engineer--director--step-9"
    write_memo(folder / "memos/inbox", new, sent="2026-05-09T09:00:00Z")
    build_site(folder)
    later = file_states(folder / "_site")
    changed = {
        path.split("/")[1] for path, state in later.items() if path.startswith("memos/") and states.get(path) != state
    }
    assert changed == {NAMES[-1], new}
    assert around(folder, f"memos/{NAMES[-1]}")[1] == new and around(folder, f"memos/{new}")[0] == NAMES[-1]
    assert tree_bytes(folder / "_site") == built_from_nothing(folder, folder.parent / "again")
