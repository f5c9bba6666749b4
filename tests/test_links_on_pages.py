"""Where links lead on the pages of a built site, and in their twins: to the same places (SPEC 3, links)."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from lxml import html

from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.pages import bad_links
from tests.support.sites import build_site

STEM = "2026-05-01-1430--engineer--director--gate"
MEMO = f"../{STEM}/index.html"


def built(tmp_path: Path, body: str, **files: str) -> Path:
    """The site of a repo with a memo that has this body, the memo `STEM`, one named `gate`, and these documents."""
    repo = tmp_path / "acme"
    write_memo(repo / "memos/read", "m", body=body)
    write_memo(repo / "memos/read", STEM)
    write_memo(repo / "memos/read", "gate")
    for name, text in files.items():
        write_text(repo / "decisions" / f"{name.replace('_', '/')}.md", text)
    return build_site(tmp_path)


def links_of(site: Path, page: str = "memos/m") -> dict[str, str]:
    """The links of a page's text, by their labels; no link of the site leads nowhere, nor to no place on a page."""
    assert not list(bad_links(site))
    prose = html.parse(site / page / "index.html").getroot().find_class("prose")[0]
    return {link.text_content(): link.get("href", "") for link in prose.iter("a") if "anchor" not in link.classes}


def twin_of(site: Path, page: str = "memos/m") -> Mapping[str, str]:
    """The links that a page's twin lists."""
    twin = json.loads((site / page / "index.json").read_text(encoding="utf-8"))
    assert isinstance(twin["links"], dict)
    return twin["links"]


@pytest.mark.parametrize(
    ("written", "target"),
    [
        (STEM, MEMO),
        (f"memos/inbox/{STEM}", MEMO),
        (f"acme/memos/read/{STEM}", MEMO),
        (f"/srv/org/acme/memos/inbox/{STEM}", MEMO),
        (f"S:\\org\\acme\\memos\\inbox\\{STEM}", MEMO),
        ("memos/inbox/gate", "../gate/index.html"),
        ("../inbox/gate.openthing", "../gate/index.html"),
        ("decisions/0001-gate", "../../documents/acme.decisions.0001-gate.md/index.html"),
        ("acme/decisions/0001-gate", "../../documents/acme.decisions.0001-gate.md/index.html"),
    ],
)
@pytest.mark.parametrize("around", ["See {} there.", "- `{}`\n", "_{}_, **{}**.", "({}), “{}”"])
def test_a_path_without_its_extension_is_a_link_on_the_page_as_in_the_twin(
    tmp_path: Path, written: str, target: str, around: str
) -> None:
    """In running text and in code, whatever is around it."""
    site = built(tmp_path, around.format(written, written), **{"0001-gate": "# The gate\n"})
    assert links_of(site) == twin_of(site) == {written: target}


def test_a_path_to_something_else_is_no_link(tmp_path: Path) -> None:
    """Neither a folder nor a file with another extension, nor a part of a web address."""
    body = f"memos/inbox, decisions/0001-gate.py, decisions/other/0001-gate, gate, https://x.example/memos/a/{STEM}"
    site = built(tmp_path, body, **{"0001-gate": "# The gate\n"})
    assert links_of(site) == {f"https://x.example/memos/a/{STEM}": f"https://x.example/memos/a/{STEM}"}


def test_a_link_to_a_page_of_a_documentation_site_leads_to_its_file(tmp_path: Path) -> None:
    """There `a.md` is the page `a/`, so that `../b/` is beside it; what is written as in a repo leads there, too."""
    text = "[b](../b/), [c](../c/), [d](./sub/d/), [sub](sub/), [e](../e), [b again](b/)"
    site = built(
        tmp_path,
        "[b](../../decisions/b/)",
        a=f"# A\n\n{text}\n",
        b="# B\n",
        sub_d="# D\n",
        sub_index=f"# S\n\n{text}\n",
    )
    b, sub, d = (f"../acme.decisions.{name}.md/index.html" for name in ("b", "sub.index", "sub.d"))
    assert links_of(site, "documents/acme.decisions.a.md") == {"b": b, "d": d, "sub": sub, "b again": b}
    assert links_of(site, "documents/acme.decisions.sub.index.md") == {"b": b, "d": d, "b again": b}
    assert links_of(site) == {"b": f"../../documents/{b[3:]}"}


def test_beside_a_page_comes_before_above_it(tmp_path: Path) -> None:
    """A folder that is there may have the same name."""
    site = built(tmp_path, "x", sub_a="# A\n\n[b](../b/)\n", sub_b="# Beside\n", b="# Above\n")
    assert links_of(site, "documents/acme.decisions.sub.a.md") == {"b": "../acme.decisions.sub.b.md/index.html"}
