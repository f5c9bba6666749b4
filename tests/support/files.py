"""Writes the files of tests."""

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
"""The folder of the project."""


def write_json(path: Path, value: object) -> Path:
    """Write a value as a JSON file, with the folders it lies in."""
    return write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> Path:
    """Write a text file, with the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def fill(folder: Path, *paths: str) -> Path:
    """Write files that hold an empty JSON object, for tests to which only the paths matter; give the folder."""
    for path in paths:
        write_text(folder / path, "{}")
    return folder
