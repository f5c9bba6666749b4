"""Where forges show files and commits, told from a remote's address."""

from hypothesis import given
from hypothesis import strategies as st

from memosite.config.schema import read_web, read_yaml
from memosite.sources import forges

COMMIT = "0123456789abcdef0123456789abcdef01234567"

FORGES = [
    ("https://github.com/acme/repo.git", "https://github.com/acme/repo", "blob/{ref}/{path}", "commit"),
    ("https://github.com/a/repo.git?token=x", "https://github.com/a/repo", "blob/{ref}/{path}", "commit"),
    ("git@github.com:acme/repo.git", "https://github.com/acme/repo", "blob/{ref}/{path}", "commit"),
    ("ssh://git@ssh.github.com:443/acme/repo", "https://github.com/acme/repo", "blob/{ref}/{path}", "commit"),
    ("https://blob:x@GitHub.com/blob/src/", "https://github.com/blob/src", "blob/{ref}/{path}", "commit"),
    ("git@github.example.org:acme/repo", "https://github.example.org/acme/repo", "blob/{ref}/{path}", "commit"),
    ("https://gitlab.com/a/b/c/repo.git", "https://gitlab.com/a/b/c/repo", "-/blob/{ref}/{path}", "-/commit"),
    ("ssh://git@gitlab.x.org:2222/a/repo.git", "https://gitlab.x.org/a/repo", "-/blob/{ref}/{path}", "-/commit"),
    ("http://ada:key@gitlab.x.org:8080/a/r.git", "http://gitlab.x.org:8080/a/r", "-/blob/{ref}/{path}", "-/commit"),
    ("https://codeberg.org/acme/repo", "https://codeberg.org/acme/repo", "src/commit/{ref}/{path}", "commit"),
    ("git@gitea.example.org:a/r.git", "https://gitea.example.org/a/r", "src/commit/{ref}/{path}", "commit"),
    ("git@forgejo.example.org:a/r.git", "https://forgejo.example.org/a/r", "src/commit/{ref}/{path}", "commit"),
    ("git@bitbucket.org:acme/repo.git", "https://bitbucket.org/acme/repo", "src/{ref}/{path}", "commits"),
    ("git@git.sr.ht:~ada/repo", "https://git.sr.ht/~ada/repo", "tree/{ref}/item/{path}", "commit"),
]


def test_known_forges_are_told_by_their_host_and_others_give_nothing() -> None:
    """In each form of an address, without user and password; no link is better than a wrong one."""
    for remote, repo, files, commit in FORGES:
        assert forges.file_template(remote) == f"{repo}/{files}"
        assert forges.commit_url(f"{repo}/{files}", COMMIT) == f"{repo}/{commit}/{COMMIT}"
    for remote in (
        "", "repo", "/srv/github.com/a/b", "file:///srv/github.com/a/b", "https://git.example.org/a/b",
        "https://github.com/", "https://github.com/a", "https://github.com/a/b/c", "https://github.com/a/../b",
        "https://github.com//b", "https://evil.example/github.com/a/b", "https://github.com.evil.example@x.example/a/b",
        "https://github/a/b", "https://gitlab.example.org:x/a/b", "https://gitlab.exa mple/a/b",
        "ext::sh -c github.com", "https://gitlab.example.org\\@x/a/b", "javascript://github.com/a/b", "https://github.com/a/b\nc",
    ):  # fmt: skip
        assert forges.file_template(remote) is None, remote


CONFIGURED = {
    "https://x.example/r/blob/main/{path}": f"https://x.example/r/commit/{COMMIT}",
    "https://x.example/r/src/branch/main/{path}": f"https://x.example/r/commit/{COMMIT}",
    "https://x.example/r/-/raw/{ref}/{path}": f"https://x.example/r/-/commit/{COMMIT}",
    "https://x.example/{path}": None,
    "https://x.example/r/tree/{path}?h={ref}": None,
    "": None,
}


def test_paths_and_refs_are_written_as_addresses_are() -> None:
    """Whatever a file is called, also like a placeholder."""
    template = "https://x.example/r/blob/{ref}/{path}"
    assert forges.file_url(template, "a/b#1", "m/é {ref}?#%.md") == (
        "https://x.example/r/blob/a/b%231/m/%C3%A9%20%7Bref%7D%3F%23%25.md"
    )
    assert forges.file_url(template, COMMIT, "\udcff") == f"https://x.example/r/blob/{COMMIT}/%3F"
    assert forges.below(template, "a b/{path}") == "https://x.example/r/blob/{ref}/a%20b/%7Bpath%7D/{path}"
    assert forges.below(template, "") == template


PIECES = st.sampled_from(
    ["https://", "http://", "ssh://", "git@", "github.com", "gitlab.x", "/", ":", "@", "a", "..", "{ref}", "{path}",
     "?", "#", " ", "\n", '"', "<", "é", "%0a", "\\", ".git", "-", "secret", "~"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_an_address_is_a_template_is_one_of_the_web(text: str) -> None:
    """It can stand as `web:` in memosite.yml, and what is shown holds nothing before an @."""
    template = forges.file_template(text)
    if template is not None:
        entry = read_yaml(f"'{template}'", "x")
        assert entry is not None and read_web(entry) == template
        assert template.count("{ref}") == template.count("{path}") == 1
        assert "@" not in template or "@" not in text.partition("/")[0]
    forges.refusal(text), forges.repo_name(text), forges.parse_git_url(text)
    bare = forges.without_secrets(f"https://a:{text}@b/c".replace(" ", "").replace("\n", ""))
    assert "@" not in bare.partition("/c")[0]


PAGES = [
    ("git@github.com:acme/repo.git", "github.com/acme/repo", "https://github.com/Acme/repo/blob/main/memos/a%20b.md"),
    ("git@github.com:acme/repo.git", "github.com/acme/repo", f"http://www.github.com/acme/repo/blame/{COMMIT}/a.md"),
    ("git@github.com:acme/repo.git", "github.com/acme/repo", "https://github.com/acme/repo/edit/main/a.md?plain=1#L7"),
    ("git@github.com:acme/repo.git", "github.com/acme/repo", "https://github.com/acme/repo/raw/refs/heads/main/a.md"),
    ("git@github.com:acme/repo.git", "github.com/acme/repo", "https://raw.githubusercontent.com/acme/repo/main/a.md"),
    ("https://github.com/blob/src", "github.com/blob/src", "https://github.com/blob/src/blob/main/a.md"),
    ("git@github.example.org:acme/repo", "github.example.org/acme/repo", "https://github.example.org/acme/repo/tree/main/a.md"),
    ("https://gitlab.com/a/b/c/repo", "gitlab.com/a/b/c/repo", "https://gitlab.com/a/b/c/repo/-/blob/main/a.md#L7-9"),
    ("https://gitlab.com/a/b/c/repo", "gitlab.com/a/b/c/repo", "https://gitlab.com/a/b/c/repo/-/raw/v1/a.md?inline=false"),
    ("https://gitlab.com/a/repo", "gitlab.com/a/repo", "https://gitlab.com/a/repo/blob/main/a.md"),
    ("http://gitlab.example.org:8080/a/r", "gitlab.example.org:8080/a/r", "http://gitlab.example.org:8080/a/r/-/blob/main/a.md"),
    ("https://codeberg.org/acme/repo", "codeberg.org/acme/repo", "https://codeberg.org/acme/repo/src/branch/main/a.md"),
    ("https://codeberg.org/acme/repo", "codeberg.org/acme/repo", f"https://codeberg.org/acme/repo/raw/commit/{COMMIT}/a.md"),
    ("git@forgejo.example.org:a/r.git", "forgejo.example.org/a/r", "https://forgejo.example.org/a/r/src/tag/v1/a.md"),
    ("git@bitbucket.org:acme/repo.git", "bitbucket.org/acme/repo", "https://bitbucket.org/acme/repo/src/main/a.md#lines-7"),
    ("git@git.sr.ht:~ada/repo", "git.sr.ht/~ada/repo", "https://git.sr.ht/~ada/repo/tree/main/item/a.md"),
    ("git@git.sr.ht:~ada/repo", "git.sr.ht/~ada/repo", "https://git.sr.ht/%7Eada/repo/blob/main/a.md"),
]  # fmt: skip


def test_a_url_of_a_forge_tells_which_file_of_which_repo_it_shows_if_any() -> None:
    """Read by the host alone and by a repo's template; no folder, no history, nor what climbs out of the repo."""
    for remote, repo, url in PAGES:
        shown = forges.shown_file(url)
        assert shown is not None and (shown.repo, shown.path) == (repo, "memos/a b.md" if "%20" in url else "a.md")
        assert shown.ref in {"main", "v1", COMMIT, "refs/heads/main"}
        pages = forges.repo_pages(forges.file_template(remote) or "")
        assert pages is not None and pages.repo == repo
    for url in (
        "", "https://github.com/acme/repo", "https://github.com/acme/repo/blob/main", "https://github.com/acme/repo/blob/main/",
        "https://github.com/acme/repo/issues/1/a.md", "https://github.com/acme/repo/commits/main/a.md",
        "https://ada@github.com/acme/repo/blob/main/a.md", "https://example.org/acme/repo/blob/main/a.md",
        "https://github.com/acme/repo/blob/main/../a.md", "https://github.com/acme/repo/blob/main/%2e%2e/a.md",
        "https://github.com//repo/blob/main/a.md", "ftp://github.com/acme/repo/blob/main/a.md",
        "https://gitlab.com/-/blob/main/a.md", "https://codeberg.org/acme/repo/src/main/a.md",
    ):  # fmt: skip
        assert forges.shown_file(url) is None, url


def test_a_configured_address_tells_of_commits_and_of_the_files_that_its_pages_show() -> None:
    """Of commits if its form is known, by seven digits or more; of a folder of a repo, of a forge nobody knows."""
    assert {template: forges.commit_url(template, COMMIT) for template in CONFIGURED} == CONFIGURED
    for commit in ("", "main", "HEAD", "0123", COMMIT.upper(), COMMIT + "/x", "g" * 40):
        assert forges.commit_url("https://x.example/r/blob/{ref}/{path}", commit) is None
    for template, repo, rest, path in (
        ("https://github.com/acme/repo/blob/main/{path}", "github.com/acme/repo", "raw/v2/x/a.md", "x/a.md"),
        ("https://github.com/a/b/blob/{ref}/memos%20here/{path}", "github.com/a/b", "blob/v/memos%20here/a.md", "a.md"),
        ("https://github.com/a/b/blob/{ref}/memos/{path}", "github.com/a/b", "blob/v/other/a.md", None),
        ("https://x.example/r/-/blob/{ref}/{path}", "x.example/r", "-/raw/v/a.md", "a.md"),
        ("https://x.example/{ref}/{path}", "x.example", "main/memos/a.md", "memos/a.md"),
        ("https://x.example/cgit/r/plain/{path}?h={ref}", "x.example/cgit/r/plain", "memos/a.md", "memos/a.md"),
        ("https://x.example/cgit/r/plain/{path}?h={ref}", "x.example/cgit/r/plain", "", None),
    ):  # fmt: skip
        pages = forges.repo_pages(template)
        assert pages is not None and pages.repo == repo
        shown = pages.file(rest)
        assert (shown.path if shown else None) == path, (template, rest)


@given(
    st.sampled_from([remote for remote, _, _ in PAGES]),
    st.text(alphabet="ab .#?%~é-", min_size=1, max_size=8).filter(lambda name: name.strip("./")),
    st.sampled_from([COMMIT, "main", "HEAD"]),
)
def test_the_address_that_is_made_of_a_file_leads_back_to_it(remote: str, name: str, ref: str) -> None:
    """Whatever the file is called."""
    template = forges.file_template(remote) or ""
    assert forges.shown_file(forges.file_url(template, ref, f"memos/{name}")) == forges.ShownFile(
        repo=forges.repo_pages(template).repo,  # type: ignore[union-attr] # of a known forge
        ref=ref,
        path=f"memos/{name}",
    )
