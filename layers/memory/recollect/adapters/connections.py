"""The clients of this process: their connections are closed before its memory is copied, for no copy can use them."""

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Client = TypeVar("Client")
_CLIENTS: "WeakKeyDictionary[Any, Callable[[Any], object]]" = WeakKeyDictionary()


def noted(client: Client, disconnect: Callable[[Client], object]) -> Client:
    """The client, which is still one after `disconnect`: its next call makes new connections."""
    _CLIENTS[client] = disconnect
    return client


def disconnect_all() -> int:
    """Closes the connections of all noted clients that are still in use; says of how many."""
    clients = list(_CLIENTS.items())
    for client, disconnect in clients:
        disconnect(client)
    return len(clients)
