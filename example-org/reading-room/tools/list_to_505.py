"""Turn the typed list of an album into one field 505.

Use: python list_to_505.py lists/album-07.txt
"""

import sys
from pathlib import Path


def field(text: str) -> str:
    """One line a picture, numbered from 1; a line that begins with "-" is a note of Ines's and stays out."""
    lines = (line.strip() for line in text.splitlines())
    pictures = [line for line in lines if line and not line.startswith("-")]
    return "=505  0\\$a" + " -- ".join(f"{number}. {caption}" for number, caption in enumerate(pictures, 1))


if __name__ == "__main__":
    print(field(Path(sys.argv[1]).read_text(encoding="utf-8")))
