"""The troubles of a server of models."""

from collections.abc import Callable

import pytest

from adapters.embedders.local_server import Reply, Server
from recollect.contracts.services import Trouble


@pytest.fixture
def suffer(server: Server, request: pytest.FixtureRequest) -> Callable[[Trouble], None]:
    troubles: dict[Trouble, Reply] = request.module.TROUBLES

    def suffer(trouble: Trouble) -> None:
        server.replies = [troubles[trouble]]

    return suffer
