"""Positions: which seat a name stands for, and what each position is known by (SPEC 3, positions)."""

import pytest

from memosite.archive.cite import participants
from memosite.archive.model import Archive, Transcript
from memosite.facts.names import short_hash
from memosite.facts.parsed import Envelope, Fact, Relationship, Seat
from tests.support.archives import findings, memo, rules_found
from tests.support.facts import archive_of, envelope, organization, resolve_facts, transcript


def stands_for(name: str, *organizations: Fact, aliases: dict[str, str] | None = None) -> str:
    """The position that a recipient's name stands for."""
    return archive_of(envelope(to=name), *organizations, aliases=aliases or {}).position_of[name]


def test_a_name_is_an_id_a_role_or_an_id_with_its_organization() -> None:
    """Exact id, role_definition.id, `<org without -spec/-org>-<id>`, and `org/id`; anything else stays as named."""
    for name, position in [
        ("strategist", "strategist"),
        ("senior-strategist", "strategist"),
        ("memodef-strategist", "strategist"),
        ("memodef-spec/strategist", "strategist"),
        ("memodef/strategist", "strategist"),
        ("memodef-spec-strategist", "memodef-spec-strategist"),
        ("Strategist", f"Strategist~{short_hash('Strategist')}"),
        ("tester", "tester"),
    ]:
        org = organization("memodef-spec", Seat(id="strategist", name="Strategist", role_id="senior-strategist"))
        assert stands_for(name, org) == position


def test_an_alias_comes_first_a_tie_stays_as_named_and_the_unknown_have_one_note_each() -> None:
    """An id before a role, that before an organization's name; never a guess; with the number of files."""
    org = organization("acme", "engineer", Seat(id="tester", name="Tester", role_id="senior-tester"))
    assert stands_for("engineer", org, aliases={"engineer": "senior-tester"}) == "tester"
    assert stands_for("old", org, aliases={"old": "acme/engineer"}) == "engineer"
    assert stands_for("old", org, aliases={"old": "new"}) == "new"
    a, b = Seat(id="a", name="A", role_id="b"), Seat(id="b", name="B", role_id="acme-c")
    org = organization("acme", a, b, Seat(id="c", name="C"))
    assert [stands_for(name, org) for name in ("b", "acme-c", "acme-b")] == ["b", "b", "b"]
    org = organization("acme", Seat(id="a", name="A", role_id="dev"), Seat(id="b", name="B", role_id="dev"))
    archive = archive_of(envelope(to="dev", sender="a"), org)
    assert archive.position_of["dev"] == "dev" and archive.positions["dev"].seats == ()
    (finding,) = findings(archive)
    assert finding.rule.id == "position-ambiguous" and "a or b" in finding.message
    org = organization("acme", Seat(id="a", name="A", role_id="acme-c"), Seat(id="b", name="B", role_id="acme-c"), "c")
    assert stands_for("acme-c", org) == "acme-c"
    memos = [envelope("a", to="tester"), envelope("b", to="tester"), envelope("c", sender="tester", to="engineer")]
    archive = archive_of(*memos, organization("acme", "engineer"))
    (finding,) = findings(archive)
    assert finding.rule.id == "position-unlisted" and "tester" in finding.message and "3 files" in finding.message
    assert finding.location.path == "memos/a.openthing"
    assert archive_of(*memos).findings == ()
    edge = Relationship(type="coordinates_with", sender="engineer", to="external:county")
    org = organization("acme", "engineer", relationships=(edge,))
    assert archive_of(envelope(sender="county", to="engineer"), org).findings == ()


def test_one_id_in_two_organizations_is_a_union_and_ids_that_differ_by_case_share_no_folder() -> None:
    """The plain URL stays; a copy of an orgdef is no second organization; the listed id keeps its folder."""
    archive = archive_of(
        envelope("a", to="strategist"),
        envelope("b", to="x/strategist"),
        envelope("c", to="y-strategist"),
        organization("x-spec", "strategist", "engineer"),
        organization("y-org", "strategist"),
    )
    assert archive.positions["strategist"].union_of == ("x-spec~strategist", "y-org~strategist")
    found = [memo(archive, id_).recipients[0].position for id_ in "abc"]
    assert found == ["strategist", "x-spec~strategist", "y-org~strategist"]
    assert archive.positions["x-spec~strategist"].seats[0][0] == "x-spec"
    assert [name for name, _ in archive.positions["strategist"].seats] == ["x-spec", "y-org"]
    assert rules_found(archive) == {"position-ambiguous"}
    first, fork = organization("acme", "engineer"), organization("acme", "engineer", source="other")
    archive = archive_of(envelope(), first, fork, envelope("n", to="engineer"))
    assert archive.organizations == (first,)
    assert archive.positions["engineer"].union_of == () and "copies-differ" not in rules_found(archive)
    differing = organization("acme", "engineer", "tester", source="other")
    archive = archive_of(envelope(), first, differing)
    assert [finding.location.source for finding in findings(archive, "copies-differ")] == ["other"]
    assert "tester" not in archive.positions
    archive = archive_of(organization("", "a"), organization("", "b", path="org/b.openthing"))
    assert set(archive.positions) == {"a", "b"}
    archive = archive_of(envelope(to="Engineer", sender="engineer"), organization("acme", "engineer"))
    assert set(archive.positions) == {"engineer", archive.position_of["Engineer"]}
    assert archive.position_of["Engineer"].startswith("Engineer~")
    _, ledger = resolve_facts(envelope(to="engineer"))
    archive, _ = resolve_facts(envelope(to="engineer"), organization("acme", "Engineer"), ledger=ledger)
    assert archive.position_of["engineer"] == "engineer" and archive.positions["engineer"].seats == ()
    (listed,) = [position for position in archive.positions.values() if position.seats]
    assert listed.id.startswith("Engineer~")
    made = stands_for("../../etc")
    assert "/" not in made and not made.startswith(".")


def test_the_plain_address_belongs_to_the_spelling_that_most_files_use() -> None:
    """Of equal ones to the earliest; one memo with another capital takes nothing away. A ledger is before all."""

    def named(*names: str) -> list[Envelope]:
        """A memo to each, a day after the one before."""
        return [envelope(f"m{day}", to=to, sent=f"2026-05-{day:02}T09:00:00Z") for day, to in enumerate(names, 1)]

    def plain(*names: str) -> str:
        positions = archive_of(*named(*names)).position_of
        return next(name for name in names if positions[name] == name)

    for one, other in (("quay", "Quay"), ("Quay", "quay"), ("QUAY", "quay"), ("quay", "QUAY")):
        assert plain(one, one, other) == plain(other, one, one) == plain(one, other) == one
    _, ledger = resolve_facts(*named("Quay"))
    assert resolve_facts(*named("quay", "quay", "Quay"), ledger=ledger)[0].position_of["Quay"] == "Quay"


def test_names_are_found_everywhere_all_are_kept_and_a_working_directory_names_the_repo() -> None:
    """In memos, notes, transcripts, role folders; by the last segment of a directory, which is never opened."""
    for directory in ["other", "../other", "/srv/org/other", "C:\\org\\Other\\", "s:/org/other/", "~/org/other"]:
        seat = Seat(id="director", name="Director", working_directory=directory)
        archive = archive_of(envelope(), organization("acme", seat))
        assert archive.positions["director"].repo == "other", directory
    archive = archive_of(
        envelope(sender="a", to="b"),
        envelope("n", "notes/c/n.openthing", kind="note", sender="d", to="file"),
        transcript("t", positions=("e", "f"), path="transcripts/g/t.openthing"),
        organization("acme", "h"),
    )
    assert set(archive.positions) == set("abcdefgh")
    assert archive.artifacts[("transcript", "t")].positions == ("e", "f", "g")
    assert archive.artifacts[("note", "n")].positions == ("c", "d")
    archive = archive_of(envelope(to=("a", "b", "acme/a")), organization("acme", "a", "b"))
    assert [state.position for state in memo(archive, "m").recipients] == ["a", "b"]
    assert memo(archive, "m").positions == ("a", "b", "engineer")
    archive = archive_of(envelope(to=("all", "file")))
    assert set(archive.positions) == {"engineer"}
    memos = envelope("a", to="old"), envelope("b", to="acme-new")
    archive = archive_of(*memos, organization("acme", "new"), aliases={"old": "new"})
    assert archive.positions["new"].names == ("acme-new", "old") and archive.positions["new"].name == "New"
    archive = archive_of(envelope(), aliases={"old": "new"})
    assert set(archive.positions) == {"director", "engineer"} and "old" not in archive.position_of
    here, *there = envelope("a"), envelope("b", source="other"), envelope("c", source="other")
    archive = archive_of(here, *there, organization("acme", "nobody"))
    assert archive.positions["director"].repo == "other"
    assert archive.positions["engineer"].repo is None and archive.positions["nobody"].repo is None
    assert archive_of(here, there[0]).positions["director"].repo == "repo"


def test_a_director_is_a_person_unless_something_else_is_said() -> None:
    """By default; else people are configured or human, by any name, in each organization."""
    human, session = (Seat(id=id_, name=id_, incumbent_kind=kind) for id_, kind in (("a", "Human"), ("b", "session")))
    org = organization("acme", human, session, "c")
    archive = archive_of(envelope(), org, people=("acme-c", "director", "nobody"))
    assert {id_ for id_, position in archive.positions.items() if position.is_person} == {"a", "c", "director"}
    archive = archive_of(organization("x", "director"), organization("y", "director"), people=("director",))
    assert all(position.is_person for position in archive.positions.values()) and len(archive.positions) == 3
    session = Seat(id="director", name="Director", incumbent_kind="session")
    assert people(archive_of(envelope(to="director"), organization("acme", "director"))) == {"director"}
    assert people(archive_of(envelope(to="director"))) == {"director"}
    assert people(archive_of(envelope(to="Director"))) == {"Director"}
    both = archive_of(organization("x", "director"), organization("y", "director"))
    assert people(both) == {"director", "x~director", "y~director"}
    assert people(archive_of(envelope(to="director"), organization("acme", session))) == set()
    configured = archive_of(envelope(to="director"), organization("acme", session), people=("director",))
    assert people(configured) == {"director"}
    assert people(archive_of(envelope(to="director"), people=())) == set()
    desk = Seat(id="desk", name="Desk", incumbent_kind="shared")
    held = archive_of(transcript(positions=("desk",)), organization("acme", desk, session, human), people=())
    assert people(held) == {"a"}
    assert {id_ for id_, position in held.positions.items() if position.has_person} == {"a", "desk"}
    (talk,) = (one for one in held.artifacts.values() if isinstance(one, Transcript))
    assert [one.position for one in participants(held, talk)[1]] == ["desk"], "a session spoke, not the person"
    assert people(archive_of(envelope(to="director", sender="engineer"), people=("engineer",))) == {"engineer"}


@pytest.mark.parametrize(
    ("incumbent", "holder"),
    [
        ("Margaret Osei <margaret@fernhill.example>", "Margaret Osei"),
        (
            "Ada Quist <ada@harbour.example>, Bo Lind <bo@harbour.example> and a session",
            "Ada Quist, Bo Lind and a session",
        ),
        ("<desk@harbour.example>", "<desk@harbour.example>"),
        ("desk@harbour.example", "desk@harbour.example"),
        ("a < b @ c > d", "a < b @ c > d"),
        (None, ""),
    ],
)
def test_a_holder_is_named_without_an_address_of_mail(incumbent: str | None, holder: str) -> None:
    """Unless that is all that is said."""
    assert Seat(id="a", name="A", incumbent=incumbent).holder == holder


def people(archive: Archive) -> set[str]:
    """The positions that are people."""
    return {id_ for id_, position in archive.positions.items() if position.is_person}
