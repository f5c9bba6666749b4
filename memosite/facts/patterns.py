"""Regular expressions that are compiled when they are first used.

There are hundreds, and compiling all of them takes a third of a start. A match names the real one, so they are compared
by their text: `match.re.pattern == _X.pattern`.
"""

import re
from typing import TYPE_CHECKING, Any, AnyStr, Final

_METHODS: Final = (
    "match",
    "fullmatch",
    "search",
    "sub",
    "subn",
    "split",
    "findall",
    "finditer",
    "groups",
    "groupindex",
)


class _Later:
    """Stands for a regular expression; once it is compiled, it has its methods."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(f"a regular expression has no {name} here")
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__ |= {each: getattr(compiled, each) for each in _METHODS}
        return self.__dict__[name]


if TYPE_CHECKING:

    def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
        """A regular expression that is compiled when it is first used."""
else:
    regex = _Later
