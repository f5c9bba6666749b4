"""Sessions stay what they are while their logs grow, are renamed, moved and copied (SPEC 2.2, sessions)."""

from pathlib import Path

from tests.support.chromium import chromium
from tests.support.files import write_text
from tests.support.session_logs import ClaudeLog
from tests.test_serve import serving

KEY = "7a2e91bc-0001-4000-8000-00000000aaaa"


def test_a_new_turn_comes_onto_the_open_page_and_nothing_before_it_moves(tmp_path: Path) -> None:
    """What a reader looks at stays where it is in the window, expanded; half a line at the end is no error."""
    log = ClaudeLog(KEY)
    for number in range(40):
        log.ask(f"Gate {number}?").say(f"Gate {number} is oiled.\n\n" + "It turns. " * 80)
        log.run("Bash", {"command": f"oil {number}"}, "oiled\n" * 30)
    file = log.write(tmp_path / "sessions/a.jsonl")
    write_text(tmp_path / "memosite.yml", "sources:\n  - path: .\n")
    opened = "document.querySelectorAll('main details[open]').length"
    with serving(tmp_path) as (host, _), chromium() as browser:
        browser.open(f"http://{host}/transcripts/2026-05-01-0900--claude-code--{KEY}/")
        browser.wait_for("document.readyState === 'complete'")
        browser.value("document.querySelector('#t42 details').open = true")
        browser.value("document.querySelector('#t41').scrollIntoView(); scrollBy(0, -37)")
        seen = "document.querySelector('#t41').getBoundingClientRect().top"
        top, folds = browser.value(seen), browser.value(opened)
        log.ask("And the last gate?").say("It is oiled, too.")
        with file.open("a", encoding="utf-8") as growing:
            growing.write("".join(f"{record}\n" for record in log.records[-2:]) + '{"type": "assist')
        browser.wait_for("document.querySelector('#t82')?.innerText.includes('It is oiled, too.')")
        browser.wait_for(f"Math.abs({seen} - ({top})) < 2")
        assert browser.value(opened) == folds and browser.value("document.querySelector('#t42 details').open")
        assert not browser.value("document.querySelector('[role=alert]')?.innerText")
        assert not browser.complaints
