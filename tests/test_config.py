"""memosite.yml is read whole or refused with one line that says where, what was found and what was expected."""

import os
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memosite.config.loading import KEYS, check_output, load_config
from memosite.config.schema import DEFAULT_DOCUMENTS, Config, FeedsConfig, SourceConfig
from memosite.facts.errors import ConfigError, MemositeError, OutputError
from memosite.facts.parsed import Discharge
from memosite.facts.values import replace

EVERYTHING = """\
title: Example organization
base_url: https://archive.example.org
archive_id: example-org
authority: "example.org,2026"
language: pt-BR
sources:
  - path: governance
  - path: ../engine
    name: motor
    include: ["docs/comms/**/*.openthing"]
    exclude: ["memos/drafts/**"]
    web: https://git.example.org/engine/blob/{ref}/{path}
history: own
positions:
  aliases: {oagp-implementer: og-implementer}
  people: [director]
documents: ["rulings/**/*.md"]
actions:
  closed:
    2026-05-01-1430--a--b--c: {on: 2026-05-20, by: director, why: "overtaken"}
feeds: {window: 20, days: 7, ttl: 15, full_content: false, digest: weekly, searches: {late: is:open}}
theme: theme
audience: internal
output: public
"""

WEB, GIT = "sources:\n- path: web\n", "sources:\n- git: https://x.example/r\n"
AGAIN, OF_LINE = ":3: sources[1]: found the", "of the source in line 2"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site folder `site` with the repos that the examples name."""
    folder = tmp_path / "site"
    for path in ("governance/memos/inbox", "web", "theme", "../engine/memos"):
        (folder / path).mkdir(parents=True)
    (folder / "governance/memos/inbox/a.openthing").write_text("{}")
    (folder / "page.html").write_text("")
    (folder / "circle").symlink_to("circle")
    return folder


def write(site: Path, text: str) -> Path:
    """Put a configuration into the site folder."""
    (site / "memosite.yml").write_text(text, encoding="utf-8")
    return site


def error_of(site: Path, text: str) -> str:
    """The one line with which a configuration is refused, without the folder it lies in."""
    with pytest.raises(ConfigError) as caught:
        load_config(write(site, text))
    line = str(caught.value)
    assert "\n" not in line and line.startswith(f"{site}/memosite.yml:")
    return line.removeprefix(f"{site}/")


def test_every_setting_is_read_and_an_empty_file_means_all_defaults(site: Path) -> None:
    """Each key with a value that is not its default."""
    assert load_config(write(site, EVERYTHING)) == Config(
        site=site,
        title="Example organization",
        base_url="https://archive.example.org/",
        address="https://archive.example.org/",
        archive_id="example-org",
        authority="example.org,2026",
        language="pt-BR",
        sources=(
            SourceConfig(name="governance", root=site / "governance"),
            SourceConfig(
                name="motor", root=site.parent / "engine", include=("docs/comms/**/*.openthing",),
                exclude=("memos/drafts/**",), web="https://git.example.org/engine/blob/{ref}/{path}",
            ),
        ),
        history="own",
        aliases=MappingProxyType({"oagp-implementer": "og-implementer"}),
        people=("director",),
        documents=(*DEFAULT_DOCUMENTS, "rulings/**/*.md"),
        closed=MappingProxyType(
            {"2026-05-01-1430--a--b--c": Discharge(on="2026-05-20", by="director", disposition="overtaken")}
        ),
        feeds=FeedsConfig(window=20, days=7, ttl=15, full_content=False, digest="weekly"),
        searches=MappingProxyType({"late": "is:open"}),
        theme=site / "theme",
        output=site / "public",
        cache=site / ".memosite",
        file=site / "memosite.yml",
    )  # fmt: skip
    for text in ["", "# nothing but a comment\n", "\ufeff", "feeds:\nactions:\npositions:\n", "{}"]:
        config = load_config(write(site, text))
        assert config == Config(
            site=site, title="site", sources=(SourceConfig(name="governance", root=site / "governance"),),
            output=site / "_site", cache=site / ".memosite", file=site / "memosite.yml",
        )  # fmt: skip
        assert (config.archive_id, config.authority, config.language) == ("archive", "memosite.invalid,2026", "en")
        assert (config.documents, config.feeds.window, config.feeds.ttl) == (DEFAULT_DOCUMENTS, 50, 5)
    (site / "memosite.yml").unlink()
    config = load_config(site)
    assert config.file is None and [source.name for source in config.sources] == ["governance"]
    for folder in ("made/memos", "kept/memos"):
        (site / folder).mkdir(parents=True)
        (site / folder / "x.openthing").write_text("{}")
    config = load_config(site, output=site / "made", cache=site / "kept")
    assert [source.name for source in config.sources] == ["governance"]


def test_the_command_line_counts_before_the_file(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path on it means what the shell means by it, and is checked like a setting."""
    write(site, EVERYTHING)
    config = load_config(site, output=site / "o", base_url="http://other.example/sub", cache=site / "c")
    assert (config.output, config.base_url, config.cache) == (site / "o", "http://other.example/sub/", site / "c")
    with pytest.raises(ConfigError, match='--base-url: found "x", expected an absolute http or https address'):
        load_config(site, base_url="x")
    with pytest.raises(ConfigError, match=r"--output: found .*page\.html\", which is no folder, expected one to write"):
        load_config(site, output=site / "page.html")
    with pytest.raises(ConfigError, match=r"--cache: found .*page\.html\", which is no folder, expected one to write"):
        load_config(site, cache=site / "page.html")
    monkeypatch.chdir(site.parent)
    config = load_config(Path("site"), output=Path("elsewhere"))
    assert (config.site, config.output) == (site, site.parent / "elsewhere")


def test_what_is_wrong_is_named_with_line_key_found_and_expected(site: Path) -> None:
    """Each kind of mistake, in one line that a person can act on; an exception without a reason is none."""
    for text, expected in [
        ("tilte: x\n", "memosite.yml:1: tilte: found an unknown key, expected one of title, base_url, archive_id"),
        ("tilte: x\n", 'did you mean "title"?'),
        ("feeds:\n  windows: 3\n", "memosite.yml:2: feeds.windows: found an unknown key, expected one of window, days"),
        (f"{WEB}  nmae: w\n", "sources[0].nmae: found an unknown key, expected one of path, git, ref, name"),
        ("<<: {title: x}\n", 'memosite.yml:1: "<<": found an unknown key'),
        ("title: a\n\ntitle: b\n", "memosite.yml:3: title: found the key twice, first in line 1, expected it once"),
        ("actions: {closed: {a: {}, a: {}}}\n", "memosite.yml:1: actions.closed.a: found the key twice"),
        ("positions: {aliases: {'': x}}\n", 'memosite.yml:1: positions.aliases."": found a key of nothing'),
        ("? [a, b]\n: c\n", "memosite.yml:1: found a list or mapping as a key, expected a text"),
        ("- title\n", "memosite.yml:1: found a list, expected a mapping with title, base_url"),
        ("hello\n", 'memosite.yml:1: found "hello", expected a mapping with title'),
        ("\ntitle: 2026\n", 'memosite.yml:2: title: found the number "2026", expected a text; put it in quotes'),
        ("title: [a]\n", "memosite.yml:1: title: found a list, expected a text"),
        ("title:\n", "memosite.yml:1: title: found nothing, expected a text"),
        ("title: ' '\n", 'memosite.yml:1: title: found " ", expected a text'),
        ('title: "a\\x1b[2J"\n', r'memosite.yml:1: title: found "a\x1b[2J", expected a text; remove the control'),
        ("language: no\n", 'memosite.yml:1: language: found the truth value "no", expected a language; put it in'),
        ("language: english please\n", 'language: found "english please", expected a language tag (BCP 47)'),
        ("base_url: archive.example.org\n", 'base_url: found "archive.example.org", expected an absolute http'),
        ("base_url: ftp://example.org/\n", "memosite.yml:1: base_url: found"),
        ("base_url: https://\n", "memosite.yml:1: base_url: found"),
        ("base_url: https://u:p@example.org/\n", "memosite.yml:1: base_url: found"),
        ("base_url: https://example.org/?a=b\n", "memosite.yml:1: base_url: found"),
        ("base_url: https://example.org:99999/\n", "memosite.yml:1: base_url: found"),
        ("base_url: 'https://[::1/'\n", "memosite.yml:1: base_url: found"),
        ("base_url: https://exämple.org/\n", "memosite.yml:1: base_url: found"),
        ("base_url: [https://example.org/]\n", "base_url: found a list, expected an absolute http or https address"),
        ("archive_id: a/b\n", 'archive_id: found "a/b", expected at most 100 letters (A to Z), digits, . _ and -'),
        ("archive_id: é\n", 'archive_id: found "é", expected at most 100 letters'),
        ("authority: example.org\n", 'authority: found "example.org", expected a domain and a date'),
        ("authority: 'Example.org,2026'\n", 'found "Example.org,2026", expected a domain and a date, in lower case'),
        ("authority: 'Example.org,2026'\n", "write it in lower case"),
        ("authority: 'example.org,26'\n", "memosite.yml:1: authority: found"),
        ("authority: 'example.org,2026-13'\n", "memosite.yml:1: authority: found"),
        ("authority: 'example.org,2026-02-30'\n", "memosite.yml:1: authority: found"),
        ("authority: 'exa_mple.org,2026'\n", "memosite.yml:1: authority: found"),
        ("authority: '-a.org,2026'\n", "memosite.yml:1: authority: found"),
        ("sources:\n", "memosite.yml:1: sources: found nothing, expected a list of entries such as"),
        ("sources: web\n", 'memosite.yml:1: sources: found "web", expected a list of entries'),
        ("sources: []\n", "memosite.yml:1: sources: found an empty list, expected at least one source; remove the"),
        ("sources:\n- web\n", 'memosite.yml:2: sources[0]: found "web", expected a mapping with path, git'),
        (f"{WEB}  git: https://x.example/r\n", "memosite.yml:3: sources[0].git: found path and git"),
        ("sources:\n- git: 7\n", 'memosite.yml:2: sources[0].git: found the number "7", expected an https://, ssh://'),
        (
            "sources:\n- git: ../repo\n",
            'found "../repo", expected an https://, ssh:// or file:/// address, or git@host',
        ),
        ("sources:\n- git: ../repo\n", "; a repo on this machine is named by path:"),
        ("sources:\n- git: http://x.example/r\n", "sources[0].git: found the protocol http, expected an https://"),
        ("sources:\n- git: 'ext::sh -c x'\n", 'sources[0].git: found "ext::sh -c x", expected an https://'),
        ("sources:\n- git: '-x'\n", 'sources[0].git: found "-x", expected an https://'),
        ("sources:\n- git: https://a:hidden@x.example/r\n", "found a user or password in the address, expected none"),
        ("sources:\n- git: 'https://a:hidden@x.example/r r'\n", 'found "https://x.example/r r", expected'),
        ("sources:\n- git: https://x.example/r\n  ref: -x\n", 'memosite.yml:3: sources[0].ref: found "-x", expected'),
        ("sources:\n- git: https://x.example/r\n  ref: 'a b'\n", 'sources[0].ref: found "a b", expected the name of a'),
        ("sources:\n- git: https://x.example/r\n  ref: 1234567\n", "put it in quotes to have it read as a text"),
        (f"{WEB}  ref: main\n", "web, but it is not a git repo, expected the folder of a git repo"),
        (f"{GIT}- git: https://x.example/r\n  name: x\n", f"{AGAIN} address {OF_LINE} again, expected each address"),
        ("sources:\n- git: https://x.example/r\n- git: git@x.example:a/R.git\n", 'found the name "R" again'),
        ("sources:\n- name: web\n", "memosite.yml:2: sources[0]: found no path, expected the path of a folder; add"),
        ("sources:\n- path: wbe\n", 'memosite.yml:2: sources[0].path: found "wbe", which does not exist, expected'),
        ("sources:\n- path: page.html\n", 'found "page.html", which is a file, expected an existing folder; name'),
        ("sources:\n- path: page.html/x\n", 'sources[0].path: found "page.html/x", which cannot be opened, expected'),
        ("sources:\n- path: 5\n", 'sources[0].path: found the number "5", expected the path of a folder'),
        ("sources:\n- path: ''\n", 'sources[0].path: found "", expected the path of a folder'),
        (f"{WEB}  name: a/b\n", 'memosite.yml:3: sources[0].name: found "a/b", expected a name'),
        (f"{WEB}  name: ''\n", 'memosite.yml:3: sources[0].name: found "", expected a name'),
        ('sources:\n- path: web\n  name: "a\\tb"\n', r'sources[0].name: found "a\tb", expected a name'),
        (f"{WEB}  name: ..\n", 'sources[0].name: found "..", expected a name without /'),
        (f"{WEB}  include: x\n", 'sources[0].include: found "x", expected a list of globs'),
        (f"{WEB}  exclude: [5]\n", 'sources[0].exclude[0]: found the number "5", expected a glob'),
        (f"{WEB}  include:\n  - ../x\n", 'memosite.yml:4: sources[0].include[0]: found "../x"'),
        (f"{WEB}  include: [/x]\n", 'found "/x", expected a glob below the source; write it'),
        (f"{WEB}  web: https://x.example/\n", 'sources[0].web: found "https://x.example/", expected'),
        ("sources:\n- path: web\n  web: 'git@x:{path}'\n", "with {path} in it"),
        ("sources:\n- path: web\n  web: 'https://x.example/{rev}/{path}'\n", "memosite.yml:3: sources[0].web: found"),
        ("sources:\n- path: web\n  web: 'https://{path}/x'\n", "memosite.yml:3: sources[0].web: found"),
        ("sources:\n- path: web\n  web: 'javascript://x/{path}'\n", "memosite.yml:3: sources[0].web: found"),
        (
            f"{WEB}- path: theme\n  name: WEB\n",
            f'{AGAIN} name "WEB" again, first in line 2, expected a name of its own',
        ),
        (f"{WEB}- path: ./theme/../web\n  name: x\n", f"{AGAIN} folder {OF_LINE} again, expected each folder once"),
        ("history: all\n", 'memosite.yml:1: history: found "all", expected own'),
        ("audience: everybody\n", 'memosite.yml:1: audience: found "everybody", expected internal or public'),
        ("positions: [director]\n", "positions: found a list, expected a mapping with aliases, people"),
        ("positions: {people: director}\n", 'positions.people: found "director", expected a list of positions'),
        ("positions: {people: [no]}\n", 'positions.people[0]: found the truth value "no", expected a text'),
        ("positions: {aliases: [a]}\n", "positions.aliases: found a list, expected a mapping of former to present"),
        ("positions: {aliases: {a: [b]}}\n", "positions.aliases.a: found a list, expected the present name"),
        ("positions:\n  aliases:\n    a: b\n    b: a\n", "memosite.yml:3: positions.aliases.a: found names that lead"),
        ("positions: {aliases: {a: a}}\n", "expected a last name"),
        ("documents: docs/*.md\n", 'documents: found "docs/*.md", expected a list of globs'),
        ("actions: {closed: [a]}\n", "actions.closed: found a list, expected a mapping from memo ids to {on, by, why}"),
        ("actions: {closed: {a: done}}\n", 'actions.closed.a: found "done", expected a mapping with on, by, why'),
        ("actions: {closed: {a b: {by: [c]}}}\n", 'actions.closed."a b".by: found a list, expected a text'),
        ("actions: {closed: {a: {on: soon}}}\n", 'actions.closed.a.on: found "soon", expected an ISO 8601 date;'),
        ("actions: {closed: {a: {on: 2026-02-31}}}\n", 'found the date "2026-02-31", expected an ISO 8601 date'),
        ("feeds: 50\n", 'memosite.yml:1: feeds: found the number "50", expected a mapping with window, days, ttl'),
        ("feeds:\n  window: many\n", 'memosite.yml:2: feeds.window: found "many", expected a whole number from 1'),
        ("feeds: {window: 0}\n", 'feeds.window: found the number "0", expected a whole number from 1 to 10000'),
        ("feeds: {days: -1}\n", 'feeds.days: found the number "-1", expected a whole number from 0 to 3660'),
        ("feeds: {digest: hourly}\n", 'feeds.digest: found "hourly", expected daily or weekly'),
        ("feeds: {full_content: yes}\n", "expected true or false"),
        ("feeds: {ttl: 1.5}\n", 'feeds.ttl: found the number "1.5", expected a whole number from 1 to 10080'),
        ("feeds: {ttl: 0x10}\n", 'feeds.ttl: found the number "0x10", expected a whole number'),
        ("theme: nowhere\n", 'memosite.yml:1: theme: found "nowhere", which does not exist, expected an existing'),
        ("theme: page.html\n", 'theme: found "page.html", which is a file, expected an existing folder'),
        ("output: page.html\n", 'output: found "page.html", which is no folder, expected a folder to write'),
        ("output: page.html/x\n", 'output: found "page.html/x", which is no folder, expected a folder to write'),
        ('theme: "\\ud800"\n', r'theme: found "\ud800", which cannot be opened, expected an existing folder'),
        ('output: "\\ud800"\n', r'output: found "\ud800", which is no folder, expected a folder to write'),
        ("theme: circle\n", 'theme: found "circle", which cannot be opened, expected an existing folder'),
        ("output: circle/x\n", 'output: found "circle/x", which is no folder, expected a folder to write'),
        ("output: [x]\n", "output: found a list, expected the path of a folder"),
    ]:
        line = error_of(site, text)
        assert expected in line and ": found " in line
        assert ", expected " in line
    digits = "expected 16 hex digits, as memosite check shows"
    for text, error in [
        ("mode: hide", '.mode: found "hide", expected withhold, redact or fail'),
        ("allow: {}", ".allow: found a mapping, expected a list of {fingerprint, why}"),
        (
            "allow: [{fingerprint: 0123456789abcdef}]",
            ".allow[0]: found no why, expected the reason why it may be published; add why:",
        ),
        ("allow: [{why: revoked}]", f".allow[0]: found no fingerprint, {digits}; add fingerprint:"),
        ("allow: [{fingerprint: abc, why: revoked}]", f'.allow[0].fingerprint: found "abc", {digits}'),
    ]:
        assert error_of(site, f"secrets: {{{text}}}\n") == f"memosite.yml:1: secrets{error}"


def test_yaml_that_is_broken_or_dangerous_is_refused(site: Path) -> None:
    """Aliases, tags and depth never reach a constructor; what cannot be read is said, not taken for absent."""
    for text, expected in [
        ("a: &x [1]\nb: *x\n", "memosite.yml:2: found the alias *x, expected a value"),
        ("title: !!python/object/apply:os.system ['x']\n", 'memosite.yml:1: found the tag "tag:yaml.org,2002:python/'),
        ("title: !mine x\n", 'memosite.yml:1: found the tag "!mine", expected a plain value'),
        ("title: " + "[" * 5000 + "]" * 5000, "memosite.yml:1: found more than 20 levels, expected 4 at most"),
        ("title: a\n b: c\n", "memosite.yml:2: found what is not YAML (mapping values are not allowed here), expected"),
        ("title: 'a\n", "memosite.yml:2: found what is not YAML (while scanning a quoted scalar found unexpected end"),
        ("title: a\n\tlanguage: en\n", "found what is not YAML ("),
        ("title: a\nb: \x07\n", "memosite.yml:2: found what is not YAML (the character U+0007), expected key: value"),
        ('title: "\\UFFFFFFFF"\n', "memosite.yml:1: found what is not YAML (an escape beyond"),
        ("title: a\n---\ntitle: b\n", "memosite.yml:2: found what is not YAML ("),
    ]:
        assert expected in error_of(site, text)
    (site / "memosite.yml").rename(site / "memosite.yaml")
    with pytest.raises(ConfigError, match=r"memosite\.yaml: expected the name memosite\.yml; rename"):
        load_config(site)
    (site / "memosite.yml").write_bytes(b"language: en\ntitle: caf\xe9\n")
    with pytest.raises(ConfigError, match=r"memosite\.yml:2: found bytes that are not UTF-8, expected UTF-8"):
        load_config(site)
    with pytest.raises(ConfigError, match=r"found more than 1048576 bytes, expected a configuration"):
        load_config(write(site, "#" * (1 << 20) + "\n"))
    with pytest.raises(ConfigError, match="found no such folder, expected a site folder"):
        load_config(site / "nowhere")
    with pytest.raises(ConfigError, match="found a file, expected a site folder"):
        load_config(site / "page.html")
    (site / "memosite.yml").unlink()
    (site / "memosite.yml").mkdir()
    with pytest.raises(ConfigError, match=r"memosite\.yml: cannot be read .*expected a file"):
        load_config(site)
    (site / "memosite.yml").rmdir()
    bomb = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    assert "memosite.yml:2: found the alias *a" in error_of(site, bomb)


def test_secrets_dates_authorities_positions_and_paths_are_read_as_they_are_meant(site: Path) -> None:
    """A fingerprint may look like a number, a date be in quotes; a link is the folder itself."""
    allow = "[{fingerprint: 1234567890123456, why: revoked}, {fingerprint: 'abcdef0123456789', why: an example}]"
    (site / "memosite.yml").write_text(f"secrets: {{mode: redact, allow: {allow}}}\n")
    secrets = load_config(site).secrets
    assert secrets.mode == "redact" and secrets.fingerprints == {"1234567890123456", "abcdef0123456789"}
    (site / "memosite.yml").write_text("citations: ['book/**/*.md']\n")
    assert load_config(site).citations == ("book/**/*.md",)
    error = error_of(site, "citations: ['../book/*.md']\n")
    assert error.startswith('memosite.yml:1: citations[0]: found "../book/*.md", expected a glob below the site folder')
    for written, read in [
        ("2026-05-20", "2026-05-20"),
        ("'2026-05-20'", "2026-05-20"),
        ("2026-05-20 14:30:00Z", "2026-05-20T14:30:00Z"),
        ("2026-05-20T14:30:00-04:00", "2026-05-20T14:30:00-04:00"),
    ]:
        config = load_config(write(site, f"actions: {{closed: {{a: {{on: {written}}}}}}}\n"))
        assert config.closed["a"] == Discharge(on=read)
    domains = "example.org,2026 example.org,2026-05 example.org,2026-05-31 ann.b@mail.example.org,2026 a--b.c,1999"
    for authority in domains.split():
        assert load_config(write(site, f"authority: '{authority}'\n")).authority == authority
    config = load_config(write(site, "actions:\n  closed:\n    a:\n      why: >\n        one\n        two\n"))
    assert config.closed["a"] == Discharge(disposition="one two")
    config = load_config(write(site, "positions: {aliases: {b: c, a: b, c: d, x: c}}\n"))
    assert dict(config.aliases) == {"b": "d", "a": "d", "c": "d", "x": "d"}
    assert list(config.aliases) == ["b", "a", "c", "x"]
    assert load_config(write(site, "documents: []\n")).documents == ()
    (site / "link").symlink_to(site / "web")
    config = load_config(write(site, f"sources:\n- path: {site}/governance\n- path: link\n"))
    expected = [("governance", site / "governance"), ("web", site / "web")]
    assert [(source.name, source.root) for source in config.sources] == expected
    assert "found the folder of the source in line 2 again" in error_of(site, f"{WEB}- path: link\n  name: b\n")
    (site / "a\tb").mkdir()
    config = load_config(write(site, 'sources:\n- path: "a\\tb"\n'))
    assert (config.sources[0].name, config.sources[0].root) == ("a-b", site / "a\tb")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    text=st.one_of(
        st.text(),
        st.lists(
            st.sampled_from([*(f"{key}: " for key in KEYS), "\n", "- ", "[", "{", "'", '"\\U', "*a", " ", "1"])
        ).map("".join),
    )
)
def test_any_text_is_a_configuration_or_an_error_in_one_line(site: Path, text: str) -> None:
    """Whatever the file holds, nothing but memosite's own errors comes out."""
    (site / "memosite.yml").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        load_config(site)
    except MemositeError as error:
        assert str(error).isprintable()


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (".", "is the site folder or holds it"),
        ("..", "is the site folder or holds it"),
        ("governance", "is the source governance or holds it"),
        ("../repos", "is the source engine or holds it"),
        ("governance/memos", "is among the files of the source governance"),
        ("governance/memos/inbox/_site", "is among the files of the source governance"),
        ("filled", r'has an item in it \("x.body.md"\)'),
        (".memosite", "share a folder"),
        (".memosite/out", "share a folder"),
    ],
)
def test_an_output_among_what_is_read_is_refused(site: Path, output: str, expected: str) -> None:
    """Building must not be able to write over a memo, whatever the configuration says."""
    for folder in ("filled/deep", "../repos/engine"):
        (site / folder).mkdir(parents=True)
    (site / "filled/deep/x.body.md").write_text("")
    config = load_config(write(site, f"sources:\n- path: governance\n- path: ../repos/engine\noutput: {output}\n"))
    with pytest.raises(OutputError, match=expected):
        check_output(config)


def test_an_output_beside_what_is_read_is_fine_and_may_hold_published_originals(site: Path) -> None:
    """Also inside a source, if no artifact lies there; the marker tells memosite's own."""
    for output in ["_site", "governance/_site", "../elsewhere", "web"]:
        check_output(load_config(write(site, f"sources:\n- path: governance\noutput: {output}\n")))
    (site / "memosite.yml").unlink()
    (site / "_site/memos/a").mkdir(parents=True)
    (site / "_site/memos/a/original.openthing").write_text("{}")
    config = load_config(site)
    with pytest.raises(OutputError, match="has an item in it"):
        check_output(config)
    (site / "_site/.memosite-site").write_text("")
    check_output(config)
    config = load_config(site)
    with pytest.raises(OutputError, match="share a folder"):
        check_output(replace(config, cache=config.output / "cache"))


def test_messages_name_the_file_as_it_was_given(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From inside the site folder an editor can open the place as it is printed."""
    write(site, "tilte: x\n")
    monkeypatch.chdir(site)
    with pytest.raises(ConfigError, match=r"^memosite\.yml:1: tilte: "):
        load_config(Path())
    assert os.getcwd() == str(site)  # noqa: PTH109 - what the process itself says


def test_a_repo_by_its_address_is_named_by_its_last_part(site: Path) -> None:
    """With its name or the one that is given, and no folder."""
    for url, name in [
        ("https://git.example.org/acme/spec.git", "spec"),
        ("https://git.example.org/acme/spec/", "spec"),
        ("ssh://git@git.example.org:2222/acme/spec.git", "spec"),
        ("git@git.example.org:spec.git", "spec"),
        ("file:///srv/repos/a%20b.git", "a b"),
        ("file:///srv/spec/.git", "spec"),
        ("https://git.example.org/%0a", "-"),
    ]:
        text = f"sources:\n- {{git: '{url}', ref: release/1.0, include: ['a/**']}}\n- {{git: '{url}', name: other}}\n"
        first, second = load_config(write(site, text)).sources
        assert first == SourceConfig(name=name, git=url, ref="release/1.0", include=("a/**",))
        assert second == SourceConfig(name="other", git=url)
    for ref in (
        *("-x", "/x", "x/", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "@{u}", "@", ".a", "a/.b"),
        *("a.lock", "a.", "a//b", "+a:b"),
    ):
        text = f"sources: [{{git: 'https://x.example/r', ref: '{ref}'}}]\n"
        assert "sources[0].ref: found" in error_of(site, text)
