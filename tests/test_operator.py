"""What is for the operator alone is reported by commands and is in no file of a public site (SPEC 9, secrets)."""

import json
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import write_memo, write_note, write_org
from tests.support.repos import Repo
from tests.support.sites import tree_bytes

KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
KIND = "AWS access key id"
LEAK = "2026-05-01-0900--engineer--director--leak"
OTHER = "2026-05-01-1000--engineer--director--other"
FORMER = "2026-05-01-1100--engineer--director--former"
CONFIG = (
    "audience: public\nbase_url: https://tides.example.org/\n"
    "sources: [{path: desk, web: 'https://git.example.org/desk/blob/{ref}/{path}'}]\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
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


def published(site: Path) -> dict[str, str]:
    """The files of the site as texts, but the contract."""
    found = tree_bytes(site / "_site").items()
    return {path: data.decode("utf-8", "replace") for path, data in found if not path.startswith("spec/")}


def findings(site: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    """What `check` finds, as JSON."""
    capsys.readouterr()
    main(["check", str(site), "--format", "json", *options])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def named(found: list[dict[str, object]], rule: str) -> list[tuple[object, object]]:
    """Place and message of the findings of a rule."""
    return [(f"{one['path']}:{one['line']}", one["message"]) for one in found if one["rule"] == rule]


# Secrets


def test_a_public_site_does_not_lead_to_a_secret(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file says which kind it is, in which line, by which fingerprint it could be known, or in which commit."""
    told = [one for one in findings(site, capsys, "--audience", "internal") if str(one["rule"]).startswith("secret-")]
    prints = {str(one["message"]).partition("fingerprint ")[2][:16] for one in told} - {""}
    commits = Repo(site / "desk").git("log", "--format=%H", "--", f"memos/inbox/{LEAK}.openthing").split()
    assert len(prints) >= 3 and len(commits) == 1
    for mode in ("withhold", "redact", "withhold"):
        main(["build", str(site), "--quiet", "--secrets", mode])
        files = published(site)
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


def test_its_operator_is_told_all_of_it(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the build, by check in every form, and by exit codes, also when nothing has changed."""
    for _ in range(2):
        assert main(["build", str(site)]) == 1
        printed = capsys.readouterr().out
        assert KIND in printed and LEAK in printed
        assert "findings  none" not in printed
    for form in ("text", "json", "sarif"):
        assert main(["check", str(site), "--format", form]) == 1
        assert f"{KIND}, fingerprint " in capsys.readouterr().out
    assert main(["build", str(site), "--quiet", "--secrets", "redact"]) == 0
    assert main(["build", str(site), "--quiet", "--secrets", "redact", "--fail-on", "error"]) == 1


def test_an_internal_site_tells_its_readers(site: Path) -> None:
    """They are those who can mend it."""
    main(["build", str(site), "--quiet", "--audience", "internal"])
    files = published(site)
    page = files[f"memos/{LEAK}/index.html"]
    assert KIND in page and "allow it in memosite.yml" in page
    assert "Its subject, its text, its originals and its former versions are not published." in page
    assert KIND in files["health/index.html"]
    assert json.loads(files[f"memos/{LEAK}/index.json"])["life"][0]["steps"][0]["commit"]


# What memosite.yml names in vain


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_an_entry_of_erase_that_names_nothing_is_told(
    site: Path, audience: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its line, whoever may see the site; a public one does not show it."""
    entry = f"{{id: {OTHER}x, why: asked for, on: 2026-05-20}}"
    write_text(site / "memosite.yml", f"{CONFIG}erase:\n  - {{id: {OTHER}, why: x, on: 2026-05-20}}\n  - {entry}\n")
    expected = [("memosite.yml:6", f'erase names "{OTHER}x": nothing of this id is known')]
    assert named(findings(site, capsys, "--audience", audience), "erase-unknown") == expected
    main(["build", str(site), "--quiet", "--audience", audience])
    shown = [path for path, text in published(site).items() if f"{OTHER}x" in text]
    assert bool(shown) == (audience == "internal")


def test_an_id_of_several_kinds_is_told_without_them_where_some_may_be_withheld(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log may be public."""
    write_note(site / "desk/notes/engineer", OTHER, **{"x.legal.confidentiality": "privileged"})
    write_text(site / "memosite.yml", f"{CONFIG}erase: [{{id: {OTHER}, why: asked for, on: 2026-05-20}}]\n")
    expected = [("memosite.yml:4", f'erase names "{OTHER}": it means items of several kinds')]
    assert named(findings(site, capsys), "erase-ambiguous") == expected
    main(["build", str(site), "--quiet"])
    assert not [path for path, text in published(site).items() if "erase-ambiguous" in text]


def test_a_glob_that_withholds_nothing_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that matches what is there, or what was removed, is none, with the source's name or without."""
    gone = write_memo(site / "desk/memos/inbox", "2026-05-02-0900--a--b--gone")
    repo = Repo(site / "desk")
    repo.commit()
    gone.unlink()
    repo.commit()
    globs = [f"memos/inbox/{OTHER}.*", "desk/.wyren/**", "**/*--gone.openthing", "personel/**"]
    write_text(site / "memosite.yml", f"{CONFIG}withhold:\n" + "".join(f"  - '{one}'\n" for one in globs))
    expected = [("memosite.yml:8", '"personel/**" matches no file')]
    assert named(findings(site, capsys), "withhold-in-vain") == expected
    main(["build", str(site), "--quiet"])
    assert not [path for path, text in published(site).items() if "personel" in text]
    assert named(findings(site, capsys, "--audience", "internal"), "withhold-in-vain") == []


def test_an_exception_that_fits_no_secret_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where something is withheld from the audience."""
    allow = f"secrets: {{allow: [{{fingerprint: '{'0' * 16}', why: gone}}]}}\n"
    write_text(site / "memosite.yml", f"{CONFIG}{allow}withhold: ['**/{OTHER}.openthing']\n")
    expected = [("memosite.yml:4", '"0000000000000000" fits no secret')]
    assert named(findings(site, capsys), "secret-allowed-in-vain") == expected
    main(["build", str(site), "--quiet"])
    assert not [path for path, text in published(site).items() if "0" * 16 in text]
