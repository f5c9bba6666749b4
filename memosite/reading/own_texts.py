"""[I/O] Refuses a configuration that holds a secret: its texts are on every page, and errors quote them (SPEC 9)."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memosite.config.schema import Config
from memosite.facts.errors import ConfigError
from memosite.facts.file import File
from memosite.facts.layout import CONFIG_NAME
from memosite.reading.screen import Screen
from memosite.secrets import RULES
from memosite.store.safe_files import read_file


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTexts:
    """The configuration's file, and names that may be those of folders: the title, the sources."""

    file: Path | None = None
    names: tuple[str, ...] = ()


def own_texts(config: Config) -> OwnTexts:
    """The texts of a configuration."""
    return OwnTexts(file=config.file, names=(config.title, *(source.name for source in config.sources)))


def refuse_secrets(texts: OwnTexts, screen: Screen) -> None:
    """Raise `ConfigError` if there is a secret in memosite.yml that it does not allow, or in the name of a folder."""
    data = b""
    if texts.file is not None:
        with suppress(OSError):  # it was there when the configuration was read
            data = read_file(texts.file.resolve())
    for hit in screen.file(File(source="", path=CONFIG_NAME, data=data)).hits:
        if not hit.is_allowed:
            kind = RULES.get(hit.rule, hit.rule)
            advice = f"rotate it and remove it, or allow its fingerprint {hit.fingerprint} in secrets.allow"
            raise ConfigError(f"{texts.file}:{hit.line}: found a secret ({kind}), expected none; {advice}")
    hidden = screen.names(name for name in texts.names if name.encode("utf-8", "surrogateescape") not in data)
    if hidden:
        shown = ", ".join(sorted(hidden.values()))
        raise ConfigError(f"{shown}: found a secret in this name, expected none; rotate it and rename the folder")
