"""Fuzzes the whole pipeline: a folder of a few damaged files is built, built again, edited, and built once more.

Every build ends well, whatever the files hold. What it writes is well-formed, bounded, leads nowhere it should not,
and is what a build from nothing would write.
"""

import io
import json
import re
from contextlib import redirect_stderr
from pathlib import Path

from hypothesis import strategies as st
from lxml import etree, html

from memosite.archive.ledger import LEDGER_PATH
from memosite.cli import main
from memosite.facts.layout import SITE_MARKER
from tests.support.cases import all_inputs
from tests.support.fuzzing import LEDGER_LINES, fuzz, jsonl, scratch
from tests.support.mutations import mutated, one_of
from tests.support.pages import bad_links, found
from tests.support.sites import build_site, built_from_nothing, file_states, tree_bytes

SEEDS = all_inputs()
WORDS = sorted({line for data in SEEDS.values() for line in data.split(b"\n") if 2 < len(line) < 60})[::5]
PATHS = sorted(SEEDS)
FILE = one_of(PATHS).flatmap(
    lambda at: st.tuples(one_of([at, at, *PATHS]), st.just(SEEDS[at]) | mutated([SEEDS[at]], WORDS))
)
Files = list[tuple[str, bytes]]


def write(site: Path, files: Files) -> None:
    """Write files below a source of the site; one in whose place is a folder already is left out."""
    for path, data in files:
        file = site / "quay" / path
        if not any(one.is_file() for one in file.parents) and not file.is_dir():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


def build(site: Path) -> dict[str, bytes]:
    """Build in one process; a build of any content ends well."""
    return tree_bytes(build_site(site, "--jobs", 1))


def check_site(site: Path, files: dict[str, bytes], size: int) -> None:
    """Every file of a site can be read by what it is for, and none is larger than what it is made of allows."""
    assert list(bad_links(site)) == []
    for path, data in files.items():
        assert len(data) <= 20 * size + 3_000_000, path
        name = path.rpartition("/")[2]
        if name.endswith((".xml", ".opml")):
            etree.fromstring(data)
        elif name in {"index.json", "feed.json"}:
            json.loads(data)
        elif name == "index.md":
            data.decode("utf-8")
        elif path == str(LEDGER_PATH):  # blank lines stay in it
            lines = data.decode("utf-8").split("\n")
            assert all(isinstance(json.loads(line), dict) for line in lines if line.strip())
        elif path.startswith("archive/") and name.endswith(".jsonl"):
            assert all(isinstance(json.loads(line), dict) for line in data.splitlines())
        elif name.endswith(".html"):
            check_page(data)


def check_page(data: bytes) -> None:
    """A page runs and loads nothing but its own files."""
    page = html.document_fromstring(data)
    assert not found(page, "//script[not(@src)]/text() | //iframe/@src | //object/@data | //@style | //style/text()")
    assert not found(page, "//@*[starts-with(name(), 'on')]")
    for address in found(page, "//@href | //@src | //@action"):
        assert not re.match(r"\s*(?:javascript|vbscript|data:text)", address, re.IGNORECASE)
    for address in found(page, "//script/@src | //link[@rel='stylesheet']/@href | //img/@src"):
        assert not re.match(r"[a-z]+:|//", address)


@fuzz(st.tuples(st.lists(FILE, min_size=1, max_size=6), st.lists(FILE, max_size=3)), examples=3)
def test_a_folder_of_damaged_files_is_built(case: tuple[Files, Files]) -> None:
    """Twice the same; and after some files changed, as if from nothing."""
    first, more = case
    with scratch() as folder:
        site = folder / "site"
        (site / "quay/memos/inbox").mkdir(parents=True)
        (site / "memosite.yml").write_text("sources: [{path: quay}]\ntitle: T\n")
        write(site, first)
        check_site(site / "_site", build(site), sum(len(data) for _, data in first))
        before = file_states(site / "_site")
        build(site)
        assert file_states(site / "_site") == before
        write(site, more)
        again = build(site)
        check_site(site / "_site", again, sum(len(data) for _, data in [*first, *more]))
        assert again == built_from_nothing(site, folder / "clean")


MEMO = b'{"type": "memodef:Memo", "from": "a", "to": "director", "subject": "S", "in_reply_to": "x", "body": "B"}'


@fuzz(mutated([jsonl(LEDGER_LINES) + b"\n"]), examples=4, known=[b" "])
def test_a_site_goes_on_from_a_damaged_ledger_or_refuses(ledger: bytes) -> None:
    """Whatever it names has a page or a tombstone, at an address within the site."""
    with scratch() as folder:
        site = folder / "site"
        write(site, [("memos/inbox/2026-05-01-1430--a--b--c.openthing", MEMO)])
        (site / "_site/archive").mkdir(parents=True)
        (site / "_site" / SITE_MARKER).touch()
        (site / "_site" / LEDGER_PATH).write_bytes(ledger)
        with redirect_stderr(io.StringIO()) as said:
            code = main(["build", str(site), "--quiet", "--jobs", "1"])
        if code:
            assert said.getvalue().startswith("memosite: ") and "ledger" in said.getvalue()
            return
        assert (site / "_site" / LEDGER_PATH).read_bytes().startswith(ledger)
        check_site(site / "_site", tree_bytes(site / "_site"), len(MEMO) + len(ledger))
