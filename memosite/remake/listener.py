"""The interface that is notified of written files during a build: the live preview uses it to reload browsers early."""


class Listener:
    """Is called while a site is built. This one does nothing; subclasses override it."""

    def output_written(self, path: str) -> None:
        """An output is new; its unit's other outputs, and those of all units before it, are written."""

    def all_written(self) -> None:
        """All pages for people are written, and some are new; what only programs read comes after."""


NO_LISTENER = Listener()
