"""The house rules that a reader of the code relies on, held by reading the code."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "memosite"
MODULES = sorted(PACKAGE.rglob("*.py"))
TOUCHING = {
    "os",
    "pathlib",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "time",
    "urllib.request",
    "livereload",
    "tornado",
    "sqlite3",
    "signal",
    "threading",
    "fcntl",
    "http.client",
    "netrc",
}
"""Modules with which disk, sockets or the clock are touched."""
PATH_AS_A_VALUE = {"arguments.py", "cli.py", "build.py", "schema.py"}
"""They name folders with pathlib, and leave touching them to others."""


def imported(module: Path) -> set[str]:
    """The names of everything a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def docstring(module: Path) -> str:
    """A module's docstring."""
    return ast.get_docstring(ast.parse(module.read_text())) or ""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_marked_modules_touch_disk_sockets_or_the_clock(module: Path) -> None:
    """A module whose docstring does not begin with [I/O] imports nothing to do so with."""
    if docstring(module).startswith("[I/O]") or module.name == "cli.py":
        return
    touching = {name for name in imported(module) if name in TOUCHING or name.split(".")[0] in TOUCHING}
    if module.name in PATH_AS_A_VALUE:
        touching -= {"pathlib", "pathlib.Path"}
    assert not touching


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_modules_are_small_and_say_what_they_are_for(module: Path) -> None:
    """Over 400 lines a module does two things."""
    assert len(module.read_text().splitlines()) <= 400
    assert docstring(module) or not module.read_text().strip()


def test_imports_are_never_circular() -> None:
    """A module imports what stands below it; what is imported inside a function counts, too."""
    names = {
        module: ".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for module in MODULES
    }
    graph = {name: (imported(module) & set(names.values())) - {name} for module, name in names.items()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_architecture_names_every_package() -> None:
    """The table of packages has a row for each package, and each module at the top level."""
    architecture = (PACKAGE.parent / "ARCHITECTURE.md").read_text()
    packages = {path.stem for path in PACKAGE.glob("*.py") if path.name != "__init__.py"}
    packages |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {package for package in packages if f"| `{package}`" not in architecture} == set()
