"""The structure that ARCHITECTURE.md promises, held by reading the code: who may import whom, and who touches what.

Each rule is a function from the code to what breaks it, so that a planted fault shows that the rule can fail.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "memosite"
CODE = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
"""The source of every module by its path below the package."""

MODULES = {f"memosite.{path[:-3].replace('/', '.')}".removesuffix(".__init__"): path for path in CODE}
"""The path of every module by its full name."""

ORDER = tuple(re.findall(r"^\| `(\w+)` \|", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.MULTILINE))
"""The packages, and the modules at the top level, from top to bottom: the one place that states the order."""

LIBRARIES: dict[str, str | tuple[str, ...]] = {
    "whoosh": "search/whoosh/", "markdown_it": "markdown/", "mdit_py_plugins": "markdown/", "pygments": "markdown/",
    "pyromark": "markdown/", "lxml": "feeds/", "distributed": "run/cluster.py", "dask": "run/cluster.py",
    "jinja2": "render/", "livereload": "serve.py", "tornado": "serve.py", "kingfisher_sdk": "secrets/",
    "msgspec": ("facts/json_text.py", "facts/values.py", "store/values.py"),
    "fcntl": "store/locks.py", "sqlite3": ("store/state.py", "store/locks.py", "watch/state.py", "reading/kept.py"),
    "shtab": "commands/arguments.py", "mcp": "mcp/server.py", "mcp_types": "mcp/server.py", "anyio": "mcp/server.py",
}  # fmt: skip
"""The one place in which each of these libraries is used."""

ONLY_READING = re.compile(r"memosite\.(resolve|reading\.(reader|source_reader|opening|gate)(\..*)?)")
"""What only `reading/` may import: with these, an archive could be opened in a second way."""

SYSTEM_NAMES = re.compile(r"memory[-_ ]?layer|memory[-_ ]?store|wyren|\bmif(?![a-z])", re.IGNORECASE)
SYSTEM_FOLDERS = ("memory_layer", "memory_store", "mif", "wyren")
REGISTRY = "formats/systems.py"

TOUCHING_MODULES = frozenset(
    {"fcntl", "http.client", "livereload", "mmap", "netrc", "os", "pathlib", "select", "shutil", "signal", "socket"}
    | {"sqlite3", "subprocess", "tempfile", "threading", "time", "tornado", "urllib.request"}
)
"""Modules with which the disk, sockets, processes or the clock are touched."""

NAMING_FOLDERS = frozenset({"arguments.py", "build.py", "schema.py"})
"""Modules that have paths as values, and leave touching them to others."""

TOUCHING_METHODS = frozenset(
    {"open", "read_text", "read_bytes", "write_text", "write_bytes", "exists", "is_file", "is_dir", "is_symlink"}
    | {"iterdir", "rglob", "glob", "unlink", "mkdir", "rmdir", "symlink_to", "hardlink_to", "touch", "stat", "lstat"}
    | {"chmod", "readlink", "expanduser", "cwd", "scandir", "listdir", "now", "today", "utcnow"}
)
"""What touches the disk or the clock by its name alone, as a function or as a method of whatever it is."""

TOUCHING_FUNCTIONS = re.compile(r"os\.(?!path\.|fs|sep)\w+|time\.\w+|Path\.home|random\.\w+|secrets\.\w+")
"""What does by its full name."""

OWN_METHODS = {"build.py": {"memory.open", "output.open"}}
"""By module, calls that only sound like it: methods of modules that say that they touch the disk."""


parsed = cache(ast.parse)


@cache
def imports(source: str) -> frozenset[str]:
    """The full names of everything a module imports, wherever the import is."""
    return frozenset(_imports(source))


def _imports(source: str) -> Iterator[str]:
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            if not names <= MODULES.keys():  # `from memosite.plan import page` takes nothing of the package itself
                yield node.module
            yield from names


def package_of(name: str) -> str:
    """The package, or module at the top level, that a path or a full name belongs to."""
    return name.removeprefix("memosite.").replace("/", ".").removesuffix(".py").partition(".")[0]


def upward_imports(path: str, source: str) -> list[str]:
    """What a module imports from its own level or above, its own package apart."""
    own = package_of(path)
    if own == "__init__":
        return sorted(name for name in imports(source) if name.startswith("memosite"))
    names = {name for name in imports(source) if name.startswith("memosite.")}
    others = {name for name in names if package_of(name) not in {own, "__version__"}}
    return sorted(name for name in others if ORDER.index(package_of(name)) <= ORDER.index(own))


def second_ways(path: str, source: str) -> list[str]:
    """What a module outside of `reading/` uses to open an archive by itself."""
    if path.startswith(("reading/", "resolve/")):
        return []
    return sorted(name for name in imports(source) if ONLY_READING.fullmatch(name))


def misplaced_libraries(path: str, source: str) -> list[str]:
    """The libraries that a module uses outside of their place."""
    tops = {name.partition(".")[0] for name in imports(source)}
    return sorted(top for top in tops & set(LIBRARIES) if not path.startswith(LIBRARIES[top]))


def system_names(path: str, source: str) -> list[str]:
    """The names of record systems in a module outside their folders; the registry has one import and line for each."""
    own = path.split("/")[1] if path.startswith("formats/") and "/" in path.removeprefix("formats/") else ""
    if own in SYSTEM_FOLDERS:
        return []
    lines = source.splitlines()
    if path == REGISTRY:
        registered = r"from memosite\.formats import \w+(, \w+)*|.*\b(\w+)\.SYSTEM\b.*"
        lines = [line for line in lines if not re.fullmatch(registered, line)]
    return [line.strip() for line in lines if SYSTEM_NAMES.search(line)]


def touching(path: str, source: str) -> list[str]:
    """How a module touches the disk, sockets or the clock without saying so in its docstring."""
    tree = parsed(source)
    if (ast.get_docstring(tree) or "").startswith("[I/O]") or path == "cli.py":
        return []
    found = {name for name in imports(source) if {name, name.partition(".")[0]} & TOUCHING_MODULES}
    if path.rpartition("/")[2] in NAMING_FOLDERS:
        found -= {"pathlib", "pathlib.Path"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
            is_touching = called.rpartition(".")[2] in TOUCHING_METHODS or TOUCHING_FUNCTIONS.fullmatch(called)
            if is_touching and called not in OWN_METHODS.get(path, set()):
                found.add(f"line {node.lineno}: {called}()")
    return sorted(found)


def silence(_path: str, source: str) -> list[str]:
    """What a module lacks that does not say what it is for."""
    return ["docstring"] if source.strip() and not ast.get_docstring(parsed(source)) else []


def possessive_groups(_path: str, source: str) -> list[str]:
    """Repeated groups in patterns that give nothing back: Python 3.11.2, Debian's, misreads many of them (gh-106052).

    `(?>(?:ab|c)*)` says the same, and is read well; so is a single character that is repeated. What is put into a
    pattern counts as a group.
    """
    tokens = [token for pattern in _patterns(source) for token in _OF_PATTERN.findall(pattern.replace("%s", "(?:)"))]
    return [token for token in tokens if token.startswith(")")]


def _patterns(source: str) -> Iterator[str]:
    """All strings, those of bytes among them, with a group for what is put into one."""
    parts: set[ast.AST] = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.JoinedStr):
            parts |= set(node.values)
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "(?:)" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and node not in parts:
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


_OF_PATTERN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\)(?:[*+?]|\{[0-9,%d]+\})\+", re.DOTALL)
"""What is escaped, a class of characters, and a group with a quantifier that gives nothing back."""


def patterns_by_identity(_path: str, source: str) -> list[str]:
    """Matches that are told apart by the object of their pattern: `facts/patterns.py` puts another in its place."""
    return re.findall(r"\.re (?:is|==|!=|in)\b.*", source)


RULES = (
    upward_imports, second_ways, misplaced_libraries, system_names, touching, silence, possessive_groups,
    patterns_by_identity,
)  # fmt: skip


def test_modules_keep_the_rules() -> None:
    """No module breaks one."""
    for rule in RULES:
        assert {path: broken for path, source in sorted(CODE.items()) if (broken := rule(path, source))} == {}, rule


def test_the_table_names_every_package_once_and_imports_are_never_circular() -> None:
    """Also those inside functions; tests import from `tests/support` alone."""
    tops = {package_of(path) for path in CODE} - {"__init__"}
    assert sorted(ORDER) == sorted(tops)
    graph = {name: (imports(CODE[path]) & MODULES.keys()) - {name} for name, path in MODULES.items()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")}
    named = {name: imports(text) for name, text in texts.items() if "tests.test_" in text or "tests import" in text}
    assert {name: found for name, names in named.items() if (found := {n for n in names if ".test_" in n})} == {}


def test_planted_faults_are_found() -> None:
    """Each rule can fail."""
    upward = "from memosite.plan.context import Context\n"
    assert upward_imports("pages.py", upward) == ["memosite.plan.context", "memosite.plan.context.Context"]
    assert upward_imports("resolve/x.py", "def f():\n    import memosite.cli\n") == ["memosite.cli"]
    assert upward_imports("plan/home.py", "from memosite.facts import rules\n") == []
    for second in (
        "from memosite.resolve import resolve", "from memosite import resolve", "import memosite.reading.reader as r",
        "from memosite.reading import opening", "from memosite.reading.reader import SourceReader",
    ):  # fmt: skip
        assert second_ways("commands/x.py", second)
    assert second_ways("commands/x.py", "from memosite.reading.archive import open_archive\n") == []
    assert second_ways("plan/x.py", "from memosite.resolve.artifacts import is_unread\n") == []
    assert misplaced_libraries("plan/x.py", "from lxml import etree\n") == ["lxml"]
    assert system_names("plan/x.py", 'if card.system == "memory-store":\n') == ['if card.system == "memory-store":']
    assert system_names(REGISTRY, "from memosite.formats import mif, wyren\n") == []
    assert system_names(REGISTRY, "from memosite.formats.mif import parse\n") != []
    assert touching("plan/x.py", "import datetime as dt\n\ndt.datetime.now()\n") == ["line 3: dt.datetime.now()"]
    assert touching("plan/x.py", 'open("x")\n') == ["line 1: open()"]
    assert touching("plan/x.py", '"""[I/O] Opens x."""\nopen("x")\n') == []
    assert touching("plan/x.py", "import os.path\n") == ["os.path"]
    assert touching("plan/x.py", "from pathlib import Path\n") == ["pathlib", "pathlib.Path"]
    assert touching("config/schema.py", "from pathlib import Path\n") == []
    assert silence("plan/x.py", "x = 1\n") == ["docstring"] and silence("plan/__init__.py", "") == []
    for bad in (r"(a|b)*+", r"[)]x(?:a){2,}+", r"(?:a\))?+", rb"(?:a)++"):
        assert possessive_groups("plan/x.py", f"re.compile({bad!r})\n"), bad
    assert possessive_groups("plan/x.py", 'f"{WORD}*+"\n') and possessive_groups("plan/x.py", '"%s{1,4}+" % WORD\n')
    for good in (r"[^)]*+a++\)*+", r"[])]*+(?>(?:a|b)*)", rb"(a)+"):
        assert possessive_groups("plan/x.py", f"re.compile({good!r})\n") == [], good
    assert possessive_groups("plan/x.py", 'f"[{SIGNS}]*+"\n') == []
    assert patterns_by_identity("plan/x.py", "x = 1 if found.re is _X else 2\n")
    assert patterns_by_identity("plan/x.py", "x = found.re.pattern == _X.pattern\n") == []
