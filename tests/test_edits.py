"""After every edit a build gives the same bytes as a clean build with the same ledger (SPEC 10, determinism)."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.builders import WAYS, Builder, difference, fault_of_build
from tests.support.edits import EDITS
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.organization import DOCUMENTS, Organization, change_fields, field
from tests.support.sites import build_site
from tests.support.staying import Staying
from tests.support.trials import Step, check_steps, do, random_steps, run_steps, shrink

STEPS = int(os.environ.get("MEMOSITE_EDITS", "8"))
AT_ONCE = 50
"""So many edits one organization goes through: after more of them there is little left of it."""
Change = Callable[[Organization], object]
ENDING = [name for name, way in WAYS.items() if not way.stays]
STAYING = [name for name, way in WAYS.items() if way.stays]
GATE = "2026-05-01-0900--director--engineer--gate"
AGAIN = "2026-05-02-0900--engineer--director--gate-again"
LAMP = "2026-05-03-0900--porter--director--lamp"
LATE = "2026-06-20-0900--director--engineer--late"


@pytest.mark.parametrize("seed", range(20261123, 20261123 + max(1, STEPS // AT_ONCE)))
def test_after_random_edits_a_build_is_what_a_clean_one_would_be(seed: int, tmp_path: Path) -> None:
    """Whatever is added, moved, edited, merged, broken, configured or killed, and whoever has built before."""
    check_steps(tmp_path, random_steps(seed, min(STEPS, AT_ONCE), is_each_once=seed == 20261123))


@pytest.mark.parametrize("ways", [STAYING, ENDING], ids=["one process that stays", "processes that end"])
def test_each_kind_of_process_alone_builds_what_a_clean_build_would(ways: Sequence[str], tmp_path: Path) -> None:
    """What one of them wrote down may not hide what the other one forgot."""
    for seed in range(max(1, STEPS // 100)):
        check_steps(tmp_path / str(seed), random_steps(seed, min(max(3, STEPS // 5), AT_ONCE), ways=ways))


def test_a_process_that_stays_knows_what_it_built_also_without_a_cache(tmp_path: Path) -> None:
    """The cache is a file, so nothing can be written there: built again, and nothing has changed, it does nothing."""
    steps = [Step(name="block_cache", seed=1), Step(name="by the process that stays", seed=1)]
    assert run_steps(tmp_path, steps).fault == ""


@pytest.fixture
def org(tmp_path: Path) -> Organization:
    """The organization as it is at first."""
    return Organization(tmp_path / "site")


@pytest.fixture
def builder(org: Organization) -> Iterator[Builder]:
    """Builds it."""
    with Staying() as staying:
        yield Builder(org, staying)


def test_a_long_chain_is_cut_and_joined_again(org: Organization, builder: Builder, tmp_path: Path) -> None:
    """Of 60 replies, one in the middle names another parent, another is lost, and both are as before again."""
    inbox = org.folder / "desk/memos/inbox"
    stems = [f"2026-06-{1 + n // 24:02}-{n % 24:02}00--director--engineer--link-{n}" for n in range(60)]
    for number, stem in enumerate(stems):
        parent = f"{stems[number - 1]}.openthing" if number else None
        write_memo(inbox, stem, sender="director", to="engineer", in_reply_to=parent, body="One more.")
    middle, lost = inbox / f"{stems[30]}.openthing", inbox / f"{stems[44]}.openthing"
    before, text = middle.read_bytes(), lost.read_bytes()
    clean = tmp_path / "clean"
    assert fault_of_build(builder, WAYS["by the process that stays"], clean) == ""
    change_fields(middle, in_reply_to=f"{GATE}.openthing")
    lost.unlink()
    assert fault_of_build(builder, WAYS["by the process that stays"], clean) == ""
    middle.write_bytes(before)
    lost.write_bytes(text)
    assert fault_of_build(builder, WAYS["by a process that ends"], clean) == ""


def _rename_seat(org: Organization) -> object:
    file = org.folder / "office/org/acme-organization.openthing"
    seats = field(file, "positions")
    assert isinstance(seats, list)
    seats[2]["name"] = "Head of plans"
    return change_fields(file, positions=seats)


def _again(org: Organization, mailbox: str = "inbox", ending: str = "openthing") -> Path:
    return org.folder / f"office/memos/{mailbox}/{AGAIN}.{ending}"


def _give_title(org: Organization) -> None:
    org.settings["title"] = "Another harbour"
    org.configure()


EXPLAINED: dict[Change, dict[str, set[str]]] = {
    lambda org: change_fields(org.folder / f"office/memos/read/{GATE}.openthing", subject="Another gate"): {
        f"memos/{GATE}/": {GATE},
        f"memos/{AGAIN}/": {GATE},
        "positions/engineer/": {GATE, "position engineer", "received engineer"},
        "timeline/2026/05/": {GATE, "the items of the month"},
        f"memos/{LAMP}/": {"up to date"},
        "documents/desk.decisions.0002-plan.md/": {"up to date"},
    },
    lambda org: write_text(org.folder / "office" / DOCUMENTS[2], "# The third plan\n"): {
        f"memos/{AGAIN}/": {"0003-plan", AGAIN}
    },
    lambda org: change_fields(_again(org), to="strategist"): {
        "positions/strategist/": {AGAIN, "position strategist", "received strategist", "the position"},
        "positions/director/": {AGAIN, "position director", "received director"},
    },
    lambda org: change_fields(_again(org), to="director"): {},
    lambda org: write_text(_again(org, ending="body.md"), "Another text.\n"): {f"memos/{AGAIN}/": {AGAIN, "0001-plan"}},
    lambda org: write_memo(
        org.folder / "desk/memos/inbox", LATE, in_reply_to=f"{AGAIN}.openthing", sender="director", to="engineer"
    ): {f"{page}/": {LATE, AGAIN, "the thread changed"} for page in (f"memos/{AGAIN}", f"threads/{GATE}")},
    lambda org: write_text(org.folder / f"_site/memos/{AGAIN}/index.html", "spoiled"): {
        f"memos/{AGAIN}/": {f"memos/{AGAIN}/index.html"}
    },
    _rename_seat: {"positions/strategist/": {"strategist", "the organization"}},
    lambda org: _again(org).rename(_again(org, "read")): {
        "positions/director/": {AGAIN, "position director", "received director"}
    },
    lambda org: _again(org, "read").unlink(): {
        "timeline/2026/05/": {AGAIN, "the items of the month"},
        "positions/director/": {AGAIN, GATE, "position director", "received director"},
    },
    _give_title: {f"memos/{GATE}/": {"the configuration"}},
    lambda org: write_text(org.folder / "theme/templates/404.html", "{% extends 'base.html' %}\n"): {
        f"memos/{GATE}/": {"the theme"}
    },
}
"""What happens one after the other, a build before each, and for some pages what the reason may name."""


def test_explain_names_what_has_changed(org: Organization, capsys: pytest.CaptureFixture[str]) -> None:
    """The reason why a page would be made again is the memo, position or document that changed, if it would be."""
    for edit, named in EXPLAINED.items():
        build_site(org.folder, "--jobs", 1)
        edit(org)
        reasons = {page: reason_for(org, page, capsys) for page in named}
        wrong = {page: reason for page, reason in reasons.items() if not any(word in reason for word in named[page])}
        assert wrong == {}


def reason_for(org: Organization, page: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `explain` says of a page now."""
    assert main(["explain", "--site", str(org.folder), page]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("now ")]
    said = line.removeprefix("now ").strip()
    assert said.startswith(("outdated: ", "it shows the whole archive", "up to date; the next build keeps it"))
    return said


def test_a_difference_is_shown_and_steps_are_cut_down_to_those_that_matter() -> None:
    """Files too many, missing or of other bytes; an edit before a certain build, and another one after it."""
    clean = {"a.html": b"one\ntwo\n", "b.html": b"", "same": b"x", "folder/": b""}
    assert difference(clean, clean, set()) == ""
    found = {"a.html": b"one\n2\n", "c.html": b"", "same": b"x", "empty/": b""}
    said = difference(found, clean, set())
    assert said.startswith("5 wrong of 4: a.html, b.html, c.html, empty/, folder/")
    assert "-two\n+2\n" in said and "--- b.html: missing" in said and "--- c.html: too many" in said
    assert difference(found, clean, {"a.html", "b.html", "c.html", "empty/", "folder/"}) == ""
    steps = random_steps(7, 40, is_each_once=True)
    edits, builds = ([one for one in steps if one.is_build == is_build] for is_build in (False, True))
    first, build, second = edits[2], builds[5], edits[-1]

    def is_wrong(some: Sequence[Step]) -> bool:
        found = [one for one in some if one in (first, build, second)]
        return found == [first, build, second] and some[-1] == steps[-1]

    assert shrink(steps, is_wrong) == [first, build, second, steps[-1]]


def test_every_edit_does_something(org: Organization) -> None:
    """Each can, with one seed or another, in an organization that has gone through those before it.

    That a process was started, and builds, need not be shown.
    """
    build_site(org.folder, "--jobs", 1)
    idle = []
    for name in [name for name in EDITS if name not in {"kill_build", "terminate_build", "build_by_other_program"}]:
        before = tree_of(org.folder.parent), org.clock_jump
        for seed in range(20):
            said = do(org, Step(name, seed))
            if (tree_of(org.folder.parent), org.clock_jump) != before:
                break
        else:
            idle.append(f"{name}: {said}")
    assert idle == []


def tree_of(folder: Path) -> dict[str, tuple[int, ...]]:
    """The states of all files and folders below a folder."""
    found = {str(path): path.lstat() for path in folder.rglob("*")}
    return {path: (state.st_mode, state.st_size, state.st_mtime_ns, state.st_ino) for path, state in found.items()}
