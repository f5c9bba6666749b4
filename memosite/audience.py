"""Who looks at a site while it is built."""


class Audience:
    """Told what is there. This one is nobody."""

    def output_written(self, path: str) -> None:
        """An output is new, and so is everything that comes before it in the order of units."""

    def all_written(self) -> None:
        """All that people look at is there, and some of it is new; what only programs read comes after."""


NOBODY = Audience()
