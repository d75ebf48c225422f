"""Puts load on a server of this machine, such as `recollect serve`, and says how it answered.

    python -m infra.tools.load [--url http://127.0.0.1:8700] [--rate 20] [--seconds 10] [--users 5] [--concurrency 8]

Messages, searches and contexts of several users, at so many requests a second. Addresses that are not loopback are
refused by what they resolve to. A request's time counts from when it was due. Then the backlog until all is projected,
and the users are erased. Ends with 1 where a request failed or the backlog stayed, with 2 where nothing was sent.
"""

import argparse
import os
import sys
import uuid
from http.client import HTTPException

from infra.tools.load.bounds import LARGEST, Bounds, OutOfBounds
from infra.tools.load.loopback import NotThisMachine, target
from infra.tools.load.measured import lines
from infra.tools.load.run import Server, backlog, erase, load, users_of


def main(arguments: list[str]) -> int:
    """The command line."""
    given = _parsed(arguments)
    try:
        bounds = Bounds(given.rate, given.seconds, given.users, given.concurrency, given.patience)
        server = Server(target(given.url), os.environ.get("RECOLLECT_TOKEN", ""))
        server.call("GET", "/v1/health")
    except (OutOfBounds, NotThisMachine, OSError, HTTPException) as error:
        print(f"nothing was sent: {error}", file=sys.stderr)
        return 2
    return _run(server, bounds, given.seed)


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="load", description="Load on a server of this machine alone.")
    parser.add_argument("--url", default="http://127.0.0.1:8700", help="http://HOST:PORT, which must be loopback")
    parser.add_argument("--rate", type=int, default=20, help=f"requests a second, up to {LARGEST['rate_per_second']}")
    parser.add_argument("--seconds", type=int, default=10, help=f"up to {LARGEST['seconds']}")
    parser.add_argument("--users", type=int, default=5, help=f"up to {LARGEST['users']}")
    parser.add_argument("--concurrency", type=int, default=8, help=f"at once, up to {LARGEST['concurrency']}")
    patience = f"seconds to wait for the projection, up to {LARGEST['patience_seconds']}"
    parser.add_argument("--patience", type=int, default=60, help=patience)
    parser.add_argument("--seed", type=int, default=21, help="of what is asked")
    return parser.parse_args(arguments)


def _run(server: Server, bounds: Bounds, seed: int) -> int:
    run = uuid.uuid4().hex[:8]
    try:
        is_well = _measured(server, bounds, run, seed)
    except (OSError, HTTPException, ValueError) as error:
        print(f"the server does not say how far it is: {error}", file=sys.stderr)
        is_well = False
    finally:
        left = erase(server, users_of(run, bounds))
    for user in left:
        print(f"not erased: {user}", file=sys.stderr)
    return 0 if is_well and not left else 1


def _measured(server: Server, bounds: Bounds, run: str, seed: int) -> bool:
    """Prints the report; whether no request failed and all is projected."""
    answered, seconds = load(server, bounds, run, seed)
    waited = backlog(server, bounds.patience_seconds)
    print(*lines(answered, seconds, waited), sep="\n")
    return all(one.is_good for one in answered) and not waited.left


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
