"""Opens the memory of a folder in this process; what runs it is imported only then."""

from os import PathLike
from typing import TYPE_CHECKING, Literal, TypeAlias

from recollect.client.errors import CannotOpen
from recollect.core.errors import RecollectError, require_engine

if TYPE_CHECKING:
    from recollect.entrypoints.in_process import InProcess

EmbedderName: TypeAlias = Literal["e5", "openai", "bedrock", "hashing", "none"]
"""`e5` in the process; a server's; `hashing` for tests; `none`: search by words alone."""


def open_in_process(folder: str | PathLike[str] | None, *, tenant: str, embedder: EmbedderName | None) -> "InProcess":
    """The transport of a client. Raises CannotOpen for a missing package, a wrong setting, a foreign file."""
    try:
        require_engine("a memory in this process")
        from recollect.entrypoints.in_process import InProcess, settings_in

        return InProcess(settings_in(folder, embedder), tenant)
    except RecollectError as error:
        raise CannotOpen(str(error)) from error
