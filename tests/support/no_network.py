"""Runs a command without a network, as `python -m tests.support.no_network [--may-listen] COMMAND…`.

A filter of the kernel (seccomp), which needs no rights and which every process that the command starts inherits, ends
a process with SIGSYS when it opens a socket that is not one between processes of this machine (AF_UNIX). So whatever
asks the network is seen to die, in Python or not. With --may-listen it is ended when it connects one: for servers.
"""

import ctypes
import errno
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

from tests.support.files import ROOT
from tests.support.waiting import DEADLINE

KILLED = -signal.SIGSYS
"""The exit code, as `subprocess` gives it, of a command that asked the network itself."""

_NUMBERS = {"x86_64": (0xC000003E, 41, 42), "aarch64": (0xC00000B7, 198, 203), "riscv64": (0xC00000F3, 198, 203)}
"""Of each machine: its name for the kernel, and the numbers of the calls `socket` and `connect`."""

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_CALL, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16


def command_without_network(*command: object, may_listen: bool = False) -> list[str]:
    """The words that start a command without a network."""
    options = ["--may-listen"] if may_listen else []
    return [sys.executable, "-m", "tests.support.no_network", *options, *map(str, command)]


def run_without_network(*command: object, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a command without a network until it ends; any exit code will do."""
    words = command_without_network(*command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, capture_output=True, text=True, cwd=folder, env=environment, check=False, timeout=2 * DEADLINE
    )


def cut_network(*, may_listen: bool) -> None:
    """End this process, and every one that it starts, as soon as it asks the network."""
    machine, open_socket, connect = _NUMBERS[platform.machine()]
    watched = [(_EQUAL, 0, 1, connect)] if may_listen else [
        (_EQUAL, 0, 3, open_socket), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 1, 0, socket.AF_UNIX),
    ]  # fmt: skip
    program = [
        (_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _CALL), *watched, (_RETURN, 0, 0, _KILL), (_RETURN, 0, 0, _ALLOW),
    ]  # fmt: skip
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    steps = ctypes.create_string_buffer(code, len(code))
    filter_ = struct.pack("HxxxxxxP", len(program), ctypes.addressof(steps))
    kernel = ctypes.CDLL(None, use_errno=True)
    for arguments in ((_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SET_SECCOMP, _FILTER, filter_, 0, 0)):
        if kernel.prctl(*arguments) != 0:
            code_ = ctypes.get_errno()
            raise OSError(code_, f"seccomp: {errno.errorcode.get(code_)}")


if __name__ == "__main__":
    words = sys.argv[1:]
    may_listen = words[0] == "--may-listen"
    cut_network(may_listen=may_listen)
    words = words[may_listen:]
    os.execvp(words[0], words)
