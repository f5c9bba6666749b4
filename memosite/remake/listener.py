"""Who is told, while a site is built, what of it is written: the live preview, so that browsers reload early."""


class Listener:
    """Is called while a site is built. This one does nothing with it: subclasses do."""

    def output_written(self, path: str) -> None:
        """An output is new; what is made with it, or comes before that in the order of units, is there."""

    def all_written(self) -> None:
        """All that people look at is there, and some of it is new; what only programs read comes after."""


NO_LISTENER = Listener()
