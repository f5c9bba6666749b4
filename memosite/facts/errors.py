"""Exceptions for problems with the environment, which stop a command.

Problems with content are findings (see `findings`), never exceptions. These are caught once, in `cli`,
printed as one line (`SecretsError` as several), and end the command with exit code 2.
"""


class MemositeError(Exception):
    """A problem with the environment that the user has to fix; the text says where and how."""


class ConfigError(MemositeError):
    """The configuration or the command line asks for something that cannot be done."""


class SourceError(MemositeError):
    """A source cannot be read at all: missing, not a folder, no permission."""


class SecretsError(MemositeError):
    """Secrets were found, and nothing is to be published then; ends the command with exit code 1.

    `places` are where, `audience` for whom was read, "" if the site has one output.
    """

    def __init__(self, places: tuple[str, ...], audience: str = "") -> None:
        """The text names no place: it is one line."""
        count = f"{len(places)} file{' holds' if len(places) == 1 else 's hold'} a secret"
        self.said = f"secrets: nothing is published while {count}"
        super().__init__(f"{self.said}; memosite check names {'it' if len(places) == 1 else 'them'}")
        self.places = places
        self.audience = audience


class MovedError(SourceError):
    """A file was moved or removed while its source was read: reading again helps."""


class OutputError(MemositeError):
    """The output folder cannot be written, or must not be."""


class StateError(MemositeError):
    """A watch's saved state cannot be read or written, or another watch has locked it."""


class BusyError(OutputError):
    """Another build is writing to the output folder: trying again later helps."""


class ClusterError(MemositeError):
    """The machines that a build was to use cannot be reached, are gone, or run something else."""
