"""What a decision's head says, read a second time and naively: one line, one clause, one word after another.

Written from the contract (2.2, documents) alone. It knows no Markdown, and none of memosite's code.
"""

import re

DATE = r"\d{4}-\d\d-\d\d"
BY = {
    "decided by", "decider", "deciders", "decision maker", "decision makers", "decided-by", "ratified by",
    "approved by", "accepted by", "adopted by", "approver", "approvers",
}  # fmt: skip
ON = {
    "decided", "ratified", "approved", "accepted", "adopted", "decided on", "decision date", "ratified on",
    "approved on", "accepted on", "date decided", "approved date", "date accepted", "date approved",
}  # fmt: skip
STATUS = ("disposition", "status")
NEGATIONS = {"no", "not", "was", "were", "until", "formerly", "previously", "longer", "after", "without", "nothing"}
OUTCOMES = {
    "pending": "proposed proposal draft drafted pending awaiting open filed submitted review wip recommended",
    "accepted": "accept accepts accepted approve approved ratified adopted active decided agreed binding",
    "rejected": "reject rejected withdrawn declined refused abandoned denied",
    "superseded": "superseded supersedes deprecated stale obsolete replaced retired",
}
OCCASIONS = {"session", "review", "meeting", "call", "vote", "chat", "directive", "recorded", "merge", "same", "items"}


def plain(text: str) -> str:
    """The text without marks of Markdown; links keep their words."""
    return re.sub(r"[*_`~]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)).strip()


def fields(text: str) -> list[tuple[str, str]]:
    """Label and value of each field before the first section: frontmatter, lines, bullets, quotes, tables."""
    found: list[tuple[str, str]] = []
    columns: list[str] = []
    for line in text.lstrip("\ufeff").split("\n")[:60]:
        if re.match(r"\s{0,3}##+ ", line):
            break
        row = line.strip().lstrip(">").strip()
        if row.startswith("|"):
            cells = [plain(cell) for cell in row.strip("|").split("|")]
            if set("".join(cells)) <= set("-: "):
                continue
            if not columns:
                columns = cells
            elif len(columns) > 2 and len(cells) == len(columns):
                found += list(zip([name.lower() for name in columns], cells, strict=True))
            if len(cells) == 2:
                found.append((cells[0].lower().rstrip(":"), cells[1]))
            continue
        for part in re.split(r" · | \| (?=\*\*)", row):
            match = re.match(r"(?:[-*+] )?\**([A-Za-z][A-Za-z _-]{0,24})\**:\**\s*(.+)", part)
            if match:
                found.append((plain(re.sub("[-_]", " ", match[1])).lower(), plain(match[2])))
    return found


def clauses(status: str) -> list[str]:
    """The parts of a status between its marks."""
    return [clause.strip().lower() for clause in re.split(r"[;.,()\[\]—–]| - ", status) if clause.strip()]


def standing(status: str) -> str:
    """`pending`, `accepted`, `rejected`, `superseded`, or `unclear`."""
    verdict = ""
    for clause in clauses(status):
        words = re.findall(r"[a-z]+", clause)
        for word in words:
            for outcome, known in OUTCOMES.items():
                if not verdict and word in known.split() and not set(words) & {"not", "no", "un"}:
                    verdict = outcome
    waits = any(
        re.search(
            r"\bawait|\bsubject to\b|\bpending (?:\w+ ){0,3}(?:ratif|approv|review|sign|confirm|decision)", clause
        )
        and not set(re.findall(r"[a-z]+", clause)) & NEGATIONS
        for clause in clauses(status)
    )
    if waits and verdict in ("", "accepted"):
        return "pending"
    return verdict or "unclear"


def decided(text: str) -> tuple[tuple[str, ...], str]:
    """Who decided, and the day: both empty where nobody says so."""
    names: list[str] = []
    day = ""
    for label, value in fields(text):
        if re.match(r"(?i)(drafted|proposed|pending|tbd)\b", value):
            continue
        date = re.search(DATE, value)
        if label in ON:
            day = day or (date[0] if date else "")
            by = re.search(rf"{DATE},? by ((?:the )?[\w@-]+(?: [A-Z][\w-]+)?)", value)
            of = re.search(rf"{DATE} \(([^)#;:,\d]+)\)", value)
            if by:
                names.append(by[1])
            elif of and not OCCASIONS & set(of[1].lower().split()):
                names.append(of[1].strip())
        if label in BY:
            day = day or (date[0] if date else "")
            parts = re.split(r",| and | \+ |&|\bunder\b", re.sub(r"\(.*?\)", "", value.strip("[]")))
            names += [name.strip(" .\"'") for name in parts if name.strip() and not re.search(r"\d", name)]
    return tuple(dict.fromkeys(names)), day
