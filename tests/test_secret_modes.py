"""What is done about secrets: what holds one is published without its content, redacted, or nothing is (SPEC 9)."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org, write_transcript
from tests.support.repos import Repo
from tests.support.sites import tree_bytes
from tests.support.watches import watch

KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
"""In two parts, so that no scanner takes this file for a leak."""
SHOWN = "[REDACTED:aws-access-key-id]"
LEAK = "2026-05-01-0900--engineer--director--leak"
OTHER = "2026-05-01-1000--engineer--director--other"
LEAK_PATH = f"desk/memos/inbox/{LEAK}.openthing"
KIND = "AWS access key id"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two memos, one of which holds a key."""
    inbox = tmp_path / "site/desk/memos/inbox"
    write_memo(inbox, LEAK, subject="Tide tables", body=f"The key is\n{KEY}, as you asked.")
    write_memo(inbox, OTHER, subject="Casks", body="Nothing to hide.")
    write_org(tmp_path / "site/desk/org", positions=["director", "engineer"])
    write_text(tmp_path / "site/memosite.yml", "sources: [{path: desk}]\n")
    return tmp_path / "site"


def published(site: Path) -> dict[str, str]:
    """The files of the built site as texts."""
    return {path: data.decode("utf-8", "replace") for path, data in tree_bytes(site / "_site").items()}


# Withhold


def test_one_secret_withholds_one_artifact(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its page is its envelope alone; the other memo is whole; a loud line says so, and the exit code is 1."""
    assert main(["build", str(site)]) == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("withheld  1 file is withheld for a secret")
    assert lines[at + 1] == f"          {LEAK_PATH}:9: {KIND}"
    check = f"memosite check {site}"
    assert lines[at + 2] == f"          rotate the keys; then redact the sources or allow them ({check})"
    files = published(site)
    assert "is not published, because it holds a secret" in files[f"memos/{LEAK}/index.html"]
    assert KIND in files[f"memos/{LEAK}/index.html"]
    assert "Nothing to hide." in files[f"memos/{OTHER}/index.html"]
    assert not any("Tide tables" in text or "as you asked" in text or KEY in text for text in files.values())
    assert f"memos/{LEAK}/original/{LEAK}.openthing" not in files


def test_a_build_that_finds_nothing_new_says_it_again(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not forgotten because nothing changed; quiet builds say it as an error."""
    assert main(["build", str(site), "--quiet"]) == 1
    first = capsys.readouterr()
    assert first.out == "" and first.err.startswith("memosite: 1 file is withheld for a secret\nmemosite: desk/")
    assert all(line.startswith("memosite: ") for line in first.err.splitlines())
    before = tree_bytes(site / "_site")
    assert main(["build", str(site), "--quiet"]) == 1
    assert capsys.readouterr() == first
    assert tree_bytes(site / "_site") == before


def test_the_notification_goes_out(site: Path, tmp_path: Path) -> None:
    """Of the feed: its path only. A watch of the published feed and one of the repos announce both memos."""
    main(["build", str(site), "--quiet"])
    feed = site / "_site/positions/director/feed.xml"
    assert f"new memo: memos/inbox/{LEAK}.openthing" in feed.read_text()
    full = feed.with_name("feed-full.xml").read_text()
    assert f">new memo: memos/inbox/{LEAK}.openthing\n</content:encoded>" in full
    for of in ([feed], ["--position", "director", "--site", site]):
        done = watch(*of, "--once", folder=tmp_path / str(len(of)))
        assert sorted(done.stdout.splitlines()) == [
            f"new memo: memos/inbox/{LEAK}.openthing",
            f"new memo: memos/inbox/{OTHER}.openthing",
        ]


def test_what_is_mended_is_published(site: Path) -> None:
    """And the exit code is 0 again."""
    assert main(["build", str(site), "--quiet"]) == 1
    write_memo(site / "desk/memos/inbox", LEAK, subject="Tide tables", body="The key is in the vault.")
    assert main(["build", str(site), "--quiet"]) == 0
    assert "The key is in the vault." in published(site)[f"memos/{LEAK}/index.html"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["export"], 1),
        (["export", "kind:memo"], 1),
        (["search", "casks"], 0),
        (["search", "nowhere"], 1),
        (["diff", "2026-04-01.."], 0),
    ],
)
def test_every_command_says_what_it_did_not_see(
    site: Path, command: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """On one line, also when its index is up to date. Search and diff end by their own result, exports with 1."""
    for _ in range(2):
        assert main([*command, "--site", str(site)]) == code
        printed = capsys.readouterr()
        assert printed.err == f"memosite: 1 file is withheld for a secret; memosite check {site} names it\n"
        assert (OTHER in printed.out) == ("nowhere" not in command) and KEY not in printed.out


def test_of_many_files_the_first_are_named_a_line_each(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten of them; of a file with several secrets the first."""
    for number in range(11):
        write_memo(site / "desk/memos/read", f"2026-05-02-{number:04d}--a--b--c", subject=KEY, body=KEY)
    for mode, head in (("withhold", "12 files are withheld for a secret"), ("fail", "nothing is published while")):
        assert main(["build", str(site), "--quiet", "--secrets", mode]) == 1
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 13 and head in lines[0]
        assert lines[1] == f"memosite: {LEAK_PATH}:9: {KIND}"
        assert lines[2].startswith("memosite: desk/memos/read/2026-05-02-0000--a--b--c.openthing:")
        assert lines[2].endswith(f": {KIND}, and 1 more")
        assert lines[11] == "memosite: and 2 more"
        assert max(len(line.removesuffix(f"{site} --secrets {mode})")) for line in lines) < 120


def test_the_command_that_names_all_leads_to_the_same(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the audience where another would be taken, and the options that change what is found."""
    monkeypatch.chdir(site)
    write_text(site / "memosite.yml", "sources: [{path: desk}]\noutputs: {internal: _site, public: _public}\n")
    told = {
        ("build",): [" .", " --audience internal", ")", " .", " --audience public", ")"],
        ("build", "--audience", "public"): [" . --audience public)"],
        ("build", "--audience", "internal", "--secrets", "fail"): [" . --audience internal --secrets fail)"],
        ("build", "--secrets", "fail"): [" . --audience internal --secrets fail)"],
        ("search", "casks"): ["memosite check . --audience public names it"],
        ("diff", "2026-04-01.."): ["memosite check . --audience public names it"],
        ("export", "--cache", "my cache"): ["memosite check . --audience public --cache 'my cache' names it"],
    }
    for command, parts in told.items():
        main(list(command))
        printed = capsys.readouterr()
        assert [part for part in parts if part not in printed.out + printed.err] == [], command
    write_text(site / "memosite.yml", "sources: [{path: desk}]\naudience: public\noutput: _other\n")
    main(["build"])
    assert "(memosite check .)" in capsys.readouterr().out


def test_of_a_list_only_the_records_with_a_secret_are_withheld(site: Path) -> None:
    """The others of the file have their pages."""
    text = f"## Decisions\n- Steel rope\n- The key {KEY} in the notes\n- Hemp rope\n"
    write_text(site / "desk/.wyren/memory.md", text)
    write_memo(site / "desk/memos/inbox", LEAK, body="No key here.")
    assert main(["build", str(site), "--quiet"]) == 1
    pages = [text for path, text in published(site).items() if path.startswith("records/") and path.endswith(".html")]
    assert sum("because it holds a secret" in page for page in pages) == 1
    assert any("Hemp rope" in page for page in pages)
    assert not any(KEY in text for text in published(site).values())


# Earlier versions


@pytest.fixture
def mended(site: Path) -> str:
    """The secret was redacted in the source; the short id of the commit that made the version with it."""
    repo = Repo(site / "desk")
    repo.commit()
    made = repo.git("rev-parse", "HEAD")
    write_memo(site / "desk/memos/inbox", LEAK, subject="Tide tables", body="The key is in the vault.")
    repo.commit()
    return made[:8]


@pytest.mark.parametrize("mode", ["withhold", "fail"])
def test_an_earlier_version_with_a_secret_is_not_shown(
    site: Path, mended: str, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The artifact is published without that version. The finding names it, and no build fails for it for ever."""
    assert main(["build", str(site), "--secrets", mode]) == 0
    summary = capsys.readouterr().out
    assert "secret" not in summary.replace("--secrets", "") and "withheld" not in summary and "1 warning" in summary
    files = published(site)
    assert "in the vault" in files[f"memos/{LEAK}/index.html"]
    assert not any(KEY in text or "as you asked" in text for text in files.values())
    assert main(["check", str(site), "--secrets", mode]) == 0
    said = capsys.readouterr().out
    assert f"{LEAK_PATH}:9: warning: {KIND} in an earlier version (commit {mended}), fingerprint " in said
    assert "[secret-formerly]" in said and "rewrite the repo's history" in said
    for command in (["build", str(site)], ["export", "--site", str(site)], ["check", str(site)]):
        assert main([*command, "--fail-on", "warning", "--secrets", mode]) == 1
    for command in (["search", "vault"], ["diff", "2026-04-01.."], ["export"]):
        assert main([*command, "--site", str(site), "--secrets", mode]) == 0


def test_an_earlier_version_is_redacted_where_secrets_are(
    site: Path, mended: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is shown among the changes."""
    assert main(["build", str(site), "--secrets", "redact", "--quiet"]) == 0
    assert f"{SHOWN}, as you asked." in published(site)[f"memos/{LEAK}/changes/index.html"]
    assert main(["check", str(site), "--secrets", "redact"]) == 1
    assert f"error: {KIND} in an earlier version (commit {mended}), fingerprint " in capsys.readouterr().out


def test_an_earlier_version_that_is_allowed_is_shown(
    site: Path, mended: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the fingerprint of the finding."""
    assert mended
    main(["check", str(site), "--format", "json"])
    (found,) = (one for one in json.loads(capsys.readouterr().out) if one["rule"] == "secret-formerly")
    allow = f"[{{fingerprint: '{found['message'].rpartition(' ')[2]}', why: revoked}}]"
    write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\nsecrets: {{allow: {allow}}}\n")
    assert main(["build", str(site), "--quiet", "--fail-on", "warning"]) == 0
    assert KEY in published(site)[f"memos/{LEAK}/changes/index.html"]


def test_what_is_in_several_versions_is_one_finding(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the commits of the first; what a file has now is none of an earlier version."""
    repo = Repo(site / "desk")
    for number in range(5):
        write_memo(site / "desk/memos/inbox", LEAK, body=f"It is {KEY}.", subject=f"Number {number}")
        repo.commit()
    commits = [one[:8] for one in repo.git("log", "--reverse", "--format=%H").split()]
    main(["check", str(site), "--format", "json"])
    (found,) = (one for one in json.loads(capsys.readouterr().out) if one["rule"] == "secret-formerly")
    assert found["message"].startswith(f"{KIND} in an earlier version (commits {', '.join(commits[:3])} and 1 more), ")
    assert main(["build", str(site), "--quiet"]) == 1


def test_a_removed_file_with_a_secret_is_an_earlier_version(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its page says that it was removed, and shows nothing of it."""
    repo = Repo(site / "desk")
    repo.commit()
    (site / LEAK_PATH).unlink()
    repo.commit()
    assert main(["build", str(site), "--quiet"]) == 0
    files = published(site)
    assert f"memos/{LEAK}/index.html" in files
    assert not any(KEY in text or "as you asked" in text for text in files.values())
    assert main(["check", str(site)]) == 0
    assert f"{LEAK_PATH}:9: warning: {KIND} in an earlier version" in capsys.readouterr().out


@pytest.mark.parametrize("mode", ["withhold", "redact", "fail"])
def test_a_file_that_was_renamed_fails_no_build(site: Path, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The secret that was in its name is in git history alone; the finding says so, and how to be rid of it."""
    leak = site / LEAK_PATH
    leak.unlink()
    hidden = write_memo(leak.parent, f"2026-05-01-0900--engineer--director--{KEY}", body="Hidden by its name.")
    repo = Repo(site / "desk")
    repo.commit()
    assert main(["build", str(site), "--quiet", "--secrets", mode]) == 1
    hidden.unlink()
    write_memo(leak.parent, LEAK, body="Hidden by its name.")
    repo.commit()
    assert main(["build", str(site), "--quiet", "--secrets", mode]) == 0
    files = published(site)
    assert "Hidden by its name." in files[f"memos/{LEAK}/index.html"]
    assert not any(KEY in path + text for path, text in files.items())
    capsys.readouterr()
    assert main(["check", str(site), "--secrets", mode]) == 0
    said = f"warning: {KIND} in a former name of a file in this folder, which is not shown"
    printed = capsys.readouterr().out
    assert said in printed and "[secret-formerly-in-name]" in printed


# Redact and fail


def test_redacted_texts_are_published(site: Path) -> None:
    """Everywhere, with the kind in the place of the secret; nothing is withheld, so the exit code is 0."""
    assert main(["build", str(site), "--secrets", "redact", "--quiet"]) == 0
    files = published(site)
    assert "[REDACTED:aws-access-key-id], as you asked." in files[f"memos/{LEAK}/index.html"]
    assert "[REDACTED:aws-access-key-id], as you asked." in files[f"memos/{LEAK}/index.md"]
    assert not any(KEY in text for text in files.values())
    assert main(["build", str(site), "--secrets", "redact", "--quiet", "--fail-on", "error"]) == 1


def test_a_build_says_how_much_is_redacted(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also when nothing has changed; an author's name is in no file."""
    write_memo(site / "desk/memos/read", "2026-05-02-0000--a--b--c", subject=KEY, body=KEY)
    Repo(site / "desk").commit(who=KEY)
    for _ in range(2):
        assert main(["build", str(site), "--secrets", "redact"]) == 0
        assert "\nredacted  3 secrets in 2 files\n" in capsys.readouterr().out
    main(["build", str(site)])
    assert "redacted" not in capsys.readouterr().out


def test_nothing_is_published_if_it_is_to_fail(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names file, line and kind; what was published stays."""
    write_text(site / "memosite.yml", "sources: [{path: desk}]\nsecrets: {mode: fail}\n")
    for command in (["build"], ["export", "--site"], ["search", "casks", "--site"]):
        assert main([*command, str(site)]) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        head, place, advice = printed.err.splitlines()
        assert head == "memosite: secrets: nothing is published while 1 file holds a secret"
        assert place == f"memosite: {LEAK_PATH}:9: {KIND}"
        assert advice == f"memosite: rotate the keys; then redact the sources or allow them (memosite check {site})"
    assert not (site / "_site/index.html").exists()
    assert main(["check", str(site)]) == 1
    assert f"error: {KIND}, fingerprint" in capsys.readouterr().out


def test_a_mode_takes_effect_at_once(site: Path) -> None:
    """Nothing of another mode is left by the cache. Only the sealed log tells that there was one, without a hash."""
    logged = {"archive/seals.jsonl", "health/index.html"}
    for mode, code in (("redact", 0), ("withhold", 1), ("redact", 0)):
        assert main(["build", str(site), "--secrets", mode, "--quiet"]) == code
        whole = site.parent / f"{mode}-whole"
        assert (
            main(["build", str(site), "--secrets", mode, "--quiet", "-o", str(whole), "--cache", f"{whole}.cache"])
            == code
        )
        now, clean = tree_bytes(site / "_site"), tree_bytes(whole)
        assert {path for path in now | clean if now.get(path) != clean.get(path)} <= logged


# Exceptions


def fingerprint(site: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The fingerprint that `check` shows."""
    capsys.readouterr()
    main(["check", str(site), "--format", "json"])
    (found,) = (one for one in json.loads(capsys.readouterr().out) if one["rule"] == "secret-withheld")
    assert found["line"] == 9 and found["remedy"].startswith("Rotate the key,")
    return str(found["message"]).rpartition(" ")[2]


def test_a_secret_that_is_allowed_is_published(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the fingerprint that check shows; an exception that fits nothing is a note."""
    allow = f"[{{fingerprint: '{fingerprint(site, capsys)}', why: revoked}}, {{fingerprint: '{'0' * 16}', why: gone}}]"
    write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\nsecrets: {{allow: {allow}}}\n")
    assert main(["build", str(site), "--quiet"]) == 0
    assert KEY in published(site)[f"memos/{LEAK}/index.html"]
    main(["check", str(site)])
    printed = capsys.readouterr().out
    assert 'memosite.yml:2: note: "0000000000000000" fits no secret [secret-allowed-in-vain]' in printed
    assert "secret-withheld" not in printed
    assert main(["check", str(site / LEAK_PATH), "--site", str(site)]) == 0


def test_check_tells_the_way_out_in_every_form(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text and as SARIF, too."""
    fingerprint(site, capsys)
    assert main(["check", str(site)]) == 1
    assert "Rotate the key, then redact it or allow its fingerprint" in capsys.readouterr().out
    assert main(["check", str(site), "--format", "sarif"]) == 1
    log = json.loads(capsys.readouterr().out)["runs"][0]
    (result,) = (one for one in log["results"] if one["ruleId"] == "secret-withheld")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 9}
    assert KEY not in json.dumps(log)


def test_a_transcript_is_withheld_for_its_body(site: Path) -> None:
    """A secret in a file that an envelope names counts for the artifact."""
    write_transcript(site / "desk/transcripts/engineer", "talk", text=f"## User\n\nHello {KEY}.\n")
    assert main(["build", str(site), "--quiet"]) == 1
    assert "is not published, because it holds a secret" in published(site)["transcripts/talk/index.html"]


# The configuration


@pytest.mark.parametrize(
    "text",
    [f"title: The key {KEY}\n", f"feeds: {{searches: {{{KEY}: casks}}}}\n", f"positions: {{aliases: {{{KEY}: b}}}}\n"],
)
def test_a_configuration_with_a_secret_is_refused(site: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its texts are on every page. The error names line and kind, and the fingerprint by which it can be allowed."""
    write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\n{text}")
    assert main(["build", str(site), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert f"memosite.yml:2: found a secret ({KIND}), expected none; rotate it and remove it, or allow" in said
    assert KEY not in said
    fingerprint = said.partition("fingerprint ")[2].split()[0]
    allowed = f"secrets: {{allow: [{{fingerprint: '{fingerprint}', why: an example}}]}}\n"
    write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\n{text}{allowed}")
    assert main(["build", str(site), "--quiet"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"title: [{KEY}\n",
        f"{KEY}: 1\n",
        f"audience: {KEY}\n",
        f"base_url: https://{'x' * 30}.example.org/{KEY}?\n",
        f"sources: [{{path: desk, ref: {KEY}}}]\n",
    ],
)
def test_errors_of_a_configuration_quote_no_secret(site: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even the part of it that an error has room for."""
    sources = "" if "sources" in text else "sources: [{path: desk}]\n"
    Repo(site / "desk").commit()
    write_text(site / "memosite.yml", f"{sources}{text}")
    for command in ("build", "check", "export"):
        assert main([command, "--site", str(site)]) == 2
        printed = capsys.readouterr()
        assert f"found a secret ({KIND})" in printed.err
        assert KEY[:12] not in printed.err + printed.out


def test_a_folder_with_a_secret_in_its_name_is_no_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where sources are discovered, a folder's name is shown as that of its source."""
    write_memo(tmp_path / "site" / KEY / "memos/inbox", LEAK)
    assert main(["build", str(tmp_path / "site"), "--quiet"]) == 2
    assert KEY not in capsys.readouterr().err


# Redactions on pages and in twins


def test_what_is_redacted_says_so(site: Path) -> None:
    """On its page and in its twins; its digests are those of the redacted bytes, and feeds have none."""
    assert main(["build", str(site), "--secrets", "redact", "--quiet"]) == 0
    files = published(site)
    twin = json.loads(files[f"memos/{LEAK}/index.json"])
    assert twin["redacted"] is True
    name = "original.openthing"
    original = files[f"memos/{LEAK}/{name}"].encode()
    assert twin["sha256"] == hashlib.sha256(original).hexdigest() and SHOWN.encode() in original
    assert f"{name} (secrets redacted)" in files[f"memos/{LEAK}/index.html"]
    assert "redacted" not in json.loads(files[f"memos/{OTHER}/index.json"])
    assert "(secrets redacted)" not in files[f"memos/{OTHER}/index.html"]
    items = re.findall("<item>.*?</item>", files["positions/director/feed.xml"], re.DOTALL)
    has_digest = {
        name: [bool(re.search("[0-9a-f]{64}", item)) for item in items if name in item] for name in (LEAK, OTHER)
    }
    assert has_digest == {LEAK: [False], OTHER: [True]}


def test_a_turn_with_a_redaction_has_no_hash(site: Path) -> None:
    """So it cannot be cited, and nothing lets anyone guess what it held; the turns around it have theirs."""
    text = f"## User\n\nHello.\n\n## Assistant\n\nIt is {KEY}.\n\n## User\n\nThanks, [REDACTED:by-hand].\n"
    write_transcript(site / "desk/transcripts/engineer", "talk", text=text)
    write_transcript(site / "desk/transcripts/engineer", "other", text="## User\n\nSee [REDACTED:by-hand].\n")
    main(["build", str(site), "--secrets", "redact", "--quiet"])
    files = published(site)
    turns = [json.loads(line) for line in files["transcripts/talk/turns.jsonl"].splitlines()]
    assert [turn["sha256"] is None for turn in turns if "sha256" in turn] == [False, True, True]
    page = files["transcripts/talk/index.html"]
    assert len(re.findall(r'id="t-[0-9a-f]{8}"', page)) == 1
    assert SHOWN in page
    assert 'id="t-' in files["transcripts/other/index.html"]


def test_the_ids_that_git_gives_to_contents_are_not_published(site: Path) -> None:
    """Of a file with one short secret that would be enough to guess it."""
    repo = Repo(site / "desk")
    repo.commit()
    blob = repo.git("rev-parse", f"HEAD:memos/inbox/{LEAK}.openthing")
    digest = hashlib.sha256((site / LEAK_PATH).read_bytes()).hexdigest()
    for mode in ("redact", "withhold"):
        main(["build", str(site), "--secrets", mode, "--quiet"])
        files = published(site)
        assert not any(known in text for text in files.values() for known in (blob, blob[:8], digest, digest[:8]))
    assert '"state": "committed"' in files[f"memos/{OTHER}/index.json"]
    main(["build", str(site), "--secrets", "redact", "--quiet"])
    assert '"state": "committed"' in published(site)[f"memos/{LEAK}/index.json"]
