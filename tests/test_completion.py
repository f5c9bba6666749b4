"""`memosite completion` in real shells, and the man page."""

import runpy
import subprocess
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.commands.arguments import command_parsers, parser

ROOT = Path(__file__).parent.parent
ASK = {
    "bash": 'source {script}; COMP_WORDS=({words}); COMP_CWORD={last}; _shtab_memosite; echo "${{COMPREPLY[*]}}"',
    "fish": "source {script}; complete -C '{line}' | cut -f 1",
}
"""What prints the completions of a line in a shell that is not in a terminal."""


@pytest.fixture
def script(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The script for a shell."""
    assert main(["completion", request.param]) == 0
    file = tmp_path / str(request.param)
    file.write_text(capsys.readouterr().out)
    return file


def run(*command: str) -> str:
    """What a command prints; it must print no error."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def completions(script: Path, line: str) -> set[str]:
    """What the shell offers at the end of a line."""
    shell, words = script.name, line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    ask = ASK[shell].format(script=script, line=line, words=quoted, last=len(words) - 1)
    return set(run(shell, "-c", ask).split())


@pytest.mark.parametrize("script", ASK, indirect=True)
def test_commands_options_and_choices_are_offered(script: Path) -> None:
    """All commands; the options of one; the values of an option."""
    assert set(command_parsers(parser())) <= completions(script, "memosite ")
    assert completions(script, "memosite ver") == {"verify"}
    assert {"--quotes", "--strict", "--audience"} <= completions(script, "memosite verify --")
    assert completions(script, "memosite export --format m") == {"mbox", "maildir"}


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_knows_the_command(script: Path) -> None:
    """Completing needs a terminal there; the script is read, and its function noted for the command."""
    run("zsh", "-n", str(script))
    said = run(
        "zsh", "-f", "-c", f'autoload -Uz compinit; compinit -D; eval "$(cat {script})"; print ${{_comps[memosite]}}'
    )
    assert said == "_shtab_memosite\n"


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The error names those that are known."""
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "choose from bash, zsh, fish" in capsys.readouterr().err.replace("'", "")


def test_the_man_page_is_that_of_the_command_line() -> None:
    """`make man` writes it; man shows each command with its example."""
    made = runpy.run_path(str(ROOT / "scripts/man"))["man_page"]()
    page = ROOT / "docs/man/memosite.1"
    assert page.read_text(encoding="utf-8") == made, "run make man"
    shown = run("man", "--local-file", "--encoding=UTF-8", str(page))
    assert "Turns the memos" in shown
    assert [name for name in command_parsers(parser()) if f"COMMAND 'memosite {name}'" not in shown] == []
    assert shown.count("example:") >= len(command_parsers(parser()))
