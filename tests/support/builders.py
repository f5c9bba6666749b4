"""Ways to build a site again, the site that a clean build makes, and how the two differ."""

import datetime as dt
import difflib
import errno
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from memosite.archive.ledger import LEDGER_PATH
from memosite.archive.seals import SEALS_PATH
from memosite.build import build
from memosite.config.loading import load_config
from memosite.config.schema import Audience
from memosite.facts.errors import MemositeError
from memosite.facts.layout import SITE_MARKER
from tests.support.disk import Disk
from tests.support.edits import edit
from tests.support.files import ROOT
from tests.support.organization import Organization
from tests.support.staying import MADE, Staying

STATUS = "status.json"
Tree = Mapping[str, bytes]
"""The files of a site by their paths, links by where they lead, and folders, with a slash at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a site is built: by a process that `stays`, or by one that ends, in `jobs` processes."""

    stays: bool = False
    is_told: bool = False
    """Whether the process that stays is told which paths have changed."""
    jobs: int = 1
    has_other_cache: bool = False
    continues: bool = False
    """Whether the output folder is new, and the published site is elsewhere (`--previous`)."""


WAYS = {
    "by a process that ends": Way(),
    "by two processes that end": Way(jobs=2),
    "with another cache": Way(has_other_cache=True),
    "by the process that stays": Way(stays=True),
    "by the process that stays, told what changed": Way(stays=True, is_told=True),
    "into a new folder, from the previous one": Way(continues=True),
}


class Builder:
    """Builds the site of an organization in any way."""

    def __init__(self, org: Organization, staying: Staying) -> None:
        self.org = org
        self._staying = staying
        self._seen: dict[str, tuple[int, ...]] = {}

    def audiences(self, way: Way) -> list[tuple[Audience, Path]]:
        """For whom a build of this kind builds, and where to. Raises `MemositeError` as a build would."""
        config = load_config(self.org.folder)
        if way.stays or len(config.outputs) < 2:
            return [(config.audience, config.output)]
        return list(config.outputs.items())

    def build_all(self, way: Way) -> None:
        """Build for all audiences. Raises `MemositeError`."""
        for audience, _ in self.audiences(way):
            self.build(way, audience)

    def build(self, way: Way, audience: Audience) -> set[str]:
        """Build for one audience, and give the stages that the build went through. Raises `MemositeError`."""
        cache = self.org.other_cache if way.has_other_cache else None
        config = load_config(self.org.folder, cache=cache, audience=audience)
        stages: set[str] = set()

        def note(stage: str, _done: int, _total: int) -> None:
            stages.add(stage)

        with _clock(self.org.clock_jump):
            if way.stays:
                self._staying.build(config, changed=self._changed() if way.is_told else None, progress=note)
                self._seen = _states(self.org.folder)
            else:
                previous = self._moved_away(config.output) if way.continues else None
                build(config, clock=_now, jobs=way.jobs, previous=previous, progress=note)
        return stages

    def _changed(self) -> list[str] | None:
        """The paths that have changed since the process that stays has built, if it has."""
        if not self._seen:
            return None
        now = _states(self.org.folder)
        both = now.keys() | self._seen.keys()
        return sorted(path for path in both if now.get(path) != self._seen.get(path)) or None

    def _moved_away(self, output: Path) -> str | None:
        if not (output / SITE_MARKER).exists():
            return None
        kept = self.org.folder.parent / f"{self.org.folder.name}-previous"
        shutil.rmtree(kept, ignore_errors=True)
        output.rename(kept)
        self.org.foreign = {path: data for path, data in self.org.foreign.items() if output not in path.parents}
        return str(kept)


def _now() -> dt.datetime:
    return dt.datetime.fromtimestamp(time.time(), dt.UTC)


@contextmanager
def _clock(jump: int) -> Iterator[None]:
    """A block in which the machine's clock is so many seconds ahead."""
    real, real_ns = time.time, time.time_ns
    with pytest.MonkeyPatch.context() as patched:
        if jump:
            patched.setattr(time, "time", lambda: real() + jump)
            patched.setattr(time, "time_ns", lambda: real_ns() + jump * 1_000_000_000)
        yield


def _states(folder: Path) -> dict[str, tuple[int, ...]]:
    """The states of all files of a site folder, but for what builds write."""
    found: dict[str, tuple[int, ...]] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in {"_site", "_public", ".memosite"}]
        for path in (f"{place}/{name}" for name in (*names, *folders)):
            state = os.lstat(path)
            is_folder = stat.S_ISDIR(state.st_mode)
            found[path] = (0,) if is_folder else (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
    return found


# The clean build, and the comparison


def published(folder: Path) -> dict[str, bytes]:
    """All that is in an output folder, but for the one file with a clock."""
    found = {}
    for place, folders, names in os.walk(folder):
        for name in (*names, *folders):
            path = Path(place, name)
            key = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[key] = f"a link to {path.readlink()}".encode()
            elif path.is_dir():
                found[f"{key}/"] = b""
            elif key != STATUS:
                found[key] = path.read_bytes()
    return found


def held_in(file: Path) -> bytes:
    """What a ledger or a sealed log holds; nothing if there is none."""
    return file.read_bytes() if file.exists() else b""


def make_ready(folder: Path, output: Path, *, has_erased: bool) -> None:
    """Make the folder of a clean build: nothing is known but ledger and sealed log of an output folder, as they are.

    Twins are known too where something is erased: which hashes were published is in no other place (SPEC 9).
    """
    shutil.rmtree(folder, ignore_errors=True)
    known = [LEDGER_PATH, SEALS_PATH, SITE_MARKER]
    known += [path.relative_to(output).as_posix() for path in output.rglob("index.json")] if has_erased else []
    for path in known:
        if (output / path).is_file():
            (folder / "out" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(output / path, folder / "out" / path)
    if not (folder / "out" / SITE_MARKER).exists():
        shutil.rmtree(folder, ignore_errors=True)


def clean_build(org: Organization, folder: Path, audience: Audience) -> dict[str, bytes]:
    """What a clean build makes in a folder that is ready. Raises `MemositeError`."""
    config = load_config(org.folder, output=folder / "out", cache=folder / "cache", audience=audience)
    build(config, clock=_now, jobs=1)
    return published(folder / "out")


def difference(found: Tree, clean: Tree, ignored: set[str]) -> str:
    """How a site differs from that of a clean build, in some lines; "" if it does not."""
    wrong = [path for path in sorted({*found, *clean} - ignored) if found.get(path) != clean.get(path)]
    if not wrong:
        return ""
    lines = [f"{len(wrong)} wrong of {len(clean)}: {', '.join(wrong[:20])}"]
    for path in wrong[:4]:
        if path not in clean or path not in found:
            lines.append(f"--- {path}: {'too many' if path in found else 'missing'}")
            continue
        first, second = (side[path].decode("utf-8", "replace").splitlines() for side in (clean, found))
        shown = difflib.unified_diff(first, second, f"clean/{path}", f"found/{path}", lineterm="", n=1)
        lines += [line[:300] for _, line in zip(range(14), shown, strict=False)]
    return "\n".join(lines)


def fault_of_build(builder: Builder, way: Way, clean: Path) -> str:
    """Build, and say in what the outcome is not that of a clean build with the same ledger; "" if it is right."""
    try:
        audiences = builder.audiences(way)
    except MemositeError as error:
        return _fault_of_refusal(builder, way, error)
    return "\n".join(filter(None, (_fault(builder, way, clean, *one) for one in audiences)))


def _fault_of_refusal(builder: Builder, way: Way, expected: MemositeError) -> str:
    try:
        builder.build(way, "internal")
    except MemositeError as error:
        return "" if type(error) is type(expected) else f"refused with {error!r}, expected {expected!r}"
    return f"built, although {expected!r}"


def _fault(builder: Builder, way: Way, clean: Path, audience: Audience, output: Path) -> str:
    org, before, sealed = builder.org, held_in(output / LEDGER_PATH), held_in(output / SEALS_PATH)
    make_ready(clean, output, has_erased=bool(org.settings.get("erase")))
    failed: MemositeError | None = None
    try:
        builder.build(way, audience)
    except MemositeError as error:
        failed = error
    try:
        expected = clean_build(org, clean, audience)
    except MemositeError as error:
        return "" if type(failed) is type(error) else f"a clean build fails: {error!r}; this one: {failed!r}"
    if failed is not None:
        return f"{failed!r}; a clean build does not fail"
    fault = _fault_of_output(org, output, expected)
    if not fault and audience == "internal" and not held_in(output / LEDGER_PATH).startswith(before):
        fault = "the ledger is not what it was with lines after it"
    now = held_in(output / SEALS_PATH)
    if not fault and audience == "internal" and before and not now.startswith(sealed) and b'"not kept"' not in now:
        fault = "the sealed log is not what it was with lines after it, and no hash was taken out"
    return f"{audience}: {fault}" if fault else _fault_of_again(builder, way, audience, output)


def _fault_of_output(org: Organization, output: Path, expected: Tree) -> str:
    foreign = {path: data for path, data in org.foreign.items() if output in path.parents}
    lost = [str(path) for path, data in foreign.items() if not path.exists() or path.read_bytes() != data]
    if lost:
        return f"files of somebody else are gone: {lost}"
    theirs = {path.relative_to(output).as_posix() for path in foreign}
    above = {f"{place.as_posix()}/" for path in theirs for place in Path(path).parents}
    return difference(published(output), expected, theirs | (above - set(expected)))


def _fault_of_again(builder: Builder, way: Way, audience: Audience, output: Path) -> str:
    """Build again though nothing has changed: that is seen, and no file is touched."""
    way = Way(stays=way.stays, jobs=way.jobs, has_other_cache=way.has_other_cache)
    before = _file_states(output)
    try:
        stages = builder.build(way, audience)
    except MemositeError as error:
        return f"built again: {error!r}"
    touched = sorted(path for path, state in _file_states(output).items() if before.get(path) != state)
    if touched:
        return f"built again, nothing has changed, but written are {touched[:9]}"
    is_remembered = way.stays or way.has_other_cache or (builder.org.folder / ".memosite").is_dir()
    made = sorted(stages & MADE) if is_remembered else []
    return f"built again, and nothing has changed, but it went through {made}" if made else ""


def _file_states(output: Path) -> dict[str, tuple[int, int]]:
    found = {path.relative_to(output).as_posix(): path.lstat() for path in output.rglob("*") if not path.is_dir()}
    return {path: (state.st_mtime_ns, state.st_ino) for path, state in found.items() if path != STATUS}


# Builds that do not come to their end, and builds of somebody else: edits like any other


def _command(org: Organization, *options: str, program: Path = ROOT) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "memosite", "build", str(org.folder), "--quiet", *options]
    environment = {**os.environ, "PYTHONPATH": str(program)}
    return subprocess.Popen(
        words, cwd=org.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def _end(org: Organization, rng: random.Random, number: signal.Signals) -> str:
    with _command(org, "--jobs", str(rng.randint(1, 2))) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.4, 3.0))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        return f"after it ended with {process.returncode}" if process.returncode is not None else number.name


@edit(2)
def kill_build(org: Organization, rng: random.Random) -> str:
    """A build is killed at any moment."""
    return _end(org, rng, signal.SIGKILL)


@edit(1)
def terminate_build(org: Organization, rng: random.Random) -> str:
    """A build is asked to end at any moment."""
    return _end(org, rng, signal.SIGTERM)


@edit(2)
def fail_disk(org: Organization, rng: random.Random) -> str:
    """The disk of the output, or of the cache too, is full or fails from some write on."""
    step = int(rng.expovariate(1 / 60))
    code = rng.choice((errno.ENOSPC, errno.EIO, errno.EROFS))
    root = rng.choice((org.folder / "_site", org.folder / ".memosite", org.folder))
    disk = Disk(root, failing_at=step, error=OSError(code, os.strerror(code), "a file"))
    try:
        with disk.watched():
            build(load_config(org.folder), clock=_now, jobs=1)
    except (MemositeError, OSError) as error:
        return f"{errno.errorcode[code]} at {step} below {root.name}: {type(error).__name__}"
    return f"{errno.errorcode[code]} at {step} below {root.name}, which the build survived"


@edit(1)
def build_by_other_program(org: Organization, rng: random.Random) -> str:
    """Another version of memosite builds, with the same cache."""
    program = org.folder.parent / f"{org.folder.name}-program"
    if not program.exists():
        for name in ("memosite", "templates", "static", "docs/spec"):
            shutil.copytree(ROOT / name, program / name, ignore=shutil.ignore_patterns("__pycache__"))
    page = program / "templates/404.html"
    page.write_text(page.read_text().replace("</h1>", f" {rng.randint(0, 9)}</h1>"))
    (program / "memosite/facts/errors.py").touch()
    with _command(org, "--jobs", "1", program=program) as process:
        process.wait()
    return f"which ended with {process.returncode}"
