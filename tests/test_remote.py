"""Remotes: fetched into the cache without asking anybody; the last good state when they cannot be."""

import fcntl
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.facts.errors import OutputError, SourceError
from memosite.sources import forges, tree
from memosite.sources.tree import fetch
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo, run_git
from tests.support.sites import tree_bytes

Patch = pytest.MonkeyPatch
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def origin(tmp_path: Path) -> Repo:
    """A repo with one memo."""
    repo = Repo(tmp_path / "origin")
    write_memo(repo.root / "memos/inbox", "first")
    repo.commit(at="2026-05-01T12:00:00-04:00")
    return repo


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where the cache will be."""
    return tmp_path / "cache"


def cached_repo(cache: Path) -> Path:
    """The one repo of a cache."""
    (found,) = (path for path in (cache / "git").iterdir() if path.is_dir())
    return found


def test_a_remote_is_fetched_again_and_again(origin: Repo, cache: Path) -> None:
    """HEAD, branches, tags, commits, also rewritten; without the network the cache answers if it can."""
    url = f"file://{origin.root}"
    first = origin.head
    origin.git("tag", "-a", "v1", "-m", "First")
    known = fetch(url, "HEAD", cache=cache, use_network=False)
    assert known.commit.hash == first
    write_memo(origin.root / "memos/inbox", "second")
    second = origin.commit()
    assert fetch(url, "HEAD", cache=cache, use_network=False) == known
    found = {ref: fetch(url, ref, cache=cache) for ref in ("HEAD", "main", "refs/heads/main", "v1", first)}
    assert {ref: one.commit.hash for ref, one in found.items()} == {
        "HEAD": second, "main": second, "refs/heads/main": second, "v1": first, first: first,
    }  # fmt: skip
    assert all(not one.problem for one in found.values())
    origin.git("commit", "-q", "--amend", "-m", "Rewritten")
    assert fetch(url, "HEAD", cache=cache).commit.hash == origin.head != second
    assert sorted(path.suffix for path in (cache / "git").iterdir()) == ["", ".json", ".lock"]
    assert (cache / ".gitignore").read_text() == "*\n"


def test_hashes_of_64_digits_and_shallow_and_foreign_repos_are_fetched(tmp_path: Path, cache: Path) -> None:
    """Each is a remote like any other, also when several lie in one cache."""
    long = Repo(tmp_path / "long", "--object-format=sha256")
    for repo in (long, Repo(tmp_path / "short")):
        for name in ("a", "b"):
            repo.write(name, name)
            repo.commit()
    run_git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/short", "shallow")
    foreign = shutil.copytree(tmp_path / "short", tmp_path / "foreign")
    for path in (foreign, *foreign.rglob("*")):
        os.chown(path, 12_345, 12_345)
    for folder in (long.root, tmp_path / "shallow", foreign):
        for _ in range(2):
            found = fetch(f"file://{folder}", "HEAD", cache=cache)
            assert (found.commit.hash, found.problem) == (run_git(folder, "rev-parse", "HEAD"), "")


def test_nothing_of_the_remote_runs(origin: Repo, cache: Path, tmp_path: Path) -> None:
    """Neither its hooks nor what its configuration names; submodules and large files are not fetched."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "uploadpack.packObjectsHook", "core.alternateRefsCommand", "core.sshCommand"):
        origin.git("config", key, str(trap))
    for name in ("post-upload-pack", "pre-receive", "reference-transaction", "post-checkout"):
        shutil.copy(trap, origin.root / ".git/hooks" / name)
    write_text(origin.root / ".gitattributes", "* filter=evil diff=evil\n")
    write_text(origin.root / ".gitmodules", f'[submodule "x"]\n\tpath = x\n\turl = ext::{trap}\n')
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},x")
    origin.git("config", "uploadpack.packObjectsHook", str(trap))
    origin.git("-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "commit", "-qm", "x")
    (tmp_path / "ran").unlink(missing_ok=True)
    assert fetch(f"file://{origin.root}", "HEAD", cache=cache).commit.hash == origin.head
    assert not (tmp_path / "ran").exists()
    assert not list(cache.rglob("modules")) and not list(cache.rglob("hooks"))


def test_a_remote_that_fails_is_as_it_was_last_fetched(origin: Repo, cache: Path) -> None:
    """Gone, or without the ref; when it is back, it is fetched again."""
    url = f"file://{origin.root}"
    first = fetch(url, "main", cache=cache)
    origin.root.rename(origin.root.with_name("away"))
    found = fetch(url, "main", cache=cache)
    assert (found.commit, found.fetched) == (first.commit, first.fetched) and found.problem == "there is no repo"
    with pytest.raises(SourceError, match=r"other cannot be fetched \(.*\), and it never was$"):
        fetch(url, "other", cache=cache)
    origin.root.with_name("away").rename(origin.root)
    origin.git("branch", "-m", "main", "trunk")
    assert fetch(url, "main", cache=cache).problem == "it has no such branch or tag"
    origin.git("branch", "-m", "trunk", "main")
    assert fetch(url, "main", cache=cache).problem == ""


def test_a_remote_on_this_machine_that_borrows_is_not_fetched(origin: Repo, cache: Path, tmp_path: Path) -> None:
    """With its refs linked and its objects borrowed it would give us a repo that nobody named."""
    lured = Repo(tmp_path / "lured.git", "--bare")
    (lured.root / "objects/info/alternates").write_text(str(origin.root / ".git/objects"))
    shutil.rmtree(lured.root / "refs/heads")
    (lured.root / "refs/heads").symlink_to(origin.root / ".git/refs/heads")
    assert lured.head == origin.head
    for url in (f"file://{lured.root}", f"file://{tmp_path}/lured", f"file://{tmp_path}/lure%64.git"):
        with pytest.raises(SourceError, match="borrows objects"):
            fetch(url, "HEAD", cache=cache)


def test_addresses_that_ask_or_run_something_are_refused(cache: Path) -> None:
    """Before git is asked, and without a password in the error."""
    for url in (
        "-oProxyCommand=touch ran", "--upload-pack=x", "ext::sh -c x", "EXT::x", "ssh://-oProxyCommand=x/y",
        "-x@host:path", "git@-x:path", "http://example.org/x", "git://example.org/x", "fd::3", "/srv/repo", "repo",
        "file://host/x", "file://", "https://ada:secret@example.org/x", "https://secret@example.org/x",
        "https://ada:se/cret@example.org/x", "ssh://ada:secret@example.org/x", "https://exa mple.org/x",
        "https://example.org/\n", "https:///x", "https://example.org/", "user:", "ssh://host", "git@host:-x",
    ):  # fmt: skip
        with pytest.raises(SourceError) as error:
            fetch(url, "HEAD", cache=cache)
        assert "secret" not in str(error.value) and "cret" not in str(error.value) and "\n" not in str(error.value)
        assert not cache.exists(), url


def test_what_a_killed_fetch_left_does_not_stop_the_next(origin: Repo, cache: Path) -> None:
    """Locks of git, packs that are not whole, a repo that was being made, half a state."""
    url = f"file://{origin.root}"
    fetch(url, "HEAD", cache=cache)
    repo = cached_repo(cache)
    (ref,) = (path for path in repo.glob("refs/memosite/*"))
    for path in (f"{ref}.lock", repo / "packed-refs.lock", repo / "shallow.lock", repo / "HEAD.lock"):
        Path(path).write_text("")
    (repo / "objects/pack/tmp_pack_x").write_text("PACK")
    repo.with_suffix(".new").mkdir()
    repo.with_suffix(".unfinished").write_text("{")
    repo.with_suffix(".json").write_text('{"refs": {')
    write_memo(origin.root / "memos/inbox", "second")
    origin.commit()
    assert fetch(url, "HEAD", cache=cache).commit.hash == origin.head
    assert not list(repo.rglob("tmp_*")) and not list(repo.rglob("*.lock"))


@pytest.mark.parametrize("damage", ["config", "HEAD", "objects", "alternates", "link", "file"])
def test_a_repo_that_is_not_ours_is_made_anew(origin: Repo, cache: Path, tmp_path: Path, damage: str) -> None:
    """A cache may come with a site from elsewhere: no other configuration counts, nothing leads out of it."""
    url = f"file://{origin.root}"
    fetch(url, "HEAD", cache=cache)
    repo = cached_repo(cache)
    if damage == "config":
        run_git(repo, "config", "core.sshCommand", "x")
    elif damage == "HEAD":
        (repo / "HEAD").unlink()
    elif damage == "objects":
        shutil.rmtree(repo / "objects")
        (repo / "objects").symlink_to(origin.root / ".git/objects")
    elif damage == "alternates":
        (repo / "objects/info").mkdir()
        (repo / "objects/info/alternates").write_text(str(origin.root / ".git/objects"))
    else:
        repo.rename(tmp_path / "moved")
        repo.symlink_to(tmp_path / "moved") if damage == "link" else repo.mkdir()
    found = fetch(url, "HEAD", cache=cache)
    assert (found.commit.hash, found.problem) == (origin.head, "")
    assert not repo.is_symlink() and (repo / "config").read_bytes() == tree._CONFIGS["sha1"]
    assert not (repo / "objects").is_symlink() and not (repo / "objects/info/alternates").exists()


def test_a_state_that_cannot_be_used_counts_as_none(origin: Repo, cache: Path) -> None:
    """It is only a cache."""
    url = f"file://{origin.root}"
    fetch(url, "HEAD", cache=cache)
    origin.root.rename(origin.root.with_name("away"))
    assert fetch(url, "HEAD", cache=cache).problem
    for state in (
        *("", "[]", '{"refs": []}', '{"refs": {"HEAD": []}}', "[" * 100_000, "\udcff"),
        *('{"refs": {"HEAD": {"commit": "-x"}}}', '{"refs": {"HEAD": {"commit": 1, "fetched": 2}}}'),
    ):
        cached_repo(cache).with_suffix(".json").write_bytes(state.encode("utf-8", "surrogateescape"))
        with pytest.raises(SourceError, match="never was"):
            fetch(url, "HEAD", cache=cache)


def test_a_cache_that_cannot_be_written_is_said(origin: Repo, cache: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    """A file in its way, a link in the place of its folder. A build that cannot have the lock takes what is there."""
    url = f"file://{origin.root}"
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cache"):
        fetch(url, "HEAD", cache=tmp_path / "file")
    (tmp_path / "linked").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "linked/git").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="symbolic link"):
        fetch(url, "HEAD", cache=tmp_path / "linked")
    assert not list((tmp_path / "elsewhere").iterdir())
    first = fetch(url, "HEAD", cache=cache)
    monkeypatch.setattr(tree, "FETCH_SECONDS", 0.2)
    with cached_repo(cache).with_suffix(".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = fetch(url, "HEAD", cache=cache)
    assert found.commit == first.commit and found.problem.startswith("another build")


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder as plain files, hangs, or demands a password."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        """Begin with serving."""
        self.folder, self.mode, self.asked = folder, "serve", threading.Event()
        self.released = threading.Event()
        self.headers: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """The address of the repo in the folder."""
        return f"http://127.0.0.1:{self.server_address[1]}/repo.git"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers as the server's mode says."""

    server: Server

    def __init__(self, request: object, address: object, server: Server) -> None:
        """Serve the server's folder."""
        super().__init__(request, address, server, directory=str(server.folder))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """One request."""
        self.server.headers += [str(self.headers)]
        self.server.asked.set()
        if self.server.mode == "hang":
            self.server.released.wait(60)
        if self.server.mode == "password":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()
        elif self.server.mode == "redirect":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
        else:
            with suppress(OSError):  # who asked may be gone
                super().do_GET()

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def server(origin: Repo, tmp_path: Path, monkeypatch: Patch) -> Iterator[Server]:
    """A server of a bare repo; http is let through for it."""
    monkeypatch.setattr(forges, "PROTOCOLS", ("http", "file", "ssh"))
    run_git(tmp_path, "clone", "-q", "--bare", str(origin.root), "served/repo.git")
    run_git(tmp_path / "served/repo.git", "update-server-info")
    with Server(tmp_path / "served") as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.released.set()
        found.shutdown()
        thread.join()


def test_a_server_that_hangs_is_given_up(server: Server, cache: Path, monkeypatch: Patch) -> None:
    """After the time limit, with the last good state; none sends us to another protocol than the address's own."""
    server.mode = "redirect"
    with pytest.raises(SourceError, match="cannot be fetched"):
        fetch(server.url, "HEAD", cache=cache)
    server.mode = "serve"
    first = fetch(server.url, "HEAD", cache=cache)
    server.mode = "hang"
    monkeypatch.setattr(tree, "FETCH_SECONDS", 1)
    found = fetch(server.url, "HEAD", cache=cache)
    assert (found.commit, found.problem) == (first.commit, "git fetch took more than 1 s")


def test_who_demands_a_password_gets_none(server: Server, cache: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    """Nobody is asked, and nothing that the user keeps for others is sent."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\necho secret\n")
    trap.chmod(0o755)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ada password secret\n")
    (tmp_path / ".gitconfig").write_text(f"[credential]\n\thelper = !{trap}\n[core]\n\taskPass = {trap}\n")
    for name, value in (("HOME", tmp_path), ("GIT_ASKPASS", trap), ("SSH_ASKPASS", trap), ("DISPLAY", ":0")):
        monkeypatch.setenv(name, str(value))
    server.mode = "password"
    with pytest.raises(SourceError, match="could not read Username"):
        fetch(server.url, "HEAD", cache=cache)
    assert server.headers and not any("Authorization" in one for one in server.headers)
    assert not (tmp_path / "ran").exists()


BUILD = """
import sys
from memosite.sources import forges
from memosite.cli import main
forges.PROTOCOLS = ("http",)
sys.exit(main(["build", sys.argv[1], "--jobs", "1"]))
"""


def test_after_a_build_killed_while_fetching_the_next_works(server: Server, tmp_path: Path, monkeypatch: Patch) -> None:
    """Its git may still run, and has the lock until it ends; nobody else writes meanwhile."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "memosite.yml").write_text(f"sources: [{{git: '{server.url}'}}]\n")
    server.mode = "hang"
    process = subprocess.Popen([sys.executable, "-c", BUILD, str(site)])
    assert server.asked.wait(60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with monkeypatch.context() as patched:
        patched.setattr(tree, "FETCH_SECONDS", 0.5)
        with pytest.raises(SourceError, match="another build has been fetching it"):
            fetch(server.url, "HEAD", cache=site / ".memosite")
    server.mode = "serve"
    server.released.set()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(site)], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0 and "1 memo from 1 source" in done.stdout, done.stderr
    assert (site / "_site/memos/first/index.html").exists()


def test_ssh_asks_nobody_and_knows_the_agent(origin: Repo, cache: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    """In batch mode, with the user's home and agent; no other variable of the user reaches it."""
    program = tmp_path / "bin/ssh"
    write_text(program, f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\nenv > {tmp_path}/environment\n')
    with program.open("a") as stream:
        stream.write('for last; do :; done\nexec sh -c "$last"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    for name in ("HOME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSH", "SECRET", "https_proxy"):
        monkeypatch.setenv(name, f"/my/{name}")
    for url in (f"ssh://git@example.org:2222{origin.root}", f"git@example.org:{origin.root}"):
        assert fetch(url, "HEAD", cache=cache).commit.hash == origin.head
        arguments = (tmp_path / "arguments").read_text()
        assert "-oBatchMode=yes" in arguments and "git@example.org" in arguments
    environment = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    assert (environment["HOME"], environment["SSH_AUTH_SOCK"]) == ("/my/HOME", "/my/SSH_AUTH_SOCK")
    assert not {"GIT_SSH_COMMAND", "GIT_SSH", "SECRET", "https_proxy"} & set(environment)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command, and gives its exit code and what it says."""

    def ran(*words: object) -> tuple[int, str, str]:
        return main([str(word) for word in words]), *capsys.readouterr()

    return ran


@pytest.fixture
def site(tmp_path: Path, origin: Repo) -> Path:
    """A site made of one remote."""
    folder = tmp_path / "site"
    write_text(folder / "memosite.yml", f"sources:\n- git: file://{origin.root}\n  name: spec\n  ref: main\n")
    return folder


def test_a_site_says_how_old_a_remote_is_that_fails(site: Path, origin: Repo, run: Run) -> None:
    """On the home page, among the findings and in the status; the memos stay, and the build fails loudly (SPEC 9)."""
    build, output, away = ("build", site, "--jobs", 1), site / "_site", origin.root.with_name("away")
    health = output / "health/index.html"
    assert run(*build)[0] == 0
    before = tree_bytes(output)
    assert run(*build)[0] == 0
    assert tree_bytes(output) == before
    commit = origin.head
    origin.root.rename(away)
    code, said, _ = run(*build)
    assert code == 1 and "1 error" in said and "failed    spec: not fetched (" in said
    home = (output / "index.html").read_text()
    state = json.loads(cached_repo(site / ".memosite").with_suffix(".json").read_text())
    fetched = state["refs"]["main"]["fetched"]
    assert f"main, commit <span>{commit[:12]}</span>" in home
    assert "Fetch failed. Last fetched" in home and fetched in home and "first" in home
    assert f"read at {commit[:12]}, fetched on {fetched}" in health.read_text()
    (status,) = json.loads((output / "status.json").read_text())["sources"]
    assert status == {"name": "spec", "commit": commit, "date": "2026-05-01T16:00:00Z", "last_fetched": fetched}
    stale = tree_bytes(output)
    assert run(*build)[0] == 1
    assert tree_bytes(output) == stale
    for command in (("check", site), ("export", "--site", site)):
        assert run(*command)[0] == 1
    away.rename(origin.root)
    assert "Not fetched" in health.read_text()
    assert run(*build)[0] == 0
    assert "Not fetched" not in health.read_text()  # though the commit is the same


def test_a_watch_goes_on_while_a_remote_fails_and_says_so(site: Path, origin: Repo, tmp_path: Path, run: Run) -> None:
    """What is known is announced; the trouble is told once, and `--once` ends with exit code 1."""
    places = ("--site", site, "--position", "director", "--state", tmp_path / "state.sqlite")
    watch = ("watch", "--once", "--since", "all", *places)
    write_memo(origin.root / "memos/inbox", "second", to="director")
    origin.commit()
    assert run("build", site, "--jobs", 1)[0] == 0
    origin.root.rename(origin.root.with_name("away"))
    code, out, err = run(*watch)
    assert code == 1 and "second.openthing" in out
    assert err.count("\n") == 1 and "spec: not fetched (" in err
    origin.root.with_name("away").rename(origin.root)
    assert (run(*watch)[0], run(*watch)[2]) == (0, "")


def test_check_and_export_read_remotes_or_fail_in_one_line(site: Path, origin: Repo, tmp_path: Path, run: Run) -> None:
    """Into the cache that is named; findings lie in the source's name. Else with exit code 2 and one line."""
    write_text(origin.root / "memos/inbox/broken.openthing", "{")
    origin.commit()
    cache = ("--cache", tmp_path / "named")
    code, out, _ = run("check", site, *cache)
    assert code == 1 and "spec/memos/inbox/broken.openthing:1: error" in out
    assert json.loads(run("export", "--site", site, *cache)[1])["id"] == "first"
    assert not (site / ".memosite").exists() and cached_repo(tmp_path / "named")
    origin.root.rename(origin.root.with_name("away"))
    for command in (("build", site), ("check", site), ("export", "--site", site)):
        code, out, err = run(*command)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"memosite: file://{origin.root}: main cannot be fetched (" in err
    assert not (site / "_site").exists()
