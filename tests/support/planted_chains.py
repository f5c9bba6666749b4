"""Plants chains of commit, session and memos in an organization, between things that look like them.

Each chain is a line of a file that one commit wrote. Its session shows that in one of several ways. Beside it: sessions
at the same time that print the same commits and lines, memos that name files of the same name, commits with the same
message, lines that were indented anew or moved to another file, and lines whose session left no transcript.
"""

import datetime as dt
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.files import write_json
from tests.support.memos import send, write_org, write_transcript
from tests.support.repos import Repo

BEGIN = dt.datetime(2026, 3, 1, 8, 0, tzinfo=dt.UTC)
WAYS = ("said by git", "command", "edit", "written by a shell", "indented anew", "moved", "rebased", "json edit")
"""How a session shows its commit, or what happened to the line afterwards."""
HIDDEN_WAYS = ("no transcript", "amended", "only named")
"""Of these, no session can be told for certain."""
NOUNS = ("sluice", "towpath", "windlass", "culvert", "paddle", "balance beam", "mitre gate", "bollard")


@dataclass(kw_only=True)
class Plan:
    """A chain: where its line is now, and what `why` has to show; `session` is None where nothing may be certain."""

    way: str
    source: str
    path: str
    text: str
    commit: str = ""
    session: str | None = None
    memos: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class _Session:
    name: str
    begin: dt.datetime
    turns: list[str] = field(default_factory=list)


class PlantedChains:
    """An organization with so many chains, and some whose session cannot be told."""

    def __init__(self, folder: Path, chains: int, seed: int = 7) -> None:
        """Write the repos; the same for the same seed."""
        self.folder = folder
        self.chance = random.Random(seed)
        self.plans: list[Plan] = []
        self._repos = {name: Repo(folder / name) for name in ("engine", "website")}
        self._office = Repo(folder / "office")
        self._number = self._memos = 0
        self._now = BEGIN
        sources = [{"path": name} for name in ("office", "engine", "website")]
        write_json(folder / "memosite.yml", {"title": "Locks", "sources": sources})
        write_org(folder / "office/org", positions=["engineer", "director"])
        for repo in self._repos.values():  # the same path in both
            repo.write("src/shared.py", "# shared\n")
            repo.write("README.md", "# Read me\n")
            repo.commit("begin", at=_stamp(BEGIN - dt.timedelta(days=1)))
        hidden = max(1, chains // 8)
        ways = [WAYS[one % len(WAYS)] for one in range(chains)] + [HIDDEN_WAYS[one % 3] for one in range(hidden)]
        self.chance.shuffle(ways)
        while ways:
            size = self.chance.randrange(1, 5)
            self._sitting(ways[:size])
            ways = ways[size:]
        self._name_files()
        self._office.commit("memos and transcripts", at=_stamp(self._now))

    def _sitting(self, ways: list[str]) -> None:
        """One session with some commits, and another one at the same time that looks at them."""
        self._now += dt.timedelta(hours=self.chance.randrange(3, 9))
        begin = self._now
        mine = _Session(name=f"{begin:%Y-%m-%d-%H%M}--engineer--work-{len(self.plans)}", begin=begin)
        other = _Session(name=f"{begin:%Y-%m-%d-%H%M}--director--watch-{len(self.plans)}", begin=begin)
        for way in ways:
            self._now += dt.timedelta(minutes=self.chance.randrange(6, 20))
            plan = self._chain(way, mine)
            other.turns += self._watching(plan)
            self.plans.append(plan)
        self._now += dt.timedelta(minutes=10)
        for session in (mine, other):
            if session.turns:
                self._write(session, is_stamped=self.chance.random() < 0.6)
        if self.chance.random() < 0.4:
            self._later(other)

    # One chain

    def _chain(self, way: str, session: _Session) -> Plan:
        self._number += 1
        source = self.chance.choice(sorted(self._repos))
        repo = self._repos[source]
        number = self._number
        path = self.chance.choice((f"src/part_{number % 7}.py", "src/shared.py", f"lib/deep/part_{number % 5}.py"))
        noun = self.chance.choice(NOUNS)
        text = f'raise_the("{noun}", {number})  # the {noun} of lock {number} sticks when the water is low'
        plan = Plan(way=way, source=source, path=path, text=text)
        subject = f"Raise the {noun} of lock {number}"
        if way in {"said by git", "only named"} and self.chance.random() < 0.5:
            subject = "Fix the build"  # as many others
        decision = self._decision(number) if self.chance.random() < 0.3 else ""
        self._append(repo, path, f"def lock_{number}():\n    {text}\n\n")
        plan.commit = self._commit(repo, subject, f"See {decision}." if decision else "", way)
        self._show(plan, subject, session)
        self._remember(plan)
        if decision:
            plan.memos.append(f"office.{decision.replace('/', '.')}")
            plan.memos.append(self._memo(f"The reasons are in office/{decision}."))
        self._after(way, repo, plan)
        return plan

    def _commit(self, repo: Repo, subject: str, body: str, way: str) -> str:
        at = self._now + dt.timedelta(days=40) if way == "rebased" else self._now
        repo.git("add", "--all")
        message = f"{subject}\n\n{body}"
        repo.git("commit", "--quiet", "-m", message, f"--date={_stamp(self._now)}", at=_stamp(at))
        return repo.head

    def _show(self, plan: Plan, subject: str, session: _Session) -> None:
        """What the session shows of its commit."""
        short, where = plan.commit[: self.chance.randrange(7, 12)], self._place(plan)
        stamp = f"{self._now - dt.timedelta(minutes=1):%-m/%-d/%Y, %-I:%M:%S %p}"
        answer = f"[main {short}] {subject}\n 1 file changed, 3 insertions(+)"
        calls = {
            "said by git": _tool("Bash", stamp, f"git add -A && git commit -q -F -\n{answer}"),
            "command": _tool("Bash", stamp, f'cd {plan.source} && git commit -m "{subject}"'),
            "edit": _tool("Edit", stamp, f"{where}\n+    {plan.text}"),
            "json edit": _tool("Write", stamp, json.dumps({"file_path": where, "content": f"    {plan.text}\n"})),
            "written by a shell": _tool("Bash", stamp, f"cat >> {where} <<'END'\n    {plan.text}\nEND"),
            "amended": _tool("Bash", stamp, f"git commit -am wip\n[main 0dd{self._number:05d}] {subject}"),
            "only named": f"The last commit on main is {short}.",
        }
        kinds = {"indented anew": "said by git", "moved": "command", "rebased": "command"}
        said = calls.get(kinds.get(plan.way, plan.way))
        if said is None:
            return
        session.turns.append(f"I will see to it.\n\n{said}\n\nDone.")
        if plan.way in WAYS:
            plan.session = session.name

    def _place(self, plan: Plan) -> str:
        windows = f"s:\\work\\{plan.source}\\" + plan.path.replace("/", "\\")
        return self.chance.choice((plan.path, f"/home/ann/{plan.source}/{plan.path}", windows))

    def _after(self, way: str, repo: Repo, plan: Plan) -> None:
        """What happened to the line later: others did not write it."""
        file = repo.root / plan.path
        if way == "indented anew":
            file.write_text(file.read_text().replace(f"    {plan.text}", f"        {plan.text}"))
            repo.commit("Indent by eight", at=_stamp(self._now + dt.timedelta(minutes=3)))
        elif way == "moved":
            block = f"def lock_{self._number}():\n    {plan.text}\n\n"
            file.write_text(file.read_text().replace(block, ""))
            plan.path = f"src/moved_{self._number % 3}.py"
            self._append(repo, plan.path, block)
            repo.commit("Move a lock", at=_stamp(self._now + dt.timedelta(minutes=3)))

    def _append(self, repo: Repo, path: str, text: str) -> None:
        file = repo.root / path
        repo.write(path, (file.read_text() if file.exists() else "") + text)

    # Who names it

    def _remember(self, plan: Plan) -> None:
        short = plan.commit[: self.chance.choice((7, 8, 12, 40))]
        if self.chance.random() < 0.6:
            plan.memos.append(self._memo(self.chance.choice((f"It is in `{short}`.", f"Merged as {short}, at last."))))
        if self.chance.random() < 0.3:  # of no chain: another commit, and a word that is none
            self._memo(f"Not {short[:6]}, and not {'f' * 7}; {plan.commit[1:9]} is no commit.")
        if self.chance.random() < 0.3:
            name = plan.path.rpartition("/")[2]
            self._memo(f"The old copy is in attic/{name}, and in {plan.path}.orig.")

    def _name_files(self) -> None:
        """Memos that name files; the path that is in both repos names neither of them."""
        self._memo("Look at src/shared.py, and at part_1.py.")
        for source, path in sorted({(plan.source, plan.path) for plan in self.plans}):
            if self.chance.random() < 0.4:
                name = self._memo(f"Look at {source}/{path}, and at line 3.")
                for plan in self.plans:
                    plan.memos += [name] if (plan.source, plan.path) == (source, path) else []

    def _memo(self, body: str) -> str:
        self._memos += 1
        sent = self._now + dt.timedelta(minutes=5)
        name = f"{sent:%Y-%m-%d-%H%M}--engineer--director--word-{self._memos}"
        send(self._office.root / "memos/inbox", name, subject="A word", body=body)
        return name

    def _decision(self, number: int) -> str:
        path = f"decisions/2026-03-01-lock-{number}.md"
        self._office.write(path, f"# Lock {number}\n\nStatus: accepted\n\nIt has to be raised.\n")
        return path

    # Sessions beside it

    def _watching(self, plan: Plan) -> list[str]:
        """What another session prints at the same time, and makes none of."""
        short, stamp = plan.commit[:7], f"{self._now:%-m/%-d/%Y, %-I:%M:%S %p}"
        shown = (
            _tool("Bash", stamp, f"git log --oneline -3\n{short} A commit of somebody else"),
            _tool("Bash", stamp, f"cat {plan.source}/{plan.path}\n    {plan.text}"),
            _tool("Read", stamp, f"{plan.path}\n    {plan.text}"),
            f"Somebody committed {short} just now.",
        )
        return [f"Let me look.\n\n{one}" for one in self.chance.sample(shown, self.chance.randrange(0, 3))]

    def _later(self, session: _Session) -> None:
        """A session that looks at the same commits a day later."""
        later = session.begin + dt.timedelta(days=1, minutes=7)
        new = _Session(name=f"{later:%Y-%m-%d-%H%M}--director--later", begin=later, turns=session.turns or ["Nothing."])
        self._write(new, is_stamped=False)

    def _write(self, session: _Session, *, is_stamped: bool) -> None:
        end = session.begin + dt.timedelta(hours=2)
        parts = []
        for number, turn in enumerate(session.turns):
            at = session.begin + dt.timedelta(minutes=number)
            stamp = f"{at:%-m/%-d/%Y, %-I:%M:%S %p}"
            stamped = f"---\n\n## 🤖 Assistant *(a-model)* <sub>{stamp}</sub>"
            parts.append(f"{stamped if is_stamped else '## Assistant'}\n\n{turn}\n")
        write_transcript(
            self._office.root / "transcripts/engineer", session.name, text="\n".join(parts),
            started=f"{session.begin:%Y-%m-%dT%H:%M:%SZ}", ended=f"{end:%Y-%m-%dT%H:%M:%SZ}",
        )  # fmt: skip


def _tool(name: str, stamp: str, text: str) -> str:
    lines = "\n".join(f"> {line}" if line else ">" for line in ("```", *text.split("\n"), "```"))
    return f"> **🔧 {name}** <sub>{stamp}</sub>\n{lines}"


def _stamp(moment: dt.datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
