"""Adds an invented record system to a copy of memosite, as one folder and one line, and looks for its records."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repos import Repo

ROOT = Path(__file__).parent.parent

PARSE = '''"""Reads logbooks: one entry a line, `2026-03-01 Title: text`."""

from memosite.facts.file import File
from memosite.facts.parsed import Parsed, RecordCard, RecordFile
from memosite.facts.texts import describe_text
from memosite.facts.times import read_moment
from memosite.formats import logbook
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS


def matches(file: File) -> bool:
    return file.name.endswith(".log") and file.text.startswith("LOGBOOK")


def parse(file: File) -> Parsed:
    cards, shelve, findings = [], [file.data], []
    for number, line in enumerate(file.markdown.splitlines()[1:], 2):
        day, _, rest = line.partition(" ")
        title, colon, text = rest.partition(": ")
        if not colon:
            findings.append(file.finding(logbook.ENTRY, f"line {number} has no title"))
            continue
        known, data = describe_text(text, RECORD_IDS)
        shelve.append(data)
        cards.append(RecordCard(
            system="logbook", key=f"{day}.{title.casefold()}", file=file.facts, type="entry", title=title, line=number,
            text=known, created=read_moment(day),
        ))
    fact = RecordFile(system="logbook", file=file.facts, records=tuple(cards))
    return file.parsed(fact, findings, *shelve)


ADAPTER = Adapter(matches, parse)
'''

SYSTEM = '''"""The record system logbook."""

from memosite.facts.findings import warning
from memosite.formats.system import RecordSystem

ENTRY = warning("logbook-entry", "the logbook's first page")("An entry without a title.", "Write a title and a colon.")

SYSTEM = RecordSystem(
    name="logbook",
    intro="What the harbour master wrote down.",
    rules=(ENTRY,),
    ids=(),
    endings=(".log",),
    parser="memosite.formats.logbook.parse",
    owns=lambda path: True if path.startswith("logbook/") else None,
    store_in=lambda parts, files: len(parts) - 1 if tuple(parts[-1:]) == ("logbook",) else None,
    foreign=lambda path: "a file beside the logbook",
    group=lambda card: ((0, 0, card.title[:1]), f"Under {card.title[:1]}"),
    is_decision=lambda card: card.title.startswith("Decided"),
)
'''


LOG = """LOGBOOK
2026-03-01 Buoys: The eastern buoys were painted vermilion.
2026-03-04 Decided on tariffs: Small boats pay nothing.
no title here
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of memosite with a fifth system: a folder, its import and its line."""
    folder = tmp_path_factory.mktemp("extended")
    for name in ("memosite", "templates", "static", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    logbook = folder / "memosite/formats/logbook"
    logbook.mkdir()
    for name, text in (("__init__", SYSTEM), ("parse", PARSE)):
        (logbook / f"{name}.py").write_text(text)
    registry = folder / "memosite/formats/systems.py"
    lines = registry.read_text().replace("from memosite.formats import ", "from memosite.formats import logbook, ")
    registry.write_text(lines.replace("memory_store.SYSTEM", "logbook.SYSTEM, memory_store.SYSTEM"))
    return folder


@pytest.fixture(scope="module")
def site(extended: Path) -> Path:
    """A site with a logbook in a git repo, built by the copy."""
    repo = Repo(extended / "site/harbour")
    repo.write("logbook/spring.log", LOG)
    repo.commit(at=0)
    assert memosite(extended, "build", "site").returncode == 0
    return extended / "site"


def memosite(extended: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(extended)}
    return subprocess.run(
        [sys.executable, "-m", "memosite", *arguments],
        cwd=extended, env=environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def test_its_records_have_pages(site: Path) -> None:
    """One each, a page of the system in its own groups, the page of decisions, and both feeds."""
    output = site / "_site"
    record = (output / "records/logbook/harbour.2026-03-01.buoys/index.html").read_text()
    assert "The eastern buoys were painted vermilion." in record
    overview = (output / "systems/logbook/index.html").read_text()
    assert "What the harbour master wrote down." in overview
    assert "Under B" in overview and "Under D" in overview
    decisions = (output / "decisions/index.html").read_text()
    assert "Decided on tariffs" in decisions and "Buoys" not in decisions
    for path in ("systems/logbook/feed.xml", "feed.xml"):
        assert "<title>Decided on tariffs</title>" in (site / "_site" / path).read_text()


def test_its_records_are_found_and_exported(extended: Path, site: Path) -> None:
    """By the command line and in the browser's search; findings on its files are told with its remedy."""
    found = json.loads(memosite(extended, "search", "vermilion system:logbook", "--json", "--site", "site").stdout)
    assert "buoys" in json.dumps(found)
    exported = memosite(extended, "export", "--site", "site").stdout.splitlines()
    assert [json.loads(line)["system"] for line in exported] == ["logbook", "logbook"]
    blocks = "".join(path.read_text() for path in (site / "_site/search").rglob("*.js"))
    assert "vermilion" in blocks
    said = memosite(extended, "check", "site", "--fail-on", "warning")
    assert said.returncode == 1
    assert "[logbook-entry]" in said.stdout and "Write a title and a colon." in said.stdout
    assert "logbook-entry" in (site / "_site/health/index.html").read_text()


def test_changes_of_its_files_are_noticed(extended: Path, site: Path) -> None:
    """Whatever their names end in, and before they are committed: the new text is on the page."""
    (site / "harbour/logbook/spring.log").write_text(LOG.replace("vermilion", "ochre"))
    assert memosite(extended, "build", "site").returncode == 0
    page = (site / "_site/records/logbook/harbour.2026-03-01.buoys/index.html").read_text()
    assert "buoys were painted ochre." in page
