"""`recollect` as a process that is forked from one that has imported everything: a tenth of a command's time.

    python tests/entrypoints/cli/forked.py SOCKET

The program that a shell finds hands its arguments, folder, environment and the three standard streams to that process,
and ends as the command ends. What a command imports, and how long that takes, is tested elsewhere.
"""

import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from recollect.entrypoints.start import main

_READY = b"ready\n"
_PROGRAM = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall(json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.makefile().read()))
"""


@contextmanager
def forked_commands(folder: Path) -> Iterator[Path]:
    """In that folder, whose name is short, a program `recollect`, while this lasts."""
    address = folder / "server"
    process = subprocess.Popen([sys.executable, "-P", __file__, str(address)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == _READY
        program = folder / "recollect"
        program.write_text(_PROGRAM.format(python=sys.executable, address=str(address)))
        program.chmod(0o755)
        yield folder
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _serve(address: str) -> None:
    for package in ("recollect.entrypoints.cli", "recollect.composition", "recollect.adapters.local"):
        _import_all(importlib.import_module(package))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.write(sys.stdout.fileno(), _READY)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection)
                return
            connection.close()


def _import_all(package: ModuleType) -> None:
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _answer(connection: socket.socket) -> None:
    """Runs one command in a process of its own, and says how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    arguments, folder, environment = json.loads(connection.makefile("rb").read())
    command = os.fork()
    if command == 0:
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[:] = arguments
        main()
        sys.exit()
    for stream in streams:
        os.close(stream)  # whoever reads a pipe waits for its last writer
    _, status = os.waitpid(command, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    _serve(sys.argv[1])
