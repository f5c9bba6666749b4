"""Reads the lock files, requirements/*.txt, and pyproject.toml, which they have to satisfy."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.files import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN = (ROOT / "requirements/run.txt").read_text(encoding="utf-8")
DEV = (ROOT / "requirements/dev.txt").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A package of a lock file: the one version that is installed where the marker holds, and its files' hashes."""

    requirement: Requirement
    hashes: frozenset[str]

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return str(self.requirement.specifier).removeprefix("==")


def pins(lock: str) -> list[Pin]:
    """The packages of a lock file."""
    lines = re.sub(r"^\s*#.*\n", "", lock, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    parts = [line.split(" --hash=") for line in lines if line.strip()]
    return [Pin(requirement=Requirement(what), hashes=frozenset(map(str.strip, hashes))) for what, *hashes in parts]


HERE = {name: str(value) for name, value in default_environment().items()}
"""What markers ask of this system and Python."""
EVERYWHERE = [
    HERE | {"python_version": python, "python_full_version": f"{python}.1"} | system
    for python in ("3.11", "3.12", "3.13", "3.14", "3.15")
    for system in (
        {"sys_platform": "linux", "platform_system": "Linux"},
        {"sys_platform": "darwin", "platform_system": "Darwin"},
    )
]
"""Likewise of systems and versions of Python that memosite runs on."""


def applies(requirement: Requirement, environment: Mapping[str, str]) -> bool:
    """Whether a requirement is one in an environment, without extras."""
    return requirement.marker is None or requirement.marker.evaluate({**environment, "extra": ""})


def unsatisfied(needed: Sequence[str], lock: str, where: Sequence[Mapping[str, str]] = EVERYWHERE) -> list[str]:
    """The requirements that a lock file does not satisfy in some environment."""
    locked, found = pins(lock), set()
    for environment in where:
        here = [pin for pin in locked if applies(pin.requirement, environment)]
        versions = {canonicalize_name(pin.requirement.name): pin.version for pin in here}
        for requirement in map(Requirement, needed):
            version = versions.get(canonicalize_name(requirement.name))
            is_met = version is not None and requirement.specifier.contains(version, prereleases=True)
            if applies(requirement, environment) and not is_met:
                found.add(f"{requirement}: locked is {version}")
    return sorted(found)


def unlocked(lock: str) -> list[str]:
    """The packages of a lock file without one version and a hash of SHA-256."""
    hash_ = re.compile(r"sha256:[0-9a-f]{64}")
    return [
        pin.requirement.name
        for pin in pins(lock)
        if not re.fullmatch(r"==[^*,]+", str(pin.requirement.specifier))
        or not pin.hashes
        or not all(map(hash_.fullmatch, pin.hashes))
    ]
