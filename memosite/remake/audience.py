"""Who looks at a site while it is built."""


class Audience:
    """Told what is there. This one is nobody."""

    def output_written(self, path: str) -> None:
        """An output is new; what is made with it, or comes before that in the order of units, is there."""

    def all_written(self) -> None:
        """All that people look at is there, and some of it is new; what only programs read comes after."""


NOBODY = Audience()
