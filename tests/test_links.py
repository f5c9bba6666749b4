"""References and links: what a name stands for, and what texts mention, becomes a link and a backlink (SPEC 3)."""

from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.model import Library, Link, SourceInfo
from memosite.facts.parsed import DocumentHead, Envelope, LibraryCard, LibraryItem, Ref, Seat
from memosite.resolve.identity import CopyGroup, assign_ids, group_copies, join_bodies
from memosite.resolve.links import HasFile, LinkResolver, TextOrigin, backlinks
from memosite.resolve.threads import MESSAGES, NameIndex, ghost_refs
from tests.support.archives import EMPTY, links, memo, transcript_of
from tests.support.facts import archive_of, envelope, facts, no_line, organization, resolve_facts, text_of, transcript

NAME = "2026-05-01-1430--engineer--director--gate"


def document(path: str, *, source: str = "repo", text: str = "Text.", mentions: tuple[str, ...] = ()) -> DocumentHead:
    """A document in memory."""
    file = facts(path, source=source, content=path)
    return DocumentHead(file=file, title=path, status=None, date=None, text=text_of(text, mentions=mentions))


def library(id_: str, path: str = "catalog.opencatalog", *, source: str = "repo", **fields: object) -> LibraryCard:
    """A library in memory."""
    known = {"name": id_, "version": "", "description": "", "items": ()} | fields
    return LibraryCard(file=facts(path, source=source, content=f"{id_}{fields}"), id=id_, **known)  # type: ignore[arg-type]


def mentioning(*mentions: str, stem: str = "m", source: str = "repo", to: tuple[str, ...] = ()) -> Envelope:
    """A memo whose body mentions things and links `to` others."""
    text = text_of(" ".join((*mentions, *to)), mentions=mentions, destinations=to)
    return envelope(stem, f"memos/read/{stem}.openthing", source=source, body=text)


def target(written: str, *found: object, source: str = "repo") -> Ref | str | None:
    """Where a mention in a memo of a source leads."""
    archive = archive_of(mentioning(written, source=source), *found)  # type: ignore[arg-type] # they are facts
    return links(archive, ("memo", "m")).get(written)


def test_a_memo_is_found_in_its_own_source_first_and_links_have_backlinks() -> None:
    """By name, id, old path; each backlink once, none to itself; a library links to its files, forks share one."""
    for written in [
        NAME,
        f"{NAME}.openthing",
        f"{NAME}.body.md",
        f"memos/inbox/{NAME}.openthing",
        f"../../other/memos/{NAME}.OpenThing",
        f"C:\\org\\memos\\{NAME}.openthing",
        f"/srv/org/memos/inbox/{NAME}.body.md",
        f"{NAME}.openthing#top",
    ]:
        assert target(written, envelope(NAME, source="other")) == ("memo", NAME)
    found = [envelope(NAME, sender="a"), envelope(NAME, sender="b", source="other")]
    archive = archive_of(*found)
    (rival,) = [id_ for _, id_ in archive.artifacts if "~" in id_]
    assert target(NAME, *found) == ("memo", NAME) and target(NAME, *found, source="other") == ("memo", rival)
    assert target(rival, *found) == ("memo", rival)
    assert target("gate.openthing", envelope("gate")) == ("memo", "gate")
    assert target("gate", envelope("gate")) is None
    archive = archive_of(
        mentioning("b.openthing", "a.openthing", stem="a"),
        mentioning("a.openthing", "./a.openthing", stem="b"),
        transcript("t", body=text_of("x", mentions=("a.openthing",))),
    )
    assert links(archive, ("memo", "a")) == {"b.openthing": ("memo", "b")}
    assert archive.artifacts[("memo", "a")].backlinks == (("memo", "b"), ("transcript", "t"))
    assert backlinks({("memo", "a"): [Link(written="a", to=("memo", "a")), Link(written="u", url="u")]}) == {}
    one = envelope("m", body=text_of("x", mentions=("a.openthing",)), body_ref="m.body.md")
    archive = archive_of(one, envelope("a"))
    assert links(archive, ("memo", "m")) == {"a.openthing": ("memo", "a")}
    item = LibraryItem(id="i", name="I", version="", description="", file="memos/a.openthing")
    archive = archive_of(mentioning("catalog.opencatalog"), library("lib", items=(item,)), envelope("a"))
    assert links(archive, ("memo", "m")) == {"catalog.opencatalog": ("library", "lib")}
    assert archive.artifacts[("memo", "a")].backlinks == (("library", "lib"),)
    archive = archive_of(library("lib"), library("lib", source="other"), library("lib", "z.opencatalog", version="2"))
    assert sorted(len(one.copies) for one in archive.artifacts.values()) == [1, 2]
    first = archive.artifacts[("library", "lib")]
    assert isinstance(first, Library) and first.card.file == first.copies[0].file == library("lib").file


def test_a_document_is_found_by_any_path_at_home_first_and_keeps_its_id() -> None:
    """From the folder, the root, by name, absolute, else in the repo named; against case, and when it is gone."""
    for written in [
        *("decisions/gate.md", "./decisions/gate.md", "../../decisions/gate.md", "gate.md", "repo/decisions/gate.md"),
        *("../repo/decisions/gate.md", "S:\\org\\repo\\decisions\\gate.md", "/srv/org/decisions/gate.md"),
    ]:
        assert target(written, document("decisions/gate.md")) == ("document", "repo.decisions.gate.md")
    for written in ["other/decisions/gate.md", "decisions/gate.md", "s:/org/other/decisions/gate.md"]:
        assert target(written, document("decisions/gate.md", source="other")) == ("document", "other.decisions.gate.md")
    both = [document("decisions/gate.md"), document("decisions/gate.md", source="other")]
    assert target("decisions/gate.md", *both) == ("document", "repo.decisions.gate.md")
    assert target("decisions/gate.md", *both, source="other") == ("document", "other.decisions.gate.md")
    assert target("other/decisions/gate.md", *both) == ("document", "other.decisions.gate.md")
    assert target("gate.md", document("decisions/gate.md", source="other")) is None
    assert target("other/gate.md", document("gate.md", source="other")) == ("document", "other.gate.md")
    assert target("other/gate.md", document("decisions/gate.md", source="other")) is None
    assert target("gate.md", document("a/decisions/gate.md"), document("b/decisions/gate.md")) is None
    far = [document("a/decisions/gate.md", source="other"), document("b/decisions/gate.md", source="other")]
    assert target("decisions/gate.md", *far) is None
    assert target("templates/gate.md", document("decisions/gate.md")) is None
    assert target("other/decisions/gate.md", document("decisions/gate.md")) is None
    archive = archive_of(
        document("a/decisions/one.md", mentions=("two.md",)),
        document("a/decisions/two.md"),
        document("b/decisions/two.md"),
    )
    assert links(archive, ("document", "repo.a.decisions.one.md")) == {
        "two.md": ("document", "repo.a.decisions.two.md")
    }
    archive = archive_of(document("decisions/a.md"), document("decisions.a.md"), document("decisions/A.md"))
    assert len({id_.casefold() for _, id_ in archive.artifacts}) == 3
    _, old = resolve_facts(document("decisions/b.md"))
    archive, ledger = resolve_facts(document("decisions/B.md"), document("decisions/b.md"), ledger=old)
    kept = archive.artifacts[("document", "repo.decisions.b.md")]
    assert kept.copies[0].file.path == "decisions/b.md" and kept.arrival == 1
    (other,) = {id_ for _, id_ in archive.artifacts} - {"repo.decisions.b.md"}
    assert other.startswith("repo.decisions.B.md~")
    for known in (old, ledger):
        assert {id_ for _, id_ in archive_of(document("decisions/B.md"), ledger=known).artifacts} == {other}


def on_forge(url: str, *found: object, **webs: str) -> Ref | str | None:
    """Where a URL in a memo leads; `webs` are the addresses of sources."""
    sources = [SourceInfo(name=name, web=webs.get(name)) for name in ("repo", "other")]
    archive = archive_of(mentioning(url), *found, sources=sources)  # type: ignore[arg-type] # they are facts
    return links(archive, ("memo", "m")).get(url)


ACME = "https://github.com/acme/other/blob/{ref}/{path}"


def test_a_forges_page_leads_to_exactly_its_memo_or_document() -> None:
    """By the repo, known by its address or its name, and the whole path; of two branches the one that is named."""
    for url in [
        f"https://github.com/acme/other/blob/main/memos/inbox/{NAME}.openthing",
        f"https://github.com/acme/other/raw/{40 * 'a'}/memos/{NAME}.body.md",
        f"https://raw.githubusercontent.com/Acme/Other/main/memos/inbox/{NAME}.openthing",
        f"https://github.com/acme/other/blob/main/memos/inbox/{NAME}.openthing?plain=1#L7",
    ]:
        assert on_forge(url, envelope(NAME, source="other"), other=ACME) == ("memo", NAME)
    both = [document("decisions/gate.md"), document("decisions/gate.md", source="other")]
    url = "https://github.com/acme/other/blob/main/decisions/gate.md"
    assert on_forge(url, *both, other=ACME) == ("document", "other.decisions.gate.md")
    assert on_forge(url.replace("/gate", "/old/gate"), *both, other=ACME) is None
    assert on_forge(url.replace("acme/other", "acme/third"), *both, other=ACME) is None
    assert on_forge(url.replace("acme/other", "else/other"), *both, other=ACME) is None
    found = document("decisions/gate.md", source="other")
    url = "https://codeberg.org/acme/other/src/branch/main/decisions/gate.md"
    assert on_forge(url, found) == ("document", "other.decisions.gate.md")
    assert on_forge(url.replace("acme/other", "acme/third"), found) is None
    assert on_forge(url.replace("/branch/main", ""), found) is None
    far = f"https://gitlab.com/acme/far/-/blob/main/memos/inbox/{NAME}.openthing"
    assert on_forge(far, envelope(NAME, source="other")) == ("memo", NAME)
    assert on_forge(far.replace("gitlab.com", "example.org"), envelope(NAME, source="other")) is None
    sources = [
        SourceInfo(name="repo", web=ACME, ref="main"),
        SourceInfo(name="other", web=ACME, ref="next"),
        SourceInfo(name="folder", web="https://github.com/acme/other/blob/{ref}/sub/{path}"),
    ]
    three = [document("decisions/gate.md", source=name) for name in ("repo", "other", "folder")]
    urls = {
        "https://github.com/acme/other/blob/main/decisions/gate.md": ("document", "repo.decisions.gate.md"),
        "https://github.com/acme/other/blob/next/decisions/gate.md": ("document", "other.decisions.gate.md"),
        "https://github.com/acme/other/blob/v1/decisions/gate.md": ("document", "repo.decisions.gate.md"),
        "https://github.com/acme/other/blob/v1/sub/decisions/gate.md": ("document", "folder.decisions.gate.md"),
    }
    archive = archive_of(mentioning(*urls), *three, sources=sources)
    assert links(archive, ("memo", "m")) == urls


def resolver(*directories: str, has_file: HasFile | None = None) -> LinkResolver:
    """Links of two sources that are on the web, and of one that is not; an orgdef names these working directories."""
    seats = [Seat(id=str(n), name="", working_directory=directory) for n, directory in enumerate(directories)]
    sources = [
        SourceInfo(name=name, web=f"https://git.example.org/{name}/{{ref}}/{{path}}") for name in ("repo", "other")
    ]
    return LinkResolver(
        NameIndex([]), [], [organization("acme", *seats)], [*sources, SourceInfo(name="offline")], has_file
    )


def address(
    written: str, *directories: str, linked: bool = False, source: str = "repo", has_file: HasFile | None = None
) -> str | None:
    """The address that a mention, or a Markdown link, in `memos/read` of a source leads to."""
    text = text_of("x", mentions=() if linked else (written,), destinations=(written,) if linked else ())
    found = resolver(*directories, has_file=has_file).resolve(text, TextOrigin(source=source, folder="memos/read"))
    return found[0].url if found else None


def test_a_path_leads_to_the_web_by_a_working_directory_or_as_seen_from_its_folder() -> None:
    """However it is written, if the file is there; none that climbs out, or whose source is not on the web."""
    for written, directory in [
        ("s:/org/other/src/gate.py", "S:\\org\\other"),
        ("S:\\ORG\\other\\src\\gate.py", "s:/org/other/"),
        ("/srv/org/other/src/gate.py", "/srv/org/other"),
        ("../other/src/gate.py", "../other"),
        ("other/src/gate.py", "other"),
    ]:
        assert address(written, directory) == "https://git.example.org/other/HEAD/src/gate.py"
    assert address("s:/org/otherwise/gate.py", "s:/org/other") is None
    assert address("s:/org/other/../secret", "s:/org/other") is None
    assert address("s:/org/offline/gate.py", "s:/org/offline") is None
    assert address("s:/org/unknown/gate.py", "s:/org/unknown") is None
    assert address("/org/repo/other/a.py", "/org/repo", "/org/repo/other") == "https://git.example.org/other/HEAD/a.py"
    assert address("src/gate.py") is None
    assert address("src/gate.py", linked=True) == "https://git.example.org/repo/HEAD/memos/read/src/gate.py"
    assert address("src/gate.py", linked=True, source="offline") is None
    for written in [
        *("https://example.org/x.md", "javascript:alert(1)", "file:///etc/passwd", "/etc/passwd", "C:\\Users\\a\\x.py"),
        *("../../../outside.py", "#anchor", "?query", "", "%00"),
    ]:
        assert address(written, linked=True) is None

    def has_file(source: str, path: str) -> bool:
        return (source, path) in {("repo", "src/a b.py"), ("repo", "memos/read/src/c.py"), ("other", "src/gate.py")}

    def linked(written: str) -> str | None:
        return address(written, linked=True, has_file=has_file)

    assert linked("../../src/a%20b.py") == "https://git.example.org/repo/HEAD/src/a%20b.py"
    assert linked("src/a%20b.py?raw=1#L3") == "https://git.example.org/repo/HEAD/src/a%20b.py#L3"
    assert linked("src/a%20b.py#part") == "https://git.example.org/repo/HEAD/src/a%20b.py"
    assert linked("src/c.py") == "https://git.example.org/repo/HEAD/memos/read/src/c.py"
    assert linked("../../../other/src/gate.py") == "https://git.example.org/other/HEAD/src/gate.py"
    assert linked("src/gone.py") is None and linked("../../../other/gone.py") is None
    assert linked("../../../unknown/src/gate.py") is None


@given(st.text(alphabet="./\\:~#?% aC", max_size=24), st.booleans())
def test_no_mention_leads_out_of_the_web_folder(written: str, linked: bool) -> None:
    """Any text gives an address below the source's own, or none."""
    found = address(written, "s:/a/other", "/a/repo", linked=linked)
    if found is not None:
        assert found.startswith("https://git.example.org/") and ".." not in found.split("/")
        assert not set(found) & set(" \\#?")


def grouped(*envelopes: object) -> list[CopyGroup]:
    """Groups that have their ids."""
    joined, _ = join_bodies(envelopes, {}, no_line)  # type: ignore[arg-type] # they are envelopes
    groups = group_copies(joined)
    assign_ids(groups, EMPTY)
    return groups


def rival_of(groups: list[CopyGroup], sender: str) -> Ref:
    """The ref of the one from this sender."""
    return next(group.ref for group in groups if group.sender == sender)


def test_a_name_binds_to_the_artifact_of_its_own_source_and_none_is_guessed() -> None:
    """Else to the plain one; case counts, and so does the whole name; nothing is related to itself."""
    groups = grouped(envelope(sender="a"), envelope(sender="b", source="other"))
    index = NameIndex(groups)
    assert index.find("m", source="repo") == rival_of(groups, "a") == ("memo", "m")
    assert index.find("m", source="other") == rival_of(groups, "b") != ("memo", "m")
    assert index.find("m", source="third") == ("memo", "m")
    groups = grouped(
        envelope(sender="a"), envelope(sender="b", source="other"), envelope(sender="b", path="memos/m", source="third")
    )
    assert NameIndex(groups).find("m", source="third") == rival_of(groups, "b")
    groups = grouped(envelope(sender="a"), envelope(sender="b", source="other"))
    kind, id_ = rival_of(groups, "b")
    assert NameIndex(groups).find(id_, source="repo") == (kind, id_)
    index = NameIndex(grouped(envelope("2026-05-01-1430--a--b--gate")))
    assert index.find("2026-05-01-1430--A--b--gate", source="repo") is None
    assert index.find("2026-05-01-1430--a--b", source="repo") is None
    index = NameIndex(grouped(envelope("cafe\u0301")))
    assert index.find("caf\u00e9", source="repo") == index.find("cafe\u0301", source="repo") is not None
    index = NameIndex(grouped(transcript("m"), envelope("m", source="other")))
    assert index.find("m", source="repo") == ("transcript", "m")
    assert index.find("m", source="third") == ("memo", "m")
    assert index.find("m", source="repo", kinds=MESSAGES) == ("memo", "m")
    missing: dict[Ref, str] = {("memo", "1"): "gate", ("memo", "2"): "Gate", ("memo", "3"): "gate"}
    assert ghost_refs(missing, [("memo", "GATE")]) == {
        "Gate": ("memo", "Gate~ghost"),
        "gate": ("memo", "gate~ghost~ghost"),
    }
    archive = archive_of(envelope(sender="a"), envelope(sender="b", source="other", in_reply_to="m"))
    (reply,) = [one for one in archive.memos() if one.sender == "b"]
    assert reply.parent == ("memo", "m") and not archive.ghosts
    assert NameIndex(grouped(envelope())).find("m", source="repo", but=("memo", "m")) == ("memo", "m")
    archive = archive_of(envelope("a"), envelope("b", content="1"), envelope("b", source="other", in_reply_to="a"))
    assert memo(archive, "b").parent == ("memo", "a")
    archive = archive_of(
        envelope("a"), transcript("t", related=("a", "gone", "t", "a")), transcript("t", source="other", content="x")
    )
    found = transcript_of(archive, "t")
    assert found.related == (("memo", "a"),) and found.unresolved == ("gone",)
