"""Where links lead on the pages of a built site, and in their twins: to the same places (SPEC 3, links)."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from lxml import html

from tests.support.files import write_text
from tests.support.memos import write_body, write_memo, write_transcript
from tests.support.pages import bad_links
from tests.support.sites import build_site

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
        assert {"a", "forge", forge} <= set(found)
        assert set(found.values()) <= set(twin_of(site, page).values())


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
