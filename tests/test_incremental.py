"""What is made again: only what changed, and exactly what changed."""

import gc
import json
import marshal
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import etree

from memosite.archive.ledger import read_ledger, ref_of
from memosite.archive.model import Archive
from memosite.archive.seals import SEALS_PATH, parse_seals
from memosite.build import build as run_build
from memosite.cli import main
from memosite.commands.build import now
from memosite.config.loading import load_config
from memosite.facts.errors import OutputError
from memosite.facts.values import replace
from memosite.plan.context import Context
from memosite.plan.traced import Digests
from memosite.remake.manifest import key_of, read_manifest, read_states
from memosite.remake.memory import Memory
from memosite.remake.report import Listener
from memosite.render.theme import Theme, load_theme
from memosite.store.output import OutputFolder
from memosite.store.state import BUILDS, FILE, FILES, READS, SCANS, UNITS, Row, State, Table
from tests.support.builders import WAYS, Builder, fault_of_build
from tests.support.commands import command_line, running
from tests.support.memos import write_memo
from tests.support.organization import Organization
from tests.support.repos import Repo
from tests.support.servers import serve_folder
from tests.support.sites import build_site, built_example, built_from_nothing, copy_example, file_states, tree_bytes
from tests.support.staying import Staying
from tests.support.trials import Step, do
from tests.support.waiting import wait_until

LEDGER = "archive/ledger.jsonl"
CATALOG = "governance/org/fernhill-library-organization.opencatalog"
Capture = pytest.CaptureFixture[str]

BEFORE_KILLS = ("add_memo", "move", "edit_word", "edit_field", "delete", "corrupt", "restore", "commit", "change_theme")
KILLS = int(os.environ.get("MEMOSITE_KILLS", "1"))

run = partial(run_build, clock=now)
"""Build as a process does that stays."""


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """A copy of the example that a test may change."""
    return copy_example(tmp_path / "organization")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A site of four memos between different people in different months, for what does not depend on what is in it."""
    site = tmp_path / "small"
    for month, names in enumerate(("strategist--director", "director--engineer", "opac-engineer--clerk", "a--b"), 1):
        sender, to = names.split("--")
        name = f"2026-0{month}-01-0900--{names}--m"
        write_memo(site / "website/memos/read", name, sender=sender, to=to, sent=f"2026-0{month}-01T09:00:00Z")
    for part in ("static", "templates"):
        (site / "theme" / part).mkdir(parents=True)
    (site / "memosite.yml").write_text("sources: [{path: website}]\ntheme: theme\n")
    return site


def write_one_more(organization: Path, number: int = 0, sent: str = "2026-05-01T14:30:00Z") -> None:
    """A memo between seats that are known: pages of others stay as they are."""
    name = f"2026-06-01-0900--strategist--opac-engineer--one-more{f'-{number}' if number else ''}"
    write_memo(organization / "website/memos/inbox", name, sender="strategist", to="opac-engineer", sent=sent)


def build(site: Path, *arguments: str) -> None:
    """Build in one process."""
    build_site(site, "--jobs", 1, *arguments)


def test_one_memo_touches_its_own_pages_and_what_lists_it(organization: Path) -> None:
    """Pages of other threads, other months and other seats are not even written again."""
    build(organization)
    before = file_states(organization / "_site")
    write_one_more(organization)
    build(organization)
    after = file_states(organization / "_site")
    changed = {path for path, state in after.items() if before.get(path) != state}
    assert {"index.html", "feed.xml", "archive/ledger.jsonl"} < changed
    untouched = [path for path in before if path.startswith(("memos/2026-02", "memos/2026-03", "timeline/2026/03"))]
    assert len(untouched) > 50
    assert not changed & set(untouched)


def planned(site: Path) -> int:
    """How many units a build plans; one that is up to date plans none."""
    counts = [0]

    def noted(step: str, _done: int, count: int) -> None:
        counts.append(count if step == "make" else 0)

    with Memory(writes_at_once=True) as memory:
        run(load_config(site), memory=memory, progress=noted)
    return max(counts)


CHANGES_OF_POSITIONS = {
    "alias": ("memosite.yml", "opac-engineer: web-engineer}", "opac-engineer: web-engineer, x: y}"),
    "people": ("memosite.yml", "people: [director]", "people: [director, strategist]"),
    "renamed": (CATALOG, "Web engineer", "Engineer of the web"),
    "staffed": (CATALOG, '"vacant"', '"staffed"'),
}


def test_a_change_of_positions_plans_what_shows_them(organization: Path) -> None:
    """Not every page of the site: what reads a position is known by its name. First one that nobody knew comes."""
    everything = planned(organization)
    inbox = organization / "website/memos/inbox"
    write_memo(inbox, "2026-06-01-0900--newcomer--web-engineer--first", sender="newcomer")
    found = {"newcomer": planned(organization)}
    for change, (path, old, new) in CHANGES_OF_POSITIONS.items():
        text = (organization / path).read_text(encoding="utf-8")
        assert old in text
        (organization / path).write_text(text.replace(old, new), encoding="utf-8")
        found[change] = planned(organization)
    assert {change: count for change, count in found.items() if not 0 < count < everything / 2} == {}


def test_a_new_day_plans_pages_with_ages_and_not_all_that_positions_have(organization: Path) -> None:
    """The page of a position counts days to the newest one; the parts of its stream and its twins do not."""
    write_one_more(organization)
    build(organization)
    write_one_more(organization, 1)
    same_day = planned(organization)
    positions = len(list((organization / "_site/positions").glob("*/index.json")))
    write_one_more(organization, 2, sent="2026-06-02T09:00:00Z")
    assert same_day < planned(organization) < same_day + positions + 12


def test_what_only_the_pipeline_needs_is_not_loaded_where_nothing_has_changed(small: Path) -> None:
    """It would take longer than to find that out."""
    told = "import sys; from memosite.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", told, "build", str(small), "--quiet"]
    packages = ("reading.reader", "reading.gate", "formats.adapters", "resolve", "plan", "remake.making")
    later = {*(f"memosite.{name}" for name in packages), "memosite.render.renderer", "jinja2"}
    loaded = [set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()) for _ in range(2)]
    assert later <= loaded[0]
    assert "memosite.build" in loaded[1]
    assert later & loaded[1] == set()


def test_only_what_does_not_lie_there_as_it_was_left_is_made_again(organization: Path, capsys: Capture) -> None:
    """A second build leaves times and inodes as they are, and so does one without the cache, which costs only time.

    What somebody edited, emptied or deleted in the site is made anew. `--profile` has a row a stage, and their sum.
    """
    build(organization)
    site = organization / "_site"
    before, expected = file_states(site), tree_bytes(site)
    build(organization)
    assert file_states(site) == before
    shutil.rmtree(organization / ".memosite")
    capsys.readouterr()
    assert main(["build", str(organization), "--profile"]) == 0
    rows = [row.split() for row in capsys.readouterr().out.split("stage ")[1].splitlines()[1:]]
    stages = ("start", "list", "read", "resolve", "plan", "decide", "make", "finish", "all")
    assert tuple(row[0] for row in rows) == stages
    assert all(float(cell) >= 0 for row in rows for cell in row[1:])
    assert file_states(site) == before
    (site / "actions/index.html").write_text("<p>Nothing to do.</p>")
    (site / "archive/index.json").unlink()
    shutil.rmtree(site / "timeline")
    build(organization)
    assert tree_bytes(site) == expected


def manifest_rows(site: Path) -> dict[str, list[Row]]:
    """What the cache holds of the last build."""
    with State(site / ".memosite/internal") as state:
        return {table.name: state[table].items() for table in (UNITS, FILES, READS, BUILDS)}


@pytest.mark.parametrize("table", [UNITS, FILES, READS, BUILDS], ids=lambda table: table.name)
def test_a_manifest_of_which_a_row_is_missing_or_not_ours_is_none(small: Path, table: Table) -> None:
    """Whichever it is: never is a part of one believed. It is made anew, and the site is what it was."""
    build(small)
    expected = tree_bytes(small / "_site")
    for change in ("DELETE FROM {0} WHERE rowid = (SELECT max(rowid) FROM {0})", "UPDATE {0} SET value = x'00'"):
        with sqlite3.connect(small / ".memosite/internal/state.sqlite") as sql:
            sql.execute(change.format(table.name))
        sql.close()
        with State(small / ".memosite/internal") as state:
            output = key_of(small / "_site")
            if table is not BUILDS:
                assert not list(read_states(state, output)) or table is not FILES
                assert not read_manifest(state, output).units
        (small / "_site/index.html").unlink()
        build(small)
        assert tree_bytes(small / "_site") == expected, change
        (small / "_site/index.html").unlink()
        build(small)  # one that finds such a row while it builds has no file to write into
        assert tree_bytes(small / "_site") == expected, change
        assert all(manifest_rows(small).values()), change


def test_one_memo_more_writes_the_rows_that_changed_and_reads_of_nobody_go(small: Path) -> None:
    """Units that were kept have the rows of before, and numbers of reads keep their meaning."""
    for number in range(20):
        write_one_more(small, number)
    build(small)
    first = manifest_rows(small)
    write_one_more(small, 30)
    build(small)
    then = manifest_rows(small)
    for name in ("units", "files", "reads"):
        assert 0 < len(dict(then[name]).items() - dict(first[name]).items()) < len(then[name]), name
    [*_, newest] = sorted(small.rglob("*.openthing"))
    newest.unlink()
    build(small)
    with State(small / ".memosite/internal") as state:
        manifest = read_manifest(state, key_of(small / "_site"))
    used = {number for made in manifest.units.values() for number in made.reads or ()}
    assert used == {number for number, _, _ in manifest.reads}


def test_a_manifest_that_is_planted_or_not_of_the_last_build_does_no_harm(small: Path, tmp_path: Path) -> None:
    """It came with a repo, or is another cache's: no file of others is removed, and none is left over."""
    (tmp_path / "letter.txt").write_text("mine")
    build(small)
    paths = ("../../letter.txt", str(tmp_path / "letter.txt"))
    files = marshal.dumps([(path, "0", 1, 2, 3) for path in paths], 2)
    with sqlite3.connect(small / ".memosite/internal/state.sqlite") as sql:
        sql.execute("INSERT INTO files VALUES (?, 'memo/x', ?)", (key_of(small / "_site"), bytes(16) + files))
    sql.close()
    write_one_more(small)
    build(small)
    assert (tmp_path / "letter.txt").read_text() == "mine"
    write_one_more(small, 1)
    build(small, "--cache", str(tmp_path / "other"))
    theme = small / "theme/static/extra.css"
    theme.write_text("/* only for a while */")
    build(small, "--cache", str(tmp_path / "other"))
    theme.unlink()
    build(small)
    assert tree_bytes(small / "_site") == built_from_nothing(small, tmp_path / "clean")


def test_a_build_that_read_an_older_ledger_writes_nothing(small: Path) -> None:
    """Two builds at once: what the first to end noted of arrivals is never written over (SPEC 10)."""
    config = load_config(small)
    ledger = small / "_site" / LEDGER
    noted: list[bytes] = []

    def other(stage: str, _done: int, _total: int) -> None:
        if stage == "plan":
            write_one_more(small)
            build(small)
            noted.append(ledger.read_bytes())

    with pytest.raises(OutputError, match="run the command again"):
        run(config, progress=other)
    assert [ledger.read_bytes()] == noted
    build(small)
    assert ledger.read_bytes() == noted[0]


def test_a_build_that_was_killed_alone_leaves_the_next_one_free(small: Path) -> None:
    """Its processes end with it, and with them the lock of the output."""
    for number in range(200):
        write_one_more(small, number)
    output = small / "_site"
    with running(_command(small), stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: sum(1 for _ in output.rglob("*.html")) > 40)
        process.kill()
    build(small)


def test_findings_cannot_be_traced_and_a_new_saved_search_plans_no_page_again(small: Path) -> None:
    """Findings belong to no key; a search is not among what every page is planned with, as settings of feeds are."""
    from memosite.plan import context_of
    from memosite.plan.health import plan_health
    from memosite.plan.traced import common_values, traced
    from memosite.reading.archive import open_archive

    config = load_config(small)
    with open_archive(config) as handle:
        archive, _ = handle.read()
        context = traced(context_of(config, archive, handle.shelf), set())
        with pytest.raises(TypeError, match="must not be traced"):
            list(plan_health(context))
        for look in (bool, len, tuple):
            with pytest.raises(TypeError, match="must not be traced"):
                look(context.archive.findings)
        searching = replace(config, searches={"late": "is:open"})
        weekly = replace(config, feeds=replace(config.feeds, digest="weekly"))
        settings = (config, searching, weekly)
        values = [common_values(context_of(setting, archive, handle.shelf)) for setting in settings]
    assert values[0] == values[1] != values[2]


def test_a_theme_saved_while_loaded_is_not_built_yet(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next build sees that another theme lies there; what was read is kept, even if that build fails."""
    style = small / "theme/static/extra.css"
    style.write_text("/* one */")

    def load(folder: Path | None, language: str) -> Theme:
        loaded = load_theme(folder, language)
        style.write_text("/* two */")
        return loaded

    with monkeypatch.context() as patched:
        patched.setattr("memosite.build.load_theme", load)
        build(small)
    build(small)
    assert tree_bytes(small / "_site") == built_from_nothing(small, tmp_path / "clean")
    (small / "theme/templates/memo.html").write_text("{{ page.nothing }}")
    (small / ".memosite/internal" / FILE).unlink()
    assert main(["build", str(small), "--quiet", "--jobs", "1"]) == 2
    with State(small / ".memosite/internal") as state:
        assert state[SCANS].count()


def test_what_a_server_remembers_is_not_written_over_another_build(small: Path, tmp_path: Path) -> None:
    """Neither after it nor beside it: files that only that one knows would stay for ever."""
    config = load_config(small)
    with Memory() as memory:
        run(config, memory=memory)
        other = OutputFolder(config.output)
        other.lock()
        memory.write()
        assert not manifest_rows(small)["units"]
        other.unlock()
        write_one_more(small)
        build(small)
        before = manifest_rows(small)
        memory.write()
        assert manifest_rows(small) == before
        run(config, memory=memory)
        memory.write()
        assert manifest_rows(small) != before
    assert tree_bytes(small / "_site") == built_from_nothing(small, tmp_path / "clean")


def test_histories_not_read_or_of_a_link_are_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git may have been missing for a moment; a link is no content: its second commit receives the file."""
    repo = Repo(tmp_path / "repo")
    write_memo(repo.root / "memos/inbox", "2026-05-01-1430--a--b--first")
    repo.commit()
    (tmp_path / "memosite.yml").write_text("sources:\n  - path: repo\n")
    with Memory() as memory:
        with monkeypatch.context() as patched:
            patched.setenv("PATH", str(tmp_path))
            run(load_config(tmp_path), memory=memory)
        (tmp_path / "memosite.yml").write_text("title: Another\nsources:\n  - path: repo\n")
        run(load_config(tmp_path), memory=memory)
    page = next((tmp_path / "_site/memos").glob("*first*/index.html")).read_text()
    assert "Another" in page
    assert "git cannot" not in page
    assert "Ann Other" in page
    linked = tmp_path / "linked"
    repo = Repo(linked / "repo")
    name = "2026-05-01-1430--a--b--first"
    write_memo(repo.root / "memos/inbox", "2026-05-01-0900--a--b--other")
    (repo.root / f"memos/inbox/{name}.openthing").symlink_to("2026-05-01-0900--a--b--other.openthing")
    repo.commit()
    (linked / "memosite.yml").write_text("sources:\n  - path: repo\n")
    with Memory() as memory:
        run(load_config(linked), memory=memory)
        (repo.root / f"memos/inbox/{name}.openthing").unlink()
        write_memo(repo.root / "memos/inbox", name)
        repo.commit()
        run(load_config(linked), memory=memory)
    assert tree_bytes(linked / "_site") == built_from_nothing(linked, linked / "clean")
    assert not (linked / f"_site/memos/{name}/changes").exists()


def test_a_server_believes_what_it_left(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Browsers do not wait; what was changed since, or written before a failure, is made again afterwards."""
    config = load_config(small)
    with Memory() as memory:
        run(config, memory=memory)
        assert memory.check()
        page = min((small / "_site/memos").glob("*/index.html"))
        page.write_text("spoiled")
        write_one_more(small)
        run(config, memory=memory)
        assert not memory.check()
        run(config, memory=memory)
        assert memory.check()
        assert page.read_text() != "spoiled"
    assert tree_bytes(small / "_site") == built_from_nothing(small, tmp_path / "clean")
    memo = min(small.glob("*/memos/*/*.openthing"))
    before = memo.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with Memory() as memory:
        run(config, memory=memory)
        memo.write_bytes(before.replace(b'"subject": "', b'"subject": "Changed: '))
        with monkeypatch.context() as patched:
            patched.setattr("memosite.remake.report.status_of", fail)
            with pytest.raises(OSError, match="No space left"):
                run(config, memory=memory)
        memo.write_bytes(before)
        run(config, memory=memory)
    assert tree_bytes(small / "_site") == built_from_nothing(small, tmp_path / "clean")


def test_what_a_server_no_longer_needs_is_given_back_at_once(small: Path) -> None:
    """Nothing that holds an archive waits for the garbage collector, which is asleep while a server builds."""
    config = load_config(small)
    gc.collect()
    gc.disable()
    try:
        with Memory() as memory:
            for step in range(4):
                write_memo(small / "website/memos/inbox", f"2026-06-01-090{step}--strategist--opac-engineer--x")
                run(config, memory=memory)
            classes = [type(kept) for kept in gc.get_objects()]
            kept = {class_: classes.count(class_) for class_ in (Digests, Context, Archive)}
    finally:
        gc.enable()
    assert kept == {Digests: 1, Context: 1, Archive: 1}


def test_a_page_of_search_that_reloads_finds_all_of_its_blocks(small: Path) -> None:
    """What it loads afterwards belongs to what it has loaded, whether it is new itself or reloads with all others."""
    shown: list[dict[str, bytes]] = []

    class Searching(Listener):
        def output_written(self, path: str) -> None:
            if path == "search/index.html":
                self.all_written()

        def all_written(self) -> None:
            shown.append({path: data for path, data in tree_bytes(small / "_site").items() if "search" in path})

    build(small)
    write_one_more(small)
    settings = small / "memosite.yml"
    settings.write_text(settings.read_text() + "feeds: {searches: {from-strategist: 'from:strategist'}}\n")
    with Memory() as memory:
        run(load_config(small), memory=memory, listener=Searching())
    after = {path: data for path, data in tree_bytes(small / "_site").items() if "search" in path}
    assert len(after) > 3
    assert b"from-strategist" in after["search/index.html"]
    assert shown == [after, after]


def test_a_page_is_announced_when_what_is_made_with_it_is_there(small: Path) -> None:
    """A thread's page leads to its memos, and a memo's page to its twins and its original."""
    missing: list[str] = []

    class Following(Listener):
        def output_written(self, path: str) -> None:
            page = small / "_site" / path
            if path.startswith(("memos/", "threads/")) and path.endswith(".html"):
                links = re.findall(r'href="([^"#?:]+)"(?! rel="(?:prev|next)")', page.read_text())  # these lead back
                found = [(page.parent / unquote(link)).resolve() for link in links]
                missing.extend(str(one) for one in found if not one.exists() and one.suffix != ".xml")  # feeds go last

    build(small)
    name = "2026-06-01-0900--strategist--opac-engineer--one-more"
    write_memo(small / "website/memos/inbox", name, sender="strategist", to="opac-engineer")
    answer = name.replace("0900", "1000").replace("one-more", "and-one")
    write_memo(small / "website/memos/inbox", answer, sender="strategist", to="opac-engineer", in_reply_to=name)
    with Memory() as memory:
        run(load_config(small), memory=memory, listener=Following())
    assert (small / "_site/memos" / answer / "index.html").exists()
    assert missing == []


def test_pages_are_shown_before_what_only_programs_read_is_written(small: Path) -> None:
    """Nobody who looks at a page waits for feeds and search; if nothing is new, nothing is shown."""
    config, shown = load_config(small), []
    memo = "memos/2026-06-01-0900--strategist--opac-engineer--one-more/index.html"
    pages = (memo, "index.html", "feeds/index.html", "feed.xml")

    class Looking(Listener):
        def output_written(self, path: str) -> None:
            if path == "index.html":
                self.all_written()

        def all_written(self) -> None:
            there = [small / "_site" / page for page in pages]
            shown.append([page.exists() and "one-more" in page.read_text() for page in there])

    build(small)
    with Memory() as memory:
        for step in range(3):
            if step == 1:
                write_one_more(small, sent="2026-06-01T09:00:00Z")  # the newest, so home has it
            run(config, memory=memory, listener=Looking())
    assert shown == [[True, True, False, False]] * 2  # when home is written, and when all is
    assert "one-more" in (small / "_site/feed.xml").read_text()


def test_a_server_goes_all_the_way_once_although_nothing_changed(small: Path) -> None:
    """It knows then what the first change is compared with."""
    build(small)
    before = file_states(small / "_site")
    with Memory() as memory:
        warm = []
        for is_forced in (False, True, False):
            memory.force_full_once = is_forced
            run(load_config(small), memory=memory)
            warm.append((memory.digests is not None, memory.force_full_once))
        assert warm == [(False, False), (True, False), (True, False)]
    assert file_states(small / "_site") == before


def test_a_killed_build_is_completed_by_the_next_one(tmp_path: Path) -> None:
    """Kill -9 at random moments: no reader sees half a file, and the next build ends as a clean one does (SPEC 9)."""
    rng, org = random.Random(20261122), Organization(tmp_path / "site")
    site, command = org.folder / "_site", _command(org.folder)
    began = time.monotonic()
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    longest = time.monotonic() - began + 1.0
    with Staying() as staying:
        for number in range(KILLS):
            done = [do(org, Step(rng.choice(BEFORE_KILLS), rng.randrange(2**32))) for _ in range(3)]
            with running(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
                end = time.monotonic() + rng.uniform(0, longest)
                while time.monotonic() < end and process.poll() is None:
                    assert_whole(site)
                with suppress(ProcessLookupError):  # it may just have ended
                    os.killpg(process.pid, signal.SIGKILL)
            assert_whole(site)
            if number % 4 == 3 or number == KILLS - 1:
                fault = fault_of_build(Builder(org, staying), WAYS["by two processes that end"], tmp_path / "clean")
                assert fault == "", done


def _command(site: Path) -> list[str]:
    return command_line("build", site, "--quiet", "--jobs", 2)


def assert_whole(site: Path) -> None:
    """What a reader may fetch just now is whole: pages end as pages do, feeds and twins can be parsed."""
    for path in ("index.html", "actions/index.html", "timeline/index.html", "404.html"):
        assert (site / path).read_bytes().endswith(b"</html>\n")
    for path in ("feed.xml", "positions/director/feed.xml"):
        etree.fromstring((site / path).read_bytes())
    json.loads((site / "archive/index.json").read_bytes())
    seals = parse_seals((site / SEALS_PATH).read_text())  # read first: the ledger may have grown since, never before it
    assert {ref_of(leaf.id) for leaf in seals.leaves} <= read_ledger(site).numbers.keys()


def test_a_build_elsewhere_goes_on_from_the_published_site(tmp_path: Path) -> None:
    """CI has no cache and an empty folder: ids and order of arrival are those that were published (SPEC 10)."""
    old, organization = built_example() / "_site", copy_example(tmp_path / "organization")
    gone = max(organization.glob("[!_]*/notes/**/*.openthing"))
    gone.unlink()
    with serve_folder(old) as address:
        for how, previous in (("folder", old), ("address", address)):
            new = tmp_path / how
            build(organization, "-o", str(new), "--cache", str(tmp_path / f"cache-{how}"), "--previous", str(previous))
            assert (new / LEDGER).read_bytes().startswith((old / LEDGER).read_bytes())
            assert "This item was removed" in (new / f"notes/{gone.stem}/index.html").read_text()
    before, new = tree_bytes(old), tmp_path / "folder"
    same = {path for path, data in tree_bytes(new).items() if before.get(path) == data}
    assert len(same) > 400
    assert {path for path in same if (old / path).stat().st_mtime != (new / path).stat().st_mtime} == set()
    changed = "positions/director/index.html"
    assert (new / changed).stat().st_mtime >= (old / changed).stat().st_mtime


def test_a_previous_site_that_is_none_or_went_on_apart_is_said(small: Path, tmp_path: Path, capsys: Capture) -> None:
    """A mistyped address must not lose every published URL, nor two ledgers, if mixed, give them another meaning."""
    arguments = ["build", str(small), "--previous"]
    assert main([*arguments, str(small / "website")]) == 2
    assert "leave the option out the first time" in capsys.readouterr().err
    with serve_folder(small) as address:
        assert main([*arguments, address]) == 2
    assert "404" in capsys.readouterr().err
    assert not (small / "_site").exists()
    build(small)
    build(small, "-o", str(tmp_path / "other"))
    for number, site in enumerate((small / "_site", tmp_path / "other")):
        with (site / LEDGER).open("a") as ledger:
            line = {"v": 1, "n": 900 + number, "kind": "memo", "id": f"m{number}", "key": f"{number}" * 16}
            ledger.write(json.dumps(line) + "\n")
    assert main([*arguments, str(tmp_path / "other")]) == 2
    assert "went on differently" in capsys.readouterr().err


def test_explain_says_what_a_file_is_made_of_and_why_it_is_new(small: Path, capsys: Capture) -> None:
    """By path, by folder, by address; before anything was built it says so."""
    ask = ["explain", "--site", str(small)]
    assert main([*ask, "index.html"]) == 2
    assert "run memosite build first" in capsys.readouterr().err
    build(small)
    for name in ("positions/director/index.html", "positions/director/", str(small / "_site/positions/director")):
        assert main([*ask, name]) == 0
        said = capsys.readouterr().out
        assert "made as   position/director" in said
        assert "by position director" in said
        assert "up to date" in said
    memo = next(path for path in (small / "website/memos").rglob("*director*.openthing"))
    memo.write_text(memo.read_text().replace('"subject": "', '"subject": "Now '))
    assert main([*ask, "positions/director/"]) == 0
    assert "outdated: " in capsys.readouterr().out
    assert main([*ask, "positions/directr/index.html"]) == 2
    assert "did you mean positions/director/index.html?" in capsys.readouterr().err
    assert main([*ask, "static/memosite.css"]) == 0
    assert "every build plans it" in capsys.readouterr().out
    assert main([*ask, "status.json"]) == 0
    assert "every build writes it" in capsys.readouterr().out
    assert main([*ask, "http://[::1"]) == 2
    assert "no address" in capsys.readouterr().err
