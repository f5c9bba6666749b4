"""[I/O] Loads the contract, the files of docs/spec, which each built site publishes.

The folder is beside the package in a checkout and inside it once installed.
"""

from dataclasses import dataclass
from pathlib import Path

import memosite
from memosite.facts.errors import ConfigError

__all__ = ["Contract", "contract_folder", "load_contract"]

_PACKAGE = Path(memosite.__file__).parent
_MAIN = "memosite.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The contract as Markdown: the main part, that of feeds, and the guide to both (README.md)."""

    main: str
    feeds: str
    guide: str


def contract_folder(package: Path = _PACKAGE) -> Path:
    """The folder that holds the files. Raises `ConfigError` if there is none."""
    for folder in (package / "docs" / "spec", package.parent / "docs" / "spec"):
        if (folder / _MAIN).is_file():
            return folder
    raise ConfigError(f"the contract is missing in {package}: install memosite again")


def load_contract(package: Path = _PACKAGE) -> Contract:
    """The files as they are. Raises `ConfigError` for one that cannot be read."""
    folder = contract_folder(package)
    return Contract(main=_text(folder / _MAIN), feeds=_text(folder / "feeds.md"), guide=_text(folder / "README.md"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the contract: {path} cannot be read: install memosite again") from error
