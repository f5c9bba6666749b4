"""Print the barcodes of an item file whose check digit is wrong.

Use: python check_barcodes.py items.csv
"""

import csv
import sys
from pathlib import Path


def check_digit(first_thirteen: str) -> int:
    """Give the last digit of a fourteen-digit library barcode: every other digit doubled, sum to ten."""
    doubled = (int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(first_thirteen))
    return -sum(number - 9 if number > 9 else number for number in doubled) % 10


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            code = row["barcode"]
            if len(code) != 14 or not code.isdigit() or int(code[-1]) != check_digit(code[:-1]):
                print(code, row["shelf"], row["title"], sep="\t")
