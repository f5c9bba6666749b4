"""What is done about secrets: what holds one is published without its content, redacted, or nothing is (SPEC 9)."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import write_memo, write_note, write_org, write_transcript
from tests.support.planted import write_planted
from tests.support.repos import Repo
from tests.support.sites import tree_bytes
from tests.support.watches import watch

Capture = pytest.CaptureFixture[str]
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


def test_one_secret_withholds_one_artifact(site: Path, tmp_path: Path, capsys: Capture) -> None:
    """Its page is its envelope alone, it is announced, and each build says it loudly until it is mended."""
    assert main(["build", str(site)]) == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("withheld  something in 1 file is withheld for a secret")
    assert lines[at + 1] == f"          {LEAK_PATH}:9: {KIND}"
    check = f"memosite check {site}"
    assert lines[at + 2] == f"          rotate the keys; then redact the sources or allow them ({check})"
    files = published(site)
    assert "is not published, because it holds a secret" in files[f"memos/{LEAK}/index.html"]
    assert KIND in files[f"memos/{LEAK}/index.html"] and "Nothing to hide." in files[f"memos/{OTHER}/index.html"]
    assert not any("Tide tables" in text or "as you asked" in text or KEY in text for text in files.values())
    assert f"memos/{LEAK}/original/{LEAK}.openthing" not in files
    assert f"new memo: memos/inbox/{LEAK}.openthing" in files["positions/director/feed.xml"]
    full = files["positions/director/feed-full.xml"]
    assert f">new memo: memos/inbox/{LEAK}.openthing\n</content:encoded>" in full
    for of in ([site / "_site/positions/director/feed.xml"], ["--position", "director", "--site", site]):
        done = watch(*of, "--once", folder=tmp_path / str(len(of)))
        announced = [f"new memo: memos/inbox/{name}.openthing" for name in (LEAK, OTHER)]
        assert sorted(done.stdout.splitlines()) == announced
    main(["build", str(site), "--quiet"])  # the watch was another user's, who removed what this one's builds remember
    capsys.readouterr()
    before, said = tree_bytes(site / "_site"), []
    for _ in range(2):
        assert main(["build", str(site), "--quiet"]) == 1
        said.append(capsys.readouterr())
    assert said[0] == said[1] and said[0].out == ""
    assert said[0].err.startswith("memosite: something in 1 file is withheld for a secret\nmemosite: desk/")
    assert all(line.startswith("memosite: ") for line in said[0].err.splitlines())
    assert tree_bytes(site / "_site") == before
    write_memo(site / "desk/memos/inbox", LEAK, subject="Tide tables", body="The key is in the vault.")
    assert main(["build", str(site), "--quiet"]) == 0
    assert "The key is in the vault." in published(site)[f"memos/{LEAK}/index.html"]


def test_every_command_says_what_it_did_not_see_and_a_build_names_the_first_files(site: Path, capsys: Capture) -> None:
    """On one line, also when the index is up to date; ten files, a line each, of several secrets the first."""
    for command, code in (
        (["export"], 1), (["export", "kind:memo"], 1), (["search", "casks"], 0), (["search", "nowhere"], 1),
        (["diff", "2026-04-01.."], 0),
    ) * 2:  # fmt: skip
        assert main([*command, "--site", str(site)]) == code
        printed = capsys.readouterr()
        assert (
            printed.err == f"memosite: something in 1 file is withheld for a secret; memosite check {site} names it\n"
        )
        assert (OTHER in printed.out) == ("nowhere" not in command) and KEY not in printed.out
    for number in range(11):
        write_memo(site / "desk/memos/read", f"2026-05-02-{number:04d}--a--b--c", subject=KEY, body=KEY)
    for mode, head in (
        ("withhold", "something in 12 files is withheld for a secret"),
        ("fail", "nothing is published while"),
    ):
        assert main(["build", str(site), "--quiet", "--secrets", mode]) == 1
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 13 and head in lines[0]
        assert lines[1] == f"memosite: {LEAK_PATH}:9: {KIND}"
        assert lines[2].startswith("memosite: desk/memos/read/2026-05-02-0000--a--b--c.openthing:")
        assert lines[2].endswith(f": {KIND}, and 1 more") and lines[11] == "memosite: and 2 more"
        assert max(len(line.removesuffix(f"{site} --secrets {mode})")) for line in lines) < 120


def test_the_command_that_names_all_does_so(site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
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
    """The others of the file have their pages. A secret in a file that an envelope names counts for the artifact."""
    text = f"## Decisions\n- Steel rope\n- The key {KEY} in the notes\n- Hemp rope\n"
    write_text(site / "desk/.wyren/memory.md", text)
    write_transcript(site / "desk/transcripts/engineer", "talk", text=f"## User\n\nHello {KEY}.\n")
    assert main(["build", str(site), "--quiet"]) == 1
    files = published(site)
    pages = [text for path, text in files.items() if path.startswith("records/") and path.endswith(".html")]
    assert sum("because it holds a secret" in page for page in pages) == 1
    assert any("Hemp rope" in page for page in pages)
    assert "is not published, because it holds a secret" in files["transcripts/talk/index.html"]
    assert not any(KEY in text for text in files.values())


WRITTEN = (
    "", "\nmysql -u root -p'§'\n", "\nsshpass -p '§' ssh host\n", "\n\tldapsearch -D x -w '§' -b y\n",
    "\nsmbclient -U bob%§ //h/s\n",
    "\nhasło: §\n", "\njelszó: §\n", "\n密码: §\n",
    "\nlösenord: §\n", "\nşifre: §\n",
)  # fmt: skip
"""What is around a password, at the beginning of a line; by default JSON."""


def test_what_is_found_in_a_text_is_found_wherever_a_source_holds_that_text(tmp_path: Path) -> None:
    """The whole way: JSON and lines in strings of JSON, in a fence, in each field of each kind of file, to the site."""
    site = write_planted(tmp_path / "site", has_git=False)
    passwords: list[str] = []

    def planted(depth: int, *, is_json: bool) -> str:
        passwords.append(f"tR7!kQ2#vXw9*LpZ{len(passwords):03}")
        layout = WRITTEN[len(passwords) % len(WRITTEN)]
        text = layout.replace("§", passwords[-1]) if layout else json.dumps({"user": "ann", "password": passwords[-1]})
        for _ in range(depth):
            text = json.dumps({"result": text})
        return json.dumps(f"Look:\n\n```json\n{text}\n```\n")[1:-1] if is_json else text

    for file in sorted(site.rglob("*")):
        if file.is_file() and file.name != "memosite.yml":
            is_json, text = file.suffix in {".openthing", ".opencatalog", ".json", ".jsonl"}, file.read_text()
            for number, word in enumerate(dict.fromkeys(re.findall(r"\bzq[a-z]+\b", text))):
                text = text.replace(word, planted(number % 4, is_json=is_json))
            if not is_json:
                text += f"\n```json\n{planted(2, is_json=False)}\n```\n\n> {planted(3, is_json=False)}\n"
            file.write_text(text)
    assert len(passwords) > 80
    for mode in ("redact", "withhold"):
        main(["build", str(site), "--quiet", "--secrets", mode])
        files = published(site)
        assert [(one, path) for path, text in files.items() for one in passwords if one in path + text] == []


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
def test_an_earlier_version_with_a_secret_is_not_shown(site: Path, mended: str, mode: str, capsys: Capture) -> None:
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


def test_an_earlier_version_is_redacted_where_secrets_are(site: Path, mended: str, capsys: Capture) -> None:
    """It is shown among the changes; whole, if the fingerprint of the finding is allowed."""
    assert main(["build", str(site), "--secrets", "redact", "--quiet"]) == 0
    assert f"{SHOWN}, as you asked." in published(site)[f"memos/{LEAK}/changes/index.html"]
    assert main(["check", str(site), "--secrets", "redact"]) == 1
    assert f"error: {KIND} in an earlier version (commit {mended}), fingerprint " in capsys.readouterr().out
    main(["check", str(site), "--format", "json"])
    (found,) = (one for one in json.loads(capsys.readouterr().out) if one["rule"] == "secret-formerly")
    allow = f"[{{fingerprint: '{found['message'].rpartition(' ')[2]}', why: revoked}}]"
    write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\nsecrets: {{allow: {allow}}}\n")
    assert main(["build", str(site), "--quiet", "--fail-on", "warning"]) == 0
    assert KEY in published(site)[f"memos/{LEAK}/changes/index.html"]


def test_what_is_in_several_versions_is_one_finding(site: Path, capsys: Capture) -> None:
    """With the commits of the first; what a file has now is no earlier version, what a removed file had is one."""
    repo = Repo(site / "desk")
    for number in range(5):
        write_memo(site / "desk/memos/inbox", LEAK, body=f"It is {KEY}.", subject=f"Number {number}")
        repo.commit()
    commits = [one[:8] for one in repo.git("log", "--reverse", "--format=%H").split()]
    main(["check", str(site), "--format", "json"])
    (found,) = (one for one in json.loads(capsys.readouterr().out) if one["rule"] == "secret-formerly")
    assert found["message"].startswith(f"{KIND} in an earlier version (commits {', '.join(commits[:3])} and 1 more), ")
    assert main(["build", str(site), "--quiet"]) == 1
    write_memo(site / "desk/memos/inbox", LEAK, subject="Tide tables", body=f"The key is\n{KEY}, as you asked.")
    repo.commit()
    (site / LEAK_PATH).unlink()
    repo.commit()
    assert main(["build", str(site), "--quiet"]) == 0
    files = published(site)
    assert f"memos/{LEAK}/index.html" in files
    assert not any(KEY in text or "as you asked" in text for text in files.values())
    capsys.readouterr()
    assert main(["check", str(site)]) == 0
    assert f"{LEAK_PATH}:9: warning: {KIND} in an earlier version" in capsys.readouterr().out


@pytest.mark.parametrize("mode", ["withhold", "redact", "fail"])
def test_a_file_that_was_renamed_fails_no_build(site: Path, mode: str, capsys: Capture) -> None:
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


def test_redacted_texts_are_published(site: Path, capsys: Capture) -> None:
    """With the kind in the place of the secret and digests of the redacted bytes, loudly, but with exit code 0."""
    assert main(["build", str(site), "--secrets", "redact", "--quiet"]) == 0
    files = published(site)
    for page in ("html", "md"):
        assert "[REDACTED:aws-access-key-id], as you asked." in files[f"memos/{LEAK}/index.{page}"]
    assert not any(KEY in text for text in files.values())
    assert main(["build", str(site), "--secrets", "redact", "--quiet", "--fail-on", "error"]) == 1
    twin = json.loads(files[f"memos/{LEAK}/index.json"])
    assert twin["redacted"] is True
    name = "original.openthing"
    original = files[f"memos/{LEAK}/{name}"].encode()
    assert twin["sha256"] == hashlib.sha256(original).hexdigest() and SHOWN.encode() in original
    assert f"{name} (secrets redacted)" in files[f"memos/{LEAK}/index.html"]
    assert "redacted" not in json.loads(files[f"memos/{OTHER}/index.json"])
    assert "(secrets redacted)" not in files[f"memos/{OTHER}/index.html"]
    items = re.findall("<item>.*?</item>", files["positions/director/feed.xml"], re.DOTALL)
    for name, has_digest in ((LEAK, False), (OTHER, True)):
        assert [bool(re.search("[0-9a-f]{64}", item)) for item in items if name in item] == [has_digest]
    write_memo(site / "desk/memos/read", "2026-05-02-0000--a--b--c", subject=KEY, body=KEY)
    Repo(site / "desk").commit(who=KEY)
    capsys.readouterr()
    for _ in range(2):
        assert main(["build", str(site), "--secrets", "redact"]) == 0
        assert "\nredacted  3 secrets in 2 files\n" in capsys.readouterr().out
    main(["build", str(site)])
    assert "\nredacted " not in capsys.readouterr().out


def test_nothing_is_published_if_it_is_to_fail(site: Path, capsys: Capture) -> None:
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
    assert not (site / "_site/index.html").exists() and main(["check", str(site)]) == 1
    assert f"error: {KIND}, fingerprint" in capsys.readouterr().out


def test_a_mode_takes_effect_at_once_and_lets_nobody_guess_a_secret(site: Path) -> None:
    """The cache keeps nothing of another; a turn with a redaction has no hash."""
    logged = {"archive/seals.jsonl", "health/index.html"}
    for mode, code in (("redact", 0), ("withhold", 1), ("redact", 0)):
        words = ["build", str(site), "--secrets", mode, "--quiet"]
        assert main(words) == code
        whole = site.parent / f"{mode}-whole"
        assert main([*words, "-o", str(whole), "--cache", f"{whole}.cache"]) == code
        now, clean = tree_bytes(site / "_site"), tree_bytes(whole)
        assert {path for path in now | clean if now.get(path) != clean.get(path)} <= logged
    text = f"## User\n\nHello.\n\n## Assistant\n\nIt is {KEY}.\n\n## User\n\nThanks, [REDACTED:by-hand].\n"
    write_transcript(site / "desk/transcripts/engineer", "talk", text=text)
    write_transcript(site / "desk/transcripts/engineer", "other", text="## User\n\nSee [REDACTED:by-hand].\n")
    main(["build", str(site), "--secrets", "redact", "--quiet"])
    files = published(site)
    turns = [json.loads(line) for line in files["transcripts/talk/turns.jsonl"].splitlines()]
    assert [turn["sha256"] is None for turn in turns if "sha256" in turn] == [False, True, True]
    page = files["transcripts/talk/index.html"]
    assert len(re.findall(r'id="t-[0-9a-f]{8}"', page)) == 1 and SHOWN in page
    assert 'id="t-' in files["transcripts/other/index.html"]
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


def test_a_secret_that_is_allowed_is_published(site: Path, capsys: Capture) -> None:
    """By the fingerprint that check shows, with the way out, in every form; one that fits nothing is a note."""
    main(["check", str(site), "--format", "json"])
    (found,) = (one for one in json.loads(capsys.readouterr().out) if one["rule"] == "secret-withheld")
    assert found["line"] == 9 and found["remedy"].startswith("Rotate the key,")
    fingerprint = found["message"].rpartition(" ")[2]
    allow = f"[{{fingerprint: '{fingerprint}', why: revoked}}, {{fingerprint: '{'0' * 16}', why: gone}}]"
    assert main(["check", str(site)]) == 1
    assert "Rotate the key, then redact it or allow its fingerprint" in capsys.readouterr().out
    assert main(["check", str(site), "--format", "sarif"]) == 1
    log = json.loads(capsys.readouterr().out)["runs"][0]
    (result,) = (one for one in log["results"] if one["ruleId"] == "secret-withheld")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 9}
    assert KEY not in json.dumps(log)
    write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\nsecrets: {{allow: {allow}}}\n")
    assert main(["build", str(site), "--quiet"]) == 0 and KEY in published(site)[f"memos/{LEAK}/index.html"]
    main(["check", str(site)])
    printed = capsys.readouterr().out
    assert 'memosite.yml:2: note: "0000000000000000" fits no secret [secret-allowed-in-vain]' in printed
    assert "secret-withheld" not in printed
    assert main(["check", str(site / LEAK_PATH), "--site", str(site)]) == 0


def test_a_configuration_with_a_secret_is_refused_and_not_quoted(site: Path, tmp_path: Path, capsys: Capture) -> None:
    """With line, kind, and the fingerprint by which it can be allowed; no part of it."""
    texts = (f"title: The key {KEY}\n", f"feeds: {{searches: {{{KEY}: casks}}}}\n")
    for text in (*texts, f"positions: {{aliases: {{{KEY}: b}}}}\n"):
        write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\n{text}")
        assert main(["build", str(site), "--quiet"]) == 2
        said = capsys.readouterr().err
        assert f"memosite.yml:2: found a secret ({KIND}), expected none; rotate it and remove it, or allow" in said
        assert KEY not in said
        fingerprint = said.partition("fingerprint ")[2].split()[0]
        allowed = f"secrets: {{allow: [{{fingerprint: '{fingerprint}', why: an example}}]}}\n"
        write_text(site / "memosite.yml", f"sources: [{{path: desk}}]\n{text}{allowed}")
        assert main(["build", str(site), "--quiet"]) == 1
    write_memo(tmp_path / "other" / KEY / "memos/inbox", LEAK)
    capsys.readouterr()
    assert main(["build", str(tmp_path / "other"), "--quiet"]) == 2
    assert KEY not in capsys.readouterr().err
    Repo(site / "desk").commit()
    broken = (f"title: [{KEY}\n", f"{KEY}: 1\n", f"audience: {KEY}\n")
    for text in (
        *broken,
        f"base_url: https://{'x' * 30}.example.org/{KEY}?\n",
        f"sources: [{{path: desk, ref: {KEY}}}]\n",
    ):
        sources = "" if "sources" in text else "sources: [{path: desk}]\n"
        write_text(site / "memosite.yml", f"{sources}{text}")
        for command in ("build", "check", "export"):
            assert main([command, "--site", str(site)]) == 2
            printed = capsys.readouterr()
            assert f"found a secret ({KIND})" in printed.err and KEY[:12] not in printed.err + printed.out


FORMER = "2026-05-01-1100--engineer--director--former"
CONFIG = (
    "audience: public\nbase_url: https://tides.example.org/\n"
    "sources: [{path: desk, web: 'https://git.example.org/desk/blob/{ref}/{path}'}]\n"
)


def but_the_contract(site: Path) -> dict[str, str]:
    """The files of the built site as texts, but the pages of the contract."""
    return {path: text for path, text in published(site).items() if not path.startswith("spec/")}


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A public site of memos, one of which holds a key, one held it formerly; and records, one with a key."""
    desk = tmp_path / "site/desk"
    write_memo(desk / "memos/inbox", LEAK, subject="Tide tables", body=f"The key is\n{KEY}, as you asked.")
    write_memo(desk / "memos/inbox", OTHER, subject="Casks", body="Nothing to hide.")
    write_memo(desk / "memos/inbox", FORMER, body=f"It was {KEY}.")
    write_text(desk / ".wyren/memory.md", f"## Decisions\n- Steel rope\n- The key {KEY} in the notes\n- Hemp rope\n")
    write_org(desk / "org", positions=["director", "engineer"])
    repo = Repo(desk)
    repo.commit()
    write_memo(desk / "memos/inbox", FORMER, body="It is in the vault.")
    repo.commit()
    write_text(tmp_path / "site/memosite.yml", CONFIG)
    return tmp_path / "site"


def findings(public: Path, capsys: Capture, *options: str) -> list[dict[str, object]]:
    """What `check` finds, as JSON."""
    capsys.readouterr()
    main(["check", str(public), "--format", "json", *options])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def named(found: list[dict[str, object]], rule: str) -> list[tuple[object, object]]:
    """Place and message of the findings of a rule."""
    return [(f"{one['path']}:{one['line']}", one["message"]) for one in found if one["rule"] == rule]


def test_a_public_site_does_not_lead_to_a_secret(public: Path, capsys: Capture) -> None:
    """No file says which kind it is, in which line, by which fingerprint it could be known, or in which commit."""
    told = [one for one in findings(public, capsys, "--audience", "internal") if str(one["rule"]).startswith("secret-")]
    prints = {str(one["message"]).partition("fingerprint ")[2][:16] for one in told} - {""}
    commits = Repo(public / "desk").git("log", "--format=%H", "--", f"memos/inbox/{LEAK}.openthing").split()
    assert len(prints) >= 3 and len(commits) == 1
    for mode in ("withhold", "redact", "withhold"):
        main(["build", str(public), "--quiet", "--secrets", mode])
        files = but_the_contract(public)
        words = {KIND, KIND.lower(), "secret-", "holds a secret", *prints, KEY}
        words |= {"access-key"} if mode == "withhold" else set()
        left = {path: text.replace("[REDACTED:aws-access-key-id]", "") for path, text in files.items()}
        assert [(path, word) for path, text in left.items() for word in words if word in text] == []
        if mode == "withhold":
            own = [text for path, text in files.items() if path.startswith(f"memos/{LEAK}/")]
            assert own and not any(commits[0][:8] in text for text in own)
    assert "The content of this memo is withheld." in files[f"memos/{LEAK}/index.html"]
    assert "memosite.yml" not in files[f"memos/{LEAK}/index.html"]
    assert json.loads(files[f"memos/{LEAK}/index.json"])["withheld"]["reason"] == "secret"
    assert LEAK not in files["health/index.html"]
    assert "- 2026" in files[f"memos/{LEAK}/index.md"].partition("History")[2]


def test_its_operator_is_told_all_of_it(public: Path, capsys: Capture) -> None:
    """By the build, by check in every form, by exit codes, also when nothing has changed; and by an internal site."""
    for _ in range(2):
        assert main(["build", str(public)]) == 1
        printed = capsys.readouterr().out
        assert KIND in printed and LEAK in printed
        assert "findings  none" not in printed
    for form in ("text", "json", "sarif"):
        assert main(["check", str(public), "--format", form]) == 1
        assert f"{KIND}, fingerprint " in capsys.readouterr().out
    assert main(["build", str(public), "--quiet", "--secrets", "redact"]) == 0
    assert main(["build", str(public), "--quiet", "--secrets", "redact", "--fail-on", "error"]) == 1
    main(["build", str(public), "--quiet", "--audience", "internal", "-o", str(public / "inner")])
    files = {path: data.decode("utf-8", "replace") for path, data in tree_bytes(public / "inner").items()}
    page = files[f"memos/{LEAK}/index.html"]
    assert KIND in page and "allow it in memosite.yml" in page
    assert "Its subject, its text, its originals and its former versions are not published." in page
    assert KIND in files["health/index.html"]
    assert json.loads(files[f"memos/{LEAK}/index.json"])["life"][0]["steps"][0]["commit"]


def test_what_names_nothing_is_told_to_the_operator_alone(public: Path, capsys: Capture) -> None:
    """With its line: an entry of `erase`, a glob, an exception; also where something is withheld from the audience.

    A glob that matches what is there, or what was removed, is not in vain, with the source's name or without. An id of
    several kinds is told without them, where some may be withheld: a log may be public. An internal site shows it.
    """
    write_note(public / "desk/notes/engineer", OTHER, **{"x.legal.confidentiality": "privileged"})
    gone = write_memo(public / "desk/memos/inbox", "2026-05-02-0900--a--b--gone")
    repo = Repo(public / "desk")
    repo.commit()
    gone.unlink()
    repo.commit()
    entries = "".join(f"  - {{id: {id_}, why: asked for, on: 2026-05-20}}\n" for id_ in (OTHER, f"{OTHER}x"))
    globs = [f"memos/inbox/{FORMER}.*", "desk/.wyren/**", "**/*--gone.openthing", "personel/**"]
    allow = f"secrets: {{allow: [{{fingerprint: '{'0' * 16}', why: gone}}]}}\n"
    withhold = "withhold:\n" + "".join(f"  - '{one}'\n" for one in globs)
    write_text(public / "memosite.yml", f"{CONFIG}erase:\n{entries}{withhold}{allow}")
    told = {
        "erase-ambiguous": [("memosite.yml:5", f'erase names "{OTHER}": it means items of several kinds')],
        "erase-unknown": [("memosite.yml:6", f'erase names "{OTHER}x": nothing of this id is known')],
        "withhold-in-vain": [("memosite.yml:11", '"personel/**" matches no file')],
        "secret-allowed-in-vain": [("memosite.yml:12", '"0000000000000000" fits no secret')],
    }
    found = findings(public, capsys)
    assert {rule: named(found, rule) for rule in told} == told
    words = ["erase-ambiguous", f"{OTHER}x", "personel", "0" * 16]
    main(["build", str(public), "--quiet"])
    assert not [path for path, text in but_the_contract(public).items() if any(word in text for word in words)]
    found = findings(public, capsys, "--audience", "internal")
    assert named(found, "withhold-in-vain") == [] and named(found, "erase-unknown") == told["erase-unknown"]
    main(["build", str(public), "--quiet", "--audience", "internal", "-o", str(public / "inner")])
    assert [path for path, data in tree_bytes(public / "inner").items() if f"{OTHER}x".encode() in data]
