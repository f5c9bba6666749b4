"""What of a session log may be published: not a turn with a secret, nor what would let it be guessed (SPEC 9)."""

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memosite.cli import main
from memosite.facts.file import File
from memosite.facts.names import blob_id
from memosite.facts.parsed import SessionFile
from memosite.formats.sessions.parsing import parse
from memosite.reading.screen import Screen
from memosite.resolve import identity
from memosite.secrets import find_secrets
from tests.support.files import write_text
from tests.support.planted_secrets import KINDS, Maker, Planted
from tests.support.repos import Repo
from tests.support.session_logs import FORMS, SESSION, Step, claude_code
from tests.support.sites import tree_bytes

Capture = pytest.CaptureFixture[str]
KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
"""In two parts, so that no scanner takes this file for a leak."""
NAME = f"2026-05-01-0900--claude-code--{SESSION}"
PLAIN: list[Step] = [
    ("person", "Which casks are empty?"),
    ("thinking", "They want the empty ones."),
    ("assistant", "Let me look."),
    ("call", "Bash", "ls casks", "oak: empty"),
    ("assistant", "The oak one is empty."),
    ("put", "reminder of the day"),
    ("person", "Thank you."),
]
LINE_OF_KEY = {"person": 0, "thinking": 1, "assistant": 2, "input": 3, "output": 3, "put": 5}


def with_key(where: str, key: str) -> list[Step]:
    """The steps with a key in one of them."""
    number = LINE_OF_KEY[where]
    kind, *said = PLAIN[number]
    at = {"input": 1, "output": 2}.get(where, 0)
    said[at] = f"{said[at]}\nIt is {key} today."
    return [*PLAIN[:number], (kind, *said), *PLAIN[number + 1 :]]


def build(folder: Path, *options: str, settings: str = "", sources: str = "desk") -> tuple[int, dict[str, bytes]]:
    """The exit code of a build, and what it published."""
    write_text(folder / "memosite.yml", f"sources: [{{path: {sources}}}]\nbase_url: https://a.example.org/\n{settings}")
    code = main(["build", str(folder), *options])
    return code, tree_bytes(folder / "_site")


def turns_of(files: dict[str, bytes], name: str = NAME) -> list[dict[str, Any]]:
    """The turns of a session as machines read them."""
    return [json.loads(line) for line in files[f"transcripts/{name}/turns.jsonl"].decode().splitlines()]


def holding(files: dict[str, bytes], *words: str) -> dict[str, list[str]]:
    """The published files that have any of these words."""
    found = {word: [path for path, data in files.items() if word.encode() in data or word in path] for word in words}
    return {word: paths for word, paths in found.items() if paths}


def digests_of(data: bytes, *texts: str) -> list[str]:
    """What would let a short secret be guessed: digests of the file, and of texts with it, as far as they are named."""
    whole = [hashlib.sha256(data).hexdigest(), blob_id(data)]
    return [*whole, *(hashlib.sha256(text.encode()).hexdigest()[:8] for text in texts)]


def names_by_file(files: dict[str, bytes]) -> dict[str, str]:
    """The sessions of a site by the names of their files, without endings."""
    twins = (
        json.loads(data)
        for path, data in files.items()
        if path.startswith("transcripts/") and path.endswith("/index.json")
    )
    return {Path(twin["copies"][0]["path"]).stem: twin["id"] for twin in twins}


def test_a_secret_withholds_its_turn_and_no_other(tmp_path: Path, capsys: Capture) -> None:
    """In every form, wherever it is: its place says so; the others are as they are in a log without it."""
    logs: dict[str, list[str]] = {}
    for number, (form, where) in enumerate((form, where) for form in FORMS for where in (*LINE_OF_KEY, "")):
        path, write = FORMS[form]
        steps, session = with_key(where, KEY) if where else PLAIN, f"{number:04x}{SESSION[4:]}"
        text = write(steps, session=session)
        if where and KEY not in text:  # it writes no thoughts
            continue
        write_text(tmp_path / "desk" / path.format(f"{form}{where}"), text)
        secret = [part for step in steps for part in step[1:] if KEY in part]
        logs[f"{form}{where}"] = digests_of(text.encode(), *secret) if where else []
    code, files = build(tmp_path)
    assert code == 1 and holding(files, KEY, "They want", *(one for some in logs.values() for one in some)) == {}
    names = names_by_file(files)
    assert names.keys() >= logs.keys()
    for log in logs:
        turns, whole = (
            turns_of(files, names[log]),
            turns_of(files, names[next(form for form in FORMS if log.startswith(form))]),
        )
        gone = [turn for turn in turns if turn["state"] == "withheld"]
        if log in FORMS:
            assert gone == [] and all(turn["sha256"] for turn in turns if turn["chars"])
            continue
        assert [(turn["sha256"], turn["text"], turn["tools"]) for turn in gone] == [(None, "", [])], log
        at = gone[0]["ordinal"]
        assert [turn["sha256"] for turn in turns if turn["ordinal"] != at] == [
            turn["sha256"] for turn in whole if turn["ordinal"] != at
        ]
        assert files[f"transcripts/{names[log]}/index.html"].count(b"Withheld: a secret is in this turn.") == 1
    capsys.readouterr()
    assert main(["cite", f"transcript/{names['codexperson']}#t1", "--site", str(tmp_path)]) == 1
    assert "it is withheld, since a secret is in it" in capsys.readouterr().err
    name = f"transcript/{names['codexoutput']}"
    for command in (["show", name], ["show", name, "--json"], ["export", "--with-body"], ["search", KEY], ["check"]):
        main([*command, *(["--site"] if command != ["check"] else []), str(tmp_path)])
        printed = capsys.readouterr()
        assert KEY not in printed.out + printed.err
        assert command[0] != "show" or "withheld" in printed.out


def test_a_random_key_anywhere_in_a_random_log_is_in_no_published_byte(tmp_path: Path) -> None:
    """Of every kind, in every form: in words, thoughts, tools, in JSON in JSON, and beyond what is shown."""
    chance, maker = Random(39), Maker(39)
    planted: dict[str, list[str]] = {}
    for number, (kind, make) in enumerate(KINDS.items()):
        key = make(maker)
        form = list(FORMS)[number % len(FORMS)]
        path, write = FORMS[form]
        where = chance.choice(list(LINE_OF_KEY))
        session = f"{number:04x}{SESSION[4:]}"
        if (form, where) == ("aider", "thinking"):  # it writes none
            where = "output"
        text = write(with_key(where, written(key, chance)), session=session)
        write_text(tmp_path / "desk" / path.format(f"s{number:03d}"), text)
        if find_secrets(text):  # what is a key where is tested elsewhere
            planted[kind] = [*fragments(key), *digests_of(text.encode())]
    code, files = build(tmp_path)
    sessions = [path for path in files if path.endswith("turns.jsonl")]
    assert (code, len(sessions)) == (1, len(KINDS)) and len(planted) > 0.95 * len(KINDS)
    leaks = {kind: found for kind, words in planted.items() if (found := holding(files, *words))}
    assert leaks == {}


def test_a_key_that_is_cut_in_one_record_withholds_what_has_parts_of_it_and_not_what_is_between() -> None:
    """A block without its end would else be all that follows; also where its end stands in a later record."""
    block = Maker(3).block("RSA PRIVATE KEY")
    steps: list[Step] = [
        ("person", "See it."), ("call", "Bash", "head key", block[:200]), ("person", "Beside it"),
        ("assistant", "words"), ("call", "Bash", "tail key", block[-200:]), ("person", "More of it"),
        ("assistant", "at last"),
    ]  # fmt: skip
    for form, (path, write) in FORMS.items():
        screened = Screen().file(File(source="desk", path=path.format("a"), data=write(steps).encode()))
        parsed = parse(screened.file)
        assert isinstance(parsed.fact, SessionFile)
        left = b"".join((parsed.fact.guarded[0].body and parsed.shelve) or ())
        assert parsed.fact.guarded[0].log and parsed.fact.guarded[0].log.withheld == 2, form
        assert all(word in left for word in (b"See it.", b"Beside it", b"More of it", b"at last")), form
        assert not any(part.encode() in left for part in (block[40:90], block[-120:-80])), form


def written(key: Planted, chance: Random) -> str:
    """A key as a log may have it."""
    whole = key.written()
    how = chance.choice(("plain", "plain", "JSON", "JSON in JSON", "far"))
    if how == "JSON":
        return json.dumps({"out": whole})
    if how == "JSON in JSON":
        return json.dumps({"out": json.dumps({"env": whole})})
    return f"{'word ' * 6_000}{whole}" if how == "far" else whole


def fragments(key: Planted) -> Iterator[str]:
    """Parts of a key that tell of it."""
    line = max(key.key.split("\\n" if "\\n" in key.key else "\n"), key=len)
    yield line[: max(12, len(line) // 2)]
    yield line[-max(12, len(line) // 2) :]


def test_redact_shows_the_turn_without_the_secret_and_fail_publishes_nothing(tmp_path: Path, capsys: Capture) -> None:
    """As of all items (SPEC 9). What is redacted has no digest, nor has its file. An allowed secret is no secret."""
    text = claude_code(with_key("person", KEY))
    write_text(tmp_path / "desk/sessions/a.jsonl", text)
    code, files = build(tmp_path, "--secrets", "redact")
    first, *others = turns_of(files)
    assert (code, first["state"], first["sha256"]) == (0, None, None)
    assert first["text"] == "Which casks are empty?\nIt is [REDACTED:aws-access-key-id] today."
    assert all(turn["sha256"] for turn in others) and holding(files, KEY, *digests_of(text.encode())) == {}
    capsys.readouterr()
    assert build(tmp_path / "failed", "--secrets", "fail", sources="../desk")[0] == 1
    assert not (tmp_path / "failed/_site/index.html").exists()
    main(["check", str(tmp_path)])
    fingerprint = capsys.readouterr().out.partition("fingerprint ")[2][:16]
    allowed = f"secrets: {{allow: [{{fingerprint: {fingerprint}, why: it is no key}}]}}\n"
    code, files = build(tmp_path, settings=allowed)
    assert (code, KEY in turns_of(files)[0]["text"]) == (0, True)
    assert hashlib.sha256(text.encode()).hexdigest() in files[f"transcripts/{NAME}/index.json"].decode()


def test_an_id_is_not_made_of_a_text_with_a_secret(tmp_path: Path) -> None:
    """A log without an id has that of its first words; if a secret is in them, that of its heading: in every mode."""
    head = "<!-- Generated by SpecStory -->\n\n# {} (2026-05-01 09:00:00Z)\n\n"
    history = head + "_**User**_\n\n{}\n\n---\n\n_**Assistant**_\n\nYes.\n"
    said = f"Is {KEY} right?"
    write_text(tmp_path / "desk/.specstory/history/a.md", history.format("Keys", said))
    names = set()
    for options in ([], ["--secrets", "redact"]):
        _, files = build(tmp_path, *options)
        assert holding(files, hashlib.sha256(f"\n{said}".encode()).hexdigest()[:8], KEY) == {}
        names |= {path.split("/")[1] for path in files if path.startswith("transcripts/")}
    write_text(tmp_path / "desk/.specstory/history/a.md", history.format("Keys", said.replace("right", "wrong")))
    _, files = build(tmp_path)
    assert {path.split("/")[1] for path in files if path.startswith("transcripts/")} == names and len(names) == 1


def test_former_versions_with_a_secret_are_not_there_and_no_version_of_a_log_is_published(tmp_path: Path) -> None:
    """Nor are the digests that git has of them."""
    repo = Repo(tmp_path / "desk")
    texts = [claude_code(with_key("person", KEY)), claude_code(PLAIN)]
    for text in texts:
        repo.write("sessions/a.jsonl", text)
        repo.commit()
    code, files = build(tmp_path)
    assert code == 0 and holding(files, KEY, *digests_of(texts[0].encode()), '"type": "user"') == {}
    assert all(turn["sha256"] for turn in turns_of(files) if turn["chars"])


def test_everybody_sees_no_session_unless_raw_ones_are_not_withheld(tmp_path: Path) -> None:
    """They count as raw, also where git had them; with `withhold_raw: false` they are shown, but for marked ones."""
    repo = Repo(tmp_path / "desk")
    repo.write("sessions/gone.jsonl", claude_code([("person", "About walnuts")], "9" + SESSION[1:]))
    repo.write("sessions/a.jsonl", claude_code(PLAIN))
    marked = json.loads(claude_code([("person", "About hazelnuts")], "8" + SESSION[1:]))
    repo.write("sessions/b.jsonl", json.dumps(marked | {"x.legal.confidentiality": "private"}) + "\n")
    repo.write("decisions/0001-casks.md", "# Casks\n\nWe keep casks.\n")
    repo.commit()
    (tmp_path / "desk/sessions/gone.jsonl").unlink()
    repo.commit()
    words = ("empty?", "walnuts", "hazelnuts", SESSION, "8" + SESSION[1:], "9" + SESSION[1:])
    _, files = build(tmp_path, settings="audience: public\n")
    assert holding(files, *words, "sessions/a.jsonl") == {} and holding(files, "We keep casks.")
    _, files = build(tmp_path, settings="audience: public\nwithhold_raw: false\n")
    assert list(holding(files, *words)) == ["empty?", SESSION]


def test_thinking_is_published_only_if_the_site_says_so_and_base64_and_originals_never(tmp_path: Path) -> None:
    """An image is named with its size, a broken record only counted; the digest of the whole file is there."""
    data = base64.b64encode(Random(1).randbytes(6_000)).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    file = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}
    steps = [
        *PLAIN,
        ("call", "Bash", "cat x.png", f"data:image/png;base64,{data}"),
        ("assistant", f"![x](data:image/png;base64,{data})"),
    ]
    lines = claude_code(steps).splitlines()
    record = json.loads(lines[0])
    record |= {
        "uuid": "images",
        "message": {"role": "user", "content": [image, file, {"type": "text", "text": "See."}]},
    }
    result = {"type": "tool_result", "tool_use_id": "c3", "content": [image, file]}
    lines += [json.dumps(record), json.dumps(record | {"uuid": "r", "message": {"role": "user", "content": [result]}})]
    broken = json.dumps(record | {"uuid": "broken", "thinking": "They are thirsty."})[:-9]
    text = "\n".join([*lines[:2], broken, *lines[2:]]) + "\n"
    write_text(tmp_path / "desk/sessions/a.jsonl", text)
    for thinking in (False, True):
        _, files = build(tmp_path, settings=f"sessions: {{thinking: {str(thinking).lower()}}}\n")
        assert bool(holding(files, "They want the empty ones.")) is thinking
        assert holding(files, data[:40], data[2_000:2_040], "They are thirsty", '"parentUuid"', "&#34;parentUuid") == {}
        assert "[image, PNG, 6 kB]" in files[f"transcripts/{NAME}/index.html"].decode()
        assert hashlib.sha256(text.encode()).hexdigest() in files[f"transcripts/{NAME}/index.json"].decode()
        assert not any("original" in path for path in files if path.startswith("transcripts/"))


def test_a_home_with_credentials_is_not_read_unless_a_glob_names_the_logs(tmp_path: Path, capsys: Capture) -> None:
    """Whatever the settings say of all sessions; a warning counts them."""
    home = tmp_path / "desk"
    write_text(home / ".claude/projects/x/a.jsonl", claude_code(PLAIN))
    write_text(
        home / ".codex/sessions/2026/b.json", FORMS["gemini"][1]([("person", "About walnuts")], "9" + SESSION[1:])
    )
    write_text(home / ".claude/decisions/0001-x.md", "# X\n\nOf the home.\n")
    write_text(home / "decisions/0001-casks.md", "# Casks\n\nWe keep casks.\n")
    for private in (".ssh/config", ".git-credentials", ".codex/auth.json"):
        write_text(home / private, "x")
        _, files = build(tmp_path, settings="sessions: true\ndocuments: ['**/*.md']\n")
        assert holding(files, "empty?", "walnuts", "Of the home.") == {}, private
        capsys.readouterr()
        main(["check", str(tmp_path)])
        said = capsys.readouterr().out
        assert "session-home" in said and "1 session log of claude-code" in said and "1 session log of codex" in said
        _, files = build(tmp_path, settings="sessions: {include: ['.claude/projects/**/*.jsonl']}\n")
        assert list(holding(files, "empty?", "walnuts")) == ["empty?"]
        (home / private).unlink()
        if (home / private).parent.name == ".ssh":
            (home / private).parent.rmdir()
    _, files = build(tmp_path, settings="sessions: true\n")
    assert list(holding(files, "empty?", "walnuts")) == ["empty?", "walnuts"]


def test_a_session_is_erased_alone_in_a_file_of_several(tmp_path: Path) -> None:
    """Its page stays and says so; the file has no digest any more, the other sessions of it are there."""
    _, write = FORMS["aider"]
    text = write([("person", "About walnuts")], "0e10") + write([("person", "About hazelnuts")], "1c20")
    write_text(tmp_path / "desk/sessions/h.md", text)
    _, files = build(tmp_path)
    name = next(
        path.split("/")[1] for path in holding(files, "About walnuts")["About walnuts"] if "transcripts/" in path
    )
    erased = f"erase: [{{id: {name}, why: asked for, on: 2026-05-20}}]\n"
    _, files = build(tmp_path, settings=erased)
    assert holding(files, "About walnuts", hashlib.sha256(text.encode()).hexdigest()) == {}
    assert "was erased" in files[f"transcripts/{name}/index.html"].decode() and holding(files, "About hazelnuts")


def test_of_too_many_sessions_the_newest_are_shown(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note says how many there are."""
    monkeypatch.setattr(identity, "MOST_SESSIONS", 2)
    for number, said in enumerate(("acorns", "beech nuts", "chestnuts")):
        log = claude_code([("person", f"About {said}")], f"{number}{SESSION[1:]}").replace(
            "2026-05-01", f"2026-05-0{number + 1}"
        )
        write_text(tmp_path / f"desk/sessions/{number}.jsonl", log)
    _, files = build(tmp_path)
    assert list(holding(files, "acorns", "beech nuts", "chestnuts")) == ["beech nuts", "chestnuts"]
    main(["check", str(tmp_path)])
    assert "found 3 sessions, expected at most 2" in capsys.readouterr().out
