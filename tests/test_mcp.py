"""The server for language models (SPEC 8): it answers as the commands do, survives garbage, and writes to no source."""

import gc
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from memosite.agents import estimate
from memosite.cli import main
from memosite.commands.arguments import command_parsers, parser
from memosite.mcp import DEFAULTS, PAGE, TOOLS, Request, request_for
from memosite.mcp.server import Answered, answer
from tests.support.commands import command_line
from tests.support.files import ROOT, write_text
from tests.support.memos import write_memo, write_org
from tests.support.repos import Repo
from tests.support.session_logs import claude_code
from tests.support.sites import shared_example, tree_bytes
from tests.support.waiting import DEADLINE

SLIP = "2026-05-11-1620--strategist--catalogue-engineer-and-web-engineer--how-many-wrong-tries"
KINDS = ["position", "thread", "memo", "transcript"]
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("brief", {"position": "director", "budget": 900}),
    ("brief", {"position": "web-engineer", "section": "decisions", "from": 2}),
    ("inbox", {"position": "web-engineer", "as_of": "2026-05-10"}), ("show", {"id": SLIP[:15]}),
    ("show", {"id": "2026-04-14-0922", "turns": "2-3", "budget": 300}), ("show", {"id": SLIP[:15], "head": True}),
    ("thread", {"id": SLIP[:15], "summaries": False, "budget": 0}),
    ("search", {"query": "from:front-desk slip", "limit": 3}), ("search", {"query": "nobody-wrote-this-word"}),
    ("cite", {"references": ["2026-04-14-0922#t2"], "format": "bibtex"}),
    ("verify", {"text": "He said “39 photographs that share one barcode in the end”.\n", "quotations": True}),
    ("new_since", {"since": "2026-05-10", "until": "2026-05-15"}),
    ("new_since", {"since": "2026-03-01", "budget": 500}),
    ("reply", {"id": SLIP[:15], "from": "web-engineer", "body": "Five an hour.", "action": True}),
    ("reply", {"from": "web-engineer", "to": "director", "subject": "The slip is larger now"}),
    ("show", {"id": "there-is-no-such-item"}),
)  # fmt: skip

QUESTIONS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("What does the director have to do?", "brief", {"position": "director"}, "Spring report for the trustees"),
    ("What has the web engineer not read?", "inbox", {"position": "web-engineer"}, "First two days at the desk"),
    ("Who decided how many wrong tries there are?", "search", {"query": "wrong tries"}, "five-tries-an-hour-per-card"),
    ("What was answered to the question about wrong tries?", "thread", {"id": SLIP[:15]}, "2026-05-12 08:50"),
    ("What did the front desk write on 20 May?", "show", {"id": "2026-05-20-1740"}, "can I still just ring up?"),
    ("What changed after 20 May?", "new_since", {"since": "2026-05-20"}, "Spring report for the trustees"),
    ("Who spoke of photos with one barcode?", "cite", {"quote": "39 photographs that share a barcode"}, "archivist"),
    ("Is my quotation right?", "verify", {"text": "> 39 photographs that share a barcode with another one\n",
     "quotations": True}, "1 holds"),
    ("What is not done yet?", "search", {"query": "is:open"}, "Spring report for the trustees"),
    ("I am the strategist and want to thank the web engineer for 19 May.", "reply",
     {"id": "2026-05-19-1830", "from": "strategist"}, "--strategist--web-engineer--re-holds-are-open"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def frozen() -> Iterator[None]:
    """Each answer collects garbage: among its own objects, and not among all that the tests have loaded."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def with_client(site: Path, ask: Callable[[Client], Awaitable[None]], *options: str) -> None:
    """Ask a server of its own over its standard streams."""
    words = command_line("mcp", "--site", site, *options)
    own = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}  # else the cache is another user's
    server = StdioServerParameters(command=words[0], args=words[1:], env=own)

    async def run() -> None:
        with anyio.fail_after(10 * DEADLINE):
            async with Client(stdio_client(server)) as client:
                await ask(client)

    anyio.run(run)


async def call(client: Client, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """The text that a tool answers, and whether that is an error."""
    result = await client.call_tool(name, arguments)
    texts = [content.text for content in result.content if isinstance(content, TextContent)]
    return "\n".join(texts), result.is_error


def answered(name: str, arguments: dict[str, Any]) -> Answered:
    """What a server of the example answers, without its streams."""
    return answer(request_for(name, arguments), (f"--site={shared_example()}",))


def printed(site: Path, request: Request) -> tuple[str, str, int]:
    """What the command line prints in the site, on standard output and on standard error, and its exit code."""
    name, *words = request.words
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(request.given.encode()))
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", given)
        patch.chdir(site)
        code = main([name, *words])
    return out.getvalue().removesuffix("\n"), err.getvalue().removesuffix("\n"), code


def timeless(text: str) -> str:
    """A text without the time at which a draft was made, and the estimate that a tool adds to an answer."""
    text = re.sub(r"\[about [\d,]+ tokens, estimated\]\n?", "", text).rstrip("\n")
    return re.sub(
        r"20\d\d-\d\d-\d\d(-\d{4}--(?=web-engineer--(?:strategist|director)|strategist--web-engineer--re-)"
        r"|T\d\d:\d\d:\d\dZ\",\n)",
        "", text,
    )  # fmt: skip


def test_tools_answer_as_the_commands_do() -> None:
    """Common questions take one call each; a command that an answer names is a tool, or a tool says it is meant."""
    told = ""
    for name, arguments in ASKED:
        found = answered(name, arguments)
        out, err, code = printed(shared_example(), request_for(name, arguments))
        assert (timeless(found.text), timeless(found.messages)) == (timeless(out), timeless(err)), (name, arguments)
        assert found.is_error == (code == 2), (name, arguments)
        told += f"{found.text}\n"
    commands = set(re.findall(r"memosite (\w+)", told))
    assert {"brief", "diff", "show"} <= commands
    known = {tool.name for tool in TOOLS} | set(re.findall(r"memosite (\w+)", " ".join(tool.what for tool in TOOLS)))
    assert commands <= known

    async def ask(client: Client) -> None:
        for question, name, arguments, said in (*QUESTIONS, ("", *ASKED[10], ""), ("", *ASKED[-1], "")):
            text, is_error = await call(client, name, arguments)
            out, err, code = printed(shared_example(), request_for(name, arguments))
            assert timeless(text) == timeless("\n\n".join(filter(None, (out, err)))), (name, arguments)
            assert is_error == (code == 2) == (not question and name == "show"), (name, arguments)
            assert said in text, question
        instructions = client.instructions or ""
        assert "brief" in instructions and "search" in instructions

    with_client(shared_example(), ask)
    assert {name for _, name, _, _ in QUESTIONS} == {tool.name for tool in TOOLS}
    assert set(DEFAULTS) <= {tool.name for tool in TOOLS}


def test_no_answer_names_what_tools_do_not_take_and_no_value_is_an_option() -> None:
    """The site is known, what checks quotations is an argument, and a text that looks like an option is a text."""
    cut = answered("brief", {"position": "director", "budget": 300})
    assert "all of it about" in cut.text and "--site" not in cut.text
    found = answered("verify", {"text": "He said “39 photographs that share one barcode in the end”."})
    assert found.text == "0 citations: 0 hold"
    assert found.messages.splitlines() == [
        "[about 6 tokens, estimated]",
        "memosite: -: found no citation of the archive in it",
        'memosite: verify checks citations; to check quotations without one, add "quotations": true',
    ]
    for name, arguments in (
        ("show", {"id": "--site=/etc"}), ("search", {"query": "--index"}), ("brief", {"position": "--help"}),
        ("cite", {"references": ["--site", "/etc"]}),
        ("reply", {"from": "web-engineer", "to": "director", "subject": "--body=/etc/passwd"}),
    ):  # fmt: skip
        found = answered(name, arguments)
        assert "usage" not in found.text + found.messages and "root:" not in found.text
        assert found.is_error == (name not in {"search", "reply", "cite"})
    cited = answered("cite", {"references": ["--site", "/etc"]})  # the second is in a name: it is cited
    assert cited.text.startswith("web-engineer") and "--site: found no item" in cited.messages


def test_tools_take_what_their_commands_take() -> None:
    """Each parameter is an option of the command, and what is wrong is named; the schema says the same."""
    commands = command_parsers(parser())
    for tool in TOOLS:
        kinds: dict[str, Any] = {"string": "x", "integer": 3, "boolean": True, "array": ["x", "y"]}
        values = {option.name: kinds[option.type] for option in tool.parameters if not option.choices}
        given = values | {option.name: option.choices[0] for option in tool.parameters if option.choices}
        given |= {"since": "2026-05-01", "until": "2026-05-02"} if tool.name == "new_since" else {}
        name, *words = tool.request(given).words
        commands[name].parse_args(words)
        required = tool.schema["required"]
        assert isinstance(required, list) and set(required) <= set(given)
    assert "--budget=0" in request_for("show", {"id": "x", "budget": 0}).words  # everything, which is not the default
    for name, arguments, said in (
        ("inbox", {}, 'found no "position"'),
        ("inbox", {"position": 7}, "found '7', expected a text"),
        ("inbox", {"position": "director", "who": "x"}, 'found "who", expected position, since, from, budget, as_of'),
        ("inbox", {"position": "director", "budget": True}, "expected a whole number"),
        ("inbox", {"position": "director", "budget": -1}, "found -1, expected 0 or more"),
        ("brief", {"position": "director", "section": "all"}, "expected one of handoff, unread"),
        ("cite", {"references": ["a", 1]}, "expected a list of texts"),
        ("new_since", {"since": "HEAD~3"}, "expected a day"),
        ("new_since", {"since": "archive/ledger.jsonl"}, "expected a day"),
        ("search", {"query": "--"}, 'found "--", expected a text'),
        ("mark_read", {}, "found no such tool"),
        ("new_since", {"since": "2026-13-45"}, 'since: "2026-13-45": found an invalid date'),
        ("show", {"id": "x" * 100_000}, '"id": found 100,000 characters, expected 1,000 at most'),
        ("cite", {"references": ["a", "x" * 1_001]}, '"references": found 1,001 characters'),
    ):
        with pytest.raises(Exception, match=re.escape(said)):
            request_for(name, arguments)


def test_every_tool_answers_within_a_budget_and_says_what_it_does_not_show() -> None:
    """Also those whose command has none; with 0 all is answered. A usual draft is whole."""
    assert [tool.name for tool in TOOLS if "budget" not in {one.name for one in tool.parameters}] == []
    draft = {"from": "web-engineer", "to": "director", "subject": "Long", "body": "One more day.\n\n" * 2_000}
    whole, shown, cut = (answered("reply", {**draft, **given}) for given in ({"budget": 0}, {}, {"budget": 500}))
    assert json.loads(whole.text) == json.loads(shown.text) and "estimated]" in shown.messages
    assert estimate(cut.text) <= 500 and re.search(r"lines? not shown; all of it about", cut.messages)
    references = ["2026-04-14-0922#t1", "2026-04-14-0922#t2", "2026-04-14-0922#t3"]
    quoted = "> 39 photographs that share a barcode with another one\n\nSo it is.\n\n" * 40
    for name, arguments in (
        ("search", {"query": "the", "limit": 100_000}),
        ("cite", {"references": references * 20}),
        ("verify", {"text": quoted, "quotations": True}),
    ):
        whole, cut = answered(name, {**arguments, "budget": 0}), answered(name, {**arguments, "budget": 500})
        assert "estimated" not in whole.messages and estimate(whole.text) > 1_000
        assert estimate(cut.text) + estimate(cut.messages) <= 500
        assert re.search(r"\[about \d+ tokens, estimated; [\d,]+ \w+ not shown; all of it about", cut.messages)
        assert cut.text.splitlines()[0] == whole.text.splitlines()[0]
        assert cut.text.splitlines()[-1] == whole.text.splitlines()[-1]
    many = answered("cite", {"references": [f"there-is-no-{number}" for number in range(2_000)]})
    assert len(many.messages) < 10_000 and "more characters]" in many.messages


def office(folder: Path, *names: str) -> Repo:
    """A site of one repo, with an organization and these memos from the director to the strategist."""
    repo = Repo(folder / "site/office")
    write_org(repo.root / "org", positions=["director", "strategist", "web-engineer"])
    for name in names:
        write_memo(repo.root / "memos/inbox", name, sender="director", to="strategist")
    return repo


def test_resources_are_listed_in_pages_and_no_source_is_written(tmp_path: Path) -> None:
    """Positions, threads, memos and sessions, each once, the newest first, as commands show them; whatever is asked."""
    repo = office(tmp_path, *(f"2026-06-01-{1000 + number}--director--strategist--n{number}" for number in range(PAGE)))
    site = repo.root.parent
    write_memo(repo.root / "memos/inbox", SLIP, sender="strategist", to="web-engineer", body="39 photographs. " * 90)
    write_text(
        repo.root / "sessions/log.jsonl", claude_code([("person", "Which slip?"), ("assistant", "The small one.")])
    )
    repo.commit()

    def sources() -> dict[str, bytes]:
        return {path: data for path, data in tree_bytes(site).items() if not path.startswith(".memosite/")}

    before = sources()

    async def ask(client: Client) -> None:
        found, cursor, pages = [], None, 0
        while pages == 0 or cursor:
            page = await client.list_resources(cursor=cursor)
            found += page.resources
            cursor, pages = page.next_cursor, pages + 1
            assert len(page.resources) <= PAGE
        addresses = [resource.uri for resource in found]
        assert len(set(addresses)) == len(addresses) > 2 * PAGE
        kinds = [address.split("/")[2] for address in addresses]
        assert list(dict.fromkeys(kinds)) == KINDS
        templates = await client.list_resource_templates()
        assert [template.name for template in templates.resource_templates] == KINDS
        for kind, words in zip(KINDS, (("brief",), ("thread", "--brief"), ("show",), ("show",)), strict=True):
            address = next(address for address in addresses if address.startswith(f"memosite://{kind}/"))
            [contents] = (await client.read_resource(address)).contents
            assert isinstance(contents, TextResourceContents)
            assert contents.text == printed(site, Request(words=(*words, address.rpartition("/")[2])))[0]
        for address in ("memosite://memo/nothing", "memosite://file/x", "file:///etc/passwd", "memosite://memo/"):
            with pytest.raises(MCPError, match="found no"):
                await client.read_resource(address)
        with pytest.raises(MCPError, match="found no such resource"):
            await client.list_resources(cursor="memosite://memo/nothing")
        for name, arguments in ASKED:
            await call(client, name, arguments)

    with_client(site, ask)
    assert sources() == before
    assert sorted(path.name for path in site.iterdir()) == [".memosite", "office"]


def test_each_answer_is_as_of_now(tmp_path: Path) -> None:
    """What was added, moved or removed meanwhile is seen by the same server; who asks for the public learns no more."""
    name, private = (f"2026-06-01-1{hour}00--director--strategist--{word}" for hour, word in ((0, "roof"), (1, "pay")))
    repo = office(tmp_path, "2026-05-01-1000--director--strategist--plan")
    site, inbox = repo.root.parent, repo.root / "memos/inbox"
    extra = {"x.legal.confidentiality": "confidential"}
    write_memo(inbox, private, sender="director", to="strategist", extra=extra)
    (inbox.parent / "read").mkdir()

    async def is_shown(client: Client, name: str) -> set[bool]:
        listed = any(name in one.uri for one in (await client.list_resources()).resources)
        return {listed, not (await call(client, "show", {"id": name}))[1]}

    async def ask(client: Client) -> None:
        for _ in range(2):
            assert name not in (await call(client, "inbox", {"position": "strategist"}))[0]
        file = write_memo(inbox, name, sender="director", to="strategist")
        told = (await call(client, "inbox", {"position": "strategist"}))[0]
        assert name in told and private in told
        assert name in (await call(client, "search", {"query": "roof"}))[0]
        file.rename(inbox.parent / "read" / file.name)
        assert name not in (await call(client, "inbox", {"position": "strategist"}))[0]
        assert await is_shown(client, name) == await is_shown(client, private) == {True}
        (inbox.parent / "read" / file.name).unlink()
        assert await is_shown(client, name) == {False}

    async def ask_publicly(client: Client) -> None:
        assert private not in (await call(client, "inbox", {"position": "strategist"}))[0]
        assert await is_shown(client, private) == {False}

    with_client(site, ask)
    with_client(site, ask_publicly, "--audience", "public")


def line(**fields: object) -> bytes:
    """A message."""
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def send(process: "subprocess.Popen[bytes]", data: bytes) -> None:
    """Write all of it, however long it takes the server to read it."""
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()


WHO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
HELLO = line(id=1, method="initialize", params=WHO) + line(method="notifications/initialized")


@contextmanager
def started(*, is_greeted: bool = True) -> Iterator["subprocess.Popen[bytes]"]:
    """A server that is spoken to by hand, and has answered the greeting."""
    command, pipe = command_line("mcp", "--site", shared_example()), subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)
    try:
        if is_greeted:
            send(process, HELLO)
            assert process.stdout is not None
            process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr] # all of them are pipes


GARBAGE = (
    b'\n \nnot json\n\xff\xfe\x00\n[]\n{}\n42\nnull\n"text"\n', b"[" * 200_000 + b"\n", b'{"a":' * 50_000 + b"\n",
    b"x" * 3_000_000 + b"\n", line(id=2), line(id={"a": 1}, method="ping"), line(id=3, method="tools/call"),
    line(id=4, method="tools/call", params=[1]), line(id=5, method="tools/call", params={"name": 7, "arguments": "x"}),
    line(id=6, method="nothing"),
    line(id=7, method="tools/call", params={"name": "show", "arguments": {"id": "\ud800\0"}}),
    line(id=8, method="tools/call", params={"name": "inbox", "arguments": {"position": "x" * 100_000}}),
    line(method="notifications/cancelled", params={"requestId": 99}),
)  # fmt: skip


def test_garbage_ends_nothing() -> None:
    """Before and after the greeting; standard output has messages and nothing else, and then the input ends."""
    with started(is_greeted=False) as process:
        assert process.stdin and process.stdout
        asked = line(id=9, method="tools/call", params={"name": "inbox", "arguments": {"position": "director"}})
        sender = threading.Thread(target=send, args=(process, b"".join((*GARBAGE[:4], HELLO, *GARBAGE, asked))))
        sender.start()
        for answered in map(json.loads, process.stdout):  # nothing but messages
            if answered.get("id") == 9:
                break
        assert "Unread (2)" in answered["result"]["content"][0]["text"]
        sender.join()
        process.stdin.close()
        assert process.wait(DEADLINE) == 0


def test_a_line_that_is_no_message_is_answered_with_an_error() -> None:
    """As JSON-RPC has it, before and after the greeting: a client that writes badly must not wait for ever."""
    faults: tuple[tuple[bytes, int, object], ...] = (
        (b"not json", -32700, None), (b'{"id": 5,', -32700, None), (b"[" * 9_000, -32700, None),
        (b"\xff", -32700, None),
        (b"[]", -32600, None), (b"null", -32600, None), (b'" "', -32600, None), (b"{}", -32600, None),
        (b'{"jsonrpc": "2.0", "id": 7}', -32600, 7), (b'{"jsonrpc": "2.0", "id": true}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": "b", "method": "ping", "params": [1]}', -32600, "b"),
        (b'[{"jsonrpc": "2.0", "id": 8, "method": "ping"}]', -32600, None),
    )  # fmt: skip
    with started(is_greeted=False) as process:
        assert process.stdout
        for greeting in (b"", HELLO):
            send(process, greeting)
            answers = [json.loads(process.stdout.readline())] if greeting else []
            for written, code, id_ in faults:
                send(process, b"\n  \n" + written + b"\r\n")
                answer_ = json.loads(process.stdout.readline())
                assert (answer_["error"]["code"], answer_["id"]) == (code, id_), written
            assert all("result" in one for one in answers)


def test_a_signal_ends_it_at_once_and_a_client_that_is_gone_is_no_fault() -> None:
    """Also while it waits for its client, which may end before it has its answers."""
    for number in (signal.SIGTERM, signal.SIGINT):
        with started() as process:
            process.send_signal(number)
            assert process.wait(DEADLINE) == 128 + number
    with started() as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(line(id=2, method="tools/list"))
        process.stdin.close()
        assert process.wait(DEADLINE) == 0 and process.stderr.read() == b""


def test_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The package, with the command that installs it; the site."""
    assert main(["mcp", "--site", str(tmp_path / "nothing")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "nothing" in err
    monkeypatch.delitem(sys.modules, "memosite.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "anyio", None)
    assert main(["mcp", "--site", str(tmp_path)]) == 2
    assert "pip install 'memosite[mcp]'" in capsys.readouterr().err


def test_a_server_that_stays_does_not_grow() -> None:
    """After each request it holds as much as after those before: objects, and open files."""
    asked = [ASKED[0], ASKED[4], QUESTIONS[6][1:3], ASKED[-1]]

    def held() -> tuple[int, int]:
        for name, arguments in asked:
            answered(name, arguments)
        return len(gc.get_objects()), len(tuple(Path("/proc/self/fd").iterdir()))

    held()
    (objects, files), _, (objects_later, files_later) = held(), held(), held()
    assert files_later == files
    assert objects_later <= objects + 500
