"""Places are told from paths by the conventions of SPEC 2.2."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.layout import Place, matches_glob, memo_folder, place_of


def test_a_file_in_a_store_or_in_a_folder_named_by_the_organization_has_a_place() -> None:
    """The innermost store, its root, mailbox or role; of a mere name none; of several named folders the longest."""
    for path, place in [
        ("memos/x.openthing", Place(store="memos", root="", folder="memos", mailbox="flat")),
        ("memos/inbox/x.openthing", Place(store="memos", root="", folder="memos", mailbox="inbox")),
        ("memos/read/x.openthing", Place(store="memos", root="", folder="memos", mailbox="read")),
        ("memos/archive/2026/05/x.openthing", Place(store="memos", root="", folder="memos", mailbox="archive")),
        ("memos/2026/x.openthing", Place(store="memos", root="", folder="memos", mailbox="flat")),
        ("a/b/memos/inbox/x.openthing", Place(store="memos", root="a/b", folder="a/b/memos", mailbox="inbox")),
        ("notes/pilot/x.openthing", Place(store="notes", root="", folder="notes", role="pilot")),
        ("notes/x.openthing", Place(store="notes", root="", folder="notes")),
        ("transcripts/pilot/x.body.md", Place(store="transcripts", root="", folder="transcripts", role="pilot")),
        ("notes/memos/x.openthing", Place(store="memos", root="notes", folder="notes/memos", mailbox="flat")),
        *((text, None) for text in ("x.openthing", "docs/x.openthing", "memos", "notes", "memos.md", "mymemos/x.md")),
    ]:
        assert place_of(path) == place
    folders = ("post", "comms/post")
    inbox = place_of("a/comms/post/inbox/x.openthing", memo_folders=folders)
    assert inbox == Place(store="memos", root="a", folder="a/comms/post", mailbox="inbox")
    assert place_of("a/post/x.openthing", memo_folders=folders) == Place(
        store="memos", root="a", folder="a/post", mailbox="flat"
    )
    assert place_of("a/outpost/x.openthing", memo_folders=folders) is None
    places = [place_of(f"{store}/a/x.openthing") for store in ("memos", "notes", "transcripts")]
    assert [place.kind for place in places if place] == ["memo", "note", "transcript"]


def test_the_memo_location_of_an_orgdef_names_a_folder_or_nothing() -> None:
    """The last folders written out; None where `memos` needs no saying or prose cannot be used."""
    for location, folder in [
        ("<recipient working_directory>/handoffs/", "handoffs"),
        ("<recipient working_directory>\\handoffs", "handoffs"),
        ("{repo}/comms/<position>/inbox/", "comms"),
        ("<wd>/comms/post", "comms/post"),
        ("./post/", "post"),
        ("<wd>/memos/", None),
        ("<wd>/memos/inbox", None),
        ("<wd>/team/memos/", None),
        ("the recipient's repo, in memos/", None),
        ("s:/office/post", None),
        ("../post", None),
        ("<wd>", None),
        ("", None),
    ]:
        assert memo_folder(location) == folder


def test_globs_fit_paths_as_gits_do() -> None:
    """`*` and `?` stop at folders, `**` does not, and nothing else is special but sets of characters."""
    for pattern, fitting, others in [
        (
            "decisions/**/*.md",
            ["decisions/a.md", "decisions/2026/05/a.md"],
            ["a.md", "decisions/a.txt", "x/decisions/a.md"],
        ),
        ("docs/adr/**/*.md", ["docs/adr/0001.md"], ["docs/0001.md"]),
        ("**/*.md", ["a.md", "x/y/a.md"], ["a.mdx"]),
        ("*.md", ["a.md", ".md", ".hidden.md"], ["x/a.md"]),
        ("a?.md", ["ab.md"], ["a.md", "a/.md", "abc.md"]),
        ("personnel/**", ["personnel/a", "personnel/x/y"], ["personnel", "other/personnel/a"]),
        ("personnel/", ["personnel/a", "personnel/x/y"], ["personnel"]),
        ("**", ["a", "x/y"], []),
        ("**/memos/**", ["memos/a", "x/memos/y/z"], ["x/memos"]),
        ("./docs/*.md", ["docs/a.md"], []),
        ("/docs/*.md", ["docs/a.md"], []),
        ("a[0-9].md", ["a7.md"], ["ax.md"]),
        ("a[!0-9].md", ["ax.md"], ["a7.md", "a/.md"]),
        ("a.*", ["a.b"], ["axb"]),
        ("[.*]", [".", "*"], ["a"]),
        ("a(b|c)+", ["a(b|c)+"], ["ab"]),
        ("**/a/**/*.py", ["x/a/y/z/b.py", "a/b.py", "a/a/b.py"], ["a.py", "x/ab/b.py"]),
        ("**/a/b/**/c", ["a/a/b/c", "a/b/a/b/x/c"], ["a/b/c/d", "a/x/b/c"]),
        ("*a*b*", ["xxaxxbxx", "ab"], ["xxbxxaxx"]),
        ("*ab*ab", ["abab", "xabxaab"], ["ab", "aab"]),
        ("*a?*", ["aa", "xab"], ["a", "xa"]),
        ("a[z-a]", ["a[z-a]"], ["az"]),
        ("a[--b]", ["a[--b]"], ["a-"]),
        ("a[", ["a["], ["a"]),
        ("", [""], ["a"]),
    ]:
        assert [path for path in fitting if not matches_glob(path, pattern)] == [], pattern
        assert [path for path in others if matches_glob(path, pattern)] == [], pattern


def test_globs_are_matched_without_backtracking() -> None:
    """They may come from content. These take for ever where each star is tried against all the others."""
    for pattern, path in [
        ("*a" * 300 + "b", "a" * 4000),
        ("**/a*/" * 150 + "b", "/".join(["a" * 10] * 370)),
        ("**/" + "*a*a/" * 150 + "b", "/".join(["aaa"] * 1000)),
    ]:
        assert not matches_glob(path, pattern)


def fits(pattern: list[str], path: list[str]) -> bool:
    """Whether a path fits a glob, in the plainest way: each star tried with everything that it may stand for."""
    if not pattern or not path:
        return pattern == path
    if pattern[0] == "**":
        return fits(pattern[1:], path) or fits(pattern, path[1:])
    name = re.escape(pattern[0]).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(name, path[0]) is not None and fits(pattern[1:], path[1:])


@given(
    st.lists(st.one_of(st.just("**"), st.text(alphabet="ab*?", min_size=1, max_size=4)), max_size=4),
    st.lists(st.text(alphabet="ab", min_size=1, max_size=5), min_size=1, max_size=5),
)
def test_globs_fit_what_the_plainest_matcher_fits(folders: list[str], path: list[str]) -> None:
    """Taking the first place for what stands between stars never misses a fit."""
    pattern = [*("**" if "**" in part else part for part in folders), "*a?"]
    assert matches_glob("/".join(path), "/".join(pattern)) == fits(pattern, path)


@given(st.lists(st.sampled_from(["memos", "notes", "transcripts", "inbox", "read", "a", "post"]), max_size=6))
def test_a_place_lies_on_the_path_that_tells_it(folders: list[str]) -> None:
    """The working root, then the store's folder, then the rest of the path."""
    path = "/".join([*folders, "x.openthing"])
    place = place_of(path, memo_folders=("post",))
    if place is None:
        assert not {"memos", "notes", "transcripts", "post"} & set(folders)
    else:
        assert path.startswith(place.folder + "/")
        assert place.folder == place.root or place.folder.startswith(place.root)
