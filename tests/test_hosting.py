"""What docs/guide/hosting.md says: its headers over a built site, an archive behind a login, publishing by itself."""

import base64
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from fnmatch import fnmatchcase
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser

from memosite.cli import main
from tests.support.files import ROOT, write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo, run_git
from tests.support.servers import Handler, serve_folder, trusted
from tests.support.sites import build_site

HOSTING = ROOT / "docs/hosting"
HEADERS = (HOSTING / "_headers").read_text(encoding="utf-8")
KNOWN_TO_HOSTS = {".html", ".css", ".js", ".json", ".svg"}
"""Endings whose media types every host knows."""
TYPES = {
    ".openthing": "application/json", ".opencatalog": "application/json", ".jsonl": "application/jsonl; charset=utf-8",
    ".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml; charset=utf-8", ".opml": "text/x-opml; charset=utf-8",
}  # fmt: skip
LOGIN = "Basic " + base64.b64encode(b"reader:s3cret").decode()
SECOND = "2026-05-02-0900--director--engineer--two"
MEMO = "2026-05-01-0900--director--engineer--one"

Rules = list[tuple[str, list[tuple[str, str]]]]


def rules_of(text: str) -> Rules:
    """The rules of a `_headers` file: a pattern of paths, and the headers of what matches it."""
    rules: Rules = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        if line.startswith("/"):
            rules.append((line, []))
        elif not line.startswith("#"):
            name, _, value = line.partition(":")
            rules[-1][1].append((name.strip(), value.strip()))
    return rules


RULES = rules_of(HEADERS)


def headers_for(path: str) -> list[tuple[str, str]]:
    """The headers that the file gives a path, as hosts do: of every rule that matches."""
    return [header for pattern, headers in RULES if fnmatchcase(path, pattern) for header in headers]


class Host(Handler):
    """A host that reads `_headers` and shows 404.html."""

    login = ""

    def do_GET(self) -> None:  # noqa: N802 - as http.server calls it
        """Answer, if the visitor may see it."""
        if self.login and self.headers["Authorization"] != self.login:
            self.send_error(401)
        else:
            super().do_GET()

    def guess_type(self, path: object) -> str:
        """The type of a file whose ending every host knows; others are what the rules say."""
        known = Path(str(path)).suffix in KNOWN_TO_HOSTS
        return super().guess_type(str(path)) if known else "application/octet-stream"

    def send_header(self, keyword: str, value: str) -> None:
        """Send a header unless a rule names it."""
        if keyword.lower() not in {name.lower() for name, _ in headers_for(self.path)}:
            super().send_header(keyword, value)

    def end_headers(self) -> None:
        """Send what the rules say, too."""
        for keyword, value in headers_for(self.path):
            super().send_header(keyword, value)
        super().end_headers()


def head(address: str) -> Message:
    """The headers of an answer."""
    with urllib.request.urlopen(address, timeout=600) as answer:
        headers: Message = answer.headers
        return headers


def test_the_headers_are_within_what_hosts_read_and_servers_send_the_same() -> None:
    """Cloudflare reads 100 rules, lines of 2,000 characters, one asterisk in a path; the examples have every header."""
    assert 1 < len(RULES) <= 100 and max(map(len, HEADERS.splitlines())) <= 2_000
    for pattern, headers in RULES:
        assert re.fullmatch(r"/[^*:]*\*?[^*:]*", pattern)
        assert headers and all(re.fullmatch(r"[A-Za-z-]+", name) and value for name, value in headers)
    for name in ("nginx.conf", "Caddyfile", "apache.conf"):
        text = (HOSTING / name).read_text(encoding="utf-8")
        for header, value in headers_for("/index.html"):
            assert f'{header} "{value}"' in text
        for suffix, type_ in TYPES.items():
            bare = type_.partition(";")[0]
            found = re.search(rf"{bare}[^\n]*\b{suffix[1:]}\b|\*\{suffix}\b[^\n]*\n[^\n]*{bare}", text)
            assert found, (name, suffix)
        assert ("charset utf-8;" if name == "nginx.conf" else "charset=utf-8") in text


def test_every_file_has_its_type_each_header_once_and_the_policy_of_the_pages(example_site: Path) -> None:
    """Hosts join the values of two rules, or take the last; what a header forbids and a page allows nobody finds."""
    found = {}
    with serve_folder(example_site, Host) as address:
        files = [path for path in example_site.rglob("*") if path.is_file() and not path.name.startswith(".")]
        for path in files:
            name = path.relative_to(example_site).as_posix()
            names = [keyword for keyword, _ in headers_for(f"/{name}")]
            assert len(names) == len(set(names)), name
            found[path.suffix] = f"{address}{name}"
        for suffix, url in found.items():
            sent = head(url)
            assert sent["X-Content-Type-Options"] == "nosniff" and sent["Cache-Control"] == "no-cache"
            assert suffix in KNOWN_TO_HOSTS or sent.get_all("Content-Type") == [TYPES[suffix]]
    assert set(TYPES) | KNOWN_TO_HOSTS >= set(found) >= set(TYPES) - {".opencatalog"}
    said = dict(headers_for("/index.html"))
    meta = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">')
    pages = [path.read_text(encoding="utf-8") for path in example_site.rglob("*.html")]
    assert {tuple(meta.findall(page)) for page in pages} == {(said["Content-Security-Policy"],)}
    assert all(f'<meta name="referrer" content="{said["Referrer-Policy"]}">' in page for page in pages)


def test_the_site_works_with_the_headers(example_site: Path, browser: Browser) -> None:
    """Pages, search and the page for unknown addresses, without a word in the console."""
    said: list[str] = []
    with serve_folder(example_site, Host) as address:
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{address}index.html")
        page.goto(f"{address}actions/index.html")
        page.goto(f"{address}search/index.html?q=catalogue")
        page.wait_for_selector("#_hits li")
        page.close()
    assert said == []


def test_an_original_never_runs(tmp_path: Path, browser: Browser) -> None:
    """Even one that is a page of HTML in truth: it is shown as text, or saved."""
    script = "<!doctype html><title>run</title><script>document.title = 'ran'</script>"
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--c", body=script, body_ref="evil.html")
    write_text(tmp_path / "memos/inbox/evil.html", script)
    write_text(tmp_path / "memos/inbox/2026-05-01-1500--a--b--d.openthing", script)
    site = build_site(tmp_path)
    originals = [path for path in site.rglob("original*") if "<script>" in path.read_text(encoding="utf-8")]
    assert sorted(path.name for path in originals) == ["original.body.html.txt", *["original.openthing"] * 2]
    assert not [*site.rglob("*.body.html"), *site.rglob("evil.html")]
    with serve_folder(site, Host) as address:
        for path in originals:
            page = browser.new_page()
            page.goto(f"{address}{path.relative_to(site).as_posix()}")
            assert page.title() == "" and "<script>" in page.inner_text("body")
            page.close()


ATTACK = """<!doctype html><title>evil</title>
<script>stolen = []; function memositeBlock(name, value) { stolen.push(JSON.stringify(value)); }</script>
<script src="%ssearch/t0/h0.js"></script>"""


@pytest.mark.parametrize(("handler", "is_read"), [(Handler, True), (Host, False)], ids=["without", "with"])
def test_another_site_reads_no_search_block(
    example_site: Path, tmp_path: Path, browser: Browser, handler: type[Handler], is_read: bool
) -> None:
    """Search blocks are scripts, so that they load from disk. A page elsewhere could load them in a reader's name."""
    with serve_folder(example_site, handler) as archive, serve_folder(tmp_path) as evil:
        write_text(tmp_path / "index.html", ATTACK % archive)
        page = browser.new_page()
        page.goto(evil)
        assert bool(page.evaluate("stolen.length")) == is_read
        page.close()


def test_own_files_at_the_top_of_the_output_stay(tmp_path: Path) -> None:
    """Whether the build makes everything, something or nothing (SPEC 2.1)."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--c")
    site = build_site(tmp_path)
    own = ["_headers", "_redirects", ".htaccess", ".nojekyll", "CNAME", "robots.txt", ".well-known/security.txt"]
    for name in own:
        write_text(site / name, "mine")
    build_site(tmp_path)
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1500--a--b--d")
    build_site(tmp_path)
    shutil.rmtree(tmp_path / ".memosite")
    build_site(tmp_path)
    assert [(site / name).read_text() for name in own] == ["mine"] * len(own)


@pytest.mark.parametrize("way", ["netrc", "token"])
def test_an_archive_behind_a_login(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A watch and `build --previous` log in; without a login both say why not, and lose nothing."""
    monkeypatch.setattr(Host, "login", LOGIN if way == "netrc" else "Bearer t0ken")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    write_memo(tmp_path / "org/memos/inbox", "2026-05-01-1430--a--director--c")
    site = build_site(tmp_path / "org")
    with serve_folder(site, Host, tls=trusted(tmp_path, monkeypatch)) as address:
        watch = ["watch", "--once", f"{address}positions/director/feed.xml"]
        build = ["build", str(tmp_path / "org"), "-o", str(tmp_path / "next"), "--previous", address]
        for command, code in ((watch, 1), (build, 2)):
            assert main(command) == code
            assert "401" in capsys.readouterr().err
        if way == "netrc":
            write_text(tmp_path / "netrc", "machine 127.0.0.1 login reader password s3cret\n").chmod(0o600)
        else:
            monkeypatch.setenv("MEMOSITE_TOKEN", "t0ken")
        assert main(watch) == 0
        assert "new memo: memos/inbox/" in capsys.readouterr().out
        assert main(build) == 0
    ledger = "archive/ledger.jsonl"
    assert (tmp_path / "next" / ledger).read_bytes() == (site / ledger).read_bytes()


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `memosite` in it."""
    folder = tmp_path / "runner/memosite/bin"
    folder.mkdir(parents=True)
    (folder / "memosite").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memosite "$@"\n')
    (folder / "memosite").chmod(0o755)
    return folder


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    """A site whose one repo is a clone of another."""
    origin = Repo(tmp_path / "origin")
    write_memo(origin.root / "memos/inbox", MEMO)
    origin.commit()
    site = tmp_path / "archive"
    site.mkdir()
    run_git(site, "clone", "--quiet", str(origin.root), "engine")
    write_text(site / "memosite.yml", "sources: [{path: engine}]\n")
    yield site


def run_script(programs: Path, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script with `memosite` at hand."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{programs}:{os.environ['PATH']}", **more}
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, check=False)


def arrive(clone: Path, *, is_pulled: bool) -> None:
    """A second memo is committed in the repo, and pulled into the clone."""
    origin = Repo(clone.parent / "origin", is_new=False)
    write_memo(origin.root / "memos/inbox", SECOND)
    origin.commit()
    if is_pulled:
        run_git(clone / "engine", "pull", "--quiet")


class Broken(Handler):
    """A server that is down for a moment."""

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
        """Answer with an error."""
        self.send_error(HTTPStatus.BAD_GATEWAY)


def test_a_build_goes_on_from_what_is_published_or_ends(clone: Path, programs: Path, tmp_path: Path) -> None:
    """The second one knows what arrived before the first; else addresses and the order of arrival would be lost."""
    script, published = HOSTING / "build.sh", tmp_path / "published"
    published.mkdir()
    with serve_folder(published) as base:
        done = run_script(programs, script, base, clone, "-o", tmp_path / "first", "--base-url", base, "--quiet")
        assert (done.returncode, done.stderr.count("the archive begins here")) == (0, 1)
    with serve_folder(tmp_path / "first") as base:
        arrive(clone, is_pulled=True)
        done = run_script(programs, script, f"{base}/", clone, "-o", tmp_path / "second", "--base-url", base, "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
    first, second = ((tmp_path / one / "archive/ledger.jsonl").read_text() for one in ("first", "second"))
    assert second.startswith(first) and SECOND in second.removeprefix(first)
    with serve_folder(tmp_path, Broken) as base:
        done = run_script(programs, script, base, clone, "-o", tmp_path / "out")
    assert done.returncode == 2 and "the server answered 502, expected 200, or 404" in done.stderr
    assert not (tmp_path / "out").exists()
    done = run_script(programs, script, base, clone, "-o", tmp_path / "out")
    assert "the server answered 000" in done.stderr


def test_cron_updates_builds_and_copies(clone: Path, programs: Path, tmp_path: Path) -> None:
    """What arrives is published, without a word; what cannot be updated or built is said: cron mails."""
    publish = (programs, HOSTING / "publish.sh", clone)
    done = run_script(*publish, f"{tmp_path / 'www'}/")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / f"www/memos/{MEMO}/index.html").exists()
    arrive(clone, is_pulled=False)
    assert run_script(*publish, f"{tmp_path / 'www'}/").returncode == 0
    assert (tmp_path / f"www/memos/{SECOND}/index.html").exists()
    run_git(clone / "engine", "remote", "set-url", "origin", str(tmp_path / "gone"))
    done = run_script(*publish, f"{tmp_path / 'other'}/")
    assert done.returncode == 1 and "engine/ could not be updated; its last state is published" in done.stderr
    assert (tmp_path / f"other/memos/{MEMO}/index.html").exists()
    write_text(clone / "memosite.yml", "sauces: []\n")
    assert run_script(*publish, f"{tmp_path / 'new'}/").returncode == 2 and not (tmp_path / "new").exists()


def read_yaml(path: Path) -> Any:
    """A workflow. YAML 1.1 reads its key `on` as true."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_action_builds(clone: Path, programs: Path, tmp_path: Path) -> None:
    """Its last step, run with the inputs of a workflow; twice, with what is published between."""
    steps = read_yaml(ROOT / "action.yml")["runs"]["steps"]
    script = tmp_path / "step"
    script.write_text(steps[-1]["run"])
    (tmp_path / "published").mkdir()
    runner = {"RUNNER_TEMP": str(programs.parent.parent), "GITHUB_ACTION_PATH": str(ROOT), "FAIL_ON": "error"}
    ledgers = []
    with serve_folder(tmp_path / "published") as base:
        for number in range(2):
            public = tmp_path / f"public-{number}"
            inputs = {"SITE": str(clone), "OUTPUT": str(public), "BASE_URL": f"{base}/", "AUDIENCE": "public"}
            done = run_script(programs, "bash", "-e", script, **inputs, **runner)
            assert done.returncode == 0, done.stderr
            assert (public / f"memos/{MEMO}/index.html").exists()
            assert set(steps[-1]["env"]) <= {*inputs, *runner}
            ledgers.append((public / "archive/ledger.jsonl").read_text())
            shutil.copytree(public, tmp_path / "published", dirs_exist_ok=True)
            if number == 0:
                arrive(clone, is_pulled=True)
    assert ledgers[1].startswith(ledgers[0]) and ledgers[1] != ledgers[0]


def test_workflows_name_what_there_is_scripts_are_shell_and_a_release_is_its_tags_version(tmp_path: Path) -> None:
    """No value is pasted into a script by a workflow: text in a script would be run; a wrong tag ends a release."""
    action = read_yaml(ROOT / "action.yml")
    workflow = read_yaml(HOSTING / "github.yml")
    [step] = [one for one in workflow["jobs"]["publish"]["steps"] if "memosite@" in one.get("uses", "")]
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, one in action["inputs"].items() if one.get("required")} <= set(step["with"])
    used = "".join(one.get("run", "") for one in action["runs"]["steps"])
    for path in ("requirements/run.txt", "docs/hosting/build.sh"):
        assert f"$GITHUB_ACTION_PATH/{path}" in used and (ROOT / path).exists()
    notify = read_yaml(HOSTING / "github-notify.yml")
    assert notify["jobs"]["notify"]["steps"]
    assert notify[True] == {"push": {"branches": ["main"]}}  # any file may be part of the archive
    for name in ("action.yml", "docs/hosting/github.yml", ".github/workflows/release.yml"):
        found = read_yaml(ROOT / name)
        jobs = [found["runs"]] if "runs" in found else found["jobs"].values()
        assert [step["run"] for job in jobs for step in job["steps"] if "${{" in step.get("run", "")] == []
    lines = "\n".join(read_yaml(HOSTING / "gitlab-ci.yml")["pages"]["script"])
    subprocess.run(["sh", "-n"], input=lines, text=True, check=True)
    for script in HOSTING.glob("*.sh"):
        subprocess.run(["sh", "-n", script], check=True)
    steps = read_yaml(ROOT / ".github/workflows/release.yml")["jobs"]["build"]["steps"]
    [check] = [one["run"] for one in steps if one.get("name") == "The tag is the version"]
    write_text(tmp_path / "pyproject.toml", (ROOT / "pyproject.toml").read_text())
    for tag, code in (("v0.1.0", 0), ("v9.9.9", 1)):
        done = subprocess.run(["bash", "-c", check], cwd=tmp_path, env={"GITHUB_REF_NAME": tag}, check=False)
        assert done.returncode == code
