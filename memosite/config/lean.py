"""Checks that a site stays lean, or stays as it is: addresses that were published have to answer for ever (SPEC 4)."""

from memosite.archive.ledger import LEDGER_PATH, Ledger
from memosite.config.schema import Config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.layout import CONFIG_NAME

_ANEW = "to change it, publish to an empty folder at another address"


def check_lean(config: Config, ledger: Ledger) -> None:
    """Raise a `ConfigError` if the site of this `ledger` was published in the other way."""
    if not ledger.arrivals or config.lean == ledger.is_lean:
        return
    file = printable(str(config.file or config.site / CONFIG_NAME))
    place = f"{file}:{config.lean_line}" if config.lean_line else file
    number = len(ledger.arrivals)
    if config.lean:
        raise ConfigError(
            f"{place}: lean: found true, expected false: the ledger of this site ({LEDGER_PATH}) has published JSON, "
            f"Markdown and originals of {number} items at addresses of their own, which have to answer for ever; "
            "remove the line, or, if nobody was given this site, remove the folder "
            f"{printable(str(config.output))}; {_ANEW}"
        )
    raise ConfigError(
        f"{place}: lean: found {'false' if config.lean_line else 'nothing'}, expected true: the ledger of this site "
        f"({LEDGER_PATH}) has published JSON, Markdown and originals of {number} items in bundles, whose addresses "
        f"have to answer for ever; write lean: true; {_ANEW}"
    )
