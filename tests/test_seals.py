"""The sealed log: what is published has a leaf, months are sealed when they close, and nothing is sealed twice."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.seals import (
    SEALS_PATH,
    Leaf,
    Proof,
    SealLog,
    check_against,
    check_copy,
    leaf_digest,
    parse_seals,
    prove,
    tree_path,
    tree_root,
)
from memosite.cli import main
from memosite.facts.values import replace
from tests.support.edits_memos import KEY
from tests.support.files import write_text
from tests.support.memos import write_body, write_memo
from tests.support.repos import Repo
from tests.support.servers import serve_folder
from tests.support.sites import build_site, built_from_nothing, tree_bytes

MARCH = "2026-03-05-0900--engineer--director--gate"
APRIL = "2026-04-06-0900--director--engineer--lamp"
MAY = "2026-05-07-0900--engineer--director--pier"
LATER = "2026-06-08-0900--director--engineer--rope"
Verify = Callable[..., tuple[int, str]]


def memo_at(site: Path, name: str, **fields: Any) -> Path:
    """Write a memo of the day in its name."""
    return write_memo(site / "office/memos/inbox", name, sent=f"{name[:10]}T09:00:00Z", **fields)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Memos of three months, the last of which has a body beside it; built."""
    folder = tmp_path_factory.mktemp("sealed")
    for name in (MARCH, APRIL):
        memo_at(folder, name)
    memo_at(folder, MAY, body_ref=f"{MAY}.body.md")
    write_body(folder / "office/memos/inbox", MAY, "All that is to be said of the pier.\n")
    build_site(folder)
    return folder


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(built, tmp_path / "site")


def log_of(output: Path) -> SealLog:
    """The sealed log of a site."""
    return parse_seals((output / SEALS_PATH).read_text(encoding="utf-8"))


def told(log: SealLog) -> list[str]:
    """What a log tells, in short: the name and the reason of each leaf, and the months."""
    short = {MARCH: "march", APRIL: "april", MAY: "may", LATER: "later"}
    return [
        f"{short[one.id.removeprefix('memo/')]}{'.body' * ('.body.' in one.path)}{' ' * bool(one.why)}{one.why}"
        if isinstance(one, Leaf)
        else f"= {one.month}"
        for one in log.entries
    ]


BEGINNING = ["march", "= 2026/03", "april", "= 2026/04", "may", "may.body"]
AFTER_MARCH = BEGINNING[2:]


SOME_LINES = [
    *SealLog()
    .with_leaves(Leaf(id="memo/x", path="memos/x/original.md", sha256="1" * 64, month=f"2026/0{n}") for n in (1, 2, 3))
    .text.splitlines(),
    '{"kind": "leaf", "n": 1}', '{"kind": []}', "null", '{"v": 1, "kind": "month", "leaves": 1e999}', "\ufeff{}",
]  # fmt: skip


def root_by_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that an inclusion proof leads to, in a tree of so many leaves; None if it is no proof of that shape."""
    left = list(path)
    while size > 1:
        if index ^ 1 < size:
            if not left:
                return None
            beside = left.pop(0)
            pair = beside + leaf if index & 1 else leaf + beside
            leaf = hashlib.sha256(b"\1" + pair).digest()
        index, size = index >> 1, (size + 1) >> 1
    return None if left or index else leaf


def is_proven(proof: Proof, root: str) -> bool:
    """Whether a proof leads from its leaf to this root."""
    tree = root_by_path(leaf_digest(proof.line), proof.index, proof.size, [bytes.fromhex(one) for one in proof.path])
    if tree is None or not proof.months or tree.hex() != proof.months[0].tree:
        return False
    is_linked = all(after.previous == before.root for before, after in pairwise(proof.months))
    return is_linked and all(month.root == month.expected_root for month in proof.months) and proof.root == root


def test_trees_are_those_of_rfc_6962() -> None:
    """The inputs and roots by which implementations of Certificate Transparency are tested."""
    inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    leaves = [hashlib.sha256(b"\0" + bytes.fromhex(one)).digest() for one in inputs]
    roots = [tree_root(leaves[:number]).hex() for number in (1, 2, 3, 8)]
    assert roots == [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]


@given(st.integers(1, 70), st.data())
def test_a_path_leads_to_the_root_of_its_tree_and_from_no_other_place(size: int, data: st.DataObject) -> None:
    """Nor if it is longer or shorter."""
    leaves = [bytes([number]) * 32 for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    path, root = tree_path(leaves, index), tree_root(leaves)
    assert root_by_path(leaves[index], index, size, path) == root
    for other in set(range(size)) - {index}:
        assert root_by_path(leaves[index], other, size, path) != root
    assert root_by_path(leaves[index], index, size, (*path, b"x" * 32)) is None
    assert not path or root_by_path(leaves[index], index, size, path[1:]) != root


def leaves_of(months: list[str]) -> list[Leaf]:
    """A leaf of each of these months."""
    return [
        Leaf(id=f"memo/{number}", path=f"memos/{number}/original.md", sha256="0" * 64, month=month)
        for number, month in enumerate(months)
    ]


@given(st.lists(st.sampled_from(["", "2026/01", "2026/02", "2026/03", "9999/12"]), min_size=1, max_size=40))
def test_each_sealed_leaf_can_be_proven(months: list[str]) -> None:
    """With the newest root; not with another one, nor for another leaf, nor as long as its month is open."""
    leaves = leaves_of(months)
    log = SealLog().with_leaves(leaves)
    assert parse_seals(log.text) == log
    sealed = log.months[-1].leaves if log.months else 0
    for number in range(1, len(leaves) + 1):
        proof = prove(log, number)
        assert (proof is None) == (number > sealed)
        if proof is not None:
            assert is_proven(proof, log.months[-1].root) and proof.root == log.months[-1].root
            assert not is_proven(proof, "0" * 64)
            assert not is_proven(replace(proof, line=proof.line.replace("memo/", "note/")), proof.root)
            last = replace(proof.months[-1], month="1999/01")
            assert not is_proven(replace(proof, months=(*proof.months[:-1], last)), proof.root)
    halves = SealLog().with_leaves(leaves[: len(leaves) // 2]).with_leaves(leaves[len(leaves) // 2 :])
    assert halves == log and parse_seals(halves.text).with_leaves([]) == log


@given(st.lists(st.sampled_from(["", "2026/01", "2026/02"]), min_size=1, max_size=20), st.integers(0, 20))
def test_of_a_log_that_grew_only_the_new_lines_are_read(months: list[str], known: int) -> None:
    """What was read before is what was published; where that is another log, all is read, and every fault found."""
    leaves = leaves_of(months)
    begun = SealLog().with_leaves(leaves[:known])
    log = begun.with_leaves(leaves[known:])
    read = parse_seals(log.text, begun)
    assert read == log and all(one is other for one, other in zip(begun.entries, read.entries, strict=False))
    assert parse_seals(begun.text, log) == begun
    damaged = log.text.replace('"n": 1,', '"n": 7,', 1)
    with pytest.raises(ValueError, match=r"^line 1: found leaf 7, expected leaf 1"):
        parse_seals(damaged, begun if begun.text else log)
    last = log.text.count("\n") + 1
    with pytest.raises(ValueError, match=rf"^line {last}: "):
        parse_seals(f"{log.text}x\n", begun)


def test_a_date_far_in_the_future_keeps_no_later_month_open() -> None:
    """What arrives late belongs to the open month, which closes when a later one goes on."""
    months = ["2026/01", "9999/12", "2026/01", "2026/02", "2025/07", "2026/02", "2026/03"]
    log = SealLog().with_leaves(leaves_of(months))
    sealed = [(one.month, one.leaves) for one in log.months]
    assert sealed == [("2026/01", 1), ("2026/01", 3), ("2025/07", 5), ("2026/02", 6)]


def test_months_close_when_something_arrives_in_a_later_one_and_a_log_that_ended_early_is_completed(site: Path) -> None:
    """The next memo closes its month, and health shows the newest root; what a log lacks is told before what came."""
    output = site / "_site"
    assert told(log_of(output)) == BEGINNING
    page, root = (output / "health/index.html").read_text(), log_of(output).months[-1].root
    assert f"<p><code>{root}</code></p>" in page and "April 2026" in page and "Not sealed yet: 2." in page
    leaf = log_of(output).leaves[-1]
    assert leaf.sha256 == hashlib.sha256(b"All that is to be said of the pier.\n").hexdigest()
    assert (output / leaf.path).read_bytes() == b"All that is to be said of the pier.\n"
    before = (output / SEALS_PATH).read_text()
    memo_at(site, LATER)
    build_site(site)
    assert told(log_of(output)) == [*BEGINNING, "= 2026/05", "later"]
    assert (output / SEALS_PATH).read_text().startswith(before)
    assert built_from_nothing(site, site.parent / "clean") == tree_bytes(output)
    second = (output / SEALS_PATH).read_bytes()
    write_text(output / SEALS_PATH, before)
    build_site(site)
    assert (output / SEALS_PATH).read_bytes() == second
    write_text(output / SEALS_PATH, before)
    memo_at(site, f"{LATER}s")
    build_site(site)
    assert (output / SEALS_PATH).read_bytes().startswith(second)
    (output / SEALS_PATH).unlink()
    (output / SEALS_PATH).mkdir()
    write_text(output / SEALS_PATH / "notes.txt", "of somebody else")
    assert main(["build", str(site), "--quiet"]) == 2


def test_edits_removals_and_returns_are_told_after_what_is_new(site: Path) -> None:
    """What was sealed stays as it was."""
    output = site / "_site"
    roots = [one.root for one in log_of(output).months]
    text = memo_at(site, MARCH, body="Another text.").read_bytes()
    (site / f"office/memos/inbox/{APRIL}.openthing").unlink()
    memo_at(site, LATER)
    build_site(site)
    told_then = [*BEGINNING, "= 2026/05", "later", "march", "april removed"]
    log = log_of(output)
    assert told(log) == told_then and log.leaves[5].sha256 == hashlib.sha256(text).hexdigest()
    assert [one.root for one in log.months][:2] == roots
    memo_at(site, APRIL)
    build_site(site)
    assert told(log_of(output)) == [*told_then, "april"]
    assert log_of(output).leaves[-1].sha256 == log.leaves[1].sha256
    (site / f"office/memos/inbox/{APRIL}.openthing").unlink()
    build_site(site)
    erase(site, APRIL, ", secret: true")
    build_site(site)
    kept = [*told_then[:2], "april not kept", *told_then[3:], "april not kept", "april removed", "april erased"]
    assert told(log_of(output)) == kept, "what is gone from its repo can be erased for a secret"


def test_leaves_name_the_commit_that_made_their_bytes(tmp_path: Path) -> None:
    """And are of the month in which that was; what is not committed has none."""
    repo = Repo(tmp_path / "site/office")
    memo_at(tmp_path / "site", MARCH)
    repo.commit("gate", at="2026-04-20T00:00:00Z")
    memo_at(tmp_path / "site", MARCH, subject="The gate")
    repo.commit("gate again", at="2026-07-01T00:00:00Z")
    memo_at(tmp_path / "site", MAY)
    output = build_site(tmp_path / "site")
    assert [(one.month, one.source, one.commit) for one in log_of(output).leaves] == [
        ("2026/04", "office", repo.git("rev-parse", "HEAD")),
        ("2026/05", "", ""),
    ]
    memo_at(tmp_path / "site", MARCH, subject="Their gate")
    build_site(tmp_path / "site")
    assert log_of(output).leaves[-1].commit == "" and log_of(output).leaves[-1].month == "2026/05"
    memo_at(tmp_path / "site", MARCH, subject="Gates")
    repo.commit("all", at="2026-08-01T00:00:00Z")
    build_site(tmp_path / "site")
    last = log_of(output).leaves[-1]
    assert (last.month, last.commit) == ("2026/08", repo.git("rev-parse", "HEAD"))


def test_a_build_elsewhere_goes_on_from_the_published_log(site: Path, tmp_path: Path) -> None:
    """As CI does, from a folder or an address; without the log or without the ledger a log begins anew."""
    output = site / "_site"
    before = (output / SEALS_PATH).read_text()
    (site / f"office/memos/inbox/{MARCH}.openthing").unlink()
    with serve_folder(output) as address:
        for number, previous in enumerate((output, address)):
            words, new = ("--cache", tmp_path / "cache", "--previous", previous), tmp_path / f"new{number}"
            build_site(site, *words, output=new)
            assert (new / SEALS_PATH).read_text().startswith(before)
            assert told(log_of(new)) == [*BEGINNING, "march removed"]
            shutil.rmtree(new)
            (output / SEALS_PATH).rename(tmp_path / "log")
            assert told(log_of(build_site(site, *words, output=new))) == AFTER_MARCH
            (tmp_path / "log").rename(output / SEALS_PATH)
    build_site(site)
    (output / "archive/ledger.jsonl").unlink()
    build_site(site)
    assert told(log_of(output)) == AFTER_MARCH


def test_a_damaged_log_stops_the_build_and_is_named(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Going on would seal what nobody has published."""
    output = site / "_site"
    lines = (output / SEALS_PATH).read_text().splitlines()
    memo_at(site, LATER)
    for line, what in (
        ("{", "line 2: Expecting property name"), ('{"kind": "leaf"}', "line 2: it has no 'sha256'"),
        ('{"kind": "tree"}', "line 2: found the kind 'tree', expected leaf or month"), ("7", "line 2: "),
        ("[" * 100_000, "line 2: "),
    ):  # fmt: skip
        write_text(output / SEALS_PATH, "\n".join([lines[0], line, *lines[2:], ""]))
        assert main(["build", str(site), "--quiet"]) == 2, line
        said = capsys.readouterr().err
        assert f"{SEALS_PATH}: the sealed log is damaged ({what}" in said and "Restore it from a backup" in said


@pytest.mark.parametrize(
    "damage",
    [
        {"path": "../../etc/passwd"}, {"path": "/etc/passwd"}, {"path": "memos/../x"}, {"path": 7}, {"n": 3},
        {"sha256": "ab"}, {"sha256": None}, {"why": "removed"}, {"why": "lost", "sha256": None}, {"month": "soon"},
        {"month": []}, {"redacted": "x"}, {"redacted": 1e999}, {"id": None}, {"kind": "month", "leaves": 1e999},
    ],
)  # fmt: skip
def test_lines_that_do_not_belong_in_a_log_are_refused(damage: dict[str, object]) -> None:
    """What is published is not trusted: nothing in it leads out of the site."""
    leaf = {"v": 1, "kind": "leaf", "n": 1, "month": None, "id": "memo/x", "path": "memos/x/original.md"}
    leaf["sha256"] = "0" * 64
    assert parse_seals(json.dumps(leaf)).leaves[0].path == "memos/x/original.md"
    with pytest.raises(ValueError, match=r"^line 1: "):
        parse_seals(json.dumps(leaf | damage))


@given(st.text() | st.lists(st.sampled_from(SOME_LINES)).map("\n".join))
def test_any_text_is_a_log_or_is_refused(text: str) -> None:
    """And a check says what is wrong with it, instead of ending."""
    try:
        log = parse_seals(text)
    except ValueError as error:
        assert str(error).startswith("line ")
    else:
        assert log.text.removesuffix("\n") == text.removesuffix("\n")
    assert not check_against("0" * 64, text).holds


def erase(site: Path, name: str, more: str = "") -> None:
    """Erase a memo."""
    write_text(site / "memosite.yml", f"erase: [{{id: {name}, why: Asked for, on: 2026-05-20{more}}}]\n")


def test_an_erased_original_keeps_its_hash_unless_a_secret_is_why(site: Path) -> None:
    """With `secret: true` no hash is left, and roots from its month on are others; earlier ones hold."""
    output = site / "_site"
    before = log_of(output)
    digests = {one.sha256 for one in before.leaves if APRIL in one.id}
    erase(site, APRIL)
    build_site(site)
    assert told(log_of(output)) == [*BEGINNING, "april erased"] and log_of(output).text.startswith(before.text)
    erase(site, APRIL, ", secret: true")
    build_site(site)
    log = log_of(output)
    assert told(log) == ["march", "= 2026/03", "april not kept", *BEGINNING[3:], "april erased"]
    assert not any(digest in log.text for digest in digests)
    assert log.months[0] == before.months[0] and log.months[1].root != before.months[1].root
    assert built_from_nothing(site, site.parent / "clean") == tree_bytes(output)
    assert check_against(before.months[0].root, log.text).holds
    failed = check_against(before.months[1].root, log.text)
    assert not failed.holds and f"leaf 2 (memo/{APRIL}) lost its hash" in failed.faults[0].said
    copied = check_copy(before.text, log.text)
    expected = f"leaf 2 of the copy ({before.leaves[1].path}) has lost its hash"
    assert [one.said for one in copied.faults if one.id] == [expected]


@pytest.mark.parametrize(("mode", "last"), [("withhold", "april withheld"), ("redact", "april")])
def test_a_secret_that_is_found_later_leaves_no_hash(site: Path, mode: str, last: str) -> None:
    """Neither withheld nor redacted: the rest of a redacted text is known, and so a secret could be tried out."""
    write_text(site / "memosite.yml", f"secrets: {{mode: {mode}}}\n")
    output = build_site(site)
    digest = log_of(output).leaves[1].sha256
    memo_at(site, APRIL, body=f"The key is {KEY}.")
    assert main(["build", str(site), "--quiet"]) == (1 if mode == "withhold" else 0)
    log = log_of(output)
    assert told(log) == ["march", "= 2026/03", "april not kept", *BEGINNING[3:], last]
    assert digest not in log.text and [one.redacted for one in log.leaves][-1] == (mode == "redact")


def test_what_an_audience_may_not_see_any_more_is_not_in_its_log(site: Path) -> None:
    """As if it had never been published there. The log for everybody inside goes on."""
    config = "outputs: {internal: _site, public: _public}\n"
    write_text(site / "memosite.yml", config)
    memo_at(site, LATER, body=f"As {APRIL} says.")
    build_site(site)
    before = {name: log_of(site / name).text for name in ("_site", "_public")}
    assert told(log_of(site / "_public")) == told(log_of(site / "_site"))
    write_text(site / "memosite.yml", f'{config}withhold: ["**/{APRIL}.*"]\n')
    build_site(site)
    public = log_of(site / "_public")
    assert told(public) == ["march", "= 2026/03", "may", "may.body", "= 2026/05", "later"]
    assert APRIL not in public.text and public.leaves[-1].redacted == 1
    assert log_of(site / "_site").text == before["_site"]
    hidden = {one.sha256 for one in parse_seals(before["_public"]).leaves if APRIL in one.id or LATER in one.id}
    assert not any(digest in public.text for digest in hidden)


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str]) -> Verify:
    """Runs the command, and gives its exit code and what it printed."""

    def run(*words: object) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["verify", *map(str, words)])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


@pytest.mark.parametrize("lean", ["true", "false"])
def test_verify_says_what_was_removed_and_changed_on_disk_and_over_http(site: Path, verify: Verify, lean: str) -> None:
    """The root was kept by somebody; a month later the archive has another letter in it."""
    shutil.rmtree(site / "_site")
    write_text(site / "memosite.yml", f"lean: {lean}\n")
    output = build_site(site)
    root = log_of(output).months[-1].root
    fine = "sealed    2 of 4 leaves, up to 2026/04\nverified  everything the root seals is unchanged\n"
    with serve_folder(output) as address:
        for where in (output, site, address):
            assert verify("--seal", root, where) == (0, fine)
        assert verify("--seal", f" {root[:32].upper()} {root[32:]}", "--site", site) == (0, fine)
        assert verify("--seal", root, output, "--quiet") == (0, "")
        if lean == "true":
            return
        (output / f"memos/{MARCH}/original.openthing").write_bytes(b"{}")
        (output / f"memos/{APRIL}/original.openthing").unlink()
        for where in (output, address):
            code, said = verify("--seal", root, where)
            assert code == 1 and f"changed   memo/{MARCH}: memos/{MARCH}/original.openthing has other bytes" in said
            assert f"removed   memo/{APRIL}: memos/{APRIL}/original.openthing is not there" in said
            assert said.endswith("failed    2 problems: what was sealed was changed or removed\n")
        write_memo(output / "memos/smuggled", "original")
        code, said = verify("--seal", root, output, "--quiet")
        assert code == 1 and "added     memos/smuggled/original.openthing is in no leaf of the log" in said


def test_a_copy_of_the_log_tells_of_each_leaf_and_the_log_of_edits(site: Path, verify: Verify, tmp_path: Path) -> None:
    """What was cut off or changed, although the chain was made anew; an edit after the root is no tampering."""
    output = site / "_site"
    log = log_of(output)
    kept = write_text(tmp_path / "kept.jsonl", log.text)
    root = write_text(tmp_path / "root.txt", f"{log.months[-1].root}\n")
    assert verify("--seal", kept, output)[0] == verify("--seal", root, output)[0] == 0
    forged = SealLog().with_leaves(replace(one, sha256="1" * 64) if APRIL in one.id else one for one in log.leaves[:3])
    write_text(output / SEALS_PATH, forged.text)
    code, said = verify("--seal", root, output)
    assert code == 1 and "cut off   no month of the log has the root" in said and "ends with leaf 3" in said
    code, said = verify("--seal", kept, output)
    assert code == 1 and f"changed   memo/{APRIL}: leaf 2 of the copy ({log.leaves[1].path}) has another hash" in said
    assert f"cut off   memo/{MAY}: leaf 4 of the copy ({log.leaves[3].path}) is missing: the log ends with 3" in said
    write_text(output / SEALS_PATH, log.text)
    memo_at(site, MARCH, subject="The gate is open")
    (site / f"office/memos/inbox/{APRIL}.openthing").unlink()
    build_site(site)
    code, said = verify("--seal", root, output)
    assert code == 0 and said.splitlines()[1:] == [
        f"since     memo/{MARCH}: memos/{MARCH}/original.openthing was edited since, by leaf 5",
        f"since     memo/{APRIL}: memos/{APRIL}/original.openthing was removed since, by leaf 6",
        "verified  everything the root seals is unchanged, except what the log names",
    ]


def test_verify_says_how_it_is_to_be_used(site: Path, verify: Verify, tmp_path: Path) -> None:
    """What is neither a root nor a copy of a log, and what is no site with a log."""
    output = site / "_site"
    root = log_of(output).months[-1].root
    said = verify("--seal", "abc", output)[1]
    assert said.startswith("memosite: --seal abc: found neither a root nor a file, expected 64 hexadecimal digits")
    text = write_text(tmp_path / "notes.txt", "Keep this!\n")
    assert "--seal: the file is no copy of archive/seals.jsonl (line 1: " in verify("--seal", text, output)[1]
    assert verify("--seal", root, output, "--site", site) == (
        2, f"memosite: found both {output} and --site {site}; name the site once\n",
    )  # fmt: skip
    (output / ".memosite-unfinished").mkdir()
    (output / f"memos/{MARCH}/original.openthing").unlink()
    assert "a build is writing there, or was interrupted" in verify("--seal", root, output)[1]
    (output / SEALS_PATH).unlink()
    code, said = verify("--seal", root, output)
    assert code == 2 and "found no archive/seals.jsonl" in said
    with serve_folder(tmp_path / "nothing") as address:
        assert verify("--seal", root, address)[0] == 2


def test_a_line_that_cannot_be_read_is_said_and_hides_no_other_fault(site: Path) -> None:
    """What is before it is checked."""
    output = site / "_site"
    log = log_of(output)
    lines = log.text.splitlines()
    spoiled = "\n".join([*lines[:4], "<<<<<<< ours", *lines[4:], ""])
    checked = check_against(log.months[-1].root, spoiled)
    assert checked.sealed == 2 and not checked.holds
    assert [one.said for one in checked.faults] == [
        "seals.jsonl, line 5: Expecting value: line 1 column 1 (char 0); this line and the 2 after it cannot be checked"
    ]
    for number in range(len(lines)):
        without = "\n".join([*lines[:number], *lines[number + 1 :], ""])
        assert check_against(log.months[-1].root, without).holds == (number == 5)
