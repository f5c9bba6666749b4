"""Builds sites for the audience public and looks for what it may not see, everywhere (SPEC 9, audience)."""

import ast
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memosite.cli import main
from tests.support.files import write_json, write_text
from tests.support.looking import inflated, written_long_ago
from tests.support.memos import write_body, write_memo, write_note, write_org, write_transcript
from tests.support.repos import Repo
from tests.support.sites import tree_bytes as files
from tests.support.soaking import most

__all__ = ["written_long_ago"]

WORD = "planted"
LEGAL: dict[str, Any] = {"x.legal.confidentiality": "privileged"}
STAMP = "2026-05-01-{:04d}--{}--{}--{}"
SEEN = STAMP.format(900, "engineer", "director", "seen")
HIDDEN = STAMP.format(1000, "plantedfrom", "plantedto", "plantedid")
REMOVED = STAMP.format(1100, "engineer", "director", "plantedremoved")


def run(*arguments: object) -> int:
    """Run a command; the exit code."""
    return main([str(one) for one in arguments])


def holding(word: str, folder: Path) -> list[str]:
    """The files below a folder with a word in their paths or bytes; the contract, which has a page, uses it, too."""
    found = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        name = path.relative_to(folder).as_posix()
        data = path.read_bytes()
        if word in name or any(word.encode() in one.lower() for one in (data, *inflated(data))):
            found.append(name)
    return [name for name in found if not name.startswith("spec/")]


class Site:
    """A site with two sources and all kinds, in each of which is something to be withheld."""

    def __init__(self, folder: Path) -> None:
        """Write it; each planted word is in something that is withheld, and where that is mentioned."""
        self.folder = folder
        self.desk = Repo(folder / "desk")
        self.shop = Repo(folder / "shop")
        self.inbox = self.desk.root / "memos/inbox"
        self.configure()
        self.removed()
        self.seen()
        self.desk.commit()
        self.withheld()
        self.desk.commit("Plantedmessage", who="Planted Author")
        self.shop.commit("Plantedmessage", who="Planted Author")

    @property
    def public(self) -> Path:
        """The output for everybody."""
        return self.folder / "_public"

    def configure(self, more: str = "") -> None:
        """Write the configuration."""
        write_text(
            self.folder / "memosite.yml",
            "title: Tides\nbase_url: https://tides.example.org/\narchive_id: tides\nauthority: 'example.org,2026'\n"
            "sources: [{path: desk}, {path: shop}]\nfeeds: {searches: {all: 'kind:memo'}}\n"
            "withhold: ['plantedfolder/**', 'shop/decisions/plantedglob*', '**/plantedbody-*']\n"
            f"actions: {{closed: {{{HIDDEN}: {{on: 2026-05-20, by: plantedcloser, why: plantedwhy}}}}}}\n"
            f"outputs: {{internal: _site, public: _public}}\n{more}",
        )

    def seen(self) -> None:
        """What everybody may see, with mentions of what nobody may."""
        link = f"[it](https://tides.example.org/memos/{HIDDEN}/) and [[{HIDDEN}]] and {HIDDEN.replace('-', '%2D')}"
        write_memo(self.inbox, SEEN, body=f"See {HIDDEN}, `memos/inbox/{HIDDEN}.openthing`, {link}\n\n{REMOVED}")
        write_memo(
            self.inbox, STAMP.format(1300, "director", "engineer", "answer"), in_reply_to=f"{HIDDEN}.openthing",
            thread_id=HIDDEN, metadata={"supersedes": f"{HIDDEN}.openthing", "tags": [HIDDEN]},
            extra={"x.desk.note": HIDDEN},
        )  # fmt: skip
        write_memo(self.inbox, STAMP.format(1310, "director", "engineer", "also"), in_reply_to=HIDDEN)
        write_memo(self.inbox, STAMP.format(1320, "director", "engineer", "gone"), in_reply_to=REMOVED)
        write_text(self.desk.root / "decisions/tides.md", f"# Tides\n\nStatus: accepted\n\nFrom {HIDDEN}.\n")
        write_transcript(
            self.desk.root / "transcripts/engineer", STAMP.format(1400, "engineer", "session", "clean"),
            text=f"## User\n\nOf {HIDDEN}.\n\n## Assistant\n\nYes.\n", related_memos=[f"{HIDDEN}.openthing"],
            metadata={"redaction_status": "redacted"},
        )  # fmt: skip
        write_org(self.desk.root / "org", positions=["director", "engineer"], mission=f"Not {HIDDEN}.")
        write_text(
            self.desk.root / ".wyren/memory.md", f"## Decisions\n\n- Tides are in {HIDDEN} [session 7a2e, turn 12]\n"
        )

    def withheld(self) -> None:
        """One of each kind, each for another reason."""
        desk, shop = self.desk.root, self.shop.root
        fields: dict[str, Any] = {
            "subject": "Plantedsubject",
            "body": "Plantedbody of 2026-04-01-0900--a--b--plantedghost and plantedmention.md",
            "in_reply_to": "2026-04-02-0900--plantedsender--director--plantedparent.openthing",
            "thread_id": "planted-thread",
            "action_required": True,
            "metadata": {"tags": ["plantedtag"], "sender_session_arc": "plantedsession", "discharged": "plantedby"},
            "x.planted.field": "plantedextra",
        }
        write_memo(self.inbox, HIDDEN, sender="plantedfrom", to="plantedto", **fields, **LEGAL)
        write_memo(shop / "memos/read", HIDDEN, sender="plantedfrom", to="plantedto", **fields)  # a copy without a mark
        write_memo(self.inbox, STAMP.format(1010, "a", "b", "plantedprivate"), metadata={"retention_policy": "Private"})
        named = STAMP.format(1020, "plantedc", "plantedd", "plantedbodied")
        write_memo(self.inbox, named, body_ref="plantedbody-file.body.md", body="")
        write_body(self.inbox, "plantedbody-file", "Plantedbodytext.\n")
        write_body(desk / "memos/read", STAMP.format(1010, "a", "b", "plantedprivate"), "Plantedleftover.\n")
        write_body(self.inbox, "plantedbody-alone", "Plantedalone.\n")
        write_note(
            desk / "notes/engineer", STAMP.format(1030, "plantede", "file", "plantednote"), body="Plantednote.", **LEGAL
        )
        write_transcript(
            desk / "transcripts/engineer", STAMP.format(1040, "engineer", "session", "plantedraw"),
            text="## User\n\nPlantedturn.\n", metadata={"redaction_status": "partial"},
            participants=[{"position": "plantedparticipant", "session_arc": "plantedarc"}],
        )  # fmt: skip
        write_body(desk / "transcripts/engineer", "plantedbare", "## User\n\nPlantedbareturn.\n")
        library = {"type": "memodef:Library", "id": "plantedlibrary", "items": [{"id": "a", "name": "Planteditem"}]}
        write_json(desk / "plantedlibrary.opencatalog", library | LEGAL)
        write_text(desk / "decisions/plantedhead.md", "---\nx.legal.confidentiality: secret\n---\n# Plantedtitle\n")
        write_text(shop / "decisions/plantedglob.md", "# Plantedglobtitle\n\nStatus: accepted\n")
        write_text(desk / "plantedfolder/decisions/plantedpath.md", "# Plantedpathtitle\n")
        write_text(desk / "plantedfolder/.wyren/memory.md", "## Decisions\n\n- Plantedbullet [session 1, turn 1]\n")
        meta = {"created": "2026-05-01T00:00:00", "category": "decisions", "summary": "Plantedsummary"}
        write_json(
            desk / ".claude/memory/decisions/plantedrecord.json",
            {"meta": meta | {"session_id": "plantedid", "retention_policy": "ephemeral"}, "content": "Plantedcontent"},
        )
        write_text(
            desk / "thoughts/plantedmif.md",
            "---\nid: plantedmif\ntype: semantic\ncreated: 2026-05-01T00:00:00Z\nretention_policy: private\n---\n",
        )
        write_text(self.inbox / f"{STAMP.format(1050, 'a', 'b', 'plantedbroken')}.openthing", '{"from": "planted')
        write_text(desk / "plantedcatalog.opencatalog", "planted")
        (desk / "memos/inbox/plantedlink.openthing").symlink_to("nowhere")
        write_org(shop / "org", "plantedorg", positions=["plantedseat"], mission="Plantedmission.", **LEGAL)

    def removed(self) -> None:
        """What git has from before: removed, and edited since."""
        edited = STAMP.format(1200, "engineer", "director", "edited")
        write_memo(self.inbox, edited, body="Plantedformer.", **LEGAL)
        write_memo(self.inbox, STAMP.format(1210, "engineer", "director", "mentioning"), body=f"Formerly {HIDDEN}.")
        gone = write_memo(self.inbox, REMOVED, body="Plantedremoved.", **LEGAL)
        raw = write_transcript(self.desk.root / "transcripts/engineer", "plantedgone", metadata={})
        hid = write_memo(self.desk.root / "plantedfolder/memos/inbox", STAMP.format(1110, "a", "b", "plantedwas"))
        self.desk.commit()
        write_memo(self.inbox, edited, body="It is open now.")
        write_memo(self.inbox, STAMP.format(1210, "engineer", "director", "mentioning"), body="No more.")
        for one in (gone, hid, raw):
            one.unlink()
        self.desk.commit()

    def build(self, *more: object) -> None:
        """Build every output."""
        assert run("build", self.folder, "--jobs", 1, *more) == 0


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The site of all kinds."""
    return Site(tmp_path / "site")


def test_a_public_site_has_no_planted_word(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    """Nor has its cache, what a command prints, or a lean one's bundles; commands take the output that sees least."""
    for words, said in ((["-o", site.folder / "x"], "several outputs"), (["--previous", site.folder], "--audience")):
        assert run("build", site.folder, *words) == 2
        assert said in capfd.readouterr().err
    site.build()
    made = [line for line in capfd.readouterr().out.splitlines() if line.startswith("audience")]
    assert made == ["audience  internal", "audience  public"]
    for audience, is_told in (([], False), (["--audience", "public"], False), (["--audience", "internal"], True)):
        run("export", "--site", site.folder, *audience)
        assert (WORD in capfd.readouterr().out.lower()) is is_told
    assert len(holding(WORD, site.folder / "_site")) > 60
    assert run("build", site.folder, "--audience", "public", "--jobs", 2) == 0
    state = ["--since", "all", "--state", site.folder / "state.sqlite"]
    for command in (
        ["search", "kind:memo OR kind:note OR kind:document OR kind:record", "--json"], ["export", "--with-body"],
        ["export", "--format", "csv", "--with-body"], ["export", "--format", "mbox", "tides"],
        ["diff", "2026-01-01..", "--format", "json"], ["check", "--format", "json"], ["explain", "index.html"],
        ["watch", "--position", "director", "--once", "--json", *state],
    ):  # fmt: skip
        assert run(*command, "--site", site.folder) in {0, 1}, command
    out = "".join(capfd.readouterr())
    assert "seen" in out and [line for line in out.splitlines() if WORD in line.lower()] == []
    assert holding(WORD, site.public) == [] and holding(WORD, site.folder / ".memosite/public") == []
    assert len(holding("tides", site.folder / ".memosite/public")) > 3
    (original,) = (one.read_text() for one in (site.public / f"memos/{SEEN}").glob("*.openthing"))
    assert original.count("[withheld]") >= 6
    site.configure("audience: internal\n")
    capfd.readouterr()
    run("export", "--site", site.folder)
    assert WORD in capfd.readouterr().out.lower()
    for output in (site.folder / "_site", site.public):  # a site that was published otherwise cannot become lean
        shutil.rmtree(output)
    site.configure("lean: true\n")
    site.build()
    assert any(name.endswith(".zip") for name in holding(WORD, site.folder / "_site"))
    assert holding(WORD, site.public) == []
    assert b"seen" in (site.public / "archive/2026/05/files-1.zip").read_bytes()


def write_tree(folder: Path, memos: dict[str, dict[str, Any]], hidden: set[str]) -> None:
    """Some memos in a folder that is no repo, marked if they are hidden."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "memos/inbox").mkdir(parents=True)
    for name, fields in memos.items():
        write_memo(folder / "memos/inbox", name, **fields, **(LEGAL if name in hidden else {}))


def without(fields: dict[str, Any], hidden: set[str]) -> dict[str, Any]:
    """The fields of a memo with names replaced by hand."""
    text = repr(fields)
    for name in hidden:
        text = text.replace(f"{name}.openthing", "[withheld]").replace(name, "[withheld]")
    value = ast.literal_eval(text)
    assert isinstance(value, dict)
    return value


def some_memos(random: Random, count: int) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """Chains, broadcasts, months and mentions of missing memos, some of it hidden."""
    people = ["director", "engineer", "keeper", "plantedperson"]
    days = [f"2026-{random.randint(1, 6):02d}-{random.randint(1, 28):02d}" for _ in range(count)]
    names = [f"{day}-{number:04d}--a--c--m{number}" for number, day in enumerate(days)]
    hidden = {name for name in names if random.random() < random.choice([0.1, 0.5, 0.9])}
    memos: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        about = random.choice([*names, f"2026-01-01-0000--x--y--ghost{number}"])
        seen = people if name in hidden else people[:3]
        memos[name] = {
            "sender": random.choice(seen), "to": random.choice([*seen, "all"]),
            "sent": f"{name[:10]}T09:{number % 60:02d}:00Z", "body": f"Of {about}, and {random.choice(names)}.",
            "action_required": random.random() < 0.3,
            "thread_id": f"thread-{number % 3}" if random.random() < 0.3 else None,
            "in_reply_to": f"{about}.openthing" if about not in hidden and random.random() < 0.7 else None,
        }  # fmt: skip
        if name in hidden:  # what keeps a thread together that lost members is tested below
            memos[name]["thread_id"] = None
    return memos, hidden


def publish(site: Path, *more: object, lean: bool = False) -> dict[str, bytes]:
    """Build a site for everybody; all its files."""
    config = "title: Tides\nsources: [{path: desk}]\nbase_url: https://tides.example.org/\naudience: public\n"
    write_text(site / "memosite.yml", config + ("lean: true\n" if lean else ""))
    assert run("build", site, "--jobs", 1, "--quiet", *more) == 0
    return files(site / "_site")


@pytest.mark.parametrize("seed", most([3, 5, 6], in_soak=range(8)))
def test_a_public_site_is_that_of_sources_without_the_files(seed: int, tmp_path: Path) -> None:
    """Byte for byte, also when what was open is withheld, and open again; every other site is lean."""
    random, lean = Random(seed), seed % 2 == 1
    memos, hidden = some_memos(random, random.choice([1, 5, 30]))
    left = {name: without(fields, hidden) for name, fields in memos.items() if name not in hidden}
    write_tree(tmp_path / "all/desk", memos, hidden)
    write_tree(tmp_path / "left/desk", left, set())
    expected = publish(tmp_path / "left", lean=lean)
    assert publish(tmp_path / "all", lean=lean) == expected
    write_tree(tmp_path / "all/desk", memos, set())
    whole = publish(tmp_path / "all", lean=lean)
    write_tree(tmp_path / "all/desk", memos, hidden)
    more = publish(tmp_path / "all", lean=lean).keys() - expected.keys()
    assert {name.split("/")[0] for name in more} <= {"threads"}  # former names of threads that are still there
    assert holding(WORD, tmp_path / "all/_site") == []
    write_tree(tmp_path / "all/desk", memos, set())
    assert publish(tmp_path / "all", lean=lean).keys() == whole.keys()


def test_what_is_left_of_a_thread_stays_one_and_is_named_by_its_earliest_memo(tmp_path: Path) -> None:
    """A chain in which every second memo is withheld, and one whose first is; the numbers have no gaps."""
    names = [STAMP.format(900 + number, "a", "b", f"m{number}") for number in range(8)]
    hidden = {name for number, name in enumerate(names) if number % 2 == 0}
    memos: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        before = f"{names[number - 1]}.openthing" if number else None
        memos[name] = {"sent": f"2026-05-01T09:0{number}:00Z", "in_reply_to": before, "subject": f"m{number}"}
    write_tree(tmp_path / "desk", memos, hidden)
    publish(tmp_path)
    threads = [one.name for one in (tmp_path / "_site/threads").iterdir()]
    assert threads == [names[1]]
    page = (tmp_path / "_site/threads" / names[1] / "index.html").read_text()
    assert all((f"/{name}/" in page) is (name not in hidden) for name in names[2:])
    ledger = (tmp_path / "_site/archive/ledger.jsonl").read_text()
    assert re.findall(r'"n": (\d+)', ledger) == ["1", "2", "3", "4"]
    assert not any(name in ledger for name in hidden) and "ghost" not in ledger


def test_a_memo_that_becomes_confidential_goes_and_comes_back(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """From feed archives, ledger, redirects and digests as well; the build says loudly that nothing is taken back."""
    for number in range(60):  # an archive document of a feed has 50 items
        write_memo(site.inbox, STAMP.format(number, "engineer", "director", f"filler{number}"))
    name = STAMP.format(21, "engineer", "director", "flip")
    fields: dict[str, Any] = {"subject": "flipword", "body": "flipword", "metadata": {"tags": ["flipword"]}}
    write_memo(site.inbox, name, **fields)
    site.build()
    assert [path for path in holding("flip", site.public) if path.endswith("director/feed-1.xml")]
    assert "flip" not in (said := capsys.readouterr().out) and "withheld" not in said
    assert len(holding("flip", site.public)) > 10
    write_memo(site.inbox, name, **fields, **LEGAL)
    site.build()
    said = capsys.readouterr().out
    assert "1 item published before is withheld now" in said and "flip" not in said
    assert "names are listed only on a terminal, since logs may be public; the published site's" in said
    assert holding("flip", site.public) == holding("flip", site.folder / ".memosite/public") == []
    assert holding("flip", site.folder / "_site") != []
    ledger = site.public.joinpath("archive/ledger.jsonl").read_text()
    numbers = {int(one) for one in re.findall(r'"n": (\d+), "kind": "[mnrdlt]', ledger)}
    assert numbers == set(range(1, len(numbers) + 1))
    write_memo(site.inbox, name, **fields)
    site.build()
    assert len(holding("flip", site.public)) > 10


def test_one_audience_is_never_written_over_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither into the same folder, nor after a previous site."""
    write_memo(tmp_path / "memos/inbox", SEEN)
    assert run("build", tmp_path, "-o", tmp_path / "in") == 0
    assert run("build", tmp_path, "-o", tmp_path / "out", "--audience", "public") == 0
    for audience, other in (("public", "in"), ("internal", "out")):
        capsys.readouterr()
        assert run("build", tmp_path, "-o", tmp_path / other, "--audience", audience) == 2
        assert f"expected one for {audience}" in capsys.readouterr().err
        new = tmp_path / f"new-{audience}"
        assert run("build", tmp_path, "-o", new, "--audience", audience, "--previous", tmp_path / other) == 2
        assert f"expected one for {audience}" in capsys.readouterr().err
        assert not new.exists() or not any(new.iterdir())
    assert run("build", tmp_path, "-o", tmp_path / "new", "--audience", "public", "--previous", tmp_path / "out") == 0
    assert files(tmp_path / "new") == files(tmp_path / "out")


def test_a_public_site_of_which_nothing_is_left(tmp_path: Path) -> None:
    """And one from which nothing is withheld: the same as an internal one but for what names the audience."""
    write_memo(tmp_path / "desk/memos/inbox", SEEN, **LEGAL)
    site = publish(tmp_path)
    assert not [name for name in site if SEEN in name]
    assert holding("--seen", tmp_path) == [f"desk/memos/inbox/{SEEN}.openthing"]
    write_memo(tmp_path / "other/desk/memos/inbox", SEEN)
    public = publish(tmp_path / "other")
    shutil.rmtree(tmp_path / "other/_site")
    internal = publish(tmp_path / "other", "--audience", "internal")
    differing = {name for name in public if public[name] != internal[name]}
    assert public.keys() == internal.keys()
    assert differing <= {".memosite-site", "archive/ledger.jsonl"}


def test_a_glob_matches_a_folder_in_either_composition(tmp_path: Path) -> None:
    """A file system may compose characters otherwise than who writes the glob."""
    for number, (glob, folder) in enumerate((("b\u00fcro", "bu\u0308ro"), ("bu\u0308ro", "b\u00fcro"))):
        site = tmp_path / str(number)
        write_memo(site / "desk" / folder / "memos/inbox", STAMP.format(900, "a", "b", "plantedbox"))
        write_memo(site / "desk/memos/inbox", SEEN)
        config = "title: Tides\nsources: [{path: desk}]\naudience: public\n"
        write_text(site / "memosite.yml", f"{config}withhold: ['{glob}/**']\n")
        assert run("build", site, "--jobs", 1) == 0 and holding(WORD, site / "_site") == []
        assert holding(SEEN, site / "_site") != []


def test_of_a_file_that_was_at_a_withheld_path_only_what_came_after_is_shown(tmp_path: Path) -> None:
    """Neither its contents nor its paths from then: of a memo, its body, a document, a list, and between mailboxes."""
    desk = Repo(tmp_path / "desk")
    config = "title: Tides\nsources: [{path: desk}]\naudience: public\n"
    write_text(tmp_path / "memosite.yml", f"{config}withhold: ['planted/**', 'memos/archive/**']\n")
    names = [STAMP.format(900 + number, "a", "b", f"m{number}") for number in range(4)]
    boxes = ["planted/memos/inbox", "memos/archive", "planted/memos/inbox", "memos/archive"]

    def put(folder: str, name: str, word: str) -> None:
        write_memo(desk.root / folder, name, body="", body_ref=f"{name}.body.md", subject=f"{word} subject")
        write_body(desk.root / folder, name, f"The {word} text.\n")

    for box, name in zip(boxes, names, strict=True):
        put(box, name, "plantedformer")
    write_text(desk.root / "planted/decisions/tides.md", "# Tides\n\nPlantedformer.\n")
    write_text(desk.root / "planted/.wyren/memory.md", "## Decisions\n\n- Plantedbullet [session 1, turn 1]\n")
    desk.commit()
    for box, name in zip(boxes, names, strict=True):
        put(box, name, "plantedlater")
    desk.commit()
    for number, (box, name) in enumerate(zip(boxes, names, strict=True)):
        for ending in ("openthing", "body.md"):
            desk.move(f"{box}/{name}.{ending}", f"memos/inbox/{name}.{ending}")
        if number < 2:
            put("memos/inbox", name, "open")
    desk.move("planted/decisions/tides.md", "decisions/tides.md")
    desk.move("planted/.wyren/memory.md", ".wyren/memory.md")
    write_text(desk.root / "decisions/tides.md", "# Tides\n\nOpen.\n")
    write_text(desk.root / ".wyren/memory.md", "## Decisions\n\n- Tides are open [session 1, turn 1]\n")
    desk.commit()
    for name in names:
        put("memos/inbox", name, "edited")
    write_text(desk.root / "decisions/tides.md", "# Tides\n\nEdited.\n")
    desk.commit()
    put("memos/inbox", names[0], "last")
    desk.commit()
    assert run("build", tmp_path, "--jobs", 1) == 0
    assert holding("plantedformer", tmp_path / "_site") == holding("plantedbullet", tmp_path / "_site") == []
    later = {name.split("/")[1] for name in holding("plantedlater", tmp_path / "_site") if name.startswith("memos/")}
    assert later == set(names[2:])  # it was the content with which they came
    assert holding("planted/", tmp_path / "_site") == holding("memos/archive", tmp_path / "_site") == []
    assert "<mark>open</mark>" in (tmp_path / f"_site/memos/{names[0]}/changes/index.html").read_text()
