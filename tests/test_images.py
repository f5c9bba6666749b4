"""Images of a source's own repo in memos and documents (SPEC 4): what is shown, what is refused, what is published."""

import hashlib
import html
import re
import shutil
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.facts.file import File
from memosite.facts.parsed import ImageFile
from memosite.facts.texts import IMAGES, find_images, image_place
from memosite.formats import image
from tests.support import images as made
from tests.support.files import write_text
from tests.support.looking import written_long_ago
from tests.support.memos import write_body, write_memo, write_note, write_org, write_transcript
from tests.support.planted_secrets import Maker
from tests.support.repos import Repo
from tests.support.sites import build_site, built_files, built_from_nothing, tree_bytes

PLAN, CHART, HIDDEN = made.png(30, 20), made.gif(8, 9), made.png(5, 5, shade=7)
MEMO, NOTE = "2026-05-01-1430--engineer--director--plan", "2026-05-02-1430--engineer--file--note"

SHOWN = {
    "plan.png": "The plan",
    "../../img/chart.jpg": "A GIF by another name",
    "/img/chart.jpg?raw=1#top": "From the root",
    "plan%20b.png": "A name with a space",
}
REFUSED = {
    "missing.png": "not found",
    "img/plan.png": "not found",
    "drawing.svg": "SVG is not shown",
    "notes.txt": "not a PNG, JPEG, GIF, WebP or AVIF file",
    "page.png": "not a PNG, JPEG, GIF, WebP or AVIF file",
    "bomb.png": "30,000 × 30,000 pixels are too many",
    "wide.gif": "20,000 × 1 pixels are too many",
    "none.png": "its size cannot be read",
    "cut.webp": "its size cannot be read",
    "large.png": "5.0 MB; at most 5 MB are shown",
    "link.png": "not found",
    "linked/plan.png": "not found",
    "../../../outside.png": "outside of its source",
    "../../../../../../etc/x.png": "outside of its source",
    "..%2f..%2f..%2foutside.png": "outside of its source",
    "../../.git/inside.png": "not found",
    "https://a.example/b.png": "not a file of its repo, so it is not loaded",
    "//a.example/b.png": "not a file of its repo, so it is not loaded",
    "file:///etc/x.png": "not a file of its repo, so it is not loaded",
    "data:image/png;base64,AAAA": "not a file of its repo, so it is not loaded",
}


def published(data: bytes, form: str = "png") -> str:
    """The address of an image by its bytes."""
    return f"images/{hashlib.sha256(data).hexdigest()}.{form}"


def write_images(root: Path) -> None:
    """Write images and what only looks like them beside the memos of a repo, and outside of it."""
    inbox = root / "memos/inbox"
    files = {
        root / "img/chart.jpg": CHART,
        root / "img/unnamed.png": made.png(6, 6),
        inbox / "plan.png": PLAN,
        inbox / "plan b.png": PLAN,
        inbox / "page.png": b"<!doctype html><script>alert(1)</script>",
        inbox / "bomb.png": made.png_head(30_000, 30_000),
        inbox / "wide.gif": made.gif(20_000, 1),
        inbox / "none.png": made.png_head(0, 4),
        inbox / "cut.webp": made.webp(b"VP8X", 4, 4)[:26],
        inbox / "large.png": made.png(2, 2) + bytes(5 * 2**20),
        inbox / "drawing.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        inbox / "notes.txt": b"words",
        root / ".git/inside.png": PLAN,
        root.parent / "outside.png": HIDDEN,
    }
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (inbox / "link.png").symlink_to(root.parent / "outside.png")
    (inbox / "linked").symlink_to(root.parent)


def write_site(folder: Path) -> Repo:
    """Write a site with a repo whose texts show images."""
    desk = Repo(folder / "desk")
    write_org(desk.root, positions=("director", "engineer"))
    text = "".join(f"![{alt}]({path})\n\n" for path, alt in SHOWN.items())
    text += "".join(f"![no {number}]({path})\n\n" for number, path in enumerate(REFUSED))
    write_memo(desk.root / "memos/inbox", MEMO, body=None, body_ref=f"{MEMO}.body.md")
    write_body(desk.root / "memos/inbox", MEMO, text)
    write_note(desk.root / "notes/engineer", NOTE, body="[![Linked](../../img/chart.jpg 'A \"title\"')](plan.md)\n")
    write_transcript(
        desk.root / "transcripts/engineer", "2026-05-03-talk", text="## User\n\n![x](../../img/unnamed.png)"
    )
    write_text(
        desk.root / "decisions/0001-plan.md", "# Plan\n\n![By label][Plan]\n\n[plan]: <../memos/inbox/plan.png>\n"
    )
    write_text(folder / "memosite.yml", "base_url: https://a.example/\nsources: [{path: desk}]\n")
    write_images(desk.root)
    desk.commit()
    return desk


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built."""
    folder = tmp_path_factory.mktemp("images")
    write_site(folder)
    build_site(folder)
    return folder


def page(site: Path, address: str) -> str:
    """The HTML of a page."""
    return (site / "_site" / address / "index.html").read_text()


def tags(page: str) -> list[str]:
    """The images of a page."""
    return re.findall(r"<img [^>]*>", page)


def test_images_of_the_repo_are_shown_with_size_and_title_and_no_others_published(site: Path) -> None:
    """By paths, links and definitions of Markdown; what is not shown says why; feeds have the words."""
    shown = tags(page(site, f"memos/{MEMO}"))
    assert len(shown) == len(SHOWN)
    for tag, (path, alt) in zip(shown, SHOWN.items(), strict=True):
        data, form, size = (CHART, "gif", (8, 9)) if "chart" in path else (PLAN, "png", (30, 20))
        assert tag == (
            f'<img src="../../{published(data, form)}" alt="{alt}" width="{size[0]}" height="{size[1]}" loading="lazy">'
        )
        assert (site / "_site" / published(data, form)).read_bytes() == data
    text = html.unescape(re.sub(r"<(?!img)[^>]*>", "", page(site, f"memos/{MEMO}")))
    for number, why in enumerate(REFUSED.values()):
        assert f"image: no {number} ({why})" in text
    assert "script>alert" not in page(site, f"memos/{MEMO}")
    files = {path.relative_to(site / "_site").as_posix() for path in (site / "_site/images").iterdir()}
    assert files == {published(PLAN), published(CHART, "gif")}
    everything = b"".join(tree_bytes(site / "_site").values())
    assert HIDDEN not in everything and made.png(6, 6) not in everything
    contents = tree_bytes(site / "_site")
    feeds = [data for path, data in contents.items() if path.endswith((".xml", "feed.json"))]
    assert feeds and not any(b"<img" in data or b"&lt;img" in data or b"/images/" in data for data in feeds)
    assert not tags(page(site, "transcripts/2026-05-03-talk"))
    (tag,) = tags(page(site, f"notes/{NOTE}"))
    assert 'alt="Linked"' in tag and 'title="A &quot;title&quot;"' in tag and 'width="8" height="9"' in tag
    (tag,) = tags(page(site, "documents/desk.decisions.0001-plan.md"))
    assert f'src="../../{published(PLAN)}"' in tag


def test_builds_after_changes_are_those_from_nothing(tmp_path: Path) -> None:
    """An image is changed, removed, added, and put in the place of what is none: git has none of that yet."""
    inbox = write_site(tmp_path).root / "memos/inbox"
    build_site(tmp_path)
    new, later, fourth = made.png(9, 9), made.png(4, 8), made.png(7, 7)
    (inbox / "plan.png").write_bytes(new)
    (inbox / "missing.png").write_bytes(later)
    (inbox / "plan b.png").unlink()
    (inbox / "page.png").write_bytes(fourth)
    build_site(tmp_path)
    files = tree_bytes(tmp_path / "_site")
    assert files == built_from_nothing(tmp_path, tmp_path / "again")
    assert {path for path in files if path.startswith("images/")} == {
        published(CHART, "gif"), published(new), published(later), published(fourth)
    }  # fmt: skip
    assert 'alt="no 0" width="4" height="8"' in page(tmp_path, f"memos/{MEMO}")
    assert "image: A name with a space" in page(tmp_path, f"memos/{MEMO}")
    shutil.rmtree(inbox / "../../img")
    build_site(tmp_path)
    assert published(CHART, "gif") not in tree_bytes(tmp_path / "_site")


def test_a_commit_gives_the_images_of_a_checkout(site: Path, tmp_path: Path) -> None:
    """What git tracks is shown the same from the repo's objects; links in it are not followed either."""
    config = f"base_url: https://a.example/\nsources: [{{path: {site / 'desk'}, name: desk, ref: HEAD}}]\n"
    write_text(tmp_path / "memosite.yml", config)
    build_site(tmp_path)
    files, here = tree_bytes(tmp_path / "_site"), tree_bytes(site / "_site")
    assert {path for path in files if path.startswith("images/")} == {path for path in here if "images/" in path}
    assert tags(page(tmp_path, f"memos/{MEMO}")) == tags(page(site, f"memos/{MEMO}"))


def test_withheld_images_stay_withheld(tmp_path: Path) -> None:
    """Of a public site: by a glob, since only a confidential memo shows it, or since it has a withheld name in it."""
    desk = Repo(tmp_path / "desk")
    inbox, secret = desk.root / "memos/inbox", "2026-05-03-1430--engineer--director--plantedname"
    named = made.png(9, 9, text=secret.encode())
    for name, data in {"open": PLAN, "globbed": HIDDEN, "private": made.png(4, 4), "named": named}.items():
        (inbox / "img").mkdir(parents=True, exist_ok=True)
        (inbox / f"img/{name}.png").write_bytes(data)
    write_memo(inbox, MEMO, body="![a](img/open.png) ![b](img/globbed.png) ![c](img/named.png)")
    write_memo(inbox, secret, body="![d](img/private.png)", extra={"x.legal.confidentiality": "restricted"})
    desk.commit()
    write_text(
        tmp_path / "memosite.yml",
        "sources: [{path: desk}]\nwithhold: ['**/globbed.png']\noutputs: {internal: _site, public: _public}\n",
    )
    build_site(tmp_path)
    public = built_files(tmp_path, "--audience", "public", output=tmp_path / "_public")
    assert [path for path in public if path.startswith("images/")] == [published(PLAN)]
    everything = b"".join(public.values())
    assert HIDDEN not in everything and b"plantedname" not in everything
    shown = public[f"memos/{MEMO}/index.html"].decode()
    assert "image: b</span>" in shown and "it holds what must not be published" in shown
    inside = {path for path in tree_bytes(tmp_path / "_site") if path.startswith("images/")}
    assert inside == {published(one) for one in (PLAN, HIDDEN, made.png(4, 4), named)}


@pytest.mark.usefixtures(written_long_ago.__name__)
@pytest.mark.parametrize("withheld", ["shut", "gone"])
def test_a_cache_is_closed_and_names_no_image_of_what_is_withheld(withheld: str, tmp_path: Path) -> None:
    """Neither after a build nor after a search, whether it is confidential or erased; what others show stays known."""
    site, inbox = tmp_path / "site", tmp_path / "site/desk/memos/inbox"
    for name in ("open", withheld):
        mark = {"x.legal.confidentiality": "secret"} if name == "shut" else {}
        body = f"See ![a](zq{name}.png) and ![b](zqboth.png)."
        write_memo(inbox, f"2026-05-01-0900--engineer--director--{name}", body=body, extra=mark)
        (inbox / f"zq{name}.png").write_bytes(made.png(shade=len(name)))
    (inbox / "zqboth.png").write_bytes(made.png(shade=9))
    erased = "erase: [{id: 2026-05-01-0900--engineer--director--gone, why: Asked for, on: 2026-05-20}]\n"
    config = "sources: [{path: desk}]\noutputs: {internal: _site, public: _pub}\n"
    write_text(site / "memosite.yml", config + (erased if withheld == "gone" else ""))
    part = site / ".memosite/public"
    part.mkdir(parents=True, mode=0o755)  # as former versions made it
    for words in (("build",), ("search", "engineer", "--site")):
        assert main([*words, str(site), "--audience", "public"]) == 0
        cached = b"".join(file.read_bytes() for file in part.rglob("*") if file.is_file())
        found = {name for name in ("open", withheld, "both") if f"zq{name}.png".encode() in cached}
        assert found == {"open", "both"} and oct(part.stat().st_mode & 0o777) == "0o700"
    main(["build", str(site), "--cache", str(tmp_path / "made")])
    assert oct((tmp_path / "made").stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize("mode", ["withhold", "redact"])
def test_an_image_with_a_secret_is_not_published(tmp_path: Path, mode: str) -> None:
    """In any mode: a redacted image would be a damaged one."""
    block = Maker(1).block("RSA PRIVATE KEY")
    inbox = tmp_path / "desk/memos/inbox"
    write_memo(inbox, MEMO, body="![a](a.png)")
    (inbox / "a.png").write_bytes(made.png(text=block.encode()))
    write_text(tmp_path / "memosite.yml", f"sources: [{{path: desk}}]\nsecrets: {{mode: {mode}}}\n")
    assert main(["build", str(tmp_path), "--quiet"]) == (1 if mode == "withhold" else 0)
    files = tree_bytes(tmp_path / "_site")
    assert not any(path.startswith("images/") for path in files)
    assert block.split("\n")[3].encode() not in b"".join(files.values())
    assert re.search(r"image: a</span> <span class=\"why\">\((withheld|it holds)", page(tmp_path, f"memos/{MEMO}"))


def measured(data: bytes) -> tuple[str, int, int] | str:
    """Format and size of an image, or why it is refused."""
    fact = image.parse(File(source="a", path="b.png", data=data)).fact
    assert isinstance(fact, ImageFile)
    return fact.why_not or (fact.form, fact.width, fact.height)


HEADS = {
    ("png", 700, 500): made.png(700, 500),
    ("gif", 700, 500): made.gif(700, 500),
    ("jpg", 700, 500): made.jpeg(700, 500),
    ("jpg", 500, 700): made.jpeg(700, 500, orientation=6),
    ("webp", 700, 500): made.webp(b"VP8 ", 700, 500),
    ("webp", 701, 501): made.webp(b"VP8L", 701, 501),
    ("webp", 702, 502): made.webp(b"VP8X", 702, 502),
    ("avif", 700, 500): made.avif(700, 500),
}


def test_the_head_of_each_format_is_measured_or_refused_with_a_reason() -> None:
    """Turned by EXIF; what follows is not looked at; cut at or changed in any byte, it raises nothing."""
    for size, data in HEADS.items():
        assert measured(data) == size
        assert measured(data + b"<script>alert(1)</script>PK\x03\x04") == size, "what follows changes nothing"
    for data in HEADS.values():
        for end in range(min(len(data), 150)):
            assert isinstance(measured(data[:end]), tuple | str)
            for byte in (0, 0x7F, 0xFF):
                assert isinstance(measured(data[:end] + bytes([byte]) + data[end + 1 :]), tuple | str)


def test_images_are_found_in_a_text() -> None:
    """In all ways in which Markdown writes them, in bounded number and linear time, at places inside of the source."""
    assert image_place("a/../../b.png", "memos/inbox") == "memos/b.png"
    assert image_place("..\\img\\b.png", "memos") == "img/b.png"
    assert image_place("/b.png", "memos/inbox") == "b.png"
    assert image_place("/../../b.png", "memos/inbox") is None
    for written in ("../../../b.png", "../../..", "HTTP://a/b.png", "/%2e%2e/b.png", "%2e%2e/%2e%2e/%2e%2e/b.png"):
        assert image_place(written, "memos/inbox") is None, written
    text = (
        "![a](b.png) ![c [d](e.md)](f.png 'g') [![h](i.png)](j.md) [k](l.png) ![m](<n o.png>)\n"
        "![p][q] ![r] ![s][] ![no][none]\n\n[Q]: t.png\n[r]: u.png\n[s]: v.png\n[w]: x.png\n![](y.png)"
    )
    assert find_images(text) == ("b.png", "f.png", "i.png", "n o.png", "t.png", "u.png", "v.png", "y.png")
    many = "".join(f"![a]({number}.png)" for number in range(IMAGES + 10))
    assert len(find_images(many)) == IMAGES
    assert find_images("![" * 50_000) == () and len(find_images("![a](" * 20_000)) < 2
